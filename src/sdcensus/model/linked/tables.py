"""Several tables as one set of cells: a cell that stands in several of them is one cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import SparseMatrix, constraints
from sdcensus.model.schema.variable import Code, Level, Variable, common_refinement
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Values = TypeVar("Values", bound=np.generic)

#: The name of a level that no table shows: what its levels, which do not nest, have in common.
_BASE = "\N{INTERSECTION}"
#: Cells that are held at most, those that nobody sees included.
MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LinkedTables:
    """The cells of some tables, each once, and every sum that they are part of.

    Besides the cells that a table shows there are auxiliary ones that nobody sees: totals that it
    leaves out, coarser codes that another table shows, and what levels that do not nest have in
    common. They are there because sums go through them. Cells that no record can be in are left
    out: they are 0 for any data.

    Attributes:
        specs: The tables, as they are published.
        counted: For each of them the table that has to be counted: with its auxiliary cells.
        cell_of: For each table the number of the cell at each of its places, in its shape; -1
            where no record can be.
        counted_cell_of: The same for the tables that are counted.
        published: Which cells a table shows.
        hashes: What tells cells apart over all tables, as two words; for ties.
        equations: What is 0 for any data: for each total its parts (1) less itself (-1).
    """

    specs: tuple[TableSpec, ...]
    counted: tuple[TableSpec, ...]
    cell_of: tuple[Int64, ...]
    counted_cell_of: tuple[Int64, ...]
    published: Mask
    hashes: UInt64
    equations: SparseMatrix

    def __repr__(self) -> str:
        return f"<LinkedTables {len(self.specs)} tables, {self.size:,} cells>"

    @staticmethod
    def to_count(specs: Sequence[TableSpec]) -> tuple[TableSpec, ...]:
        """What has to be counted for each of some tables, before anything else is done.

        Raises:
            SpecError: As for ``of``.
        """
        _check(specs)
        levels = _levels_by_variable(specs)
        counted = tuple(_extended(spec, levels) for spec in specs)
        _check_size(counted)
        return counted

    @classmethod
    def of(cls, specs: Sequence[TableSpec]) -> LinkedTables:
        """Put tables together.

        Raises:
            SpecError: They count different things, have different code lists for a variable, or
                have too many cells to be held.
        """
        counted = cls.to_count(specs)
        hashes = [cell_hashes(spec) for spec in counted]
        numbers, distinct = _numbered(hashes)
        shaped = tuple(
            number.reshape(spec.shape) for number, spec in zip(numbers, counted, strict=True)
        )
        cell_of = tuple(
            _cut(number, spec, extended)
            for number, spec, extended in zip(shaped, specs, counted, strict=True)
        )
        published = np.zeros(len(distinct), dtype=bool)
        for cells in cell_of:
            published[cells[cells >= 0]] = True
        for array in (*shaped, *cell_of, published, distinct):
            array.flags.writeable = False
        equations = _equations(counted, shaped, distinct)
        return cls(tuple(specs), counted, cell_of, shaped, published, distinct, equations)

    @property
    def size(self) -> int:
        """How many cells there are, auxiliary ones included."""
        return self.published.size

    def spread(self, values: npt.NDArray[Values]) -> tuple[npt.NDArray[Values], ...]:
        """Values of all cells as tables; 0 where no record can be."""
        padded = np.append(values, np.zeros(1, dtype=values.dtype))
        # A table of one cell stays an array.
        return tuple(np.asarray(padded[cells]) for cells in self.cell_of)

    def gather(self, tables: Sequence[Int64]) -> Int64:
        """The values of all cells from tables that were counted (``counted``).

        Raises:
            SpecError: Two tables have different values for the same cell.
        """
        values = np.zeros(self.size, dtype=np.int64)
        for cells, table in zip(self.counted_cell_of, tables, strict=True):
            held = cells >= 0
            values[cells[held]] = table[held]
        for spec, cells, table in zip(self.counted, self.counted_cell_of, tables, strict=True):
            held = cells >= 0
            if (values[cells[held]] != table[held]).any():
                raise SpecError(
                    f"{spec.title}: a cell that stands in several tables has not the same value in"
                    " all of them. Count them from the same records."
                )
        return values

    def adds_up(self, values: Int64) -> bool:
        """Whether values of all cells are sums wherever they have to be."""
        return not self.equations.times(values).any()

    def depth(self) -> Int64:
        """For each cell, of how many base cells it is the sum at most: totals have many."""
        depth = np.zeros(self.size, dtype=np.int64)
        for spec, cells in zip(self.counted, self.counted_cell_of, strict=True):
            groups = np.ones((1,) * len(spec.axes), dtype=np.int64)
            for at, axis in enumerate(spec.axes):
                sizes = [np.bincount(block.group, minlength=block.size) for block in axis.blocks]
                side = [1] * len(spec.axes)
                side[at] = -1
                groups = groups * np.concatenate(sizes).reshape(side)
            held = cells >= 0
            np.maximum.at(depth, cells[held], np.broadcast_to(groups, cells.shape)[held])
        return depth

    def place(self, cell: int) -> tuple[TableSpec, tuple[int, ...]]:
        """A table that has a cell, and where: those that show it first."""
        for specs, places in ((self.specs, self.cell_of), (self.counted, self.counted_cell_of)):
            for spec, cells in zip(specs, places, strict=True):
                at = np.flatnonzero(cells.reshape(-1) == cell)
                if at.size:
                    return spec, tuple(int(place) for place in np.unravel_index(at[0], spec.shape))
        raise SpecError(f"There is no cell {cell} in these tables.")

    def name(self, cell: int) -> str:
        """A cell by its codes, for messages of the office: ``sex = 1, age = _T``."""
        spec, place = self.place(cell)
        codes = [
            f"{axis.variable.name} = {axis.codes[at].code}"
            for axis, at in zip(spec.axes, place, strict=True)
        ]
        return ", ".join(codes) or "the total"


def _check(specs: Sequence[TableSpec]) -> None:
    if not specs:
        raise SpecError("No table is named that could be protected.")
    for spec in specs:
        if (spec.of, spec.measure, spec.amount) != (
            specs[0].of,
            specs[0].measure,
            specs[0].amount,
        ):
            raise SpecError(
                f"{spec.title} and {specs[0].title} count different things and cannot be protected"
                " together. Protect tables of each kind of unit and measure on their own."
            )
    known: dict[str, Variable] = {}
    for variable in _variables(specs):
        first = known.setdefault(variable.name, variable)
        codes = [[code.code for code in each.codes] for each in (first, variable)]
        if codes[0] != codes[1]:
            raise SpecError(
                f"Two tables have different code lists for {variable.name!r}. Make both for the"
                " schema of the same records."
            )


def _check_size(specs: Sequence[TableSpec]) -> None:
    cells = sum(spec.cells for spec in specs)
    if cells > MOST_CELLS:
        largest = max(specs, key=lambda spec: spec.cells)
        raise SpecError(
            f"The tables have {cells:,} cells together with those that nobody sees, and at most"
            f" {MOST_CELLS:,} can be protected together. The largest is {largest.title!r}. Take"
            " fewer or coarser axes, or fewer tables at a time."
        )


def _variables(specs: Iterable[TableSpec]) -> Iterable[Variable]:
    for spec in specs:
        yield from (axis.variable for axis in spec.axes)
        yield from spec.universe.variables


def _levels_by_variable(specs: Sequence[TableSpec]) -> dict[str, list[Level]]:
    """The levels at which any table shows a variable, each partition of leaves once."""
    levels: dict[str, dict[bytes, Level]] = {}
    for spec in specs:
        for axis in spec.axes:
            known = levels.setdefault(axis.variable.name, {})
            for level in axis.levels:
                known.setdefault(level.group_array.tobytes(), level)
    return {name: list(known.values()) for name, known in levels.items()}


def _extended(spec: TableSpec, levels: dict[str, list[Level]]) -> TableSpec:
    """A table with its base groups, the coarser levels of other tables, and all totals."""
    return spec.with_axes(_extended_axis(axis, levels[axis.variable.name]) for axis in spec.axes)


def _extended_axis(axis: Axis, levels: Sequence[Level]) -> Axis:
    base, size = common_refinement(axis.levels)
    own = {level.group_array.tobytes() for level in axis.levels}
    names = {level.name for level in axis.levels}
    more: list[Level] = []
    if not axis.base_is_shown:
        codes = tuple(Code(str(number)) for number in range(size))
        more.append(Level(_BASE, codes, tuple(base.tolist())))
        own.add(base.tobytes())
    whole = Level("", tuple(Code("") for _ in range(size)), tuple(base.tolist()))
    for level in levels:
        if level.group_array.tobytes() in own or not whole.refines(level):
            continue
        name = level.name
        while name in names:
            name = f"{_BASE}{name}"
        names.add(name)
        more.append(level if name == level.name else replace(level, name=name))
    if not more and axis.total:
        return axis
    return make_axis(axis.variable, [*axis.levels, *more], total=True)


def _cut(numbers: Int64, spec: TableSpec, extended: TableSpec) -> Int64:
    """Of the cells of an extended table those of the table itself, in its shape."""
    for at, (axis, more) in enumerate(zip(spec.axes, extended.axes, strict=True)):
        starts = {block.level: block.start for block in more.blocks}
        kept = [
            np.arange(starts[block.level], starts[block.level] + block.size)
            for block in axis.blocks
        ]
        numbers = np.take(numbers, np.concatenate(kept), axis=at)
    return np.ascontiguousarray(numbers).reshape(spec.shape)


def _numbered(hashes: Sequence[UInt64]) -> tuple[list[Int64], UInt64]:
    """Cells by their hashes: for each table the numbers of its cells, and the hash of each number.

    Numbers follow the order of hashes: they are the same whatever the order of tables and axes.
    """
    every = np.concatenate(hashes)
    possible = np.asarray(every.any(axis=1))
    order = np.lexsort((every[:, 1], every[:, 0]))
    order = order[possible[order]]
    ordered = every[order]
    first = np.ones(order.size, dtype=bool)
    first[1:] = np.not_equal(ordered[1:], ordered[:-1]).any(axis=1)
    numbers = np.full(len(every), -1, dtype=np.int64)
    numbers[order] = np.cumsum(first) - 1
    ends = np.cumsum([len(part) for part in hashes])[:-1]
    return list(np.split(numbers, ends)), ordered[first]


def _equations(
    specs: Sequence[TableSpec], cell_of: Sequence[Int64], hashes: UInt64
) -> SparseMatrix:
    """The sums of all tables over their common cells, each once."""
    size = len(hashes)
    rows, columns, values = [], [], []
    height = 0
    for spec, cells in zip(specs, cell_of, strict=True):
        sums = constraints(spec)
        column = cells.reshape(-1)[sums.columns]
        held = column >= 0
        rows.append(height + sums.rows[held])
        columns.append(column[held])
        values.append(sums.values[held].astype(np.int64))
        height += sums.shape[0]
    row, column, value = _added(
        np.concatenate(rows), np.concatenate(columns), np.concatenate(values), size
    )
    kept, number = _distinct_rows(row, column, value, height, hashes)
    inside = kept[row]
    return SparseMatrix.from_entries(
        (int(kept.sum()), size),
        number[row[inside]],
        column[inside],
        value[inside].astype(np.int8),
    )


def _added(rows: Int64, columns: Int64, values: Int64, size: int) -> tuple[Int64, Int64, Int64]:
    """Entries of a matrix with those of one place added up; what is 0 then is left out."""
    place = rows * size + columns
    order = np.argsort(place, kind="stable")
    place, value = place[order], values[order]
    first = np.flatnonzero(np.append(True, place[1:] != place[:-1])) if place.size else place
    total = np.add.reduceat(value, first) if place.size else value
    kept = total != 0
    place = place[first][kept]
    return place // size, place % size, total[kept]


def _distinct_rows(
    rows: Int64, columns: Int64, values: Int64, height: int, hashes: UInt64
) -> tuple[Mask, Int64]:
    """Which rows of a matrix stay if empty and repeated ones go, and their new numbers."""
    # Hashes are as good as random words: a sum of them tells rows apart.
    marks = np.zeros((height, 2), dtype=np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(marks, rows, hashes[columns] * values.astype(np.uint64)[:, None])
    filled = np.zeros(height, dtype=bool)
    filled[rows] = True
    kept = np.zeros(height, dtype=bool)
    at = np.flatnonzero(filled)
    if at.size:
        _, first = np.unique(marks[at], axis=0, return_index=True)
        kept[at[first]] = True
    return kept, np.cumsum(kept) - 1
