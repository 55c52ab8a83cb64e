"""A census described once.

Units, variables, codes, levels, identities, implied codes, sources, outlines of areas. What a table
shows of it is in ``model/spec``; the document that describes it is read in ``documents/schema``.
"""
