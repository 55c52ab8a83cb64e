"""Commands about the table builder.

``serve`` opens it, ``account`` keeps its accounts and its audit. What a server does is in ``web``,
what it answers in ``session/answer``.
"""
