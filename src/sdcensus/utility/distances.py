"""How far published counts are from true ones: distances, ranks, and what became empty."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import Pair, pair_of, pair_of_values
from sdcensus.model.cube.parts import Int64, TablePart
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.sentences import sentence
from sdcensus.model.vocabulary import option
from sdcensus.utility.bases import Base

#: Counts from 1 to this are the small ones.
SMALL = 2

Float64 = npt.NDArray[np.float64]
Reasons = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Utility(Confidential):
    """How far the published counts of some cells are from the true ones.

    What has no meaning for these cells is ``None``, and ``reason`` says why. Withheld cells are
    counted and otherwise left out: there is no published number to measure.

    Attributes:
        part, base: Which cells were measured, and over which of them means are taken.
        small: Counts from 1 to this are the small ones.
        cells: How many cells were compared, empty ones included.
        withheld: How many cells were left out because no number is published for them.
        nonzero: How many of the cells hold records.
        small_cells: How many of them hold a small count.
        mean_absolute_distance: The mean of ``|published - true|`` over the base.
        mean_relative_distance: The mean of ``|published - true| / true`` over the base.
        mean_absolute_distance_small, mean_relative_distance_small: The same over small counts.
        hellinger: ``sqrt(0.5 · sum((sqrt(published) - sqrt(true))²))`` over all the cells.
        hellinger_normalised: The same divided by the root of the sum of true counts; 0 for equal
            tables, and never above 1 where no more is published than was counted.
        max_deviation: The largest change up or down.
        mean_deviation: The mean change over all the cells: 0 for a method without bias.
        variance: The mean squared distance of changes from their mean, over all the cells.
        variance_nonzero: The same over the cells with records.
        false_zeros: Cells with records that are published as 0.
        false_nonzeros: Empty cells that are published as something else.
        share_unchanged, share_unchanged_nonzero: The share of all cells, and of cells with
            records, that are published as they are.
        spearman: Spearman's rank correlation of true and published counts, ties in the middle.
        reasons: For each figure that is ``None``, why.
    """

    part: TablePart | None
    base: Base
    small: int
    cells: int
    withheld: int
    nonzero: int
    small_cells: int
    mean_absolute_distance: float | None
    mean_relative_distance: float | None
    mean_absolute_distance_small: float | None
    mean_relative_distance_small: float | None
    hellinger: float | None
    hellinger_normalised: float | None
    max_deviation: int | None
    mean_deviation: float | None
    variance: float | None
    variance_nonzero: float | None
    false_zeros: int
    false_nonzeros: int
    share_unchanged: float | None
    share_unchanged_nonzero: float | None
    spearman: float | None
    reasons: Reasons = ()

    def __repr__(self) -> str:
        return f"<Utility of {self.cells:,} cells: confidential>"

    @property
    def utility(self) -> float | None:
        """One less the normalised Hellinger distance: 1 for a table that was not changed."""
        return None if self.hellinger_normalised is None else 1 - self.hellinger_normalised

    def reason(self, figure: str) -> str | None:
        """Why a figure is ``None``; ``None`` where it is a number."""
        return dict(self.reasons).get(_SAME.get(figure, figure))

    def figures(self) -> dict[str, float | int | None]:
        """The figures by their names, in the order of this class; confidential."""
        return {name: getattr(self, name) for name in FIGURES}


#: The names of the figures.
FIGURES = (
    "cells",
    "withheld",
    "nonzero",
    "small_cells",
    "mean_absolute_distance",
    "mean_relative_distance",
    "mean_absolute_distance_small",
    "mean_relative_distance_small",
    "hellinger",
    "hellinger_normalised",
    "utility",
    "max_deviation",
    "mean_deviation",
    "variance",
    "variance_nonzero",
    "false_zeros",
    "false_nonzeros",
    "share_unchanged",
    "share_unchanged_nonzero",
    "spearman",
)
_SAME = {"utility": "hellinger_normalised"}


def utility_of(
    cube: AnyCube,
    table: AnyTable,
    part: TablePart | str = TablePart.ALL,
    base: Base | str = Base.NONZERO,
    *,
    small: int = SMALL,
) -> Utility:
    """How far a published table is from the true counts.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        part: All cells, interior cells, or margins.
        base: Over which cells mean distances are taken.
        small: Counts from 1 to this are the small ones.
    """
    chosen = TablePart.named(part)
    return measure(pair_of(cube, table, chosen), base=base, part=chosen, small=small)


def utility_of_values(
    true: npt.ArrayLike,
    published: npt.ArrayLike,
    base: Base | str = Base.NONZERO,
    *,
    withheld: npt.ArrayLike | None = None,
    small: int = SMALL,
) -> Utility:
    """The same for two arrays of counts.

    Examples:
        >>> made = utility_of_values([1, 2, 3, 4, 5, 6], [0, 3, 3, 3, 6, 6])
        >>> round(made.hellinger, 10), round(made.utility, 10)
        (0.7805018046, 0.8296805429)
    """
    return measure(pair_of_values(true, published, withheld=withheld), base=base, small=small)


_NO_CELL = sentence("assess.reason.no_cell")
_ALL_WITHHELD = sentence("assess.reason.all_withheld")
_NO_RECORD = sentence("assess.reason.no_record")
_NO_SMALL = sentence("assess.reason.no_small")
_EMPTY_CHANGED = sentence("assess.reason.base")
_CONSTANT = sentence("assess.reason.constant")


class _Means:
    """Means over cells of a pair, and why some of them have no meaning."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.none = _ALL_WITHHELD if pair.withheld else _NO_CELL
        self.reasons: dict[str, str] = {}

    def missing(self, name: str, why: str) -> None:
        """Say why a figure has no meaning."""
        self.reasons[name] = why if self.pair.cells else self.none

    def mean(self, name: str, total: float, over: int, why: str) -> float | None:
        """A sum over so many cells; ``None`` where there are none."""
        if over:
            return float(total) / over
        self.missing(name, why)
        return None

    def variance(self, name: str, deviation: Int64, over: int, why: str) -> float | None:
        """Whole numbers until the last step."""
        first, square = _sum(deviation), _sum(deviation * deviation)
        spread = (square * over - first * first) / over if over else 0.0
        return self.mean(name, spread, over, why)


