"""Exchanging units: the table always adds up, and is never farther away than before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.perturbation.additivity import (
    LONGEST_RUN,
    ExchangeRuns,
    Grid,
    exchange,
    scattered,
)

Int64 = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def two_way(height: int, width: int) -> tuple[Grid, tuple[ExchangeRuns, ExchangeRuns]]:
    """A table with a total of rows and of columns, last row and last column."""
    longest = max(height, width)
    offsets = np.zeros((2, 2, longest), dtype=np.int64)
    offsets[0, 0, :height] = np.arange(height) * (width + 1)
    offsets[0, 1, :height] = height * (width + 1)
    offsets[1, 0, :width] = np.arange(width)
    offsets[1, 1, :width] = width
    salts = np.arange(2 * longest, dtype=np.uint64).reshape(2, longest)
    grid = Grid(np.array([height, width]), np.array([2, 2]), offsets, salts)
    runs = tuple(
        ExchangeRuns(np.arange(size), np.array([0, size]), np.array([[False, True]]))
        for size in (height, width)
    )
    return grid, (runs[0], runs[1])


def summed(inner: Int64) -> Int64:
    rows = np.concatenate([inner, inner.sum(axis=0, keepdims=True)])
    return np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)


def cost(values: Int64, target: Int64) -> int:
    weights = np.ones(values.shape, dtype=np.int64)
    weights[-1] *= 2
    weights[:, -1] *= 2
    return int((weights * np.abs(values - target)).sum())


def run(
    values: Int64, target: Int64, *, step: int = 1, blocked: int = 0, draw: int = 0
) -> tuple[Int64, int]:
    height, width = (size - 1 for size in target.shape)
    grid, runs = two_way(height, width)
    flat = values.flatten()
    made = exchange(
        flat, target.flatten(), grid, (0, 1), runs, step=step, blocked=blocked, draw=draw
    )
    return flat.reshape(target.shape), made


@st.composite
def targets(draw: st.DrawFn) -> Int64:
    generator = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    inner = generator.integers(0, 6, (draw(st.integers(1, 6)), draw(st.integers(1, 6))))
    true = summed(inner)
    return np.where(true > 0, np.maximum(true + generator.integers(-3, 4, true.shape), 0), 0)


@given(targets(), st.integers(0, 3))
def test_the_table_adds_up_all_the_time_and_comes_nearer(target: Int64, draw: int) -> None:
    before = summed(target[:-1, :-1])
    after, made = run(before, target, draw=draw)
    assert (after == summed(after[:-1, :-1])).all()
    assert after.min() >= 0
    assert not after[:-1, :-1][target[:-1, :-1] == 0].any()
    assert cost(after, target) <= cost(before, target)
    assert made or (after == before).all()


@given(targets())
def test_what_is_found_is_the_optimum_of_a_simple_table(target: Int64) -> None:
    """Compared with a linear program: in a two-way table its optimum is whole."""
    from scipy.optimize import linprog

    height, width = (size - 1 for size in target.shape)
    inner = target[:-1, :-1]
    cells = np.flatnonzero(inner)
    sums = np.zeros((height + 1, width + 1, cells.size))
    for at, cell in enumerate(cells):
        row, column = divmod(int(cell), width)
        for one, other in ((row, column), (row, width), (height, column), (height, width)):
            sums[one, other, at] = 1
    size = target.size
    matrix = sums.reshape(size, cells.size)
    weights = np.ones((height + 1, width + 1))
    weights[-1] *= 2
    weights[:, -1] *= 2
    gaps = np.hstack([matrix, -np.eye(size), np.eye(size)])
    costs = np.concatenate([np.zeros(cells.size), weights.ravel(), weights.ravel()])
    best = linprog(costs, A_eq=gaps, b_eq=target.ravel()).fun
    after = summed(inner)
    for _ in range(20):
        after, made = run(after, target)
        if not made:
            break
    assert cost(after, target) == pytest.approx(best, abs=1e-6)


@given(targets(), st.integers(1, 3))
def test_blocked_counts_are_neither_left_nor_entered(target: Int64, blocked: int) -> None:
    inner = target[:-1, :-1]
    allowed = summed(np.where((inner > 0) & (inner <= blocked), blocked + 1, inner))
    for step in (1, blocked + 1):
        after, _ = run(allowed, target, step=step, blocked=blocked)
        cells = after[:-1, :-1]
        assert not ((cells > 0) & (cells <= blocked)).any()
        assert cost(after, target) <= cost(allowed, target)


def test_the_same_is_found_again() -> None:
    draw = np.random.default_rng(5)
    inner = draw.integers(1, 9, (20, 7))
    target = summed(inner) + draw.integers(-1, 2, (21, 8))
    first, again = run(summed(target[:-1, :-1]), target), run(summed(target[:-1, :-1]), target)
    assert (first[0] == again[0]).all()
    assert first[1] == again[1] > 0


def test_changes_are_spread_evenly() -> None:
    inner = np.full((LONGEST_RUN, 1), 50)
    target = summed(inner)
    target[-1] += 20
    after, _ = run(summed(inner), target)
    assert np.unique(after[:-1, 0]).tolist() == [50, 51]
    assert after[-1, -1] == target[-1, -1]


@given(targets())
def test_squares_change_the_path_and_not_the_rules(target: Int64) -> None:
    height, width = (size - 1 for size in target.shape)
    grid, runs = two_way(height, width)
    flat = summed(target[:-1, :-1]).flatten()
    exchange(flat, target.flatten(), grid, (0, 1), runs, square=True)
    after = flat.reshape(target.shape)
    assert (after == summed(after[:-1, :-1])).all()
    assert after.min() >= 0


def test_numbers_are_scattered_as_splitmix64_does() -> None:
    # The first three numbers of the generator, started at 0.
    golden = 0x9E3779B97F4A7C15
    words = np.array([golden * at % 2**64 for at in (1, 2, 3)], dtype=np.uint64)
    assert [f"{one:016x}" for one in scattered(words).tolist()] == [
        "e220a8397b1dcdaf",
        "6e789e6aa1b965f4",
        "06c45d188009454f",
    ]
