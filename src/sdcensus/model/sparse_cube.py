"""A cube of a grid too large to hold: the cells with records, and margins one block at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.sparse import Runs
from sdcensus.kernels.tabulate import SCATTER, identity
from sdcensus.model.accumulators import Accumulators
from sdcensus.model.axis import Axis, Block, parse_axis
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cell, Cube, Origin, block_behind, finish, variable_lookup
from sdcensus.model.layout import Layout, mixed_radix
from sdcensus.model.table_spec import TableSpec

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Grids up to this size are held whole; larger ones as the cells that have records.
LARGEST_DENSE_GRID = 50_000_000
#: Cell numbers must fit 63 bits.
LARGEST_GRID = 1 << 63


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseBlock(Confidential):
    """The non-empty cells of a table at one level of each axis.

    Attributes:
        levels: The level of each axis in this block (``_T`` for the total).
        positions: For each cell, its position on each axis of the table.
        values: The accumulators of the cells.
    """

    spec: TableSpec
    levels: tuple[str, ...]
    positions: Int64
    values: Accumulators

    def __repr__(self) -> str:
        return f"<SparseBlock {'×'.join(self.levels)}: confidential>"

    def cells(self, *, language: str | None = None) -> Iterator[Cell]:
        """The non-empty cells with their codes and labels."""
        axes = self.spec.axes
        count, key = self.values.count.tolist(), self.values.key.tolist()
        for row, at in enumerate(self.positions.tolist()):
            codes = [axis.codes[one] for axis, one in zip(axes, at, strict=True)]
            yield Cell(
                tuple(code.code for code in codes),
                tuple(code.label.show(language) or code.code for code in codes),
                count[row],
                key[row],
            )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseCube(Confidential):
    """True counts and cell keys of the non-empty cells of a very large table.

    Only the finest cells are held. ``blocks`` goes through the table as its reader sees it,
    level by level, and makes each margin when its turn comes.

    Attributes:
        numbers: The cells in mixed radix over the base groups of the axes, ascending.
        values: The accumulators of those cells.
    """

    spec: TableSpec
    origin: Origin
    numbers: npt.NDArray[np.uint64]
    values: Accumulators

    def __post_init__(self) -> None:
        self.numbers.flags.writeable = False

    def __repr__(self) -> str:
        return f"<SparseCube {'×'.join(map(str, self.spec.shape))}: confidential>"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each axis has."""
        return self.spec.shape

    def blocks(self) -> Iterator[SparseBlock]:
        """The table, one level of each axis at a time: the finest first, the grand total last."""
        for blocks in itertools.product(*(axis.blocks for axis in self.spec.axes)):
            yield self._block(blocks)

    def cells(self, *, language: str | None = None) -> Iterator[Cell]:
        """Every non-empty cell of every block, with codes and labels."""
        for block in self.blocks():
            yield from block.cells(language=language)

    def _block(self, blocks: Sequence[Block]) -> SparseBlock:
        groups = [block.group for block in blocks]
        shape = [block.size for block in blocks]
        numbers, values = self._regroup(groups, shape)
        positions = np.empty((numbers.size, len(blocks)), dtype=np.int64)
        for at, (block, weight) in enumerate(zip(blocks, mixed_radix(shape), strict=True)):
            digit = numbers // np.uint64(weight) % np.uint64(block.size)
            positions[:, at] = digit.astype(np.int64) + block.start
        return SparseBlock(self.spec, tuple(block.level for block in blocks), positions, values)

    def _regroup(
        self, groups: Sequence[Int64], shape: Sequence[int]
    ) -> tuple[npt.NDArray[np.uint64], Accumulators]:
        """Combine the cells into groups of base groups."""
        target = np.zeros(self.numbers.size, dtype=np.uint64)
        mine = zip(self.spec.base_shape, mixed_radix(self.spec.base_shape), strict=True)
        theirs = zip(groups, mixed_radix(shape), strict=True)
        for (size, weight), (group, target_weight) in zip(mine, theirs, strict=True):
            digit = self.numbers // np.uint64(weight) % np.uint64(size)
            target += group[digit.astype(np.int64)].astype(np.uint64) * np.uint64(target_weight)
        runs = Runs(target, largest=int(np.prod(shape, dtype=object)) - 1)
        space = self.origin.key_space
        sums = {
            name: runs.combine(array, combine, empty=identity(combine, array.dtype))
            for name, array, combine in self.values.parts(space)
        }
        return runs.cells, Accumulators.from_sums(sums, space)

    def rollup(self, *by: str) -> Cube | SparseCube:
        """The table on fewer or coarser axes; dense where it fits."""
        axes = tuple(
            parse_axis(text, variable_lookup(self.spec.axes)) for text in by
        )
        spec = self.spec.with_axes(axes)
        wanted = {axis.variable.name: axis for axis in axes}
        if len(wanted) != len(axes):
            raise SpecError("A variable can be only one axis of a table.")
        order = [self.spec.position(axis.variable.name) for axis in axes]
        groups: list[Int64] = []
        for mine in self.spec.axes:
            target = wanted.get(mine.variable.name)
            groups.append(_groups_of_base(mine, target))
        shape = [1] * len(self.spec.axes)
        for axis, at in zip(axes, order, strict=True):
            shape[at] = axis.base_size
        # Reorder the digits so that the numbers are those of the new table.
        reordered = SparseCube(self.spec, self.origin, self.numbers, self.values)
        numbers, values = reordered._regroup(groups, shape)
        digits = [
            numbers // np.uint64(weight) % np.uint64(size)
            for weight, size in zip(mixed_radix(shape), shape, strict=True)
        ]
        target_numbers = np.zeros(numbers.size, dtype=np.uint64)
        for at, weight in zip(order, mixed_radix(spec.base_shape), strict=True):
            target_numbers += digits[at] * np.uint64(weight)
        return assemble(spec, self.origin, target_numbers, dict(values.items()))


