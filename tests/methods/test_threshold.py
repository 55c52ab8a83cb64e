from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.model.cube.cube import Origin
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.schema import KeySpace
from tests.methods.rounding_tables import (
    FULL,
    assert_consistent,
    cells,
    census,
    cube,
    one_way,
    sparse,
)

SPEC = cube(*FULL).spec
COUNTS = st.lists(st.integers(0, 10**6) | st.integers(0, 30), min_size=1, max_size=40)


@st.composite
def methods(draw: st.DrawFn) -> ThresholdRounding:
    base = draw(st.integers(2, 100))
    return ThresholdRounding(
        draw(st.integers(base // 2 + 1, 300)),
        base,
        zeros=draw(st.sampled_from(["withhold", "show"])),
        tie=draw(st.sampled_from(["half-even-multiple", "up"])),
    )


def outcome(method: ThresholdRounding, counts: list[int]) -> tuple[Any, Any, Any]:
    made = cells(counts, [0] * len(counts))
    result = method.publish(made, SPEC, Origin(KeySpace()))
    assert result.flags is not None
    return made.count, result.published, result.flags == Mark.NONE


@pytest.mark.parametrize(("count", "shown"), [(14, 15), (11, 10), (10, 10), (7, None), (0, None)])
def test_the_ten_five_rule_of_the_ons(count: int, shown: int | None) -> None:
    _, published, has_number = outcome(ThresholdRounding(), [count])
    assert (int(published[0]) if has_number[0] else None) == shown


def test_a_published_table_shows_signs_where_counts_are_small() -> None:
    table = ThresholdRounding().protect(one_way([14, 11, 7, 0, 10, 23, 9, 1], [0] * 8)).table
    assert isinstance(table, Table)
    assert [cell.text for cell in table.cells()] == [
        *["15", "10", "..", "..", "10", "25", "..", ".."],
        "75",
    ]
    assert table.value(age="A0") == 15
    assert table.value(age="A2") is None
    shown = ThresholdRounding(zeros="show").protect(one_way([14, 0, 7, 0, 0, 0, 0, 0], [0] * 8))
    assert isinstance(shown.table, Table)
    assert [cell.text for cell in shown.table.cells()] == ["15", "0", "..", *["0"] * 5, "20"]


@given(methods(), COUNTS)
def test_exactly_the_counts_below_the_threshold_have_no_number(
    method: ThresholdRounding, counts: list[int]
) -> None:
    count, published, has_number = outcome(method, counts)
    expected = count >= method.threshold
    if method.zeros == "show":
        expected |= count == 0
    assert (has_number == expected).all()
    assert not published[~has_number].any()


@given(methods(), COUNTS)
def test_bounded_by_half_the_base_where_there_is_a_number(
    method: ThresholdRounding, counts: list[int]
) -> None:
    count, published, has_number = outcome(method, counts)
    assert (2 * abs(published - count)[has_number] <= method.base).all()


@given(methods(), COUNTS)
def test_blocked_counts_never_appear_only_multiples_do(
    method: ThresholdRounding, counts: list[int]
) -> None:
    count, published, has_number = outcome(method, counts)
    assert (published % method.base == 0).all()
    # A count of at least the threshold is never shown as 0.
    assert (published[has_number & (count > 0)] > 0).all()


@given(methods(), COUNTS)
def test_never_negative(method: ThresholdRounding, counts: list[int]) -> None:
    assert (outcome(method, counts)[1] >= 0).all()


def test_zeros_kept_only_where_they_are_shown() -> None:
    assert not ThresholdRounding().claims().zeros_kept
    shown = ThresholdRounding(zeros="show")
    assert shown.claims().zeros_kept
    _, published, has_number = outcome(shown, [0, 0])
    assert has_number.all()
    assert not published.any()


def test_zeros_are_true() -> None:
    _, published, has_number = outcome(ThresholdRounding(zeros="show"), list(range(30)))
    assert [count for count in range(30) if has_number[count] and not published[count]] == [0]


@pytest.mark.parametrize("zeros", ["withhold", "show"])
def test_consistent_however_the_cell_is_reached(zeros: str) -> None:
    assert_consistent(ThresholdRounding(zeros=zeros))


def test_for_publication_with_a_caution_about_subtraction() -> None:
    claims = ThresholdRounding().claims()
    assert claims.for_publication
    assert any("subtraction" in caution for caution in claims.cautions)


def test_every_claim_has_a_test_of_its_name() -> None:
    for name in ThresholdRounding(zeros="show").claims().names():
        assert any(one.startswith(f"test_{name}") for one in globals()), name


def test_sparse_cubes_and_weighted_counts_are_refused() -> None:
    with pytest.raises(SpecError, match="too large to be held whole"):
        ThresholdRounding().protect(sparse(cube(*FULL)))
    with pytest.raises(SpecError, match="counts of records"):
        ThresholdRounding().protect(census().tabulate("sex", measure="weighted"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ThresholdRounding(2, 5), "more than half the base"),
        (lambda: ThresholdRounding(2, 4), "more than half the base"),
        (lambda: ThresholdRounding(10.0), "whole number"),  # type: ignore[arg-type]
        (lambda: ThresholdRounding(base=1), "from 2 to 100"),
        (lambda: ThresholdRounding(zeros="hide"), "There are: withhold, show"),
        (lambda: ThresholdRounding(tie="down"), "half-even-multiple"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        make()


def test_it_is_frozen_and_says_what_it_does() -> None:
    method = ThresholdRounding(3, 5)
    with pytest.raises(FrozenInstanceError):
        method.base = 3  # type: ignore[misc]
    assert repr(method) == (
        "<ThresholdRounding from 3 to multiples of 5, zeros withhold, ties half-even-multiple>"
    )
    assert method.parameters() == {
        "threshold": 3,
        "base": 5,
        "zeros": "withhold",
        "tie": "half-even-multiple",
    }
    protected = method.protect(cube())
    assert protected.provenance.method == "threshold-and-rounding"
    assert protected.audit.effective_keys is None
    assert np.asarray(protected.table.shape).size == 0
