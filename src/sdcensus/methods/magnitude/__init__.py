"""Methods for sums of amounts: income, rent, land, hours.

``cell_key_sums`` is the cell key method for sums, with its ``numeric_tables``, its
``magnitude_functions`` and its rule for ``sensitive_cells``. ``abs_top`` moves the largest
contributors by their own keys, ``layered`` moves layers of them (experimental).
"""
