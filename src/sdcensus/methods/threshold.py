"""Threshold and rounding: small counts are not shown, the others are rounded to the nearest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.rounding import round_to_nearest
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.method import CellMethod, MethodKind, MethodOutcome, member
from sdcensus.methods.rounding import TieRule, base_parameter, check_base
from sdcensus.model.cube.cube import Accumulators, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.published.table import Mark
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec


class ThresholdZeros(StrEnum):
    """What is shown for an empty cell: nothing, as for every small count, or 0."""

    WITHHOLD = "withhold"
    SHOW = "show"


@dataclass(frozen=True, slots=True, repr=False)
class ThresholdRounding(CellMethod):
    """Counts below a threshold have no number; the others are the nearest multiple of the base.

    Attributes:
        threshold: The smallest count that has a number.
        base: What results are multiples of, 2 to 100.
        zeros: Whether empty cells are withheld like other small ones, or shown as 0.
        tie: Where a count in the middle goes; only an even base has such counts.
    """

    threshold: int = 10
    base: int = 5
    _: KW_ONLY
    zeros: ThresholdZeros | str = ThresholdZeros.WITHHOLD
    tie: TieRule | str = TieRule.HALF_EVEN_MULTIPLE

    name: ClassVar[str] = "threshold-and-rounding"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS
    summary: ClassVar[str] = "Small counts are not shown, the others are the nearest multiple."
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter("threshold", ValueKind.WHOLE, "Smaller counts are small.", least=0, default=10),
        base_parameter(5),
        Parameter(
            "zeros",
            ValueKind.WORD,
            "What is published for empty cells.",
            words=tuple(ThresholdZeros),
            called="treatment of zeros",
            default=ThresholdZeros.WITHHOLD,
        ),
    )
    shows_truth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_base(self.base)
        if type(self.threshold) is not int or 2 * self.threshold <= self.base:
            raise SpecError(
                f"The threshold is a whole number and more than half the base ({self.base}): a"
                " count that has a number must not become 0."
            )
        object.__setattr__(self, "zeros", member(ThresholdZeros, "treatment of zeros", self.zeros))
        object.__setattr__(self, "tie", member(TieRule, "rule for ties", self.tie))

    def __repr__(self) -> str:
        return (
            f"<ThresholdRounding from {self.threshold} to multiples of {self.base},"
            f" zeros {self.zeros}, ties {self.tie}>"
        )

    @property
    def largest_deviation(self) -> int | None:
        """Half of the base, for counts that are shown."""
        return self.base // 2

    def withheld_below(self, deviation: int) -> int | None:
        """True counts are compared with the threshold, not published ones."""
        return max(self.threshold - deviation, 1)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {
            "threshold": self.threshold,
            "base": self.base,
            "zeros": str(self.zeros),
            "tie": str(self.tie),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            bounded=True,
            zeros_kept=self.zeros is ThresholdZeros.SHOW,
            zeros_are_true=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            consistent=True,
            cautions=(
                sentence("cautions.subtraction"),
                sentence("cautions.totals_rounded"),
            ),
        )

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Withhold or round every cell on its own."""
        small = cells.count < self.threshold
        if self.zeros is ThresholdZeros.SHOW:
            small &= cells.count != 0
        published = round_to_nearest(cells.count, self.base, ties_up=self.tie is TieRule.UP)
        published[small] = 0
        flags = np.where(small, np.uint8(Mark.BELOW_THRESHOLD), np.uint8(Mark.NONE))
        return MethodOutcome(published, flags)

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no key was used."""
        return Audit(cube)
