from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.model.perturbation.table import DeviationRow, KeyRule, PerturbationTable, Tail

STAYS = DeviationRow((0,), (256,))
SPREAD = DeviationRow((-1, 0, 1), (64, 128, 64))


def table(*rows: DeviationRow, tail: Tail | None = None, **other: object) -> PerturbationTable:
    return PerturbationTable(
        modulus=256,
        rows=rows,
        tail=tail or Tail(len(rows) - 1),
        **other,  # type: ignore[arg-type]
    )


@given(st.integers(0, 600), st.integers(0, 30), st.integers(1, 30), st.integers(0, 30))
def test_a_tail_repeats_its_rows_in_turn(count: int, start: int, period: int, anchor: int) -> None:
    tail = Tail(start, period, anchor)
    row = tail.row(count)
    assert 0 <= row < tail.rows
    if count < start:
        assert row == count
    else:
        assert row >= start
        assert tail.row(count + period) == row
        assert {tail.row(count + one) for one in range(period)} == set(range(start, start + period))
    assert tail.row(tail.smallest_count(row)) == row
    assert tail.smallest_count(row) <= count


def test_the_ons_file_reuses_its_last_250_rows() -> None:
    """Row of a count above 750: ((count - 1) mod 250) + 501, as the ONS code has it."""
    tail = Tail(501, 250)
    assert all(tail.row(count) == (count - 1) % 250 + 501 for count in range(501, 3000))
    assert all(tail.row(count) == count for count in range(501))


@pytest.mark.parametrize(("start", "period"), [(-1, 1), (0, 0), (3, -2)])
def test_a_tail_that_leads_nowhere_is_refused(start: int, period: int) -> None:
    with pytest.raises(SpecError, match="starts at 0 or more"):
        Tail(start, period)


def test_a_table_answers_with_exact_fractions() -> None:
    made = table(STAYS, SPREAD)
    assert made.distribution(1) == ((-1, Fraction(1, 4)), (0, Fraction(1, 2)), (1, Fraction(1, 4)))
    assert made.bias(1) == Fraction(0)
    assert isinstance(made.bias(1), Fraction)
    assert made.variance(7) == 0.5
    assert made.stay(7) == 0.5
    assert made.becomes_zero(1) == 0.25
    assert made.becomes_zero(2) == 0
    assert made.becomes_zero(0) == 1
    assert made.entropy(5) == 1.5
    assert made.mean_absolute_deviation(5) == 0.5
    assert made.targets(9).tolist() == [8, 9, 10]
    assert made.max_deviation == 1


def test_a_deviation_may_have_several_intervals() -> None:
    pieces = DeviationRow((1, -1, 0, 1, -1, 0), (32, 32, 64, 32, 32, 64))
    made = table(STAYS, pieces)
    assert made.distribution(1) == table(STAYS, SPREAD).distribution(1)
    assert not made.ascending
    assert table(STAYS, SPREAD).ascending


def test_no_key_is_left_out() -> None:
    with pytest.raises(SpecError, match="Row 1 covers 255 keys instead of 256"):
        table(STAYS, DeviationRow((-1, 0, 1), (64, 127, 64)))


def test_no_key_is_covered_twice() -> None:
    with pytest.raises(SpecError, match="Row 1 covers 257 keys instead of 256"):
        table(STAYS, DeviationRow((-1, 0, 1), (64, 129, 64)))


@pytest.mark.parametrize(
    ("deviations", "widths"), [((), ()), ((0, 1), (256,)), ((0, 1), (256, 0)), ((0, 1), (257, -1))]
)
def test_intervals_without_keys_are_refused(
    deviations: tuple[int, ...], widths: tuple[int, ...]
) -> None:
    with pytest.raises(SpecError, match="interval"):
        DeviationRow(deviations, widths)


def test_no_count_becomes_negative() -> None:
    with pytest.raises(SpecError, match="Row 1 would make the count 1 negative"):
        table(STAYS, DeviationRow((-2, 0, 2), (64, 128, 64)))
    # The row that serves every larger count serves the smallest of them as well.
    with pytest.raises(SpecError, match="Row 0 would make the count 0 negative"):
        table(SPREAD)


def test_blocked_counts_are_not_reached() -> None:
    with pytest.raises(SpecError, match="Row 1 leads to the blocked count 1"):
        table(STAYS, SPREAD, blocked_up_to=1)
    last = DeviationRow((-2, 0, 2), (64, 128, 64))
    rows = (STAYS, DeviationRow((-1, 1), (128, 128)), last)
    # Row 2 also serves the count 3, which it leads to 1.
    with pytest.raises(SpecError, match="Row 2 leads to the blocked count 1"):
        table(*rows, blocked_up_to=1)
    # With another row for odd counts, the next count of row 2 is 4.
    table(*rows, rows[1], blocked_up_to=1, tail=Tail(2, period=2))


def test_rows_of_the_tail_do_not_reach_blocked_counts_either() -> None:
    rounding = (STAYS, DeviationRow((-1, 2), (171, 85)), DeviationRow((-2, 1), (85, 171)))
    table(*rounding, tail=Tail(0, period=3), blocked_up_to=2)
    with pytest.raises(SpecError, match="Row 0 leads to the blocked count 3"):
        table(*rounding, tail=Tail(0, period=3), blocked_up_to=3)


def test_a_bias_must_be_declared() -> None:
    grows = DeviationRow((0, 1), (255, 1))
    with pytest.raises(SpecError, match="Row 1 changes the expected count"):
        table(STAYS, grows)
    made = table(STAYS, grows, biased=frozenset({1}))
    assert made.bias(1) == Fraction(1, 256)


def test_a_bias_that_whole_numbers_cannot_avoid_is_allowed_and_told() -> None:
    made = table(STAYS, DeviationRow((-1, 2), (171, 85)))
    assert made.is_balanced(1)
    assert made.bias(1) == Fraction(-1, 256)
    with pytest.raises(SpecError, match="Row 1 changes the expected count"):
        table(STAYS, DeviationRow((-1, 2), (172, 84)))


@pytest.mark.parametrize("modulus", [0, 1, 2**32 + 1])
def test_there_are_two_to_two_to_the_32_keys(modulus: int) -> None:
    with pytest.raises(SpecError, match="between 2 and"):
        PerturbationTable(modulus=modulus, rows=(STAYS,), tail=Tail(0))


def test_rows_and_tail_fit_together() -> None:
    with pytest.raises(SpecError, match="tail"):
        table(STAYS, SPREAD, tail=Tail(3))


def test_folded_keys_have_256_values() -> None:
    assert table(STAYS, SPREAD, key_rule=KeyRule.FOLD_BYTES).key_rule is KeyRule.FOLD_BYTES
    with pytest.raises(SpecError, match="256"):
        PerturbationTable(
            modulus=4096,
            rows=(DeviationRow((0,), (4096,)),),
            tail=Tail(0),
            key_rule=KeyRule.FOLD_BYTES,
        )


def test_negative_counts_have_no_row() -> None:
    with pytest.raises(SpecError, match="0 or more"):
        table(STAYS, SPREAD).targets(-1)


def test_nothing_of_a_table_is_shown() -> None:
    made = table(STAYS, SPREAD, name="CP1")
    assert (
        repr(made) == str(made) == f"{made}" == "<PerturbationTable CP1 with 2 rows: confidential>"
    )
    with pytest.raises(Refused):
        pickle.dumps(made)
