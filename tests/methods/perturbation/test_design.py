from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy.optimize import linprog

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.perturbation.entropy import FLOOR, maximum_entropy
from sdcensus.methods.perturbation.design import VarianceMode, design_perturbation
from sdcensus.methods.perturbation.feasibility import (
    RowShape,
    largest_stay,
    largest_variance,
    least_variance,
    row_shape,
    variance_to_block,
)
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.vocabulary import Relax

#: ECLAC (2020), Diagram 1A: D=3, V=1.5, stay .4; the rows of the counts 1, 2 and 3.
DIAGRAM_1A = {
    1: [0.37967089, 0.37967089, 0.13660124, 0.06910130, 0.03495568],
    2: [0.12310637, 0.19267419, 0.4, 0.16289118, 0.08798903, 0.03333923],
    3: [0.02367714, 0.08686096, 0.18946190, 0.4, 0.18946190, 0.08686096, 0.02367714],
}
#: ECLAC (2020), Table A3 and Diagram 1B: D=3, counts 1 and 2 blocked, stay 1/3, variance 2.01.
TABLE_A3 = {
    1: [0.6675, 0.33, 0.0025],
    2: [0.33416658, 0.66333419, 0.00249871, 5.2e-07],
    3: [0.14853924, 0.50678866, 0.25654544, 0.07530772, 0.01281895],
    4: [0.37967089, 0.37967089, 0.13660124, 0.0691013, 0.03495568],
    5: [0.17534656, 0.18513687, 0.33333333, 0.14071318, 0.10129336, 0.0641767],
    6: [0.04385788, 0.10693454, 0.18254091, 0.33333333, 0.18254091, 0.10693454, 0.04385788],
}
#: A unit test of the R package ptable: D=2, V=1.05, count 1 blocked, row 3 not monotone.
PTABLE_TEST = {
    1: [0.50833333, 0.475, 0.01666667],
    2: [0.16155827, 0.55565037, 0.24246618, 0.04032518],
    3: [0.41231301, 0.28806097, 0.18693903, 0.11268699],
    4: [0.07012498, 0.24450007, 0.37074990, 0.24450007, 0.07012498],
}
#: The table of D=3, V=2.01, counts 1 and 2 blocked, stay 1/3, in 2**32 keys.
TABLE_A3_IN_32_BITS = {
    1: (2866890670, 1417339208, 10737418),
    2: (1435234536, 2848998661, 10731886, 2213),
    3: (637971176, 2176640702, 1101854274, 323444178, 55056966),
    4: (1630674048, 1630674046, 586697868, 296787822, 150133512),
    5: (753107743, 795156798, 1431655765, 604358508, 435051670, 275636812),
}


def stays(design: PerturbationDesign) -> list[float]:
    return [design.stay(row) for row in range(1, design.tail.rows)]


def variances(design: PerturbationDesign) -> list[float]:
    return [design.variance(row) for row in range(1, design.tail.rows)]


# -- what was published --------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "printed"), DIAGRAM_1A.items())
def test_diagram_1a_is_reproduced_to_every_printed_digit(count: int, printed: list[float]) -> None:
    design = design_perturbation(3, 1.5, stay=0.4)
    assert design.probabilities(count).round(8).tolist() == printed
    assert design.targets(count).tolist() == list(range(max(0, count - 3), count + 4))


@pytest.mark.parametrize(("count", "printed"), TABLE_A3.items())
def test_table_a3_is_reproduced_to_every_printed_digit(count: int, printed: list[float]) -> None:
    design = design_perturbation(3, 2.01, blocked=2, stay=1 / 3)
    assert design.probabilities(count).tolist() == pytest.approx(printed, abs=2e-8)
    assert not {1, 2} & set(design.targets(count).tolist())
    assert variances(design)[count - 1] == pytest.approx(1.107278 if count == 4 else 2.01, abs=1e-6)


