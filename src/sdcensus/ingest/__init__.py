"""From raw census files to a store: readers, checks, encoding, record keys.

Everything before the first count: ``readers`` for each kind of file, ``draft`` for a first schema,
``load`` for the store. The schema document is read in ``documents/schema``, the store's own files
are in ``store``.
"""
