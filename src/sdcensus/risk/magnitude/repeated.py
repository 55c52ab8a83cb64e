"""What several cells of one table of sums say together about one contributor.

Two attacks that need no knowledge of any contribution. **Averages**: cells with the same
contributors (a district with one inhabited area) are asked twice; where each has noise of its own,
the mean of the published sums has less. **Differences**: a cell and a part of it that lacks one
contributor; the difference of the published sums is what he has, with the noise of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import level_steps
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.risk.magnitude.attackers import (
    WITHIN,
    Attacker,
    check_within,
    contributions_of,
    share_of,
    success_of,
)
from sdcensus.risk.magnitude.estimation import shown_cells

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class RepeatedCells(Confidential):
    """Sets of contributors that stand in several cells.

    Attributes:
        sets: How many of them have a second contributor, and numbers in two cells or more.
        most: In how many cells one stands at most.
        by_one: Of these sets, those whose largest contributor the second largest estimates by a
            single published sum, the first of them.
        by_mean: The same by the mean of all published sums of the set.
    """

    sets: int
    most: int
    by_one: int
    by_mean: int

    def __repr__(self) -> str:
        return "<RepeatedCells: confidential>"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class SingleDifferences(Confidential):
    """Pairs of a cell and a part of it that differ by one contributor.

    Attributes:
        pairs: How many pairs have a published number in both.
        after: How many published differences come near what the contributor has.
        people, people_found: Different contributors behind them.
    """

    pairs: int
    after: int
    people: int
    people_found: int

    def __repr__(self) -> str:
        return "<SingleDifferences: confidential>"


def repeated_cells(cube: Cube, table: Table, *, within: float | Fraction = WITHIN) -> RepeatedCells:
    """What the second largest contributor gains from cells with the same contributors.

    Args:
        cube: Sums with their contributions.
        table: What is published of them.
        within: How near an estimate is that counts, in percent of the largest contribution.
    """
    known, total = contributions_of(cube)
    success = success_of(Attacker.SECOND, cube, within=within)
    used = (success.asked & shown_cells(table)).reshape(-1)
    columns = [
        array.reshape(-1)[used].astype(np.int64)
        for array in (
            known.contributor_key,
            known.contributors,
            total,
            known.amount[..., 0],
            known.amount[..., 1],
        )
    ]
    if not columns[0].size:
        return RepeatedCells(sets=0, most=0, by_one=0, by_mean=0)
    _, first, which, often = np.unique(
        np.stack(columns, axis=1),
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    values = table.published.reshape(-1)[used]
    sums = np.zeros(often.size)
    np.add.at(sums, which.reshape(-1), values.astype(np.float64))
    means = np.rint(sums / often).astype(np.int64)
    lower, upper = (bound.reshape(-1)[used][first] for bound in (success.lower, success.upper))
    several = often > 1

    def near(estimates: Int64) -> int:
        return int((several & (lower <= estimates) & (estimates <= upper)).sum())

    return RepeatedCells(
        sets=int(several.sum()),
        most=int(often.max()),
        by_one=near(values[first]),
        by_mean=near(means),
    )


def single_differences(
    cube: Cube, table: Table, *, within: float | Fraction = WITHIN
) -> SingleDifferences:
    """Differences of published sums that are one contributor with noise.

    Compared are every total and subtotal with the cells in it, on one axis at a time.

    Args:
        cube: Sums with their contributions.
        table: What is published of them.
        within: How near a difference is that counts, in percent of the contribution.
    """
    known, total = contributions_of(cube)
    parts = check_within(within)
    shown = shown_cells(table)
    pairs = after = 0
    seen: list[UInt32] = []
    found: list[UInt32] = []
    for at, axis in enumerate(cube.spec.axes):
        for step in level_steps(axis.blocks):
            line = _Line(at, step.coarse.start + step.parent, step.parts)
            both = line.above(shown) & line.below(shown)
            single = both & (line.gap(known.contributors) == 1)
            own = line.gap(total)[single]
            near = np.abs(line.gap(table.published)[single] - own) <= share_of(np.abs(own), parts)
            pairs += own.size
            after += int(near.sum())
            # The key of who is missing: that of a cell is made of those of its records.
            keys = _missing(line, known.contributor_key, cube.origin.key_space)[single]
            seen.append(keys)
            found.append(keys[near])
    return SingleDifferences(
        pairs=pairs, after=after, people=_different(seen), people_found=_different(found)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """Totals along an axis, each beside one of its parts."""

    axis: int
    totals: Int64
    parts: Int64

    def above(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.take(array, self.totals, axis=self.axis)

    def below(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.take(array, self.parts, axis=self.axis)

    def gap(self, array: Int64) -> Int64:
        gap: Int64 = self.above(array) - self.below(array)
        return gap


def _missing(line: _Line, keys: UInt32, space: KeySpace) -> UInt32:
    if space.combine is Combine.XOR:
        crossed: UInt32 = line.above(keys) ^ line.below(keys)
        return crossed
    gap = line.gap(keys.astype(np.int64)) % space.modulus
    return gap.astype(np.uint32)


def _different(keys: list[UInt32]) -> int:
    return int(np.unique(np.concatenate(keys)).size) if keys else 0
