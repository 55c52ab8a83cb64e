"""Noise as a noun: designs, tables, ways to look them up. Confidential.

Designing is in ``methods/perturbation``, the arithmetic in ``kernels/perturbation``.
"""
