"""Nested squares: groups of them with at least so many units in each; the plane they lie in.

What squares are called is said in ``model/schema/grids``; a kernel knows their order, their places
and how they nest.
"""
