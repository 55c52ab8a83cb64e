"""A study: what was found, in words, and as a folder with page, workbook and csv files.

In the layout of the founding study, whose printed figures lie beside it. The figures are measured
in ``session/study``.
"""
