"""How many examples a property test draws."""

from __future__ import annotations

from hypothesis import settings


def at_least(number: int) -> int:
    """So many, for what ten examples seldom meet; more where the profile asks for more."""
    return max(number, settings().max_examples)