def test_diagram_1b_shows_a_stay_probability_of_333_thousandths() -> None:
    """The caption of Diagram 1B says .33; its entries are those of .333."""
    design = design_perturbation(3, 2.01, blocked=2, stay=0.333)
    assert (design.stay(5), design.stay(6), design.stay(7)) == (0.333, 0.333, 0.333)
    for count in (1, 2, 3, 4):
        assert design.probabilities(count).tolist() == pytest.approx(TABLE_A3[count], abs=2e-8)


def test_table_11_is_reproduced() -> None:
    """ECLAC (2020), Table 11: D=1, V=.5."""
    design = design_perturbation(1, 0.5)
    assert design.probabilities(1).tolist() == [0.25, 0.5, 0.25]
    assert design.probabilities(1000).tolist() == [0.25, 0.5, 0.25]


@pytest.mark.parametrize(("count", "printed"), PTABLE_TEST.items())
def test_the_unit_test_of_the_r_package_is_reproduced(count: int, printed: list[float]) -> None:
    design = design_perturbation(2, 1.05, blocked=1, monotone=[True, True, False, True])
    # The package prints differences of bounds that it rounded to eight decimals.
    bounds = np.concatenate([[0], np.cumsum(design.probabilities(count)).round(8)])
    assert np.diff(bounds).tolist() == pytest.approx(printed, abs=5e-9)
    assert design.probabilities(count).tolist() == pytest.approx(printed, abs=2e-8)


def test_a_table_in_32_bits_has_the_published_number_of_keys() -> None:
    table = design_perturbation(3, 2.01, blocked=2, stay=1 / 3).table()
    for row, widths in TABLE_A3_IN_32_BITS.items():
        assert table.rows[row].widths == widths
    # Row 6 is symmetric, so two repairs are equally good; the upper pair makes it.
    assert table.rows[6].widths == (
        *(188368165, 459280350, 784007251, 1431655763),
        *(784007253, 459280349, 188368165),
    )
    assert all(table.bias(count) == 0 for count in range(10))


@pytest.mark.parametrize(("deviation", "variance"), [(2, 0.932), (3, 1.107), (4, 1.225)])
def test_the_count_one_has_less_variance_than_asked(deviation: int, variance: float) -> None:
    design = design_perturbation(deviation, deviation**2 / 2)
    assert round(design.variance(1), 3) == variance


@pytest.mark.parametrize("deviation", [1, 2, 3, 4, 7, 20, 50])
def test_the_largest_variance_of_the_count_one_has_a_closed_form(deviation: int) -> None:
    edge = largest_variance(row_shape(1, deviation, 0, monotone=True))
    assert edge is not None
    closed = deviation * (deviation + 1) / (2 * deviation + 1)
    assert float(edge.variance) == pytest.approx(closed, rel=1e-4)
    assert edge.variance <= Fraction(deviation * (deviation + 1), 2 * deviation + 1)


# -- properties ----------------------------------------------------------------------------------


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    deviation = draw(st.integers(1, 7))
    blocked = draw(st.integers(0, min(3, deviation - 1)))
    least = variance_to_block(blocked)
    share = draw(st.floats(0.01, 0.5))
    return {
        "max_deviation": deviation,
        "variance": least + 0.01 + share * (deviation**2 - least - 0.02),
        "blocked": blocked,
        "stay": draw(st.none() | st.floats(0.05, 0.95)),
        "monotone": draw(st.booleans()),
        "variance_mode": draw(st.sampled_from(VarianceMode)),
        "relax": draw(st.sampled_from(Relax)),
    }


