"""Estimates from samples: rounded, with what their sampling errors allow to be shown.

Noise for weighted counts is in ``methods/cell_key.py``, and for weighted sums in
``methods/magnitude``. What random groups of households add up to is counted by the engines
(``kernels/cells/replicates.py``).
"""
