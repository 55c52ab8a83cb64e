"""What has to be done: which cells have to be protected, with cells that change together as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.intervals import Requirements
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.methods.suppression.search.reasons import Names, cannot_be_closed, told_to_a_person
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.solvers.audit.system import FREE

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Task(Confidential):
    """Units (cells that always change together are one), and what is asked of them.

    Attributes:
        unit: For each cell its unit; -1 for cells that can never change.
        matrix: What adds up to 0 for any change: sums by units, a sparse matrix of scipy.
        columns: The same matrix by its columns.
        below, above: How far each unit can go down and up; ``FREE`` for no bound.
        given: Units that are closed from the beginning.
        cost: What closing a unit costs; 0 for those that are closed.
        paid: What is closed from the beginning besides what has to be: cells that always change
            with one that has to be.
        lower, upper, width: How well it has to be protected.
        lower_inside: The same as ``lower`` for those who are alone in another unit: a cell of
            several persons may hold them, and they know of themselves.
        alone: Who is alone in it; -1 for nobody.
        inside: Units with persons who are alone in a cell of which the unit is an empty part:
            nothing can hide it from them.
        names: Names of cells, for messages.
    """

    unit: Int64
    matrix: Any
    columns: Any
    below: Int64
    above: Int64
    given: Mask
    cost: Int64
    paid: int
    lower: Int64
    upper: Int64
    width: Int64
    lower_inside: Int64
    alone: Int64
    inside: frozenset[tuple[int, int]]
    names: Names

    def __repr__(self) -> str:
        return f"<Task of {self.size} units: confidential>"

    @property
    def size(self) -> int:
        """How many units there are."""
        return int(self.given.size)

    @property
    def targets(self) -> Int64:
        """The units that have to be protected."""
        return np.flatnonzero((self.lower > 0) | (self.upper > 0) | (self.width > 0))

    @classmethod
    def of(cls, problem: SuppressionProblem, asked: Requirements, names: Names) -> Task:
        """Put cells together that always change by the same amount.

        Raises:
            SpecError: A cell that has to be protected can never change: it must stay open, or
                cells that must stay open give it away, each on its own.
        """
        unit = _units(problem.equations, problem.forced)
        wanted = np.flatnonzero(asked.asked & (unit < 0))
        if wanted.size:
            raise cannot_be_closed(problem, wanted, names)
        size = int(unit.max(initial=-1)) + 1
        inside = np.flatnonzero(unit >= 0)
        of_cell = unit[inside]
        closed = problem.primary | problem.frozen | ~problem.shown
        room = np.where(asked.most >= FREE, FREE, asked.most - problem.values)
        given = np.zeros(size, dtype=bool)
        # A unit is given when each of its cells is: closing the others costs what they cost.
        given[of_cell] = True
        given[of_cell[~closed[inside]]] = False
        must = np.zeros(size, dtype=bool)
        must[of_cell[(problem.primary | problem.frozen)[inside]]] = True
        cost = np.zeros(size, dtype=np.int64)
        np.add.at(cost, of_cell, np.where(closed, 0, problem.cost)[inside])
        given |= must
        alone = _alone(asked.alone[inside], of_cell, size)
        _check_persons(asked, unit, names)
        # A cell with several persons may hold the one who is alone elsewhere.
        low = asked.lower
        if problem.reach is None:
            low = np.where(problem.counts > 1, np.minimum(low, problem.counts - 1), low)
        matrix = _matrix(problem.equations, unit, size)
        return cls(
            unit=unit,
            matrix=matrix,
            columns=matrix.tocsc(),
            below=_least((problem.values - asked.least)[inside], of_cell, size),
            above=_least(room[inside], of_cell, size),
            given=given,
            cost=np.where(given, 0, cost),
            paid=int(cost[given].sum()),
            lower=_most(asked.lower[inside], of_cell, size),
            upper=_most(asked.upper[inside], of_cell, size),
            width=_most(asked.width[inside], of_cell, size),
            lower_inside=_most(low[inside], of_cell, size),
            alone=alone,
            inside=_inside(problem, asked, unit, alone),
            names=names,
        )

    def lowered(self, unit: int, lower: int, *, inside_only: bool = False) -> Task:
        """The same with less asked downwards for one unit.

        Args:
            unit: The unit.
            lower: How far down is asked.
            inside_only: Less is asked only for those who are alone in another unit.
        """
        below, inside = self.lower.copy(), self.lower_inside.copy()
        if not inside_only:
            below[unit] = lower
        inside[unit] = min(int(inside[unit]), lower)
        return replace(self, lower=below, lower_inside=inside)

    def lower_of_cells(self) -> Int64:
        """How far down is asked for each cell; 0 for those that never change."""
        # A cell without a unit looks up the 0 behind the last one.
        return np.append(self.lower, 0)[self.unit]

    def cells_closed(self, closed: Mask, problem: SuppressionProblem) -> Mask:
        """Which cells are closed when some units are."""
        cells = np.zeros(self.unit.size, dtype=bool)
        inside = self.unit >= 0
        cells[inside] = closed[self.unit[inside]]
        return np.asarray(cells | problem.primary | problem.frozen | ~problem.shown)


def _least(values: Int64, place: Int64, size: int) -> Int64:
    least = np.full(size, FREE, dtype=np.int64)
    np.minimum.at(least, place, values)
    return least


def _most(values: Int64, place: Int64, size: int) -> Int64:
    most = np.zeros(size, dtype=np.int64)
    np.maximum.at(most, place, values)
    return most


def _alone(persons: Int64, unit: Int64, size: int) -> Int64:
    """Who is alone in each unit. Two persons who are alone in cells of one unit count as one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    inside = persons >= 0
    of_unit, person = unit[inside], persons[inside]
    nodes = size + int(person.max(initial=-1)) + 1
    ones = np.ones(person.size, dtype=np.int8)
    ties = coo_array((ones, (of_unit, size + person)), shape=(nodes, nodes))
    _, label = connected_components(ties, directed=False)
    alone = np.full(size, -1, dtype=np.int64)
    alone[of_unit] = label[of_unit]
    return alone


