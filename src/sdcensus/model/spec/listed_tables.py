"""The tables for which records were changed so that none of their counts is small.

Whether another table has no small counts either is a matter of definitions: its cells are sums of
cells of a table on the list, or cells of the list themselves, in whatever spelling. A sum of counts
that are 0 or large enough is 0 or large enough. Nothing here is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.table_spec import Measure, TableSpec

UInt64 = npt.NDArray[np.uint64]
#: For each leaf of a variable the number of its group.
Classes = npt.NDArray[np.int64]

#: Tables with more cells than this are not looked at cell by cell: they are taken for unlisted.
MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True)
class TableList:
    """Tables of one kind of unit, as they are written.

    Attributes:
        of: What they count.
        tables: The axes of each, comma-separated.
        where: The condition of all of them; empty for none.
    """

    of: Entity
    tables: tuple[str, ...]
    where: str = ""

    def specs(self, schema: Schema) -> tuple[TableSpec, ...]:
        """The tables, read against a schema.

        Raises:
            SpecError: They cannot be counted, or one is written twice.
        """
        specs: dict[str, TableSpec] = {}
        for text in self.tables:
            by = [axis.strip() for axis in text.split(",") if axis.strip()]
            spec = TableSpec.build(
                schema, by, of=self.of, universe=self.where or None, measure=Measure.COUNT
            )
            if spec.hash() in specs:
                raise SpecError(f"The table {text!r} is listed twice.")
            specs[spec.hash()] = spec
        return tuple(specs.values())

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"of": self.of.value, "tables": list(self.tables), "where": self.where}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` made."""
        return cls(Entity(content["of"]), tuple(map(str, content["tables"])), str(content["where"]))


@dataclass(frozen=True, slots=True, eq=False)
class ListedTables:
    """A list of tables and the schema that it is about; cells are looked up when first asked.

    Attributes:
        tables: The list.
        schema: The schema of the records.
    """

    tables: TableList
    schema: Schema
    _made: list[tuple[TableSpec, ...]] = field(init=False, default_factory=list, repr=False)
    _hashes: list[UInt64] = field(init=False, default_factory=list, repr=False)

    def covers(self, spec: TableSpec) -> bool:
        """Whether no count of a table can be small: its cells are those of the list, or sums."""
        if spec.of is not self.tables.of or spec.measure is not Measure.COUNT:
            return False
        if any(_adds_up_from(spec, table) for table in self._specs()):
            return True
        if spec.cells > MOST_CELLS:
            return False
        known, asked = self._cells(), _possible(spec)
        at = np.minimum(np.searchsorted(known, asked), max(known.size - 1, 0))
        return not asked.size or bool(known.size and (known[at] == asked).all())

    def _specs(self) -> tuple[TableSpec, ...]:
        if not self._made:
            self._made.append(self.tables.specs(self.schema))
        return self._made[0]

    def _cells(self) -> UInt64:
        if not self._hashes:
            parts = [_possible(spec) for spec in self._specs()]
            self._hashes.append(np.unique(np.concatenate(parts)))
        return self._hashes[0]


def _adds_up_from(spec: TableSpec, table: TableSpec) -> bool:
    """Whether every cell of a table is a sum of cells that another one shows."""
    conditions: dict[str, Classes] = {}
    if spec.universe.canonical() != table.universe.canonical():
        if not table.universe.everything:
            return False
        universe = spec.universe
        names = [variable.name for variable in universe.variables]
        conditions = dict(zip(names, universe.classes, strict=True))
    shown = {axis.variable.name: axis for axis in table.axes}
    asked = {axis.variable.name: axis for axis in spec.axes}
    for name in conditions.keys() | asked.keys():
        if name not in shown:
            return False
        parts = [level.group_array for level in shown[name].levels]
        blocks: list[Classes | None] = [None]
        if name in asked:
            blocks = [level.group_array for level in asked[name].levels]
            blocks += [None] if asked[name].total else []
        for block in blocks:
            wanted = [each for each in (block, conditions.get(name)) if each is not None]
            if not any(all(_refines(part, each) for each in wanted) for part in parts):
                return False
    return True


def _refines(fine: Classes, coarse: Classes) -> bool:
    """Whether leaves of one group are always of one class."""
    first = np.zeros(int(fine.max(initial=0)) + 1, dtype=np.int64)
    first[fine] = np.arange(fine.size)
    return bool((coarse[first[fine]] == coarse).all())


def _possible(spec: TableSpec) -> UInt64:
    """One word for each cell that can hold a record."""
    hashes = cell_hashes(spec)
    return np.ascontiguousarray(hashes[hashes.any(axis=1), 0])


def unlisted(listed: ListedTables | None, specs: Sequence[TableSpec]) -> tuple[TableSpec, ...]:
    """Those of some tables that may have small counts; all of them where no list is left."""
    return tuple(spec for spec in specs if listed is None or not listed.covers(spec))
