"""What follows from known numbers by sums, against plain linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.inference import derivation as kernel
from sdcensus.kernels.inference.derivation import (
    Sums,
    TooMuchWorkError,
    derivable,
    derivation,
)

Matrix = npt.NDArray[np.int64]


def sums_of(matrix: Matrix) -> Sums:
    rows, columns = np.nonzero(matrix)
    starts = np.zeros(matrix.shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=matrix.shape[0]), out=starts[1:])
    return Sums(matrix.shape[1], starts, columns.astype(np.int64), matrix[rows, columns])


@st.composite
def systems(draw: st.DrawFn) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    height, width = draw(st.integers(0, 7)), draw(st.integers(1, 9))
    entries = draw(
        st.lists(
            st.sampled_from((0, 0, 0, 1, 1, -1)), min_size=height * width, max_size=height * width
        )
    )
    known = draw(st.lists(st.booleans(), min_size=width, max_size=width))
    return np.array(entries, dtype=np.int64).reshape(height, width), np.array(known)


def follows(matrix: Matrix, known: npt.NDArray[np.bool_], target: int) -> bool:
    """Whether every solution with the same known numbers has the same target."""
    every = np.concatenate([matrix, np.eye(matrix.shape[1], dtype=np.int64)[known]])
    unit = np.eye(matrix.shape[1], dtype=np.int64)[[target]]
    rank: Any = np.linalg.matrix_rank
    return bool(rank(every) == rank(np.concatenate([every, unit])))


@given(systems())
def test_what_follows_is_what_every_solution_has_alike(
    system: tuple[Matrix, npt.NDArray[np.bool_]],
) -> None:
    matrix, known = system
    targets = np.ones(known.size, dtype=bool)
    found = derivable(sums_of(matrix), known, targets)
    assert found.tolist() == [follows(matrix, known, at) for at in range(known.size)]


@given(systems())
def test_a_derivation_adds_up_in_whole_numbers(
    system: tuple[Matrix, npt.NDArray[np.bool_]],
) -> None:
    matrix, known = system
    for target in range(known.size):
        made = derivation(sums_of(matrix), known, target)
        if made is None:
            continue
        combination = np.zeros(known.size, dtype=np.int64)
        combination[made[0]] = -made[1]
        combination[target] += 1
        assert known[made[0]].all()
        rank: Any = np.linalg.matrix_rank
        assert rank(matrix) == rank(np.concatenate([matrix, combination[None, :]]))


def test_only_what_is_asked_about_is_told() -> None:
    matrix = np.array([[1, 1, -1]])
    known, targets = np.array([True, False, True]), np.array([True, False, True])
    assert derivable(sums_of(matrix), known, targets).tolist() == [True, False, True]


def test_a_cycle_has_no_single_gap_and_is_solved_even_so() -> None:
    # x + y = a, y + z = b, z + x = c: twice x is a - b + c.
    matrix = np.array([[1, 1, 0, -1, 0, 0], [0, 1, 1, 0, -1, 0], [1, 0, 1, 0, 0, -1]])
    known = np.array([False, False, False, True, True, True])
    assert derivable(sums_of(matrix), known, ~known).tolist() == [True] * 3 + [False] * 3
    assert derivation(sums_of(matrix), known, 0) is None  # only by halves


def test_too_much_work_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "MOST_WORK", 1)
    matrix = np.array([[1, 1, 0, -1, 0, 0], [0, 1, 1, 0, -1, 0], [1, 0, 1, 0, 0, -1]])
    known = np.array([False, False, False, True, True, True])
    with pytest.raises(TooMuchWorkError):
        derivable(sums_of(matrix), known, ~known)
