"""Going through a schema variable by variable, with the distributions of the files beside it.

``sources`` looks at the files, ``working_copy`` is the document with what is not saved yet,
``settings`` and ``code_lists`` change it, ``views`` say what a page shows, ``editing`` holds it
all, undoes and saves. Confidential: views have true counts of records. Whoever shows them, shows
them to the office on its own machine.
"""
