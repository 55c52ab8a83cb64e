"""True and published values of the same cells, side by side."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import weighted_counts
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.parts import Int64, Mask, Numbers, Region, TablePart, region
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable, Mark, SparseTable
from sdcensus.model.spec.table_spec import Measure, TableSpec

#: More records than any census has.
MOST_RECORDS = 1 << 31


def _none() -> Int64:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts(Confidential):
    """True counts of cells, one behind the other.

    Attributes:
        true: The counts that are held.
        absent: How many further cells there are, all of them empty.
    """

    true: Int64
    absent: int = 0

    def __repr__(self) -> str:
        return f"<Counts of {self.cells:,} cells: confidential>"

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.true.size + self.absent


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair(Confidential):
    """True and published values of cells, one behind the other; withheld cells stand apart.

    Attributes:
        true: The true values.
        published: What is published for them.
        absent: How many further cells there are that are 0 in both: those that a very large table
            does not hold. Empty cells that it does not show are among them.
        hidden: The true values of the cells for which no number is published.
        numbers: The numbers in their table of the cells of ``true``, if asked for.
    """

    true: Int64
    published: Int64
    absent: int = 0
    hidden: Int64 = field(default_factory=_none)
    numbers: Numbers | None = None

    def __repr__(self) -> str:
        return f"<Pair of {self.cells:,} cells: confidential>"

    @property
    def cells(self) -> int:
        """How many cells are compared; withheld ones are not."""
        return self.true.size + self.absent

    @property
    def withheld(self) -> int:
        """How many cells have no published number."""
        return self.hidden.size

    @property
    def deviation(self) -> Int64:
        """Published less true, of the cells that are held."""
        return self.published - self.true


# ---------------------------------------------------------------------------------------------
# From arrays


def whole_numbers(values: npt.ArrayLike, what: str) -> Int64:
    """An array of counts as whole numbers; refuses what is no count."""
    array = _array(values)
    if array.dtype.kind not in "iuf":
        raise SpecError(f"The {what} are whole numbers, 0 or more, in one array.")
    if array.dtype.kind == "f" and not (np.isfinite(array) & (np.floor(array) == array)).all():
        raise SpecError(
            f"Some of the {what} are fractions or no numbers at all. Counts are whole: give"
            " weighted counts rounded, and mark cells without a number as withheld."
        )
    if (array < 0).any():
        raise SpecError(f"Some of the {what} are below 0, which no count is.")
    if (array >= MOST_RECORDS).any():
        raise SpecError(f"Some of the {what} are 2**31 or more: no census has so many records.")
    return array.astype(np.int64, copy=False)


def mask_of(given: npt.ArrayLike, shape: tuple[int, ...], which: str) -> Mask:
    """True or false for every cell of an array of counts; refuses anything else."""
    mask = _array(given)
    if mask.dtype != np.bool_ or mask.shape != shape:
        raise SpecError(
            f"The mask of {which} cells needs true or false for every cell: the shape {shape}, as"
            " the counts have it."
        )
    return mask


def counts_of_values(counts: npt.ArrayLike, *, cells: int | None = None) -> Counts:
    """Counts from an array; ``cells`` if empty ones are left out of it."""
    true = whole_numbers(counts, "counts").reshape(-1)
    return Counts(true, _absent(cells, true.size))


def pair_of_values(
    true: npt.ArrayLike,
    published: npt.ArrayLike,
    *,
    withheld: npt.ArrayLike | None = None,
    shown: npt.ArrayLike | None = None,
    cells: int | None = None,
) -> Pair:
    """Compare two arrays of counts of one shape.

    Args:
        true: The true counts.
        published: The published ones; anything where none is published.
        withheld: Which cells have no published number, if some have none.
        shown: The same told the other way round.
        cells: How many cells there are, if empty ones that are published as 0 are left out.
    """
    counts = whole_numbers(true, "true counts")
    hidden = None
    if withheld is not None:
        hidden = mask_of(withheld, counts.shape, "withheld")
    elif shown is not None:
        hidden = ~mask_of(shown, counts.shape, "shown")
    given = _array(published)
    if hidden is not None and given.shape == counts.shape and given.dtype.kind in "iuf":
        given = np.where(hidden, 0, given)
    values = whole_numbers(given, "published counts")
    if values.shape != counts.shape:
        raise SpecError(
            f"The true counts have the shape {counts.shape} and the published ones {values.shape}."
            " Compare two arrays of one shape."
        )
    absent = _absent(cells, counts.size)
    if hidden is None:
        return Pair(counts.reshape(-1), values.reshape(-1), absent)
    return Pair(counts[~hidden], values[~hidden], absent, counts[hidden])


def _array(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Lists of different lengths are no array, and end up as what every caller refuses."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.asarray(None)


def _absent(cells: int | None, listed: int) -> int:
    if cells is None:
        return 0
    if type(cells) is not int or cells < listed:
        raise SpecError("There cannot be fewer cells than those that are listed.")
    return cells - listed


# ---------------------------------------------------------------------------------------------
# From cubes and tables


def check_match(cube: object, table: object) -> None:
    """Refuse a cube and a table that do not show the same cells in the same order."""
    if not isinstance(cube, AnyCube):
        raise SpecError("What is compared is a cube of true counts with a table, in this order.")
    if not isinstance(table, AnyTable):
        raise SpecError("What is compared is a cube with a published table: protected.table.")
    mine, theirs = cube.spec, table.spec
    if mine is theirs:
        return
    if mine != theirs:
        raise SpecError(
            f"The true counts are of {mine.title!r} and the published ones of {theirs.title!r}:"
            " two tables that do not show the same cells. Tabulate what was published."
        )
    if _order(mine) != _order(theirs):
        raise SpecError(
            f"{mine.title}: true and published counts have the same cells in another order of axes"
            f" or codes ({theirs.title!r}). Tabulate with the axes in the order of the published"
            " table."
        )


def _order(spec: TableSpec) -> list[object]:
    """What the positions of a table stand for; names of levels do not matter."""
    return [
        (
            axis.variable.name,
            [code.code for code in axis.codes],
            [(block.start, block.size, block.group.tolist()) for block in axis.blocks],
        )
        for axis in spec.axes
    ]


def only_counts(spec: TableSpec) -> None:
    """Refuse a weighted table."""
    if spec.measure is not Measure.COUNT:
        raise SpecError(
            f"{spec.title}: this is a measure of counts, and the table is weighted or shows sums."
            " Measure the table of counts on the same axes."
        )


def check_published(published: npt.NDArray[Any], spec: TableSpec) -> None:
    """Refuse published values that are no counts; sums of amounts may be below 0."""
    if spec.amount is None and published.size and published.min() < 0:
        raise SpecError(
            f"{spec.title}: some published values are below 0, which no count is. Measure the"
            " table before values below 0 are made, or publish them as 0."
        )


def counts_of(
    cube: AnyCube, part: TablePart | str = TablePart.ALL, *, counts_only: bool = False
) -> Counts:
    """The true values of a part of a table; of a weighted table the weighted ones, rounded.

    Args:
        cube: True counts.
        part: Which cells.
        counts_only: Whether weighted tables are refused.
    """
    if counts_only:
        only_counts(cube.spec)
    where = region(cube.spec, part)
    if isinstance(cube, Cube):
        return Counts(where.take(true_values(cube)))
    _, true = _held(cube, where)
    return Counts(true, where.cells - true.size)


def pair_of(
    cube: AnyCube,
    table: AnyTable,
    part: TablePart | str = TablePart.ALL,
    *,
    counts_only: bool = False,
    numbers: bool = False,
) -> Pair:
    """Compare the cells of a cube with what is published for them.

    Args:
        cube: True counts.
        table: A published table of the same cells in the same order.
        part: Which cells.
        counts_only: Whether weighted tables are refused.
        numbers: Whether the numbers of the cells are needed.
    """
    check_match(cube, table)
    if counts_only:
        only_counts(cube.spec)
    return pair_in(cube, table, region(cube.spec, part), numbers=numbers)


def pair_in(cube: AnyCube, table: AnyTable, where: Region, *, numbers: bool = False) -> Pair:
    """Compare the cells of a region; the cube and the table match."""
    if isinstance(cube, SparseCube) and isinstance(table, SparseTable):
        return _sparse_pair(cube, table, where)
    true = where.take(true_values(cube))
    published = where.take(published_values(table))
    check_published(published, cube.spec)
    cell_numbers = where.numbers(cube.spec.shape) if numbers else None
    hidden = hidden_cells(table)
    if hidden is None:
        return Pair(true, published, numbers=cell_numbers)
    gone = where.take(hidden)
    kept = None if cell_numbers is None else cell_numbers[~gone]
    return Pair(true[~gone], published[~gone], hidden=true[gone], numbers=kept)


def true_values(cube: AnyCube) -> Int64:
    """The true counts of every cell; of a weighted table the weighted ones, rounded."""
    if isinstance(cube, Cube):
        return _true(cube.values, cube.spec)
    numbers, values = _held(cube, region(cube.spec))
    dense = np.zeros(cube.spec.cells, dtype=np.int64)
    dense[numbers.astype(np.int64)] = values
    return dense.reshape(cube.spec.shape)


def published_values(table: AnyTable) -> Int64:
    """The published values of every cell."""
    return table.whole().published


def hidden_cells(table: AnyTable) -> Mask | None:
    """Which cells are withheld; ``None`` where every cell has a number."""
    if isinstance(table, SparseTable):
        if table.small is None:
            return None
        table = table.whole()
    return None if table.flags is None else table.flags != Mark.NONE


def _true(values: Accumulators, spec: TableSpec) -> Int64:
    if spec.amount is not None:
        return values.sum_of(spec.amount.name)
    if spec.measure is not Measure.WEIGHTED:
        return values.count
    if values.weight is None:
        raise SpecError(
            f"{spec.title}: the table is weighted, and the cube holds no weights. Tabulate it with"
            " its weights."
        )
    return weighted_counts(values.count, values.count, values.weight, decimals=spec.weight_decimals)


def _held(cube: SparseCube, where: Region) -> tuple[Numbers, Int64]:
    """The cells with records of a very large cube that lie in a region, by ascending number."""
    spec = cube.spec
    finest = all(axis.base_is_shown for axis in spec.axes) and where == Region(
        tuple((0, size) for size in spec.base_shape)
    )
    cell_numbers: list[Numbers] = []
    values: list[Int64] = []
    # The finest block comes first; each of the others has to be added up.
    for block in itertools.islice(cube.blocks(), 1 if finest else None):
        numbers = block.numbers
        inside = where.holds(numbers, spec.shape)
        cell_numbers.append(numbers[inside])
        values.append(_true(block.values, spec)[inside])
    joined = np.concatenate(cell_numbers)
    order = np.argsort(joined)
    return joined[order], np.concatenate(values)[order]


def _sparse_pair(cube: SparseCube, table: SparseTable, where: Region) -> Pair:
    """Compare the cells that either of the two holds; all others are 0 in both."""
    numbers, values = _held(cube, where)
    shown = table.numbers[where.holds(table.numbers, table.spec.shape)]
    union = np.union1d(numbers, shown)
    true = np.zeros(union.size, dtype=np.int64)
    true[np.searchsorted(union, numbers)] = values
    published = table.at(union)
    check_published(published, cube.spec)
    gone = table.flags_at(union) != Mark.NONE
    absent = where.cells - union.size
    return Pair(true[~gone], published[~gone], absent, true[gone], union[~gone])
