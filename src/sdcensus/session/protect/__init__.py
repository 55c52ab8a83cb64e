"""One table, protected.

From a method's name and options to a protected table with its notes, and the rule of the smallest
group that every road passes. Many tables at once are in ``session/publish``.
"""
