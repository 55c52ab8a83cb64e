"""What numbers allow to conclude about other numbers.

Shuttle, elimination, looks, whole tables. Used by ``risk``, ``attack`` and ``solvers``, which say
what is known.
"""
