"""The page on which an office goes through its schema: on this machine, for one person, for now.

``guard`` lets nobody else in, ``app`` answers, ``server`` runs until it is closed. What is shown
and changed comes from ``session/schema_editing``. It shares styles and small modules with the pages
of the table builder, and nothing else: here are true counts of records.
"""
