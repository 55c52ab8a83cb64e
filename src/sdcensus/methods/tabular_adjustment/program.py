"""The least change of some tables as a linear program.

The change of a cell is an increase less a decrease. A sensitive cell goes up or down: where that is
decided, one of the two has a lower bound; where it is to be found, a variable of 0 or 1 says it.
Cells that stay as they are have no variables, which leaves little of a sparse table. Everything is
in the order of the hashes of cells: the program of some tables is the same whatever the order of
tables, axes and codes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.methods.tabular_adjustment.requirements import Int64, Mask, Requirements
from sdcensus.methods.tabular_adjustment.senses import TIE_BITS, Draws
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.solvers.program import LinearProgram

Float64 = npt.NDArray[np.float64]
#: Rows, columns and values of some entries of a matrix.
_Entries = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]

#: A change is told apart from others of the same cost up to so many units of it; beyond that, one
#: that is dearer by a small share may be taken.
_MOST_TOLD_APART = 1 << 10
#: About how many cells a unit is counted in that one cell gives to another.
_CELLS_A_UNIT = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdjustmentModel:
    """Programs about the change of some tables.

    Attributes:
        asked: What is asked of it.
        draws: What decides among equally near tables.
        cells: The cells that can change, ascending.
        rows, columns, values: The sums that they are part of; columns are places in ``cells``.
        height: How many sums there are.
        farthest: A cell without a bound above goes up by at most this.
        scale: By how much costs are larger than draws.
    """

    asked: Requirements
    draws: Draws
    cells: Int64
    rows: Int64
    columns: Int64
    values: Int64
    height: int
    farthest: int
    scale: int

    def __repr__(self) -> str:
        return f"<AdjustmentModel of {self.cells.size} cells: confidential>"

    @classmethod
    def of(cls, tables: LinkedTables, asked: Requirements, draws: Draws) -> AdjustmentModel:
        """The model of some tables."""
        cells = np.flatnonzero((asked.least < 0) | (asked.most > 0))
        place = np.full(tables.size, -1, dtype=np.int64)
        place[cells] = np.arange(cells.size)
        sums = tables.equations
        used = place[sums.columns] >= 0
        rows = sums.rows[used]
        columns, values = place[sums.columns[used]], sums.values[used].astype(np.int64)
        numbers, height = _canonical_rows(rows, columns, sums.shape[0])
        rows = numbers[rows]
        order = np.lexsort((columns, rows))
        needed = np.maximum(asked.down, asked.up)[asked.sensitive]
        farthest = max(int(needed.sum()), 1)
        told_apart = min(farthest * _CELLS_A_UNIT, _MOST_TOLD_APART)
        return cls(
            asked,
            draws,
            cells,
            rows[order],
            columns[order],
            values[order],
            height,
            farthest,
            told_apart << TIE_BITS,
        )

    @property
    def free(self) -> Int64:
        """Of the cells that can change, the sensitive ones for which both ways are open."""
        both = self.asked.can_fall & self.asked.can_rise
        return np.flatnonzero(both[self.cells])

    def most(self) -> Int64:
        """How far each of the cells may go up."""
        return np.minimum(self.asked.most[self.cells], self.farthest)

    def with_senses(self, senses: Mask) -> LinearProgram:
        """The least change where every sensitive cell goes up or down as it is told."""
        asked, cells = self.asked, self.cells
        sensitive, rises = asked.sensitive[cells], senses[cells]
        up = np.where(sensitive & rises, asked.up[cells], 0)
        down = np.where(sensitive & ~rises, asked.down[cells], 0)
        most_up = np.where(sensitive & ~rises, 0, self.most())
        most_down = np.where(sensitive & rises, 0, -asked.least[cells])
        return self._program(up, down, np.maximum(most_up, up), most_down)

    def with_free_senses(self) -> LinearProgram:
        """The least change where the ways of cells are to be found."""
        return self._choosing(None, unprotected=False)

    def nearest_senses(self, senses: Mask, *, unprotected: bool) -> LinearProgram:
        """The change with the fewest sensitive cells that do not go as they are told.

        Args:
            senses: How they are told.
            unprotected: Whether cells may stay unprotected, at a still higher price: there is then
                always a solution.
        """
        return self._choosing(senses, unprotected=unprotected)

    def change(self, values: Float64) -> Int64:
        """The change of all cells from the values of a program; whole numbers only."""
        size = self.cells.size
        change = np.zeros(self.asked.counts.size, dtype=np.int64)
        whole = np.round(values[: 2 * size]).astype(np.int64)
        change[self.cells] = whole[:size] - whole[size:]
        return change

    def relaxed_change(self, values: Float64) -> Float64:
        """The same in any numbers."""
        size = self.cells.size
        change = np.zeros(self.asked.counts.size)
        change[self.cells] = values[:size] - values[size : 2 * size]
        return change

    def found_senses(self, values: Float64) -> Mask:
        """Whether each cell goes up in a solution of a program that looks for it."""
        size, free = self.cells.size, self.free
        senses = self.asked.can_rise & ~self.asked.can_fall
        # A way that is half taken is taken as drawn.
        half = self.draws.chance[self.cells[free]] < 1 << 31
        said = values[2 * size : 2 * size + free.size]
        senses[self.cells[free]] = (said > 0.5) | ((said == 0.5) & half)
        return senses

    def unprotected(self, values: Float64) -> Int64:
        """The sensitive cells that a solution of ``nearest_senses`` leaves unprotected."""
        size, free = self.cells.size, self.free.size
        sensitive = self.cells[self.asked.sensitive[self.cells]]
        said = values[2 * size + free : 2 * size + free + sensitive.size]
        return sensitive[said > 0.5]

    def least_cost(self, bound: float, reached: int) -> float:
        """What no change costs less than, from the bound of a program in whose costs draws are.

        Args:
            bound: Of the program, in units of weights.
            reached: What a known change costs.
        """
        # The least change costs what is reached at most, so it has at most so many units of change,
        # each with a draw in the costs of the program.
        drawn = reached * ((1 << TIE_BITS) - 1) / self.scale
        least = max(bound - drawn, bound / (1 + (1 << TIE_BITS) / self.scale))
        return float(min(max(math.ceil(least - 1e-6), 0), reached))

    def _choosing(self, senses: Mask | None, *, unprotected: bool) -> LinearProgram:
        """A program that looks for the ways of cells.

        Behind increases and decreases stand, for each cell with both ways, whether it goes up, and
        for each sensitive cell, if that is allowed, whether it stays unprotected.
        """
        asked, cells, size = self.asked, self.cells, self.cells.size
        sensitive = np.flatnonzero(asked.sensitive[cells])
        free = self.free
        both = np.isin(sensitive, free)
        rises = asked.can_rise[cells[sensitive]] & ~both
        falls = ~both & ~rises
        up, down = asked.up[cells[sensitive]], asked.down[cells[sensitive]]
        high, low = self.most()[sensitive], -asked.least[cells[sensitive]]
        each = np.arange(sensitive.size)
        way = 2 * size + np.cumsum(both) - 1
        left = 2 * size + free.size + each
        # Four rows for each sensitive cell: the increase is at least `up` and at most `high` if
        # it rises, the decrease at least `down` and at most `low` if it falls.
        entries: list[_Entries] = []
        parts = (sensitive, sensitive, size + sensitive, size + sensitive)
        for row, (column, coefficient) in enumerate(zip(parts, (up, high, down, low), strict=True)):
            sign = -1 if row < 2 else 1
            here = self.height + row * sensitive.size + each
            entries.append((here, column, np.ones_like(each)))
            entries.append((here[both], way[both], sign * coefficient[both]))
            if unprotected and row % 2 == 0:
                entries.append((here, left, coefficient))
            elif unprotected:
                entries.append((here, left, np.where(row < 2, -high, -low)))
        rising, falling = rises.astype(np.int64), falls.astype(np.int64)
        one = both.astype(np.int64)
        none = np.full(sensitive.size, np.inf)
        row_lower = (up * rising, -none, down * (falling + one), -none)
        row_upper = (none, high * rising, none, low * (falling + one))
        staying = sensitive.size if unprotected else 0
        nothing = np.zeros(size, dtype=np.int64)
        program = self._program(nothing, nothing, self.most(), -asked.least[cells])
        cost = np.zeros(free.size + staying)
        if senses is not None:
            price = (1 << TIE_BITS) + self.draws.rise[cells]
            cost[: free.size] = np.where(senses[cells], -price, price)[free]
            cost[free.size :] = (price[sensitive] * (2 * free.size + 2))[:staying]
            program = program.with_cost(np.zeros(program.width))
        more = [np.concatenate(column) for column in zip(*entries, strict=True)]
        return LinearProgram(
            cost=np.append(program.cost, cost),
            lower=np.append(program.lower, np.zeros(cost.size)),
            upper=np.append(program.upper, np.ones(cost.size)),
            integer=np.append(program.integer, np.ones(cost.size, dtype=bool)),
            rows=np.append(program.rows, more[0]),
            columns=np.append(program.columns, more[1]),
            values=np.append(program.values, more[2].astype(np.float64)),
            row_lower=np.append(program.row_lower, np.concatenate(row_lower)),
            row_upper=np.append(program.row_upper, np.concatenate(row_upper)),
        )

    def _program(self, up: Int64, down: Int64, most_up: Int64, most_down: Int64) -> LinearProgram:
        cells, draws = self.cells, self.draws
        weight = self.asked.weight[cells] * self.scale
        seen = self.asked.weight[cells] > 0  # nobody sees the others, and nothing is drawn for them
        zero = np.zeros(self.height)
        return LinearProgram(
            cost=np.concatenate(
                [weight + seen * draws.rise[cells], weight + seen * draws.fall[cells]]
            ).astype(np.float64),
            lower=np.concatenate([up, down]).astype(np.float64),
            upper=np.concatenate([most_up, most_down]).astype(np.float64),
            integer=np.ones(2 * cells.size, dtype=bool),
            rows=np.concatenate([self.rows, self.rows]),
            columns=np.concatenate([self.columns, cells.size + self.columns]),
            values=np.concatenate([self.values, -self.values]).astype(np.float64),
            row_lower=zero,
            row_upper=zero,
        )


def _canonical_rows(rows: Int64, columns: Int64, height: int) -> tuple[Int64, int]:
    """New numbers of rows that depend on what stands in them; empty rows have none.

    Returns:
        For each row its new number, and how many there are.
    """
    first = np.full(height, np.iinfo(np.int64).max)
    np.minimum.at(first, rows, columns)
    length = np.bincount(rows, minlength=height)
    # Columns are numbered by hashes: a sum of their mixed numbers tells rows apart.
    mixed = (columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    marks = np.zeros(height, dtype=np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(marks, rows, mixed * np.uint64(0xBF58476D1CE4E5B9))
    order = np.lexsort((marks, length, first))
    order = order[length[order] > 0]
    numbers = np.full(height, -1, dtype=np.int64)
    numbers[order] = np.arange(order.size)
    return numbers, order.size
