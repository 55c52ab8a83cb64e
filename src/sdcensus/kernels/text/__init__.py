"""Cells as lines of text, and letters as people search for them.

Many cells at once, for writers of files. What stands in a file is decided in ``formats/write``.
"""
