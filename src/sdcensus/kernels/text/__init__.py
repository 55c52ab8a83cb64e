"""Cells as lines of text.

Many cells at once, for writers of files. What stands in a file is decided in ``formats/write``.
"""
