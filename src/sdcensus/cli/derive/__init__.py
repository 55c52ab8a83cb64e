"""Stores from stores: ``derive`` for every method, and a command for each family of them.

Options follow from what methods declare; ``commands`` makes the commands and runs them. What they
print comes from ``session.derive`` and from the catalogue ``derive``.
"""
