"""The composite risk of a table: one figure from its zeros, its entropy and its population.

After Shlomo, Antal and Elliot, in the version that the ECLAC study of census tables (2020) used:
cells with few records have a term of their own, and the entropy of a protected table is discounted
by the variance of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import (
    Counts,
    Pair,
    counts_of,
    counts_of_values,
    pair_of,
    pair_of_values,
)
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.measure import Measure, MeasureContext, Row, Side
from sdcensus.model.published.table import AnyTable
from sdcensus.model.quantities import decimal_text
from sdcensus.model.sentences import figure, sentence
from sdcensus.model.vocabulary import option

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Of the zeros, of cells with few records, of other cells, and of the size of the population.
WEIGHTS = (0.1, 0.7, 0.1, 0.1)
#: Cells up to this count have a term of their own; empty ones are among them.
SMALL_UP_TO = 6
#: With fewer cells of 1 to 6 records, their term says little.
FEW_SMALL_CELLS = 30


class CompositeReading(StrEnum):
    """How the noise of a protected table lowers the terms of entropy.

    ``variance``: by ``1 / (1 + variance of the deviations)``, over all interior cells, empty ones
    included. What the printed figures of the ECLAC study were computed with, as far as they show.
    ``entropy``: by ``1 - H(F|G) / H(F)``, the share of the uncertainty about a count that its
    published value takes away. The original of Shlomo, Antal and Elliot.
    """

    VARIANCE = "variance"
    ENTROPY = "entropy"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompositeRisk(Confidential):
    """The composite risk of the interior cells of one table, term by term.

    Attributes:
        zeros: The term of empty cells, weighted, as the three others.
        small: How unevenly records spread over cells of 0 to 6.
        large: How unevenly they spread over the cells above.
        population: The term of the size of the population.
        cells: How many interior cells were measured; with none there is no value.
        discount: What the noise left of the terms of entropy; 1 for a table without noise.
        reading: How the discount was computed; ``None`` for a table without noise.
        weights: Of the four terms.
        warnings: What to know before reading the value.
    """

    zeros: float
    small: float
    large: float
    population: float
    cells: int
    discount: float = 1.0
    reading: CompositeReading | None = None
    weights: tuple[float, ...] = WEIGHTS
    warnings: tuple[str, ...] = ()

    @property
    def value(self) -> float | None:
        """The risk, between 0 and 1; ``None`` if no cell is measured (``warnings`` says why)."""
        if not self.cells:
            return None
        return self.zeros + self.small + self.large + self.population

    def __repr__(self) -> str:
        return "<CompositeRisk: confidential>"


def composite_risk(
    counts: npt.ArrayLike, weights: Sequence[float] = WEIGHTS, *, cells: int | None = None
) -> CompositeRisk:
    """The composite risk of a table without noise, from the counts of its interior cells.

    ``w1 |A| / K + w2 H(0..6) + w3 H(>6) + w4 (1 + ln sqrt(N)) / sqrt(N)``: ``A`` are the empty
    ones of ``K`` cells, ``N`` is the population of the table, and ``H`` of some cells is
    ``1 - entropy / ln(number of cells)``, 0 where all records spread evenly.

    Args:
        counts: True counts of interior cells, in any shape.
        weights: Of the four terms, 0 or more, with the sum 1.
        cells: How many cells there are, if empty ones are left out of ``counts``.
    """
    return _original(counts_of_values(counts, cells=cells), _checked(weights))


def composite_risk_protected(
    counts: npt.ArrayLike,
    published: npt.ArrayLike,
    *,
    reading: CompositeReading | str = CompositeReading.VARIANCE,
    weights: Sequence[float] = WEIGHTS,
    shown: npt.ArrayLike | None = None,
    cells: int | None = None,
) -> CompositeRisk:
    """The composite risk of a table with noise.

    The terms of entropy are those of the true counts times a discount (``reading``). The term of
    zeros becomes ``w1 (|A| / K) ** (|A or B| / |A and B|)``, where ``B`` are the cells that are
    published as 0; it is 0 where no empty cell is published as one.

    Args:
        counts: True counts of interior cells.
        published: Their published values, in the same shape.
        reading: How the noise counts.
        weights: Of the four terms.
        shown: Which cells have a published number. Others are left out: a table is measured by
            what it shows.
        cells: How many cells there are, if empty ones that are published as 0 are left out.
    """
    pair = pair_of_values(counts, published, shown=shown, cells=cells)
    return _protected(pair, option(CompositeReading, "reading", reading), _checked(weights))


def composite_risk_of(
    cube: AnyCube,
    table: AnyTable | None = None,
    *,
    reading: CompositeReading | str = CompositeReading.VARIANCE,
    weights: Sequence[float] = WEIGHTS,
) -> CompositeRisk:
    """The composite risk of a cube as it is, or of the table that was made from it.

    Interior cells only: totals are not measured, nor what other tables tell.
    """
    chosen, checked = option(CompositeReading, "reading", reading), _checked(weights)
    if table is None:
        return _original(counts_of(cube, TablePart.INTERIOR, counts_only=True), checked)
    return _protected(pair_of(cube, table, TablePart.INTERIOR, counts_only=True), chosen, checked)


@dataclass(frozen=True, slots=True, repr=False)
class RiskBeforeAndAfter(Confidential):
    """The composite risk of the true table, and of the published one."""

    before: CompositeRisk
    after: CompositeRisk

    def __repr__(self) -> str:
        return "<RiskBeforeAndAfter: confidential>"


class CompositeRiskMeasure(Measure[RiskBeforeAndAfter]):
    """The composite risk as a row of a report."""

    name = "composite-risk"
    title = sentence("assess.measure.composite_title")
    side = Side.RISK
    meaning = (
        ("risk R", "composite risk of the interior cells, 0 to 1; before and after protection"),
    )

    def measure(self, context: MeasureContext) -> RiskBeforeAndAfter:
        """The risk of both tables."""
        cube = context.cube
        return RiskBeforeAndAfter(composite_risk_of(cube), composite_risk_of(cube, context.table))

    def rows(self, result: RiskBeforeAndAfter, context: MeasureContext) -> tuple[Row, ...]:
        """Both values in one row."""
        before, after = result.before.value, result.after.value
        return (
            Row(
                sentence("assess.measure.composite"),
                figure(
                    lambda language: (
                        f"{decimal_text(before, 3, language)} → {decimal_text(after, 3, language)}"
                    )
                ),
                figures=(("risk R before", before), ("risk R after", after)),
            ),
        )

    def cautions(self, result: RiskBeforeAndAfter) -> tuple[str, ...]:
        """What to know before reading the values."""
        return tuple(dict.fromkeys((*result.before.warnings, *result.after.warnings)))


def _checked(weights: Sequence[float]) -> tuple[float, ...]:
    try:
        checked = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        checked = ()
    good = len(checked) == len(WEIGHTS) and all(math.isfinite(w) and w >= 0 for w in checked)
    if not good or abs(math.fsum(checked) - 1) > 1e-9:
        raise SpecError(
            "The composite risk has four weights (zeros, small cells, other cells, population),"
            f" 0 or more, with the sum 1; usual are {', '.join(map(str, WEIGHTS))}."
        )
    return checked


def _original(counts: Counts, weights: tuple[float, ...]) -> CompositeRisk:
    empty = counts.cells - int(np.count_nonzero(counts.true))
    return _together(counts, weights, zeros=empty / counts.cells if counts.cells else 0.0)


def _protected(pair: Pair, reading: CompositeReading, weights: tuple[float, ...]) -> CompositeRisk:
    empty, gone = pair.true == 0, pair.published == 0
    both = int((empty & gone).sum()) + pair.absent
    either = int((empty | gone).sum()) + pair.absent
    zeros = ((int(empty.sum()) + pair.absent) / pair.cells) ** (either / both) if both else 0.0
    warnings: tuple[str, ...] = ()
    if pair.withheld:
        warnings = (sentence("assess.caution.withheld"),)
    how = _variance_discount if reading is CompositeReading.VARIANCE else _entropy_discount
    return _together(
        Counts(pair.true, pair.absent),
        weights,
        zeros=zeros,
        discount=how(pair) if pair.cells else 1.0,
        reading=reading,
        warnings=warnings,
    )


def _together(
    counts: Counts,
    weights: tuple[float, ...],
    *,
    zeros: float,
    discount: float = 1.0,
    reading: CompositeReading | None = None,
    warnings: tuple[str, ...] = (),
) -> CompositeRisk:
    there = counts.true[counts.true > 0]
    few, many = there[there <= SMALL_UP_TO], there[there > SMALL_UP_TO]
    population = int(there.sum())
    root = math.sqrt(population)
    if not counts.cells:
        warnings = (*warnings, sentence("assess.caution.no_number"))
    elif not population:
        warnings = (
            *warnings,
            sentence("assess.caution.no_records"),
        )
    elif few.size < FEW_SMALL_CELLS:
        warnings = (
            *warnings,
            sentence("assess.caution.few", few=FEW_SMALL_CELLS, small=SMALL_UP_TO),
        )
    return CompositeRisk(
        zeros=weights[0] * zeros,
        small=weights[1] * discount * _concentration(few, counts.cells - many.size),
        large=weights[2] * discount * _concentration(many, many.size),
        population=weights[3] * (1 + math.log(root)) / root if population else 0.0,
        cells=counts.cells,
        discount=discount,
        reading=reading,
        weights=weights,
        warnings=warnings,
    )


def _concentration(there: Int64, cells: int) -> float:
    """How far records are from spreading evenly over cells: 0 if they do, 1 if all are in one."""
    records = int(there.sum())
    if cells <= 1 or not records:
        return 0.0
    entropy = records * math.log(records) - float((there * np.log(there)).sum())
    # Rounding errors of an even spread are no concentration.
    return min(max(1 - entropy / (records * math.log(cells)), 0.0), 1.0)


def _variance_discount(pair: Pair) -> float:
    deviation = pair.deviation.astype(np.float64)
    mean = float(deviation.sum()) / pair.cells
    variance = float((deviation**2).sum()) / pair.cells - mean**2
    return 1 / (1 + max(variance, 0.0))


def _entropy_discount(pair: Pair) -> float:
    """Of the uncertainty about the count of a cell, the share that its published value removes.

    If all counts are equal there is nothing to hide from somebody who knows that: 1, as for a
    table without noise.
    """
    alone = _entropy(pair.true, pair.absent)
    if alone <= 0:
        return 1.0
    published = _entropy(pair.published, pair.absent)
    # A number for each pair of count and published value; 0 for an empty cell published as 0.
    width = int(pair.published.max(initial=0)) + 1
    joint = _entropy(pair.true * width + pair.published, pair.absent)
    return min(max(1 - (joint - published) / alone, 0.0), 1.0)


def _entropy(values: Int64, absent: int) -> float:
    """The entropy of the values of cells, and of so many further zeros."""
    found, times = np.unique(values, return_counts=True)
    if absent:
        times = np.append(times, absent)
        if found.size and found[0] == 0:
            times[0] += absent
            times = times[:-1]
    cells = values.size + absent
    return math.log(cells) - float((times * np.log(times)).sum()) / cells