@given(parameters())
@example({"max_deviation": 3, "variance": 1.5, "stay": 0.6, "variance_mode": "equal"})
def test_rows_are_what_was_asked_for_or_say_so(given: dict[str, Any]) -> None:
    design = design_perturbation(**given)
    deviation, variance, stay = given["max_deviation"], given["variance"], given.get("stay")
    blocked = given.get("blocked", 0)
    equal = given.get("variance_mode", "at_most") == "equal"
    reported = {(one.row, one.what): one for one in design.relaxed}
    assert design.tail.rows - 1 == (deviation if blocked == 0 else deviation + blocked + 1)
    assert design.probabilities(0).tolist() == [1.0]
    for row in range(1, design.tail.rows):
        deviations, chances = design.deviations(row), design.probabilities(row)
        assert math.fsum(chances) == pytest.approx(1, abs=1e-14)
        assert design.bias(row) == pytest.approx(0, abs=1e-12)
        assert (chances >= FLOOR * (1 - 1e-12)).all()
        allowed = [v for v in range(-deviation, deviation + 1) if row + v == 0 or row + v > blocked]
        assert deviations.tolist() == allowed
        if given.get("monotone", True):
            left = chances[deviations <= 0]
            assert (np.diff(left) >= -1e-15).all()
        own = design.variance(row)
        assert own <= variance + 1e-9
        assert (own < variance - 1e-9) is ((row, "variance") in reported)
        if (row, "variance") in reported:
            assert reported[row, "variance"].got == pytest.approx(own, abs=1e-12)
            assert reported[row, "variance"].asked == variance
        if stay is not None and row > blocked:
            assert (design.stay(row) < stay - 1e-9) is ((row, "stay") in reported)
            if (row, "stay") in reported:
                assert reported[row, "stay"].got == design.stay(row)
        else:
            assert (row, "stay") not in reported
    last = design.probabilities(design.tail.start)
    if not equal:
        assert last.tolist() == pytest.approx(last[::-1].tolist(), abs=1e-15)


@given(parameters())
def test_the_same_parameters_give_the_same_bits(given: dict[str, Any]) -> None:
    first, second = design_perturbation(**given), design_perturbation(**given)
    assert first.rows == second.rows
    assert first.relaxed == second.relaxed
    assert first.table(10**8).rows == second.table(10**8).rows


@given(parameters(), st.sampled_from([256, 4096, 10**5, 10**8, 2**32, 65_521]))
def test_every_design_becomes_a_table_without_bias(given: dict[str, Any], modulus: int) -> None:
    table = design_perturbation(**given).table(modulus)
    for row in range(table.tail.rows):
        deviations = table.rows[row].deviations
        step = math.gcd(*(value - deviations[0] for value in deviations))
        bias = Fraction(table.bias(row))
        assert bias == 0 or abs(bias) < Fraction(step, modulus)


def test_all_options_have_defaults_that_are_reported() -> None:
    design = design_perturbation(3, 1.5)
    assert dict(design.parameters) == {
        "max_deviation": 3,
        "variance": 1.5,
        "blocked": 0,
        "stay": None,
        "monotone": True,
        "variance_mode": "at_most",
        "relax": "reference",
    }
    each = design_perturbation(2, 1.0, stay=[0.3, None], monotone=[True, False])
    assert dict(each.parameters)["stay"] == "0.3, none"
    assert dict(each.parameters)["monotone"] == "True, False"


def test_stay_probabilities_can_be_given_for_each_row() -> None:
    design = design_perturbation(3, 1.0, stay=np.array([0.42, 0.45, 0.4]))  # type: ignore[arg-type]
    assert stays(design) == [0.42, 0.45, 0.4]
    assert variances(design) == pytest.approx([1.0, 1.0, 1.0], abs=1e-12)


# -- what a row cannot meet ----------------------------------------------------------------------


def test_a_relaxed_row_is_reported_with_what_it_has() -> None:
    design = design_perturbation(3, 1.5, stay=0.4)
    assert [(one.row, one.what, one.asked) for one in design.relaxed] == [
        (1, "stay", 0.4),
        (1, "variance", 1.5),
    ]
    assert [one.got for one in design.relaxed] == pytest.approx([0.37967089, 1.107278], abs=1e-6)
    assert [one.why for one in design.relaxed] == [
        "with 0.4 its variance would be 1.11459",
        "the least predictable row has no more",
    ]


