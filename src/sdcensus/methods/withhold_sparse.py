"""Withholding small values where a table is too detailed for an area (New Zealand's ``c``)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.method import MethodKind, Step
from sdcensus.model.cube.constraints import interior
from sdcensus.model.method.parameter import AREA, Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import area_axis

_ELSEWHERE = sentence("cautions.elsewhere")
_CAUTIONS = (sentence("cautions.no_further"),)
_ADDITIVE = sentence("cautions.recomputed")


@dataclass(frozen=True, slots=True, repr=False)
class WithholdSparse(Step):
    """In areas whose cells hold few people on average, small published values become ``c``.

    It reads published values and code lists only, so it tells nothing that was not published.

    Attributes:
        area: The variable whose codes are the areas; the first geography of the table by default.
        mean_cell_size: An area is sparse if its published population, divided by the number of
            its interior cells (empty ones included), is below this.
        below: In a sparse area every published value below this is withheld.
    """

    area: str | None = None
    _: KW_ONLY
    mean_cell_size: float | Fraction = 2
    below: int = 6

    name: ClassVar[str] = "withhold-sparse-areas"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS
    summary: ClassVar[str] = "Small values of sparse areas are withheld."
    takes: ClassVar[tuple[Parameter, ...]] = (
        AREA,
        Parameter(
            "mean_cell_size",
            ValueKind.NUMBER,
            "How many units per cell are enough, on average.",
            least=0,
            default=2,
        ),
        Parameter(
            "below",
            ValueKind.WHOLE,
            "Smaller values of sparse areas are withheld.",
            least=1,
            default=6,
        ),
    )

    @property
    def withheld_below(self) -> int | None:
        """The limit itself: published values are compared with it."""
        return self.below

    def __post_init__(self) -> None:
        if not _is_size(self.mean_cell_size):
            raise SpecError("The mean cell size is a number, 0 or more.")
        if type(self.below) is not int or self.below < 1:
            raise SpecError("Values below a whole number, 1 or more, are withheld.")

    def __repr__(self) -> str:
        return (
            f"<WithholdSparse: values below {self.below} where the mean cell size is below"
            f" {self.mean_cell_size}>"
        )

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {
            "area": self.area,
            "mean_cell_size": str(Fraction(self.mean_cell_size)),
            "below": self.below,
        }

    def claims(self) -> Claims:
        """Nothing is promised by withholding alone."""
        return Claims(cautions=(_ELSEWHERE, *_CAUTIONS))

    def claims_after(self, before: Claims) -> Claims:
        """Numbers that are shown keep what was promised of them one by one.

        What was promised of all cells together, or of what is seen on average, is gone: zeros are
        withheld, sums have gaps, and which values are seen depends on the values.
        """
        elsewhere = sentence("cautions.elsewhere_agree") if before.consistent else _ELSEWHERE
        further = (elsewhere, *_CAUTIONS, *([_ADDITIVE] if before.additive else []))
        return replace(
            before,
            unbiased=False,
            zeros_kept=False,
            additive=False,
            shown_cells_add_up=before.additive or before.shown_cells_add_up,
            distribution=False,
            takes_sparse=False,
            cautions=(*before.cautions, *further),
        )

    def apply(self, table: Table) -> Table:
        """The table with small values of its sparse areas withheld."""
        spec = table.spec
        axis = area_axis(spec, self.area)
        areas = len(spec.axes[axis].codes) - spec.axes[axis].total
        values = np.moveaxis(table.published, axis, 0)[:areas]
        others = spec.with_axes(kept for at, kept in enumerate(spec.axes) if at != axis)
        inside: Any = (slice(None), *interior(others))
        if all(axis.total for axis in others.axes):
            grand: Any = (slice(None), *(len(axis.codes) - 1 for axis in others.axes))
            population = values[grand]
        else:
            population = values[inside].reshape(areas, -1).sum(axis=1)
        limit = math.ceil(Fraction(self.mean_cell_size) * others.base_cells)
        sparse = np.zeros(spec.shape[axis], dtype=bool)
        sparse[:areas] = population < limit
        rows = np.expand_dims(sparse, [at for at in range(len(spec.axes)) if at != axis])
        return withhold(table, rows & (table.published < self.below))


def withhold(table: Table, cells: npt.NDArray[np.bool_]) -> Table:
    """The table with these cells withheld, where they have a number."""
    flags = np.zeros(table.shape, np.uint8) if table.flags is None else table.flags.copy()
    flags[np.broadcast_to(cells, table.shape) & (flags == Mark.NONE)] = Mark.WITHHELD
    published = np.where(flags == Mark.NONE, table.published, 0)
    return replace(table, published=published, flags=flags)


def _is_size(size: object) -> bool:
    is_number = isinstance(size, float | Rational) and not isinstance(size, bool)
    return is_number and bool(0 <= size < math.inf)  # type: ignore[operator]
