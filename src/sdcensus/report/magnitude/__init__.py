"""Tables of sums, assessed and compared: what was found, in words, pages, sheets and a map.

``results`` holds the figures, ``blocks`` puts them into tables that pages, workbooks, csv files and
the console show alike. Tables of counts are in ``report/assessment`` and ``report/study``.
"""
