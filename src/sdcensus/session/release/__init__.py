"""Files for researchers: assess designs, make one, check it, register it, hand it out.

``columns`` reads what a design tells of a store. What is drawn and changed is in
``microdata/release``, risks in ``risk/records``, pages and papers in ``report/release``, files on
disk in ``formats/microdata``.
"""
