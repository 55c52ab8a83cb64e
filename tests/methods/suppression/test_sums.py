"""Suppression of sums: rules about contributions, distances, those who know something, refusals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.suppression.settings import Engine
from sdcensus.model.published.table import Table
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
    assume(targets)
    try:
        table = published(raw, percent_rule=PERCENT, secondary=engine)
    except SpecError as error:
        # Few cells of which all have to be closed: it is said, and nothing is published.
        assert "cannot be protected" in str(error) or "fewer possible" in str(error), error
        assume(False)
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


@settings(max_examples=25, deadline=None)
@given(_table(contributions))
def test_no_sum_is_bounded_more_tightly_than_the_rule_asks_by_elimination(
    cells: list[list[list[int]]],
) -> None:
    _attack(cells, "elimination")


@settings(max_examples=25, deadline=None)
@given(_table(contributions))
def test_no_sum_is_bounded_more_tightly_than_the_rule_asks_with_intervals(
    cells: list[list[list[int]]],
) -> None:
    _attack(cells, "modular")


@settings(max_examples=15, deadline=None)
@given(_table(signed), st.sampled_from(["elimination", "modular"]))
def test_the_same_holds_where_contributions_are_below_0(
    cells: list[list[list[int]]], engine: str
) -> None:
    _attack(cells, engine)


@settings(max_examples=10, deadline=None)
@given(_table(contributions), st.sampled_from(["elimination", "modular"]))
def test_the_same_holds_for_sums_of_billions(cells: list[list[list[int]]], engine: str) -> None:
    _attack(cells, engine, scale=10**11 + 7)


def test_the_cheapest_pattern_holds_what_the_rule_asks() -> None:
    _attack(EXAMPLE, "optimal")
