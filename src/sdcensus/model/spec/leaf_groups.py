"""The codes of tables as groups of leaves, so that tables can be compared with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Combinations of classes of two conditions that can be looked at together.
MOST_COMBINATIONS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LeafBlock:
    """The codes of one level of an axis, as what they select.

    A variable that is no axis of the table has one block with one code: all that the table counts.

    Attributes:
        level: The name of the level.
        start: The position of its first code on the axis.
        size: How many codes it has.
        group: For each leaf of the variable the code that holds it; -1 outside the table.
        leaves: For each code, how many leaves it holds.
    """

    level: str
    start: int
    size: int
    group: Int64
    leaves: Int64


def leaf_blocks(
    spec: TableSpec, variable: Variable, *, order: Int64 | None = None
) -> tuple[LeafBlock, ...]:
    """The levels at which a table shows a variable, its total as the last where there is one.

    A condition of the table on several variables together is taken for the leaves that occur in
    it at all.

    Args:
        spec: The table.
        variable: The variable as the table knows it.
        order: Where each leaf stands in another code list of the same leaves.
    """
    inside = leaves_in(spec.universe, variable)
    places = np.arange(inside.size, dtype=np.int64) if order is None else order
    for axis in spec.axes:
        if axis.variable.name == variable.name:
            leaf_blocks = []
            # The axis knows its levels best: a question counts some codes of them only.
            levels = {level.name: level for level in axis.levels}
            for block in axis.blocks:
                group = np.zeros(inside.size, dtype=np.int64)
                if block.level != TOTAL:
                    group = levels[block.level].group_array
                leaf_blocks.append(
                    _block(block.level, block.start, block.size, group, inside, places)
                )
            return tuple(leaf_blocks)
    return (_block(TOTAL, 0, 1, np.zeros(inside.size, dtype=np.int64), inside, places),)


def _block(
    level: str, start: int, size: int, group: Int64, inside: Mask, places: Int64
) -> LeafBlock:
    held = np.empty(inside.size, dtype=np.int64)
    held[places] = np.where(inside, group, -1)
    leaves = np.bincount(group[inside], minlength=size).astype(np.int64)
    held.flags.writeable = False
    leaves.flags.writeable = False
    return LeafBlock(level, start, size, held, leaves)


@dataclass(frozen=True, slots=True, eq=False)
class Nesting:
    """How sets of leaves lie in coarser sets of the same leaves.

    Attributes:
        group: For each finer set the coarser one that holds all its leaves; -1 for none.
        parts: For each coarser set, how many finer ones it holds.
        whole: Which coarser sets are made up of finer ones without a rest.
    """

    group: Int64
    parts: Int64
    whole: Mask


def nesting(fine: Int64, fine_size: int, coarse: Int64, coarse_size: int) -> Nesting:
    """Compare two ways to put leaves into disjoint sets.

    Args:
        fine: For each leaf the finer set that holds it; -1 for none.
        fine_size: How many finer sets there are; some may be empty.
        coarse: For each leaf the coarser set that holds it; -1 for none.
        coarse_size: How many coarser sets there are.
    """
    inside = fine >= 0
    lowest = np.full(fine_size, np.iinfo(np.int64).max, dtype=np.int64)
    highest = np.full(fine_size, -1, dtype=np.int64)
    np.minimum.at(lowest, fine[inside], coarse[inside])
    np.maximum.at(highest, fine[inside], coarse[inside])
    group = np.where(lowest == highest, highest, -1)
    covered = inside & (group[np.where(inside, fine, 0)] >= 0)
    left = np.bincount(coarse[(coarse >= 0) & ~covered], minlength=coarse_size)
    parts = np.bincount(group[group >= 0], minlength=coarse_size).astype(np.int64)
    return Nesting(group, parts, (left == 0) & (parts > 0))


@dataclass(frozen=True, slots=True, eq=False)
class SharedVariable:
    """A variable that one of several tables shows or has a condition on, in all of them.

    Attributes:
        variable: The variable, with the order of leaves that all blocks follow.
        axes: For each table the axis that shows it, or ``None``.
        blocks: For each table its blocks.
    """

    variable: Variable
    axes: tuple[int | None, ...]
    blocks: tuple[tuple[LeafBlock, ...], ...]


def shared_variables(specs: Sequence[TableSpec]) -> tuple[SharedVariable, ...] | None:
    """The variables that matter in any of these tables, as groups of the same leaves in all.

    ``None`` if the tables cannot be compared by sets of leaves: they count different things, a
    variable has other leaves in one of them, or different conditions combine variables in ways
    that are no product of sets of codes.
    """
    first = specs[0]
    if any(spec.of is not first.of or spec.measure is not first.measure for spec in specs):
        return None
    if not all(is_product(spec.universe) for spec in specs):
        same = first.universe.canonical()
        if any(spec.universe.canonical() != same for spec in specs):
            return None
    named: dict[str, Variable] = {}
    own: list[dict[str, Variable]] = []
    for spec in specs:
        mine = {variable.name: variable for variable in spec.universe.variables}
        mine |= {axis.variable.name: axis.variable for axis in spec.axes}
        own.append(mine)
        named = {**mine, **named}
    shared_variables = []
    for name in sorted(named):
        variable = named[name]
        axes: list[int | None] = []
        blocks = []
        for spec, mine in zip(specs, own, strict=True):
            theirs = mine.get(name, variable)
            order = _order(variable, theirs)
            if order is None:
                return None
            shown = [axis.variable.name for axis in spec.axes]
            axes.append(shown.index(name) if name in shown else None)
            blocks.append(leaf_blocks(spec, theirs, order=order))
        shared_variables.append(SharedVariable(variable, tuple(axes), tuple(blocks)))
    return tuple(shared_variables)


def _order(variable: Variable, other: Variable) -> Int64 | None:
    """Where each leaf of ``other`` stands in the code list of ``variable``."""
    if variable is other:
        return np.arange(len(variable.codes), dtype=np.int64)
    places = {code.code: at for at, code in enumerate(variable.codes)}
    if {code.code for code in other.codes} != set(places):
        return None
    return np.array([places[code.code] for code in other.codes], dtype=np.int64)


def within(inner: Universe, outer: Universe) -> bool:
    """Whether every record of one universe belongs to another, for any data."""
    names = sorted({variable.name for variable in (*inner.variables, *outer.variables)})
    indexes: list[tuple[Int64, Int64]] = []
    size = 1.0
    for name in names:
        pair = np.stack([_classes(universe, name, outer, inner) for universe in (inner, outer)])
        refined = np.unique(pair, axis=1)
        indexes.append((refined[0], refined[1]))
        size *= refined.shape[1]
    if size > MOST_COMBINATIONS:
        raise SpecError("The conditions of two tables are too long to be compared.")
    mine = _over(inner, names, [index[0] for index in indexes])
    theirs = _over(outer, names, [index[1] for index in indexes])
    return bool((~mine | theirs).all())


def _classes(universe: Universe, name: str, *others: Universe) -> Int64:
    """For each leaf the class of a universe; all one class where it has no such variable."""
    for variable, classes in zip(universe.variables, universe.classes, strict=True):
        if variable.name == name:
            # By the order of codes: two universes may list the leaves differently.
            order = np.argsort(np.array([code.code for code in variable.codes]), kind="stable")
            return classes[order]
    for other in others:
        for variable in other.variables:
            if variable.name == name:
                return np.zeros(len(variable.codes), dtype=np.int64)
    raise SpecError(f"No condition is about {name!r}.")


def _over(universe: Universe, names: Sequence[str], indexes: Sequence[Int64]) -> Mask:
    """The truth of a universe over classes of all these variables, ready to broadcast."""
    truth = universe.truth
    own = [variable.name for variable in universe.variables]
    for axis, name in enumerate(own):
        truth = np.take(truth, indexes[names.index(name)], axis=axis)
    shape = [index.size if name in own else 1 for name, index in zip(names, indexes, strict=True)]
    return truth.reshape(shape)
