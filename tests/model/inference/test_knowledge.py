"""What an intruder knows, as bounds: checked against asking for every count by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.model.inference.knowledge import UNBOUNDED, DeviationSupport, Knowledge
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import IN_PLACE, Mark, Table
from tests.methods.nearly_additive import spec_of, variable


def table(*published: int, withheld: int = -1) -> Table:
    spec = spec_of([variable("a", len(published))], ["a-total"])
    flags = np.where(np.arange(len(published)) == withheld, Mark.WITHHELD, 0).astype(np.uint8)
    return Table(spec, np.where(flags, 0, published), flags)


@given(st.integers(0, 4), st.booleans(), st.integers(0, 4))
def test_a_count_fits_if_it_can_have_led_to_the_value(most: int, zeros: bool, blocked: int) -> None:
    blocked = min(blocked, most)
    published = list(range(12))
    lower, upper = Knowledge(max_deviation=most, zeros_known=zeros, blocked=blocked).bounds(
        table(*published)
    )
    for value in published:
        fits = [
            count
            for count in range(20)
            if abs(count - value) <= most
            and not 0 < value <= blocked
            and not (zeros and count == 0 and value > 0)
        ]
        # Whatever is blocked, the counts that fit are an unbroken run: no narrower set exists.
        assert fits == list(range(int(lower[value]), int(upper[value]) + 1))


def possible(perturbation: Perturbation, value: int) -> list[int]:
    return [
        count
        for count in range(value + 60)
        if any(
            target == value and chance > 0
            for target, chance in zip(
                perturbation.targets(count), perturbation.probabilities(count), strict=True
            )
        )
    ]


@pytest.mark.parametrize("name", SCHEMES)
def test_who_knows_the_perturbation_table_knows_which_counts_can_lead_to_a_value(name: str) -> None:
    perturbation = scheme(name)
    values = [*range(40), 1000, 1001, 1002, 1003, 1004]
    lower, upper = Knowledge.of(perturbation).bounds(table(*values))
    for at, value in enumerate(values):
        counts = possible(perturbation, value)
        if counts:
            assert (lower[at], upper[at]) == (counts[0], counts[-1])
        else:
            assert lower[at] > upper[at]


def test_the_schemes_of_the_founding_study_give_no_more_away_than_their_bound() -> None:
    for name in ("CP1", "CP2", "CP3", "CP4"):
        whole = Knowledge.of(scheme(name))
        bound = Knowledge(max_deviation=whole.max_deviation)
        for mine, theirs in zip(
            whole.bounds(table(*range(30))), bound.bounds(table(*range(30))), strict=True
        ):
            assert (mine == theirs).all()


def test_not_knowing_that_zeros_are_kept_lets_small_values_be_empty() -> None:
    knowledge = Knowledge.of(scheme("CP2"), zeros_known=False)
    assert knowledge.bounds(table(0, 1, 2, 3))[0].tolist() == [0, 0, 0, 1]


def test_rounding_to_a_base_moves_a_count_by_less_than_the_base() -> None:
    lower, upper = Knowledge.of_rounding(5).bounds(table(0, 5, 10))
    assert (lower.tolist(), upper.tolist()) == ([0, 1, 6], [4, 9, 14])
    with pytest.raises(SpecError, match="2 or more"):
        Knowledge.of_rounding(1)


def test_cells_that_are_exact_are_known_exactly_unless_they_are_withheld() -> None:
    knowledge = Knowledge(max_deviation=3)
    lower, upper = knowledge.bounds(table(5, 0, 9, withheld=1), exact=np.array([0, 1]))
    assert (lower.tolist(), upper.tolist()) == ([5, 0, 6], [5, UNBOUNDED, 12])
    mask = np.array([False, False, True])
    assert knowledge.bounds(table(5, 0, 9), exact=mask)[0].tolist() == [2, 0, 9]
    with pytest.raises(SpecError, match="numbers from 0 to 2"):
        knowledge.bounds(table(5, 0, 9), exact=np.array([3]))
    with pytest.raises(SpecError, match="by their numbers"):
        knowledge.bounds(table(5, 0, 9), exact=np.array([0.5]))


def test_withheld_values_are_small_where_that_is_known() -> None:
    lower, upper = Knowledge(max_deviation=2, withheld_below=6).bounds(table(0, withheld=0))
    assert (int(lower[0]), int(upper[0])) == (0, 7)


def test_what_is_no_count_is_refused() -> None:
    with pytest.raises(SpecError, match="whole numbers, 0 or more"):
        Knowledge(max_deviation=1).bounds(table(-1, 2))
    with pytest.raises(SpecError, match="0 or more"):
        Knowledge(max_deviation=-1)
    with pytest.raises(SpecError, match="not above"):
        Knowledge(max_deviation=10**20)
    with pytest.raises(SpecError, match="up to the largest deviation"):
        Knowledge(max_deviation=1, blocked=2)
    with pytest.raises(SpecError, match="1 or more"):
        Knowledge(max_deviation=1, withheld_below=0)


def test_the_sentence_says_what_is_known_and_the_text_of_the_object_no_table() -> None:
    knowledge = Knowledge.of(scheme("CP3(1,2)"))
    sentence = knowledge.sentence()
    assert "more than 3" in sentence
    assert "published as 0" in sentence
    assert "1 to 2 are never published" in sentence
    assert "which counts can lead" in sentence
    assert "support" not in repr(knowledge)
    assert knowledge == Knowledge.of(scheme("CP3(1,2)"))
    assert isinstance(knowledge.support, DeviationSupport)


@pytest.mark.parametrize("mark", IN_PLACE)
def test_only_what_is_withheld_for_its_size_is_small(mark: Mark) -> None:
    """An area that is not shown, or a part of a small group, may hold any number."""
    flags = np.array([mark, 0, 0], dtype=np.uint8)
    published = Table(spec_of([variable("a", 2)], ["a"]), np.array([0, 5, 9]), flags)
    _, upper = Knowledge(max_deviation=2, withheld_below=10).bounds(published)
    small = mark in (Mark.WITHHELD, Mark.BELOW_THRESHOLD)
    assert upper[0] == (11 if small else UNBOUNDED)
