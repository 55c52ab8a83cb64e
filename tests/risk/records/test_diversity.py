"""Diversity and closeness of classes, by the definition over every record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, repeat

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import Code
from sdcensus.risk.records.diversity import Diversity, Failures, SensitiveColumn, diversity
from sdcensus.risk.records.key_column import KeyColumn
from tests.risk.records.made_up import APPLIES, STATED, column, key_columns, may_be, rows

NUMBERS = (*(Code(str(n), lower=n, upper=n) for n in range(4)), Code("9", kind=STATED),
           Code("8", kind=APPLIES))  # fmt: skip
NAMES = tuple(Code(code.code, kind=code.kind) for code in NUMBERS)


def class_values(
    keys: Sequence[KeyColumn], values: Sequence[int], missing: MissingValues
) -> dict[tuple[int, ...], list[int]]:
    """For each combination of keys the known values of its class."""
    people = list(rows(keys))
    classes: dict[tuple[int, ...], list[int]] = {}
    for mine in people:
        classes[mine] = [
            value
            for other, value in zip(people, values, strict=True)
            if value != 4
            and (other == mine or (3 in mine) != (3 in other))  # not both leave something open
            and all(map(may_be, mine, other, repeat(missing)))
        ]
    return classes


def nominal(mine: Sequence[int], everybody: Sequence[int]) -> float:
    theirs, ours = Counter(everybody), Counter(mine)
    return sum(abs(ours[v] / len(mine) - theirs[v] / len(everybody)) for v in theirs) / 2


def in_order(mine: Sequence[int], everybody: Sequence[int]) -> float:
    """The ordered distance of valid values, or how the share differs to whom it applies."""
    outside = nominal([v == 5 for v in mine], [v == 5 for v in everybody])
    ours = Counter(v for v in mine if v != 5)
    theirs = Counter(v for v in everybody if v != 5)
    if not ours or len(theirs) < 2:
        return outside
    steps = [ours[v] / ours.total() - theirs[v] / theirs.total() for v in sorted(theirs)]
    return max(outside, sum(map(abs, accumulate(steps))) / (len(theirs) - 1))


@settings(max_examples=200, deadline=None)
@given(key_columns(keys=3), st.data(), st.sampled_from(list(MissingValues)), st.booleans())
def test_every_class_is_measured_by_the_definition(
    keys: tuple[KeyColumn, ...], data: st.DataObject, missing: MissingValues, ordered: bool
) -> None:
    size = keys[0].values.size
    values = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    least = data.draw(st.integers(1, 3))
    weight = data.draw(st.sampled_from([0.5, 1.0, 2.0]))
    sensitive = SensitiveColumn.of("illness", np.array(values, dtype=np.int8),
                                   NUMBERS if ordered else NAMES)  # fmt: skip
    assert sensitive.ordered is ordered
    result = diversity(keys, [sensitive], least=least, weight=weight, missing=missing)[0]
    # Combinations are numbered in the order of their codes.
    classes = sorted(class_values(keys, values, missing).items())
    sizes = Counter(rows(keys))
    everybody = [value for value in values if value != 4]
    distance = in_order if ordered else nominal
    assert result.sizes.tolist() == [sizes[mine] for mine, _ in classes]
    assert result.counted.tolist() == [len(own) for _, own in classes]
    assert result.distinct.tolist() == [len(set(own)) for _, own in classes]
    for place, (_, own) in enumerate(classes):
        if not own:
            assert result.recursive[place]
            assert result.distances[place] == 0
            continue
        ranked = [count for _, count in Counter(own).most_common()]
        entropy = -sum(count / len(own) * math.log(count / len(own)) for count in ranked)
        assert result.effective[place] == pytest.approx(math.exp(entropy))
        assert result.recursive[place] == (ranked[0] < weight * sum(ranked[least - 1 :]))
        assert result.distances[place] == pytest.approx(distance(own, everybody))
    failing = [mine for mine, own in classes if own and len(set(own)) < least]
    assert result.few_values == Failures(len(failing), sum(sizes[mine] for mine in failing))


def _measured(keys: Sequence[int], values: Sequence[int], **limits: float) -> Diversity:
    sensitive = SensitiveColumn.of("illness", np.array(values, dtype=np.int64), NAMES)
    return diversity([column("key", keys)], [sensitive], **limits)[0]  # type: ignore[arg-type]


def test_equal_shares_reach_their_number() -> None:
    """Two values, half and half: exp of the entropy is 2, whatever rounding does."""
    result = _measured([0] * 6 + [1] * 2, [0, 1] * 3 + [2, 2], least=2)
    assert result.low_entropy == Failures(1, 2)
    assert (result.few_values, result.one_value) == (Failures(1, 2), Failures(1, 2))
    assert (result.fewest_values, result.least_diverse()) == (1, (2,))


def test_the_furthest_class_is_told_with_its_size() -> None:
    """By hand: three quarters of the file have value 0; the class of one has value 1 only."""
    result = _measured([0, 0, 0, 1], [0, 0, 0, 1], furthest=0.5)
    assert result.largest_distance == pytest.approx(0.75)
    assert result.furthest_off(1)[0] == pytest.approx((1, 0.75))
    assert result.too_far == Failures(1, 1)


def test_two_ways_not_to_state_a_key_are_one_where_it_may_be_any_value() -> None:
    kinds = (column("k", []).kinds[0], STATED, STATED)
    key = column("key", [0, 1, 2], kinds)
    sensitive = SensitiveColumn.of("illness", np.array([0, 1, 2]), NAMES)
    result = diversity([key], [sensitive])[0]
    assert result.distinct.tolist() == [3, 3]
    assert result.sizes.tolist() == [1, 2]


def test_nobody_and_nothing_known() -> None:
    assert _measured([], []).classes == 0
    unknown = _measured([0, 1], [4, 4])
    assert unknown.few_values == unknown.not_recursive == unknown.too_far == Failures(0, 0)
    assert diversity([column("key", [0])], []) == ()


def test_without_keys_the_file_is_one_class() -> None:
    sensitive = SensitiveColumn.of("illness", np.array([0, 1, 1]), NAMES)
    result = diversity([], [sensitive])[0]
    assert (result.classes, result.records, result.largest_distance) == (1, 3, 0)


@pytest.mark.parametrize(("limits", "words"), [({"least": 0}, "1 or more"),
    ({"furthest": 1.2}, "from 0 to 1"), ({"weight": math.inf}, "above 0")])  # fmt: skip
def test_limits_that_make_no_sense_are_said(limits: dict[str, float], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        _measured([0], [0], **limits)
