"""What a table shows, without any number.

Axes, conditions, universes, definitions and hashes of cells, sets of leaves and what they cover,
questions of the public. Numbers are in ``model/cube`` and ``model/published``.
"""