def measure(
    pair: Pair,
    *,
    base: Base | str = Base.NONZERO,
    part: TablePart | None = None,
    small: int = SMALL,
) -> Utility:
    """The measures of cells that stand side by side."""
    chosen = option(Base, "base of a mean", base)
    if type(small) is not int or small < 1:
        raise SpecError("Small counts are those from 1 to a whole number, 1 or more.")
    true, cells, deviation = pair.true, pair.cells, pair.deviation
    size = np.abs(deviation)
    filled = true > 0
    low = filled & (true <= small)
    nonzero, small_cells = int(filled.sum()), int(low.sum())
    false_nonzeros = int((~filled & (size > 0)).sum())
    means = _Means(pair)
    mean = means.mean
    over = nonzero if chosen is Base.NONZERO else cells
    summed = size[filled].sum() if chosen is Base.NONZERO else size.sum()
    absolute = mean("mean_absolute_distance", summed, over, _NO_RECORD)
    # A cell without records has no relative change, and adds nothing to these sums.
    relative = mean("mean_relative_distance", (size[filled] / true[filled]).sum(), over, _NO_RECORD)
    if chosen is Base.ALL and false_nonzeros:
        relative = None
        means.missing("mean_relative_distance", _EMPTY_CHANGED)
    absolute_small = mean("mean_absolute_distance_small", size[low].sum(), small_cells, _NO_SMALL)
    relative_small = mean(
        "mean_relative_distance_small", (size[low] / true[low]).sum(), small_cells, _NO_SMALL
    )
    distance, normalised = _hellinger(means)
    unchanged, unchanged_filled = int((size == 0).sum()), int((filled & (size == 0)).sum())
    mean_deviation = mean("mean_deviation", _sum(deviation), cells, means.none)
    correlation = spearman(pair)
    if correlation is None:
        means.missing("spearman", _CONSTANT)
    return Utility(
        part=part,
        base=chosen,
        small=small,
        cells=cells,
        withheld=pair.withheld,
        nonzero=nonzero,
        small_cells=small_cells,
        mean_absolute_distance=absolute,
        mean_relative_distance=relative,
        mean_absolute_distance_small=absolute_small,
        mean_relative_distance_small=relative_small,
        hellinger=distance,
        hellinger_normalised=normalised,
        max_deviation=(int(size.max()) if size.size else 0) if cells else None,
        mean_deviation=mean_deviation,
        variance=means.variance("variance", deviation, cells, means.none),
        variance_nonzero=means.variance("variance_nonzero", deviation[filled], nonzero, _NO_RECORD),
        false_zeros=int((filled & (pair.published == 0)).sum()),
        false_nonzeros=false_nonzeros,
        share_unchanged=mean("share_unchanged", unchanged + pair.absent, cells, means.none),
        share_unchanged_nonzero=mean(
            "share_unchanged_nonzero", unchanged_filled, nonzero, _NO_RECORD
        ),
        spearman=correlation,
        reasons=tuple(means.reasons.items()),
    )