def test_the_reference_lowers_the_stay_probability_in_steps_of_a_twentieth() -> None:
    # With stay s, the natural variance of the symmetric row is (1 - s) * (1 + 4 + 9) / 3.
    design = design_perturbation(3, 1.5, stay=0.7)
    assert design.stay(3) == pytest.approx(0.65, abs=1e-15)
    assert design.variance(3) == pytest.approx(1.5, abs=1e-12)
    assert [(one.row, one.what) for one in design.relaxed if one.row == 3] == [(3, "stay")]


def test_the_reference_solves_a_row_twenty_times_at_most() -> None:
    # The symmetric row has (1 - s) * 143.5, which is 139.9 only below s = .0251.
    design = design_perturbation(20, 139.9, stay=0.99)
    assert design.stay(20) == pytest.approx(0.99 - 19 * 0.05, abs=1e-12)
    assert design.variance(20) == pytest.approx(0.96 * 143.5, abs=1e-9)
    assert [one.what for one in design.relaxed if one.row == 20] == ["stay", "variance"]
    assert "with this stay probability has no more" in design.relaxed[-1].why


def test_the_reference_looks_at_three_decimals_of_the_variance() -> None:
    # The natural variance of the symmetric row is 1.4, which is 1.4004 to three decimals.
    design = design_perturbation(3, 1.4004, stay=0.7)
    assert design.stay(3) == 0.7
    (relaxed,) = (one for one in design.relaxed if one.row == 3)
    assert relaxed.what == "variance"
    assert relaxed.got == pytest.approx(1.4, abs=1e-9)


def test_a_variance_with_many_decimals_does_not_cost_the_stay_probability() -> None:
    """The reference compares three decimals with all of them, and loses it."""
    design = design_perturbation(3, 4 / 3, stay=0.4)
    assert (design.stay(2), design.stay(3)) == (0.4, 0.4)
    assert design.variance(3) == pytest.approx(4 / 3, abs=1e-12)


def test_the_largest_stay_probability_that_attains_the_variance_is_found() -> None:
    design = design_perturbation(3, 1.5, stay=0.7, relax="largest-stay")
    assert design.stay(3) == pytest.approx(1 - 1.5 / (14 / 3), abs=1e-10)
    assert design.variance(3) == pytest.approx(1.5, abs=1e-9)
    # A little more, and the row has less variance.
    more = maximum_entropy(range(-3, 4), stay=design.stay(3) + 1e-6, rising=4)
    assert more.variance < 1.5 - 1e-6


def test_an_unattainable_variance_becomes_the_largest_attainable_one() -> None:
    design = design_perturbation(3, 1.5, stay=0.4, relax="largest-stay")
    reference = design_perturbation(3, 1.5, stay=0.4)
    # Without the count itself, results are geometric: x^-1, x, x^2, x^3 with mean 0. The variance
    # is largest where the count is as probable as 0, the result next to it.
    x = max(root.real for root in np.roots([3, 2, 1, 0, -1]) if abs(root.imag) < 1e-12)
    total = 2 / x + x + x**2 + x**3
    assert design.stay(1) == pytest.approx(1 / x / total, abs=1e-9)
    assert design.variance(1) == pytest.approx((1 / x + x + 4 * x**2 + 9 * x**3) / total, abs=1e-9)
    assert design.stay(1) > reference.stay(1)
    assert design.variance(1) > reference.variance(1)
    tried = [design_perturbation(3, 8.9, stay=[s, None, None]) for s in np.arange(0.3, 0.6, 0.01)]
    assert max(one.variance(1) for one in tried) <= design.variance(1)


def test_stay_probabilities_may_rise_when_they_are_searched_for() -> None:
    # 1.12 lies between the 1.107 of the least predictable row and the 1.146 of the row above.
    design = design_perturbation(3, 1.12, relax="largest-stay")
    assert design.variance(1) == pytest.approx(1.12, abs=1e-9)
    assert design.relaxed == ()
    assert design_perturbation(3, 1.12).variance(1) == pytest.approx(1.107278, abs=1e-6)


