"""Which cells of large tables are looked at to protect one of them.

A change that protects a cell takes from some codes of each axis and gives to others. Few codes are
enough for a cheap change: those whose cells in line with the target are closed already or cost
little, from the finest level up to the total. Where these do not do, more are taken, and at last
all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import Leeway, slopes
from sdcensus.methods.suppression.search.task import Task
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.axis import Axis

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Groups of codes that are taken at first of an axis, by the number of axes of the table.
_GROUPS = {1: 40, 2: 20, 3: 10, 4: 6}
_FEWEST = 4
#: Units that are taken at first of those that these codes have: closed ones and the cheapest.
_UNITS = 400
#: What units that cannot go down far enough count as: so many times their price, and so much more.
_WEAK = (3.0, 10.0)
#: How many times as much is looked at where less does not do, before everything is.
_FACTORS = (1, 2, 4, 8)
#: Of tables that only hang together with the target's: groups of axes that it does not have.
_OTHERS = 2
#: Tasks of so many units are looked at as a whole.
SMALL = 500


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """An axis: the code of each base group at each of its levels.

    Attributes:
        axis: The axis.
        codes: Levels by base groups.
    """

    axis: Axis
    codes: Int64

    @classmethod
    def of(cls, axis: Axis) -> _Line:
        codes = np.stack([block.start + block.group for block in axis.blocks])
        return cls(axis, codes)

    def covering(self, groups: Int64) -> Int64:
        """The codes that hold some base groups."""
        return np.unique(self.codes[:, groups])


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A table: the unit at each of its places, -1 for none, and its axes."""

    units: Int64
    lines: tuple[_Line, ...]

    def cells(self, groups: list[Int64]) -> Int64:
        """The units of all codes that hold some base groups of each axis."""
        codes = [line.covering(chosen) for line, chosen in zip(self.lines, groups, strict=True)]
        return self.units[np.ix_(*codes)].reshape(-1) if codes else self.units.reshape(-1)


class Everything:
    """All units at once, for small tasks: one tableau, kept from one target to the next."""

    __slots__ = ("_leeway",)

    def __init__(self, leeway: Leeway) -> None:
        self._leeway = leeway

    def __call__(
        self, unit: int, allowed: Mask, closed: Mask, *, few: bool = False
    ) -> Iterator[Leeway]:
        """Everything."""
        yield self._leeway


