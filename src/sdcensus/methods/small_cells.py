"""Small cell adjustment: small interior cells are rounded at random, totals are added up anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.methods.look_up import SET_KEYS
from sdcensus.methods.method import MethodKind, MethodOutcome, TableMethod
from sdcensus.methods.rounding import base_parameter, check_base, rounded_by_cell_key
from sdcensus.model.cube.constraints import interior, with_totals
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.knowledge import DeviationSupport
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.sentences import sentence


@dataclass(frozen=True, slots=True, repr=False)
class SmallCellAdjustment(TableMethod):
    """Interior cells with small counts are rounded at random; totals are sums of what is shown.

    The cell key decides up or down, so an interior cell has the same number in every table. Its
    totals do not: they depend on the cells that a table shows.

    Attributes:
        base: What small counts become multiples of, 2 to 100.
        threshold: Counts below this that are no multiple of the base are rounded; the base by
            default, so that the counts from 1 to below the base vanish.
    """

    base: int = 3
    _: KW_ONLY
    threshold: int | None = None

    name: ClassVar[str] = "small-cell-adjustment"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Small interior cells are rounded at random; totals are their sums."
    takes: ClassVar[tuple[Parameter, ...]] = (
        base_parameter(3),
        Parameter(
            "threshold",
            ValueKind.WHOLE,
            "Smaller counts are small; the base if nothing is said here.",
            least=0,
        ),
    )
    shows_truth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_base(self.base)
        if self.threshold is None:
            object.__setattr__(self, "threshold", self.base)
        if type(self.threshold) is not int or self.threshold < self.base:
            raise SpecError(
                f"The threshold is a whole number and at least the base ({self.base}): otherwise"
                " some of the counts below the base stay as they are."
            )

    def __repr__(self) -> str:
        return f"<SmallCellAdjustment of counts below {self.threshold} to multiples of {self.base}>"

    @property
    def largest_deviation(self) -> int | None:
        """One less than the base, for interior cells."""
        return self.base - 1

    @property
    def support(self) -> DeviationSupport | None:
        """Small counts go to a multiple below or above; all others stay."""
        base, threshold = self.base, self.threshold or self.base
        size = threshold + base + 1
        values = np.arange(size, dtype=np.int64)
        stays = (values % base == 0) | (values >= threshold)
        smallest = np.where(stays, values, size)
        largest = np.where(stays, values, -1)
        moved = values[~stays]
        for target in (moved // base * base, moved // base * base + base):
            np.minimum.at(smallest, target, moved)
            np.maximum.at(largest, target, moved)
        return DeviationSupport(tuple(smallest.tolist()), tuple(largest.tolist()), 1)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {"base": self.base, "threshold": self.threshold}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            unbiased=True,
            zeros_kept=True,
            never_negative=True,
            blocked_counts_never_appear=True,
            additive=True,
            cautions=(
                sentence("cautions.total_small_cells"),
                SET_KEYS,
                sentence("cautions.large_exact"),
            ),
        )

    def publish(self, cube: Cube) -> MethodOutcome:
        """Round the small interior cells, then add everything else up."""
        # The ellipsis keeps a table of one cell an array.
        inside: Any = (*interior(cube.spec), ...)
        cells = cube.values.map(lambda array: array[inside])
        adjusted = rounded_by_cell_key(
            cells.count, cells.key, self.base, cube.origin, below=self.threshold
        )
        return MethodOutcome(with_totals(cube.spec, adjusted))
