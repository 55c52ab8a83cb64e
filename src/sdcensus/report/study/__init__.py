"""A study as a folder: page, workbook, csv files.

In the layout of the founding study. The figures come from ``session/study``.
"""
