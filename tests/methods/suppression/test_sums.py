"""Suppression of sums: rules about contributions, distances, those who know something, refusals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.suppression.settings import Engine
from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules
from sdcensus.model.published.table import Table
from sdcensus.session.protect.linked import protect_together
from tests.methods.magnitude.incomes import census_of, income_census, income_cube
from tests.methods.suppression.sum_tables import RawSums, attacked, sums_of

#: Few and many, one that stands out, and somebody alone.
EXAMPLE = [
    [[40, 30, 20, 10], [500, 3, 2, 1], [60, 50, 40]],
    [[25, 25, 25, 25], [70, 60, 50], [90, 80, 70, 60]],
    [[33, 32, 31], [15, 14, 13, 12], [77]],
]
PERCENT = 20


def published(raw: RawSums, **said: Any) -> Table:
    table = Suppression(**said).protect(raw.cube).table
    assert isinstance(table, Table)
    return table


def closed(raw: RawSums, **said: Any) -> set[tuple[int, int]]:
    flags = published(raw, **said).flags
    return set() if flags is None else {(int(a), int(b)) for a, b in np.argwhere(flags != 0)}


def primary(raw: RawSums, minimum: int = 3) -> list[tuple[int, int]]:
    """The cells of a p % rule and of few contributors, from raw contributions."""
    named = []
    for row, column in itertools.product(range(4), range(4)):
        sizes = sorted((abs(amount) for amount in raw.cells[row][column]), reverse=True)
        if sizes and (len(sizes) < minimum or sum(sizes[2:]) < Fraction(PERCENT, 100) * sizes[0]):
            named.append((row, column))
    return named


@pytest.mark.parametrize("engine", list(Engine))
def test_what_is_shown_is_true_and_primary_sums_are_closed(engine: Engine) -> None:
    raw = sums_of(EXAMPLE)
    assert primary(raw) == [(0, 1), (2, 2)]
    table = published(raw, percent_rule=PERCENT, secondary=engine)
    assert table.flags is not None
    for place in np.ndindex(4, 4):
        if table.flags[place]:
            assert table.published[place] == 0
        else:
            assert table.published[place] == raw.total(*place)
    assert table.flags[0, 1]
    assert table.flags[2, 2]
    assert not table.flags[3, 3]


amounts = st.sampled_from([1, 2, 5, 10, 11, 40, 100, 350, 1_000])
contributions = st.lists(amounts, max_size=5)
signed = st.lists(st.tuples(amounts, st.sampled_from([1, 1, 1, -1])), max_size=5).map(
    lambda pairs: [amount * sign for amount, sign in pairs]
)


def _table(of_cell: st.SearchStrategy[list[int]]) -> st.SearchStrategy[list[list[list[int]]]]:
    return st.lists(st.lists(of_cell, min_size=3, max_size=3), min_size=3, max_size=3)


def _attack(cells: list[list[list[int]]], engine: str, scale: int = 1) -> None:
    """Nobody bounds a primary sum more tightly than the rule asks, who knows what he knows."""
    raw = sums_of([[[amount * scale for amount in cell] for cell in row] for row in cells])
    targets = primary(raw)
    table = published(raw, percent_rule=PERCENT, secondary=engine)
    alone = [place for place in targets if len(raw.cells[place[0]][place[1]]) == 1]
    for row, column in targets:
        cell = raw.cells[row][column]
        sizes = sorted((abs(amount) for amount in cell), reverse=True)
        share = Fraction(PERCENT, 100)
        level = share * sizes[0] - sum(sizes[2:])
        if level <= 0:
            level = Fraction(sum(sizes), 10)
        room = Fraction(sum(cell)) if min(cell) >= 0 else level
        others = [((row, column), ())] + [
            ((row, column), (place,)) for place in alone if raw.cells[place[0]][place[1]] != cell
        ]
        for target, knows in others:
            low, high = attacked(raw, table, target, knows=knows)
            assert high >= sum(cell) + level - scale / 1000, (target, knows)
            if not knows:
                # Closed sums hold somebody where empty ones are shown: at least the last decimal.
                assert low <= sum(cell) - min(level, room - 1) + scale / 1000, (target, knows)
        if len(sizes) > 1 and min(cell) >= 0 and sum(sizes[2:]) < share * sizes[0]:
            # The second largest takes off what he has himself.
            _, high = attacked(raw, table, (row, column))
            assert high - sizes[1] >= (1 + share) * sizes[0] - scale / 1000


@settings(max_examples=8, deadline=None)
@given(_table(contributions))
def test_no_sum_is_bounded_more_tightly_than_the_rule_asks_by_elimination(
    cells: list[list[list[int]]],
) -> None:
    _attack(cells, "elimination")


@settings(max_examples=8, deadline=None)
@given(_table(contributions))
def test_no_sum_is_bounded_more_tightly_than_the_rule_asks_with_intervals(
    cells: list[list[list[int]]],
) -> None:
    _attack(cells, "modular")


@settings(max_examples=6, deadline=None)
@given(_table(signed), st.sampled_from(["elimination", "modular"]))
def test_the_same_holds_where_contributions_are_below_0(
    cells: list[list[list[int]]], engine: str
) -> None:
    _attack(cells, engine)


@settings(max_examples=5, deadline=None)
@given(_table(contributions), st.sampled_from(["elimination", "modular"]))
def test_the_same_holds_for_sums_of_billions(cells: list[list[list[int]]], engine: str) -> None:
    _attack(cells, engine, scale=10**11 + 7)


def test_the_cheapest_pattern_holds_what_the_rule_asks() -> None:
    _attack(EXAMPLE, "optimal")


#: One who is alone, small sums beside him, and large ones farther away.
ROOMY = [
    [[50], [3, 2, 2, 2], [60, 50, 40, 30]],
    [[3, 2, 2, 2], [3, 2, 2, 2], [70, 60, 50, 40]],
    [[45, 44, 43, 42], [80, 70, 60, 50], [90, 80, 70]],
]
#: Somebody who has most, an empty cell, two who are alone in one line.
WIDE = [
    [[40, 30, 20, 10], [500, 30, 20, 1], [60, 50, 40, 30]],
    [[25, 25, 25, 25], [70, 60, 50, 40], []],
    [[33, 32, 31], [15], [77]],
]
#: What is said of a table, and beside what: other cells are closed.
SETTINGS: list[tuple[list[list[list[int]]], dict[str, Any], dict[str, Any]]] = [
    (ROOMY, {"minimum": 4}, {}),
    (WIDE, {"dominance": "1, 60"}, {"minimum": 1}),
    (WIDE, {"dominance": "2, 55"}, {"minimum": 1, "dominance": "1, 60"}),
    (WIDE, {"percent_rule": 20}, {"minimum": 1}),
    (WIDE, {"pq_rule": "10, 20"}, {"minimum": 1}),
    (WIDE, {"pq_rule": "10, 12"}, {"minimum": 1, "pq_rule": "10, 20"}),
    (WIDE, {"zeros": "protect"}, {}),
    (WIDE, {"singles": "none"}, {}),
    (ROOMY, {"percent_rule": 60}, {}),
    (ROOMY, {"width": 60}, {}),
    (ROOMY, {"upper_protection": 40}, {"secondary": "modular"}),
    (ROOMY, {"lower_protection": 40}, {"secondary": "modular"}),
    (ROOMY, {"percent_protection": 60}, {"secondary": "modular"}),
    (ROOMY, {"known_within": 30}, {"secondary": "modular"}),
]


@pytest.mark.parametrize(("cells", "said", "beside"), SETTINGS)
def test_every_setting_changes_which_sums_are_closed(
    cells: list[list[list[int]]], said: dict[str, Any], beside: dict[str, Any]
) -> None:
    raw = sums_of(cells)
    assert closed(raw, **{**beside, **said}) != closed(raw, **beside)


def test_small_sums_are_closed_for_others_first() -> None:
    expected = {(0, 0), (0, 1), (1, 0), (1, 1)}
    for engine in Engine:
        assert closed(sums_of(ROOMY), secondary=engine) == expected


def test_the_reasons_name_each_rule() -> None:
    raw = sums_of(EXAMPLE)
    method = Suppression(dominance="1, 90", percent_rule=PERCENT, pq_rule="10, 80")
    reasons = dict(method.protect(raw.cube).audit.reasons)
    named = {name: [tuple(at) for at in np.argwhere(mask)] for name, mask in reasons.items()}
    assert named["primary: few contributors"] == [(2, 2)]
    assert named["primary: dominance"] == [(0, 1), (2, 2)]
    assert named["primary: p % rule"] == [(0, 1), (2, 2)]
    assert named["primary: pq rule"] == [(0, 1), (2, 2)]


def test_who_agreed_to_be_shown_closes_nothing() -> None:
    cells = [[[77], *EXAMPLE[0][1:]], *EXAMPLE[1:]]
    cells[2] = [[33, 32, 31], [15, 14, 13, 12], [79, 78, 76]]
    assert (0, 0) in closed(sums_of(cells), percent_rule=PERCENT)
    assert not closed(sums_of(cells, waived=(77, 500)), percent_rule=PERCENT)


def test_somebody_alone_does_not_learn_the_other_sum_of_two() -> None:
    """Two closed sums of a line, one of one person, whom their total would tell the other."""
    cells = [
        [[400], [900, 5, 4, 3], [600, 500, 400]],
        [[50, 40, 30], [80, 70, 60], [90, 80, 70]],
        [[50, 40, 30], [80, 70, 60], [90, 80, 70]],
    ]
    raw = sums_of(cells)
    assert primary(raw) == [(0, 0), (0, 1)]
    for engine in ("elimination", "modular"):
        table = published(raw, percent_rule=PERCENT, secondary=engine)
        low, high = attacked(raw, table, (0, 1), knows=[(0, 0)])
        assert high - low >= 0.2 * 900 - 7
        careless = published(raw, percent_rule=PERCENT, secondary=engine, singles="none")
        assert attacked(raw, careless, (0, 1), knows=[(0, 0)]) == (912, 912)


def test_who_agreed_to_be_shown_and_is_alone_in_a_closed_sum_learns_no_other_either() -> None:
    """The sum of 777 is closed for the one below it only; who has the 777 knows it nevertheless."""
    cells = [
        [[], [777], [3, 1_000, 7]],
        [[350, 5], [], [11]],
        [[100, 10, 100, 40], [5, 5], [40, 10, 11]],
    ]
    raw = sums_of(cells, waived=(777,))
    said: dict[str, Any] = {"minimum": 2, "percent_rule": PERCENT}
    careless = published(raw, **said, singles="none")
    assert attacked(raw, careless, (2, 1), knows=[(0, 1)]) == (10, 10)
    for engine in ("elimination", "modular"):
        table = published(raw, **said, secondary=engine)
        _, high = attacked(raw, table, (2, 1), knows=[(0, 1)])
        assert high >= 11


@pytest.mark.parametrize("engine", list(Engine))
def test_classes_that_cut_each_other_tell_nothing_together(engine: Engine) -> None:
    """Half 0 (ages 0 to 4) is within classes 0 and 1 (to 6): no more than the total less class 2.

    By the sums of each table alone half 0 could be anything up to the total.
    """
    by_age = {0: [1000, 10], 3: [500], 5: [20], 8: [900, 899, 898, 897]}
    census = census_of([(age, amount) for age, held in by_age.items() for amount in held])
    specs = [census.spec(axis, measure="sum(income)") for axis in ("age@class", "age@half")]
    method = Suppression(1, percent_rule=PERCENT, secondary=engine)
    classes, halves = (each.table for each in protect_together(census, specs, method))
    assert isinstance(classes, Table)
    assert isinstance(halves, Table)
    assert classes.flags is not None
    assert halves.flags is not None
    # Of 1510 the largest has 1000 and the second 500: 10 behind them are 190 too few.
    assert halves.flags[0]
    assert not (classes.published[2] and classes.published[3])


def test_counts_of_classes_that_cut_each_other_keep_their_intervals() -> None:
    census = census_of([(3, 1), (4, 1), (5, 1), *[(8, 1)] * 50])
    specs = [census.spec(axis) for axis in ("age@class", "age@half")]
    method = Suppression(3, secondary="modular", upper_protection=5)
    classes, halves = (each.table for each in protect_together(census, specs, method))
    assert isinstance(classes, Table)
    assert isinstance(halves, Table)
    assert halves.flags is not None
    assert halves.flags[0]
    # With class 1 (3 people aged 3 to 6), half 0 (2 people) would be 3 at most, and not 7.
    assert not classes.published[1]


def test_sums_to_which_nobody_contributes_are_shown_unless_they_are_protected() -> None:
    raw = sums_of(WIDE)
    shown = published(raw)
    assert shown.flags is not None
    assert not shown.flags[1, 2]
    assert shown.published[1, 2] == 0
    assert (1, 2) in closed(raw, zeros="protect")


ODD: dict[str, list[list[list[int]]]] = {
    "nobody": [[[], [], []]] * 3,
    "one person": [[[], [], []], [[], [5], []], [[], [], []]],
    "all equal": [[[5, 5], [5] * 4, [5] * 6]] * 3,
    "sum of 0": [[[100, -100], [5] * 4, [3] * 4], [[9] * 4] * 3, [[6] * 4] * 3],
    "below 0": [[[-100, -90, -80, -70], [-5] * 4, [-3]], [[9] * 4] * 3, [[6] * 4] * 3],
}


@pytest.mark.parametrize("engine", ["elimination", "modular"])
@pytest.mark.parametrize("name", ODD)
def test_odd_tables_close_what_they_must(name: str, engine: str) -> None:
    raw = sums_of(ODD[name])
    assert set(primary(raw)) <= closed(raw, percent_rule=PERCENT, secondary=engine)


def test_rules_about_contributions_are_refused_for_counts() -> None:
    counts = income_census(40).tabulate("area@district")
    for said in ({"dominance": "2, 85"}, {"percent_rule": 10}, {"pq_rule": "10, 80"}):
        with pytest.raises(SpecError, match="are about contributions to sums"):
            Suppression(**said).protect(counts)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"dominance": "7, 85"}, "1 to 6"),
        ({"dominance": "2, 100"}, "below 100"),
        ({"percent_rule": 0}, "above 0"),
        ({"pq_rule": "80, 10"}, "q is above p"),
    ],
)
def test_rules_that_mean_nothing_are_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Suppression(**said)


def test_the_rule_about_groups_is_refused_for_sums() -> None:
    with pytest.raises(SpecError, match="about groups"):
        Suppression(group=0).protect(sums_of(EXAMPLE).cube)


def test_counts_are_closed_as_before_there_were_rules_about_sums() -> None:
    assert "contributions" not in Suppression(3).parameters()
    assert "contributions" in Suppression(3, percent_rule=10).parameters()


def test_tables_of_sums_are_protected_together() -> None:
    census = income_census(200)
    specs = [
        census.spec(*axes, measure="sum(income)")
        for axes in (("area@district", "sex"), ("area@district", "age@class"))
    ]
    method = Suppression(percent_rule=PERCENT)
    tables = [protected.table for protected in protect_together(census, specs, method)]
    for table, spec in zip(tables, specs, strict=True):
        assert isinstance(table, Table)
        flags = np.zeros(table.shape) if table.flags is None else table.flags
        true = census.tabulate(spec).held_for("a test").values.sum_of("income")
        assert (table.published[flags == 0] == true[flags == 0]).all()
    # Margins that both show are shown or closed in both.
    first, second = tables
    assert isinstance(first, Table)
    assert isinstance(second, Table)
    assert first.flags is not None
    assert second.flags is not None
    assert (first.flags[:, -1] == second.flags[:, -1]).all()


def test_sums_of_two_amounts_are_not_protected_together() -> None:
    census = income_census(40)
    specs = [census.spec("sex", measure=f"sum({name})") for name in ("income", "rent")]
    with pytest.raises(SpecError, match="different things"):
        protect_together(census, specs, Suppression())


def test_weighted_sums_are_closed_by_amounts_that_count_as_often_as_their_weight() -> None:
    cube = income_cube("area@district", "age@class", people=40, measure="weighted-sum(income)")
    reasons = dict(Suppression(1, percent_rule=PERCENT).protect(cube).audit.reasons)
    known = cube.values.contributions
    assert known is not None
    rules, name = PrimaryRules(percent=PERCENT), PrimaryRule.PERCENT
    expected = rules.masks(known, cube.spec.weight_decimals)[name]
    assert (reasons["primary: p % rule"] == expected).all()
    assert (expected != rules.masks(known)[name]).any()


@pytest.mark.parametrize("engine", ["elimination", "modular"])
@pytest.mark.parametrize("said", [{}, {"percent_rule": 20}, {"dominance": "2, 66.6"}])
def test_the_unit_of_an_amount_does_not_matter(engine: str, said: dict[str, Any]) -> None:
    """Sums that nearly fill 64 bits are closed like small ones."""
    large = [[[amount * 10**14 for amount in cell] for cell in row] for row in WIDE]
    expected = closed(sums_of(WIDE), secondary=engine, **said)
    assert closed(sums_of(large), secondary=engine, **said) == expected
