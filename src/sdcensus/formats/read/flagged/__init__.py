"""Tables that another tool protected by withholding cells: codes, values and a status.

What the statuses of other tools mean, trees of codes, numbers with decimals, and the table that
follows, in the words of our own. tau-ARGUS describes its tables in files of its own, which are in
``formats/read/argus``. Such a file may hold the values of withheld cells: it is the office's.
"""
