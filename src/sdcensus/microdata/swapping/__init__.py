"""Swapping: pairs of units exchange their place, or named attributes, and nothing else changes.

Here belongs what all swapping methods share (the units that move and their areas, similarity
profiles, the search for partners, earlier pairs, the exchange itself), and one module for each
method. Variables that name a second place of the same people are here too; geographic PRAM asks for
them as well. The loops over arrays are in ``kernels.swapping``; other ways to change records are
neighbours of this room.
"""
