"""Swapping: units that exchange their place, or some of what they say, with a partner elsewhere.

What an exchange is about (``units``), who may be a partner (``profiles``) and how pairs come about
(``pairing``) are shared by the methods, a module each. Variables that name a second place of the
same people are in ``second_geographies``, which geographic PRAM uses as well.
"""
