"""Measures row by row with their dispersion, and change of rank group."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from sdcensus.errors import SpecError
from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import island_cube
from sdcensus.utility.by_row import Rows, per_row, row_measures, rows_of
from sdcensus.utility.ranks import rank_change, rank_change_of_rows
from tests.utility.made import sparse, two_way

Int64 = npt.NDArray[np.int64]
ROWS = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.integers(0, 12)
)


def noisy(true: Int64, seed: int) -> Int64:
    noise: Int64 = np.random.default_rng(seed).integers(-2, 3, true.shape)
    return np.asarray(np.maximum(true + noise, 0))


def as_rows(
    true: npt.ArrayLike, published: npt.ArrayLike, *, withheld: npt.ArrayLike = False
) -> Rows:
    """Two arrays as rows: the first axis tells them apart."""
    counts, values = np.asarray(true), np.asarray(published)
    shown = ~np.broadcast_to(np.asarray(withheld), counts.shape)
    return Rows(tuple(map(str, range(len(counts)))), counts, values, shown)


def test_figures_of_two_rows_by_hand() -> None:
    """The relative distance of a row is a sum, the absolute one a mean, as ONS 2011 has them."""
    made = row_measures(as_rows([[1, 4, 0], [9, 0, 0]], [[4, 4, 0], [9, 0, 4]]))
    assert made.relative_distance.mean == pytest.approx((3 + 0) / 2)
    assert made.absolute_distance.mean == pytest.approx((3 / 3 + 4 / 3) / 2)
    assert made.hellinger.mean == pytest.approx((math.sqrt(0.5) + math.sqrt(2)) / 2)
    assert made.hellinger.variance == pytest.approx((math.sqrt(2) - math.sqrt(0.5)) ** 2 / 2)


@given(ROWS, st.integers(0, 1 << 32))
def test_each_row_by_itself(true: Int64, seed: int) -> None:
    published = noisy(true, seed)
    made = row_measures(as_rows(true, published))
    hellinger, relative, absolute, ratios = [], [], [], []
    for before, after in zip(true, published, strict=True):
        filled = before > 0
        hellinger.append(math.sqrt(0.5 * ((np.sqrt(after) - np.sqrt(before)) ** 2).sum()))
        relative.append((np.abs(after - before)[filled] / before[filled]).sum())
        absolute.append(np.abs(after - before).mean())
        if np.unique(before).size > 1:
            ratios.append(np.var(after) / np.var(before))
    for found, wanted in (
        (made.hellinger, hellinger),
        (made.relative_distance, relative),
        (made.absolute_distance, absolute),
        (made.variance_ratio, ratios),
    ):
        assert found.rows == len(wanted)
        assert found.rows + found.skipped == len(true)
        if not wanted:
            assert found.mean is None
            assert "all equal" in found.reason
            continue
        assert found.mean == pytest.approx(np.mean(wanted))
        if len(wanted) == 1:
            assert found.variance is found.standard_error is found.half_width is None
            assert "one row alone" in found.reason
            continue
        variance = np.var(wanted, ddof=1)
        error = math.sqrt(variance / len(wanted))
        assert found.variance == pytest.approx(variance)
        assert found.standard_error == pytest.approx(error)
        assert found.half_width == pytest.approx(1.96 * error)


def test_rows_of_equal_counts_have_no_variance_ratio_and_are_counted() -> None:
    true = [[3, 3, 3], [0, 0, 0], [1, 2, 3]]
    made = row_measures(as_rows(true, [[3, 4, 3], [0, 0, 0], [2, 4, 6]])).variance_ratio
    assert (made.rows, made.skipped) == (1, 2)
    assert made.mean == pytest.approx(4)
    assert "2 rows skipped" in made.reason


def test_rows_are_areas_and_columns_everything_else() -> None:
    cube = island_cube("sex", "area@parish+district", "age@class")
    table = Table(cube.spec, noisy(cube.count, 4))
    rows = rows_of(cube, table)
    assert rows.names == tuple(f"P{at}" for at in range(7))
    assert rows.true.shape == (7, 6)
    assert rows.true[3].tolist() == cube.count[:2, 3, :3].reshape(-1).tolist()
    assert rows.published[3].tolist() == table.published[:2, 3, :3].reshape(-1).tolist()
    assert per_row(cube, table, level="district").rows == 3
    assert per_row(cube, table, axis="age", part="all").cells == 3 * 3 * 11
    margins = rows_of(cube, table, part="margins")
    assert margins.true.shape == (7, 6)
    kept = np.ones((3, 4), dtype=bool)
    kept[:2, :3] = False
    assert margins.true[0].tolist() == cube.count[:, 0, :][kept].tolist()


def test_withheld_cells_are_left_out_of_their_row() -> None:
    withheld = np.array([[False, True], [True, True]])
    made = row_measures(as_rows([[4, 5], [6, 7]], [[5, 0], [0, 0]], withheld=withheld))
    assert made.withheld == 3
    assert (made.absolute_distance.rows, made.absolute_distance.skipped) == (1, 1)
    assert made.absolute_distance.mean == 1
    assert "withheld" in made.absolute_distance.reason
    cube = two_way([[4, 5], [6, 7]])
    values, flags = cube.count.copy(), np.zeros(cube.shape, dtype=np.uint8)
    values[0, 1], flags[0, 1] = 0, Mark.WITHHELD
    assert per_row(cube, Table(cube.spec, values, flags), axis="a").withheld == 1


def test_rows_that_cannot_be_made_are_refused() -> None:
    cube = two_way([[4, 5], [6, 7]], totals=False)
    table = Table(cube.spec, cube.count.copy())
    with pytest.raises(SpecError, match="geography"):
        per_row(cube, table)
    with pytest.raises(SpecError, match="shows no such cells"):
        per_row(cube, table, axis="a", part="margins")
    with pytest.raises(SpecError, match="rollup"):
        per_row(*sparse(cube, table), axis="a")


def changed_by_sorting(true: Int64, published: Int64, groups: int, *, by_rank: bool) -> float:
    """Rank change in plain Python, column by column.

    ONS 2011 keeps the order of the true counts among equal published ones (``by_rank``); by the
    position in the table it is another measure.
    """
    shares = []
    for before, after in zip(true.T.tolist(), published.T.tolist(), strict=True):
        n = len(before)
        first = sorted(range(n), key=lambda at: (before[at], at))
        tie = {at: rank if by_rank else at for rank, at in enumerate(first)}
        second = sorted(range(n), key=lambda at: (after[at], tie[at]))
        old = {at: rank * groups // n for rank, at in enumerate(first)}
        new = {at: rank * groups // n for rank, at in enumerate(second)}
        shares.append(sum(old[at] != new[at] for at in range(n)) / n)
    return 100 * sum(shares) / len(shares)


@given(ROWS, st.integers(0, 1 << 32), st.sampled_from([2, 3, 10]))
def test_rank_groups_by_sorting(true: Int64, seed: int, groups: int) -> None:
    published = noisy(true, seed)
    made = rank_change_of_rows(as_rows(true, published), groups=groups)
    wanted = changed_by_sorting(true, published, groups, by_rank=True)
    assert made.percent == pytest.approx(wanted)
    same = rank_change_of_rows(as_rows(true, true), groups=groups)
    assert same.percent == 0


def test_two_areas_that_become_equal_keep_their_places() -> None:
    rows = as_rows([[5], [3]], [[4], [4]])
    assert rank_change_of_rows(rows, groups=2).percent == 0


def test_rounding_moves_fewer_areas_than_noise() -> None:
    """ONS 2011 has 7 % for random rounding to base 3 and 20 % for the method of the ABS.

    By the position in the table it would be the other way round: rounding makes ties.
    """
    generator = np.random.default_rng(2011)
    true = np.where(
        generator.random((200, 40)) < 0.35, 0, generator.geometric(0.12, (200, 40))
    ).astype(np.int64)
    rest = true % 3
    up = generator.random(true.shape) < rest / 3
    rounding = true - rest + 3 * up
    noise = np.where(true > 0, np.maximum(true + generator.integers(-5, 6, true.shape), 0), 0)

    def by_position(published: Int64) -> float:
        return changed_by_sorting(true, published, 10, by_rank=False)

    def of(published: Int64) -> float:
        percent = rank_change_of_rows(as_rows(true, published)).percent
        assert percent is not None
        return percent

    assert of(rounding) < of(noise) / 2
    assert by_position(rounding) > 2 * of(rounding)


def test_twenty_areas_in_ten_groups() -> None:
    true = np.arange(20).reshape(20, 1)
    published = true.copy()
    published[[0, 1]] = published[[1, 0]]  # within a group
    assert rank_change_of_rows(as_rows(true, published)).percent == 0
    published[[5, 6]] = published[[6, 5]]  # across two groups
    assert rank_change_of_rows(as_rows(true, published)).percent == pytest.approx(10)


def test_withheld_cells_have_no_rank() -> None:
    true = [[1, 1], [2, 2], [3, 3]]
    withheld = [[False, True], [True, True], [False, True]]
    made = rank_change_of_rows(as_rows(true, [[3, 0], [0, 0], [1, 0]], withheld=withheld), groups=2)
    assert (made.columns, made.withheld, made.percent) == (1, 4, 100)
    every = rank_change_of_rows(as_rows([[1], [2]], [[0], [0]], withheld=[[True], [True]]))
    assert every.percent is None
    assert every.reason == "every cell is withheld"


def test_rank_change_of_a_table_and_its_options() -> None:
    cube = island_cube("area", "sex", "age@class")
    table = Table(cube.spec, noisy(cube.count, 1))
    made = rank_change(cube, table)
    assert (made.rows, made.columns, made.groups) == (7, 6, 10)
    with pytest.raises(SpecError, match="2 groups"):
        rank_change(cube, table, groups=1)
