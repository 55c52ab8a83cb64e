"""Amounts such as incomes and rents: aggregated in small groups, or exchanged between near ranks.

``amounts`` reads them, with strata, and gives the classes of an amount that has changed;
``facts`` tells what happened to means, variances and correlations. The grouping and the search for
partners are kernels (``kernels/records/amounts.py``).
"""
