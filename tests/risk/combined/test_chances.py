"""The combined measure: its sums, what it reduces to, and what it says of both parameters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.risk.combined import (
    NO_MOVES,
    CellMoves,
    CountPrior,
    Moves,
    combined_risk,
    moves_by_rate,
    observed_risk,
    prior_of_counts,
    reference_prior,
    together,
)
from sdcensus.risk.posterior import posterior, published_given_true

SCHEMES = ("CP1", "CP3(EU)", "CP4", "RR3")


@given(
    counts=st.lists(st.integers(0, 40), min_size=1, max_size=60),
    name=st.sampled_from(SCHEMES),
)
@settings(deadline=None)
def test_without_moves_it_is_the_posterior_of_the_noise(counts: list[int], name: str) -> None:
    noise = scheme(name)
    risk = combined_risk(noise, prior_of_counts(counts), NO_MOVES)
    known = posterior(noise, counts, published=(1, 2, 3))
    for value in (1, 2, 3):
        expected = known.is_what_it_seems(value)
        chance = risk.of(value)
        figures = (chance.count_true, chance.counted_true, chance.all_residents)
        for figure in (*figures, chance.claim_right):
            if expected is None:
                assert figure is None
            else:
                assert figure == pytest.approx(expected, abs=1e-12)


def _enumerated(
    prior: dict[int, float], moves: Moves, noise: dict[int, dict[int, float]], value: int
) -> tuple[float, float, float, float]:
    """Every outcome of every record, one by one, and arrivals up to 40."""
    whole = true = residents = right = 0.0
    for count, weight in prior.items():
        leave = moves.leaving(np.array([count]))[0]
        mean = moves.arriving(np.array([count]))[0]
        fates = ((1 - leave, 1, 1), (leave * moves.alike, 0, 1), (leave * (1 - moves.alike), 0, 0))
        for outcome in itertools.product(fates, repeat=count):
            chance = weight * math.prod(fate[0] for fate in outcome)
            stayed = sum(fate[1] for fate in outcome)
            kept = sum(fate[2] for fate in outcome)
            for arrivals in range(41):
                here = chance * math.exp(-mean) * mean**arrivals / math.factorial(arrivals)
                counted = kept + arrivals
                here *= noise.get(counted, {}).get(value, 0.0)
                whole += here
                true += here * (count == value)
                residents += here * (count == counted == stayed == value)
                right += here * (counted == value) * stayed / value
    return whole, true, residents, right


@given(
    leave=st.lists(st.floats(0, 1), min_size=5, max_size=5),
    mean=st.lists(st.floats(0, 3), min_size=5, max_size=5),
    alike=st.floats(0, 1),
    cells=st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any),
    exact=st.booleans(),
)
@settings(deadline=None, max_examples=40)
def test_it_is_the_sum_over_everything_that_can_happen(
    leave: list[float], mean: list[float], alike: float, cells: list[int], exact: bool
) -> None:
    moves = Moves(tuple(leave), tuple(mean), alike)
    prior = CountPrior(np.arange(5), np.array(cells, dtype=np.float64))
    design = None if exact else scheme("CP1")
    risk = combined_risk(design, prior, moves)
    noise = {}
    for count in range(60):
        if design is None:
            noise[count] = {count: 1.0}
        else:
            row = published_given_true(design, [count], [1, 2, 3])[0]
            noise[count] = dict(zip((1, 2, 3), row.tolist(), strict=True))
    for value in (1, 2, 3):
        whole, true, residents, right = _enumerated(
            dict(enumerate(map(float, cells))), moves, noise, value
        )
        chance = risk.of(value)
        assert chance.cells == pytest.approx(whole, rel=1e-9, abs=1e-12)
        if whole > 1e-9:
            assert chance.count_true == pytest.approx(true / whole, rel=1e-6, abs=1e-9)
            assert chance.all_residents == pytest.approx(residents / whole, rel=1e-6, abs=1e-9)
            assert chance.claim_right == pytest.approx(right / whole, rel=1e-6, abs=1e-9)


def test_swapping_alone_has_the_formula_of_one_record() -> None:
    """One true record in every cell, nothing arrives: it is there or it is not."""
    prior = CountPrior(np.array([1]), np.array([7.0]))
    risk = combined_risk(None, prior, Moves((0.0, 0.3), (0.0, 0.0)))
    assert risk.of(1).cells == pytest.approx(7 * 0.7)
    assert risk.of(1).claim_right == pytest.approx(1.0)
    # With arrivals of mean a: the resident alone against one who has come in his place.
    risk = combined_risk(None, prior, Moves((0.0, 0.3), (0.0, 0.5)))
    alone, other = 0.7 * math.exp(-0.5), 0.3 * 0.5 * math.exp(-0.5)
    assert risk.of(1).claim_right == pytest.approx(alone / (alone + other))
    assert risk.of(1).count_true == pytest.approx(1.0)  # the number stays, the person does not


@pytest.mark.parametrize("name", SCHEMES)
def test_more_swapping_and_more_noise_leave_less(name: str) -> None:
    prior = reference_prior()
    rates = (0.0, 0.02, 0.05, 0.1, 0.3, 0.6, 1.0)
    noisy = [combined_risk(scheme(name), prior, moves_by_rate(rate, prior)) for rate in rates]
    plain = [combined_risk(None, prior, moves_by_rate(rate, prior)) for rate in rates]
    for value in (1, 2, 3):
        chances = [risk.of(value).claim_right for risk in noisy]
        if None in chances:
            assert set(chances) == {None} or name == "RR3"
            continue
        assert chances == sorted(chances, reverse=True)  # type: ignore[type-var]
        for both, alone in zip(noisy, plain, strict=True):
            assert both.of(value).claim_right <= alone.of(value).claim_right + 1e-12  # type: ignore[operator]
    assert plain[0].worst_claim == pytest.approx(1.0)
    assert plain[-1].worst_claim == pytest.approx(0.0)


def test_targeting_takes_the_small_ones_first() -> None:
    prior = reference_prior()
    plain = combined_risk(None, prior, moves_by_rate(0.05, prior))
    targeted = combined_risk(None, prior, moves_by_rate(0.05, prior, small_rate=1.0, below=3))
    assert plain.of(1).claim_right == pytest.approx(0.95, abs=0.01)
    assert targeted.of(1).claim_right == pytest.approx(0.0, abs=0.05)
    assert targeted.of(1).all_residents == pytest.approx(0.0)


def test_partners_that_look_the_same_change_no_count_and_still_who_it_is() -> None:
    prior = reference_prior()
    risk = combined_risk(None, prior, moves_by_rate(0.4, prior, alike=1.0))
    for value in (1, 2, 3):
        assert risk.of(value).count_true == pytest.approx(1.0)
        assert risk.of(value).claim_right == pytest.approx(0.6)
        assert risk.of(value).all_residents == pytest.approx(0.6**value)


def test_as_many_arrive_as_leave() -> None:
    prior = reference_prior()
    for alike in (0.0, 0.5):
        moves = moves_by_rate(0.2, prior, small_rate=0.9, below=4, alike=alike)
        leaving = float((moves.leaving(prior.counts) * prior.counts * prior.cells).sum())
        arriving = float((moves.arriving(prior.counts) * prior.cells).sum())
        assert arriving == pytest.approx(leaving * (1 - alike), rel=0.02)


def test_large_counts_and_extreme_rates_are_no_trouble() -> None:
    prior = CountPrior(np.array([0, 1, 5_000, 1_000_000]), np.array([5.0, 3.0, 2.0, 1.0]))
    for rate in (0.0, 1e-9, 1.0):
        risk = combined_risk(scheme("CP4"), prior, moves_by_rate(rate, prior))
        for chance in risk.values:
            assert chance.claim_right is None or 0 <= chance.claim_right <= 1


def test_what_was_observed_is_counted() -> None:
    cells = CellMoves(
        np.array([1, 1, 2, 0, 1]), np.array([1, 1, 1, 1, 5]), np.array([1, 0, 1, 0, 1])
    )
    chance = observed_risk(cells, None).of(1)
    assert chance.cells == 4
    assert (chance.count_true, chance.all_residents, chance.claim_right) == (0.5, 0.25, 0.5)
    assert observed_risk(cells, None).of(2).claim_right is None


def test_several_exchanges_add_up() -> None:
    prior = reference_prior()
    one = moves_by_rate(0.1, prior)
    assert together([one, NO_MOVES]) == one
    both = together([one, one])
    assert both.leaving(np.array([5]))[0] == pytest.approx(1 - 0.9**2)
    assert together([]).none


def test_nonsense_is_refused() -> None:
    prior = reference_prior()
    with pytest.raises(SpecError, match="1 or more"):
        combined_risk(None, prior, NO_MOVES, published=(0, 1))
    with pytest.raises(SpecError, match="from 0 to 1"):
        moves_by_rate(1.5, prior)
    with pytest.raises(SpecError, match="not all 0"):
        CountPrior(np.array([1]), np.array([0.0]))
    assert "confidential" in repr(combined_risk(None, prior, NO_MOVES))
