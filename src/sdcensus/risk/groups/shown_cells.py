"""The kinds of cells that tables show, and by which variables other tables break them down.

A kind of cells is a partition of the leaves for each of some variables: women by parish and age.
Some table *breaks it down* if it shows parts of its cells: by one more variable, by a finer level,
or under a condition. Only code lists are read here.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.schema.variable import Level, Role, Variable
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe

Int64 = npt.NDArray[np.int64]

#: Cells of more variables are not looked at: nearly all of them are as fine as a menu goes.
MOST_OWN = 3
#: So many kinds of cells of a menu are gone through; of more, every second, third … is taken.
MOST_KINDS = 30_000


@dataclass(frozen=True, slots=True, eq=False)
class CellParts:
    """Some leaves of a variable, put together in parts.

    Attributes:
        variable: The variable.
        name: How a plan would call it, such as ``"age@five_year"``.
        group: For each leaf the number of its part; -1 for leaves that are not shown.
        size: How many parts there are.
    """

    variable: Variable
    name: str
    group: Int64
    size: int
    #: The same for the same parts, whatever they are called.
    key: tuple[str, bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Parts are compared often, and there may be very many leaves."""
        object.__setattr__(self, "key", (self.variable.name, self.group.tobytes()))

    @property
    def tells(self) -> bool:
        """Whether it tells anything: everything in one part does not."""
        return self.size > 1 or bool((self.group < 0).any())


@dataclass(frozen=True, slots=True, eq=False)
class KindOfCells:
    """Cells that are about the same variables at the same levels.

    Attributes:
        parts: By which variables, at which levels, sorted by name.
        universe: What else selects their units, where it is no product of codes.
        finer: The variables of which shown tables tell more, about units of such a cell.
    """

    parts: tuple[CellParts, ...]
    universe: Universe = EVERYTHING
    finer: frozenset[str] = frozenset()

    @property
    def own(self) -> frozenset[str]:
        """The variables that make the cells."""
        return frozenset(part.variable.name for part in self.parts)

    @property
    def title(self) -> str:
        """What the cells are by; a condition is named once."""
        names = [part.name for part in self.parts if part.size > 1]
        held_by_all = all((part.group >= 0).all() for part in self.parts)
        narrowed = not held_by_all or not self.universe.everything
        return ", ".join([*names, *(["under a condition"] if narrowed else [])]) or "everything"

    @property
    def area(self) -> str:
        """The geography at its level; empty for none."""
        areas = [part.name for part in self.parts if part.variable.role is Role.GEOGRAPHY]
        return areas[0] if areas else ""

    @property
    def key(self) -> tuple[object, ...]:
        """The same for the same cells, whatever they are called."""
        return _condition(self.universe), *(part.key for part in self.parts)

    @property
    def condition(self) -> str:
        """What selects their units, where it is no product of codes, as a text; else empty."""
        return _condition(self.universe)

    @property
    def cells(self) -> int:
        """How many cells there can be."""
        return math.prod(part.size for part in self.parts)


def kinds_of_menu(menu: Menu) -> tuple[KindOfCells, ...]:
    """The kinds of cells of a menu that some other table of it breaks down.

    The largest number of cells does not count: a table above it can be asked for area by area.
    """
    open_menu = replace(menu, cells=None)
    levels = {variable.variable.name: _levels(variable) for variable in menu.variables}
    unlimited = not menu.never_together and not any(
        variable.finest_areas for variable in menu.variables
    )
    kinds = []
    for chosen in _choices(menu, levels):
        if not unlimited and not open_menu.allows(chosen):
            continue
        finer = frozenset(_finer(open_menu, levels, chosen, unlimited=unlimited))
        if finer:
            kinds.append(
                KindOfCells(
                    tuple(
                        parts_of_level(menu.variable(name).variable, chosen[name])
                        for name in sorted(chosen)
                    ),
                    finer=finer,
                )
            )
    return tuple(kinds)


def kinds_of_tables(specs: Iterable[TableSpec]) -> tuple[KindOfCells, ...]:
    """The kinds of cells of some tables that the same or another table breaks down.

    A weighted count hides and shows what the count of its records does. A kind counts as broken
    down if any of its cells is, where levels do not nest or conditions leave some codes of a
    variable.
    """
    tables = [_Table(spec) for spec in TableSpec.of_records(specs)]
    kinds: dict[tuple[object, ...], KindOfCells] = {}
    for table in tables:
        for kind in table.kinds():
            kinds.setdefault(kind.key, kind)
    known: dict[tuple[str, bytes], int] = {}
    partitions: list[CellParts] = []
    for kind in kinds.values():
        for part in kind.parts:
            if part.key not in known:
                known[part.key] = len(partitions)
                partitions.append(part)
    reaches = [table.reach(partitions) for table in tables]
    found = []
    for kind in kinds.values():
        members = 0
        for part in kind.parts:
            members |= 1 << known[part.key]
        condition, own = _condition(kind.universe), kind.own
        finer: set[str] = set()
        for table, (covered, divided) in zip(tables, reaches, strict=True):
            if table.condition != condition or members & ~covered:
                continue
            finer |= table.names - own
            strictly = members & divided
            if strictly:
                finer |= {
                    part.variable.name for part in kind.parts if strictly >> known[part.key] & 1
                }
        if finer:
            found.append(replace(kind, finer=frozenset(finer)))
    return tuple(found)


def parts_of_level(variable: Variable, level: Level) -> CellParts:
    """A level of a variable as parts of its leaves; the same parts have the same numbers."""
    parts: CellParts = variable.kept(
        ("parts", level.name), lambda: _parts(variable, _name(variable, level), level.group_array)
    )
    return parts


