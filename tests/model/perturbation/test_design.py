from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.model.perturbation.design import (
    DesignRow,
    PerturbationDesign,
    Relaxation,
    exact,
)
from sdcensus.model.perturbation.table import Tail

STAYS = DesignRow((0,), (1.0,))
SPREAD = DesignRow((-1, 0, 1), (0.25, 0.5, 0.25))
#: Random rounding to base 3 (ECLAC 2020, note to Figure 1).
ROUNDING = PerturbationDesign(
    (STAYS, DesignRow((-1, 2), (2 / 3, 1 / 3)), DesignRow((-2, 1), (1 / 3, 2 / 3))),
    Tail(0, period=3),
    blocked_up_to=2,
)


@given(st.sampled_from([256, 4096, 10**8, 2**32, 251]))
def test_a_table_has_the_designed_probabilities_in_every_key_space(modulus: int) -> None:
    design = PerturbationDesign((STAYS, SPREAD), Tail(1), name="CP1")
    table = design.table(modulus)
    assert (table.modulus, table.tail, table.name) == (modulus, Tail(1), "CP1")
    assert table.bias(1) == 0
    for (value, chance), (other, share) in zip(
        design.distribution(1), table.distribution(1), strict=True
    ):
        assert value == other
        assert abs(float(share) - chance) <= 3 / modulus


def test_deviations_too_rare_for_a_key_space_are_left_out() -> None:
    rare = 1e-8
    row = DesignRow((-2, -1, 0, 1, 2), (rare, 0.25, 0.5 - 2 * rare, 0.25, rare))
    design = PerturbationDesign((STAYS, SPREAD, row), Tail(2))
    assert design.table(256).rows[2].deviations == (-1, 0, 1)
    assert design.table(2**32).rows[2].deviations == (-2, -1, 0, 1, 2)


def test_a_design_answers_for_every_count() -> None:
    design = PerturbationDesign((STAYS, SPREAD), Tail(1))
    assert design.targets(0).tolist() == [0]
    assert design.targets(100).tolist() == [99, 100, 101]
    assert design.probabilities(1).tolist() == [0.25, 0.5, 0.25]
    assert design.deviations(1).tolist() == [-1, 0, 1]
    assert design.variance(3) == 0.5
    assert ROUNDING.targets(7).tolist() == [6, 9]
    assert ROUNDING.variance(8) == pytest.approx(2)
    assert exact(design.distribution(1)) == {
        -1: Fraction(1, 4),
        0: Fraction(1, 2),
        1: Fraction(1, 4),
    }


@pytest.mark.parametrize(
    ("deviations", "probabilities", "says"),
    [
        ((), (), "one probability for each"),
        ((0, 1), (1.0,), "one probability for each"),
        ((1, 0, -1), (0.25, 0.5, 0.25), "ascending"),
        ((-1, -1, 1), (0.25, 0.25, 0.5), "ascending"),
        ((-1, 0, 1), (0.25, 0.499, 0.25), "sum to 1"),
        ((-1, 0, 1), (0.6, -0.2, 0.6), "between 0 and 1"),
        ((-1, 0, 1), (0.25, math.nan, 0.25), "between 0 and 1"),
    ],
)
def test_rows_that_are_no_distribution_are_refused(
    deviations: tuple[int, ...], probabilities: tuple[float, ...], says: str
) -> None:
    with pytest.raises(SpecError, match=says):
        DesignRow(deviations, probabilities)


def test_a_bias_must_be_declared() -> None:
    grows = DesignRow((0, 1), (0.9, 0.1))
    with pytest.raises(SpecError, match="Row 1 changes the expected count"):
        PerturbationDesign((STAYS, grows), Tail(1))
    design = PerturbationDesign((STAYS, grows), Tail(1), biased=frozenset({1}))
    assert design.bias(1) == pytest.approx(0.1)
    assert design.table(1000).rows[1].widths == (900, 100)


def test_no_count_becomes_negative() -> None:
    with pytest.raises(SpecError, match="Row 1 would make the count 1 negative"):
        PerturbationDesign((STAYS, DesignRow((-2, 0, 2), (0.25, 0.5, 0.25))), Tail(1))


def test_blocked_counts_are_not_reached() -> None:
    with pytest.raises(SpecError, match="Row 1 leads to the blocked count 1"):
        PerturbationDesign((STAYS, SPREAD), Tail(1), blocked_up_to=1)


def test_rows_and_tail_fit_together() -> None:
    with pytest.raises(SpecError, match="tail"):
        PerturbationDesign((STAYS, SPREAD), Tail(2))


def test_empty_cells_may_grow() -> None:
    design = PerturbationDesign((STAYS, SPREAD), Tail(1)).with_perturbed_zeros({1: 0.01, 2: 0.002})
    assert design.targets(0).tolist() == [0, 1, 2]
    assert design.probabilities(0).tolist() == pytest.approx([0.988, 0.01, 0.002])
    assert design.biased == {0}
    assert design.targets(1).tolist() == [0, 1, 2]
    assert design.table(256).rows[0].deviations == (0, 1)


def test_multiples_of_the_base_stay_when_empty_cells_grow() -> None:
    design = ROUNDING.with_perturbed_zeros({3: 0.1})
    assert design.targets(0).tolist() == [0, 3]
    for count in range(1, 20):
        assert design.targets(count).tolist() == ROUNDING.targets(count).tolist()
        assert design.probabilities(count).tolist() == ROUNDING.probabilities(count).tolist()


@pytest.mark.parametrize("targets", [{0: 0.1}, {-1: 0.1}, {2: 0.1}])
def test_empty_cells_become_positive_counts_that_are_not_blocked(targets: dict[int, float]) -> None:
    with pytest.raises(SpecError, match="positive counts"):
        ROUNDING.with_perturbed_zeros(targets)


def test_empty_cells_cannot_grow_more_often_than_always() -> None:
    with pytest.raises(SpecError, match="more than 1"):
        ROUNDING.with_perturbed_zeros({3: 0.6, 6: 0.6})


def test_a_relaxation_reads_as_a_sentence() -> None:
    assert str(Relaxation(1, "stay", 0.4, 0.379671, "the variance is not reached")) == (
        "row 1: stay probability 0.379671 instead of 0.4 (the variance is not reached)"
    )
    assert str(Relaxation(2, "variance", 1.5, 1.25)) == "row 2: variance 1.25 instead of 1.5"


def test_nothing_of_a_design_is_shown() -> None:
    design = PerturbationDesign((STAYS, SPREAD), Tail(1), name="CP1")
    assert repr(design) == str(design) == "<PerturbationDesign CP1 with 2 rows: confidential>"
    with pytest.raises(Refused):
        pickle.dumps(design)
