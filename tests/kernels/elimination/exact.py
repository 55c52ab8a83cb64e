"""What the kernels of elimination should answer: in fractions, by trying everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from sdcensus.kernels.elimination.basis import Columns
from sdcensus.kernels.elimination.suppression import Singles, Status

Matrix = npt.NDArray[np.int64]
Vector = Sequence[Fraction]


def columns_of(matrix: Matrix) -> Columns:
    """A dense matrix as columns."""
    column, row = np.nonzero(matrix.T)
    starts = np.zeros(matrix.shape[1] + 1, dtype=np.int64)
    np.cumsum(np.bincount(column, minlength=matrix.shape[1]), out=starts[1:])
    return Columns(starts, row.astype(np.int64), matrix[row, column].astype(np.int64))


class Fractions:
    """A span of columns in fractions."""

    def __init__(self, matrix: Matrix, columns: Iterable[int], rows: Sequence[int] | None = None):
        self._members: list[tuple[int, list[Fraction]]] = []
        self._matrix = matrix if rows is None else matrix[list(rows)]
        for column in columns:
            left = self.left(column)
            pivot = next((at for at, value in enumerate(left) if value), None)
            if pivot is not None:
                self._members.append((pivot, left))

    @property
    def rank(self) -> int:
        return len(self._members)

    def left(self, column: int) -> list[Fraction]:
        vector = [Fraction(int(value)) for value in self._matrix[:, column]]
        for pivot, member in self._members:
            if vector[pivot]:
                factor = vector[pivot] / member[pivot]
                pairs = zip(vector, member, strict=True)
                vector = [value - factor * other for value, other in pairs]
        return vector

    def holds(self, column: int) -> bool:
        return not any(self.left(column))


class Question:
    """A small question for suppression, and its answer from the definition."""

    def __init__(
        self,
        matrix: Matrix,
        targets: Sequence[bool],
        order: Sequence[int],
        forced: Sequence[bool],
        known: Sequence[bool],
        singles: Singles,
    ) -> None:
        self.matrix = matrix
        self.targets = np.array(targets, dtype=bool)
        self.order = np.array(order, dtype=np.int64)
        self.forced = np.array(forced, dtype=bool) & np.isin(np.arange(len(targets)), order)
        self.known = np.array(known, dtype=bool) & self.targets
        self.singles = singles

    def _given_away(self, opened: Sequence[int]) -> tuple[object, ...]:
        """Everything that may not grow when a column is opened."""
        matrix = self.matrix
        span = Fractions(matrix, opened)
        numbers = np.flatnonzero(self.targets).tolist()
        computed = frozenset(target for target in numbers if span.holds(target))
        pairs: set[tuple[int, int]] = set()
        singles = np.flatnonzero(self.known).tolist()
        if self.singles is Singles.ALONE:
            for single in singles:
                wider = Fractions(matrix, [*opened, single])
                pairs |= {
                    (single, target)
                    for target in numbers
                    if (matrix[:, target] != matrix[:, single]).any() and wider.holds(target)
                }
        sums = 0
        if self.singles is Singles.ANY_SUM:
            own = [single for single in singles if np.count_nonzero(matrix[:, single]) == 1]
            rows = set(np.flatnonzero(matrix[:, own].any(axis=1)).tolist())
            others = [row for row in range(len(matrix)) if row not in rows]
            sums = span.rank - Fractions(matrix, opened, others).rank
        return computed, frozenset(pairs), sums

    def answer(self) -> npt.NDArray[np.int8]:
        matrix = self.matrix
        numbers = np.flatnonzero(self.targets).tolist()
        status = np.full(matrix.shape[1], Status.LEFT_OUT, dtype=np.int8)
        opened = [column for column in self.order if self.forced[column]]
        opened = [column for column in opened if not self.targets[column]]
        status[opened] = Status.OPEN
        given_away = self._given_away(opened)
        for column in self.order.tolist():
            if self.targets[column] or self.forced[column]:
                continue
            same = any((matrix[:, column] == matrix[:, target]).all() for target in numbers)
            same = same and bool(matrix[:, column].any())
            safe = not same and self._given_away([*opened, column]) == given_away
            status[column] = Status.OPEN if safe else Status.CLOSED
            if safe:
                opened.append(column)
        span = Fractions(matrix, [column for column in opened if self.forced[column]])
        for target in numbers:
            status[target] = Status.EXPOSED if span.holds(target) else Status.TARGET
        return status


@st.composite
def matrices(draw: st.DrawFn, most: int = 3) -> Matrix:
    """Small matrices of whole numbers, zeros and ones in most of them."""
    height, width = draw(st.integers(1, 7)), draw(st.integers(1, 12))
    signed = draw(st.booleans())
    numbers = st.sampled_from((0, 0, 0, 1, -1, most) if signed else (0, 0, 1))
    rows = st.lists(numbers, min_size=width, max_size=width)
    return np.array(draw(st.lists(rows, min_size=height, max_size=height)), dtype=np.int64)


@st.composite
def questions(draw: st.DrawFn) -> Question:
    matrix = draw(matrices())
    width = matrix.shape[1]
    masks = [
        draw(st.lists(st.sampled_from(values), min_size=width, max_size=width))
        for values in ((True, False, False), (True, *[False] * 7), (True, False))
    ]
    order = draw(st.permutations(range(width)))[: draw(st.integers(0, width))]
    singles = draw(st.sampled_from(Singles))
    return Question(matrix, masks[0], order, masks[1], masks[2], singles)
