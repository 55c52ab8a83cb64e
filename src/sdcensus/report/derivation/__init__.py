"""The report on a derived store: what was changed, whom that protects, what it costs tables.

Frozen results, the tables and sentences that tell them, the page and the workbook. Everything here
is confidential. What is measured is measured in ``session.derive``; what a method tells about its
own work comes as tables of facts from ``microdata``.
"""
