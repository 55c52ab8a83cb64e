"""Expanding one axis of sorted cells, against loops over dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.expand import combine_sorted, digits, expand_fastest
from sdcensus.kernels.cells.tabulate import Combine

COMBINES = np.array([Combine.SUM, Combine.XOR, Combine.LOW, Combine.HIGH], dtype=np.int64)


def _combined(rows: list[list[int]]) -> list[int]:
    first = rows[0].copy()
    for row in rows[1:]:
        first = [
            first[0] + row[0],
            first[1] ^ row[1],
            min(first[2], row[2]),
            max(first[3], row[3]),
        ]
    return first


@st.composite
def _cells(
    draw: st.DrawFn,
) -> tuple[dict[int, list[int]], int, int, int, list[list[int]]]:
    """Cells by number, how many prefixes and groups there are, and the places of each group."""
    prefixes, radix, size = (
        draw(st.integers(1, 5)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 6)),
    )
    values = st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4)
    cells = draw(st.dictionaries(st.integers(0, prefixes * radix - 1), values, max_size=12))
    places = draw(
        st.lists(st.lists(st.integers(0, size - 1), unique=True), min_size=radix, max_size=radix)
    )
    return cells, prefixes, radix, size, places


@given(_cells())
def test_every_group_counts_at_each_of_its_places_and_cells_stay_sorted(
    drawn: tuple[dict[int, list[int]], int, int, int, list[list[int]]],
) -> None:
    cells, prefixes, radix, size, places = drawn
    expected: dict[int, list[list[int]]] = {}
    for number in sorted(cells):
        for place in places[number % radix]:
            target = place * prefixes + number // radix
            expected.setdefault(target, []).append(cells[number])
    numbers = np.array(sorted(cells), dtype=np.uint64)
    values = np.array([cells[cell] for cell in sorted(cells)], dtype=np.int64).reshape(-1, 4)
    firsts = np.cumsum([0, *map(len, places)])

    def expand(most: int) -> tuple[np.ndarray, np.ndarray] | None:
        return expand_fastest(
            numbers,
            values,
            radix=radix,
            others=prefixes,
            firsts=firsts,
            places=np.array([one for own in places for one in own], dtype=np.int64),
            size=size,
            combines=COMBINES,
            most=most,
        )

    made = expand(len(expected))
    assert made is not None
    assert made[0].tolist() == sorted(expected)
    assert made[1].tolist() == [_combined(expected[one]) for one in sorted(expected)]
    assert expand(len(expected) - 1) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99)), max_size=20))
def test_cells_of_one_number_become_one(rows: list[tuple[int, int]]) -> None:
    numbers = np.array([number for number, _ in rows], dtype=np.uint64)
    values = np.array([[value] * 4 for _, value in rows], dtype=np.int64).reshape(-1, 4)
    order = np.argsort(numbers, kind="stable")
    made, combined = combine_sorted(numbers[order], order, values, COMBINES)
    assert made.tolist() == sorted(set(numbers.tolist()))
    for number, row in zip(made.tolist(), combined.tolist(), strict=True):
        assert row == _combined([[value] * 4 for own, value in rows if own == number])


@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=20),
    st.integers(1, 2**40),
    st.integers(1, 300),
)
def test_digits_are_those_of_the_number_whatever_the_order(
    numbers: list[int], weight: int, radix: int
) -> None:
    """Also for numbers at the end of 64 bits, where the end of a digit's range wraps around."""
    out = np.empty(len(numbers), dtype=np.uint16)
    given = np.array(numbers, dtype=np.uint64)
    digits(given, np.uint64(weight), np.uint64(radix), out)
    assert out.tolist() == [number // weight % radix for number in numbers]
