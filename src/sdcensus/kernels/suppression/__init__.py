"""Values that are blanked until nobody in a file is alone: counts, choices, and a search.

Either a key that is missing, of the file itself or blanked, matches any value, both ways:
``matches`` counts the records that each one could be, ``choices`` blanks greedily and takes back
what is not needed, ``search`` looks for something cheaper in small files. Or companions have to
state what a record states: ``stated`` counts and chooses, ``stated_search`` looks for something
cheaper. What the keys are is known to ``microdata/release/suppression.py``.
"""
