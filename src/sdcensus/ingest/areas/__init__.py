"""Areas in a draft: which columns hold them, how their levels nest, and what a gazetteer says.

``trees`` has the levels of a country as rows of a code list, ``gazetteers`` reads them from a file
of an office, ``columns`` finds them in census files and says which columns share their codes. What
a geography is in a finished schema stands in ``model/schema``.
"""
