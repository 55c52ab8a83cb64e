"""Numeric perturbation tables: deviations on a grid finer than one, in rows at a few anchors.

A row belongs to an anchor: how many times the amount by which noise is measured goes into the sum.
Between anchors the deviation is interpolated, with one and the same key in both rows. A row is the
row of a design for counts on the finer grid, divided by the step of the grid: without bias, of
greatest entropy, never below zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.design import DesignRow
from sdcensus.model.schema.schema import LARGEST_MODULUS

#: Largest deviation times step: what the design of rows can solve.
FINEST = 50
#: Deviations and widths of a row.
Widths = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, repr=False)
class NumericTable(Confidential):
    """Deviations by anchors, in steps of a grid.

    Attributes:
        anchors: Ascending whole numbers, 1 first.
        rows: For each the deviations, in steps of the grid, and their probabilities.
        step: How many steps of the grid make one.
    """

    anchors: tuple[int, ...]
    rows: tuple[DesignRow, ...]
    step: int = 1

    def __post_init__(self) -> None:
        ascending = all(a < b for a, b in zip(self.anchors, self.anchors[1:], strict=False))
        if not self.anchors or self.anchors[0] != 1 or not ascending:
            raise SpecError("The anchors of a numeric table are ascending whole numbers from 1 on.")
        if len(self.rows) != len(self.anchors):
            raise SpecError("A numeric table has one row for each of its anchors.")
        if type(self.step) is not int or not 1 <= self.step < FINEST:
            raise SpecError(f"The step of a numeric table is whole, from 1 to {FINEST - 1}.")
        for anchor, row in zip(self.anchors, self.rows, strict=True):
            if row.deviations[0] < -anchor * self.step:
                raise SpecError(f"The row of the anchor {anchor} would lead below zero.")

    def __repr__(self) -> str:
        return f"<NumericTable with {len(self.rows)} rows: confidential>"

    @property
    def max_deviation(self) -> Fraction:
        """The largest deviation of any row, up or down."""
        largest = max(max(-row.deviations[0], row.deviations[-1]) for row in self.rows)
        return Fraction(largest, self.step)

    def widths(self, modulus: int = LARGEST_MODULUS) -> tuple[Widths, ...]:
        """Each row as whole numbers of keys, in ascending order of deviations, without bias."""
        rows = []
        for row in self.rows:
            widths = quantise(row.probabilities, row.deviations, modulus)
            kept = [(v, w) for v, w in zip(row.deviations, widths, strict=True) if w]
            rows.append((tuple(v for v, _ in kept), tuple(w for _, w in kept)))
        return tuple(rows)

    def variance(self, anchor: int, modulus: int = LARGEST_MODULUS) -> Fraction:
        """That of the row of an anchor, exactly as its keys have it."""
        deviations, widths = self.widths(modulus)[self.anchors.index(anchor)]
        pairs = list(zip(deviations, widths, strict=True))
        mean = Fraction(sum(v * w for v, w in pairs), modulus)
        second = Fraction(sum(v * v * w for v, w in pairs), modulus)
        return (second - mean * mean) / self.step**2

    @property
    def last_variance(self) -> Fraction:
        """That of the last row, which serves everything above the last anchor."""
        return self.variance(self.anchors[-1])

    def described(self) -> dict[str, object]:
        """The table as plain values; confidential."""
        return {"anchors": self.anchors, "step": self.step, "rows": self.widths()}


@lru_cache(maxsize=32)
def design_numeric_table(
    max_deviation: int, variance: float, step: int = 1, anchors: tuple[int, ...] | None = None
) -> NumericTable:
    """Design a numeric table.

    Args:
        max_deviation: The largest deviation, and the last anchor.
        variance: Of the deviation; rows of small anchors may not reach it.
        step: How many steps of the grid make one; ``max_deviation * step`` is below 50.
        anchors: Which rows there are, the first 1 and the last ``max_deviation``; every whole
            number by default.

    Examples:
        >>> table = design_numeric_table(3, 1.0, step=4)
        >>> table.anchors, table.max_deviation, round(float(table.last_variance), 6)
        ((1, 2, 3), Fraction(3, 1), 1.0)
    """
    if type(max_deviation) is not int or type(step) is not int or max_deviation < 1 or step < 1:
        raise SpecError("The largest deviation and the step of a numeric table are whole, from 1.")
    if max_deviation * step >= FINEST:
        raise SpecError(
            f"The largest deviation times the step is below {FINEST}. With a largest deviation of"
            f" {max_deviation}, the step is {max((FINEST - 1) // max_deviation, 1)} at most."
        )
    if not 0 < variance < max_deviation**2:
        raise SpecError(
            f"The variance of a numeric table is above 0 and below {max_deviation**2}, the square"
            f" of its largest deviation, not {variance:g}."
        )
    rows = anchors or tuple(range(1, max_deviation + 1))
    if rows[0] != 1 or rows[-1] != max_deviation:
        raise SpecError(f"Anchors go from 1 to the largest deviation, {max_deviation}.")
    design = design_perturbation(max_deviation * step, variance * step**2)
    return NumericTable(rows, tuple(design.rows[anchor * step] for anchor in rows), step)
