"""Attacks on noise whose keys add up.

Here is what published values say about deviations and keys: gaps between totals and parts, margins,
decoding. Nothing here holds a secret or a true count. How look-ups avoid it is in
``methods/look_up.py``.
"""
