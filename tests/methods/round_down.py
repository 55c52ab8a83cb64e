"""A method as another package would bring it; tests install it from a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.method import CellMethod, MethodKind, MethodOutcome
from sdcensus.model.cube.cube import Accumulators, Origin
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.spec.table_spec import TableSpec


@dataclass(frozen=True, slots=True)
class RoundDown(CellMethod):
    """Every count becomes the multiple below it."""

    floor: int = 5

    name: ClassVar[str] = "round-down"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Every count becomes the multiple below it."
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "floor",
            ValueKind.WHOLE,
            {"en": "Down to multiples of this.", "es": "Hacia abajo, a múltiplos de esto."},
            least=2,
            default=5,
        ),
    )

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {"floor": self.floor}

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(zeros_kept=True, never_negative=True, consistent=True, takes_sparse=True)

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Round every cell on its own."""
        return MethodOutcome(cells.count // self.floor * self.floor)
