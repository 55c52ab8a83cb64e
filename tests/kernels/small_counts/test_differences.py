"""What published cells give away, by subtraction and by any combination, in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.small_counts.combinations import determined
from sdcensus.kernels.small_counts.differences import given_away
from sdcensus.kernels.small_counts.incidence import Incidence


def incidence_of(matrix: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Incidence:
    starts = np.append(0, np.cumsum(matrix.sum(axis=1))).astype(np.int64)
    return Incidence(starts, np.nonzero(matrix)[1].astype(np.int64), matrix.shape[1])


def rank(rows: list[list[int]]) -> int:
    left = [[Fraction(value) for value in row] for row in rows]
    size = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((at for at in range(size, len(left)) if left[at][column]), None)
        if pivot is None:
            continue
        left[size], left[pivot] = left[pivot], left[size]
        for at in range(size + 1, len(left)):
            factor = left[at][column] / left[size][column]
            left[at] = [a - factor * b for a, b in zip(left[at], left[size], strict=True)]
        size += 1
    return size


@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(0, 1), min_size=width, max_size=width), min_size=1, max_size=6
        )
    ),
    st.data(),
)
def test_what_is_given_away_is_determined(rows: list[list[int]], data: st.DataObject) -> None:
    """Each such cell is a combination of published ones, once cells of a published 0 are gone."""
    matrix = np.array(rows, dtype=np.int64)
    every = np.ones(len(matrix), dtype=bool)
    inner = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows))))
    published = matrix.T @ inner
    known = given_away(incidence_of(matrix), published, every)
    empty = matrix[:, published == 0].any(axis=1)
    assert known[empty].all()
    left = matrix[~empty]
    columns = left.T.tolist()
    complete = determined(incidence_of(matrix), published, every)
    for place, row in enumerate(np.flatnonzero(~empty)):
        unit = [int(at == place) for at in range(len(left))]
        follows = rank([*columns, unit]) == rank(columns)
        assert complete[row] == follows
        assert follows or not known[row]


def test_a_triangle_takes_a_combination() -> None:
    """Three cells, each in two of three sums: no sum shows one, and together they show all."""
    matrix = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    published, every = np.array([5, 7, 8]), np.ones(3, dtype=bool)
    assert not given_away(incidence_of(matrix), published, every).any()
    assert determined(incidence_of(matrix), published, every).all()


def test_one_after_the_other_is_found() -> None:
    """The first stands alone; less it the second does; less both the third does."""
    matrix = np.array([[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    known = given_away(incidence_of(matrix), np.array([3, 9, 20, 8]), np.ones(5, dtype=bool))
    assert known.tolist() == [True, True, True, False, False]
