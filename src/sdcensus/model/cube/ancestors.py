"""The cells that hold the cells of a table, whether the table shows them or not.

A cell is a set of leaves of each variable. Its ancestors have, for each variable, the same leaves
or those of any declared code that holds them (of every level of every tree, and the total), in any
combination. A variable of a condition counts as an axis fixed at what the condition chooses of it.
A level with one child gives the same cell again, which is no ancestor. All of this follows from
code lists: which cells are whose ancestors is public, and the same for any data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import small_above
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.variable import Code, Level, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis
from sdcensus.model.spec.covers import REST, narrowed
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Values = TypeVar("Values", bound=np.generic)

#: What is added to the names of levels that stand on an axis besides one of the same name.
_ABOVE, _INSIDE = "\N{UPWARDS ARROW}", "\N{INTERSECTION}"


@dataclass(frozen=True, slots=True, eq=False)
class AxisAbove:
    """An axis with every declared code that holds one of its own.

    Attributes:
        axis: The axis.
        kept: Where the codes of the table's own axis stand on it.
        start, larger: For the code ``at`` of the table, from ``start[at]`` to ``start[at + 1]``
            the positions in ``larger`` of the codes that hold its leaves and more.
    """

    axis: Axis
    kept: Int64
    start: Int64
    larger: Int64


@dataclass(frozen=True, slots=True, eq=False)
class Ancestry:
    """A table, and how its ancestors are counted.

    Attributes:
        spec: The table.
        extended: The table with its ancestors. Conditions that are a set of codes of each of
            their variables have become axes, behind those of the table.
        unconditioned: The same without a condition that is no such product, for ancestors that
            leave it out; ``None`` where there is none.
        axes: For each axis of ``extended`` how its codes hold each other.
    """

    spec: TableSpec
    extended: TableSpec
    unconditioned: TableSpec | None
    axes: tuple[AxisAbove, ...]

    def cut(self, values: npt.NDArray[Values]) -> npt.NDArray[Values]:
        """Of an array over the cells of ``extended`` the cells of the table.

        Lists of contributions have one more axis, which stays.
        """
        for at, axis in enumerate(self.axes):
            if not np.array_equal(axis.kept, np.arange(values.shape[at])):
                values = np.take(values, axis.kept, axis=at)
        # The shape last: numpy makes an array of one axis of a single cell.
        further = values.shape[len(self.axes) :]
        return np.ascontiguousarray(values).reshape((*self.spec.shape, *further))

    def cut_cube(self, cube: Cube) -> Cube:
        """The cube of the table, from that of ``extended``."""
        return Cube(self.spec, cube.origin, cube.values.map(self.cut))

    def broken_down(self, small: Mask, unconditioned: Mask | None = None) -> Mask:
        """Which cells of the table are parts of a small one.

        Args:
            small: Which cells of ``extended`` are small.
            unconditioned: The same for ``unconditioned``, where there is one.
        """
        axes = [(axis.kept, axis.start, axis.larger) for axis in self.axes]
        hidden = small_above(small, axes)
        if unconditioned is not None:
            hidden = hidden | small_above(unconditioned, axes, itself=True)
        return hidden.reshape(self.spec.shape)


def ancestry_of(spec: TableSpec) -> Ancestry:
    """Which cells have to be counted to know all ancestors of the cells of a table."""
    product = is_product(spec.universe)
    conditions = (
        {variable.name: variable for variable in spec.universe.variables} if product else {}
    )
    axes = []
    for axis in spec.axes:
        variable = axis.variable
        condition = conditions.pop(variable.name, None)
        if condition is not None:
            axes.append(_axis_above(axis, leaves_in(spec.universe, condition)))
            continue
        declared = list(variable.levels())
        if all(any(level is other for other in declared) for level in axis.levels):
            key = ("above", tuple(level.name for level in axis.levels), axis.total)
            axes.append(variable.kept(key, partial(_axis_above, axis, None)))
        else:
            axes.append(_axis_above(axis, None))
    axes += [
        _fixed(condition, leaves_in(spec.universe, condition)) for condition in conditions.values()
    ]
    extended = replace(spec, axes=tuple(axis.axis for axis in axes), name="")
    if product and not (spec.universe.truth.ndim == 0 and not spec.universe.truth):
        return Ancestry(spec, replace(extended, universe=EVERYTHING), None, tuple(axes))
    return Ancestry(spec, extended, replace(extended, universe=EVERYTHING), tuple(axes))


def _axis_above(axis: Axis, inside: Mask | None) -> AxisAbove:
    """An axis with the codes above its own, each cut to what a condition leaves of it."""
    levels = {level.name: level for level in axis.levels}
    shown: list[Level | None] = [levels.get(block.level) for block in axis.blocks]
    if inside is not None:
        shown = [
            _cut(level, inside, f"{_INSIDE}{'' if level is None else level.name}")
            for level in shown
        ]
    return _with_codes_above(axis.variable, shown, [block.size for block in axis.blocks])


def _fixed(variable: Variable, inside: Mask) -> AxisAbove:
    """A variable of a condition as an axis with one code: what the condition chooses of it."""
    return _with_codes_above(variable, [_cut(None, inside, _INSIDE)], [1])


def _cut(level: Level | None, inside: Mask, name: str) -> Level:
    """The codes of a level, or the total, without the leaves that a condition leaves out."""
    codes = (Code(TOTAL),) if level is None else level.codes
    group = np.zeros(inside.size, dtype=np.int64) if level is None else level.group_array
    return Level(name, (*codes, Code(REST)), tuple(np.where(inside, group, len(codes)).tolist()))


def _with_codes_above(
    variable: Variable, shown: Sequence[Level | None], sizes: Sequence[int]
) -> AxisAbove:
    """The axis for some blocks of codes; a block without a level is the total.

    Args:
        variable: The variable.
        shown: The levels of the blocks.
        sizes: How many codes of each block the table shows, from the first on.
    """
    own = [level for level in shown if level is not None]
    names = {level.name for level in own}
    arrays = {level.group_array.tobytes(): level.name for level in own}
    # For each block: which codes of which level hold its codes and more.
    above: list[list[tuple[str, Mask, Int64]]] = [[] for _ in shown]
    more: list[tuple[str, Level, Int64]] = []
    for level in variable.levels():
        holding = [_holding(block, size, level) for block, size in zip(shown, sizes, strict=True)]
        needed = np.unique(np.concatenate([code[held] for held, code in holding]))
        if not needed.size:
            continue
        name, place = arrays.get(level.group_array.tobytes(), ""), np.arange(len(level.codes))
        if not name:
            name = level.name if level.name not in names else f"{_ABOVE}{level.name}"
            cut, place = narrowed(level, needed.tolist(), name=name)
            arrays[level.group_array.tobytes()] = name
            more.append((name, cut, place))
        for at, (held, code) in enumerate(holding):
            above[at].append((name, held, place[code]))
    axis = make_axis(variable, [*own, *(level for _, level, _ in more)], total=True)
    starts = {block.level: block.start for block in axis.blocks}
    kept: list[Int64] = []
    owners: list[Int64] = []
    larger: list[Int64] = []
    first = 0
    for block, size, held_by in zip(shown, sizes, above, strict=True):
        begin = starts[TOTAL if block is None else block.name]
        kept.append(np.arange(begin, begin + size, dtype=np.int64))
        part = _leaves(block, size, variable) < len(variable.codes)
        total = (TOTAL, part, np.zeros(size, dtype=np.int64))
        for name, held, code in (*held_by, total):
            places = np.flatnonzero(held)
            owners.append(first + places)
            larger.append(starts[name] + code[places])
        first += size
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    size_of = np.bincount(owner, minlength=first)
    return AxisAbove(
        axis,
        np.concatenate(kept).astype(np.int64),
        np.concatenate([[0], np.cumsum(size_of)]).astype(np.int64),
        np.concatenate(larger)[order].astype(np.int64),
    )


def codes_above(axis: Axis) -> tuple[Int64, Int64]:
    """Which codes of an axis have all their leaves, and more, in which others: two columns."""
    variable = axis.variable
    levels = {level.name: level for level in axis.levels}
    starts = {block.level: block.start for block in axis.blocks}
    owners, larger = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for block in axis.blocks:
        level = levels.get(block.level)
        held_by = [(name, *_holding(level, block.size, one)) for name, one in levels.items()]
        if axis.total:
            part = _leaves(level, block.size, variable) < len(variable.codes)
            held_by.append((TOTAL, part, np.zeros(block.size, dtype=np.int64)))
        for name, held, code in held_by:
            places = np.flatnonzero(held)
            owners.append(block.start + places)
            larger.append(starts[name] + code[places])
    return np.concatenate(owners), np.concatenate(larger)


def _leaves(block: Level | None, size: int, variable: Variable) -> Int64:
    """How many leaves each code of a block has."""
    if block is None:
        return np.full(size, len(variable.codes), dtype=np.int64)
    return np.bincount(block.group_array, minlength=len(block.codes))[:size].astype(np.int64)


def _holding(block: Level | None, size: int, level: Level) -> tuple[Mask, Int64]:
    """Which codes of a block a single code of a level holds, and more, and which code that is."""
    if block is None:
        return np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64)
    mine, theirs = block.group_array, level.group_array
    codes = len(block.codes)
    code = np.zeros(codes, dtype=np.int64)
    code[mine] = theirs
    split = np.bincount(mine, weights=theirs != code[mine], minlength=codes) > 0
    leaves = np.bincount(mine, minlength=codes)
    larger = np.bincount(theirs, minlength=len(level.codes))[code] > leaves
    rest = np.array([code.code == REST for code in block.codes])
    held: Any = ~split & larger & (leaves > 0) & ~rest
    return held[:size], code[:size]
