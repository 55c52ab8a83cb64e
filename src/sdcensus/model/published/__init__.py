"""Published numbers and what goes with them. Public.

Tables, marks, claims, provenance, delivered tables, figures computed from published counts, and the
lock over what is out. Nothing here may hold a true count, except ``protected``, which keeps the
office's part apart.
"""
