from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise
from operator import xor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.perturbation.lookup import (
    FOLDED,
    HASHED,
    PLAIN,
    LookupRows,
    effective_keys,
    publish,
)
from sdcensus.model.perturbation.table import Tail
from sdcensus.model.secret import Purpose, Secret
from tests.kernels.keys.plain_siphash import siphash24_bytes

HASH_KEY = Secret(bytes(range(32))).sub_key(Purpose.LOOKUP, 1)
MODULI = (2, 3, 10, 255, 256, 257, 4096, 65521, 10**8, 4294967291, 2**32)

Row = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Drawn:
    """A perturbation table, and cells to look up."""

    modulus: int
    rows: tuple[Row, ...]
    tail: Tail
    counts: tuple[int, ...]
    keys: tuple[int, ...]

    def ready(self) -> LookupRows:
        tail = self.tail
        return LookupRows.build(
            self.rows, self.modulus, start=tail.start, period=tail.period, anchor=tail.anchor
        )


@st.composite
def _rows(draw: st.DrawFn, modulus: int, smallest: int) -> Row:
    cuts = draw(st.lists(st.integers(0, modulus), max_size=6))
    ends = [0, *sorted(cuts), modulus]
    widths = tuple(b - a for a, b in pairwise(ends))
    values = draw(
        st.lists(st.integers(-min(smallest, 5), 5), min_size=len(widths), max_size=len(widths))
    )
    return tuple(values), widths


@st.composite
def tables(draw: st.DrawFn, moduli: Sequence[int] = MODULI) -> Drawn:
    modulus = draw(st.sampled_from(moduli))
    start, period = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    tail = Tail(start, period, draw(st.none() | st.integers(0, 5)))
    rows = [draw(_rows(modulus, tail.smallest_count(row))) for row in range(tail.rows)]
    counts = draw(st.lists(st.integers(0, 12) | st.integers(0, 2**40), min_size=1, max_size=20))
    bounds = [one for _, widths in rows for one in accumulate(widths)]
    near = st.sampled_from(bounds).flatmap(lambda one: st.integers(one - 1, one + 1))
    key = (near | st.integers(0, modulus - 1)).map(lambda one: one % modulus)
    keys = draw(st.lists(key, min_size=len(counts), max_size=len(counts)))
    return Drawn(modulus, tuple(rows), tail, tuple(counts), tuple(keys))


def looked_up(rule: int, key: int) -> int:
    if rule == HASHED:
        return siphash24_bytes(HASH_KEY, key.to_bytes(8, "little")) >> 32
    return reduce(xor, key.to_bytes(4, "little")) if rule == FOLDED else key


def by_hand(drawn: Drawn, rule: int) -> list[int]:
    """The first interval whose end lies above the key."""
    results = []
    for count, key in zip(drawn.counts, drawn.keys, strict=True):
        values, widths = drawn.rows[drawn.tail.row(count)]
        wanted = looked_up(rule, key)
        ends = accumulate(widths)
        added = next(value for value, end in zip(values, ends, strict=True) if wanted < end)
        results.append(count + added)
    return results


def arrays(drawn: Drawn) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    return np.array(drawn.counts, dtype=np.int64), np.array(drawn.keys, dtype=np.uint32)


@given(tables())
def test_every_cell_takes_the_first_interval_that_ends_above_its_key(drawn: Drawn) -> None:
    count, key = arrays(drawn)
    assert publish(count, key, drawn.ready()).tolist() == by_hand(drawn, PLAIN)


@given(tables(moduli=[2**32]))
def test_hashed_keys_are_looked_up_like_others(drawn: Drawn) -> None:
    count, key = arrays(drawn)
    result = publish(count, key, drawn.ready(), rule=HASHED, hash_key=HASH_KEY)
    assert result.tolist() == by_hand(drawn, HASHED)


@given(tables(moduli=[256]), st.data())
def test_folded_keys_are_looked_up_like_others(drawn: Drawn, data: st.DataObject) -> None:
    size = len(drawn.counts)
    wide = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=size, max_size=size))
    drawn = Drawn(drawn.modulus, drawn.rows, drawn.tail, drawn.counts, tuple(wide))
    count, key = arrays(drawn)
    assert publish(count, key, drawn.ready(), rule=FOLDED).tolist() == by_hand(drawn, FOLDED)


