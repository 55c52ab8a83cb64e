"""True and published values of the same cells, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.weighting import weighted_counts
from sdcensus.model.accumulators import Accumulators
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.layout import mixed_radix
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table import SparseTable, Table
from sdcensus.model.table_spec import Measure, TableSpec
from sdcensus.utility.parts import Int64, Mask, Numbers, Part, Region, region


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair(Confidential):
    """True and published values of cells, one behind the other; withheld cells are left out.

    Attributes:
        true: The true values.
        published: What is published for them.
        absent: How many further cells there are that are 0 in both: those that a very large table
            does not hold.
        withheld: How many cells were left out because no number is published for them.
        numbers: The numbers of the cells in their table, if asked for.
    """

    true: Int64
    published: Int64
    absent: int = 0
    withheld: int = 0
    numbers: Numbers | None = None

    def __repr__(self) -> str:
        return f"<Pair of {self.cells:,} cells: confidential>"

    @property
    def cells(self) -> int:
        """How many cells are compared."""
        return self.true.size + self.absent

    @property
    def deviation(self) -> Int64:
        """Published less true, of the cells that are held."""
        return self.published - self.true


def pair_of_values(
    true: npt.ArrayLike, published: npt.ArrayLike, *, withheld: npt.ArrayLike | None = None
) -> Pair:
    """Compare two arrays of counts of one shape.

    Args:
        true: The true counts.
        published: The published ones.
        withheld: Which cells have no published number, if some have none.
    """
    counts = whole_numbers(true, "true counts")
    values = whole_numbers(published, "published counts")
    if counts.shape != values.shape:
        raise SpecError(
            f"The true counts have the shape {counts.shape} and the published ones {values.shape}."
            " Compare two arrays of one shape."
        )
    if withheld is None:
        return Pair(counts.reshape(-1), values.reshape(-1))
    hidden = np.asarray(withheld, dtype=bool)
    if hidden.shape != counts.shape:
        raise SpecError(
            f"The mask of withheld cells has the shape {hidden.shape}, and the counts"
            f" {counts.shape}. Give one value for each cell."
        )
    return Pair(counts[~hidden], values[~hidden], withheld=int(hidden.sum()))


def whole_numbers(values: npt.ArrayLike, what: str) -> Int64:
    """An array of counts as whole numbers; refuses what is no count."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise SpecError(f"The {what} are whole numbers, 0 or more, in one array.")
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or (array != np.floor(array)).any():
            raise SpecError(
                f"Some of the {what} are fractions or no numbers at all. Counts are whole: give"
                " weighted counts rounded, and mark cells without a number as withheld."
            )
        array = array.astype(np.int64)
    if (array < 0).any():
        raise SpecError(f"Some of the {what} are below 0, which no count is.")
    return array.astype(np.int64, copy=False)


def pair_of(
    cube: Cube | SparseCube,
    table: Table | SparseTable,
    part: Part | str = Part.ALL,
    *,
    numbers: bool = False,
) -> Pair:
    """Compare the cells of a cube with what is published for them.

    Args:
        cube: True counts.
        table: A published table of the same cells in the same order.
        part: Which cells.
        numbers: Whether the numbers of the cells are needed.
    """
    check_match(cube, table)
    return pair_in(cube, table, region(cube.spec, part), numbers=numbers)


def pair_in(
    cube: Cube | SparseCube, table: Table | SparseTable, where: Region, *, numbers: bool = False
) -> Pair:
    """Compare the cells of a region; the cube and the table match."""
    if isinstance(cube, SparseCube) and isinstance(table, SparseTable):
        return _sparse_pair(cube, table, where)
    spec = cube.spec
    true = where.take(true_values(cube))
    published = where.take(published_values(table))
    check_published(published, spec)
    found = where.numbers(spec.shape) if numbers else None
    flags = table.flags if isinstance(table, Table) else None
    if flags is None:
        return Pair(true, published, numbers=found)
    shown = where.take(flags) == 0
    return Pair(
        true[shown],
        published[shown],
        withheld=int(shown.size - shown.sum()),
        numbers=None if found is None else found[shown],
    )


