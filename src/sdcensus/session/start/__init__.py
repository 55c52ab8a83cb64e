"""The road from raw files to published tables: where an office stands, and what is next.

Here is what ``sdcensus start`` knows: which of the files of the road are there, what was answered,
whether what was written passes the product's own checks, and the commands that follow. The work of
each station is done by the rooms that do it anyway: ``census``, ``office``, ``recommend``.
"""