class Neighbourhoods:
    """The units that are looked at for each target, from few to all."""

    __slots__ = ("_at", "_effort", "_slopes", "_tables", "_task")

    def __init__(self, task: Task, tables: LinkedTables, effort: Effort) -> None:
        self._task = task
        self._effort = effort
        self._slopes = slopes(task.cost)
        placed = []
        for spec, cells in zip(tables.counted, tables.counted_cell_of, strict=True):
            units = np.where(cells >= 0, task.unit[cells], -1)
            # By name, so that it does not matter in which order axes and tables are given.
            order = sorted(range(len(spec.axes)), key=lambda at: spec.axes[at].variable.name)
            lines = tuple(_Line.of(spec.axes[at]) for at in order)
            placed.append(_Table(np.ascontiguousarray(units.transpose(order)), lines))
        self._tables = sorted(placed, key=_identity)
        self._at = _places(self._tables, task.size)

    def __call__(
        self, unit: int, allowed: Mask, closed: Mask, *, few: bool = False
    ) -> Iterator[Leeway]:
        """For a target: what is looked at first, then more, at last everything.

        Args:
            unit: The target.
            allowed: Units that may change.
            closed: Units that are closed.
            few: Do not go on to everything.
        """
        table, place = self._at[unit]
        before = 0
        for factor in _FACTORS[: 1 if few else None]:
            units, whole = self._near(unit, table, place, closed, factor)
            units = units[allowed[units]]
            if units.size > before:
                yield Leeway(self._task, units, self._effort)
            before = max(before, units.size)
            if whole:
                break
        everything = np.flatnonzero(allowed)
        if not few and everything.size > before:
            yield Leeway(self._task, everything, self._effort)

    def _near(
        self, unit: int, table: int, place: int, closed: Mask, factor: int
    ) -> tuple[Int64, bool]:
        """The units of few codes of each axis; whether that is all there are."""
        own = self._tables[table]
        where = np.unravel_index(place, own.units.shape)
        prices = self._prices(unit, closed)
        groups = []
        whole = True
        most = factor * _GROUPS.get(len(own.lines), _FEWEST)
        for axis, line in enumerate(own.lines):
            index: Any = (*where[:axis], slice(None), *where[axis + 1 :])
            chosen = self._groups(line, prices[own.units[index]], int(where[axis]), most)
            whole = whole and chosen.size == line.axis.base_size
            groups.append(chosen)
        parts = [own.cells(groups)]
        for number, other in enumerate(self._tables):
            if number != table:
                linked, all_of_it = self._linked(own, groups, other, prices, factor)
                parts.append(linked)
                whole = whole and all_of_it
        units = np.unique(np.concatenate(parts))
        units = units[units >= 0]
        most = factor * _UNITS
        if units.size > most:
            cheap = np.argsort(prices[units], kind="stable")[:most]
            units = np.union1d(units[cheap], [unit])
            whole = False
        return units, whole

    def _prices(self, unit: int, closed: Mask) -> Float64:
        """What taking a unit along costs; behind the last one, for places without a unit."""
        task = self._task
        amount = max(int(task.upper[unit]), int(task.lower[unit]), 1)
        # A partner has to go down where the target goes up.
        weak = task.below < amount
        prices = np.where(weak, _WEAK[0] * self._slopes + _WEAK[1], self._slopes)
        return np.append(np.where(closed, 0.0, prices), np.inf)

    def _groups(self, line: _Line, prices: Float64, own: int, most: int) -> Int64:
        """The base groups of an axis that are cheap to move between, those of the target first.

        Args:
            line: The axis.
            prices: Of the units in line with the target, one for each code.
            own: The code of the target.
            most: How many are taken.
        """
        if line.axis.base_size <= most:
            return np.arange(line.axis.base_size, dtype=np.int64)
        inside = (line.codes == own).any(axis=0)
        # Levels at which a group shares its code with the target are not touched.
        chain = line.codes[:, np.flatnonzero(inside)]
        first = chain[:, :1]
        shared = (chain == first).all(axis=1, keepdims=True) & (line.codes == first)
        score = np.where(shared, 0.0, prices[line.codes]).sum(axis=0)
        order = np.lexsort((np.arange(score.size), score))
        within = order[inside[order]][: max(most // 3, 2)]
        outside = order[~inside[order]][: most - min(within.size, most - 1)]
        return np.sort(np.concatenate([within, outside]))

    def _linked(
        self, own: _Table, groups: list[Int64], other: _Table, prices: Float64, factor: int
    ) -> tuple[Int64, bool]:
        """The units of another table that change along with some of this one."""
        known = {
            line.axis.variable.name: np.flatnonzero(np.isin(line.axis.base, chosen))
            for line, chosen in zip(own.lines, groups, strict=True)
        }
        chosen = []
        whole = True
        for axis, line in enumerate(other.lines):
            leaves = known.get(line.axis.variable.name)
            if leaves is not None:
                taken = np.unique(line.axis.base[leaves])
            else:
                totals = [len(each.axis.codes) - 1 for each in other.lines]
                index: Any = (*totals[:axis], slice(None), *totals[axis + 1 :])
                score = prices[other.units[index]][line.codes].sum(axis=0)
                order = np.lexsort((np.arange(score.size), score))
                taken = np.sort(order[: factor * _OTHERS])
            whole = whole and taken.size == line.axis.base_size
            chosen.append(taken)
        return other.cells(chosen), whole


def _identity(table: _Table) -> tuple[int, bytes]:
    units = np.unique(table.units)
    return units.size, units.tobytes()


def _places(tables: list[_Table], size: int) -> list[tuple[int, int]]:
    """For each unit a table and a place in it: the smallest table, and the coarsest place."""
    places: list[tuple[int, int]] = [(-1, -1)] * size
    for number in range(len(tables) - 1, -1, -1):
        units = tables[number].units.reshape(-1)
        held = np.flatnonzero(units >= 0)
        for place in held.tolist():
            places[int(units[place])] = (number, place)
    return places
