from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, strategies as st

from sdcensus.kernels.perturbation.lookup import HASHED, effective_keys
from sdcensus.kernels.perturbation.rounding import (
    first_keys_up,
    round_by_key,
    round_to_nearest,
    round_to_totals,
)
from tests.kernels.keys.plain_siphash import siphash24_bytes

Int64 = npt.NDArray[np.int64]

HASH_KEY = bytes(range(16))
BASES = st.integers(2, 100)
COUNTS = st.integers(0, 2**40)
KEYS = st.integers(0, 2**32 - 1)


def ints(values: Sequence[int] | Sequence[Sequence[int]]) -> Int64:
    return np.array(values, dtype=np.int64)


def keys32(values: Sequence[int] | Sequence[Sequence[int]]) -> npt.NDArray[np.uint32]:
    return np.array(values, dtype=np.uint32)


# --- by key -----------------------------------------------------------------------------------


@pytest.mark.parametrize("modulus", [256, 1000, 4096, 65521, 10**8, 2**32])
@pytest.mark.parametrize("base", [2, 3, 5, 7, 10, 100])
def test_keys_that_round_up_are_the_nearest_number_to_the_exact_share(
    base: int, modulus: int
) -> None:
    firsts = first_keys_up(base, modulus)
    assert firsts[0] == modulus
    for rest in range(1, base):
        exact = Fraction(modulus * (base - rest), base)
        assert abs(firsts[rest] - exact) <= Fraction(1, 2)
        # Bias: what all keys together add. No whole numbers come nearer to 0.
        down, up = firsts[rest], modulus - firsts[rest]
        assert abs(up * (base - rest) - down * rest) <= base / 2


@given(BASES, st.lists(st.tuples(COUNTS, KEYS), min_size=1, max_size=30))
def test_results_are_the_multiple_below_or_above(base: int, drawn: list[tuple[int, int]]) -> None:
    count, key = ints([one for one, _ in drawn]), keys32([one for _, one in drawn])
    result = round_by_key(count, key, base, 2**32)
    assert (result % base == 0).all()
    assert (abs(result - count) <= base - 1).all()
    assert (result[count % base == 0] == count[count % base == 0]).all()
    firsts = first_keys_up(base, 2**32)
    expected = [
        one - one % base + (base if one % base and drawn_key >= firsts[one % base] else 0)
        for one, drawn_key in drawn
    ]
    assert result.tolist() == expected


def test_small_keys_go_down_as_in_the_review_of_2005() -> None:
    """ABS (2005): in base 3 a remainder of 1 goes down if the number drawn is less than 2/3."""
    key = keys32([0, 665, 666, 667, 999])
    assert round_by_key(ints([7] * 5), key, 3, 1000).tolist() == [6, 6, 6, 9, 9]
    assert round_by_key(ints([8] * 5), key, 3, 1000).tolist() == [6, 9, 9, 9, 9]


def test_only_counts_below_a_limit_are_rounded() -> None:
    count, key = ints([0, 1, 2, 3, 4, 5, 7]), keys32([0] * 7)
    assert round_by_key(count, key, 3, 256, below=5).tolist() == [0, 0, 0, 3, 3, 5, 7]


@given(st.lists(st.tuples(COUNTS, KEYS), min_size=1, max_size=30))
def test_hashed_keys_are_hashed_before_they_decide(drawn: list[tuple[int, int]]) -> None:
    count, key = ints([one for one, _ in drawn]), keys32([one for _, one in drawn])
    hashed = round_by_key(count, key, 5, 2**32, rule=HASHED, hash_key=HASH_KEY)
    plain = round_by_key(count, effective_keys(key, rule=HASHED, hash_key=HASH_KEY), 5, 2**32)
    assert hashed.tolist() == plain.tolist()


def test_pieces_and_threads_change_nothing() -> None:
    draws = np.random.default_rng(5)
    count = draws.integers(0, 50, (3, 200_000))
    key = draws.integers(0, 2**32, count.shape, dtype=np.uint32)
    whole = round_by_key(count, key, 3, 2**32, threads=3)
    assert (whole == round_by_key(count, key, 3, 2**32, threads=1)).all()
    part = round_by_key(count[1:, ::7], key[1:, ::7], 3, 2**32)
    assert (whole[1:, ::7] == part).all()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 2, 1)])
