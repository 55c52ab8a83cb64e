"""Twins: pairs of large cells that differ by few persons, found without comparing all pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sdcensus.attack import Assumptions, run_attacks
from sdcensus.attack.groups.breakdowns import Breakdowns
from sdcensus.attack.groups.twins import broken_down, candidate_pairs
from sdcensus.attack.targets import targets_of
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.attack.score import score
from sdcensus.session.census.census import Census
from tests.attack.made import (
    cell_key,
    combined,
    exactly,
    hide_below,
    people_with,
    publish,
    publish_each_alone,
)


def nearly_the_same(people: int = 1500, answers: int = 8, seed: int = 1) -> Census:
    """Answers that have nothing to do with each other, and two that differ for one person."""
    draw = np.random.default_rng(seed)
    columns = {f"q{at}": draw.integers(0, 4, people) for at in range(answers)}
    # Two variables say the same, but of one person; few have the code.
    columns["own"] = (draw.random(people) < 0.06).astype(np.int64)
    columns["other"] = columns["own"].copy()
    columns["other"][np.flatnonzero(columns["own"])[3]] = 0
    sizes = {name: 4 if name[0] == "q" else 2 for name in columns}
    keys = draw.integers(0, 1 << 32, people, dtype=np.uint64).astype(np.uint32)
    return people_with(columns, keys, sizes)


@pytest.fixture(scope="module")
def census() -> Census:
    return nearly_the_same()


@pytest.fixture(scope="module")
def menu(census: Census) -> list[tuple[str, ...]]:
    return combined(census, 2)


def test_who_is_in_one_and_not_in_the_other_is_read_off(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    tables = publish(census, cell_key("CP4"), *menu)
    report = run_attacks(tables, attacks=["twins"])
    scores = score(report, tables, census)
    one = scores.group("twins", 1)
    assert one.claims >= 1
    assert one.right == one.claims
    # Each of the eight answers differs by the one person, unless its noise happens to agree.
    assert one.attributes_right == one.attributes >= 5
    (claims, *_) = report.results[0].groups
    assert claims.other_table
    # Nobody who hides small cells hides this: both cells are large.
    hidden = hide_below(tables, 25)
    again = score(run_attacks(hidden, attacks=["twins"]), hidden, census).group("twins", 1)
    assert again.right == again.claims >= 1


def test_noise_of_each_question_leaves_no_twins(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    tables = publish_each_alone(census, cell_key("CP4"), *menu)
    (result,) = run_attacks(tables, Assumptions(group_limit=0.0), attacks=["twins"]).results
    assert result.groups_claimed == 0


def test_all_pairs_that_agree_in_all_parts_but_one_are_candidates() -> None:
    census = nearly_the_same(250, answers=3, seed=7)
    for tables in (
        exactly(census, *combined(census, 2)),
        publish(census, cell_key("CP3"), *combined(census, 3)),
    ):
        assert _candidates(tables) >= _by_hand(tables)
        assert _by_hand(tables)


def test_where_there_is_no_time_for_all_the_coarsest_cells_are_compared(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    index = Breakdowns(targets_of(publish(census, cell_key("CP4"), *menu))[0])
    cells, _, left_out = broken_down(index)
    some, _, more = broken_down(index, most_parts=100)
    assert left_out == 0
    assert 0 < some.piece.size < cells.piece.size
    assert some.piece.size + more == cells.piece.size


def _candidates(tables: list[PublishedTable]) -> set[tuple[int, int]]:
    cells, broken, _ = broken_down(Breakdowns(targets_of(tables)[0]))
    pairs, _ = candidate_pairs(broken, cells.piece.size)
    return {(int(first), int(second)) for first, second in pairs}


def _by_hand(tables: list[PublishedTable]) -> set[tuple[int, int]]:
    """Pairs with all parts but at most one in common under two variables, part by part."""
    cells, broken, _ = broken_down(Breakdowns(targets_of(tables)[0]))
    found = set()
    for first, second in itertools.combinations(range(cells.piece.size), 2):
        votes = 0
        for one in broken:
            rows = one.row[[first, second]]
            if (rows < 0).any():
                continue
            mine, theirs = one.values[rows]
            for code in range(mine.size):
                rest = np.delete(mine, code)
                if (rest == np.delete(theirs, code)).all() and np.count_nonzero(rest) >= 2:
                    votes += 1
                    break
        if votes >= 2:
            found.add((first, second))
    return found
