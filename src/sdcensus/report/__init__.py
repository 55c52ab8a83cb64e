"""Renders results as html and xlsx; computes nothing.

One folder for each kind of result, with the look of pages and charts beside them. What is shown was
computed in ``session``, ``risk`` and ``utility``; tables for the public are written by ``formats``.
"""
