"""Workbooks and small tables as offices hand them over.

Opened without trusting them, measured before they are read, written without formulas. Workbooks
that show published numbers are in ``formats``.
"""
