"""The documents that an office writes: read and checked as a whole, mistakes with their lines.

One folder for each document (``schema``, ``plan``, ``policy``, ``mapping``), with what they share
in ``toml`` and ``workbooks``. A document becomes nouns of ``model``; what is done with them is in
``session``. Files of data are read in ``ingest``, published ones in ``formats``.
"""
