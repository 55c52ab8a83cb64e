"""Figures that are computed from published counts: shares, ratios, means, medians.

For plans, table builder and commands alike: which counts a figure needs, and what it is called. The
arithmetic is in ``model/published/figures.py``.
"""
