"""What a published small count says about the true one, and what readers believe they see.

Two directions. The probability of a published value given the true count belongs to the noise
alone. The probability of a true count given the published value is what an intruder is after, and
depends on how often each count occurs in the table as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import (
    Counts,
    Pair,
    counts_of,
    counts_of_values,
    hidden_cells,
    pair_of,
    pair_of_values,
)
from sdcensus.model.cube.parts import TablePart, region
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import AnyTable, SparseTable

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: The published values that are looked at unless others are named.
SMALL_VALUES = (0, 1, 2, 3, 4, 5)
#: Published counts that readers take for single people.
SEEMINGLY_FEW = (1, 2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Posterior(Confidential):
    """Probabilities between true counts and published small values, in both directions.

    Attributes:
        published: The published values that were asked for, ascending.
        true: True counts that can be behind one of them, and those values themselves.
        joint: For each true count (row) and published value (column) the number of cells, as it
            is or as it is expected.
        cells: For each true count, how many cells have it, whatever is published for them.
    """

    published: Int64
    true: Int64
    joint: Float64
    cells: Float64

    def __repr__(self) -> str:
        return "<Posterior: confidential>"

    def given_published(self, true: int, published: int) -> float | None:
        """The probability of a true count given what is published.

        ``None`` where no cell is published as that value, so that nothing follows from it.
        """
        column = self._column(published)
        whole = float(self.joint[:, column].sum())
        if not whole > 0:
            return None
        row = np.flatnonzero(self.true == true)
        return float(self.joint[row, column].sum()) / whole

    def given_true(self, published: int, true: int) -> float | None:
        """The probability that a true count is published as a value; ``None`` if none has it."""
        column = self._column(published)
        row = np.flatnonzero(self.true == true)
        if not row.size or not self.cells[row[0]] > 0:
            return None
        return float(self.joint[row[0], column] / self.cells[row[0]])

    def published_as(self, published: int) -> int:
        """How many cells are published as a value, as they are or as they are expected."""
        return round(float(self.joint[:, self._column(published)].sum()))

    def counted_as(self, true: int) -> int:
        """How many cells have a true count, whatever is published for them."""
        return round(float(self.cells[self.true == true].sum()))

    def is_what_it_seems(self, published: int) -> float | None:
        """The probability that a published value is the true count."""
        return self.given_published(published, published)

    def table(self) -> tuple[tuple[float | None, ...], ...]:
        """For each published value, the probability of each true count."""
        return tuple(
            tuple(self.given_published(true, value) for true in self.true.tolist())
            for value in self.published.tolist()
        )

    def _column(self, published: int) -> int:
        places = np.flatnonzero(self.published == published)
        if not places.size:
            asked = ", ".join(map(str, self.published.tolist()))
            raise SpecError(f"Only these published values were looked at: {asked}.")
        return int(places[0])


@dataclass(frozen=True, slots=True)
class VisibleSmall:
    """How many published cells show small counts. From published values only, so public.

    Attributes:
        values: The small counts.
        visible: How many published cells show each of them.
        nonzero: How many cells are published as something else than 0.
    """

    values: tuple[int, ...]
    visible: tuple[int, ...]
    nonzero: int

    @property
    def share(self) -> float | None:
        """Their share of all cells that are not published as 0; ``None`` if there are none."""
        return sum(self.visible) / self.nonzero if self.nonzero else None

    def share_of(self, value: int) -> float | None:
        """The share of the cells that show one of the values."""
        if value not in self.values:
            raise SpecError(f"Only these values were counted: {', '.join(map(str, self.values))}.")
        at = self.values.index(value)
        return self.visible[at] / self.nonzero if self.nonzero else None


@dataclass(frozen=True, slots=True, repr=False)
class PerceivedDisclosure(Confidential):
    """Small counts that readers see, and how many of them are what they seem.

    Attributes:
        seen: What the published table shows.
        right: Of the visible cells of each value, how many have that true count.
        true: How many shown cells have each of the values as their true count.
    """

    seen: VisibleSmall
    right: tuple[int, ...]
    true: tuple[int, ...]

    def __repr__(self) -> str:
        return "<PerceivedDisclosure: confidential>"

    @property
    def share_right(self) -> float | None:
        """Of all visible small counts, the share that is true; ``None`` if none is visible."""
        visible = sum(self.seen.visible)
        return sum(self.right) / visible if visible else None


# ---------------------------------------------------------------------------------------------
# By design: what follows from the counts of a table and the noise, exactly.


def published_given_true(
    perturbation: Perturbation, true: Sequence[int], published: Sequence[int]
) -> Float64:
    """The probability of each published value (columns) for each true count (rows).

    Examples:
        >>> from sdcensus.model.perturbation.table import Tail
        >>> from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
        >>> rows = (DesignRow((0,), (1.0,)), DesignRow((-1, 0, 1), (0.25, 0.5, 0.25)))
        >>> published_given_true(PerturbationDesign(rows, Tail(1)), [0, 1, 2], [0, 1])
        array([[1.  , 0.  ],
               [0.25, 0.5 ],
               [0.  , 0.25]])
    """
    wanted = np.asarray(published, dtype=np.int64)
    result = np.zeros((len(true), wanted.size))
    for row, count in enumerate(true):
        targets = perturbation.targets(count)
        for chance, target in zip(perturbation.probabilities(count), targets, strict=True):
            result[row, wanted == target] += chance
    return result


def posterior(
    perturbation: Perturbation,
    counts: npt.ArrayLike,
    *,
    published: Sequence[int] = SMALL_VALUES,
    cells: int | None = None,
) -> Posterior:
    """P(true | published) by Bayes, over the counts of a table: exact, no draws.

    For an intruder who knows the noise and how often each count occurs in the table, but not
    where. Each cell is looked at alone: what totals and other tables tell is not in it.

    Args:
        perturbation: A design or a table.
        counts: True counts, in any shape.
        published: The published values to look at.
        cells: How many cells there are, if empty ones are left out of ``counts``.
    """
    return _by_design(perturbation, counts_of_values(counts, cells=cells), published)


def posterior_of(
    perturbation: Perturbation,
    cube: AnyCube,
    *,
    published: Sequence[int] = SMALL_VALUES,
    part: TablePart | str = TablePart.INTERIOR,
) -> Posterior:
    """``posterior`` over a part of a cube: its interior cells unless another is named."""
    counts = counts_of(cube, part, counts_only=True)
    return _by_design(perturbation, counts, published)


def _by_design(perturbation: Perturbation, counts: Counts, published: Sequence[int]) -> Posterior:
    values = _values(published)
    found, times = _occurring(counts.true, counts.absent)
    near = _may_become(perturbation, found, int(values[-1]))
    # Values that are asked for have a row even if no cell has that count.
    true = np.union1d(found[near], values)
    cells = np.zeros(true.size)
    cells[np.searchsorted(true, found[near])] = times[near]
    chances = published_given_true(perturbation, true.tolist(), values.tolist())
    return Posterior(values, true, chances * cells[:, None], cells)


def _may_become(perturbation: Perturbation, counts: Int64, largest: int) -> npt.NDArray[np.bool_]:
    """Which counts may be published as one of the smallest values."""
    lowest = {
        row: min(value for value, chance in perturbation.distribution(row) if chance)
        for row in range(perturbation.tail.rows)
    }
    deepest = -min(lowest.values())
    near = counts <= largest + deepest
    rows = [lowest[perturbation.tail.row(count)] for count in counts[near].tolist()]
    near[near] = counts[near] + np.array(rows, dtype=np.int64) <= largest
    return near


# ---------------------------------------------------------------------------------------------
# As it came out: from a cube and the table that was made from it.


def posterior_observed(
    counts: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    published: Sequence[int] = SMALL_VALUES,
    shown: npt.ArrayLike | None = None,
    cells: int | None = None,
) -> Posterior:
    """How often each true count is behind a published value in one table.

    Args:
        counts: True counts.
        values: Their published values, in the same shape.
        published: The published values to look at.
        shown: Which cells have a published number; others are left out.
        cells: How many cells there are, if empty ones that are published as 0 are left out.
    """
    return _observed(pair_of_values(counts, values, shown=shown, cells=cells), published)


def posterior_observed_of(
    cube: AnyCube,
    table: AnyTable,
    *,
    published: Sequence[int] = SMALL_VALUES,
    part: TablePart | str = TablePart.INTERIOR,
) -> Posterior:
    """``posterior_observed`` of a part of a table: its interior cells unless another is named."""
    pair = pair_of(cube, table, part, counts_only=True)
    return _observed(pair, published)


def _observed(pair: Pair, published: Sequence[int]) -> Posterior:
    values = _values(published)
    asked = np.isin(pair.published, values)
    true = np.union1d(pair.true[asked], values)
    joint = np.zeros((true.size, values.size))
    at = np.searchsorted(true, pair.true[asked]), np.searchsorted(values, pair.published[asked])
    np.add.at(joint, at, 1.0)
    found, times = _occurring(pair.true, pair.absent)
    cells = np.zeros(true.size)
    known = np.isin(true, found)
    cells[known] = times[np.searchsorted(found, true[known])]
    if pair.absent and values[0] == 0:
        joint[0, 0] += pair.absent  # both lists begin with 0
    return Posterior(values, true, joint, cells)


def visible_small(
    table: AnyTable,
    *,
    values: Sequence[int] = SEEMINGLY_FEW,
    part: TablePart | str = TablePart.INTERIOR,
) -> VisibleSmall:
    """How many cells of a published table show ones and twos. Public.

    Args:
        table: What is published.
        values: The counts that readers take for single people.
        part: Which cells: interior ones, totals and subtotals, or all.
    """
    wanted = _values(values, smallest=1)
    published = shown_values(table, part)
    visible = tuple(int((published == value).sum()) for value in wanted.tolist())
    return VisibleSmall(tuple(wanted.tolist()), visible, int(np.count_nonzero(published)))


def perceived_disclosure(
    cube: AnyCube,
    table: AnyTable,
    *,
    values: Sequence[int] = SEEMINGLY_FEW,
    part: TablePart | str = TablePart.INTERIOR,
) -> PerceivedDisclosure:
    """The ones and twos that a reader sees in a part of a table, and how many of them are true."""
    wanted = _values(values, smallest=1).tolist()
    pair = pair_of(cube, table, part, counts_only=True)
    seems = [pair.published == value for value in wanted]
    seen = VisibleSmall(
        tuple(wanted),
        tuple(int(seem.sum()) for seem in seems),
        int(np.count_nonzero(pair.published)),
    )
    is_so = [pair.true == value for value in wanted]
    return PerceivedDisclosure(
        seen,
        tuple(int((seem & other).sum()) for seem, other in zip(seems, is_so, strict=True)),
        tuple(int(mask.sum()) for mask in is_so),
    )


def shown_values(table: AnyTable, part: TablePart | str) -> Int64:
    """The published numbers of a part of a table, withheld ones left out."""
    where = region(table.spec, part)
    if isinstance(table, SparseTable):
        return table.published[where.holds(table.numbers, table.shape)]
    values, hidden = where.take(table.published), hidden_cells(table)
    return values if hidden is None else values[~where.take(hidden)]


def _values(values: Sequence[int], *, smallest: int = 0) -> Int64:
    if not len(values) or any(type(value) is not int or value < smallest for value in values):
        raise SpecError(f"Published values to look at are whole numbers from {smallest} on.")
    return np.unique(np.array(values, dtype=np.int64))


def _occurring(true: Int64, absent: int) -> tuple[Int64, Float64]:
    """The counts that occur, ascending, and how many cells have each."""
    found, times = np.unique(true, return_counts=True)
    if absent and (not found.size or found[0] != 0):
        found, times = np.insert(found, 0, 0), np.insert(times, 0, 0)
    often = times.astype(np.float64)
    if absent:
        often[0] += absent
    return found, often
