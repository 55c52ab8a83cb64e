"""Mistakes in what an indicator compares, which no other part of a plan can have."""

from __future__ import annotations

from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.schema.schema import Schema


def no_amount(text: str, schema: Schema, path: KeyPath, mistakes: Mistakes) -> bool:
    """Whether what stands in the place of a condition is no amount."""
    name = text.strip()
    if name not in [variable.name for variable in schema.variables if variable.continuous]:
        return True
    mistakes.add(
        path,
        f"{name!r} is an amount and no group of units. A ratio of amounts has sums:"
        f' numerator = "sum({name})", denominator = "count".',
    )
    return False


def add_compared_with_itself(planned: PlannedIndicator, path: KeyPath, mistakes: Mistakes) -> None:
    """What is compared with itself says nothing."""
    for side, other in (("first", "second"), ("numerator", "denominator")):
        text = " ".join(getattr(planned, other).split())
        if text and text == " ".join(getattr(planned, side).split()):
            mistakes.add(
                (*path, other),
                f"{other!r} is the same as {side!r}: the figure would be the same everywhere.",
            )
