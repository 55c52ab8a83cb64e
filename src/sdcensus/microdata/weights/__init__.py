"""Perturbation weights, and a systematic sample as the baseline that they are compared with.

Here: strata of units by area and size, weights that are drawn or come from a sample, and how they
multiply the weights that a census has. Stores that are made here publish weighted counts only,
which ``model.cube`` refuses to forget; the draws are those of ``microdata.method``.
"""
