"""Changes that were found, and what they prove."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.suppressed_cells.balance import balanced
from sdcensus.methods.suppression.search.leeway import Ask
from sdcensus.methods.suppression.search.task import Task

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: How far from a whole number a solution may lie to be taken for it; it is checked as one.
_NEAR = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """Units that change, by how much, and which persons would notice.

    Attributes:
        units: The units, ascending.
        amounts: The change of each; never 0.
        noticed: The persons who are alone in one of them.
        by_unit: The change of each unit again, to be looked up.
    """

    units: Int64
    amounts: Int64
    noticed: frozenset[int]
    by_unit: dict[int, int]

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What tells changes apart."""
        return self.units.tobytes(), self.amounts.tobytes()

    def within(self, closed: Mask) -> bool:
        """Whether nothing but closed units change."""
        return bool(closed[self.units].all())

    def of(self, unit: int) -> int:
        """The change of one unit."""
        return self.by_unit.get(unit, 0)


def whole_change(task: Task, units: Int64, values: Float64) -> Change | None:
    """A change of whole numbers from a solution, or ``None`` if it is not one.

    Every sum and every bound is checked in whole numbers.
    """
    whole = np.rint(values)
    if np.abs(values - whole).max(initial=0) > _NEAR:
        return None
    moved = np.flatnonzero(whole)
    cells, amounts = units[moved], whole[moved].astype(np.int64)
    if (amounts < -task.below[cells]).any() or (amounts > task.above[cells]).any():
        return None
    columns = task.columns
    if not balanced(columns.indptr, columns.indices, columns.data, cells, amounts):
        return None
    persons = task.alone[cells]
    by_unit = dict(zip(cells.tolist(), amounts.tolist(), strict=True))
    return Change(cells, amounts, frozenset(persons[persons >= 0].tolist()), by_unit)


class Changes:
    """Changes by number, with what they reach for each target."""

    __slots__ = ("_by_unit", "_kept", "_known", "_next", "_target", "_task")

    def __init__(self, task: Task) -> None:
        self._task = task
        self._kept: dict[int, Change] = {}
        self._known: dict[tuple[bytes, bytes], int] = {}
        self._by_unit: dict[int, set[int]] = {}
        self._next = 0
        self._target = np.zeros(task.size, dtype=bool)
        self._target[task.targets] = True

    def __iter__(self) -> Iterator[Change]:
        return iter(self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def copy(self) -> Changes:
        """Another collection with the same changes."""
        other = Changes(self._task)
        for change in self:
            other.add(change)
        return other

    def add(self, change: Change) -> int:
        """Keep a change; its number."""
        number = self._known.setdefault(change.key, self._next)
        if number < self._next:
            return number
        self._next += 1
        self._kept[number] = change
        for unit in change.units.tolist():
            self._by_unit.setdefault(unit, set()).add(number)
        return number

    def remove(self, number: int) -> None:
        """Forget a change."""
        change = self._kept.pop(number)
        del self._known[change.key]
        for unit in change.units.tolist():
            self._by_unit[unit].discard(number)

    def using(self, unit: int) -> list[int]:
        """The numbers of the changes that touch a unit, ascending."""
        return sorted(self._by_unit.get(unit, ()))

    def get(self, number: int) -> Change:
        """A change by its number."""
        return self._kept[number]

    def targets_of(self, number: int) -> list[int]:
        """The targets that a change moves."""
        units = self._kept[number].units
        return [int(unit) for unit in units[self._target[units]]]

    def _moving(self, unit: int, without: int, person: int) -> Iterator[Change]:
        for number in self._by_unit.get(unit, ()):
            change = self._kept[number]
            if person not in change.noticed and without not in change.by_unit:
                yield change

    def reached(self, unit: int, *, without: int = -1, person: int = -1) -> tuple[int, int]:
        """How far up and down a unit goes by changes that are known.

        Args:
            unit: The unit.
            without: Leave out changes that touch this unit.
            person: Leave out changes that this person would notice.
        """
        highest = lowest = 0
        for change in self._moving(unit, without, person):
            amount = change.by_unit[unit]
            highest, lowest = max(highest, amount), min(lowest, amount)
        return highest, -lowest

    def open_asks(self, unit: int, *, without: int = -1) -> list[Ask]:
        """What is still asked for a target; of insiders only when nothing else is.

        Args:
            unit: The target.
            without: Leave out changes that touch this unit.
        """
        task = self._task
        up, down = self.reached(unit, without=without)
        asks: list[Ask] = []
        if up < task.upper[unit]:
            asks.append(Ask(unit, int(task.upper[unit]), 0))
        if down < task.lower[unit]:
            asks.append(Ask(unit, 0, int(task.lower[unit])))
        width = int(task.width[unit])
        if up + down < width and not asks:
            asks.append(Ask(unit, width, width))
        return asks or self._asks_of_insiders(unit, without)

    def _asks_of_insiders(self, unit: int, without: int) -> list[Ask]:
        """What is still asked for the sake of those who are alone in a closed cell."""
        task = self._task
        up, down = int(task.upper[unit]), int(task.lower_inside[unit])
        if not up and not down:
            noticing = self._noticing(unit, without, lambda amount: amount != 0)
            return [Ask(unit, 1, 1, person) for person in noticing]
        asks: list[Ask] = []
        if up:
            noticing = self._noticing(unit, without, lambda amount: amount >= up)
            asks.extend(Ask(unit, up, 0, person) for person in noticing)
        if down:
            noticing = self._noticing(unit, without, lambda amount: amount <= -down)
            asks.extend(Ask(unit, 0, down, person) for person in noticing)
        return asks

    def _noticing(self, unit: int, without: int, enough: Callable[[int], bool]) -> list[int]:
        """Persons who would notice every change of a unit that is known and goes far enough."""
        noticing: set[int] | None = None
        for change in self._moving(unit, without, -1):
            if enough(change.by_unit[unit]):
                noticing = set(change.noticed) if noticing is None else noticing & change.noticed
                if not noticing:
                    return []
        task = self._task
        persons = (noticing or set()) - {int(task.alone[unit])}
        return sorted(person for person in persons if (unit, person) not in task.inside)
