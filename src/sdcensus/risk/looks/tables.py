"""The cells of a list of tables, by what they are about, and how they add up to each other.

A filter and a code of an axis select the same records, which carry the same noise. Both therefore
count as one: a condition that comes down to one group of codes for each of its variables is such
a group of an axis. Tables under any other condition are compared with those under the same one.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.variable import Code, Level, Role, Variable, common_refinement
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe

Int64 = npt.NDArray[np.int64]

#: The level divides a code not at all: its part is the code itself.
UNDIVIDED = -1


@dataclass(frozen=True, slots=True)
class Division:
    """How finer levels divide each code of a coarser one (or everything, as one code).

    Attributes:
        parts: For each finer level and code, the number of codes of that level that it holds.
        same_as: For each finer level and code, the first level that divides the code alike: the
            level itself, an earlier one, or ``UNDIVIDED``. Equal parts are the same records, and
            carry the same noise.
    """

    parts: Int64
    same_as: Int64


def division(finer: Sequence[Level], coarse: Level | None) -> Division:
    """How levels divide the codes of a level that all of them refine; ``None``: everything.

    Codes without leaves hold no record of any census and count as nothing.
    """
    if coarse is None:
        size, above = 1, np.zeros(len(finer[0].group) if finer else 0, dtype=np.int64)
    else:
        size, above = len(coarse.codes), coarse.group_array
    parts = np.zeros((len(finer), size), dtype=np.int64)
    same_as = np.zeros((len(finer), size), dtype=np.int64)
    for at, level in enumerate(finer):
        parts[at] = _parts([level], above, size)
        same_as[at] = at
        for earlier in range(at - 1, -1, -1):
            alike = parts[at] == parts[earlier]
            if alike.any():
                alike &= _parts([level, finer[earlier]], above, size) == parts[at]
                same_as[at] = np.where(alike, same_as[earlier], same_as[at])
        same_as[at][parts[at] <= 1] = UNDIVIDED
    return Division(parts, same_as)


def refining(levels: Sequence[Level], coarse: Level) -> tuple[Level, ...]:
    """Those of some levels of a variable that divide the codes of another one, and not that one."""
    return tuple(level for level in levels if level.name != coarse.name and level.refines(coarse))


def _parts(levels: Sequence[Level], above: Int64, size: int) -> Int64:
    """How many groups of records with leaves lie under each code."""
    base, _ = common_refinement(levels)
    _, first = np.unique(base, return_index=True)
    return np.bincount(above[first], minlength=size).astype(np.int64)


Mask = npt.NDArray[np.bool_]
Pair = tuple[Variable, Level]

#: The name of a level that a condition makes: what it selects, and the rest.
_SELECTED = "selected"


@dataclass(frozen=True, slots=True)
class CellClass:
    """Cells that are about the same variables at the same levels.

    Attributes:
        pairs: Variables with their levels, sorted by name.
        condition: What else selects their records, where it is no product of codes.
        selected: Variables of which not every code is there, with what a condition selects.
    """

    pairs: tuple[Pair, ...]
    condition: str = ""
    selected: tuple[Pair, ...] = ()

    @property
    def area(self) -> Pair | None:
        """The geography and its level, if the cells have one; of several, the main or first."""
        areas = [pair for pair in self.pairs if pair[0].role is Role.GEOGRAPHY]
        return min(areas, key=lambda pair: not pair[0].main, default=None)

    @property
    def others(self) -> tuple[Pair, ...]:
        """Everything but the area."""
        area = self.area
        return tuple(pair for pair in self.pairs if pair is not area)

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two classes the same."""
        pairs, selected = (
            tuple((variable.name, level.name) for variable, level in own)
            for own in (self.pairs, self.selected)
        )
        return (self.condition, selected, pairs)


def classes_of(specs: Iterable[TableSpec]) -> tuple[CellClass, ...]:
    """The classes of cells that tables show, each once."""
    classes: dict[tuple[object, ...], CellClass] = {}
    for spec in specs:
        for class_ in _classes(spec):
            classes.setdefault(class_.key, class_)
    return tuple(classes.values())


def lines_of_tables(specs: Iterable[TableSpec]) -> tuple[tuple[int, int], ...]:
    """How many sums tables show with their totals and subtotals, each once, by number of parts."""
    found: dict[int, dict[str, int]] = {}
    for spec in specs:
        for at, axis in enumerate(spec.axes):
            others = [axis for place, axis in enumerate(spec.axes) if place != at]
            cells = math.prod(len(other.codes) for other in others)
            for line, parts, often in _lines_of(axis):
                key = spec.with_axes([*others, line]).hash()
                found.setdefault(parts, {})[key] = cells * often
    return tuple((parts, sum(found[parts].values())) for parts in sorted(found))


def _lines_of(axis: Axis) -> Iterator[tuple[Axis, int, int]]:
    """The sums along an axis: between which blocks, of how many parts, and how many of them."""
    for level in axis.levels:
        if axis.total and len(level.codes) > 1:
            yield make_axis(axis.variable, [level], total=True), len(level.codes), 1
        for above in axis.levels:
            finer = refining([level], above)
            if finer and len(level.codes) > len(above.codes):
                line = make_axis(axis.variable, [level, above], total=False)
                children = division(finer, above).parts[0]
                for parts in np.unique(children[children > 1]).tolist():
                    yield line, parts, int((children == parts).sum())


def _classes(spec: TableSpec) -> Iterator[CellClass]:
    """What the cells of a table are about: its levels and totals, combined."""
    condition, fixed = _selected(spec.universe)
    everywhere = tuple(sorted(fixed.values(), key=lambda pair: pair[0].name))
    choices: list[list[Pair | None]] = []
    for axis in spec.axes:
        selected = fixed.pop(axis.variable.name, None)
        choice: list[Pair | None] = []
        for level in axis.levels:
            choice.append((axis.variable, level))
        if any(block.level == TOTAL for block in axis.blocks):
            choice.append(selected)
        choices.append(choice)
    for chosen in itertools.product(*choices):
        pairs = [pair for pair in (*chosen, *fixed.values()) if pair is not None]
        ordered = tuple(sorted(pairs, key=lambda pair: pair[0].name))
        yield CellClass(ordered, condition, everywhere)


def _selected(universe: Universe) -> tuple[str, dict[str, Pair]]:
    """A condition as levels of its variables; if it is no such thing, as a text of its own."""
    if not is_product(universe):
        return json.dumps(universe.canonical(), separators=(",", ":")), {}
    found = {
        variable.name: _level_of(variable, leaves_in(universe, variable))
        for variable in universe.variables
    }
    return "", {variable.name: (variable, found[variable.name]) for variable in universe.variables}


def _level_of(variable: Variable, inside: Mask) -> Level:
    """The two groups that a condition makes of the leaves of a variable."""
    group = tuple(0 if held else 1 for held in inside.tolist())
    chosen = "".join("0" if group_number else "1" for group_number in group)
    return Level(f"{_SELECTED} {chosen}", (Code("selected"), Code("rest")), group)


def pair_text(variable: Variable, level: Level) -> str:
    """A variable at a level in the grammar of plans; of a filter, what is filtered."""
    if _is_selected(level):
        return f"{variable.name} (filtered)"
    if level.name == variable.leaf_level:
        return variable.name
    return f"{variable.name}@{level.name}"


def _is_selected(level: Level) -> bool:
    return level.name.startswith(f"{_SELECTED} ")
