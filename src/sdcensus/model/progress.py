"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from collections.abc import Callable

#: Called with the name of the stage and how much of it is done, from 0 to 1.
Progress = Callable[[str, float], None]


def no_progress(stage: str, done: float) -> None:
    """Say nothing."""