def test_a_variance_that_has_to_be_met_is_met_where_it_can_be() -> None:
    design = design_perturbation(3, 1.5, stay=0.4, variance_mode="equal")
    assert variances(design) == pytest.approx([1.5, 1.5, 1.5], abs=1e-12)
    assert design.relaxed == ()
    # From 12/7 on, no row of the count 1 has it.
    design = design_perturbation(3, 1.8, variance_mode="equal")
    assert variances(design) == pytest.approx([12 / 7, 1.8, 1.8], abs=1e-6)
    assert [(one.row, one.what) for one in design.relaxed] == [(1, "variance")]


def test_a_stay_probability_gives_way_to_a_variance_that_has_to_be_met() -> None:
    steps = design_perturbation(3, 1.5, stay=0.6, variance_mode="equal")
    assert steps.stay(1) == pytest.approx(0.45, abs=1e-12)
    largest = design_perturbation(3, 1.5, stay=0.6, variance_mode="equal", relax="largest-stay")
    # With a variance of 1.5, the count 1 stays most often when it becomes 0, 1 or 4 only.
    assert largest.stay(1) == pytest.approx(0.5, abs=1e-6)
    assert variances(steps) == pytest.approx([1.5, 1.5, 1.5], abs=1e-9)
    assert variances(largest) == pytest.approx([1.5, 1.5, 1.5], abs=1e-9)


# -- refusals ------------------------------------------------------------------------------------


def named_values(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in re.findall(r"(\w+)=(\d+(?:\.\d+)?)", text)}


def test_strict_refuses_what_would_be_relaxed_and_names_values_that_work() -> None:
    with pytest.raises(SpecError, match=r"row 1 has 1\.11459") as caught:
        design_perturbation(3, 1.5, stay=0.4, strict=True)
    works = named_values(str(caught.value))
    design = design_perturbation(3, works["variance"], stay=0.4, strict=True)
    assert design.relaxed == ()
    with pytest.raises(SpecError):
        design_perturbation(3, works["variance"] + 2e-4, stay=0.4, strict=True)


def test_strict_names_the_stay_probability_that_works() -> None:
    with pytest.raises(
        SpecError, match=r"reaches the variance 1 with its stay probability 0\.5"
    ) as caught:
        design_perturbation(3, 1.0, stay=0.5, strict=True)
    works = named_values(str(caught.value))
    assert design_perturbation(3, 1.0, stay=works["stay"], strict=True).relaxed == ()
    with pytest.raises(SpecError):
        design_perturbation(3, 1.0, stay=works["stay"] + 2e-4, strict=True)


def test_strict_says_nothing_about_values_that_do_not_exist() -> None:
    with pytest.raises(SpecError) as caught:
        design_perturbation(3, 5.0, blocked=2, strict=True)
    assert not named_values(str(caught.value))


def test_strict_accepts_what_can_be_met() -> None:
    assert design_perturbation(3, 1.0, stay=0.4, strict=True).relaxed == ()
    assert design_perturbation(3, 1.5, stay=0.4, variance_mode="equal", strict=True).relaxed == ()


def test_a_variance_of_two_cannot_block_ones_and_twos() -> None:
    """With V=2 the reference program stops; the study says 2, and its rows have 2.01."""
    with pytest.raises(
        SpecError, match=r"Row 2 cannot be built.*variance of 2, and more"
    ) as caught:
        design_perturbation(3, 2, blocked=2, stay=1 / 3)
    works = named_values(str(caught.value))
    assert works == {"variance": 2.01, "blocked": 1}
    design_perturbation(3, works["variance"], blocked=2)
    design_perturbation(3, 2, blocked=1)


