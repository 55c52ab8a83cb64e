"""What all files for the public share.

Files that are there whole or not at all, how workbooks look, and cells as columns of Arrow. Single
formats are in ``formats/write``.
"""
