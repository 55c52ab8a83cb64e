"""Pre-tabular perturbation (a store from a store) and release files (files from a store).

What changes or selects records before anything is counted. What changes tables is in ``methods``;
stores are read and written by ``store``, and ``session`` joins both.
"""
