"""Sums of published cells: which cells can be computed from others, exactly.

``spans`` answers for targets and known columns, with a certificate in whole numbers.
``suppression`` chooses what else is closed so that no target can be computed; ``candidates`` goes
through them. Columns are cells, rows are the smallest groups of records that any cell tells apart.
Everything runs modulo two primes.
"""
