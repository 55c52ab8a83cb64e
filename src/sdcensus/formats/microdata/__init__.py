"""Files of records for researchers, and the papers about them that catalogues read.

``layout`` says which records stand in which file, ``encoding`` how codes stand in formats that know
numbers and labels only, ``shortening`` what a format cannot hold as it is, ``labelled`` both for a
whole table. ``delimited``,
``columnar``, ``spss`` and ``stata`` write one format each, ``beside`` the two small files that tell
variables and codes, ``write`` all of them; ``read`` reads them back. ``statistics`` counts what
``ddi`` and ``nada`` tell. Writers take a ``ReleaseFile`` and nothing else. The same file gives the
same bytes, whenever and wherever it is written: there is no clock and no name of a machine in them.
"""
