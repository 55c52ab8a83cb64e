"""The gate before anything is published or served.

What tables would give away is measured here and refused, or accepted by somebody's name. Numbers
that are out already are the business of ``session/guard``.
"""
