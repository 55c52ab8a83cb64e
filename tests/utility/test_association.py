"""Margins, Cramér's V and differences between groups, before and after."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import contingency

from sdcensus.errors import SpecError
from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import island_cube
from sdcensus.utility.association import (
    AssociationChange,
    association_change,
    between_group_ratios,
    between_groups,
    cramers_v,
)
from sdcensus.utility.margins import marginal_change
from tests.methods.nearly_additive import spec_of, variable
from tests.utility.made import cube_of, sparse, two_way

Int64 = npt.NDArray[np.int64]
TWO_WAY = arrays.arrays(
    np.int64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 9)
)


@given(TWO_WAY)
def test_cramers_v_is_that_of_the_rows_and_columns_with_records(table: Int64) -> None:
    made = cramers_v(table)
    kept = table[table.any(axis=1)][:, table.any(axis=0)]
    if not table.any():
        assert made.reason == "the two-way table is empty"
    elif min(kept.shape) < 2:
        assert made.reason == "only one row or one column has records"
    else:
        wanted = float(contingency.association(kept, method="cramer"))
        assert made.value == pytest.approx(wanted, abs=1e-9)
        return
    assert made.value is None


def test_cramers_v_at_its_ends() -> None:
    assert cramers_v([[5, 0], [0, 7]]).value == pytest.approx(1)
    assert cramers_v([[2, 4, 6], [3, 6, 9], [7, 14, 21]]).value == 0
    with pytest.raises(SpecError, match="two axes"):
        cramers_v([1, 2, 3])


def change_of(true: list[list[int]], published: list[list[int]]) -> AssociationChange:
    """The change of one two-way table."""
    cube = two_way(true)
    (change,) = association_change(cube, Table(cube.spec, two_way(published).count))
    return change


def test_change_of_association_in_percent() -> None:
    change = change_of([[10, 5], [5, 10]], [[12, 5], [5, 12]])
    before, after = 5 / 15, 7 / 17
    assert change.true == pytest.approx(before)
    assert change.percent == pytest.approx(100 * (after - before) / before)
    none = change_of([[1, 2], [2, 4]], [[1, 2], [3, 4]])
    assert none.percent is None
    assert none.reason == "the variables are independent in the true table"
    empty = change_of([[1, 2], [3, 1]], [[0, 0], [0, 0]])
    assert empty.percent is None
    assert empty.reason == "published counts: the two-way table is empty"


def test_every_pair_of_axes_from_totals_or_from_sums() -> None:
    cube = island_cube("area", "sex", "age")
    draw = np.random.default_rng(3)
    table = Table(cube.spec, cube.count + draw.integers(0, 3, cube.shape))
    published = association_change(cube, table)
    summed = association_change(cube, table, "summed")
    assert [one.axes for one in published] == [("area", "sex"), ("area", "age"), ("sex", "age")]
    inner = table.published[:7, :2, :10]
    assert published[1].published == cramers_v(table.published[:7, 2, :10]).value
    assert summed[1].published == cramers_v(inner.sum(axis=1)).value
    assert published[1].true == summed[1].true == cramers_v(cube.count[:7, 2, :10]).value


def test_withheld_cells_leave_no_association() -> None:
    cube = two_way([[4, 5], [7, 1]])
    values, flags = cube.count.copy(), np.zeros(cube.shape, dtype=np.uint8)
    values[0, 1], flags[0, 1] = 0, Mark.WITHHELD
    (made,) = association_change(cube, Table(cube.spec, values, flags))
    assert made.percent is None
    assert "withheld" in made.reason
    groups = between_groups(cube, Table(cube.spec, values, flags), "a", "b")
    assert groups.mean is None
    assert "withheld" in groups.reason


def test_margins_from_published_totals_and_from_sums() -> None:
    """A total is changed once; a sum collects the changes of its parts."""
    cube = two_way([[10, 20, 0], [30, 40, 0]])
    values = np.array([[12, 22, 0, 31], [31, 42, 0, 70], [41, 60, 0, 100]])
    table = Table(cube.spec, values)
    rows, columns = marginal_change(cube, table)
    assert rows.percent == pytest.approx(100 * (1 / 30 + 0 / 70) / 2)
    assert columns.percent == pytest.approx(100 * (1 / 40 + 0) / 2)
    assert (columns.categories, columns.empty) == (2, 1)
    assert columns.largest_percent == pytest.approx(2.5)
    rows, columns = marginal_change(cube, table, "summed")
    assert rows.percent == pytest.approx(100 * (4 / 30 + 3 / 70) / 2)
    assert rows.source == "summed"


def test_margins_without_totals_are_refused_or_summed() -> None:
    cube = two_way([[1, 2], [3, 4]], totals=False)
    table = Table(cube.spec, cube.count.copy())
    with pytest.raises(SpecError, match="source='summed'"):
        marginal_change(cube, table)
    assert [one.percent for one in marginal_change(cube, table, "summed")] == [0, 0]
    with pytest.raises(SpecError, match="source of totals"):
        marginal_change(cube, table, "guessed")
    with pytest.raises(SpecError, match="rollup"):
        marginal_change(*sparse(cube, table))


def test_margins_of_an_empty_table_and_of_withheld_totals() -> None:
    cube = two_way([[0, 0], [0, 0]])
    for one in marginal_change(cube, Table(cube.spec, cube.count.copy())):
        assert one.percent is None
        assert one.reason
    cube = two_way([[1, 2], [3, 4]])
    values, flags = cube.count.copy(), np.zeros(cube.shape, dtype=np.uint8)
    values[0, 2], flags[0, 2] = 0, Mark.WITHHELD
    rows, columns = marginal_change(cube, Table(cube.spec, values, flags))
    assert (rows.categories, rows.withheld) == (1, 1)
    assert columns.withheld == 0


def test_tables_of_one_axis_or_none() -> None:
    one = cube_of(spec_of([variable("a", 3)], ["a"]), [1, 2, 3])
    table = Table(one.spec, one.count + 1)
    assert association_change(one, table) == ()
    (margin,) = marginal_change(one, table)
    assert margin.percent == pytest.approx(100 * (1 + 1 / 2 + 1 / 3) / 3)
    single = cube_of(spec_of([], []), 5)
    assert marginal_change(single, Table(single.spec, np.array(5))) == ()


def between(table: Int64) -> list[float]:
    """The variance of shares between groups, from its definition."""
    groups = [row for row in table.tolist() if sum(row)]
    n = sum(map(sum, groups))
    found = []
    for column in range(table.shape[1]):
        share = sum(row[column] for row in groups) / n
        found.append(
            sum(sum(row) * (row[column] / sum(row) - share) ** 2 for row in groups)
            / (len(groups) - 1)
        )
    return found


def test_between_group_variance_from_its_definition() -> None:
    cube = island_cube("area", "sex", "age@class")
    draw = np.random.default_rng(8)
    table = Table(cube.spec, cube.count + draw.integers(0, 4, cube.shape))
    made = between_groups(cube, table, "area", "age")
    before, after = between(cube.count[:7, 2, :3]), between(table.published[:7, 2, :3])
    wanted = [two / one for one, two in zip(before, after, strict=True)]
    assert made.ratios == pytest.approx(wanted)
    assert made.mean == pytest.approx(sum(wanted) / 3)
    assert made.categories == ("c0", "c1", "c2")
    assert (made.undefined, made.reason) == (0, "")
    with pytest.raises(SpecError, match="two axes"):
        between_groups(cube, table, "area", "area")


def test_groups_that_do_not_differ_have_no_ratio() -> None:
    true = np.array([[1, 2, 3], [3, 6, 9], [10, 20, 30]])
    assert between_group_ratios(true, true + 1) == [None, None, None]
    one_group = np.array([[1, 2, 3], [0, 0, 0]])
    assert between_group_ratios(one_group, one_group) == [None, None, None]
    assert all(math.isfinite(ratio or 0) for ratio in between_group_ratios(true, 0 * true))
