"""Records in a new order."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.records.ordering import gather, inverse, leads_outside, rows_by

NOWHERE = 0xFFFFFFFF


@given(st.lists(st.integers(0, 12), max_size=60), st.integers(0, 12))
def test_rows_by_is_a_stable_sort_with_the_last_ones_as_they_are(
    keys: list[int], limit: int
) -> None:
    expected = np.argsort(np.minimum(keys, limit), kind="stable") if keys else np.arange(0)
    order = rows_by(np.array(keys, dtype=np.uint32), limit)
    assert np.array_equal(np.arange(len(keys)) if order is None else order, expected)


@given(st.permutations(list(range(40))), st.sampled_from(["u1", "u2", "u4", "u8", "i8"]))
def test_what_is_gathered_goes_back_to_where_it_was(rows: list[int], kind: str) -> None:
    order = np.array(rows, dtype=np.uint32)
    values = np.arange(100, 140).astype(kind)
    moved, places = np.empty_like(values), np.empty_like(order)
    gather(values, order, moved)
    assert np.array_equal(moved, values[order])
    inverse(order, places)
    assert np.array_equal(moved[places], values)


def test_links_lead_to_rows_or_nowhere() -> None:
    links = np.array([0, 2, NOWHERE], dtype=np.uint32)
    assert not leads_outside(links, 3, NOWHERE)
    assert leads_outside(links, 2, NOWHERE)
