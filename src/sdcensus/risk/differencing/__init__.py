"""What tables tell together that none tells alone.

Differences between tables, earlier publications, tables taken apart into what no cell divides. How
well repeated looks show a cell is in ``risk/looks``.
"""
