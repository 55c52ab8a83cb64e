"""One table assessed: what an intruder could learn, what readers lose.

Joins measures of ``risk`` and ``utility`` for a table, the registered ones among them
(``measures.py``), and tells apart what may be public. Words and pages are in
``report/assessment``; methods side by side are in ``session/study``.
"""
