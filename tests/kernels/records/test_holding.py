"""What larger units hold, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.records.holding import extremes, held_once

#: Few larger units, so that codes meet; and units that lie in none, anywhere among the others.
PLACES = st.sampled_from([0, 1, 2, 3, int(NO_ROW)])


@given(st.lists(st.tuples(PLACES, st.integers(0, 4)), max_size=40), st.booleans())
def test_codes_that_no_unit_holds_twice(units: list[tuple[int, int]], in_order: bool) -> None:
    held = sorted(units) if in_order else units
    places = np.array([place for place, _ in held], dtype=np.uint32)
    codes = np.array([code for _, code in held], dtype=np.uint8)
    counts, once = held_once(places, codes, 5)
    pairs = Counter(unit for unit in held if unit[0] != NO_ROW)
    for code in range(5):
        numbers = [number for (_, own), number in pairs.items() if own == code]
        assert once[code] == (max(numbers, default=0) <= 1)
        if once[code]:
            assert counts[code] == sum(numbers)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=30))
def test_the_least_and_the_largest_number_of_each_code(units: list[tuple[int, int]]) -> None:
    codes = np.array([code for code, _ in units], dtype=np.uint16)
    least, most, sizes = extremes(codes, np.array([n for _, n in units], dtype=np.int64), 4)
    for code in range(4):
        numbers = [number for own, number in units if own == code]
        assert sizes[code] == len(numbers)
        assert most[code] == max(numbers, default=-1)
        if numbers:
            assert least[code] == min(numbers)
