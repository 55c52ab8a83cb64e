"""Cliques: a person who is alone in overlapping triples, in tables without a single small pair."""

from __future__ import annotations

import itertools

import numpy as np

from sdcensus.attack import run_attacks
from sdcensus.session.attack.score import score
from sdcensus.session.census.census import Census
from tests.attack.made import (
    cell_key,
    combined,
    hide_below,
    people_with,
    publish,
    publish_each_alone,
)

VARIABLES, EACH = 7, 40


def one_in_triples(seed: int) -> Census:
    """Many have the rare code of any two variables, and one person that of all."""
    draw = np.random.default_rng(seed)
    rows = [np.full(VARIABLES, 2)]
    for pair in itertools.combinations(range(VARIABLES), 2):
        some = draw.integers(0, 2, (EACH, VARIABLES))
        some[:, list(pair)] = 2
        rows += list(some)
    people = np.stack(rows)
    keys = draw.integers(0, 1 << 32, len(people), dtype=np.uint64).astype(np.uint32)
    columns = {f"v{at}": people[:, at] for at in range(VARIABLES)}
    return people_with(columns, keys, dict.fromkeys(columns, 3))


def test_the_one_person_is_found_where_no_pair_is_small() -> None:
    found = shown = 0
    for seed in range(8):
        census = one_in_triples(seed)
        tables = hide_below(publish(census, cell_key("CP4"), *combined(census, 3)), 20)
        visible = tables[0].table.published[2, 2, 2] > 0
        report = run_attacks(tables, attacks=["cliques"])
        one = score(report, tables, census).group("cliques", 1)
        assert one.claims == one.right == int(visible)
        shown += int(visible)
        if one.right:
            found += 1
            assert one.attributes == one.attributes_right == VARIABLES - 3
            assert one.guessed_right < one.attributes_right
    assert found == shown >= 3


def test_noise_of_each_question_leaves_no_clique() -> None:
    for seed in range(8):
        census = one_in_triples(seed)
        tables = publish_each_alone(census, cell_key("CP4"), *combined(census, 3))
        (result,) = run_attacks(tables, attacks=["cliques"]).results
        assert result.groups_claimed == 0
