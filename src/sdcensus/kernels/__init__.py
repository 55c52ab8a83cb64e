"""Pure array functions: arrays in, arrays out; no input or output, no hidden randomness.

``cells`` counts and rolls up, ``uniques`` numbers combinations of keys, ``keys`` hashes,
``perturbation`` draws and rounds, ``inference`` narrows down, ``text`` writes many cells as lines.
What the arrays mean is said in ``model``; a kernel knows no names of variables.
"""
