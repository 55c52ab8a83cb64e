"""Whether a table that is out counts the records of a file as the file has them.

A treatment of amounts makes another line of records. Tables that show no amount are the same from
both lines: between them and the file there is nothing that could differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure
from sdcensus.session.release.make.shown import rows_of
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]


class SameRecords(Confidential):
    """What two stores of one census tell alike of the records that are in both.

    Args:
        counted: The census as it was counted.
        treated: The same census after the treatments of a file.
    """

    def __init__(self, counted: CensusStore, treated: CensusStore) -> None:
        self._counted, self._treated = counted, treated
        self._rows: dict[Entity, Integers | None] = {}
        self._alike: dict[tuple[Entity, str], bool] = {}

    def __repr__(self) -> str:
        return "<SameRecords: confidential>"

    def counts_alike(self, spec: TableSpec) -> bool:
        """Whether every unit stands in the same cell of a table, whichever store is counted."""
        if spec.measure is not Measure.COUNT:
            return False
        variables = (*(axis.variable for axis in spec.axes), *spec.universe.variables)
        return all(self._is_alike(spec.of, variable) for variable in variables)

    def _is_alike(self, entity: Entity, variable: Variable) -> bool:
        key = entity, variable.name
        if key not in self._alike:
            self._alike[key] = self._compared(entity, variable.name)
        return self._alike[key]

    def _compared(self, entity: Entity, name: str) -> bool:
        stores = self._counted, self._treated
        if any(
            name not in {variable.name for variable in store.schema.usable(entity)}
            for store in stores
        ):
            return False
        if entity not in self._rows:
            rows, known = rows_of(self._counted, self._treated.digests(entity)[:], entity)
            self._rows[entity] = rows if known.all() else None
        at = self._rows[entity]
        if at is None:
            return False
        before, after = (
            store.column(entity, store.schema.variable(name))[slice(None)] for store in stores
        )
        return bool(np.array_equal(before[at], after))
