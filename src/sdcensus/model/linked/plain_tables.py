"""Tables with a condition as sums of tables without one, so that all can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.inference.derivation import Sums
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.schema.variable import Code, Level
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.record_sets import leaves_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: How names of levels begin that no schema has.
MADE = "\N{INTERSECTION}\N{INTERSECTION}"


def made_level(name: str, groups: Int64) -> Level:
    """A level that no schema has: for each leaf the number of its group."""
    size = int(groups.max(initial=-1)) + 1
    codes = tuple(Code(str(number)) for number in range(size))
    return Level(f"{MADE}{name}", codes, tuple(groups.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Numbers of a matrix in any order: so many rows, and for each number its row and column."""

    height: int
    rows: Int64
    columns: Int64
    values: Int64


def joined_sums(parts: Sequence[Entries], width: int) -> Sums:
    """Matrices below each other; what stands twice in one place is added up."""
    starts = np.cumsum([0, *(part.height for part in parts)])
    rows = [part.rows + first for part, first in zip(parts, starts, strict=False)]
    columns = np.concatenate([part.columns for part in parts])
    values = np.concatenate([part.values for part in parts])
    # A cell with a condition may be the only one that it is the sum of: 1 - 1.
    place = np.concatenate(rows) * max(width, 1) + columns
    held, inverse = np.unique(place, return_inverse=True)
    added = np.zeros(held.size, dtype=np.int64)
    np.add.at(added, inverse.reshape(-1), values)
    held, added = held[added != 0], added[added != 0]
    height = int(starts[-1])
    ends = np.zeros(height + 1, dtype=np.int64)
    np.cumsum(np.bincount(held // max(width, 1), minlength=height), out=ends[1:])
    return Sums(width, ends, held % max(width, 1), added)


class CellNumbers:
    """Numbers of cells by their hashes; cells that are not known yet get further ones."""

    __slots__ = ("_hashes", "_known")

    def __init__(self, hashes: UInt64) -> None:
        self._hashes = hashes
        self._known: dict[bytes, int] = {}  # made where it is needed: cells may be many

    def __len__(self) -> int:
        return max(len(self._known), len(self._hashes))

    def of(self, spec: TableSpec) -> Int64:
        """The numbers of the cells of a table, in its shape; -1 where no record can be."""
        if not self._known:
            self._known = {row.tobytes(): at for at, row in enumerate(self._hashes)}
        numbers = [
            self._known.setdefault(row.tobytes(), len(self._known)) if row.any() else -1
            for row in cell_hashes(spec)
        ]
        return np.array(numbers, dtype=np.int64).reshape(spec.shape)


@dataclass(frozen=True, slots=True, eq=False)
class PlainTable:
    """A table without its condition: the variables of the condition are axes instead.

    Attributes:
        spec: The table; its own axes come first.
        inside: For each combination of base groups of the axes whether the condition holds, of
            length 1 on axes that it does not depend on; ``None`` where there is no condition.
    """

    spec: TableSpec
    inside: Mask | None

    @classmethod
    def of(cls, spec: TableSpec) -> PlainTable:
        """Take the condition out of a table."""
        universe = spec.universe
        if universe.everything:
            return cls(spec, None)
        axes = list(spec.axes)
        names = [axis.variable.name for axis in axes]
        for variable, classes in zip(universe.variables, universe.classes, strict=True):
            level = made_level("condition", classes)
            if variable.name in names:
                at = names.index(variable.name)
                axes[at] = make_axis(variable, [*axes[at].levels, level], total=axes[at].total)
            else:
                axes.append(make_axis(variable, [level], total=True))
                names.append(variable.name)
        plain = replace(spec, axes=tuple(axes), universe=EVERYTHING)
        return cls(plain, _inside(spec, axes, names))

    def sums(self, spec: TableSpec, cells: Int64, linked: LinkedTables, table: int) -> Entries:
        """The cells of the table with its condition as sums of cells without one.

        Args:
            spec: The table with its condition.
            cells: The numbers of its cells.
            linked: All tables without conditions.
            table: Which of them this one is.
        """
        counted, numbers = linked.counted[table], linked.counted_cell_of[table]
        flat = cells.reshape(-1)
        possible = np.flatnonzero(flat >= 0)
        rows, columns = [possible], [flat[possible]]
        values = [np.full(possible.size, -1, dtype=np.int64)]
        for place in possible.tolist():
            at = np.unravel_index(place, spec.shape) if spec.shape else ()
            positions, inside = self._parts(spec, counted, [int(position) for position in at])
            parts = numbers[np.ix_(*positions)][inside]
            parts = parts[parts >= 0]
            rows.append(np.full(parts.size, place, dtype=np.int64))
            columns.append(parts)
            values.append(np.ones(parts.size, dtype=np.int64))
        return Entries(
            spec.cells, np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
        )

    def _parts(
        self, spec: TableSpec, counted: TableSpec, at: Sequence[int]
    ) -> tuple[list[Int64], Mask]:
        """Where the cells stand that make up one cell: on each axis, and which combinations."""
        names = {variable.name for variable in spec.universe.variables}
        positions, taken = [], np.asarray(self.inside)
        for number, (axis, whole) in enumerate(zip(self.spec.axes, counted.axes, strict=True)):
            own = spec.axes[number] if number < len(spec.axes) else None
            if own is not None and axis.variable.name not in names:
                positions.append(np.array([_position(whole, own, at[number])]))
                continue
            leaves: Mask = np.ones(axis.base.size, dtype=bool)
            if own is not None:
                leaves = leaves_of(own, at[number])
            held = np.unique(axis.base[leaves])
            positions.append(_start_of_base(whole, axis) + held)
            taken = np.take(taken, held, axis=number)
        shape = tuple(position.size for position in positions)
        return positions, np.broadcast_to(taken, shape)


def _inside(spec: TableSpec, axes: Sequence[Axis], names: Sequence[str]) -> Mask:
    universe = spec.universe
    places = [names.index(variable.name) for variable in universe.variables]
    index = []
    for place, classes in zip(places, universe.classes, strict=True):
        of_base = np.zeros(axes[place].base_size, dtype=np.int64)
        of_base[axes[place].base] = classes
        index.append(of_base)
    holds = universe.truth[np.ix_(*index)] if index else universe.truth
    holds = np.transpose(holds, np.argsort(places, kind="stable")) if index else holds
    shape = [1] * len(axes)
    for place in places:
        shape[place] = axes[place].base_size
    return np.asarray(holds).reshape(shape)


def _position(whole: Axis, own: Axis, at: int) -> int:
    """Where a code of an axis stands on the one that is counted for it."""
    level = own.codes[at].level
    start = next(block.start for block in own.blocks if block.level == level)
    return next(block.start for block in whole.blocks if block.level == level) + at - start


def _start_of_base(whole: Axis, axis: Axis) -> int:
    """Where the base groups of an axis begin on the one that is counted for it."""
    return next(
        block.start
        for block, level in zip(whole.blocks, whole.levels, strict=False)
        if np.array_equal(level.group_array, axis.base)
    )
