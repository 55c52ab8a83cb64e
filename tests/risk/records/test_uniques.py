"""Thresholds are decided by fractions, however long these are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from sdcensus.risk.records.uniques import Fit, SampledCells, sampled_cells, uniques_of

#: Two primes whose product is too long to keep as a denominator.
_P, _Q = 1_000_003, 1_000_033


def _shared(terms: list[tuple[int, int]]) -> SampledCells:
    """A complete cell of one record, which others with missing values may be: a share of each."""
    sample = np.array([1, *(amount for amount, _ in terms)], dtype=np.int64)
    others = np.arange(1, sample.size)
    totals = np.array([total for _, total in terms], dtype=np.int64)

    def fits() -> Iterator[Fit]:
        cell = np.zeros(others.size, dtype=np.int64)
        yield Fit(others, np.stack([totals, totals]), cell, others)

    return sampled_cells(np.stack([sample, sample]), np.arange(sample.size) == 0, fits)


@pytest.mark.parametrize(("parts_more", "below"), [(-1, True), (0, False), (1, False)])
def test_fractions_that_are_too_long_to_keep_are_told_apart(parts_more: int, below: bool) -> None:
    """a/p + b/q is one and a part in 10**12 more or less; with 1 - 1/p and 1/p it is two."""
    first = parts_more * pow(_Q, -1, _P) % _P
    second = (_P * _Q + parts_more - first * _Q) // _P
    terms = [(first, _P), (second, _Q), (_P - 1, _P), (1, _P)]
    cells = _shared([term for term in terms if term[0]])
    if parts_more:
        assert cells.denominators[0] == 0
    assert abs(cells.population_matches[0] - 3) < 1e-9
    assert bool(cells.below(3)[0]) is below
    assert uniques_of(cells, population=9, k=3).not_anonymous == int(below)


def test_ten_tenths_are_one() -> None:
    cells = _shared([(1, 10)] * 10)
    assert sum([1 / 10] * 10) < 1
    assert cells.population_matches[0] == 2
    assert not cells.below(2)[0]


def test_the_worst_record_is_the_one_that_fewest_share() -> None:
    counts = np.array([[4, 9, 2], [2, 3, 2]])
    cells = sampled_cells(counts, np.ones(3, dtype=bool))
    worst = uniques_of(cells, population=15, k=3)
    # Two of the file share their keys with nobody else there, and with two of the census.
    assert (worst.prosecutor_risk, worst.journalist_risk) == (0.5, 0.5)
    alone = uniques_of(
        sampled_cells(np.array([[4], [1]]), np.ones(1, dtype=bool)), population=4, k=3
    )
    assert (alone.prosecutor_risk, alone.journalist_risk) == (1.0, 0.25)
    nobody = sampled_cells(np.zeros((2, 0), dtype=np.int64), np.ones(0, dtype=bool))
    assert uniques_of(nobody, population=4, k=3).journalist_risk == 0.0
