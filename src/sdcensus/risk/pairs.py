"""True counts beside published values: the cells that a figure of risk is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.interior import interior
from sdcensus.model.layout import mixed_radix
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table import Flag, SparseTable, Table
from sdcensus.model.table_spec import Measure, TableSpec

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: More records than any census has.
MOST_RECORDS = 1 << 31


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts(Confidential):
    """True counts of some cells of a table.

    Attributes:
        true: The counts that are listed.
        cells: How many cells there are; those that are not listed are empty.
    """

    true: Int64
    cells: int

    def __repr__(self) -> str:
        return "<Counts: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair(Confidential):
    """True counts and published values of the same cells.

    Attributes:
        true: The counts that are listed.
        published: What is published for each of them.
        shown: Which of them have a published number.
        cells: How many cells there are; those that are not listed are empty and published as 0.
    """

    true: Int64
    published: Int64
    shown: Mask
    cells: int

    def __repr__(self) -> str:
        return "<Pair: confidential>"

    @property
    def withheld(self) -> int:
        """How many cells have no published number."""
        return int((~self.shown).sum())

    def only_shown(self) -> Pair:
        """The cells that have a published number."""
        if self.shown.all():
            return self
        kept = self.shown
        return Pair(self.true[kept], self.published[kept], kept[kept], self.cells - self.withheld)


def whole_numbers(values: npt.ArrayLike, *, what: str = "Counts") -> Int64:
    """Counts as a flat array of whole numbers; anything that is no count is refused."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise SpecError(f"{what} are whole numbers, 0 or more.")
    if array.dtype.kind == "f" and not (np.floor(array) == array).all():
        raise SpecError(
            f"{what} are whole numbers. Some are fractions or missing: weighted or averaged figures"
            " cannot be measured here, and withheld cells are told by a mask."
        )
    if (array < 0).any():
        raise SpecError(f"{what} are 0 or more, and some are negative.")
    if (array >= MOST_RECORDS).any():
        raise SpecError(f"{what} are below 2**31: no census has so many records.")
    return array.astype(np.int64).reshape(-1)


def pair_of_arrays(
    counts: npt.ArrayLike,
    published: npt.ArrayLike,
    *,
    shown: npt.ArrayLike | None = None,
    cells: int | None = None,
) -> Pair:
    """A pair from arrays of one shape.

    Args:
        counts: True counts.
        published: Published values; anything where ``shown`` is false.
        shown: Which cells have a published number; all of them without it.
        cells: How many cells there are, if empty cells that are published as 0 are left out.
    """
    true = whole_numbers(counts)
    values = np.asarray(published)
    if np.shape(counts) != values.shape:
        raise SpecError("True counts and published values need the same shape.")
    mask = np.ones(true.size, dtype=bool)
    if shown is not None:
        given = np.asarray(shown)
        if given.dtype != np.bool_ or given.shape != values.shape:
            raise SpecError("The mask of shown cells needs true or false for every cell.")
        mask = given.reshape(-1)
        values = np.where(given, values, 0)
    whole = true.size if cells is None else cells
    return Pair(true, whole_numbers(values, what="Published values"), mask, _enough(whole, true))


def counts_of_array(counts: npt.ArrayLike, *, cells: int | None = None) -> Counts:
    """Counts from an array; ``cells`` if empty cells are left out of it."""
    true = whole_numbers(counts)
    return Counts(true, _enough(true.size if cells is None else cells, true))


def counts_of(cube: Cube | SparseCube, *, margins: bool = False) -> Counts:
    """The true counts of the interior cells of a cube, or of all its cells."""
    only_counts(cube.spec)
    if isinstance(cube, Cube):
        return Counts(cube.count[_part(cube.spec, margins)].reshape(-1), _size(cube.spec, margins))
    _, true = _listed(cube, margins)
    return Counts(true, _size(cube.spec, margins))


