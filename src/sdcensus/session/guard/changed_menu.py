"""How many changed records stand behind every number that a menu can show. Confidential.

Whoever asks the table builder before and after a correction sees every table of its menu twice.
Only the records that changed are counted, in all of these tables: every other number stays.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.menu import Menu
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Level
from sdcensus.session.guard.changed_records import ChangedRecords, ChangedUnits

Int64 = npt.NDArray[np.int64]

#: So many tables with too few changed records are enough to refuse a revision.
ENOUGH_SHORT = 1_000


@dataclass(frozen=True, slots=True, repr=False)
class MenuChanges(Confidential):
    """What the changed records of a census do to the tables of a menu.

    Attributes:
        tables: How many tables have numbers that change.
        short: Those of them with numbers that have too few changed records behind them, and how
            many such numbers; the first ones only, if they are many.
        complete: Whether all tables were looked at.
    """

    tables: int
    short: tuple[tuple[str, int], ...]
    complete: bool

    def __repr__(self) -> str:
        return "<MenuChanges: confidential>"

    @property
    def numbers(self) -> int:
        """How many numbers have too few changed records behind them."""
        return sum(cells for _, cells in self.short)


def changes_in_menu(
    changed: ChangedRecords, menu: Menu, *, minimum: int, progress: Progress = no_progress
) -> MenuChanges:
    """Count changed records behind every number of a menu that they enter or leave.

    Args:
        changed: The difference of the two stores.
        menu: The tables that may be asked for.
        minimum: How many there must be.
        progress: Told how far it is.
    """
    variables = menu.variables
    units = changed.units_by(menu.of, [variable.variable for variable in variables])
    groups = {
        (at, level.name): (_codes(level, units.before[at]), _codes(level, units.after[at]))
        for at, variable in enumerate(variables)
        for level in variable.levels
    }
    tables, short = 0, list[tuple[str, int]]()
    for chosen in _tables(menu, progress):
        counts = _behind(units, [(groups[at, level.name], level) for at, level in chosen])
        if not counts.size:
            continue
        tables += 1
        few = int((counts < minimum).sum())
        if few:
            title = ", ".join(f"{variables[at].variable.name}@{level.name}" for at, level in chosen)
            short.append((title or f"all {menu.of.plural}", few))
            if len(short) >= ENOUGH_SHORT:
                return MenuChanges(tables, tuple(short), complete=False)
    return MenuChanges(tables, tuple(short), complete=True)


_Chosen = tuple[tuple[int, Level], ...]


def _tables(menu: Menu, progress: Progress) -> Iterator[_Chosen]:
    """Every table of a menu, those with few variables first."""
    size = len(menu.variables)
    most = min(menu.dimensions, size)
    total = sum(math.comb(size, number) for number in range(most + 1))
    done = 0
    for number in range(most + 1):
        for places in itertools.combinations(range(size), number):
            if done % 64 == 0:
                progress("counting changed records in every table", done / total)
            done += 1
            levels = [menu.variables[at].levels for at in places]
            for chosen in itertools.product(*levels):
                table = tuple(zip(places, chosen, strict=True))
                named = {menu.variables[at].variable.name: level for at, level in table}
                if menu.allows(named):
                    yield table


def _codes(level: Level, leaves: Int64) -> Int64:
    """The code of each unit at a level; -1 for leaves that are no longer in the list."""
    groups = np.append(level.group_array.astype(np.int64), -1)
    return groups[leaves]


def _behind(units: ChangedUnits, axes: list[tuple[tuple[Int64, Int64], Level]]) -> Int64:
    """For each cell that any unit enters or leaves, how many do."""
    before, was = np.zeros(len(units), dtype=np.int64), units.was
    after, now = np.zeros(len(units), dtype=np.int64), units.is_now
    for (old, new), level in axes:
        before = before * len(level.codes) + np.maximum(old, 0)
        was = was & (old >= 0)
        after = after * len(level.codes) + np.maximum(new, 0)
        now = now & (new >= 0)
    moved = (was != now) | (before != after)
    crossed = np.concatenate([before[was & moved], after[now & moved]])
    return np.unique(crossed, return_counts=True)[1]
