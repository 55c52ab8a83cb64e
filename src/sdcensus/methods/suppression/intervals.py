"""How well closed cells have to be protected: intervals that nobody may be able to narrow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.solvers.audit.system import FREE

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Percentages are whole numbers of hundredths.
_HUNDRED = 100
#: The largest distance that can be asked for, and the largest percentage.
MOST_DISTANCE, MOST_PERCENT = 1_000_000, 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What an office asks of the intervals of its primary cells.

    Attributes:
        minimum: Smaller counts are small. Where no distance is said, the least that everybody
            knows (0, or 1 where empty cells are shown) and the minimum have to be possible for a
            small count, and so far away for any other.
        lower, upper: Values so far below and above the true count have to be possible; below it
            no farther than to the least that everybody knows.
        percent: The same both ways as a share of the count, where that is farther.
        width: The smallest and the largest possible value have to be so far apart, for primary
            cells and for those that were closed before.
        known_within: Everybody knows each closed cell to so many percent beforehand; nothing but
            the least that it can be if ``None``.
        insiders: Whether that has to hold for those as well who are alone in a closed cell and
            know it.
    """

    minimum: int = 3
    lower: int | None = None
    upper: int | None = None
    percent: int = 0
    width: int = 1
    known_within: int | None = None
    insiders: bool = True

    def __post_init__(self) -> None:
        for name, value in (("lower", self.lower), ("upper", self.upper), ("width", self.width)):
            if value is not None and (type(value) is not int or not 0 <= value <= MOST_DISTANCE):
                raise SpecError(
                    f"The {name} distance of protection intervals is a whole number from 0 to"
                    f" {MOST_DISTANCE:,}."
                )
        for percent in (self.percent, self.known_within):
            if percent is not None and (type(percent) is not int or percent < 0):
                raise SpecError("A percentage of protection intervals is a whole number from 0.")
            if percent is not None and percent > MOST_PERCENT:
                raise SpecError(
                    f"A percentage of protection intervals is at most {MOST_PERCENT:,}."
                )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Requirements(Confidential):
    """What is asked for each cell, and what others know of it beforehand.

    Every array has one value for each distinct cell; 0 where nothing is asked.

    Attributes:
        lower, upper: How far below and above its count a cell has to be possible.
        width: How far apart its smallest and its largest possible value have to be.
        least, most: What everybody knows of a closed cell beforehand; ``FREE`` for no bound.
        alone: The person who is alone in the cell and knows it, by a number; -1 for nobody.
    """

    lower: Int64
    upper: Int64
    width: Int64
    least: Int64
    most: Int64
    alone: Int64

    def __repr__(self) -> str:
        return f"<Requirements for {self.lower.size} cells: confidential>"

    @property
    def asked(self) -> Mask:
        """The cells for which anything is asked."""
        return np.asarray((self.lower > 0) | (self.upper > 0) | (self.width > 0))


def requirements(
    counts: Int64,
    primary: Mask,
    protection: Protection | None = None,
    *,
    frozen: Mask | None = None,
    alone: Int64 | None = None,
    least: Int64 | None = None,
) -> Requirements:
    """What is asked for primary cells, and for cells that were closed before.

    A cell that was closed before and is not primary now may have been primary there: its possible
    values have to be as far apart as those of primary cells, wherever they lie.

    Args:
        counts: The true count of every cell.
        primary: The cells that may not be computed.
        protection: What the office asks.
        frozen: The cells that were closed before.
        alone: Who is alone in each cell (``lone_persons``); nobody if ``None``.
        least: What everybody knows each cell to be at least; 0 if ``None``.
    """
    asked = Protection() if protection is None else protection
    least = np.zeros_like(counts) if least is None else least
    most = np.full(counts.shape, FREE, dtype=np.int64)
    if asked.known_within is not None:
        known = asked.known_within
        least = np.maximum(-(-counts * (_HUNDRED - known) // _HUNDRED), least)
        most = counts * (_HUNDRED + known) // _HUNDRED
    closed = primary if frozen is None else primary | frozen
    down, up = _distances(counts, asked)
    nobody = np.full(counts.shape, -1, dtype=np.int64)
    return Requirements(
        lower=np.where(primary, np.minimum(down, counts - least), 0),
        upper=np.where(primary, up, 0),
        width=np.where(closed, asked.width, 0),
        least=least,
        most=most,
        alone=alone if asked.insiders and alone is not None else nobody,
    )


def _distances(counts: Int64, asked: Protection) -> tuple[Int64, Int64]:
    """How far down and up every cell would have to be possible if it were primary."""
    small = counts < asked.minimum
    down = np.where(small, counts, asked.minimum)
    up = np.where(small, asked.minimum - counts, asked.minimum)
    if asked.lower is not None:
        down = np.full_like(counts, asked.lower)
    if asked.upper is not None:
        up = np.full_like(counts, asked.upper)
    # Shares are rounded up: less than a whole unit would be nothing.
    share = -(-counts * asked.percent // _HUNDRED)
    return np.maximum(down, share), np.maximum(up, share)


def lone_persons(linked: LinkedCubes) -> Int64:
    """For each cell with one person, the number of the person; -1 for other cells.

    A person who is alone in several cells knows all of them.
    """
    atoms = linked.atoms
    own = np.repeat(np.arange(len(atoms), dtype=np.int64), np.diff(atoms.starts))
    single = linked.counts[atoms.cells] == 1
    return _persons(linked.counts, linked.tables.equations, own[single], atoms.cells[single])


def lone_by_sums(counts: Int64, equations: SparseMatrix) -> Int64:
    """The same as ``lone_persons`` as far as sums tell which cells hold the same person."""
    empty = np.zeros(0, dtype=np.int64)
    return _persons(counts, equations, empty, empty)


def _persons(counts: Int64, equations: SparseMatrix, atom: Int64, cell: Int64) -> Int64:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = equations.rows, equations.columns
    single = counts[columns] == 1
    # A total of one person: the one part that holds somebody holds the same person.
    total = np.full(equations.shape[0], -1, dtype=np.int64)
    of_total = single & (equations.values < 0)
    total[rows[of_total]] = columns[of_total]
    part = single & (equations.values > 0) & (total[rows] >= 0)
    first = np.concatenate([total[rows[part]], counts.size + atom])
    second = np.concatenate([columns[part], cell])
    nodes = counts.size + int(atom.max(initial=-1)) + 1
    ties = coo_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(nodes, nodes))
    _, label = connected_components(ties, directed=False)
    return np.where(counts == 1, label[: counts.size], -1).astype(np.int64)
