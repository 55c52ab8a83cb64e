"""Special uniques: every minimal set, by the definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.release.plan import MissingValues
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.special_uniques import MOST_KEYS, special_uniques
from tests.risk.records.made_up import STATED, VALID, column, key_columns, may_be, rows


def minimal_sets(
    columns: Sequence[KeyColumn], record: int, missing: MissingValues, most: int
) -> list[tuple[int, ...]]:
    """All sets of keys on which a record is alone, and on no set within; over all subsets."""
    people = list(rows(columns))
    mine = people[record]
    stated = [
        key
        for key in range(len(columns))
        if missing is MissingValues.CATEGORY or columns[key].kinds[mine[key]] is not STATED
    ]
    sets: list[tuple[int, ...]] = []
    for size in range(1, most + 1):
        for keys in itertools.combinations(stated, size):
            alone = not any(
                all(may_be(mine[key], other[key], missing) for key in keys)
                for at, other in enumerate(people)
                if at != record
            )
            if alone and not any(set(smaller) <= set(keys) for smaller in sets):
                sets.append(keys)
    return sets


@settings(max_examples=150, deadline=None)
@given(key_columns(), st.sampled_from(list(MissingValues)), st.integers(1, 5))
def test_all_minimal_sets_are_found(
    columns: tuple[KeyColumn, ...], missing: MissingValues, most: int
) -> None:
    result = special_uniques(columns, missing=missing, most=most)
    keys = len(columns)
    sets = [
        minimal_sets(columns, record, missing, min(most, keys))
        for record in range(columns[0].values.size)
    ]
    factors = [[math.factorial(keys - len(each)) for each in own] for own in sets]
    assert result.scores.tolist() == [sum(own) for own in factors]
    assert result.by_size == tuple(
        sum(len(each) == size for own in sets for each in own)
        for size in range(1, min(most, keys) + 1)
    )
    shares = [
        sum(
            (2 ** (keys - len(each)) - 1)
            * math.factorial(len(each))
            * math.factorial(keys - len(each))
            / math.factorial(keys)
            for each in own
        )
        for own in sets
    ]
    assert result.normalised == pytest.approx(shares)
    total = sum(map(sum, factors))
    for key in range(keys):
        part = sum(math.factorial(keys - len(each)) for own in sets for each in own if key in each)
        assert result.contributions[key] == pytest.approx(part / total if total else 0)
        only = [own for own in sets if own and all(key in each for each in own)]
        assert result.needed[key] == pytest.approx(len(only) / max(result.uniques, 1))


@settings(max_examples=100, deadline=None)
@given(key_columns(), st.sampled_from(list(MissingValues)))
def test_pairs_are_records_with_exactly_one_like_them(
    columns: tuple[KeyColumn, ...], missing: MissingValues
) -> None:
    people = list(rows(columns))
    expected = sum(
        sum(all(map(may_be, mine, other, itertools.repeat(missing))) for other in people) == 2
        for mine in people
        if missing is MissingValues.CATEGORY or 3 not in mine
    )
    assert special_uniques(columns, missing=missing).in_pairs == expected


def test_the_example_by_hand() -> None:
    columns = (column("1", [0, 0, 1, 1]), column("2", [0, 1, 1, 1]), column("3", [0, 0, 0, 1]))
    result = special_uniques(columns)
    assert result.scores.tolist() == [2, 1, 1, 2]
    assert result.by_size == (2, 2, 0)
    # No record has a twin: whoever is alone here is found.
    assert result.disclosure.tolist() == [1, 1, 1, 1]
    assert result.contributions == pytest.approx([2 / 6, 3 / 6, 3 / 6])


def test_the_chance_of_a_right_match_is_shared_out_by_score() -> None:
    """By hand: two keys, records 1 (score 1 and 1) and 2 (score 1), a pair."""
    columns = (column("1", [0, 1, 2, 2]), column("2", [0, 1, 1, 1]))
    result = special_uniques(columns)
    assert (result.scores.tolist(), result.in_pairs) == ([2, 1, 0, 0], 2)
    overall = 2 * 0.1 / (2 * 0.1 + 2 * 0.9)
    power = 1 + 6 / 20
    inverse = 2**-power + 1
    expected = [1 / (1 + (2 / overall - 2) / (score**power * inverse)) for score in (2, 1)]
    assert result.disclosure.tolist() == pytest.approx([*expected, 0, 0])
    assert result.above(expected[1]) == 1


def test_fifteen_keys_and_scores_of_twenty() -> None:
    """One record differs everywhere: it is alone on each key, and the score is exact."""
    for keys in (15, MOST_KEYS):
        columns = [column(str(key), [0, 1, 1]) for key in range(keys)]
        result = special_uniques(columns, most=2)
        assert result.scores.tolist() == [keys * math.factorial(keys - 1), 0, 0]
        assert result.by_size == (keys, 0)


def test_a_record_that_says_nothing_may_be_anybody() -> None:
    columns = (column("1", [0, 1, 2, 3]), column("2", [0, 1, 2, 3]))
    assert special_uniques(columns).uniques == 0
    assert special_uniques(columns, missing=MissingValues.CATEGORY).uniques == 4


def test_nobody_and_one_code() -> None:
    assert special_uniques([column("1", [])]).uniques == 0
    assert special_uniques([column("1", [0], [VALID])]).scores.tolist() == [1]
    assert special_uniques([column("1", [3, 3])]).uniques == 0


@pytest.mark.parametrize(
    ("keys", "options", "words"),
    [
        (0, {}, "at least one key"),
        (21, {}, "at most 20 keys"),
        (1, {"most": 0}, "Say 1 or more"),
        (1, {"disclosure_fraction": 0.0}, "above 0"),
        (1, {"disclosure_fraction": 1.5}, "above 0"),
    ],
)
def test_what_makes_no_sense_is_said(keys: int, options: dict[str, float], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        special_uniques([column(str(key), [0]) for key in range(keys)], **options)  # type: ignore[arg-type]


def test_shuffled_records_keep_their_scores() -> None:
    generator = np.random.default_rng(3)
    columns = [column(str(key), generator.integers(0, 5, 300).tolist()) for key in range(4)]
    order = generator.permutation(300)
    shuffled = [column(each.name, each.values[order].tolist()) for each in columns]
    scores = special_uniques(columns).scores
    assert special_uniques(shuffled).scores.tolist() == scores[order].tolist()
    assert scores.any()
