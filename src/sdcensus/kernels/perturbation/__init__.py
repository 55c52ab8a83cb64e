"""Rows of perturbation tables, look-ups, rounding, additivity.

The arithmetic of methods, in whole numbers where numbers are published. Which method uses it with
which parameters is in ``methods``.
"""
