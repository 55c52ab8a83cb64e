"""Counting into cells, and from cells to coarser cells.

Mixed-radix cell numbers, sums, margins, sparse cells. What a cell is called is said in
``model/spec``, what holds the sums is in ``model/cube``.
"""
