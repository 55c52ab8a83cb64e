"""Primary rules of sums: published vectors, and a reading in fractions of raw contributions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules
from sdcensus.risk.magnitude.primary_rules import sensitive_cells
from sdcensus.testing.island import island
from tests.methods.magnitude.incomes import by_hand, income_cube

DOMINANCE, PERCENT, PQ, FEW = (
    PrimaryRule.DOMINANCE,
    PrimaryRule.PERCENT,
    PrimaryRule.PQ,
    PrimaryRule.FEW,
)

#: One contribution: its amount, its weight in tenths, whether its owner agreed to be shown.
Entry = tuple[int, int, bool]


def listed(cells: list[list[Entry]], kept: int, decimals: int = 1) -> Contributions:
    """Contributions to cells, as engines keep them: the largest, with and without their weights."""
    unit = 10**decimals
    counts = np.array([len(cell) for cell in cells], dtype=np.int64)
    keys = np.zeros(len(cells), dtype=np.uint32)
    weighted = [[(_times(a, w, unit), w, agreed) for a, w, agreed in cell] for cell in cells]

    def columns(lists: list[list[Entry]]) -> dict[str, Any]:
        ordered = [sorted(cell, key=lambda entry: -abs(entry[0])) for cell in lists]
        padded = [(cell + [(0, 0, False)] * kept)[:kept] for cell in ordered]
        entries = np.array(padded, dtype=np.int64)
        shared = {"contributors": counts, "contributor_key": keys}
        return {"amount": entries[..., 0], "waived": entries[..., 2] > 0, **shared}

    weights = np.array(
        [
            ([w for _, w, _ in sorted(cell, key=lambda entry: -abs(entry[0]))] + [0] * kept)[:kept]
            for cell in cells
        ],
        dtype=np.int64,
    )
    whole = [sum(abs(entry[0]) for entry in cell) for cell in weighted]
    return Contributions(
        **columns(weighted),
        absolute=np.array(whole, dtype=np.int64),
        by_amount=Contributions(**columns(cells), weight=weights),
    )


def _times(amount: int, weight: int, unit: int) -> int:
    """An amount times its weight, rounded half away from zero."""
    size = (2 * abs(amount) * weight + unit) // (2 * unit)
    return size if amount > 0 else -size


def simple(*contributions: int) -> Contributions:
    return listed([[(amount, 10, False) for amount in contributions]], 6)


def named(contributions: Contributions, **rules: object) -> bool:
    (mask,) = PrimaryRules.written(**rules).masks(contributions).values()  # type: ignore[arg-type]
    return bool(mask[0])


def test_vectors_of_the_handbook() -> None:
    # Methods, 6.1: X = 100,000 with 50,000 and 49,000; X = 110,000 with 52,000 and 50,000.
    first = simple(50_000, 49_000, *[100] * 10)
    assert first.absolute == np.array([100_000])
    assert not named(first, dominance="1, 90")
    assert named(first, percent=10)
    second = simple(52_000, 50_000, *[1_000] * 8)
    assert second.absolute == np.array([110_000])
    assert not named(second, percent=10)
    assert named(second, dominance="2, 90.9")


def test_a_contribution_counts_as_often_as_its_weight() -> None:
    # Methods, 6.1: 100 with weight 4 and 10 with weight 7 make 470, of which 100 and 100 are top.
    cell = listed([[(100, 40, False), (10, 70, False)]], 6)
    assert cell.absolute == np.array([470])
    # 270 are behind the two largest. As two contributions of 400 and 70 nothing would be.
    for percent, sensitive in ((100, False), (10, False)):
        assert PrimaryRules(percent=percent).masks(cell, 1)[PERCENT][0] == sensitive
    assert PrimaryRules(percent=10).masks(cell)[PERCENT][0]
    # 400 of 470 is 85.1 %: four units.
    assert PrimaryRules(dominance=(4, 85)).masks(cell, 1)[DOMINANCE][0]
    assert not PrimaryRules(dominance=(4, 86)).masks(cell, 1)[DOMINANCE][0]


def test_a_share_that_is_just_reached_is_not_more() -> None:
    # Some programs close a cell of which the n largest have k % exactly; here more is needed.
    cell = simple(60, 25, 15)
    assert not named(cell, dominance="2, 85")
    assert named(cell, dominance="2, 84.999")
    assert not named(cell, percent=25)
    assert named(cell, percent=25.001)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 10_000), min_size=1, max_size=9).filter(any),
    st.sampled_from([1, 5, 10, 15, 25, 50]),
)
def test_dominance_of_two_with_the_related_k_is_at_least_as_strict(
    amounts: list[int], percent: int
) -> None:
    cell = simple(*[amount for amount in amounts if amount])
    related = Fraction(100 * 100, 100 + percent)
    strict = PrimaryRules(dominance=(2, related), percent=percent).masks(cell)
    assert strict[DOMINANCE][0] or not strict[PERCENT][0]


def test_of_who_agreed_to_be_shown_nothing_has_to_be_hidden() -> None:
    cell = [(900, 10, True), (80, 10, False), (20, 10, False)]
    mask = PrimaryRules(percent=10).masks(listed([cell], 6))[PERCENT]
    # 20 behind 900 and 80: 20 is not less than 8, but less than 90.
    assert not mask[0]
    assert PrimaryRules(percent=10, waivers=False).masks(listed([cell], 6))[PERCENT][0]
    everybody = [(900, 10, True), (80, 10, True)]
    rules = PrimaryRules(fewest=3, dominance=(1, 80), percent=10, pq=(10, 80))
    assert not any(mask.any() for mask in rules.masks(listed([everybody], 6)).values())
    one = [(900, 10, True), (80, 10, False)]
    assert rules.masks(listed([one], 6))[FEW][0]


def test_where_all_who_are_listed_agreed_the_others_are_taken_for_as_large_as_the_last() -> None:
    cell = [(900, 10, True), (80, 10, True), (20, 10, False)]
    rules = PrimaryRules(dominance=(2, 95), percent=10)
    # Not listed, 20 counts as 80: 980 of 1,000 are more than 95 %.
    assert rules.masks(listed([cell], 2))[DOMINANCE][0]
    assert not rules.masks(listed([cell], 3))[DOMINANCE][0]


def _units(cell: list[Entry], weighted: bool, waivers: bool) -> list[tuple[int, bool]]:
    """Every tenth of a unit, the largest first; that of who has to be hidden before all others."""
    tenths = []
    for amount, weight, waived in sorted(cell, key=lambda entry: -abs(entry[0])):
        tenths += [(abs(amount), waived and waivers)] * (weight if weighted else 10)
    shy = next((at for at, (_, waived) in enumerate(tenths) if not waived), None)
    if shy is None:
        return []
    # As much of one person as makes one unit goes first.
    own = tenths[shy][0]
    last = shy
    while last < len(tenths) and last < shy + 10 and tenths[last] == (own, False):
        last += 1
    return tenths[shy:last] + tenths[:shy] + tenths[last:]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([1, 2, 3, 5, 10, 40, -7, 100, 1_000, 10**15]),
            st.sampled_from([10, 15, 20, 40, 25]),
            st.booleans(),
        ),
        max_size=6,
        unique_by=lambda entry: abs(entry[0]),
    ),
    st.booleans(),
    st.booleans(),
    st.integers(1, 6),
    st.sampled_from(["50", "66.6", "85", "99.999999999"]),
    st.sampled_from(["1", "10", "33.3", "100"]),
    st.sampled_from(["10, 80", "10, 250", "5.5, 6"]),
)
def test_rules_are_what_fractions_of_raw_contributions_say(
    cell: list[Entry],
    weighted: bool,
    waivers: bool,
    number: int,
    k: str,
    p: str,
    pq: str,
) -> None:
    contributions = listed([cell], 6)
    rules = PrimaryRules.written(
        fewest=3, dominance=f"{number}, {k}", percent=Fraction(p), pq=pq, waivers=waivers
    )
    plain = listed([[(a, 10, w) for a, _, w in cell]], 6)
    masks = rules.masks(contributions, 1) if weighted else rules.masks(plain)
    chosen = contributions if weighted else plain
    assert chosen.absolute is not None
    whole = Fraction(int(chosen.absolute[0]))
    units = _units(cell, weighted, waivers)
    tops = [Fraction(sum(size for size, _ in units[: 10 * top]), 10) for top in (1, 2, number)]
    rest = max(whole - tops[1], Fraction(0))
    wanted, known = (Fraction(text) for text in pq.split(","))
    expected = {
        FEW: 0 < len(cell) < 3,
        DOMINANCE: tops[2] > Fraction(k) / 100 * whole,
        PERCENT: rest < Fraction(p) / 100 * tops[0],
        PQ: rest < wanted / known * tops[0],
    }
    for name, mask in masks.items():
        assert mask[0] == (expected[name] and bool(units)), name
    level = int((rules.levels(contributions, 1) if weighted else rules.levels(plain))[0])
    lacking = max(
        tops[2] * 100 / Fraction(k) - whole,
        Fraction(p) / 100 * tops[0] - rest,
        wanted / known * tops[0] - rest,
        Fraction(0),
    )
    assert level == (-(-lacking.numerator // lacking.denominator) if units else 0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.integers(1, 12), st.booleans()), min_size=1, max_size=9
    )
)
def test_what_is_not_listed_never_makes_a_cell_safe(cell: list[Entry]) -> None:
    rules = PrimaryRules(fewest=2, dominance=(2, 80), percent=20)
    short, long = (rules.masks(listed([cell], kept), 1) for kept in (3, 9))
    for name, mask in long.items():
        assert short[name][0] or not mask[0], name


def test_few_one_equal_and_no_contributors() -> None:
    cube = by_hand([[], [7], [5, 5], [5] * 4, [-50, 1, 1, 1], [4, 3, 2, 1]], [0] * 6)
    rules = PrimaryRules(fewest=3, dominance=(1, 60), percent=50, pq=(10, 80))
    by_rule = sensitive_cells(cube, rules)
    shown = {name: np.flatnonzero(mask).tolist() for name, mask in by_rule.by_rule.items()}
    assert shown == {FEW: [1, 2], DOMINANCE: [1, 4], PERCENT: [1, 2, 4], PQ: [1, 2, 4]}
    assert by_rule.counts == {FEW: 2, DOMINANCE: 2, PERCENT: 3, PQ: 3}
    assert np.flatnonzero(by_rule.mask).tolist() == [1, 2, 4]
    assert "1" not in repr(by_rule)
    assert "50" not in repr(rules)


def test_signs_do_not_hide_a_large_contribution() -> None:
    # The sum is 0; without signs 100 of 200 are one contribution, and its rest is 0.
    cube = by_hand([[100, -100]], [0])
    assert sensitive_cells(cube, PrimaryRules(percent=1)).mask[0]


def test_tables_from_records_agree_with_their_raw_contributions() -> None:
    cube = income_cube("area@district", "age@class", people=60, signed=True)
    rules = PrimaryRules(fewest=4, dominance=(2, 70), percent=20)
    weighted = income_cube("area@district", people=60, measure="weighted-sum(income)")
    assert sensitive_cells(cube, rules).mask.any()
    # Whoever counts for several stands out less than as one large contribution.
    assert weighted.values.contributions is not None
    expanded = sensitive_cells(weighted, rules).by_rule
    whole = rules.masks(weighted.values.contributions)
    assert (expanded[PERCENT] <= whole[PERCENT]).all()


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({}, "need a rule"),
        ({"fewest": 0}, "1 or more"),
        ({"dominance": "2, 100"}, "below 100"),
        ({"dominance": "2, 49"}, "from 50"),
        ({"dominance": "7, 85"}, "1 to 6"),
        ({"dominance": "0, 85"}, "1 to 6"),
        ({"dominance": "x, 85"}, "2, 85"),
        ({"dominance": "2"}, "2, 85"),
        ({"dominance": "2, many"}, "is a number"),
        ({"percent": 0}, "above 0"),
        ({"percent": 100.5}, "100 at most"),
        ({"percent": float("nan")}, "is a number"),
        ({"pq": "10, 10"}, "q is above p"),
        ({"pq": "10, 1001"}, "1,000 at most"),
        ({"pq": "101, 200"}, "100 at most"),
        ({"pq": "10"}, "10, 80"),
    ],
)
def test_rules_that_mean_nothing_are_refused(rules: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        PrimaryRules.written(**rules)  # type: ignore[arg-type]


def test_limits_of_rules_are_allowed() -> None:
    PrimaryRules.written(fewest=1, dominance="6, 50", percent=100, pq="100, 1000")
    PrimaryRules.written(dominance="1, 99.999", percent=0.001, pq="0.1, 0.2")


def test_more_contributions_than_were_kept_cannot_be_looked_at() -> None:
    cell = listed([[(5, 10, False)] * 5], 2)
    with pytest.raises(SpecError, match="look at the 3 largest contributions, and only 2"):
        PrimaryRules(dominance=(3, 85)).masks(cell)
    with pytest.raises(SpecError, match="without their signs"):
        PrimaryRules(percent=10).masks(
            Contributions(
                amount=cell.amount,
                contributors=cell.contributors,
                contributor_key=cell.contributor_key,
            )
        )


def test_counts_have_no_contributions() -> None:
    with pytest.raises(SpecError, match="for tables of sums"):
        sensitive_cells(island(20).tabulate("sex").held_for("a test"), PrimaryRules(percent=10))
