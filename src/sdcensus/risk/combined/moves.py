"""How records move between the cells of a table when places or attributes are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.model.confidential import Confidential
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.combined.priors import CountPrior
from sdcensus.store.census_store import CensusStore, all_rows_of

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Counts below this have rates of their own; the last rate is that of all larger ones.
CLASSES = 10
#: The number of a record that is in no cell.
NOWHERE = -1


@dataclass(frozen=True, slots=True, repr=False)
class Moves(Confidential):
    """How records leave the cells of a table, and how others arrive, by the count of the cell.

    Each record of a cell leaves by itself. One that leaves is replaced by a record of the same
    cell with the probability ``alike``: who swaps with a household that looks the same changes no
    count. Others arrive by a Poisson number.

    Attributes:
        leave: For counts 0, 1, 2, ... the probability that a record leaves; the last one is that
            of all larger counts.
        arrive: For the same counts how many others arrive on average; for larger counts in
            proportion to them.
        alike: The probability that a record that leaves is replaced by one of the same cell.
    """

    leave: tuple[float, ...]
    arrive: tuple[float, ...]
    alike: float = 0.0

    def __post_init__(self) -> None:
        if not self.leave or len(self.leave) != len(self.arrive):
            raise SpecError("Moves need a rate of leaving and a mean of arrivals for each count.")
        if not all(0 <= rate <= 1 for rate in (*self.leave, self.alike)):
            raise SpecError("The probability to leave, and to be replaced, is from 0 to 1.")
        if not all(0 <= mean < np.inf for mean in self.arrive):
            raise SpecError("The mean number of arrivals is 0 or more.")

    def __repr__(self) -> str:
        return "<Moves: confidential>"

    @property
    def none(self) -> bool:
        """Whether nobody leaves and nobody arrives: nothing is exchanged at this level."""
        return not any(self.leave) and not any(self.arrive)

    def leaving(self, counts: Int64) -> Float64:
        """The probability to leave for cells of these counts."""
        return np.array(self.leave)[np.minimum(counts, len(self.leave) - 1)]

    def arriving(self, counts: Int64) -> Float64:
        """The mean number of arrivals for cells of these counts."""
        last = len(self.arrive) - 1
        means = np.array(self.arrive)[np.minimum(counts, last)]
        beyond = counts > last
        if last:
            means = np.where(beyond, means * counts / last, means)
        return np.asarray(means)


#: Nothing moves: a table above the level at which places are exchanged.
NO_MOVES = Moves((0.0,), (0.0,))


def moves_by_rate(
    rate: float,
    prior: CountPrior,
    *,
    small_rate: float | None = None,
    below: int = 0,
    alike: float = 0.0,
) -> Moves:
    """What follows from a swap rate, for a table whose level is crossed by the swaps.

    As many records arrive as leave. Those that arrive go to cells in proportion to what is to be
    expected in them (``CountPrior.expected_sizes``).

    Args:
        rate: The probability that a record is counted in another area of the table's level.
        prior: How often each count occurs in the table.
        small_rate: The same for records in cells below ``below``, which targeting is after.
        below: Cells with fewer records are at risk: k of the swap.
        alike: The share of exchanges with a record of the same cell of the table's other axes.
    """
    if below < 0:
        raise SpecError("Cells at risk hold fewer than a number that is 0 or more.")
    targeted = rate if small_rate is None else small_rate
    classes = np.arange(max(CLASSES, below) + 1, dtype=np.int64)
    leave = np.where(classes < below, targeted, rate)
    leave[0] = 0.0
    at = np.minimum(prior.counts, classes[-1])
    leaving = float((leave[at] * prior.counts * prior.cells).sum())
    share = leaving / prior.records if prior.records else 0.0
    sizes = np.interp(classes, prior.counts, prior.expected_sizes())
    arrive = share * (1.0 - alike) * sizes
    return Moves(tuple(leave.tolist()), tuple(arrive.tolist()), alike)


def together(moves: Sequence[Moves]) -> Moves:
    """Several exchanges one after the other: who leaves in any of them is gone.

    Nobody is taken to come back by chance.
    """
    acting = [each for each in moves if not each.none]
    if not acting:
        return NO_MOVES
    if len(acting) == 1:
        return acting[0]
    size = max(len(each.leave) for each in acting)
    counts = np.arange(size, dtype=np.int64)
    staying, arriving = np.ones(size), np.zeros(size)
    for each in acting:
        staying *= 1.0 - each.leaving(counts)
        arriving = arriving * (1.0 - each.leaving(counts)) + each.arriving(counts)
    alike = min(each.alike for each in acting)
    return Moves(tuple((1.0 - staying).tolist()), tuple(arriving.tolist()), alike)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellMoves(Confidential):
    """For each interior cell of a table who was there before, is there after, and was in both.

    Attributes:
        before: Records of the cell in the store that the swap began with.
        after: Records of the cell in the derived store.
        stayed: Records that are in the cell in both.
    """

    before: Int64
    after: Int64
    stayed: Int64

    def __repr__(self) -> str:
        return "<CellMoves: confidential>"

    @property
    def left(self) -> Int64:
        """Records that are gone from each cell."""
        return self.before - self.stayed

    @property
    def arrived(self) -> Int64:
        """Records that have come to each cell."""
        return self.after - self.stayed


def cell_moves(before: CensusStore, after: CensusStore, spec: TableSpec) -> CellMoves:
    """Put the records of two stores of one line into the interior cells of a table.

    Records are the same if their digests of identity are, which derived stores keep.

    Args:
        before: The store before the exchange.
        after: The store that was derived from it.
        spec: The table; its axes are taken at the finest level that they show.
    """
    cells, size = record_cells(before, spec)
    derived, _ = record_cells(after, spec)
    digests, others = before.digests(spec.of), after.digests(spec.of)
    largest = (1 << 64) - 1
    ordered, order = sort_cells(np.asarray(digests), largest=largest)
    sought, order_after = sort_cells(np.asarray(others), largest=largest)
    # Asked in their order: a search that jumps through millions of digests takes many times longer.
    at = np.minimum(np.searchsorted(ordered, sought), max(ordered.size - 1, 0))
    stayed = derived[:0]
    if ordered.size:
        place, was = derived[order_after], cells[order[at]]
        stayed = place[(ordered[at] == sought) & (was == place) & (place != NOWHERE)]

    def counted(numbers: Int64) -> Int64:
        return np.bincount(numbers[numbers != NOWHERE], minlength=size).astype(np.int64)

    return CellMoves(counted(cells), counted(derived), counted(stayed))


#: Tables with more interior cells are refused here: they would be held whole.
_MOST_CELLS = 1 << 27


def record_cells(store: CensusStore, spec: TableSpec) -> tuple[Int64, int]:
    """The interior cell of each record, ``NOWHERE`` for those outside, and the number of cells.

    Cells are numbered over the finest level of each axis, the last axis running fastest.
    """
    size = 1
    rows = store.rows(spec.of)
    numbers = np.zeros(rows, dtype=np.int64)
    outside = np.zeros(rows, dtype=bool)
    for axis in spec.axes:
        variable = store.schema.variable(axis.variable.name)
        block = axis.blocks[0]
        size *= block.size
        if size > _MOST_CELLS:
            raise SpecError(f"{spec.title}: the table has too many cells for this measure.")
        column = store.column(spec.of, variable)[slice(0, rows)]
        group = block.group[axis.base][column]
        outside |= (group < 0) | (group >= block.size)
        numbers = numbers * block.size + group
    if not spec.universe.everything:
        inside = np.zeros(rows, dtype=bool)
        inside[all_rows_of(spec.universe, store, spec.of)] = True
        outside |= ~inside
    numbers[outside] = NOWHERE
    return numbers, size


def measured_moves(before: CensusStore, after: CensusStore, spec: TableSpec) -> Moves:
    """How records really moved between two stores, by count of the cell. For the office.

    The probability of a replacement by the like is how much more arrive where more have left.
    """
    return moves_of_cells(cell_moves(before, after, spec))


def moves_of_cells(cells: CellMoves) -> Moves:
    """The same from cells that are counted already."""
    of_class = np.minimum(cells.before, CLASSES)
    alike = _alike(cells, of_class)
    number = np.bincount(of_class, minlength=CLASSES + 1)
    held = np.bincount(of_class, cells.before, minlength=CLASSES + 1)
    left = np.bincount(of_class, cells.left, minlength=CLASSES + 1)
    arrived = np.bincount(of_class, cells.arrived, minlength=CLASSES + 1)
    others = np.maximum(arrived - alike * left, 0.0)
    # The last mean is that of a cell of CLASSES records: larger ones have it in proportion.
    bases = np.where(np.arange(CLASSES + 1) < CLASSES, number, held / CLASSES)
    leave = np.divide(left, held, out=np.zeros(CLASSES + 1), where=held > 0)
    arrive = np.divide(others, bases, out=np.zeros(CLASSES + 1), where=bases > 0)
    return Moves(tuple(leave.tolist()), tuple(arrive.tolist()), alike)


def _alike(cells: CellMoves, of_class: Int64) -> float:
    """The slope of arrivals over departures, among cells of the same count."""
    number = np.bincount(of_class, minlength=CLASSES + 1).astype(np.float64)
    own = (of_class > 0) & (of_class < CLASSES)
    if not own.any():
        return 0.0
    scale = np.maximum(number, 1.0)
    mean_left = (np.bincount(of_class, cells.left, minlength=CLASSES + 1) / scale)[of_class]
    mean_arrived = (np.bincount(of_class, cells.arrived, minlength=CLASSES + 1) / scale)[of_class]
    left = (cells.left - mean_left)[own]
    spread = float((left * left).sum())
    if not spread > 0:
        return 1.0 if bool((cells.arrived == cells.left).all()) and cells.left.any() else 0.0
    slope = float((left * (cells.arrived - mean_arrived)[own]).sum()) / spread
    return min(max(slope, 0.0), 1.0)
