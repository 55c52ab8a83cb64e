"""The office's register of who holds which file, from the application to the end.

``register`` records what happens by the ``rules`` of who may have what, and says what is due;
``told`` puts it into words, ``calendars`` into a calendar; ``agreements`` fills what is signed;
``copies`` makes a holder's copy and ``holders`` finds the holder of one. The nouns are in
``model/release/holding.py``, the file in ``store/licences.py``.
"""
