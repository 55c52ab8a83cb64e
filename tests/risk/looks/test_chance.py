from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.risk.looks.chance import (
    best_guess,
    edge_probability,
    hypercube_looks,
    large_variance,
    margin_exploit,
    most_looks,
    recoveries,
    recovery,
    recovery_with,
    required,
    variance_for,
)
from tests.risk.least_squares import indicator, least_squares_weights


@pytest.mark.parametrize(
    ("publications", "chance"), [(1, 0.40), (2, 0.50), (3, 0.62), (5, 0.74), (10, 0.88)]
)
def test_re_keying_costs_a_look_each_time(publications: int, chance: float) -> None:
    # The best guess of a count under CP3(EU), from independent publications of it.
    assert best_guess(scheme("CP3(EU)"), publications) == pytest.approx(chance, abs=0.005)


@pytest.mark.parametrize("limit", [0.0, 1.0, 1e-300, 1 - 1e-16, -1.0, 2.0, math.nan])
def test_limits_without_a_variance_are_refused(limit: float) -> None:
    with pytest.raises(SpecError, match="choose one such as"):
        variance_for(1, limit)


@pytest.mark.parametrize("name", ["CP1", "CP2", "CP3", "RR3", "RR5"])
def test_the_best_guess_is_that_of_all_outcomes(name: str) -> None:
    """Every pair of published values, one by one, and whoever knows the scheme."""
    design = scheme(name)
    reach = design.max_deviation
    expected = []
    for count in range(60, 60 + design.tail.period):
        chances = dict(
            zip(design.targets(count).tolist(), design.probabilities(count).tolist(), strict=True)
        )
        total = 0.0
        for pair in itertools.product(chances, repeat=2):
            scores = {}
            for other in range(count - 2 * reach, count + 2 * reach + 1):
                law = dict(
                    zip(
                        design.targets(other).tolist(),
                        design.probabilities(other).tolist(),
                        strict=True,
                    )
                )
                scores[other] = math.prod(law.get(one, 0.0) for one in pair)
            best = max(scores.values())
            winners = [one for one, score in scores.items() if score >= best * (1 - 1e-9)]
            if count in winners:
                total += math.prod(chances[one] for one in pair) / len(winners)
        expected.append(total)
    assert best_guess(design, 2) == pytest.approx(float(np.mean(expected)))


def test_one_publication_is_the_largest_probability() -> None:
    for name in ("CP1", "CP2", "CP3(EU)", "CP3", "CP4", "CP3(1,2)"):
        design = scheme(name)
        assert best_guess(design) == pytest.approx(design.probabilities(1000).max())


def test_too_many_outcomes_are_refused() -> None:
    with pytest.raises(SpecError, match="too many ways"):
        best_guess(design_perturbation(20, 30.0), 12)
    with pytest.raises(SpecError, match="whole number"):
        best_guess(scheme("CP1"), 0)


def test_the_figures_of_an_open_menu_follow_from_its_looks() -> None:
    # A simulation on 47,000 people, parish by age with 28 further variables in three-way tables,
    # found .38 of the counts alone, and together .83, .76, .70 and .70. Seven and a half looks.
    assert recovery(1, 1.0) == pytest.approx(0.38, abs=0.005)
    for name, share in (("CP3(EU)", 0.83), ("CP3", 0.76), ("CP4", 0.70), ("CP3(1,2)", 0.70)):
        assert recovery(7.5, large_variance(scheme(name))) == pytest.approx(share, abs=0.04)


@given(st.floats(1, 500), st.floats(0.02, 0.98))
def test_the_needed_variance_gives_the_limit(looks: float, limit: float) -> None:
    variance = variance_for(looks, limit)
    assert recovery(looks, variance) == pytest.approx(limit)
    assert most_looks(variance, limit) == pytest.approx(looks)


