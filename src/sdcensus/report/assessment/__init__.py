"""Assessments as pages and sheets.

The page to sign, the page for anybody, the evaluation sheet. The figures come from
``session/assess``.
"""
