"""What all files for the public share.

Files that are there whole or not at all, and how workbooks look. Single formats are in
``formats/write``.
"""
