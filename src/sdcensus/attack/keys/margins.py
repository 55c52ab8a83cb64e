"""The margin exploit: a gap so large that every noise in the line must stand near its edge.

If the gap of a line with n parts is (n + 1) times the largest deviation less a slack, then every
noise of the line lies within that slack of its edge. With no slack, all counts of the line are
known. This is what the intervals find in their first step, line by line and by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.bounding import Believed, believed, claims_at, every_cell
from sdcensus.attack.claims import AttackResult, CellClaims, Int64, merged
from sdcensus.attack.targets import Target, families, named
from sdcensus.model.cube.constraints import LevelStep, level_steps
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.progress import Progress, no_progress

NAME = "margins"


def attack_margins(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim the cells of lines whose gap leaves next to no room."""
    result = AttackResult(NAME)
    done = 0
    for family in families(targets):
        belief = believed(family, assumptions)
        claims: list[CellClaims] = []
        for target in family:
            progress("margin exploit", done / len(targets))
            done += 1
            if belief.knowledge is not None:
                claims += _claims(target, belief.knowledge)
        said = _sentence(family, belief, claims)
        cells = every_cell(family) if belief.knowledge is not None else ()
        result = merged(result, AttackResult(NAME, tuple(claims), (said,), examined=cells))
    return result


def _claims(target: Target, knowledge: Knowledge) -> list[CellClaims]:
    first_lower, first_upper = knowledge.bounds(target.table)
    lower, upper = first_lower.copy(), first_upper.copy()
    for at, axis in enumerate(target.table.spec.axes):
        for step in level_steps(axis.blocks):
            _squeeze((first_lower, first_upper), (lower, upper), at, step)
    narrowed = (lower > first_lower) | (upper < first_upper)
    settled = (lower == upper) | ((lower == 0) & (upper == 1))
    return claims_at(NAME, target, lower, upper, settled & narrowed & (lower <= upper))


def _squeeze(
    known: tuple[Int64, Int64], found: tuple[Int64, Int64], axis: int, step: LevelStep
) -> None:
    """Narrow totals and parts of lines by the slack that is left in them."""
    totals, parts, parent = step.totals, step.parts, step.parent
    low, high = known
    # How far the total can be above all that its parts can be at least, and the other way round.
    above = np.take(high, totals, axis=axis) - step.sums(low, axis)
    below = step.sums(high, axis) - np.take(low, totals, axis=axis)
    lower, upper = (np.moveaxis(array, axis, 0) for array in found)
    above, below = np.moveaxis(above, axis, 0), np.moveaxis(below, axis, 0)
    low, high = np.moveaxis(low, axis, 0), np.moveaxis(high, axis, 0)
    upper[totals] = np.minimum(upper[totals], low[totals] + below)
    lower[totals] = np.maximum(lower[totals], high[totals] - above)
    upper[parts] = np.minimum(upper[parts], low[parts] + above[parent])
    lower[parts] = np.maximum(lower[parts], high[parts] - below[parent])


def _sentence(family: Sequence[Target], belief: Believed, claims: Sequence[CellClaims]) -> str:
    if belief.knowledge is None:
        return f"Nothing from margins of {named(family)}: {belief.reason}."
    exact = sum(int(claim.exact.sum()) for claim in claims)
    return (
        f"{belief.scope}, and who looks at one line of {named(family)} at a time, finds {exact:,}"
        " counts in lines whose gap leaves no room."
    )
