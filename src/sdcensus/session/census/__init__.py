"""A census at hand: loaded, opened, described, exported.

The door to counting for everything else in ``session``. Raw files are read in ``ingest``, engines
count in ``engine``.
"""
