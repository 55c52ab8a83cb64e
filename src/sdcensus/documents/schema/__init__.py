"""The schema of a census.

Reading and checking ``schema.toml`` and its code lists. The noun is ``model/schema``; first drafts
are made in ``ingest``.
"""
