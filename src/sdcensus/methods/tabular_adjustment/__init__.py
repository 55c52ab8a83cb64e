"""Controlled tabular adjustment: small cells are moved away from the truth, others make up for it.

``protection`` says how far every cell may and must move (``requirements``); ``cell_file`` reads
what an office says of single cells. ``senses`` draws whether a cell goes up or down. ``program``
writes the least change as a program of whole numbers, ``search`` solves it or says which cells
stand in the way, ``unit_search`` moves single units where that takes too long. ``method`` is the
method.
"""
