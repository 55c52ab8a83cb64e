"""Transition matrices: whole numbers near what was asked, and invariant ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.transitions import WHOLE
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix, check_size

NINE = [[Fraction("0.9"), Fraction("0.1")], [Fraction("0.1"), Fraction("0.9")]]


@st.composite
def rows_and_totals(draw: st.DrawFn) -> tuple[list[list[Fraction]], list[int]]:
    size = draw(st.integers(1, 6))
    weights = st.lists(st.integers(0, 50), min_size=size, max_size=size)
    rows = []
    for code in range(size):
        row = draw(weights)
        row[code] += 1
        rows.append([Fraction(weight, sum(row)) for weight in row])
    totals = draw(st.lists(st.integers(0, 10**8), min_size=size, max_size=size))
    return rows, totals


def test_the_vectors_of_methods_md() -> None:
    # methods.md 8.4: 110/90 with .9 gives 108/92; R = [[.836957,.163043],[.199275,.800725]].
    matrix = TransitionMatrix.from_rows(("1", "2"), NINE)
    totals = np.array([110, 90])
    assert matrix.expected(totals).round(6).tolist() == [108.0, 92.0]
    assert matrix.invariant(totals).probabilities.round(6).tolist() == [
        [0.836957, 0.163043],
        [0.199275, 0.800725],
    ]
    half = matrix.invariant(totals, Fraction(1, 2)).probabilities
    assert half.round(6).tolist() == [[0.918478, 0.081522], [0.099638, 0.900362]]


@given(rows_and_totals())
def test_rows_are_whole_numbers_that_sum_to_one_and_miss_by_less_than_one_of_them(
    case: tuple[list[list[Fraction]], list[int]],
) -> None:
    rows, _ = case
    matrix = TransitionMatrix.from_rows([str(at) for at in range(len(rows))], rows)
    assert (matrix.weights.sum(axis=1) == WHOLE).all()
    for asked, got in zip(rows, matrix.weights.tolist(), strict=True):
        assert all(
            abs(share * WHOLE - weight) < 1 for share, weight in zip(asked, got, strict=True)
        )


@given(rows_and_totals(), st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(0)]))
def test_invariant_matrices_keep_totals_but_for_less_than_the_stated_error(
    case: tuple[list[list[Fraction]], list[int]], alpha: Fraction
) -> None:
    rows, counts = case
    totals = np.array(counts)
    codes = [str(at) for at in range(len(rows))]
    matrix = TransitionMatrix.from_rows(codes, rows).invariant(totals, alpha)
    for code, total in enumerate(counts):
        reached = sum(
            own * int(weight)
            for own, weight in zip(counts, matrix.weights[:, code].tolist(), strict=True)
        )
        # In whole numbers: n records, each entry off by less than 1 (and the sums before it).
        assert abs(reached - total * WHOLE) <= 1.001 * sum(counts)
    if alpha == 0:
        assert (matrix.weights == np.eye(len(rows), dtype=int) * WHOLE).all()


def test_matrices_that_are_none_are_not_made() -> None:
    with pytest.raises(ValueError, match="sum to one"):
        TransitionMatrix(("1", "2"), np.array([[WHOLE, 0], [1, 1]]))
    with pytest.raises(ValueError, match="row 1"):
        TransitionMatrix.from_rows(("1", "2"), [[1.0, 0.0], [0.5, 0.4]])
    with pytest.raises(SpecError, match="can have 4,096"):
        check_size(5000, "'a+b'")
