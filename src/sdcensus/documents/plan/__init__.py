"""The plan of a publication, in TOML or in a workbook.

Reading, checking, writing and explaining it. The noun is ``model/plan``; publishing it is
``session/publish``.
"""
