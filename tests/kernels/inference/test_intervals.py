"""The shuttle against a slow one that goes through the sums one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given, strategies as st

from sdcensus.kernels.inference.intervals import Ended, SumLines, narrow

Int64 = npt.NDArray[np.int64]
FAR = 1 << 40


def lines(*sums: tuple[int, list[int]]) -> SumLines:
    starts = np.cumsum([0, *(len(parts) for _, parts in sums)])
    parts = [one for _, several in sums for one in several]
    return SumLines(
        np.array([total for total, _ in sums], dtype=np.int64),
        starts.astype(np.int64),
        np.array(parts, dtype=np.int64),
    )


NONE = lines()


def slow(lower: Int64, upper: Int64, along: list[SumLines]) -> bool:
    """Narrow in place until nothing changes; false as soon as an interval is empty."""
    changed = True
    while changed:
        before = lower.copy(), upper.copy()
        for axis, sums in enumerate(along):
            low, high = np.moveaxis(lower, axis, 0), np.moveaxis(upper, axis, 0)
            for line, total in enumerate(sums.totals.tolist()):
                parts = sums.parts[sums.starts[line] : sums.starts[line + 1]].tolist()
                for at in np.ndindex(low.shape[1:]):
                    least = sum(int(low[(p, *at)]) for p in parts)
                    most = sum(int(high[(p, *at)]) for p in parts)
                    t = (total, *at)
                    low[t], high[t] = max(low[t], least), min(high[t], most)
                    for p in parts:
                        here = (p, *at)
                        old_low, old_high = int(low[here]), int(high[here])
                        low[here] = max(old_low, int(low[t]) - (most - old_high))
                        if high[t] < FAR:
                            high[here] = min(old_high, int(high[t]) - (least - old_low))
        if (lower > upper).any():
            return False
        changed = bool((lower != before[0]).any() or (upper != before[1]).any())
    return True


AXES = (
    (3, lines((2, [0, 1]))),
    (6, lines((3, [0, 1]), (4, [2]), (5, [3, 4]))),
    (5, lines((3, [0, 2]), (4, []))),
    (2, NONE),
    (1, NONE),
)


@given(st.lists(st.sampled_from(AXES), max_size=3), st.integers(0, 1 << 32), st.integers(1, 4))
def test_the_outcome_is_that_of_doing_one_sum_after_the_other(
    axes: list[tuple[int, SumLines]], seed: int, spread: int
) -> None:
    draw = np.random.default_rng(seed)
    shape = tuple(size for size, _ in axes)
    middle = draw.integers(0, 9, shape)
    lower = np.maximum(middle - draw.integers(0, spread + 1, shape), 0)
    upper = middle + draw.integers(0, spread + 1, shape)
    upper = np.where(draw.random(shape) < 0.2, FAR, upper)
    along = [one for _, one in axes]
    expected = lower.copy(), upper.copy()
    fits = slow(*expected, along)
    rounds, ended = narrow(lower, upper, along, unbounded=FAR, rounds=1000)
    assert (ended is Ended.SETTLED) == fits
    assert rounds >= 1
    if fits:
        assert (lower == expected[0]).all()
        assert (upper == expected[1]).all()
    else:
        assert (lower > upper).any()


def test_lines_longer_than_what_is_done_together_are_done_too() -> None:
    lower = np.zeros((3, 2000), dtype=np.int64)
    upper = np.full((3, 2000), 4, dtype=np.int64)
    upper[2] = 1
    narrow(lower, upper, [lines((2, [0, 1])), NONE], unbounded=FAR, rounds=10)
    assert (upper == 1).all()


def test_bounds_that_creep_towards_each_other_end_with_the_number_of_rounds() -> None:
    # a = b + c and c = a + d with d of 1 at least: each round shows that a and c are larger.
    sums = lines((0, [1, 2]), (2, [0, 3]))
    lower = np.array([0, 0, 0, 1], dtype=np.int64)
    upper = np.array([10**9, 0, 10**9, 1], dtype=np.int64)
    assert narrow(lower, upper, [sums], unbounded=FAR, rounds=50) == (50, Ended.LIMIT)
    assert (lower <= upper).all()
    lower = np.array([0, 0, 0, 1], dtype=np.int64)
    upper = np.array([20, 0, 20, 1], dtype=np.int64)
    assert narrow(lower, upper, [sums], unbounded=FAR, rounds=50)[1] is Ended.CONTRADICTION


def test_intervals_that_are_empty_at_the_start_are_not_touched() -> None:
    lower, upper = np.array([3, 0, 0]), np.array([2, 9, 9])
    assert narrow(lower, upper, [AXES[0][1]], unbounded=FAR, rounds=9) == (0, Ended.CONTRADICTION)
    assert upper.tolist() == [2, 9, 9]