def true_pair(cube: Cube | SparseCube, part: Part | str = Part.ALL) -> Pair:
    """The true counts of a part beside themselves: the table as if it were published exactly."""
    where = region(cube.spec, part)
    if isinstance(cube, Cube):
        true = where.take(true_values(cube))
        return Pair(true, true)
    numbers, values = _held(cube)
    true = values[where.holds(numbers, cube.spec.shape)]
    return Pair(true, true, absent=where.cells - true.size)


def check_match(cube: object, table: object) -> None:
    """Refuse a cube and a table that do not show the same cells in the same order."""
    if not isinstance(cube, Cube | SparseCube):
        raise SpecError("What is compared is a cube of true counts with a table, in this order.")
    if not isinstance(table, Table | SparseTable):
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
            [one.code for one in axis.codes],
            [(block.start, block.size, block.group.tolist()) for block in axis.blocks],
        )
        for axis in spec.axes
    ]


def true_values(cube: Cube | SparseCube) -> Int64:
    """The true counts of every cell; of a weighted table the weighted ones, rounded."""
    if isinstance(cube, Cube):
        return _true(cube.values, cube.spec)
    numbers, values = _held(cube)
    dense = np.zeros(cube.spec.cells, dtype=np.int64)
    dense[numbers.astype(np.int64)] = values
    return dense.reshape(cube.spec.shape)


def published_values(table: Table | SparseTable) -> Int64:
    """The published values of every cell."""
    if isinstance(table, Table):
        return table.published
    dense = np.zeros(table.spec.cells, dtype=np.int64)
    dense[table.numbers.astype(np.int64)] = table.published
    return dense.reshape(table.spec.shape)


def _true(values: Accumulators, spec: TableSpec) -> Int64:
    if spec.measure is not Measure.WEIGHTED:
        return values.count
    if values.weight is None:
        raise SpecError(
            f"{spec.title}: the table is weighted, and the cube holds no weights. Tabulate it with"
            " its weights."
        )
    return weighted_counts(values.count, values.count, values.weight, decimals=spec.weight_decimals)


def _held(cube: SparseCube) -> tuple[Numbers, Int64]:
    """The cells with records of a very large cube, at all levels, by ascending number."""
    weights = np.array(mixed_radix(cube.spec.shape), dtype=np.uint64)
    found: list[Numbers] = []
    values: list[Int64] = []
    for block in cube.blocks():
        found.append(block.positions.astype(np.uint64) @ weights)
        values.append(_true(block.values, cube.spec))
    numbers = np.concatenate(found)
    order = np.argsort(numbers)
    return numbers[order], np.concatenate(values)[order]


def _sparse_pair(cube: SparseCube, table: SparseTable, where: Region) -> Pair:
    """Compare the cells that either of the two holds; all others are 0 in both."""
    numbers, values = _held(cube)
    union = np.union1d(numbers, table.numbers)
    union = union[where.holds(union, cube.spec.shape)]
    true = np.zeros(union.size, dtype=np.int64)
    place = np.searchsorted(union, numbers)
    held = np.flatnonzero(place < union.size)
    held = held[union[place[held]] == numbers[held]]
    true[place[held]] = values[held]
    published = table.at(union)
    check_published(published, cube.spec)
    return Pair(true, published, absent=where.cells - union.size, numbers=union)


def check_published(published: npt.NDArray[Any], spec: TableSpec) -> None:
    """Refuse published values that are no counts."""
    if published.size and published.min() < 0:
        raise SpecError(
            f"{spec.title}: some published values are below 0, which no count is. Measure the"
            " table before values below 0 are made, or publish them as 0."
        )


def hidden_cells(table: Table | SparseTable) -> Mask | None:
    """Which cells are withheld; ``None`` where every cell has a number."""
    flags = table.flags if isinstance(table, Table) else None
    return None if flags is None else flags != 0
