"""Which unknown numbers follow from known ones by sums that must hold, and by which.

Everything is exact: whole numbers modulo a large prime, so that nothing is lost by rounding. A
number that follows is found; one that does not is taken to follow only if a wrong combination
vanishes modulo the prime by accident, which does not happen with sums of cells.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: A Mersenne prime: residues of small fractions are told apart.
PRIME = (1 << 61) - 1
#: How many entries of rows may be combined before it takes too long.
MOST_WORK = 60_000_000

_Row = dict[int, int]


class TooMuchWorkError(Exception):
    """The sums are too many and too entangled to be gone through."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What is 0 for any data, row by row.

    Attributes:
        width: How many numbers there are.
        starts: Where each row begins in ``columns`` and ``values``, and behind it where all end.
        columns, values: Which numbers each row adds up, and how often; small whole numbers.
    """

    width: int
    starts: Int64
    columns: Int64
    values: Int64

    @property
    def rows(self) -> Int64:
        """The row of each entry."""
        return np.repeat(np.arange(self.starts.size - 1, dtype=np.int64), np.diff(self.starts))


def derivable(sums: Sums, known: Mask, targets: Mask) -> Mask:
    """Which targets follow from known numbers.

    Args:
        sums: What adds up to 0.
        known: The numbers that are known.
        targets: Those that are asked about; known ones among them follow.

    Raises:
        TooMuchWorkError: It would take too long to find out.
    """
    follows = _by_single_gaps(sums, known)
    wanted = targets & ~follows
    if not wanted.any():
        return targets & follows
    elimination = _Elimination(_rows_between(sums, ~follows, wanted))
    elimination.eliminate(set(np.flatnonzero(wanted).tolist()))
    return targets & follows | elimination.alone(sums.width)


def derivation(sums: Sums, known: Mask, target: int) -> tuple[Int64, Int64] | None:
    """The known numbers that make up one that is not known, and how often each is added.

    Returns:
        Numbers, ascending, and how often each is added (below 0: subtracted); ``None`` where the
        target does not follow, or only by fractions.

    Raises:
        TooMuchWorkError: It would take too long to find out.
    """
    unknown = ~known
    if known[target]:
        return np.array([target], dtype=np.int64), np.ones(1, dtype=np.int64)
    wanted = np.zeros(sums.width, dtype=bool)
    wanted[target] = True
    steps, height = 1, -1
    while True:
        # Near sums first: what follows from few of them is told by few.
        rows = _rows_between(sums, unknown, wanted, steps)
        if len(rows) == height:
            return None
        elimination = _Elimination(rows, combined={number: {number: 1} for number in rows})
        steps, height = 2 * steps, len(rows)
        elimination.eliminate({target})
        for number, row in elimination.rows.items():
            if row.keys() == {target}:
                inverse = pow(row[target], -1, PRIME)
                return _added_up(sums, known, target, elimination.combined[number], inverse)


def _added_up(
    sums: Sums, known: Mask, target: int, combined: _Row, scale: int
) -> tuple[Int64, Int64] | None:
    total: dict[int, int] = {}
    for row, factor in combined.items():
        times = _signed(factor * scale % PRIME)
        for at in range(int(sums.starts[row]), int(sums.starts[row + 1])):
            column = int(sums.columns[at])
            total[column] = total.get(column, 0) + times * int(sums.values[at])
    own = total.pop(target, 0)
    parts = {column: -times for column, times in sorted(total.items()) if times}
    whole = own == 1 and all(known[column] for column in parts)
    if not whole or any(abs(times) > 1 << 31 for times in parts.values()):
        return None
    return (
        np.array(list(parts), dtype=np.int64),
        np.array(list(parts.values()), dtype=np.int64),
    )


def _signed(residue: int) -> int:
    return residue - PRIME if residue > PRIME // 2 else residue


def _by_single_gaps(sums: Sums, known: Mask) -> Mask:
    """What is known once every sum with a single gap is filled, again and again."""
    follows = known.copy()
    rows = sums.rows
    height = sums.starts.size - 1
    while True:
        gaps = ~follows[sums.columns]
        count = np.bincount(rows[gaps], minlength=height)
        single = gaps & (count[rows] == 1)
        if not single.any():
            return follows
        follows[sums.columns[single]] = True


def _rows_between(
    sums: Sums, unknown: Mask, wanted: Mask, steps: int | None = None
) -> dict[int, _Row]:
    """The unknown parts of the rows that hang together with what is wanted, in so many steps."""
    rows = sums.rows
    entries = np.flatnonzero(unknown[sums.columns])
    row, column = rows[entries], sums.columns[entries]
    height = sums.starts.size - 1
    reached, touched = wanted.copy(), np.zeros(height, dtype=bool)
    done = 0
    while steps is None or done < steps:
        touched[row[reached[column]]] = True
        more = reached.copy()
        more[column[touched[row]]] = True
        if (more == reached).all():
            break
        reached = more
        done += 1
    kept = touched[row]
    parts: dict[int, _Row] = {}
    values = sums.values[entries]
    for number, at, value in zip(
        row[kept].tolist(), column[kept].tolist(), values[kept].tolist(), strict=True
    ):
        parts.setdefault(number, {})[at] = value % PRIME
    return parts


@dataclass(slots=True)
class _Elimination:
    """Rows from which columns are taken out one by one, those in the fewest rows first.

    Attributes:
        rows: What is left of each row.
        combined: For each row, of which rows it was made, where somebody wants to know.
    """

    rows: dict[int, _Row]
    combined: dict[int, _Row] = field(default_factory=dict)
    _holders: dict[int, set[int]] = field(init=False, default_factory=dict)
    _work: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        for number, row in self.rows.items():
            for column in row:
                self._holders.setdefault(column, set()).add(number)

    def eliminate(self, targets: set[int]) -> None:
        """Take out every column that is no target, then bring the rest into echelon form."""
        waiting = [(len(held), column) for column, held in self._holders.items()]
        waiting = [entry for entry in waiting if entry[1] not in targets]
        heapq.heapify(waiting)
        while waiting:
            size, column = heapq.heappop(waiting)
            held = self._holders.get(column)
            if not held:
                continue
            if len(held) > size:  # it has grown since: others come first
                heapq.heappush(waiting, (len(held), column))
                continue
            self._take_out(column)
        for column in sorted(targets):
            self._alone_in_its_row(column)

    def alone(self, width: int) -> Mask:
        """The columns that are left alone in a row."""
        mask = np.zeros(width, dtype=bool)
        for row in self.rows.values():
            if len(row) == 1:
                mask[next(iter(row))] = True
        return mask

    def _take_out(self, column: int) -> None:
        """Clear a column from all rows by one of them, which is of no further use."""
        pivot = self._shortest(self._holders[column])
        self._clear(column, pivot)
        for other in self.rows.pop(pivot):
            self._holders[other].discard(pivot)
        self.combined.pop(pivot, None)
        del self._holders[column]

    def _alone_in_its_row(self, column: int) -> None:
        """Clear a target from all rows but one: of a reduced echelon form."""
        fresh = [
            number for number in self._holders.get(column, ()) if self._leads(number) == column
        ]
        if fresh:
            self._clear(column, self._shortest(fresh))

    def _leads(self, number: int) -> int:
        return min(self.rows[number])

    def _shortest(self, numbers: set[int] | list[int]) -> int:
        return min(numbers, key=lambda number: (len(self.rows[number]), number))

    def _clear(self, column: int, pivot: int) -> None:
        own = self.rows[pivot]
        inverse = pow(own[column], -1, PRIME)
        for number in sorted(self._holders[column] - {pivot}):
            row = self.rows[number]
            factor = -row[column] * inverse % PRIME
            self._add(row, own, factor, number)
            if self.combined:
                _added(self.combined[number], self.combined[pivot], factor)
                self._work += len(self.combined[pivot])
            if not row:
                del self.rows[number]
                self.combined.pop(number, None)
            if self._work > MOST_WORK:
                raise TooMuchWorkError

    def _add(self, row: _Row, other: Mapping[int, int], factor: int, number: int) -> None:
        self._work += len(other)
        for column, value in other.items():
            before = row.get(column, 0)
            after = (before + factor * value) % PRIME
            if after:
                row[column] = after
                if not before:
                    self._holders.setdefault(column, set()).add(number)
            elif before:
                del row[column]
                self._holders[column].discard(number)


def _added(row: _Row, other: Mapping[int, int], factor: int) -> None:
    for column, value in other.items():
        after = (row.get(column, 0) + factor * value) % PRIME
        if after:
            row[column] = after
        else:
            row.pop(column, None)