def _hellinger(means: _Means) -> tuple[float | None, float | None]:
    """The distance, and the same divided by the root of the sum of true counts."""
    pair = means.pair
    if not pair.cells:
        for name in ("hellinger", "hellinger_normalised", "max_deviation"):
            means.missing(name, means.none)
        return None, None
    distance, people = hellinger(pair.true, pair.published), int(pair.true.sum())
    if not people:
        means.missing("hellinger_normalised", _NO_RECORD)
    return distance, distance / math.sqrt(people) if people else None


def _sum(values: Int64) -> int:
    return int(values.sum())


def hellinger(true: npt.NDArray[np.int64], published: npt.NDArray[np.int64]) -> float:
    """The Hellinger distance of two arrays of counts, not normalised."""
    difference = np.sqrt(published.astype(np.float64)) - np.sqrt(true.astype(np.float64))
    return math.sqrt(0.5 * float((difference * difference).sum()))


def spearman(pair: Pair) -> float | None:
    """Spearman's rank correlation with ties in the middle; ``None`` where one side is constant.

    Cells that are not held count as zeros on both sides: they are one value with a weight.
    """
    if pair.cells < 2:
        return None
    first, rank_of_absent = mid_ranks(pair.true, pair.absent)
    second, other_of_absent = mid_ranks(pair.published, pair.absent)
    middle = (pair.cells + 1) / 2
    first -= middle
    second -= middle
    a, b = rank_of_absent - middle, other_of_absent - middle
    across = float((first * second).sum()) + pair.absent * a * b
    own = float((first * first).sum()) + pair.absent * a * a
    other = float((second * second).sum()) + pair.absent * b * b
    if not own or not other:
        return None
    # Rounding must not lead outside what a correlation can be.
    return max(-1.0, min(1.0, across / math.sqrt(own * other)))


def mid_ranks(values: Int64, absent: int = 0) -> tuple[Float64, float]:
    """The rank of each value when ``absent`` zeros are added, and the rank of those zeros."""
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    if absent:
        if distinct.size and distinct[0] == 0:
            counts[0] += absent
        else:
            counts = np.concatenate(([absent], counts))
            inverse = inverse + 1
    ends = np.cumsum(counts)
    ranks = ends - (counts - 1) / 2
    return ranks[inverse.reshape(-1)], float(ranks[0]) if ranks.size else 0.0
