"""What a file tells of its units about the variables of a table, and which of it is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.release.records import NO_HOLDER, FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.universe import Universe
from sdcensus.risk.records.with_tables import NOT_TOLD, told_places
from sdcensus.session.release.columns import codes_of
from sdcensus.session.release.make.shown import rows_of
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToldColumn(Confidential):
    """A variable as units of a file tell it.

    Attributes:
        values: The code of each unit; 0 for all where the file does not tell the variable.
        groups: For each leaf of the variable the code that tells it.
        codes: How many codes there are.
        true: Whether it is what the census says; blanks and changed codes are not.
    """

    values: Integers
    groups: Int64
    codes: int
    true: Mask

    def __repr__(self) -> str:
        return "<ToldColumn: confidential>"


class ToldUnits(Confidential):
    """The units of one kind of a file, with what it tells of them.

    Args:
        records: What the file tells.
        store: The census as it was counted.
        entity: Persons or households; of persons also what is told of their households.
    """

    def __init__(self, records: FileRecords, store: CensusStore, entity: Entity) -> None:
        self._records, self._store, self._entity = records, store, entity
        digests = records.store.digests(entity)[records.sample.rows[entity]]
        self.rows, _ = rows_of(store, digests, entity)
        self._known: dict[str, ToldColumn] = {}

    def __repr__(self) -> str:
        return f"<ToldUnits of {self._entity.plural}: confidential>"

    def column(self, variable: Variable) -> ToldColumn:
        """A variable of the census as the file tells it."""
        if variable.name not in self._known:
            self._known[variable.name] = self._column(variable)
        return self._known[variable.name]

    def _column(self, variable: Variable) -> ToldColumn:
        own = self._store.schema.variable(variable.name)
        held = [
            each
            for each in self._records.design.variables
            if each.source.name == variable.name and not each.amounts and self._reaches(each)
        ]
        if not held:
            groups = np.zeros(len(variable.codes), dtype=np.int64)
            every = np.ones(self.rows.size, dtype=bool)
            return ToldColumn(np.zeros(self.rows.size, dtype=np.int64), groups, 1, every)
        finest = max(held, key=lambda each: len(each.level.codes))
        values = codes_of(self._records, finest, self._entity)
        leaves = self._store.column(self._entity, own)[slice(None)][self.rows]
        true = finest.level.group_array[leaves] == values
        place = {code.code: at for at, code in enumerate(own.codes)}
        groups = np.array(
            [
                finest.level.group[place[leaf.code]] if leaf.code in place else NOT_TOLD
                for leaf in variable.codes
            ],
            dtype=np.int64,
        )
        return ToldColumn(values, groups, len(finest.level.codes), true)

    def _reaches(self, variable: FileVariable) -> bool:
        return variable.entity is self._entity or self._entity is Entity.PERSON

    def places(self, axis: Axis) -> Int64:
        """Where the codes of the file stand on an axis."""
        column = self.column(axis.variable)
        return told_places(axis, column.groups, column.codes)

    def inside(self, universe: Universe) -> Mask | None:
        """Which units certainly belong to a universe; ``None`` where the file does not tell."""
        if not universe.variables:
            return np.full(self.rows.size, bool(universe.truth))
        classes = []
        known = np.ones(self.rows.size, dtype=bool)
        for variable, class_of in zip(universe.variables, universe.classes, strict=True):
            column = self.column(variable)
            least, most = np.full(column.codes, len(class_of)), np.full(column.codes, NOT_TOLD)
            leaf = column.groups >= 0
            np.minimum.at(least, column.groups[leaf], class_of[leaf])
            np.maximum.at(most, column.groups[leaf], class_of[leaf])
            if not (least == most).any():
                return None
            own = np.where(least == most, most, NOT_TOLD)[column.values]
            known &= own >= 0
            classes.append(np.maximum(own, 0))
        inside: Mask = known & universe.truth[tuple(classes)]
        return inside

    def true_of(self, variables: tuple[Variable, ...]) -> Mask:
        """Which units tell the truth about all of some variables."""
        true = np.ones(self.rows.size, dtype=bool)
        for variable in variables:
            true &= self.column(variable).true
        return true

    @property
    def households(self) -> Int64:
        """The household of each person of the file; below 0 for none."""
        holders = self._records.holders.get((Entity.PERSON, Entity.HOUSEHOLD))
        if holders is None:
            return np.full(self.rows.size, NO_HOLDER, dtype=np.int64)
        return holders
