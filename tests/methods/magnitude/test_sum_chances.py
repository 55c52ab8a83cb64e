"""Chances of published sums: every key counted, drawn many times, and by the rows themselves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.schema import KeySpace
from sdcensus.testing.island import SECRET
from tests.methods.magnitude.incomes import by_hand

Int64 = npt.NDArray[np.int64]

CELLS = [[1000], [1000, 400], [700, 650, 300, 20], [5], [-900, 200], [50, 50, 50]]
DECIMAL = KeySpace(10**4)


def published(method: CellKeySums, cube: Cube, at: int, keys: Int64) -> Int64:
    """What is published of one cell with each of many keys."""
    places = np.full(keys.size, at)
    values = cube.values.map(lambda array: array.reshape(-1, *array.shape[1:])[places])
    known = values.contributions
    assert known is not None
    own = keys.astype(np.uint32)
    values = replace(values, key=own, contributions=replace(known, contributor_key=own))
    return method.publish(values, cube.spec, cube.origin).published


def chance(method: CellKeySums, cube: Cube, at: int, low: int, high: int) -> float:
    lower, upper = np.full(cube.shape, low), np.full(cube.shape, high)
    return float(method.chances_between(cube, lower, upper).reshape(-1)[at])


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"noise_share": 0.3, "step": 1},
        {"small_values": True, "small_unit": 10},
        {"odd_variance": 2.0},
        {"extra_noise": 1, "sensitive_below": 3},
        {"measured_by": "range"},
    ],
    ids=str,
)
def test_every_key_is_counted(cell: list[int], settings: dict[str, object]) -> None:
    method = CellKeySums(key_derivation="rotated", **settings)  # type: ignore[arg-type]
    cube = by_hand([cell], [0], key_space=DECIMAL)
    values = published(method, cube, 0, np.arange(DECIMAL.modulus))
    total = sum(cell)
    for low, high in [(total - 60, total + 40), (total, total), (-(10**6), total - 1)]:
        share = ((values >= low) & (values <= high)).mean()
        assert chance(method, cube, 0, low, high) == pytest.approx(share, abs=1e-9)


def test_by_the_rows_of_the_table() -> None:
    # A sum of one contribution of 1000 with a share of 0.1 stands at the height 10, above the last
    # anchor: its deviations are the last row times 100, each spread over a step of 25. Rounding to
    # a whole amount moves both bounds out by a half.
    method = CellKeySums(secret=SECRET)
    cube = by_hand([[1000]], [0])
    table = method._settings.table
    deviations, widths = table.widths()[-1]
    inside, bound = Fraction(0), Fraction(101, 2)
    for moved, width in zip(deviations, widths, strict=True):
        middle, half = Fraction(100 * moved, table.step), Fraction(50, table.step)
        overlap = min(middle + half, bound) - max(middle - half, -bound)
        inside += Fraction(width, 2**32) * max(overlap, Fraction(0)) / (2 * half)
    assert chance(method, cube, 0, 950, 1050) == pytest.approx(float(inside), abs=1e-9)


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.parametrize("shares", ["1", "1, 0.5", "1, 0.6, 0.4", "1, 1, 1, 1"])
def test_draws_of_a_secret_agree_and_a_near_miss_does_not(cell: list[int], shares: str) -> None:
    method = CellKeySums(
        contribution_shares=shares, noise_share=0.2, key_derivation="hashed", secret=SECRET
    )
    cube = by_hand([cell], [0])
    draws = 60_000
    values = published(method, cube, 0, np.arange(draws))
    total, largest = sum(cell), max(map(abs, cell))
    low, high = total - largest // 5, total + largest // 10
    share = ((values >= low) & (values <= high)).mean()
    expected = chance(method, cube, 0, low, high)
    error = (expected * (1 - expected) / draws) ** 0.5
    assert abs(share - expected) < 4.5 * error + 1e-4
    other = replace(method, noise_share=0.3)
    if cell != [5]:
        assert abs(share - chance(other, cube, 0, low, high)) > 4.5 * error


@pytest.mark.parametrize("base", [7, 250])
@pytest.mark.parametrize("derivation", ["hashed", "rotated"])
def test_rounded_sums_have_the_chances_of_their_multiples(base: int, derivation: str) -> None:
    method = CellKeySums(rounded_to=base, key_derivation=derivation, secret=SECRET)
    cube = by_hand([[900, 300]], [0], key_space=DECIMAL)
    keys = np.arange(DECIMAL.modulus)
    values = published(method, cube, 0, keys)
    for low, high in ((1100, 1300), (1200, 1200), (0, 1150), (1250, 1250)):
        share = ((values >= low) & (values <= high)).mean()
        expected = chance(method, cube, 0, low, high)
        error = (expected * (1 - expected) / keys.size) ** 0.5
        assert abs(share - expected) <= (4.5 * error if derivation == "hashed" else 1e-9)


def test_bounds_that_hold_everything_or_nothing() -> None:
    method = CellKeySums(contribution_shares="1, 0.5, 0.3", secret=SECRET)
    cube = by_hand(CELLS, [1] * len(CELLS))
    everything = method.chances_between(
        cube, np.full(cube.shape, -(10**9)), np.full(cube.shape, 10**9)
    )
    assert everything == pytest.approx(np.ones(cube.shape), abs=1e-12)
    nothing = method.chances_between(cube, np.full(cube.shape, 10), np.full(cube.shape, 9))
    assert not nothing.any()
    # A sum of nobody is 0, and stays so.
    zero = np.zeros(cube.shape, dtype=np.int64)
    assert method.chances_between(cube, zero, zero).reshape(-1)[len(CELLS) :].tolist() == [1.0] * (
        cube.count.size - len(CELLS)
    )


def test_two_signs_are_mirrors() -> None:
    method = CellKeySums(contribution_shares="1, 0.5", secret=SECRET)
    cube = by_hand([[900, 300], [-900, -300]], [0, 0])
    above, below = np.full(cube.shape, 1150), np.full(cube.shape, 1300)
    mirrored = method.chances_between(cube, -below, -above).reshape(-1)
    assert mirrored[1] == method.chances_between(cube, above, below).reshape(-1)[0]
