"""Large tables down the hierarchy: totals first, then block by block what they are made of.

The axis with the most codes is gone down. First the table of its total is rounded; then, for every
code, the table of the codes directly below it, which together are what is already known. The blocks
of one level have nothing in common and are searched at the same time. A cell that no block could
bring where it may be is left for a search in the whole table.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence as Several
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.methods.controlled_rounding.draws import Sequence
from sdcensus.methods.controlled_rounding.grid import Grid, GridAxis, GridTable
from sdcensus.methods.controlled_rounding.problem import RoundingProblem
from sdcensus.methods.controlled_rounding.search import Search, Spend
from sdcensus.methods.controlled_rounding.start import (
    BaseCells,
    rounded_base,
    share_out,
    steps_of,
)

Int64 = npt.NDArray[np.int64]

#: Tables with fewer cells are searched whole.
LARGE = 40_000

#: Told how much of the work is done, from 0 to 1.
Told = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A table of the codes directly below one code of an axis.

    Attributes:
        number: The number of the block, by which it draws.
        axes, table: The table; the code above is the last one of the axis.
        down: The axis that is gone down; it comes first.
    """

    number: int
    axes: tuple[GridAxis, ...]
    table: GridTable


class Descent:
    """A descent through one table.

    Attributes:
        steps: The steps of all cells of the problem, as far as they are known.
    """

    __slots__ = ("_average", "_problem", "_spend", "_sweeps", "_told", "steps")

    def __init__(
        self,
        problem: RoundingProblem,
        average: Int64,
        sweeps: int,
        spend: Spend,
        told: Told,
    ) -> None:
        """Begin a descent.

        Args:
            problem: What cells may become.
            average: Fractions towards which searches are pulled.
            sweeps: How many sweeps are made in each block.
            spend: Told how much was done; from several threads.
            told: Told how far it is.
        """
        self._problem = problem
        self._average = average
        self._sweeps = sweeps
        self._spend = spend
        self._told = told
        self.steps = np.zeros(problem.size, dtype=np.int64)

    def run(self, axes: Several[GridAxis], table: GridTable) -> None:
        """Round a whole table."""
        down = _longest(axes)
        if table.cells.size <= LARGE or down is None:
            grid = Grid.of(axes, [table], [self._walls(table.cells)])
            self._search(grid, rounded_base(self._problem, grid, self._average), 1)
            return
        chain = axes[down].levels[::-1]
        self.run(*_cut(axes, table, down, [(len(chain) - 1, 0)]))
        for coarse in range(len(chain) - 1, 0, -1):
            blocks = list(_blocks(axes, table, down, coarse))
            with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as threads:
                for done, _ in enumerate(threads.map(self._round_block, blocks), start=1):
                    self._told(done / len(blocks))

    def _walls(self, cells: Int64) -> npt.NDArray[np.bool_]:
        return self._problem.walls[np.where(cells >= 0, cells, 0)]

    def _search(self, grid: Grid, steps: Int64, first: int) -> None:
        if grid.numbers.size:
            search = Search(self._problem, grid, self._average, steps, Sequence(first), self._spend)
            if self._spend(0):  # where the clock has ended it, blocks stay as they begin
                search.cool(self._sweeps, _no_look)
            self.steps[grid.numbers] = search.steps

    def _round_block(self, block: Block) -> None:
        table = block.table
        fixed = self._walls(table.cells)
        fixed[-1] = True  # what is known already
        grid = Grid.of(block.axes, [table], [fixed])
        base = BaseCells(self._problem, block.axes, table, self._average)
        steps = base.nearest
        share_out(self._known(block) - (base.below + steps).sum(axis=0), base, steps)
        self._search(grid, steps_of(self._problem, grid, base.below + steps), block.number)

    def _known(self, block: Block) -> Int64:
        """What the code above the block is known to be, at the base groups of other axes."""
        index = [
            places[: axis.size]
            for axis, places in zip(block.axes[1:], block.table.places[1:], strict=True)
        ]
        cells = block.table.cells[-1][np.ix_(*index)]
        number = np.where(cells >= 0, cells, 0)
        return np.where(cells >= 0, self._problem.below[number] + self.steps[number], 0)


def _no_look() -> None:
    """Nobody wants to see what a search has found on its way."""


def _longest(axes: Several[GridAxis]) -> int | None:
    """The axis with the most codes of those whose levels nest in each other; none if too short."""
    nested = [
        at
        for at, axis in enumerate(axes)
        if axis.size > 1
        and all(_nests(fine, coarse) for fine, coarse in itertools.pairwise(axis.levels))
    ]
    return max(nested, key=lambda at: axes[at].codes, default=None)


def _nests(fine: Int64, coarse: Int64) -> bool:
    above = np.zeros(int(fine.max(initial=-1)) + 1, dtype=np.int64)
    above[fine] = coarse
    return bool((above[fine] == coarse).all())


def _cut(
    axes: Several[GridAxis], table: GridTable, down: int, codes: Several[tuple[int, int]]
) -> tuple[tuple[GridAxis, ...], GridTable]:
    """The table of some codes of an axis, by level and number: all below the last, or it alone."""
    starts = axes[down].starts
    places = [table.places[down][starts[level] + code] for level, code in codes]
    cells = np.take(np.moveaxis(table.cells, down, 0), places, axis=0)
    size = max(len(codes) - 1, 1)
    own = np.arange(len(codes), dtype=np.int64)
    levels = (np.arange(size), np.zeros(size, dtype=np.int64)) if len(codes) > 1 else (own,)
    others = [at for at in range(len(axes)) if at != down]
    return (
        (GridAxis(size, levels), *(axes[at] for at in others)),
        GridTable((own, *(table.places[at] for at in others)), np.ascontiguousarray(cells)),
    )


def _blocks(axes: Several[GridAxis], table: GridTable, down: int, coarse: int) -> Iterator[Block]:
    """A block for each code of a level."""
    above, below = axes[down].levels[coarse], axes[down].levels[coarse - 1]
    for code in range(int(above.max(initial=-1)) + 1):
        children = np.unique(below[above == code]).tolist()
        codes = [*((coarse - 1, child) for child in children), (coarse, code)]
        yield Block(2 + code, *_cut(axes, table, down, codes))
