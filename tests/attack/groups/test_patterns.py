"""Same people, same number: small cells are read off, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.attack import Assumptions, AttackResult, run_attacks
from sdcensus.attack.groups.zero_patterns import Visibility, chances_of_seen
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.session.attack.score import Scores, score
from sdcensus.session.census.census import Census
from sdcensus.testing.island import SECRET
from tests.attack.made import (
    cell_key,
    combined,
    exactly,
    hide_below,
    people_with,
    publish,
    publish_each_alone,
    questionnaire,
)
from tests.examples import at_least

SCHEMES = ("CP3(EU)", "CP4", "RR5")


@pytest.fixture(scope="module")
def census() -> Census:
    """About two persons for each area and answer, and nine answers of each."""
    return questionnaire(300, areas=36, answers=9, codes=4)


@pytest.fixture(scope="module")
def menu(census: Census) -> list[tuple[str, ...]]:
    return combined(census, 3, "area")


def attacked(
    tables: list[PublishedTable], *names: str, zeros_known: bool = True, limit: float = 0.5
) -> dict[str, AttackResult]:
    known = Assumptions(zeros_known=zeros_known, group_limit=limit)
    return {result.attack: result for result in run_attacks(tables, known, attacks=names).results}


def scored(
    tables: list[PublishedTable],
    census: Census,
    *names: str,
    zeros_known: bool = True,
    limit: float = 0.5,
) -> Scores:
    known = Assumptions(zeros_known=zeros_known, group_limit=limit)
    return score(run_attacks(tables, known, attacks=names), tables, census)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_visible_person_is_found_where_sets_have_numbers(
    census: Census, menu: list[tuple[str, ...]], name: str
) -> None:
    tables = publish(census, cell_key(name), *menu)
    scores = scored(tables, census, "patterns", limit=0.3)
    one = scores.group("patterns", 1)
    assert one.visible is not None
    assert one.visible >= 30
    assert one.found == one.visible
    # Values of little noise agree by chance, and of rounding nearly always.
    assert one.right >= (0.4 if name == "RR5" else 0.75) * one.claims
    # Every further answer, all of them right where the person is.
    assert one.attributes_right >= 0.99 * 9 * one.right
    assert one.guessed_right < 0.6 * one.attributes_right
    for size in (2, 3) if name != "RR5" else ():
        several = scores.group("patterns", size)
        assert several.visible is not None
        assert several.right >= 0.75 * several.claims
        assert (several.found or 0) >= 0.6 * several.visible


def test_noise_of_each_question_leaves_zero_patterns(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    tables = publish_each_alone(census, cell_key("CP4"), *menu)
    scores = scored(tables, census, "patterns", "zero-patterns")
    assert scores.group("patterns", 1).right == 0
    one = scores.group("zero-patterns", 1)
    assert one.right >= 30
    assert one.right >= 0.9 * one.claims
    assert one.attributes_right >= 0.9 * one.attributes > 200


def test_together_with_the_smallest_group_nothing_is_left(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    for made in (publish, publish_each_alone):
        tables = hide_below(made(census, cell_key("CP4"), *menu), 10)
        scores = scored(tables, census, "patterns", "zero-patterns")
        assert sum(group.right for group in scores.groups) == 0


def test_values_below_a_limit_with_one_sign_tell_nothing(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    tables = []
    for one in publish(census, cell_key("CP4"), *menu):
        assert isinstance(one.table, Table)
        small = one.table.published < 6
        values = np.where(small, 0, one.table.published)
        flags = np.where(small, Mark.BELOW_THRESHOLD, 0).astype(np.uint8)
        tables.append(replace(one, table=Table(one.table.spec, values, flags)))
    found = attacked(tables, "patterns", "zero-patterns")
    assert all(one.groups_claimed == 0 for one in found.values())


def test_changed_zeros_leave_the_equality_of_values(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    noise = scheme("CP4").with_perturbed_zeros({1: 0.05, 2: 0.02})
    method = CellKey(noise, secret=SECRET, lookup="hashed", zeros="perturb", schema=census.schema)
    tables = publish(census, method, *menu)
    blind = scored(tables, census, "patterns").group("patterns", 1)
    adapted = scored(tables, census, "patterns", zeros_known=False).group("patterns", 1)
    assert adapted.visible is not None
    assert (adapted.found or 0) >= 0.9 * adapted.visible
    assert adapted.right >= 0.6 * adapted.claims
    assert (blind.found or 0) < 0.4 * adapted.visible


def test_zero_patterns_learn_how_often_counts_vanish(
    census: Census, menu: list[tuple[str, ...]]
) -> None:
    tables = publish_each_alone(census, cell_key("CP4"), *menu)
    figures = attacked(tables, "zero-patterns")["zero-patterns"].figures
    true = np.concatenate([one.table.published.reshape(-1) for one in exactly(census, *menu)])
    said = np.concatenate([table.table.published.reshape(-1) for table in tables])
    shown = float((said[true == 1] > 0).mean())
    assert figures["a one is published above 0"] == pytest.approx(shown, abs=0.06)
    assert figures["an empty cell is published above 0"] == 0.0


@settings(max_examples=at_least(25))
@given(st.integers(0, 1 << 30), st.sampled_from(["CP1", "CP3", "CP4"]))
def test_whoever_is_alone_and_shown_is_always_claimed(seed: int, name: str) -> None:
    census = questionnaire(25, areas=6, answers=4, codes=3, seed=seed)
    tables = publish(census, cell_key(name), *combined(census, 3, "area"))
    report = run_attacks(tables, Assumptions(group_limit=0.0), attacks=["patterns"])
    (result,) = report.results
    scores = score(report, tables, census)
    one = scores.group("patterns", 1)
    if result.groups or (one.visible or 0):
        assert one.found == one.visible
        assert one.attributes_right >= 3 * one.right


def test_two_and_three_who_differ_are_told_apart() -> None:
    # One group for each size, in areas of their own; everybody else is in the last one.
    draw = np.random.default_rng(3)
    people, answers = 406, 9
    area = np.array([0, 1, 1, 2, 2, 2, *([3] * (people - 6))])
    columns = {"area": area} | {f"q{at}": draw.integers(0, 4, people) for at in range(answers)}
    sizes = {"area": 4} | {f"q{at}": 4 for at in range(answers)}
    right = shown = 0
    for seed in range(12):
        keys = np.random.default_rng(seed).integers(0, 1 << 32, people, dtype=np.uint64)
        census = people_with(columns, keys.astype(np.uint32), sizes)
        tables = publish(census, cell_key("CP4"), *combined(census, 2, "area"))
        found = attacked(tables, "patterns", limit=0.3)["patterns"]
        published = tables[0].table
        assert isinstance(published, Table)
        said = {
            int(cell) // published.shape[1]: int(size)
            for group in found.groups
            for cell, size in zip(group.cells, group.sizes, strict=True)
        }
        for place in range(3):
            if published.published[place, -1] > 0:
                shown += 1
                right += said.get(place) == place + 1
        assert 3 not in said
    assert shown >= 20
    assert right >= 0.7 * shown


def test_chances_of_seen_parts_are_those_of_all_ways_to_draw() -> None:
    shares, visible = np.array([[0.5, 0.3, 0.2]]), Visibility(0.7, 0.1).chances(3)
    got = chances_of_seen(shares, visible, 3, 4)[0]
    expected = np.zeros_like(got)
    for size in range(4):
        for drawn in np.ndindex(*([3] * size)):
            likely = float(np.prod([shares[0, code] for code in drawn]))
            counts = np.bincount(np.array(drawn, dtype=np.int64), minlength=3)
            for shown in np.ndindex(2, 2, 2):
                chance = np.prod(
                    [
                        visible[c] if s else 1 - visible[c]
                        for c, s in zip(counts, shown, strict=True)
                    ]
                )
                expected[size, sum(shown)] += likely * float(chance)
    assert got == pytest.approx(expected)
