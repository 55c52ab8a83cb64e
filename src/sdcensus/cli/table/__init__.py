"""Commands about one table.

``protect``, ``assess`` and ``compare``. Everything about many tables at once is in
``cli/publication`` and ``cli/decision``.
"""
