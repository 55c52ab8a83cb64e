from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.elimination import spans
from sdcensus.kernels.elimination.residues import PAIRS, combined, rational
from sdcensus.kernels.elimination.spans import Certificate, Span
from tests.kernels.elimination.exact import Fractions, Matrix, columns_of, matrices


def proves(matrix: Matrix, certificate: Certificate, column: int) -> bool:
    wide = matrix.astype(object)
    sums = [0] * len(matrix)
    for number, times in zip(certificate.columns, certificate.times, strict=True):
        sums = [total + times * value for total, value in zip(sums, wide[:, number], strict=True)]
    return sums == [certificate.divisor * value for value in wide[:, column]]


@settings(max_examples=40)
@given(matrices(), st.data())
def test_what_can_be_computed_and_how(matrix: Matrix, data: st.DataObject) -> None:
    width = matrix.shape[1]
    known = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    span, exact = Span(columns_of(matrix), len(matrix), known), Fractions(matrix, known.tolist())
    assert span.rank == exact.rank
    holds = span.holds(np.arange(width))
    for column in range(width):
        certificate = span.certificate(column)
        assert holds[column] == exact.holds(column) == (certificate is not None)
        if certificate is not None:
            assert set(certificate.columns) <= set(known.tolist())
            assert 0 not in certificate.times
            assert proves(matrix, certificate, column)


def test_a_cell_is_a_total_less_its_other_parts() -> None:
    matrix = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    span = Span(columns_of(matrix), 3, np.array([0, 1, 3]))
    assert span.certificate(2) == Certificate((0, 1, 3), (-1, -1, 1))


def test_a_certificate_may_need_a_divisor() -> None:
    """Three sums of two tell each part: twice the first is two sums less the third."""
    matrix = np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0]])
    span = Span(columns_of(matrix), 3, np.array([0, 1, 2]))
    assert span.certificate(3) == Certificate((0, 1, 2), (1, -1, 1), 2)


def test_numbers_too_large_for_residues_are_found_in_fractions() -> None:
    """The divisor is the product of nine numbers above a thousand: far beyond 62 bits."""
    size = 10
    matrix = np.zeros((size, size + 1), dtype=np.int64)
    for at in range(size):
        matrix[at, at] = 1009 + 2 * at
        if at:
            matrix[at - 1, at] = -1
    matrix[size - 1, size] = 1
    span = Span(columns_of(matrix), size, np.arange(size))
    certificate = span.certificate(size)
    assert certificate is not None
    assert certificate.divisor > 1 << 62
    assert proves(matrix, certificate, size)


def test_a_known_column_is_itself() -> None:
    matrix = np.array([[1, 1], [1, 1]])
    span = Span(columns_of(matrix), 2, np.array([1]))
    assert span.certificate(0) == span.certificate(1) == Certificate((1,), (1,))


def test_nothing_is_known() -> None:
    matrix = np.array([[1, 0]])
    span = Span(columns_of(matrix), 1, np.zeros(0, dtype=np.int64))
    assert span.holds(np.array([0, 1])).tolist() == [False, True]
    assert span.certificate(1) == Certificate((), ())


def test_primes_that_disagree_give_way_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.array([[1, 1, 0], [1, -2, 1]])
    expected = Span(columns_of(matrix), 2, np.array([0, 1])).certificate(2)
    monkeypatch.setattr(spans, "PAIRS", ((3, 2147483647), (2147483629, 2147483587)))
    assert Span(columns_of(matrix), 2, np.array([0, 1])).certificate(2) == expected
    monkeypatch.setattr(spans, "PAIRS", ((3, 2147483647),))
    with pytest.raises(ArithmeticError):
        Span(columns_of(matrix), 2, np.array([0, 1]))


@given(st.integers(-(1 << 30), 1 << 30), st.integers(1, 1 << 30), st.sampled_from(PAIRS))
def test_fractions_come_back_from_residues(
    numerator: int, denominator: int, pair: tuple[int, int]
) -> None:
    residues = [np.array([numerator * pow(denominator, -1, prime) % prime]) for prime in pair]
    (number,) = combined(residues[0], residues[1], pair)
    back = rational(number, pair)
    assert back is not None
    assert back[0] * denominator == numerator * back[1]
