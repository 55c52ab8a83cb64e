"""Cells that follow from each other are one unknown.

Where an equation has two unknown cells left, one of them is a number less the other. Such cells
are merged, which leaves other equations with fewer cells, and so on. Most withheld cells of a
table are merged away: cells are withheld in twos and fours to protect each other.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass

import numpy as np

from sdcensus.solvers.audit.search import Contradiction
from sdcensus.solvers.audit.system import FREE, Int64, Unknowns


@dataclass(frozen=True, slots=True, eq=False)
class Merged:
    """Unknown cells by fewer ones.

    Attributes:
        unknowns: The cells that are left, with the rows that are left.
        place: For each cell the one that stands for it, by its number among those.
        sign, offset: The cell is ``sign`` times that one, plus ``offset``.
    """

    unknowns: Unknowns
    place: Int64
    sign: Int64
    offset: Int64

    def bounds(self, lower: Int64, upper: Int64) -> tuple[Int64, Int64]:
        """Bounds of all cells from bounds of those that are left."""
        low, high = lower[self.place], upper[self.place]
        least, most = np.where(self.sign > 0, low, -high), np.where(self.sign > 0, high, -low)
        return _moved(least, self.offset), _moved(most, self.offset)


def _moved(bounds: Int64, offset: Int64) -> Int64:
    """Bounds moved by an offset; where there is none there is none after it."""
    return np.where(np.abs(bounds) >= FREE, bounds, bounds + offset)


class _Classes:
    """Cells that stand for each other, while they are merged."""

    def __init__(self, unknowns: Unknowns) -> None:
        size, rows = unknowns.size, unknowns.rows
        starts = rows.starts.tolist()
        columns, values = rows.columns.tolist(), rows.values.tolist()
        self.rows: list[dict[int, int]] = [
            dict(zip(columns[first:last], values[first:last], strict=True))
            for first, last in itertools.pairwise(starts)
        ]
        self.lower, self.upper = rows.lower.tolist(), rows.upper.tolist()
        self.in_rows: list[set[int]] = [set() for _ in range(size)]
        for at, row in enumerate(self.rows):
            for column in row:
                self.in_rows[column].add(at)
        #: For each cell that was merged: the cell, the sign and the offset by which it follows.
        self.by: dict[int, tuple[int, int, int]] = {}
        self.least, self.most = unknowns.lower.tolist(), unknowns.upper.tolist()

    def run(self) -> None:
        """Merge until every equation has three cells or more."""
        waiting = deque(at for at, row in enumerate(self.rows) if len(row) == 2)
        while waiting:
            at = waiting.popleft()
            row = self.rows[at]
            if len(row) != 2 or self.lower[at] != self.upper[at]:
                continue
            (first, one), (second, other) = row.items()
            if abs(one) != 1 or abs(other) != 1:
                continue
            # The cell in fewer equations goes: one * gone + other * stays = number.
            if len(self.in_rows[first]) > len(self.in_rows[second]):
                first, one, second, other = second, other, first, one
            sign, offset = -one * other, one * self.lower[at]
            self._narrow(first, second, sign, offset)
            self.by[first] = (second, sign, offset)
            waiting.extend(self._substitute(first, second, sign, offset))

    def _narrow(self, gone: int, stays: int, sign: int, offset: int) -> None:
        """What is known of the cell that goes is known of the one that stays."""
        low, high = self.least[gone], self.most[gone]
        low, high = (value if abs(value) >= FREE else value - offset for value in (low, high))
        if sign < 0:
            low, high = -high, -low
        self.least[stays] = max(self.least[stays], low)
        self.most[stays] = min(self.most[stays], high)
        if self.least[stays] > self.most[stays]:
            raise Contradiction

    def _substitute(self, gone: int, stays: int, sign: int, offset: int) -> list[int]:
        """Write one cell by another in all equations; tells which have two cells now."""
        short = []
        for at in sorted(self.in_rows[gone]):
            row = self.rows[at]
            times = row.pop(gone)
            self.lower[at] -= times * offset
            self.upper[at] -= times * offset
            left = row.get(stays, 0) + times * sign
            if left:
                row[stays] = left
                self.in_rows[stays].add(at)
            else:
                row.pop(stays, None)
                self.in_rows[stays].discard(at)
            if not row and not self.lower[at] <= 0 <= self.upper[at]:
                raise Contradiction
            if len(row) == 2:
                short.append(at)
        self.in_rows[gone] = set()
        return short

    def followed(self, size: int) -> tuple[list[int], list[int], list[int]]:
        """For each cell the one that stands for it in the end, with sign and offset."""
        stands, signs, offsets = list(range(size)), [1] * size, [0] * size
        # A cell follows from one that was merged later, if at all: the last ones first.
        for gone in reversed(list(self.by)):
            stays, sign, offset = self.by[gone]
            stands[gone] = stands[stays]
            signs[gone] = sign * signs[stays]
            offsets[gone] = sign * offsets[stays] + offset
        return stands, signs, offsets


def merged(unknowns: Unknowns) -> Merged:
    """Merge cells that follow from each other.

    Raises:
        Contradiction: No values fit.
    """
    classes = _Classes(unknowns)
    classes.run()
    stands, signs, offsets = classes.followed(unknowns.size)
    kept = np.array(sorted(set(stands)), dtype=np.int64)
    number = np.full(unknowns.size, -1, dtype=np.int64)
    number[kept] = np.arange(kept.size)
    listed: dict[tuple[object, ...], int] = {}
    for at, row in enumerate(classes.rows):
        if row:
            key = (*sorted(row.items()), classes.lower[at], classes.upper[at])
            listed.setdefault(key, at)
    rows = sorted(listed.values())
    entries = [sorted(classes.rows[at].items()) for at in rows]
    lengths = np.array([len(entry) for entry in entries], dtype=np.int64)
    columns = [column for entry in entries for column, _ in entry]
    values = [value for entry in entries for _, value in entry]
    chosen = np.array(rows, dtype=np.int64)
    reduced = Unknowns.of(
        cells=unknowns.cells[kept],
        equations=unknowns.equations[chosen],
        starts=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]),
        columns=number[np.array(columns, dtype=np.int64)],
        values=np.array(values, dtype=np.int64),
        row_bounds=(
            np.array(classes.lower, dtype=np.int64)[chosen],
            np.array(classes.upper, dtype=np.int64)[chosen],
        ),
        bounds=(
            np.array(classes.least, dtype=np.int64)[kept],
            np.array(classes.most, dtype=np.int64)[kept],
        ),
    )
    place = number[np.array(stands, dtype=np.int64)]
    return Merged(
        reduced, place, np.array(signs, dtype=np.int64), np.array(offsets, dtype=np.int64)
    )
