"""Dummy data: files of nobody, with the structure of a file for researchers.

``structure`` reads what everybody may know, ``margins`` published tables, ``drawing`` fills the one
from the other, ``writing`` writes it. Nothing here opens the records of a store.
"""
