"""Data dictionaries: what the columns of census files and their codes mean, from files of any kind.

One module for each kind of dictionary (tables of an office, CSPro, SPSS and Stata, their syntax,
DDI, Survey Solutions), all of which give the small frozen model of ``entries``. ``opening`` is the
one door, ``matching`` brings a dictionary and the columns of files together, ``check`` says where
the two disagree. Census records are read in ``ingest/readers``; the draft of a schema is written
in ``ingest/draft``.
"""