def _name(variable: Variable, level: Level) -> str:
    leaves = level.name == variable.leaf_level
    return variable.name if leaves else f"{variable.name}@{level.name}"


def _parts(variable: Variable, name: str, group: Int64) -> CellParts:
    """Parts numbered in the order of their first leaves."""
    shown = group >= 0
    numbers = np.full(group.size, -1, dtype=np.int64)
    _, first, inverse = np.unique(group[shown], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    numbers[shown] = rank[inverse.reshape(-1)]
    numbers.flags.writeable = False
    return CellParts(variable, name, numbers, int(first.size))


def _levels(one: MenuVariable) -> tuple[Level, ...]:
    """The levels of a variable that tell anything, each partition once, the finest first."""
    found: dict[tuple[str, bytes], Level] = {}
    for level in one.levels:
        parts = parts_of_level(one.variable, level)
        if parts.tells:
            found.setdefault(parts.key, level)
    return tuple(found.values())


def _choices(menu: Menu, levels: Mapping[str, Sequence[Level]]) -> Iterator[dict[str, Level]]:
    names = [
        variable.variable.name for variable in menu.variables if levels[variable.variable.name]
    ]
    most = min(menu.dimensions, MOST_OWN)
    total = 0
    for number in range(1, most + 1):
        total += sum(
            math.prod(len(levels[name]) for name in own)
            for own in itertools.combinations(names, number)
        )
    step = -(-total // MOST_KINDS)
    every = (
        dict(zip(own, chosen, strict=True))
        for number in range(1, most + 1)
        for own in itertools.combinations(names, number)
        for chosen in itertools.product(*(levels[name] for name in own))
    )
    return itertools.islice(every, 0, None, max(step, 1))


def _finer(
    menu: Menu,
    levels: Mapping[str, Sequence[Level]],
    chosen: Mapping[str, Level],
    *,
    unlimited: bool,
) -> Iterator[str]:
    """The variables by which a menu breaks cells down further."""
    for name, level in chosen.items():
        finer = (one for one in levels[name] if one is not level and one.refines(level))
        if any(unlimited or menu.allows({**chosen, name: level}) for level in finer):
            yield name
    if len(chosen) >= menu.dimensions:
        return
    for name, others in levels.items():
        if name in chosen or not others:
            continue
        # Coarse levels first: beside small areas, they are allowed more often.
        if unlimited or any(menu.allows({**chosen, name: other}) for other in reversed(others)):
            yield name


def _condition(universe: Universe) -> str:
    """A condition that is no product of codes, as a text of its own; else empty."""
    if universe.everything or is_product(universe):
        return ""
    return json.dumps(universe.canonical(), separators=(",", ":"))


class _Table:
    """A table as the parts of each variable that it shows."""

    __slots__ = ("condition", "names", "options", "universe")

    def __init__(self, spec: TableSpec) -> None:
        universe = spec.universe
        self.condition = _condition(universe)
        self.universe = universe if self.condition else EVERYTHING
        selected: dict[str, CellParts] = {}
        if not self.condition and not universe.everything:
            for variable in universe.variables:
                inside = leaves_in(universe, variable)
                group = np.where(inside, 0, -1).astype(np.int64)
                selected[variable.name] = _parts(variable, variable.name, group)
        #: For each variable the parts that may be shown; ``None`` where it may be left out.
        self.options: dict[str, tuple[CellParts | None, ...]] = {}
        for axis in spec.axes:
            variable = axis.variable
            chosen = selected.pop(variable.name, None)
            shown: list[CellParts | None] = []
            for level in axis.levels:
                if chosen is None:
                    shown.append(parts_of_level(variable, level))
                else:
                    group = np.where(chosen.group >= 0, level.group_array, -1)
                    shown.append(_parts(variable, _name(variable, level), group))
            if any(block.level == TOTAL for block in axis.blocks):
                shown.append(chosen)
            self.options[variable.name] = tuple(dict.fromkeys(map(_told, shown)))
        for name, parts in selected.items():
            self.options[name] = (_told(parts),)
        self.names = frozenset(
            name
            for name, options in self.options.items()
            if any(option is not None for option in options)
        )

    def kinds(self) -> Iterator[KindOfCells]:
        for chosen in itertools.product(*(self.options[name] for name in sorted(self.options))):
            parts = tuple(parts for parts in chosen if parts is not None)
            yield KindOfCells(parts, self.universe)

    def reach(self, partitions: Sequence[CellParts]) -> tuple[int, int]:
        """Which partitions the table covers, and which of them it divides, as sets of bits."""
        covered = divided = 0
        for at, coarse in enumerate(partitions):
            for fine in self.options.get(coarse.variable.name, ()):
                if fine is None:
                    continue
                lies, divides = _refines(fine, coarse)
                covered |= int(lies) << at
                divided |= int(divides) << at
        return covered, divided


def _told(parts: CellParts | None) -> CellParts | None:
    return parts if parts is not None and parts.tells else None


def _refines(fine: CellParts, coarse: CellParts) -> tuple[bool, bool]:
    """Whether some part lies in a part of the others, and whether some such part is smaller.

    Levels that do not nest may have a part in common: a district of one parish is that parish.
    """
    if fine.group is coarse.group:
        return True, False
    shown = fine.group >= 0
    lower = np.full(fine.size, -1, dtype=np.int64)
    lower[fine.group[shown]] = coarse.group[shown]
    straddles = np.zeros(fine.size, dtype=bool)
    straddles[fine.group[shown & (lower[fine.group] != coarse.group)]] = True
    inside = (lower >= 0) & ~straddles
    own = np.bincount(fine.group[shown], minlength=fine.size)
    above = np.bincount(coarse.group[coarse.group >= 0], minlength=coarse.size)
    return bool(inside.any()), bool((own[inside] < above[lower[inside]]).any())
