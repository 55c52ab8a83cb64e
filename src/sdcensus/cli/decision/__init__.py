"""Commands that help an office decide.

What to offer and what it would give away: ``recommend``, ``policy``, ``looks``, ``attack``.
Measures of a single table are in ``cli/table``.
"""
