"""What a single table tells about somebody.

Identification, attributes, withheld cells that follow, as findings with a sentence for each.
Several tables together are in ``risk/differencing``.
"""
