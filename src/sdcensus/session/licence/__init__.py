"""The office's register of who holds which file, from the application to the end.

``register`` records what happens and says what is due; ``agreements`` fills the agreement and the
page of the files; ``copies`` makes a holder's copy and finds the holder of one. The nouns are in
``model/release/holding.py``, the file in ``store/licences.py``.
"""
