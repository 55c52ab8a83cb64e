"""How often the largest contribution of a cell is estimated: before, after, and over all keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import hidden_cells
from sdcensus.model.published.table import Table
from sdcensus.risk.magnitude.attackers import (
    WITHIN,
    Attacker,
    Success,
    check_coalition,
    contributions_of,
    success_of,
)

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: For each cell the chance to be published between two bounds; ``None`` where it is not known.
Chances = Callable[[Int64, Int64], Float64 | None]

#: Cells by their number of contributors: the first and the last number of each class.
SIZES: tuple[tuple[int, int | None], ...] = ((1, 1), (2, 2), (3, 5), (6, None))


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Estimated(Confidential):
    """How often an attacker comes near the largest contribution.

    Attributes:
        cells: Cells in which there is such an attacker.
        before: In how many of them he succeeds where the true sum is published.
        after: In how many he succeeds with what is published.
        expected: In how many on average, over all keys that the cells could have had; ``None``
            where the noise is not known.
    """

    cells: int
    before: int
    after: int
    expected: float | None

    def __repr__(self) -> str:
        return "<Estimated: confidential>"

    def share(self, number: float | None) -> float | None:
        """A number of cells as a share of those in which there is such an attacker."""
        return None if number is None or not self.cells else number / self.cells


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class AttackerFigures(Confidential):
    """What one attacker finds in a table.

    Attributes:
        attacker: Who.
        members: How many stand together, for a coalition.
        whole: In all cells.
        by_size: By the number of contributors, a class of ``SIZES`` each.
        people, people_found: Different people who are the largest contributor of a cell in which
            there is such an attacker; those whom he comes near in one of them at least. ``None``
            where the keys of contributors were not kept.
        worst: The largest chance of a single cell.
    """

    attacker: Attacker
    members: int
    whole: Estimated
    by_size: tuple[Estimated, ...]
    people: int | None
    people_found: int | None
    worst: float | None

    def __repr__(self) -> str:
        return f"<AttackerFigures of {self.attacker}: confidential>"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class LargestRisk(Confidential):
    """How near attackers come to the largest contributors of a table of sums.

    Attributes:
        within: How near an estimate is that counts, in percent of the largest contribution.
        cells: Cells with a contributor, by their number of contributors.
        attackers: What each finds.
    """

    within: float
    cells: tuple[int, ...]
    attackers: tuple[AttackerFigures, ...]

    def __repr__(self) -> str:
        return "<LargestRisk: confidential>"

    def of(self, attacker: Attacker) -> AttackerFigures:
        """What one of them finds."""
        return next(figures for figures in self.attackers if figures.attacker is attacker)


def largest_risk(
    cube: Cube,
    table: Table,
    *,
    chances: Chances | None = None,
    within: float | Fraction = WITHIN,
    members: int = 2,
    attackers: Sequence[Attacker] = tuple(Attacker),
) -> LargestRisk:
    """How often each attacker comes near the largest contributor of a cell.

    Args:
        cube: Sums with their contributions.
        table: What is published of them.
        chances: Chances of published sums over all keys, such as ``method.chances_between``.
        within: How near an estimate is that counts, in percent of the largest contribution.
        members: How many contributors behind the largest stand together in a coalition.
        attackers: Who is asked about.
    """
    check_coalition(members)
    known, _ = contributions_of(cube)
    figures = []
    for attacker in attackers:
        success = success_of(attacker, cube, within=within, members=members)
        outcome = _Outcome.of(success, cube, table, chances)
        figures.append(_figures(outcome, known, members))
    return LargestRisk(
        within=float(within),
        cells=tuple(int(cells_of_size(known, size).sum()) for size in SIZES),
        attackers=tuple(figures),
    )


def shown_cells(table: Table) -> Mask:
    """Cells that have a published number."""
    hidden = hidden_cells(table)
    return np.ones(table.shape, dtype=bool) if hidden is None else ~hidden


def cells_of_size(known: Contributions, size: tuple[int, int | None]) -> Mask:
    """Cells of a class of sizes."""
    first, last = size
    inside: Mask = known.contributors >= first
    return inside if last is None else inside & (known.contributors <= last)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Outcome(Confidential):
    """In which cells an attacker succeeds: with the true sum, with what is published; chances."""

    success: Success
    before: Mask
    after: Mask
    expected: Float64 | None

    @classmethod
    def of(cls, success: Success, cube: Cube, table: Table, chances: Chances | None) -> _Outcome:
        shown = shown_cells(table)
        expected = None if chances is None else chances(success.lower, success.upper)
        if expected is not None:
            expected = np.where(shown & success.asked, expected, 0.0)
        _, total = contributions_of(cube)
        after = success.hit(table.published) & shown
        return cls(success, success.hit(total), after, expected)

    def among(self, cells: Mask) -> Estimated:
        cells = cells & self.success.asked
        return Estimated(
            cells=int(cells.sum()),
            before=int((self.before & cells).sum()),
            after=int((self.after & cells).sum()),
            expected=None if self.expected is None else float(self.expected[cells].sum()),
        )


def estimated(
    success: Success, cube: Cube, table: Table, cells: Mask, chances: Chances | None = None
) -> Estimated:
    """How often an attacker succeeds among some cells of a table."""
    return _Outcome.of(success, cube, table, chances).among(cells)


def _figures(outcome: _Outcome, known: Contributions, members: int) -> AttackerFigures:
    asked, attacker = outcome.success.asked, outcome.success.attacker
    people = people_found = None
    if known.key is not None:
        first = known.key[..., 0]
        people, people_found = (
            int(np.unique(first[mask]).size) for mask in (asked, asked & outcome.after)
        )
    expected = outcome.expected
    return AttackerFigures(
        attacker=attacker,
        members=members if attacker is Attacker.COALITION else 1,
        whole=outcome.among(asked),
        by_size=tuple(outcome.among(cells_of_size(known, size)) for size in SIZES),
        people=people,
        people_found=people_found,
        worst=None if expected is None else float(expected.max(initial=0.0)),
    )
