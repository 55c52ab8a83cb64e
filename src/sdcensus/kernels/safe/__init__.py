"""Loops of SAFE over arrays: a first solution, a search for better ones, and who goes where.

Combinations of codes, units and control cells are numbers here; what they stand for is said in
``microdata.safe``. ``problem`` has the arrays that all of them share, ``worst`` knows the control
cells that deviate most, ``moves`` counts what a move changes and makes it, ``start``, ``descent``
and ``search`` find moves, and ``homes`` lets as many units as possible stay what they were.
"""
