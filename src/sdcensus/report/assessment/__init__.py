"""Assessments: what was found about a table, in words, as pages and as a sheet.

The page to sign, the page for anybody, the evaluation sheet. The figures are measured in
``session/assess``; rows of simple measures are their own (``model/measure.py``).
"""
