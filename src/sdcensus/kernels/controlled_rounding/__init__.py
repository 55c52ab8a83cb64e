"""Controlled rounding in whole numbers: flows in networks, planes of tables, prices, cycles.

Cells are numbered, and sums between them are lists of numbers; which tables they come from is
known in ``methods/controlled_rounding``.
"""
