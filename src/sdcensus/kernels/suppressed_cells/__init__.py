"""Closed cells of tables: which changes of them leave every sum as it is, at the least cost.

Arrays in, arrays out: full matrices of sums, the simplex method on a tableau that is kept, and the
check of a change in whole numbers. What is asked for is decided in ``methods.suppression``.
"""
