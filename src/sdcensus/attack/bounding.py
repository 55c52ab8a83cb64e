"""Feasibility intervals from published tables, for a largest deviation that is given or found.

Where the largest deviation is not known, the intruder starts from what gaps and rounding tell and
raises it until no table contradicts it. What he ends with is still only a lower bound: his claims
are certain only if it is the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import AttackResult, CellClaims, Int64, Mask, merged
from sdcensus.attack.keys.gaps import learn
from sdcensus.attack.targets import Target, each_of, families, named
from sdcensus.model.inference.intervals import Intervals, shuttle
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.progress import Progress, no_progress

NAME = "intervals"
#: A bound that would have to be raised further than this is no bound.
_MOST_RAISED = 30


@dataclass(frozen=True, slots=True)
class Believed:
    """What the intruder goes by for tables of one making.

    Attributes:
        knowledge: What he takes to be known; ``None`` where he has nothing to go by.
        given: Whether the largest deviation was told to him.
        reason: Why he has nothing to go by.
    """

    knowledge: Knowledge | None
    given: bool
    reason: str = ""

    @property
    def scope(self) -> str:
        """The intruder whom a conclusion is about."""
        if self.knowledge is None:
            return ""
        text = self.knowledge.sentence().rstrip(".")
        return text if self.given else f"{text} (found from the tables: it may be more)"


def believed(family: Sequence[Target], assumptions: Assumptions) -> Believed:
    """What is taken to be known of tables of one making."""
    if assumptions.max_deviation is not None:
        return Believed(_knowledge(assumptions, assumptions.max_deviation), given=True)
    learned = learn(family)
    least = max(learned.deviation_at_least, learned.rounding_base - 1)
    if least == 0:
        return Believed(
            None,
            given=False,
            reason="no gap tells how far counts were changed. Give a largest deviation",
        )
    for deviation in range(least, least + _MOST_RAISED):
        knowledge = _knowledge(assumptions, deviation)
        if not any(intervals_of(one, knowledge).contradictory for one in family):
            return Believed(knowledge, given=False)
    return Believed(None, given=False, reason="no bound of changes fits all tables")


def _knowledge(assumptions: Assumptions, deviation: int) -> Knowledge:
    return Knowledge(
        max_deviation=deviation,
        zeros_known=assumptions.zeros_known,
        withheld_below=assumptions.withheld_below,
    )


def intervals_of(target: Target, knowledge: Knowledge) -> Intervals:
    """What the shuttle makes of one table."""
    return shuttle(target.table.spec, *knowledge.bounds(target.table))


def attack_intervals(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim every cell for which one count is left, or only 0 and 1."""
    result = AttackResult(NAME)
    done = 0
    for family in families(targets):
        belief = believed(family, assumptions)
        if belief.knowledge is None:
            said = f"No intervals for {named(family)}: {belief.reason}."
            result = merged(result, AttackResult(NAME, (), (said,)))
            done += len(family)
            continue
        claims: list[CellClaims] = []
        wrong: list[str] = []
        for target in family:
            progress("feasibility intervals", done / len(targets))
            intervals = intervals_of(target, belief.knowledge)
            if not intervals.contradictory and target.table.spec.cells <= assumptions.linear_cells:
                intervals = _linear(intervals)
            if intervals.contradictory:
                wrong.append(target.name)
            else:
                claims += _claims(target, belief.knowledge, intervals)
            done += 1
        said = _sentence(family, belief, claims, wrong)
        one_result = AttackResult(NAME, tuple(claims), (said,), examined=every_cell(family))
        result = merged(result, one_result)
    return result


def every_cell(targets: Sequence[Target]) -> tuple[tuple[str, Int64], ...]:
    """All cells of some tables."""
    return tuple(
        (target.name, np.arange(target.table.spec.cells, dtype=np.int64)) for target in targets
    )


def _linear(found: Intervals) -> Intervals:
    """The same by linear programs, which see all sums at once."""
    from sdcensus.solvers.feasibility import exact_intervals

    return exact_intervals(found.spec, found.lower, found.upper)


def _claims(target: Target, knowledge: Knowledge, found: Intervals) -> list[CellClaims]:
    """Cells that are settled, without those that were before any sum was looked at."""
    lower, upper = knowledge.bounds(target.table)
    narrowed = (found.lower > lower) | (found.upper < upper)
    return claims_at(NAME, target, found.lower, found.upper, found.disclosed & narrowed)


def claims_at(
    attack: str,
    target: Target,
    lower: Int64,
    upper: Int64,
    where: Mask,
) -> list[CellClaims]:
    """Claims about the cells of a mask; none where it is empty."""
    cells = np.flatnonzero(where.reshape(-1))
    if not cells.size:
        return []
    bounds = (lower.reshape(-1)[cells], upper.reshape(-1)[cells])
    return [CellClaims(attack, target.name, target.table.spec, cells, *bounds)]


def _sentence(
    family: Sequence[Target], belief: Believed, claims: Sequence[CellClaims], wrong: Sequence[str]
) -> str:
    exact = sum(int(claim.exact.sum()) for claim in claims)
    narrow = sum(claim.count for claim in claims) - exact
    cells = sum(target.table.spec.cells for target in family)
    text = (
        f"{belief.scope}, and who has {each_of(family)}, settles {exact:,} of {cells:,} cells"
        " exactly by how they add up"
    )
    text += f", and {narrow:,} as 0 or 1." if narrow else "."
    if wrong:
        text += (
            f" What he takes to be known cannot be true of {', '.join(wrong[:3])}: no counts fit."
        )
    return text
