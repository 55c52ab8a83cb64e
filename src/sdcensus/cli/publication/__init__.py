"""Commands about a whole publication.

``plan``, ``publish``, ``fill``, ``verify``, ``approve``: the commands that a plan goes through. The
work is in ``session/publish`` and ``session/guard``.
"""
