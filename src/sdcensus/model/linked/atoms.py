"""What tables tell apart together: the finest sets of records, and where each is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.members import TableCells, cells_of_sets
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.layout import positions_on
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.schema.variable import Code, Level, Variable, common_refinement
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.cell_definitions import cell_definitions
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: What the level is called whose codes are what some tables tell apart.
_TOGETHER = "together"


def joint_spec(specs: Sequence[TableSpec]) -> TableSpec:
    """The table of atoms: every variable that a table shows or has a condition on, no totals.

    Where all tables have the same condition, it is that of the atoms as well.
    """
    alike = len({str(spec.universe.canonical()) for spec in specs}) == 1
    universe = specs[0].universe if alike else EVERYTHING
    partitions: dict[str, list[Level]] = {}
    variables: dict[str, Variable] = {}
    for spec in specs:
        for axis in spec.axes:
            variables.setdefault(axis.variable.name, axis.variable)
            partitions.setdefault(axis.variable.name, []).extend(axis.levels)
        if alike:
            continue
        for variable, classes in zip(spec.universe.variables, spec.universe.classes, strict=True):
            variables.setdefault(variable.name, variable)
            partitions.setdefault(variable.name, []).append(_level(classes))
    axes = [_joint_axis(variables[name], levels) for name, levels in sorted(partitions.items())]
    return replace(specs[0], axes=tuple(axes), universe=universe, name="")


def _joint_axis(variable: Variable, levels: Sequence[Level]) -> Axis:
    base, size = common_refinement(levels)
    codes = tuple(Code(str(number)) for number in range(size))
    return make_axis(variable, [Level(_TOGETHER, codes, tuple(base.tolist()))], total=False)


def _level(classes: Int64) -> Level:
    size = int(classes.max(initial=0)) + 1
    codes = tuple(Code(str(number)) for number in range(size))
    return Level(_TOGETHER, codes, tuple(classes.tolist()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atoms(Confidential):
    """The sets of records that tables tell apart together, without the empty ones.

    Attributes:
        counts: How many records each holds; above 0.
        keys: Its cell key.
        definitions: What each stands for, as one word; for draws and ties. The same whatever the
            order of tables, axes and codes.
        starts, cells: The published cells that each is counted in: those of atom ``at`` stand in
            ``cells[starts[at] : starts[at + 1]]``, ascending.
        spec, numbers: The table of atoms (``joint_spec``), and which of its cells each is,
            ascending.
    """

    counts: Int64
    keys: UInt32
    definitions: UInt64
    starts: Int64
    cells: Int64
    spec: TableSpec
    numbers: UInt64

    def __repr__(self) -> str:
        return "<Atoms: confidential>"

    def __len__(self) -> int:
        return self.counts.size

    @classmethod
    def of(cls, tables: LinkedTables, cube: AnyCube) -> Atoms:
        """Atoms from what was counted for ``joint_spec``."""
        return cls.from_numbers(tables, cube.spec, *_filled(cube))

    @classmethod
    def from_numbers(
        cls, tables: LinkedTables, spec: TableSpec, numbers: UInt64, counts: Int64, keys: UInt32
    ) -> Atoms:
        """Atoms from the filled cells of ``joint_spec``: numbers, ascending, counts and keys."""
        groups = _groups_of(spec, numbers)
        parts = [
            _cells_of(spec, groups, numbers.size, table, cells)
            for table, cells in zip(tables.specs, tables.cell_of, strict=True)
        ]
        starts, cells = cells_of_sets(parts, tables.size, numbers.size)
        definitions = _definitions(spec, numbers)
        return cls(counts, keys, definitions, starts, cells, spec, numbers)

    def members(self, tables: LinkedTables, wanted: Mask) -> tuple[Int64, Int64]:
        """The cells that each atom is counted in, as ``starts`` and ``cells``, of those wanted.

        Args:
            tables: The tables.
            wanted: Which cells, auxiliary ones or not.
        """
        groups = _groups_of(self.spec, self.numbers)
        parts = [
            _cells_of(
                self.spec,
                groups,
                len(self),
                spec,
                np.where((cells >= 0) & wanted[cells], cells, -1),
            )
            for spec, cells in zip(tables.counted, tables.counted_cell_of, strict=True)
        ]
        return cells_of_sets(parts, tables.size, len(self))

    def base_groups(self, spec: TableSpec) -> tuple[list[Int64], Mask]:
        """For each axis of a table the base group of each atom, and which atoms it counts."""
        joint = _groups_of(self.spec, self.numbers)
        groups = []
        for axis in spec.axes:
            at = self.spec.position(axis.variable.name)
            groups.append(axis.base[_first_leaves(self.spec.axes[at])][joint[at]])
        return groups, _inside(self.spec, joint, len(self), spec.universe)

    def sums(self, tables: LinkedTables, values: Int64) -> Int64:
        """Every cell of tables, auxiliary ones included, if atoms held these values."""
        cubes = []
        for spec in tables.counted:
            groups, inside = self.base_groups(spec)
            place = np.zeros(len(self), dtype=np.int64)
            for axis, group in zip(spec.axes, groups, strict=True):
                place = place * axis.base_size + group
            inner = np.zeros(spec.base_cells, dtype=np.int64)
            np.add.at(inner, place[inside], values[inside])
            cubes.append(with_totals(spec, inner.reshape(spec.base_shape)))
        return tables.gather(cubes)


def _groups_of(joint: TableSpec, numbers: UInt64) -> list[Int32]:
    return [
        positions_on(joint.shape, at, numbers).astype(np.int32) for at in range(len(joint.axes))
    ]


def _filled(cube: AnyCube) -> tuple[UInt64, Int64, UInt32]:
    """The cells of a table without totals that hold records: numbers, counts and keys.

    In a table of sums only those who contribute count: the others change no number.
    """
    contributions = cube.values.contributions
    if isinstance(cube, SparseCube):
        if contributions is None:
            return cube.numbers, cube.values.count, cube.values.key
        some = contributions.contributors > 0
        behind = contributions.contributors[some]
        return cube.numbers[some], behind, cube.values.key[some]
    counted = cube.values.count if contributions is None else contributions.contributors
    count = np.asarray(counted).reshape(-1)
    filled = np.flatnonzero(count)
    key = np.asarray(cube.values.key).reshape(-1)
    return filled.astype(np.uint64), count[filled], key[filled]


def cells_of_atoms(
    joint: TableSpec, numbers: UInt64, spec: TableSpec, cells: Int64
) -> tuple[Int64, Int64]:
    """For each atom the cells of one table that count it: two columns, atom and cell.

    Args:
        joint: The table of atoms.
        numbers: The atoms, by their numbers in it.
        spec: The table.
        cells: The numbers of its cells, in its shape; below 0 for those that are left out.
    """
    part = _cells_of(joint, _groups_of(joint, numbers), numbers.size, spec, cells)
    starts, held = cells_of_sets([part], int(cells.max(initial=-1)) + 1, numbers.size)
    return np.repeat(np.arange(numbers.size, dtype=np.int64), np.diff(starts)), held


def _cells_of(
    joint: TableSpec, groups: Sequence[Int32], atoms: int, spec: TableSpec, cells: Int64
) -> TableCells:
    """How atoms are counted in one table."""
    places = []
    for axis, stride in zip(spec.axes, _strides(spec.shape), strict=True):
        leaf = _first_leaves(joint.axes[joint.position(axis.variable.name)])
        levels = {level.name: level for level in axis.levels}
        codes = [
            block.start + (levels[block.level].group_array[leaf] if block.level in levels else 0)
            for block in axis.blocks
        ]
        places.append(
            stride * np.stack([np.broadcast_to(code, leaf.shape) for code in codes], axis=1)
        )
    return TableCells(
        cells.reshape(-1),
        _inside(joint, groups, atoms, spec.universe),
        [groups[joint.position(axis.variable.name)] for axis in spec.axes],
        places,
    )


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[at + 1 :]) for at in range(len(shape))]


def _inside(joint: TableSpec, groups: Sequence[Int32], atoms: int, universe: Universe) -> Mask:
    """Which atoms a condition counts."""
    if joint.universe.canonical() == universe.canonical() or universe.everything:
        return np.ones(atoms, dtype=bool)
    index = []
    for variable, classes in zip(universe.variables, universe.classes, strict=True):
        at = joint.position(variable.name)
        index.append(classes[_first_leaves(joint.axes[at])[groups[at]]])
    return np.broadcast_to(np.asarray(universe.truth[tuple(index)]), (atoms,))


def _first_leaves(axis: Axis) -> Int64:
    """For each code of an axis with one level, one of its leaves."""
    leaves = np.zeros(axis.base_size, dtype=np.int64)
    places, first = np.unique(axis.base, return_index=True)
    leaves[places] = first
    return leaves


def _definitions(joint: TableSpec, numbers: UInt64) -> UInt64:
    positions = [positions_on(joint.shape, at, numbers) for at in range(len(joint.axes))]
    words = cell_definitions(joint).listed(positions, 0)
    # One word for all where there is nothing to tell apart.
    return np.broadcast_to(np.asarray(words, dtype=np.uint64), numbers.shape)


def interior_cube(cube: Cube, spec: TableSpec) -> Cube:
    """The interior of a cube as the table of atoms (``joint_spec`` of it alone)."""
    order = [cube.spec.position(axis.variable.name) for axis in spec.axes]
    corner: Any = tuple(slice(0, axis.base_size) for axis in cube.spec.axes)

    def cut(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # Lists of contributions have one more axis.
        lists = array.shape[len(corner) :]
        inner = array[(*corner, ...)].transpose([*order, *range(len(order), array.ndim)])
        for at, axis in enumerate(spec.axes):
            # Base groups of the joint axis may be numbered in another order, or hold no leaf.
            groups = _matching(cube.spec.axes[order[at]], axis)
            side = [1] * inner.ndim
            side[at] = -1
            inner = np.take(inner, groups, axis=at) * (groups >= 0).reshape(side)
        whole = np.ascontiguousarray(inner).astype(array.dtype, copy=False)
        return whole.reshape((*spec.shape, *lists))

    return Cube(spec, cube.origin, cube.values.map(cut))


def _matching(own: Axis, joint: Axis) -> Int64:
    """For each base group of the joint axis that of the table's own axis with the same leaves."""
    groups = np.full(joint.base_size, -1, dtype=np.int64)
    groups[joint.base] = own.base
    return groups
