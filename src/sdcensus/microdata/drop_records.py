"""Leave out the records for which a condition holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Changes, Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.universe import unit_of, universe_of
from sdcensus.store.census_store import CensusStore, all_rows_of


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DropRecords(Confidential):
    """Leaves out the units for which a condition holds, with everything that they hold.

    Nothing is drawn: the same condition drops the same records.

    Attributes:
        where: The condition, as plans write it.
        of: The units that go; without it the innermost that the condition is about.
    """

    where: str
    of: str = ""

    name: ClassVar[str] = "drop-records"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Leave out the records for which a condition holds."
    purpose: ClassVar[Purpose | None] = None
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "where",
            ValueKind.CONDITION,
            "The condition of the records that go. Confidential.",
            required=True,
        ),
        Parameter(
            "of",
            ValueKind.UNITS,
            "The units that go; else the innermost that the condition is about.",
        ),
    )

    def __repr__(self) -> str:
        return "<DropRecords: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The rows for which the condition holds."""
        schema = records.schema
        universe = universe_of(self.where, schema)
        unit = Entity.parse(self.of) if self.of else unit_of(universe, schema)
        schema.entity(unit)
        for variable in universe.variables:
            if variable.entity not in schema.lineage(unit):
                raise SpecError(
                    f"{variable.name!r} describes {variable.entity.plural}, of which"
                    f" {unit.plural} may have several. Name the units that go: --of"
                    f" {variable.entity.plural}."
                )
        progress("looking for the records", 0.0)
        rows = all_rows_of(universe, records, unit)
        if rows.size == records.rows(unit):
            raise SpecError(f"The condition leaves no {unit.plural} in the store.")
        return Changes(dropped={unit: rows})
