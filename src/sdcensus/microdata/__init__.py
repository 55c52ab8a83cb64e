"""Pre-tabular perturbation (a store from a store) and release files (files from a store).

What a pre-tabular method is (``method``), the changes it answers with (``changes``), the writing of
the derived store (``derived_store``), and the methods themselves, a module each. What changes
tables is in ``methods``; stores are read and written by ``store``, and ``session.derive`` joins
both with the office secret.
"""
