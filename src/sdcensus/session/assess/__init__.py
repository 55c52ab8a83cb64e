"""One table assessed: what an intruder could learn, what readers lose.

Joins measures of ``risk`` and ``utility`` for a table, says it in words, and tells apart what may
be public. Pages are in ``report/assessment``; methods side by side are in ``session/study``.
"""