def test_hashed_keys_are_those_of_the_specification() -> None:
    """For the secret of bytes 0 to 31, purpose lookup, version 1."""
    assert HASH_KEY.hex() == "f36e418740ae2a6b26523bdc600882a0"
    key = np.array([0, 1888058353, 4294967295], dtype=np.uint32)
    hashed = effective_keys(key, rule=HASHED, hash_key=HASH_KEY)
    assert hashed.tolist() == [3771097146, 2909567951, 3572026319]
    assert hashed.dtype == np.uint32


@pytest.mark.parametrize(("end", "result"), [(2909567951, 10), (2909567952, 11)])
def test_the_vector_of_the_hashed_rule_decides_a_published_count(end: int, result: int) -> None:
    """The hashed key of 1888058353 is 2909567951: an interval that ends there does not hold it."""
    moving: Row = ((1, 0), (end, 2**32 - end))
    rows = LookupRows.build([((0,), (2**32,)), moving], 2**32, start=1)
    key = np.array([1888058353], dtype=np.uint32)
    assert publish(np.array([10]), key, rows, rule=HASHED, hash_key=HASH_KEY).tolist() == [result]


@pytest.mark.parametrize(
    ("key", "folded"),
    [(0, 0), (0xFF, 0xFF), (0x01020304, 0x04), (0xFFFFFFFF, 0), (0x80000001, 0x81)],
)
def test_folded_keys_are_the_exclusive_or_of_four_bytes(key: int, folded: int) -> None:
    keys = np.array([key], dtype=np.uint32)
    assert effective_keys(keys, rule=FOLDED).tolist() == [folded]


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20), st.sampled_from([PLAIN, FOLDED, HASHED]))
def test_effective_keys_are_the_keys_that_are_looked_up(keys: list[int], rule: int) -> None:
    found = effective_keys(np.array(keys, dtype=np.uint32), rule=rule, hash_key=HASH_KEY)
    assert found.tolist() == [looked_up(rule, key) for key in keys]


def test_the_example_of_the_handbook() -> None:
    """Keys .9, .3 and .6 sum to .8, which row 3 of its table turns from 3 into 4."""
    same: Row = ((0,), (10,))
    rows = LookupRows.build([same, same, same, ((-1, 0, 1), (3, 4, 3))], 10, start=3)
    key = np.array([(9 + 3 + 6) % 10], dtype=np.uint32)
    assert publish(np.array([3]), key, rows).tolist() == [4]


def test_an_interval_begins_where_the_one_before_ends() -> None:
    rows = LookupRows.build([((0,), (10,)), ((-1, 0, 1), (3, 4, 3))], 10, start=1)
    keys = np.arange(10, dtype=np.uint32)
    result = publish(np.full(10, 5), keys, rows)
    assert result.tolist() == [4, 4, 4, 5, 5, 5, 5, 6, 6, 6]


def test_empty_cells_stay_unless_their_row_says_otherwise() -> None:
    moving: Row = ((-1, 1), (5, 5))
    keys = np.arange(10, dtype=np.uint32)
    zeros = np.zeros(10, dtype=np.int64)
    kept = LookupRows.build([((0,), (10,)), moving], 10, start=1)
    assert not publish(zeros, keys, kept).any()
    grown = LookupRows.build([((0, 3), (9, 1)), moving], 10, start=1)
    assert publish(zeros, keys, grown).tolist() == [0] * 9 + [3]


def test_rows_take_turns_as_in_rounding() -> None:
    rows: list[Row] = [((0,), (3,)), ((-1, 2), (2, 1)), ((-2, 1), (1, 2))]
    ready = LookupRows.build(rows, 3, start=0, period=3)
    count = np.repeat(np.arange(9), 3)
    key = np.tile(np.arange(3, dtype=np.uint32), 9)
    expected = [0, 0, 0, 0, 0, 3, 0, 3, 3]
    assert publish(count, key, ready).tolist() == [
        one + block for block in (0, 3, 6) for one in expected
    ]


def test_rows_of_the_ons_repeat_from_501_on() -> None:
    """Row 501 + (count - 501) mod 250, here with a deviation of its own in each row."""
    rows: list[Row] = [((row,), (256,)) for row in range(751)]
    ready = LookupRows.build(rows, 256, start=501, period=250)
    count = np.array([1, 500, 501, 750, 751, 1000, 1001, 10**12 + 1])
    result = publish(count, np.zeros(8, dtype=np.uint32), ready) - count
    assert result.tolist() == [1, 500, 501, 750, 501, 750, 501, 501]


