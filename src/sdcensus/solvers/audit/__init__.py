"""What anybody can compute about cells that are withheld.

Equations between published and withheld cells in, for each withheld cell the smallest and the
largest value out, with a proof of which published cells bound it. The same for cells of one table,
of linked tables and of tables that other tools protected. What is made of the intervals is decided
in ``methods``, ``attack`` and ``session``.
"""
