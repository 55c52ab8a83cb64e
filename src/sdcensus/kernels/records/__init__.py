"""Records before they are counted: what units hold, weights that are drawn, donors that are found.

Kernels of the pre-tabular methods. Which records, variables and areas the arrays are about is known
to ``microdata``; random words are handed in.
"""