def many(size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], LookupRows]:
    draws = np.random.default_rng(20210321)
    count = draws.integers(0, 9, size)
    key = draws.integers(0, 2**32, size, dtype=np.uint32)
    quarter = 2**30
    moving: Row = ((-1, 0, 1), (quarter, 2 * quarter, quarter))
    return count, key, LookupRows.build([((0,), (2**32,)), moving], 2**32, start=1)


@pytest.mark.parametrize("rule", [PLAIN, HASHED])
def test_threads_change_nothing(rule: int) -> None:
    count, key, rows = many((1 << 19) + 17)
    results = [
        publish(count, key, rows, rule=rule, hash_key=HASH_KEY, threads=threads)
        for threads in (1, 2, 5, None)
    ]
    for other in results[1:]:
        assert (other == results[0]).all()
    # Pieces of work do not overlap and leave nothing out: the same cells one by one.
    some = np.array([0, 1, (1 << 17) - 1, 1 << 17, (1 << 18) + 3, count.size - 1])
    alone = publish(count[some], key[some], rows, rule=rule, hash_key=HASH_KEY)
    assert (alone == results[0][some]).all()


def _changed(array: npt.NDArray[Any], way: str) -> npt.NDArray[Any]:
    if way == "read-only":
        array = array.copy()
        array.flags.writeable = False
        return array
    if way == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return np.asfortranarray(array) if way == "fortran" else array[::-1][::-1]


@pytest.mark.parametrize("way", ["read-only", "strided", "fortran", "reversed"])
@pytest.mark.parametrize("rule", [PLAIN, HASHED])
def test_arrays_of_every_layout_give_the_same(way: str, rule: int) -> None:
    count, key, rows = many(60)
    count, key = count.reshape(3, 4, 5), key.reshape(3, 4, 5)
    plain = publish(count, key, rows, rule=rule, hash_key=HASH_KEY)
    assert plain.shape == (3, 4, 5)
    other = publish(_changed(count, way), _changed(key, way), rows, rule=rule, hash_key=HASH_KEY)
    assert (other == plain).all()
    hashed = effective_keys(_changed(key, way), rule=rule, hash_key=HASH_KEY)
    assert (hashed == effective_keys(key, rule=rule, hash_key=HASH_KEY)).all()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1, 1)])
def test_tables_of_one_cell_and_of_none_keep_their_shape(shape: tuple[int, ...]) -> None:
    _, _, rows = many(1)
    count, key = np.full(shape, 5), np.full(shape, 2**32 - 1, dtype=np.uint32)
    for rule in (PLAIN, HASHED):
        result = publish(count, key, rows, rule=rule, hash_key=HASH_KEY)
        assert isinstance(result, np.ndarray)
        assert result.shape == shape
    assert (publish(count, key, rows) == 6).all()
    assert effective_keys(key, rule=HASHED, hash_key=HASH_KEY).shape == shape


def test_what_was_given_is_not_changed() -> None:
    count, key, rows = many(100)
    before = count.copy(), key.copy()
    publish(count, key, rows, rule=HASHED, hash_key=HASH_KEY)
    assert (count == before[0]).all()
    assert (key == before[1]).all()
    assert count.flags.writeable


def test_a_hash_key_of_another_length_is_refused() -> None:
    count, key, rows = many(1)
    with pytest.raises(SecretError, match="16 bytes"):
        publish(count, key, rows, rule=HASHED, hash_key=bytes(8))


def test_a_key_beyond_the_table_or_a_count_below_zero_is_refused() -> None:
    """Either would read memory behind the table."""
    rows = LookupRows.build([((0,), (10,)), ((-1, 1), (5, 5))], 10, start=1)
    fine = np.array([4, 4]), np.array([0, 9], dtype=np.uint32)
    assert publish(*fine, rows).tolist() == [3, 5]
    for count, key in (([4, 4], [0, 10]), ([4, 4], [2**32 - 1, 0]), ([4, -1], [0, 0])):
        with pytest.raises(SpecError, match="not below 10"):
            publish(np.array(count), np.array(key, dtype=np.uint32), rows)
