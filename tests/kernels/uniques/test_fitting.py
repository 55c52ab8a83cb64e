"""Shares as fractions, and chances of households."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.uniques.fitting import share_out, survival


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 10**6)), max_size=6))
@settings(max_examples=100, deadline=None)
def test_shares_are_exact_while_they_are_short(terms: list[tuple[int, int]]) -> None:
    amounts = np.array([amount for amount, _ in terms], dtype=np.int64)
    totals = np.array([total for _, total in terms], dtype=np.int64)
    numerators, denominators = np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64)
    values = np.zeros(2)
    cells = np.ones(amounts.size, dtype=np.int64)
    share_out(cells, amounts, totals, numerators, denominators, values)
    exact = sum((Fraction(*term) for term in terms), Fraction(0))
    assert abs(values[1] - float(exact)) <= 1e-12 * max(float(exact), 1)
    if denominators[1]:
        assert Fraction(int(numerators[1]), int(denominators[1])) == exact
    else:
        assert len(terms) > 1
    assert (numerators[0], denominators[0], values[0]) == (0, 1, 0)


def test_a_unit_without_members_is_never_found() -> None:
    out = np.empty(2)
    survival(np.array([0.5, 0.25]), np.array([1, 0]), np.array([0, 2, 2]), out)
    assert out.tolist() == [0.375, 1.0]