@given(st.floats(0.1, 30), st.floats(1, 100), st.floats(1, 100))
def test_more_looks_find_more(variance: float, first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert recovery(low, variance) <= recovery(high, variance)


def test_averages_are_right_as_often_as_the_formula_says() -> None:
    """Eight looks, each the sum of so many noisy cells; a share of a third off would be seen."""
    parts = [1, 2, 2, 3, 4, 5, 6, 8]
    looks = sum(1 / part for part in parts)
    draw = np.random.default_rng(20_260_301)
    for name in ("CP3(EU)", "CP3", "CP4"):
        design = scheme(name)
        values, chances = design.deviations(1000), design.probabilities(1000)
        average = np.zeros(40_000)
        for part in parts:
            noise = draw.choice(values, p=chances / chances.sum(), size=(40_000, part)).sum(axis=1)
            average += noise / part / looks
        found = float((np.rint(average) == 0).mean())
        told = recovery(looks, large_variance(design))
        assert found == pytest.approx(told, abs=0.015)
        assert abs(found - recovery(looks * 4 / 3, large_variance(design))) > 0.015


@pytest.mark.parametrize(
    ("sizes", "dimensions", "cell"),
    [
        ((5,), 1, (0,)),
        ((2,), 1, (0,)),
        ((2, 5), 2, (0, 1)),
        ((9, 9), 2, (0, 1)),
        ((3, 3, 4), 3, (0, 1, 2)),
        ((2, 2, 3), 2, (0,)),
        ((2, 2, 2, 3), 3, (0, 1)),
    ],
)
def test_the_chance_is_that_of_the_noise_itself(
    sizes: tuple[int, ...], dimensions: int, cell: tuple[int, ...]
) -> None:
    """Least squares over all tables, with noise as it is drawn: within .02, from one look on."""
    tables = [
        chosen
        for number in range(dimensions + 1)
        for chosen in itertools.combinations(range(len(sizes)), number)
    ]
    whole = [frozenset(range(size)) for size in sizes]
    shown = [
        tuple(
            frozenset([codes[chosen.index(at)]]) if at in chosen else own
            for at, own in enumerate(whole)
        )
        for chosen in tables
        for codes in itertools.product(*(range(sizes[at]) for at in chosen))
    ]
    target = tuple(frozenset([0]) if at in cell else own for at, own in enumerate(whole))
    weights = least_squares_weights(shown, target, sizes)
    looks = 1 / float(weights @ weights)
    assert weights[shown.index(target)] == pytest.approx(1 / looks)
    draw = np.random.default_rng(20_261_117)
    used = np.abs(weights) > 1e-9
    inside = np.stack([indicator(one, sizes) for one in shown])[used].astype(np.int64)
    # Sums have the remainders of their parts together, which matters for rounding.
    truth = draw.integers(500, 600, (8_000, inside.shape[1])) @ inside.T
    for design in (
        *map(scheme, ("CP1", "CP2", "CP3(EU)", "CP3", "CP3(1,2)", "CP4", "RR3", "RR5")),
        design_perturbation(8, 7),
    ):
        moved = np.zeros(truth.shape)
        for remainder in range(design.tail.period):
            count = 1000 * design.tail.period + remainder
            these = truth % design.tail.period == remainder
            chances = design.probabilities(count)
            moved[these] = draw.choice(
                design.deviations(count), p=chances / chances.sum(), size=int(these.sum())
            )
        error = moved @ weights[used]
        # Half way between two counts, one of them is taken.
        found = float((np.abs(error) < 0.5 - 1e-9).mean() + (np.abs(error) < 0.5 + 1e-9).mean()) / 2
        said = recoveries(np.array([looks]), design)[0]
        assert said == pytest.approx(found, abs=0.02 + 0.005), design.name
        assert recovery_with(looks, design) >= said


@pytest.mark.parametrize("base", [3, 5])
@pytest.mark.parametrize("parts", [2, 3])
def test_rounding_is_within_two_percent_of_every_way_it_can_turn_out(base: int, parts: int) -> None:
    """A part and its total, by going through all remainders and all deviations: no sampling."""
    design = scheme(f"RR{base}")
    moves = [
        [*zip(design.deviations(at).tolist(), design.probabilities(at).tolist(), strict=True)]
        for at in range(100 * base, 101 * base)
    ]
    # In looks: 1 + 1/parts. The part has parts/(parts + 1) of the weight, all others the rest.
    chance = 0.0
    for remainders in itertools.product(range(base), repeat=parts):
        published = (*remainders, sum(remainders) % base)
        for turned in itertools.product(*(moves[one] for one in published)):
            error = parts * turned[0][0] + turned[-1][0] - sum(one for one, _ in turned[1:-1])
            half = 0.5 if abs(2 * error) == parts + 1 else float(abs(2 * error) < parts + 1)
            chance += half * math.prod(own for _, own in turned)
    chance /= base**parts
    said = recoveries(np.array([1 + 1 / parts]), design)[0]
    assert said == pytest.approx(chance, abs=0.02)
    if (base, parts) == (3, 2):
        assert chance == pytest.approx(11 / 27)


def test_a_normal_error_is_wrong_for_few_looks() -> None:
    """Which is why it is not used where the noise is known."""
    wrong = [
        abs(recovery(1.2, large_variance(scheme(name))) - recovery_with(1.2, scheme(name)))
        for name in ("CP1", "CP3", "CP4")
    ]
    assert min(wrong) > 0.018
    assert max(wrong) > 0.03


def test_margins_give_everything_away_as_often_as_printed() -> None:
    # Two parts at one edge and the total at the other, independent noise.
    expected = {"CP1": 3.1e-2, "CP2": 5.9e-4, "CP3": 2.7e-5, "CP3(1,2)": 1.7e-4, "CP4": 8e-7}
    expected["CP3(EU)"] = 1.9e-7
    for name, chance in expected.items():
        edge = edge_probability(scheme(name))
        # CP4 is printed for a stay probability of .33 and is designed with a third here.
        assert margin_exploit(edge, 1) == pytest.approx(chance, rel=0.2)


@given(st.floats(1, 50), st.integers(1, 10**9), st.integers(2, 5))
def test_what_is_required_is_just_enough(looks: float, often: int, parts: int) -> None:
    wanted = required(looks, 0.5, often, parts=parts)
    assert margin_exploit(wanted.edge, often, parts) <= 0.01
    assert margin_exploit(min(1.0, wanted.edge * 1.001), often, parts) > 0.01
    assert wanted.variance == variance_for(looks, 0.5)
    assert required(looks, 0.5, {parts: often}).edge == wanted.edge


def test_sums_of_several_sizes_are_added_up() -> None:
    both = required(1, 0.5, {2: 1000, 3: 1000}).edge
    assert both < required(1, 0.5, {2: 1000}).edge
    assert required(1, 0.5, {}).edge == 1


def test_requirements_are_confidential_and_say_which_scheme_meets_them() -> None:
    wanted = required(1.5, 0.5, 1000)
    assert "confidential" in repr(wanted)
    assert str(wanted.variance) not in f"{wanted}"
    assert wanted.met_by(scheme("CP3(EU)"))
    assert not wanted.met_by(scheme("CP2"))  # its edge is too likely
    assert not required(2.5, 0.5, 1000).met_by(scheme("CP3(EU)"))  # its variance is too small


@pytest.mark.parametrize("looks", [0, 0.5, math.nan, math.inf])
def test_looks_are_one_or_more(looks: float) -> None:
    with pytest.raises(SpecError, match="looks are 1 or more"):
        recovery(looks, 1)


@pytest.mark.parametrize("limit", [0, 1, -0.1, 2, math.nan])
def test_limits_lie_between_0_and_1(limit: float) -> None:
    with pytest.raises(SpecError, match="between 0 and 1"):
        variance_for(1, limit)


def test_other_numbers_out_of_range_are_refused() -> None:
    for variance in (-1, math.nan, math.inf):
        with pytest.raises(SpecError, match="variance"):
            recovery(1, variance)
    with pytest.raises(SpecError, match="at least one code"):
        hypercube_looks([2, 0])
    with pytest.raises(SpecError, match="between 0 and 1"):
        margin_exploit(1.5, 1)
    with pytest.raises(SpecError, match="above 0"):
        required(1, 0.5, 1, alpha=0)
    assert recovery(3, 0) == 1


def test_every_scheme_has_a_variance_and_an_edge() -> None:
    for name in SCHEMES:
        design = scheme(name)
        assert 0 < edge_probability(design) < 0.5
        assert large_variance(design) > 0
    assert large_variance(scheme("RR5")) == pytest.approx(4)
    assert large_variance(scheme("RR3")) == pytest.approx(4 / 3)
