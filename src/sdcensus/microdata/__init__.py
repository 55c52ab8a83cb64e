"""Pre-tabular methods: a store from a store, before anything is counted.

Here: what such a method is (``method``), the changes it answers with (``changes``), the writing of
the derived store (``derived_store``) and the methods themselves, a module each. Not here: methods
that change tables (``methods``), reading files (``ingest``), and joining a method with a store and
the office secret (``session.derive``). Methods register by entry point, like those for tables.
"""