def pair_of(cube: Cube | SparseCube, table: Table | SparseTable, *, margins: bool = False) -> Pair:
    """Cube and table cell by cell: interior cells, or all of them.

    Refuses a table that does not show what the cube counts.
    """
    check_same(cube.spec, table.spec)
    spec = cube.spec
    if isinstance(cube, Cube) and isinstance(table, Table):
        part = _part(spec, margins)
        true, published = cube.count[part].reshape(-1), table.published[part].reshape(-1)
        shown = np.ones(true.size, dtype=bool)
        if table.flags is not None:
            shown = (table.flags[part] == Flag.PUBLISHED).reshape(-1)
        return Pair(true, published, shown, _size(spec, margins))
    if isinstance(cube, Cube):
        numbers = np.arange(spec.cells, dtype=np.uint64).reshape(spec.shape)
        numbers = numbers[_part(spec, margins)].reshape(-1)
        true = cube.count[_part(spec, margins)].reshape(-1)
    else:
        numbers, true = _with_published(*_listed(cube, margins), _there(table, margins))
    shown = np.ones(true.size, dtype=bool)
    if isinstance(table, Table) and table.flags is not None:
        shown = table.flags.reshape(-1)[numbers.astype(np.int64)] == Flag.PUBLISHED
    return Pair(true, table.at(numbers), shown, _size(spec, margins))


def check_same(mine: TableSpec, theirs: TableSpec) -> None:
    """Refuse tables that do not show the same cells in the same order, and weighted ones."""
    only_counts(mine)
    if mine != theirs:
        raise SpecError(
            f"The tables do not match: one is {mine.title!r}, the other {theirs.title!r}. Compare a"
            " table with the cube that it was made from."
        )
    order = [axis.variable.name for axis in mine.axes]
    if order != [axis.variable.name for axis in theirs.axes] or mine.shape != theirs.shape:
        raise SpecError(
            f"The tables have their axes in different orders. Tabulate by {', '.join(order)} in"
            " both."
        )


def only_counts(spec: TableSpec) -> None:
    """Refuse a weighted table."""
    if spec.measure is not Measure.COUNT:
        raise SpecError(
            f"{spec.title}: figures of risk are those of counts, and this table is weighted."
            " Measure the table of counts on the same axes."
        )


def _enough(cells: int, listed: Int64) -> int:
    if type(cells) is not int or cells < listed.size:
        raise SpecError("There cannot be fewer cells than those that are listed.")
    return cells


def _part(spec: TableSpec, margins: bool) -> Any:
    return ... if margins else interior(spec)


def _size(spec: TableSpec, margins: bool) -> int:
    if margins:
        return spec.cells
    interior(spec)
    return spec.base_cells


def _listed(cube: SparseCube, margins: bool) -> tuple[UInt64, Int64]:
    """Cells with records: their numbers in the table, ascending, and their counts."""
    weights = np.array(mixed_radix(cube.shape), dtype=np.uint64)
    if not margins:
        interior(cube.spec)
    numbers, counts = [], []
    for block in cube.blocks():
        numbers.append((block.positions.astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64))
        counts.append(block.values.count)
        if not margins:
            break  # the finest block comes first
    joined = np.concatenate(numbers)
    order = np.argsort(joined)
    return joined[order], np.concatenate(counts)[order]


def _there(table: Table | SparseTable, margins: bool) -> UInt64:
    """The numbers of the cells that are published as something else than 0."""
    if isinstance(table, Table):
        there = table.published != 0
        if table.flags is not None:
            there = there | (table.flags != Flag.PUBLISHED)
        numbers = np.flatnonzero(there).astype(np.uint64)
        positions = np.stack(np.unravel_index(numbers.astype(np.int64), table.shape))
    else:
        numbers, positions = table.numbers, table.positions()
    if margins:
        return numbers
    sizes = np.array(table.spec.base_shape, dtype=np.int64)[:, None]
    return numbers[(positions < sizes).all(axis=0)]


def _with_published(numbers: UInt64, true: Int64, others: UInt64) -> tuple[UInt64, Int64]:
    """Cells with records and cells that are published as if they had some."""
    every = np.union1d(numbers, others)
    counts = np.zeros(every.size, dtype=np.int64)
    counts[np.searchsorted(every, numbers)] = true
    return every, counts