def _groups_of_base(mine: Axis, target: Axis | None) -> Int64:
    """For each base group of ``mine``, the base group of ``target`` that holds it."""
    if target is None:
        return np.zeros(mine.base_size, dtype=np.int64)
    block, group = block_behind(mine, target)
    return group[block.group]


def assemble(
    spec: TableSpec,
    origin: Origin,
    numbers: npt.NDArray[np.uint64],
    sums: Mapping[str, Integers],
    *,
    largest_dense: int = LARGEST_DENSE_GRID,
) -> Cube | SparseCube:
    """Make a cube from cells given by number, in any order; what stands for one cell is combined.

    Args:
        spec: The table.
        origin: Where the numbers come from.
        numbers: Cells in mixed radix over the base groups of the axes.
        sums: The accumulators of those cells.
    """
    check_size(spec)
    if max(spec.cells, Layout(spec).size) > largest_dense:
        runs = Runs(numbers, largest=spec.base_cells - 1)
        ordered: dict[str, Integers] = {}
        for name, array in sums.items():
            combine = Accumulators.combine_of(name, origin.key_space)
            ordered[name] = runs.combine(array, combine, empty=identity(combine, array.dtype))
        return SparseCube(
            spec, origin, runs.cells, Accumulators.from_sums(ordered, origin.key_space)
        )
    base: dict[str, Integers] = {}
    for name, array in sums.items():
        combine = Accumulators.combine_of(name, origin.key_space)
        wide = array.astype(np.uint64) if array.dtype == np.uint32 and name == "key" else array
        cells = np.full(spec.base_cells, identity(combine, wide.dtype), dtype=wide.dtype)
        SCATTER[combine](numbers, wide, cells)
        base[name] = cells.reshape(spec.base_shape)
    return finish(spec, origin, base)


def check_size(spec: TableSpec) -> None:
    """Refuse a grid whose cells cannot be numbered."""
    if spec.base_cells >= LARGEST_GRID:
        raise SpecError(
            f"{spec.title}: the table has more than 2**63 cells. Take fewer or coarser axes."
        )