@pytest.mark.parametrize("blocked", [1, 2, 3, 4, 5, 9])
def test_the_variance_that_blocking_takes_is_exact(blocked: int) -> None:
    bound = (blocked + 1) ** 2 // 4
    shapes = [row_shape(row, blocked + 1, blocked, monotone=True) for row in range(1, blocked + 1)]
    least = [least_variance(shape) for shape in shapes]
    needed = [float(one.variance) for one in least if one is not None]
    closed = [row * (blocked + 1 - row) for row in range(1, blocked + 1)]
    assert needed == pytest.approx(closed, abs=1e-4)
    assert max(closed) == bound == variance_to_block(blocked)
    with pytest.raises(SpecError, match="cannot be built") as caught:
        design_perturbation(blocked + 1, bound, blocked=blocked)
    works = named_values(str(caught.value))["variance"]
    assert bound < works <= bound + 0.02
    design_perturbation(blocked + 1, works, blocked=blocked)


@pytest.mark.parametrize(("deviation", "blocked"), [(1, 1), (2, 2), (2, 5), (3, 49)])
def test_blocked_counts_need_room(deviation: int, blocked: int) -> None:
    with pytest.raises(SpecError, match=rf"Row {blocked + 1} .*at least {blocked + 1}") as caught:
        design_perturbation(deviation, 0.5, blocked=blocked)
    assert f"variance above {(blocked + 1) ** 2 // 4}" in str(caught.value)
    assert f"blocked is {deviation - 1} at most" in str(caught.value)


def test_a_variance_below_that_of_the_smallest_probabilities_is_refused() -> None:
    with pytest.raises(SpecError, match=r"Row 50 cannot be built.*1e-08") as caught:
        design_perturbation(50, 1e-4)
    design_perturbation(50, named_values(str(caught.value))["variance"])


def test_a_stay_probability_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match=r"Row 1 cannot be built.*stay probability") as caught:
        design_perturbation(20, 1.0, stay=1 - 1e-8)
    design_perturbation(20, 1.0, stay=named_values(str(caught.value))["stay"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"max_deviation": 0}, "max_deviation is a whole number from 1 to 50, not 0"),
        ({"max_deviation": 51}, "max_deviation is a whole number from 1 to 50, not 51"),
        ({"max_deviation": 3.0}, "max_deviation is a whole number"),
        ({"max_deviation": True}, "max_deviation is a whole number"),
        ({"max_deviation": "3"}, "max_deviation is a whole number"),
        ({"max_deviation": None}, "max_deviation is a whole number"),
        ({"variance": 0}, "variance is above 0 and below 9"),
        ({"variance": -1.0}, "variance is above 0 and below 9"),
        ({"variance": 9}, "variance is above 0 and below 9"),
        ({"variance": math.nan}, "variance is above 0 and below 9"),
        ({"variance": math.inf}, "variance is above 0 and below 9"),
        ({"variance": 10**400}, "variance is above 0 and below 9"),
        ({"variance": True}, "variance is a number"),
        ({"variance": "1.5"}, "variance is a number"),
        ({"variance": None}, "variance is a number"),
        ({"blocked": -1}, "blocked is a whole number"),
        ({"blocked": 1.5}, "blocked is a whole number"),
        ({"blocked": False}, "blocked is a whole number"),
        ({"stay": 0}, "stay is above 0 and below 1"),
        ({"stay": 1}, "stay is above 0 and below 1"),
        ({"stay": math.nan}, "stay is above 0 and below 1"),
        ({"stay": "0.4"}, "stay is a number"),
        ({"stay": True}, "stay is a number"),
        ({"stay": [0.4, 0.4]}, "stay has 2 values, and there are 3 rows"),
        ({"stay": [0.4, 2.0, 0.4]}, "stay of row 2 is above 0 and below 1"),
        ({"monotone": [True] * 4}, "monotone has 4 values, and there are 3 rows"),
        ({"monotone": [True, 1, True]}, "monotone of row 2 is True or False"),
        ({"monotone": "yes"}, "monotone is True or False"),
        ({"monotone": None}, "monotone is True or False"),
        ({"strict": 1}, "strict is True or False"),
    ],
)
def test_values_that_make_no_sense_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecError, match=re.escape(says)):
        design_perturbation(**{"max_deviation": 3, "variance": 1.5, **given})


