"""Files for researchers from a store: who is in the sample, what is told of them, in which order.

``sample`` draws households, ``records`` holds what a file will tell before anybody sees it,
``groupings`` finds categories that are too small, ``suppression`` blanks keys, ``publication``
gives records new numbers and a new order. Measures of risk are in ``risk/records``, what comes
out is ``model/release/release_file.py``, and ``session/release`` joins them.
"""
