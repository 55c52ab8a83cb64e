"""A perturbation as people see it: its rows and summary, in words, on pages, as pictures.

Only their owner can read them. Tables are designed, read and written in ``session/perturbation``.
"""
