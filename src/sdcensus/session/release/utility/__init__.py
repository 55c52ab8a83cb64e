"""What a file for researchers costs its users.

``stations`` reads the census and the file as columns of the same variables, ``measurement``
compares them, ``models`` fits what the office names, ``surveys`` sets the file beside surveys of
the country, ``facts`` makes tables and sentences of it. The measures themselves are in
``utility/records``.
"""