def test_any_shape_comes_back_as_it_was(shape: tuple[int, ...]) -> None:
    count, key = np.full(shape, 4, dtype=np.int64), np.zeros(shape, dtype=np.uint32)
    assert round_by_key(count, key, 3, 256).shape == shape
    assert (round_by_key(count, key, 3, 256) == 3).all()
    assert round_to_nearest(count, 3).shape == shape


# --- to the nearest ---------------------------------------------------------------------------


@given(BASES, st.lists(COUNTS, min_size=1, max_size=30), st.booleans())
def test_the_nearest_multiple_is_taken(base: int, counts: list[int], ties_up: bool) -> None:
    result = round_to_nearest(ints(counts), base, ties_up=ties_up)
    for count, rounded in zip(counts, result.tolist(), strict=True):
        assert rounded % base == 0
        assert 2 * abs(rounded - count) <= base
        if 2 * abs(rounded - count) == base:
            assert rounded > count if ties_up else rounded // base % 2 == 0


# --- to a total -------------------------------------------------------------------------------


def by_definition(
    count: Sequence[int], key: Sequence[int], total: int, draw: int, base: int
) -> list[int]:
    """Systematic selection with exact fractions, as it is written in books."""
    rest = {at: one % base for at, one in enumerate(count) if one % base}
    needed = (total - sum(one - one % base for one in count)) // base
    chance: dict[int, Fraction] = {}
    left = dict(rest)
    while True:
        seats = needed - len(chance)
        whole = sum(left.values())
        sure = [at for at, one in left.items() if one * seats > whole]
        for at in sure:
            chance[at] = Fraction(1)
            del left[at]
        if not sure:
            break
    seats = needed - len(chance)
    whole = sum(left.values())
    chance |= {at: Fraction(one * seats, whole) for at, one in left.items()}
    # The start is a multiple of the smallest length that can tell two starts apart.
    apart = whole // math.gcd(seats, whole) if whole else 1
    passed = Fraction(draw % apart, apart)
    hashes = {at: siphash24_bytes(HASH_KEY, key[at].to_bytes(8, "little")) for at in rest}
    result = [one - one % base for one in count]
    for at in sorted(rest, key=lambda one: (hashes[one], one)):
        if chance[at] == 1 and at not in left:
            result[at] += base
            continue
        before, passed = passed, passed + chance[at]
        if math.floor(passed) > math.floor(before):
            result[at] += base
    return result


def rounded(
    count: Sequence[int], key: Sequence[int], total: int, draw: int, base: int
) -> list[int]:
    result = round_to_totals(
        ints([count]), keys32([key]), ints([total]), np.array([draw], np.uint64), base, HASH_KEY
    )
    return [int(one) for one in result[0]]


def nearest(count: Sequence[int], base: int) -> int:
    return int(round_to_nearest(ints([sum(count)]), base)[0])


GROUPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 40)), min_size=1, max_size=12)


@given(
    st.integers(2, 12), GROUPS, st.integers(0, 2**64 - 1), st.sampled_from(["near", "down", "up"])
)
def test_selection_is_systematic_and_the_sum_exact(
    base: int, drawn: list[tuple[int, int]], draw: int, way: str
) -> None:
    count, key = [one for one, _ in drawn], [one for _, one in drawn]
    below = sum(count) // base * base
    above = below if below == sum(count) else below + base
    total = {"near": nearest(count, base), "down": below, "up": above}[way]
    result = rounded(count, key, total, draw, base)
    assert sum(result) == total
    assert all(
        one in {c - c % base, c - c % base + base * (c % base > 0)}
        for one, c in zip(result, count, strict=True)
    )
    assert result == by_definition(count, key, total, draw, base)


