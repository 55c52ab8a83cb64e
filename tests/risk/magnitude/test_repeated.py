"""Cells of the same contributors, and sums that differ by one of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Mark, Table
from sdcensus.risk.magnitude.repeated import repeated_cells, single_differences
from sdcensus.testing.island import SECRET
from tests.methods.magnitude.incomes import by_hand, income_cube

METHOD = CellKeySums(secret=SECRET)
BY = ("area@parish+district", "sex", "age@class")


def protected(cube: Cube, method: CellKeySums = METHOD) -> Table:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table


def sums(cube: Cube) -> npt.NDArray[np.int64]:
    return cube.values.sum_of("income")


def test_differences_are_those_that_a_walk_over_all_pairs_finds() -> None:
    cube = income_cube(*BY, people=120)
    table = protected(cube)
    known = cube.values.contributions
    assert known is not None
    pairs = near = 0
    for at, axis in enumerate(cube.spec.axes):
        groups = {}  # the base groups of each code
        for block in axis.blocks:
            for code in range(block.size):
                groups[block.start + code] = set(np.flatnonzero(block.group == code).tolist())
        for above, below in product(groups, groups):
            between = [other for other in groups if groups[below] < groups[other] < groups[above]]
            if not groups[below] or not groups[below] < groups[above] or between:
                continue
            gaps = [
                np.take(array, above, at) - np.take(array, below, at)
                for array in (known.contributors, sums(cube), table.published)
            ]
            single = gaps[0] == 1
            pairs += int(single.sum())
            near += int((np.abs(gaps[2] - gaps[1])[single] * 10 <= np.abs(gaps[1])[single]).sum())
    found = single_differences(cube, table)
    assert (found.pairs, found.after) == (pairs, near)
    assert found.pairs > 0
    assert 0 < found.people <= found.pairs
    assert found.people_found <= found.after


def test_true_sums_give_everybody_away_and_withheld_ones_nobody() -> None:
    cube = income_cube(*BY, people=120)
    found = single_differences(cube, Table(cube.spec, sums(cube)))
    assert found.after == found.pairs
    assert found.people_found == found.people
    hidden = np.full(cube.shape, Mark.WITHHELD, dtype=np.uint8)
    assert single_differences(cube, Table(cube.spec, 0 * sums(cube), flags=hidden)).pairs == 0


def test_more_noise_hides_differences() -> None:
    cube = income_cube(*BY, people=200)
    weak, strong = (
        single_differences(cube, protected(cube, replace(METHOD, noise_share=share))).after
        for share in (0.001, 0.3)
    )
    assert weak > strong


def test_the_mean_of_many_cells_is_nearer_than_one_of_them() -> None:
    # One set of contributors in every cell, each published with an error of its own.
    cells = 10
    cube = by_hand([[1000, 500]] * cells, [7] * cells)
    errors = [200 if at % 2 else -200 for at in range(cells)]
    published = [1500 + error for error in errors] + [0] * (cube.spec.cells - cells)
    table = Table(cube.spec, np.array(published, dtype=np.int64))
    found = repeated_cells(cube, table)
    assert (found.sets, found.most, found.by_one, found.by_mean) == (1, cells, 0, 1)


@pytest.mark.parametrize(
    ("cells", "keys"),
    [([[1000, 500], [1000, 500]], [7, 8]), ([[1000, 500], [1000, 501]], [7, 7])],
    ids=["other people", "other sums"],
)
def test_other_contributors_are_another_set(cells: list[list[int]], keys: list[int]) -> None:
    cube = by_hand(cells, keys)
    assert repeated_cells(cube, Table(cube.spec, sums(cube))).sets == 0


def test_nobody_contributes() -> None:
    cube = by_hand([], [])
    table = Table(cube.spec, sums(cube))
    assert repeated_cells(cube, table).sets == 0
    assert single_differences(cube, table).pairs == 0


def test_keys_by_the_set_gain_nothing_from_looking_twice() -> None:
    cube = income_cube(*BY, people=60)
    hashed = replace(METHOD, key_derivation="hashed")
    found = repeated_cells(cube, protected(cube, hashed))
    assert found.sets > 0
    assert found.by_one == found.by_mean
