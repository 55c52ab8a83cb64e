"""A cube of a grid too large to hold: the cells with records, and margins one block at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.ranked import merge_lists
from sdcensus.kernels.cells.sparse import Runs
from sdcensus.kernels.cells.tabulate import SCATTER, Combine, identity
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import (
    Accumulators,
    Cell,
    Cube,
    Origin,
    block_behind,
    fields_of,
    finish,
    refuse_owned,
    rolled_axes,
    selection,
    sum_type,
)
from sdcensus.model.cube.layout import Layout, mixed_radix, positions_on
from sdcensus.model.spec.axis import Axis, Block
from sdcensus.model.spec.table_spec import TableSpec, too_large

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Grids up to this size are held whole; larger ones as the cells that have records.
LARGEST_DENSE_GRID = 50_000_000
#: Cell numbers must fit 63 bits.
LARGEST_GRID = 1 << 63
#: Numbers of cells of a whole table, margins included, use 64.
LARGEST_NUMBERED = 1 << 64


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

    @property
    def numbers(self) -> npt.NDArray[np.uint64]:
        """The numbers of the cells in the table, the last axis running fastest.

        Refuses a table with more cells than there are numbers: margins come on top of the grid.
        """
        if self.spec.cells > LARGEST_NUMBERED:
            raise SpecError(
                f"{self.spec.title}: the table has too many cells to number them. Take fewer or"
                " coarser axes."
            )
        weights = np.array(mixed_radix(self.spec.shape), dtype=np.uint64)
        return np.asarray(self.positions.astype(np.uint64) @ weights)

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

    @property
    def dense(self) -> None:
        """Nothing: not every cell is held."""
        return

    def held_for(self, purpose: str) -> NoReturn:
        """Refuse what needs every cell."""
        raise SpecError(too_large(self.spec, purpose))

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
        for at, block in enumerate(blocks):
            positions[:, at] = positions_on(shape, at, numbers) + block.start
        return SparseBlock(self.spec, tuple(block.level for block in blocks), positions, values)

    def _regroup(
        self, groups: Sequence[Int64], shape: Sequence[int]
    ) -> tuple[npt.NDArray[np.uint64], Accumulators]:
        """Combine the cells into groups of base groups."""
        target = np.zeros(self.numbers.size, dtype=np.uint64)
        for at, (group, weight) in enumerate(zip(groups, mixed_radix(shape), strict=True)):
            target += group[self._digit(at)].astype(np.uint64) * np.uint64(weight)
        runs = Runs(target, largest=int(np.prod(shape, dtype=object)) - 1)
        space = self.origin.key_space
        sums = {
            name: runs.combine(
                array, combine, empty=identity(combine, array.dtype), fields=fields_of(name)
            )
            for name, array, combine in self.values.parts(space)
        }
        return runs.cells, Accumulators.from_sums(sums, space)

    def rollup(self, *by: str) -> AnyCube:
        """The table on fewer or coarser axes; dense where it fits."""
        refuse_owned(self.spec, self.values)
        axes = rolled_axes(self.spec, by)
        groups = [_groups_of_base(self.spec.axis(axis.variable.name), axis) for axis in axes]
        order = [self.spec.position(axis.variable.name) for axis in axes]
        return self._moved(self.spec.with_axes(axes), order, groups, np.s_[:])

    def select(self, **codes: str) -> AnyCube:
        """The part of the table with these codes, as ``Cube.select``; dense where it fits."""
        spec, chosen = selection(self.spec, codes)
        inside = np.ones(self.numbers.size, dtype=bool)
        for at, position in chosen.items():
            axis = self.spec.axes[at]
            block = next(block for block in reversed(axis.blocks) if block.start <= position)
            inside &= block.group[self._digit(at)] == position - block.start
        order = [at for at in range(len(self.spec.axes)) if at not in chosen]
        groups = [np.arange(self.spec.axes[at].base_size) for at in order]
        return self._moved(spec, order, groups, inside)

    def _digit(self, at: int) -> Int64:
        """The base group of an axis in which each cell lies."""
        return positions_on(self.spec.base_shape, at, self.numbers)

    def _moved(
        self, spec: TableSpec, order: Sequence[int], groups: Sequence[Int64], cells: Any
    ) -> AnyCube:
        """Some cells as those of another table, whose axes are groups of axes of this one."""
        numbers = np.zeros(self.numbers[cells].size, dtype=np.uint64)
        weights = mixed_radix(spec.base_shape)
        for at, group, weight in zip(order, groups, weights, strict=True):
            numbers += group[self._digit(at)[cells]].astype(np.uint64) * np.uint64(weight)
        parts = self.values.parts(self.origin.key_space)
        return assemble(spec, self.origin, numbers, {name: one[cells] for name, one, _ in parts})


#: A cube of either kind. Whoever needs every cell asks for ``dense``, or for ``held_for`` with what
#: they need it for.
AnyCube = Cube | SparseCube


def _groups_of_base(mine: Axis, target: Axis) -> Int64:
    """For each base group of ``mine``, the base group of ``target`` that holds it."""
    for block in target.blocks:
        block_behind(mine, block)  # refuses what is finer than the table shows
    group = np.zeros(mine.base_size, dtype=np.int64)
    group[mine.base] = target.base
    return group


def assemble(
    spec: TableSpec,
    origin: Origin,
    numbers: npt.NDArray[np.uint64],
    sums: Mapping[str, Integers],
    *,
    largest_dense: int = LARGEST_DENSE_GRID,
) -> AnyCube:
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
            empty = identity(combine, array.dtype)
            ordered[name] = runs.combine(array, combine, empty=empty, fields=fields_of(name))
        return SparseCube(
            spec, origin, runs.cells, Accumulators.from_sums(ordered, origin.key_space)
        )
    base: dict[str, Integers] = {}
    for name, array in sums.items():
        combine = Accumulators.combine_of(name, origin.key_space)
        wide = array.astype(sum_type(name), copy=False)
        entry = wide.shape[1:]
        empty = identity(combine, wide.dtype)
        cells = np.full((spec.base_cells, *entry), empty, dtype=wide.dtype)
        if combine is Combine.LARGEST:
            merge_lists(numbers, np.ascontiguousarray(wide), cells, fields_of(name))
        else:
            SCATTER[combine](numbers, wide, cells)
        base[name] = cells.reshape((*spec.base_shape, *entry))
    return finish(spec, origin, base)


def check_size(spec: TableSpec) -> None:
    """Refuse a grid whose cells cannot be numbered."""
    if spec.base_cells >= LARGEST_GRID:
        raise SpecError(
            f"{spec.title}: the table has more than 2**63 cells. Take fewer or coarser axes."
        )
