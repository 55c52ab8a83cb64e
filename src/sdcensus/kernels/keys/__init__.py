"""Digests, record keys, hashes, links.

Keyed functions of identities and the search for records by them. Secrets are handed in as bytes;
the type that keeps them is ``model/secret.py``.
"""
