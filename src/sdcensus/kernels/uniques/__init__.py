"""Loops over combinations of keys: numbering them, counting who shares one, and what fits what.

Records, keys and cells are numbers here; what they stand for is said in ``risk.records`` and
``microdata.swapping``.
"""
