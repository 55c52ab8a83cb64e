"""The door to microdata: requests and the engines that answer them, all with the same integers.

An engine counts and adds up keys; it protects nothing and decides nothing. ``requests`` is the
protocol, ``memory`` the default over ``store``, ``duckdb`` and ``spark`` share one writer of SQL.
Who asks is ``session/census``.
"""
