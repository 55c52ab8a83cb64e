"""Papers about files for researchers; computes nothing, ``files`` writes them.

For the office: ``results`` is what was measured about designs, ``assessment`` the page of it for
the head of the office, ``workbook`` its tables, ``done`` what was done to make a file. All of these
are confidential. For everybody: ``codebook``, ``removed`` (what a file leaves out and recodes),
``terms`` (terms of use and agreements by licence class) and ``catalogue``, the page of all files.
These take public nouns only. Records are written in ``formats/microdata``, risks measured in
``risk/records``, and ``session/release`` joins them.
"""
