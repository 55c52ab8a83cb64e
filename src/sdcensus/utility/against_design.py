"""Whether the changes of a table are those that its perturbation was designed to make.

The probabilities of a row are tested count by count, so that the sizes of the counts do not
matter. Empty cells are left out: they have no key to look up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import Pair, pair_of
from sdcensus.model.cube.parts import Int64, TablePart
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import AnyTable
from sdcensus.utility.distances import mid_ranks

#: Classes that are expected less often are put together with others.
SMALLEST_EXPECTED = 5.0
_NO_RECORD = "no cell is non-empty"


@dataclass(frozen=True, slots=True, repr=False)
class ChiSquare(Confidential):
    """The chi-square test of changes against the rows of a perturbation.

    Attributes:
        cells: How many cells were tested.
        rows: How many rows of the perturbation have enough cells to be tested.
        outside: How many cells changed in a way that their row does not know.
        statistic: The sum of ``(observed - expected)² / expected`` over rows and classes.
        degrees: Its degrees of freedom: classes less one, summed over rows.
        p_value: The probability of a statistic as large or larger if the changes follow the rows.
        reason: Why figures are ``None``; empty where none is.
    """

    cells: int
    rows: int
    outside: int
    statistic: float | None
    degrees: int
    p_value: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<ChiSquare of {self.cells:,} cells: confidential>"


def chi_square(
    cube: AnyCube,
    table: AnyTable,
    perturbation: Perturbation,
    part: TablePart | str = TablePart.INTERIOR,
) -> ChiSquare:
    """Test the changes of a table against the rows of its perturbation.

    Interior cells by default: a subtotal with one child repeats the change of the child, and
    repeated changes are not independent.
    """
    return chi_square_of_pair(pair_of(cube, table, part, counts_only=True), perturbation)


def chi_square_of_pair(
    pair: Pair, perturbation: Perturbation, *, smallest: float = SMALLEST_EXPECTED
) -> ChiSquare:
    """The same for cells that stand side by side."""
    tested = _by_row(pair, perturbation)
    total, degrees, used, outside = 0.0, 0, 0, 0
    for row, change in tested.changes():
        known = perturbation.distribution(row)
        values = np.array([value for value, _ in known], dtype=np.int64)
        chances = np.array([float(chance) for _, chance in known])
        place = np.searchsorted(values, change)
        listed = (place < values.size) & (values[np.minimum(place, values.size - 1)] == change)
        outside += int((~listed).sum())
        observed = np.bincount(place[listed], minlength=values.size).astype(np.float64)
        expected = chances * change.size
        classes = _pooled(observed, expected, smallest)
        if len(classes) > 1:
            used += 1
            degrees += len(classes) - 1
            total += math.fsum((seen - wanted) ** 2 / wanted for seen, wanted in classes)
    if outside:
        return ChiSquare(
            tested.cells,
            used,
            outside,
            None,
            degrees,
            0.0,
            "some cells changed in a way that their row does not know",
        )
    if not degrees:
        why = "no row has cells enough and several outcomes" if tested.cells else _NO_RECORD
        return ChiSquare(tested.cells, 0, 0, None, 0, None, why)
    # Only here: loading it takes longer than many measures.
    from scipy.special import chdtrc

    return ChiSquare(tested.cells, used, 0, total, degrees, float(chdtrc(degrees, total)))


def _pooled(
    observed: npt.NDArray[np.float64], expected: npt.NDArray[np.float64], smallest: float
) -> list[tuple[float, float]]:
    """Classes with enough expected cells: the rarest are put together until they have enough."""
    order = np.argsort(expected, kind="stable")
    classes: list[tuple[float, float]] = []
    seen = wanted = 0.0
    for at in order.tolist():
        seen += float(observed[at])
        wanted += float(expected[at])
        if wanted >= smallest:
            classes.append((seen, wanted))
            seen = wanted = 0.0
    if wanted and classes:
        last, enough = classes.pop()
        classes.append((last + seen, enough + wanted))
    return classes


@dataclass(frozen=True, slots=True, repr=False)
class StayTest(Confidential):
    """The exact binomial test of how many cells of a row stay as they are.

    Attributes:
        row: The row of the perturbation.
        cells: How many cells use it.
        unchanged: How many of them are published as they are.
        expected: The probability of that by the row.
        p_value: Of a number as unlikely or less, in both directions.
    """

    row: int
    cells: int
    unchanged: int
    expected: float
    p_value: float

    def __repr__(self) -> str:
        return f"<StayTest of row {self.row}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class StayTests(Confidential):
    """The binomial tests of all rows that cells use.

    Attributes:
        tests: One for each row.
        p_value: The smallest of their p-values times their number (Bonferroni), at most 1;
            ``None`` where there is no test.
        reason: Why there is none; empty where there is one.
    """

    tests: tuple[StayTest, ...]
    p_value: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<StayTests of {len(self.tests)} rows: confidential>"


def stay_tests(
    cube: AnyCube,
    table: AnyTable,
    perturbation: Perturbation,
    part: TablePart | str = TablePart.INTERIOR,
) -> StayTests:
    """Test the share of unchanged cells of each row against its stay probability."""
    return stay_tests_of_pair(pair_of(cube, table, part, counts_only=True), perturbation)


def stay_tests_of_pair(pair: Pair, perturbation: Perturbation) -> StayTests:
    """The same for cells that stand side by side."""
    # Only here: loading it takes longer than many measures.
    from scipy.stats import binomtest

    tests = []
    for row, change in _by_row(pair, perturbation).changes():
        chance = math.fsum(
            float(one) for value, one in perturbation.distribution(row) if value == 0
        )
        unchanged = int((change == 0).sum())
        found = binomtest(unchanged, change.size, min(chance, 1.0))
        tests.append(StayTest(row, int(change.size), unchanged, chance, float(found.pvalue)))
    if not tests:
        return StayTests((), None, _NO_RECORD)
    smallest = min(test.p_value for test in tests)
    return StayTests(tuple(tests), min(1.0, len(tests) * smallest))


@dataclass(frozen=True, slots=True, repr=False)
class SignedRank(Confidential):
    """The signed-rank test of Wilcoxon: whether changes up and down are equally large.

    Attributes:
        changed: How many cells changed.
        statistic: The smaller of the sums of ranks of changes up and down.
        p_value: Of a statistic as far from the middle or farther.
        reason: Why there is none; empty where there is one.
    """

    changed: int
    statistic: float | None
    p_value: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return "<SignedRank: confidential>"


def signed_rank(
    cube: AnyCube,
    table: AnyTable,
    part: TablePart | str = TablePart.INTERIOR,
) -> SignedRank:
    """Test whether changes up and down balance, without knowing the perturbation.

    Small counts cannot go down as far as they go up, so a method without bias can have changes
    that are not symmetric: look at counts of at least the largest deviation, or take
    ``chi_square``.
    """
    return signed_rank_of_pair(pair_of(cube, table, part))


#: With fewer changes than this the normal approximation is poor, and all signs are tried instead.
_EXACT_UP_TO = 13


def signed_rank_of_pair(pair: Pair) -> SignedRank:
    """The same for cells that stand side by side."""
    change = pair.deviation
    change = change[change != 0]
    if not change.size:
        return SignedRank(0, None, None, "no cell changed")
    ranks, _ = mid_ranks(np.abs(change))
    up = float(ranks[change > 0].sum())
    whole = float(ranks.sum())
    statistic = min(up, whole - up)
    if change.size <= _EXACT_UP_TO:
        signs = (np.arange(1 << change.size)[:, None] >> np.arange(change.size)) & 1
        sums = signs @ ranks
        away = np.abs(sums - whole / 2) >= abs(up - whole / 2) - 1e-9
        return SignedRank(int(change.size), statistic, float(away.mean()))
    z = (up - whole / 2) / math.sqrt(float((ranks * ranks).sum()) / 4)
    return SignedRank(int(change.size), statistic, math.erfc(abs(z) / math.sqrt(2)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _ByRow(Confidential):
    """Changes of cells with records in the order of the rows that serve them."""

    rows: Int64
    starts: Int64
    change: Int64

    def __repr__(self) -> str:
        return "<changes by row: confidential>"

    @property
    def cells(self) -> int:
        return int(self.change.size)

    def changes(self) -> list[tuple[int, Int64]]:
        pieces = np.split(self.change, self.starts[1:])
        return list(zip(self.rows.tolist(), pieces, strict=True)) if self.rows.size else []


def _by_row(pair: Pair, perturbation: Perturbation) -> _ByRow:
    if not isinstance(perturbation, Perturbation):
        raise SpecError("Changes are tested against a perturbation: a design or a table of rows.")
    filled = pair.true > 0
    count, change = pair.true[filled], pair.deviation[filled]
    row = perturbation.tail.rows_of(count)
    order = np.argsort(row, kind="stable")
    rows, starts = np.unique(row[order], return_index=True)
    return _ByRow(rows, starts, change[order])
