"""What was found, and how it is told: results, their words, pages, sheets and charts.

One folder for each kind of result, with the look of pages and charts beside them. It stands below
``session``, which measures with ``risk`` and ``utility`` and fills the results; here nothing is
opened and nothing is counted. Tables for the public are written by ``formats``.
"""
