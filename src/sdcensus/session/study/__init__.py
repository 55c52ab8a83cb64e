"""Methods compared on a census's own tables.

The founding study with the office's own tables. Pages and sheets are in ``report/study``; one table
by one method is in ``session/assess``.
"""