@given(st.integers(2, 12), GROUPS)
def test_over_all_starts_every_cell_goes_up_as_often_as_its_remainder_says(
    base: int, drawn: list[tuple[int, int]]
) -> None:
    """Exactly unbiased where the total is a multiple: up in ``r`` of ``base`` starts."""
    count, key = [one for one, _ in drawn], [one for _, one in drawn]
    count[0] += -sum(count) % base
    results = [rounded(count, key, sum(count), start, base) for start in range(base)]
    assert all(sum(result) == sum(count) for result in results)
    assert np.mean(results, axis=0).tolist() == count


@given(st.integers(2, 12), GROUPS)
def test_over_all_starts_shares_are_in_proportion_where_the_total_is_no_multiple(
    base: int, drawn: list[tuple[int, int]]
) -> None:
    count, key = [one for one, _ in drawn], [one for _, one in drawn]
    total = nearest(count, base)
    rest = [one % base for one in count]
    needed = (total - sum(count) + sum(rest)) // base
    assume(rest and max(rest) * needed <= sum(rest))  # none is certain
    starts = max(sum(rest), 1)
    ups = sum(
        (ints(rounded(count, key, total, start, base)) - ints(count) + ints(rest)) // base
        for start in range(starts)
    )
    assert np.asarray(ups).tolist() == [one * needed for one in rest]


def test_cells_whose_share_would_exceed_one_are_certain() -> None:
    """9 and seven times 1 in base 10: the total 16 becomes 20, so two go up, and the 9 is one."""
    count, key = [9, 1, 1, 1, 1, 1, 1, 1], list(range(8))
    results = np.array([rounded(count, key, 20, start, 10) for start in range(7)])
    assert (results.sum(axis=1) == 20).all()
    assert (results[:, 0] == 10).all()
    assert ((results[:, 1:] == 10).sum(axis=0) == 1).all()


@given(st.integers(2, 100), st.lists(COUNTS, min_size=1, max_size=40))
def test_the_nearest_multiple_can_always_be_reached(base: int, count: list[int]) -> None:
    total = nearest(count, base)
    assert sum(rounded(count, list(range(len(count))), total, 0, base)) == total


@pytest.mark.parametrize(("total", "reached"), [(0, 3), (3, 3), (6, 6), (9, 9), (12, 9), (300, 9)])
def test_a_total_out_of_reach_becomes_the_nearest_in_reach(total: int, reached: int) -> None:
    assert sum(rounded([1, 5, 0, 0], [4, 5, 6, 7], total, 1, 3)) == reached


@given(GROUPS, st.permutations(range(12)), st.integers(0, 100))
def test_the_order_in_which_cells_come_does_not_matter(
    drawn: list[tuple[int, int]], order: list[int], draw: int
) -> None:
    count = [one for one, _ in drawn]
    key = [17 * at + 1 for at in range(len(count))]  # all different
    order = [at for at in order if at < len(count)]
    straight = rounded(count, key, nearest(count, 3), draw, 3)
    moved = rounded(
        [count[at] for at in order], [key[at] for at in order], nearest(count, 3), draw, 3
    )
    assert moved == [straight[at] for at in order]


def test_cells_with_the_same_key_stand_in_the_order_given() -> None:
    """Three cells of one key, remainder 1 each: the start alone decides which of them goes up."""
    ups = [rounded([1, 1, 1], [9, 9, 9], 3, start, 3).index(3) for start in range(3)]
    assert ups == [2, 1, 0]


def test_groups_are_rounded_alone() -> None:
    draws = np.random.default_rng(11)
    count = draws.integers(0, 6, (40, 25))
    count[7] = 0
    count[8] = 6
    key = draws.integers(0, 2**32, count.shape, dtype=np.uint32)
    draw = draws.integers(0, 2**64, 40, dtype=np.uint64)
    total = round_to_nearest(count.sum(axis=1), 5)
    result = round_to_totals(count, key, total, draw, 5, HASH_KEY)
    assert (result.sum(axis=1) == total).all()
    for at in range(40):
        alone = rounded(count[at].tolist(), key[at].tolist(), int(total[at]), int(draw[at]), 5)
        assert result[at].tolist() == alone
