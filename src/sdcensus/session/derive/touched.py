"""Which records a derivation touches: by variable and level, and in the small cells of tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import Mask
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.derivation.results import LevelChange, SmallCellChange
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import imputed_column, value_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Counts from 1 to this are small.
SMALL = 2
#: Cells that are counted in an array; more are sorted.
_MOST_BINS = 50_000_000


class Touched(Confidential):
    """The records of a store beside those of a derived one, in the order of the first.

    Args:
        derived: The changes.
        view: The derived store.
    """

    def __init__(self, derived: DerivedRecords, view: DerivedView) -> None:
        self.derived, self.view = derived, view
        self.store: CensusStore = derived.store

    def __repr__(self) -> str:
        return "<Touched: confidential>"

    def before(self, entity: Entity, variable: Variable) -> Integers:
        """The code of each record of a kind, its own or that of what holds it."""
        return self.store.column(entity, variable)[0 : self.store.rows(entity)]

    def after(self, entity: Entity, variable: Variable) -> Integers:
        """The same in the derived store; records that are gone keep what they had."""
        codes = np.array(self.before(entity, variable))
        codes[self.derived.order[entity]] = self.view.column(entity, variable)[
            0 : self.view.rows(entity)
        ]
        return codes

    def spread(self, mask: Mask, of: Entity, over: Entity) -> Mask:
        """Units of a kind that are held by one of the units of a mask, or are one of them."""
        spread = np.zeros(self.store.rows(over), dtype=bool)
        if over is of or self.store.schema.path(over, of):
            rows = self.store.holder_rows(over, of)[:]
            held = rows != NO_ROW
            spread[held] = mask[rows[held]]
        return spread

    def weights(self) -> Iterator[tuple[Variable, Mask]]:
        """Each weight that is new or changed, and the units that count for more or less by it."""
        for variable, before, after in self.derived.new_weights():
            yield variable, np.asarray(before != after)
        for name, new in self.derived.changes.amounts.items():
            variable = self.store.schema.variable(name)
            if variable.role is Role.WEIGHT:
                old = self.store.raw(variable.entity, value_column(name))
                mask = np.zeros(old.size, dtype=bool)
                mask[new.rows] = old[new.rows] != new.values
                yield variable, mask

    # ------------------------------------------------------------------ by variable and level

    def levels(self) -> Iterator[LevelChange]:
        """Whom each changed variable protects: level by level, areas first, the country after."""
        schema, codes = self.store.schema, self.derived.changes.codes
        area = schema.geography
        movers = self._movers()
        if area is not None and movers is not None:
            before, after = self.before(movers, area), self.after(movers, area)
            for level in area.plain_levels:
                group = level.group_array
                yield self._level(area, level.name, group[before] != group[after], movers)
            yield self._level(area, "", np.zeros(before.size, dtype=bool), movers)
        for name in sorted(set(codes) - ({area.name} if area is not None else set())):
            variable = schema.variable(name)
            before, after = self.before(variable.entity, variable), self.after_own(variable)
            for level in variable.plain_levels:
                group = level.group_array
                yield self._level(variable, level.name, group[before] != group[after])
        for variable, changed in self.weights():
            yield self._level(variable, variable.name, changed)

    def _movers(self) -> Entity | None:
        """The kind of unit that has another place: with an area of its own, or held by others."""
        area, changes = self.store.schema.geography, self.derived.changes
        if area is not None and area.name in changes.codes:
            return area.entity
        kinds = [entity for entity, _ in changes.links]
        return kinds[0] if kinds else None

    def after_own(self, variable: Variable) -> Integers:
        """The codes of a variable on its own units, in the order of the first store."""
        return self.derived.column(variable.entity, variable.name)

    def _level(
        self, variable: Variable, level: str, changed: Mask, movers: Entity | None = None
    ) -> LevelChange:
        entity = movers or variable.entity
        stays = ~self.derived.gone[entity]
        persons = moved = None
        if entity is not Entity.PERSON and Entity.PERSON in self.store.schema.top_down:
            here = ~self.derived.gone[Entity.PERSON]
            persons = int(here.sum())
            moved = int((self.spread(changed & stays, entity, Entity.PERSON) & here).sum())
        return LevelChange(
            variable=variable.name,
            label=variable.label,
            level=level,
            area=movers is not None,
            entity=entity,
            units=int(stays.sum()),
            changed=int((changed & stays).sum()),
            persons=persons,
            persons_changed=moved,
        )

    # ------------------------------------------------------------------ small cells of a table

    def small_cells(self, spec: TableSpec) -> tuple[SmallCellChange, ...]:
        """Small cells of a table, by level of its areas, and those whose units were changed."""
        changes = []
        otherwise, imputed = self._otherwise(spec), self._imputed(spec)
        for level, cell, after in self._cells(spec):
            unsafe = _small(cell)
            touched = (cell != after) | otherwise
            kept = unsafe & ~touched & ~imputed
            changes.append(
                SmallCellChange(
                    level=level,
                    cells=_distinct(cell[unsafe]),
                    changed=_distinct(cell[unsafe & touched]),
                    records=int(unsafe.sum()),
                    unprotected=int(kept.sum()),
                    unprotected_cells=_distinct(cell[unsafe]) - _distinct(cell[unsafe & ~kept]),
                    imputed=any(axis.variable.imputed for axis in spec.axes),
                )
            )
        return tuple(changes)

    def kept_in_small(self, spec: TableSpec, same: Mask | None = None) -> float | None:
        """The measure DR by records: in small cells, neither changed nor imputed.

        Args:
            spec: The table.
            same: For each interior cell whether it is shown with its original number; all if
                nothing is said.
        """
        _, before, after = next(iter(self._cells(spec)))
        unsafe = _small(before)
        kept = unsafe & (before == after) & ~self._otherwise(spec) & ~self._imputed(spec)
        if same is not None:
            kept &= same.reshape(-1)[before]
        return int(kept.sum()) / int(unsafe.sum()) if unsafe.any() else None

    def _cells(self, spec: TableSpec) -> Iterator[tuple[str, Int64, Int64]]:
        """For each level of the areas: the cell of each unit before and after."""
        schema = self.store.schema
        area = schema.geography
        rest_before, rest_after, size = self._without_areas(spec)
        place = next(
            (axis for axis in spec.axes if area is not None and axis.variable.name == area.name),
            None,
        )
        if place is None:
            yield "", rest_before, rest_after
            return
        variable = place.variable
        before, after = self.before(spec.of, variable), self.after(spec.of, variable)
        finest = place.base
        order = [axis is place for axis in spec.axes].index(True)
        yield (
            place.levels[0].name,
            self._numbered(spec, order, finest[before], after=False),
            self._numbered(spec, order, finest[after], after=True),
        )
        for level in variable.plain_levels:
            own = place.levels[0]
            if level.name != own.name and own.refines(level):
                group = level.group_array * size
                yield level.name, group[before] + rest_before, group[after] + rest_after
        yield "", rest_before, rest_after

    def _without_areas(self, spec: TableSpec) -> tuple[Int64, Int64, int]:
        area = self.store.schema.geography
        name = "" if area is None else area.name
        rows = self.store.rows(spec.of)
        before, after, size = np.zeros(rows, np.int64), np.zeros(rows, np.int64), 1
        for axis in spec.axes:
            if axis.variable.name != name:
                before = before * axis.base_size + axis.base[self.before(spec.of, axis.variable)]
                after = after * axis.base_size + axis.base[self.after(spec.of, axis.variable)]
                size *= axis.base_size
        return before, after, size

    def _numbered(self, spec: TableSpec, area: int, groups: Int64, *, after: bool) -> Int64:
        """The interior cell of each unit, numbered as the interior of the table is."""
        codes = self.after if after else self.before
        cell = np.zeros(groups.size, dtype=np.int64)
        for at, axis in enumerate(spec.axes):
            own = groups if at == area else axis.base[codes(spec.of, axis.variable)]
            cell = cell * axis.base_size + own
        return cell

    def _otherwise(self, spec: TableSpec) -> Mask:
        """Units that are gone, or count for more or less than before."""
        touched = np.array(self.derived.gone[spec.of])
        for variable, changed in self.weights():
            touched |= self.spread(changed, variable.entity, spec.of)
        return touched

    def _imputed(self, spec: TableSpec) -> Mask:
        """Units of which the census or the method imputed what the table shows of them."""
        mask = np.zeros(self.store.rows(spec.of), dtype=bool)
        for axis in spec.axes:
            variable, name = axis.variable, imputed_column(axis.variable.name)
            if self.store.has(variable.entity, name):
                flags = np.asarray(self.store.raw(variable.entity, name) != 0)
                mask |= self.spread(flags, variable.entity, spec.of)
            anew = self.derived.changes.imputed.get(variable.name)
            if anew is not None:  # also where the value that was imputed is the one that was there
                flags = np.zeros(self.store.rows(variable.entity), dtype=bool)
                flags[anew] = True
                mask |= self.spread(flags, variable.entity, spec.of)
        return mask


def _small(cells: Int64) -> Mask:
    """Which units stand in a cell of one or two."""
    if cells.size and int(cells.max()) < _MOST_BINS:
        counts = np.bincount(cells)[cells]
    else:
        _, inverse, often = np.unique(cells, return_inverse=True, return_counts=True)
        counts = often[inverse.reshape(-1)] if cells.size else np.zeros(0, np.int64)
    return np.asarray(counts <= SMALL)


def _distinct(cells: Int64) -> int:
    return int(np.unique(cells).size)