@pytest.mark.parametrize(
    "given", [{"variance_mode": "exact"}, {"relax": "greatest-stay"}, {"relax": None}]
)
def test_options_that_do_not_exist_are_refused_with_those_that_do(given: dict[str, Any]) -> None:
    with pytest.raises(UnknownName, match="There is no"):
        design_perturbation(3, 1.5, **given)


def test_numbers_of_numpy_are_numbers() -> None:
    design = design_perturbation(
        np.int64(3),  # type: ignore[arg-type]
        np.float32(1.5),  # type: ignore[arg-type]
        stay=[np.float64(0.4)] * 3,
        monotone=np.array([True, True, True]),  # type: ignore[arg-type]
    )
    assert design.rows == design_perturbation(3, 1.5, stay=0.4).rows


# -- what rows can have at all -------------------------------------------------------------------


def by_linear_programming(
    shape: RowShape, goal: np.ndarray[Any, Any], stay: float | None, variance: float | None
) -> float | None:
    """The same bounds from another solver."""
    values = np.array(shape.deviations, dtype=float)
    size = len(values)
    equal = [np.ones(size), values]
    right = [1.0, 0.0]
    if variance is not None:
        equal.append(values**2)
        right.append(variance)
    below = [np.eye(size)[at] - np.eye(size)[at + 1] for at in range(shape.rising - 1)]
    found = linprog(
        -goal,
        A_ub=np.array(below) if below else None,
        b_ub=np.zeros(len(below)) if below else None,
        A_eq=np.array(equal),
        b_eq=np.array(right),
        bounds=[(stay if stay and v == 0 else FLOOR, 1) for v in values],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return None if found.x is None else float(goal @ found.x)


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(("deviation", "blocked"), [(1, 0), (3, 0), (3, 2), (5, 1), (9, 3)])
def test_bounds_of_rows_agree_with_another_solver(
    deviation: int, blocked: int, monotone: bool
) -> None:
    for row in range(1, deviation + (blocked + 1 if blocked else 0) + 1):
        shape = row_shape(row, deviation, blocked, monotone=monotone)
        squares = np.array(shape.deviations, dtype=float) ** 2
        staying = (np.array(shape.deviations) == 0).astype(float)
        for stay in (None, 0.3, 0.8) if shape.can_stay else (None,):
            least, most = least_variance(shape, stay), largest_variance(shape, stay)
            assert least is not None
            assert most is not None
            low = by_linear_programming(shape, -squares, stay, None)
            high = by_linear_programming(shape, squares, stay, None)
            assert low is not None
            assert high is not None
            assert float(least.variance) == pytest.approx(-low, abs=1e-7)
            assert float(most.variance) == pytest.approx(high, abs=1e-7)
            assert sum(most.probabilities) == 1
        if shape.can_stay:
            for variance in (0.2, 0.3 * deviation, 0.4 * deviation**2, float(deviation**2)):
                corner = largest_stay(shape, variance, equal=True)
                other = by_linear_programming(shape, staying, None, variance)
                assert (corner is None) is (other is None)
                if corner is not None:
                    assert float(corner.stay) == pytest.approx(other, abs=1e-7)
                    assert corner.variance == Fraction(variance)


def test_corners_are_rows() -> None:
    shape = row_shape(2, 4, 0, monotone=True)
    for corner in (
        least_variance(shape, 0.3),
        largest_variance(shape, 0.3),
        largest_stay(shape, 1.5, equal=True),
        largest_stay(shape, 1.5, equal=False),
    ):
        assert corner is not None
        pairs = list(zip(shape.deviations, corner.probabilities, strict=True))
        assert sum(chance for _, chance in pairs) == 1
        assert sum(value * chance for value, chance in pairs) == 0
        assert sum(value * value * chance for value, chance in pairs) == corner.variance
        assert corner.stay == dict(pairs)[0] >= Fraction(0.3)
        left = corner.probabilities[: shape.rising]
        assert all(a <= b for a, b in itertools.pairwise(left))
