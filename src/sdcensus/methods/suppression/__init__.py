"""Cell suppression: cells that may not be shown, and others closed so that nobody can compute them.

``rules`` say which cells may not be shown. ``problem`` puts together what is asked of the others.
An engine answers which of them are closed: ``elimination`` (no closed cell is a sum of open ones),
``optimal`` (protection intervals at the least cost) or ``modular`` (the same, down the hierarchies
of large tables). ``sums`` puts tables of sums as problems of changes. ``earlier`` keeps to what was
open and closed in earlier releases. ``method`` is the method itself, which calls one of them and
marks the cells.
"""
