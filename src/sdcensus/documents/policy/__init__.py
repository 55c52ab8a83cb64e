"""The policy of an office.

Reading, checking and writing ``policy.toml``. The noun is ``model/policy``; deciding by it is
``session/policy``.
"""
