from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.inference.elimination import reduced


def exact_rank(rows: list[list[int]]) -> int:
    work = [[Fraction(one) for one in row] for row in rows]
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((at for at in range(rank, len(work)) if work[at][column]), None)
        if pivot is None:
            continue
        work[rank], work[pivot] = work[pivot], work[rank]
        for at in range(len(work)):
            if at != rank and work[at][column]:
                factor = work[at][column] / work[rank][column]
                pairs = zip(work[at], work[rank], strict=True)
                work[at] = [one - factor * other for one, other in pairs]
        rank += 1
    return rank


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_rows_are_combinations_and_rank_is_exact(
    height: int, width: int, data: st.DataObject
) -> None:
    size = height * width
    numbers = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    matrix = np.array(numbers, dtype=np.int64).reshape(height, width)
    rows, combinations, pivots = reduced(matrix)
    assert rows.shape[0] == exact_rank(matrix.tolist())
    assert (np.diff(pivots) > 0).all()
    for at, pivot in enumerate(pivots.tolist()):
        column = rows[:, pivot]
        assert column[at] == 1
        assert np.count_nonzero(column) == 1
        assert not rows[at, :pivot].any()
    whole = np.abs(combinations).max(axis=1, initial=0) < 1000
    assert (combinations[whole] @ matrix == rows[whole]).all()


def test_a_difference_of_two_sums() -> None:
    # Two classes of ages, and another two that begin a year later.
    matrix = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1]], dtype=np.int64)
    rows, combinations, _ = reduced(matrix)
    assert rows.tolist() == np.eye(3, dtype=int).tolist()
    assert (combinations @ matrix == rows).all()