def _check_persons(asked: Requirements, unit: Int64, names: Names) -> None:
    """Refuse what nothing can hide: two persons alone in cells that always change together."""
    cells = np.flatnonzero((asked.alone >= 0) & (unit >= 0) & asked.asked)
    order = cells[np.lexsort((asked.alone[cells], unit[cells]))]
    same = (unit[order[1:]] == unit[order[:-1]]) & (
        asked.alone[order[1:]] != asked.alone[order[:-1]]
    )
    if same.any():
        at = int(np.flatnonzero(same)[0])
        raise told_to_a_person(int(order[at + 1]), int(order[at]), names)


def _inside(
    problem: SuppressionProblem, asked: Requirements, unit: Int64, alone: Int64
) -> frozenset[tuple[int, int]]:
    """Units of empty targets, with the persons who know that they are empty: of themselves.

    Whoever is alone in a cell knows that its other parts are empty, and so what consists of such
    parts alone.
    """
    empty = problem.counts == 0
    targets = np.flatnonzero(asked.asked & empty & (unit >= 0))
    pairs: set[tuple[int, int]] = set()
    if not targets.size:
        return frozenset()
    matrix = problem.equations
    total = np.full(matrix.shape[0], -1, dtype=np.int64)
    negative = matrix.values < 0
    total[matrix.rows[negative]] = matrix.columns[negative]
    parts = (matrix.values > 0) & (total[matrix.rows] >= 0)
    row, part = matrix.rows[parts], matrix.columns[parts]
    whole, below = total[row], empty[part]
    size = np.bincount(row, minlength=matrix.shape[0])
    of_cell = np.where(unit >= 0, alone[unit], -1)
    for person in np.unique(of_cell[asked.alone >= 0]).tolist():
        if person < 0:
            continue
        known, before = (of_cell == person) & (asked.alone >= 0), -1
        while int(known.sum()) != before:
            before = int(known.sum())
            known[part[below & known[whole]]] = True
            sums = (np.bincount(row, known[part], minlength=size.size) == size) & (size > 0)
            known[total[sums & (total >= 0)]] = True
        pairs.update((int(unit[cell]), person) for cell in targets[known[targets]].tolist())
    return frozenset(pairs)


def _units(equations: SparseMatrix, forced: Mask) -> Int64:
    """The unit of each cell; -1 where it can never change.

    A sum in which one cell can change says that it cannot; one in which two can, one as a part and
    one as the total, says that they change together.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = equations.shape[1]
    label = np.where(forced, -1, np.arange(size, dtype=np.int64))
    rows, columns = equations.rows, equations.columns
    values = equations.values.astype(np.int64)
    while True:
        row, column, value = _reduced(rows, label[columns], values)
        length = np.bincount(row, minlength=equations.shape[0])
        ends = np.cumsum(length)
        never = column[ends[length == 1] - 1]
        pairs = ends[length == 2] - 1
        opposite = value[pairs] + value[pairs - 1] == 0
        first, second = column[pairs[opposite]], column[pairs[opposite] - 1]
        if not never.size and not first.size:
            break
        ties = coo_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(size, size))
        _, together = connected_components(ties, directed=False)
        smallest = np.full(together.max(initial=-1) + 1, size, dtype=np.int64)
        np.minimum.at(smallest, together, np.arange(size))
        moved = smallest[together]
        stuck = np.zeros(size + 1, dtype=bool)
        stuck[moved[never]] = True
        label = np.where(label < 0, -1, moved[label])
        label[stuck[label]] = -1
    kept, unit = np.unique(label, return_inverse=True)
    return (unit - int(kept.size > 0 and kept[0] < 0)).astype(np.int64)


def _reduced(rows: Int64, labels: Int64, values: Int64) -> tuple[Int64, Int64, Int64]:
    """Entries with labels for columns; those of one place added up, nothing that is 0 or open."""
    inside = labels >= 0
    rows, labels, values = rows[inside], labels[inside], values[inside]
    if not rows.size:
        return rows, labels, values
    width = int(labels.max()) + 1
    place = rows * width + labels
    order = np.argsort(place, kind="stable")
    place, values = place[order], values[order]
    first = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
    total = np.add.reduceat(values, first)
    filled = total != 0
    place = place[first][filled]
    return place // width, place % width, total[filled]


def _matrix(equations: SparseMatrix, unit: Int64, size: int) -> Any:
    """The sums by units, in an order that depends on nothing but the units in them."""
    from scipy.sparse import csr_array

    row, column, value = _reduced(
        equations.rows, unit[equations.columns], equations.values.astype(np.int64)
    )
    marks = np.zeros(equations.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):
        word = (column.astype(np.uint64) + np.uint64(1)) * _MIX
        word = (word ^ (word >> np.uint64(29))) * _MIX
        np.add.at(marks, row, word * value.astype(np.uint64))
    used = np.flatnonzero(np.bincount(row, minlength=equations.shape[0]))
    _, first = np.unique(marks[used], return_index=True)
    chosen = used[first]
    place = np.full(equations.shape[0], -1, dtype=np.int64)
    place[chosen] = np.arange(chosen.size)
    inside = place[row] >= 0
    entries = (value[inside], (place[row[inside]], column[inside]))
    matrix = csr_array(entries, shape=(chosen.size, size), dtype=np.int64)
    matrix.sort_indices()
    return matrix
