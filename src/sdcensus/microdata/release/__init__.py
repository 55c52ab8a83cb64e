"""Files for researchers from a store: who is in the sample, what is told of them, in which order.

``sample`` draws households, ``weights`` weighs them so that no weight tells an area, ``records``
holds what a file will tell before anybody sees it, ``give_aways`` finds categories of one area and
``groupings`` those that are too small, ``large_households`` moves ages, ``suppression`` blanks
keys, ``publication`` gives records new numbers and a new order, and ``copies`` finds by it whose
copy a file is. Measures of risk are in ``risk/records``, what comes
out is ``model/release/release_file.py``, and ``session/release`` joins them.
"""
