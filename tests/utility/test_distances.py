"""Distances between true and published counts."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import SECRET, island_cube
from sdcensus.utility.bases import Base
from sdcensus.utility.distances import FIGURES, Utility, utility_of, utility_of_values
from tests.methods.nearly_additive import spec_of, variable
from tests.utility.made import cube_of, cubes_with_tables, sparse, two_way

COUNTS = arrays.arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 20))


def exactly(cube: Cube) -> Table:
    return Table(cube.spec, cube.count.copy())


def test_hellinger_of_six_counts() -> None:
    """The figures of the R package SmallCountRounding for its documented example."""
    made = utility_of_values([1, 2, 3, 4, 5, 6], [0, 3, 3, 3, 6, 6])
    assert made.hellinger == pytest.approx(0.7805018046, abs=1e-10)
    assert made.utility == pytest.approx(0.8296805429, abs=1e-10)


def test_figures_of_a_small_table_by_hand() -> None:
    made = utility_of_values([0, 0, 1, 2, 5], [0, 1, 0, 3, 5])
    assert (made.cells, made.nonzero, made.small_cells) == (5, 3, 2)
    assert made.mean_absolute_distance == pytest.approx(2 / 3)
    assert made.mean_relative_distance == pytest.approx((1 + 1 / 2) / 3)
    assert made.mean_absolute_distance_small == 1
    assert made.mean_relative_distance_small == pytest.approx(3 / 4)
    assert (made.false_zeros, made.false_nonzeros) == (1, 1)
    assert made.max_deviation == 1
    assert made.mean_deviation == pytest.approx(1 / 5)
    assert made.share_unchanged == pytest.approx(2 / 5)
    assert made.share_unchanged_nonzero == pytest.approx(1 / 3)
    assert made.variance == pytest.approx(np.var([0, 1, -1, 1, 0]))
    assert made.variance_nonzero == pytest.approx(np.var([-1, 1, 0]))
    assert made.reasons == ()


def test_the_mean_is_over_cells_with_records_unless_all_are_asked_for() -> None:
    """Nine empty cells in ten must not make a method look ten times better."""
    true = np.repeat([0, 4], [90, 10])
    published = np.repeat([0, 5], [90, 10])
    assert utility_of_values(true, published).mean_absolute_distance == 1
    over_all = utility_of_values(true, published, Base.ALL)
    assert over_all.mean_absolute_distance == pytest.approx(0.1)
    assert over_all.mean_relative_distance == pytest.approx(0.025)


def test_an_empty_cell_that_changes_has_no_relative_distance() -> None:
    made = utility_of_values([0, 4], [1, 5], "all")
    assert made.mean_absolute_distance == 1
    assert made.mean_relative_distance is None
    assert "nonzero" in str(made.reason("mean_relative_distance"))
    assert utility_of_values([0, 4], [1, 5]).mean_relative_distance == 0.25


@given(COUNTS, st.integers(0, 1 << 32))
def test_equal_tables_are_at_distance_0_and_others_are_not(
    true: npt.NDArray[np.int64], seed: int
) -> None:
    same = utility_of_values(true, true)
    assert same.hellinger == 0
    assert same.max_deviation == 0
    assert same.share_unchanged == 1
    other = true.copy()
    other[seed % true.size] += 1
    changed = utility_of_values(true, other)
    assert changed.hellinger is not None
    assert changed.hellinger > 0
    assert changed.max_deviation == 1


@given(COUNTS, st.integers(2, 50), st.integers(0, 1 << 32))
def test_normalised_hellinger_does_not_know_the_unit(
    true: npt.NDArray[np.int64], factor: int, seed: int
) -> None:
    published = np.random.default_rng(seed).permutation(true)
    one = utility_of_values(true, published).hellinger_normalised
    many = utility_of_values(true * factor, published * factor).hellinger_normalised
    if one is None or many is None:
        assert not true.any()
        return
    assert many == pytest.approx(one)
    assert 0 <= one <= 1 + 1e-12  # as much is published as was counted


def test_normalised_hellinger_is_above_1_where_far_more_is_published() -> None:
    made = utility_of_values([1, 0], [0, 10])
    assert made.hellinger_normalised == pytest.approx(math.sqrt(5.5))


@given(COUNTS, st.integers(0, 1 << 32))
def test_spearman_has_ties_in_the_middle(true: npt.NDArray[np.int64], seed: int) -> None:
    noise = np.random.default_rng(seed).integers(-2, 3, true.size)
    published = np.maximum(true + noise, 0)
    made = utility_of_values(true, published).spearman
    if np.unique(true).size < 2 or np.unique(published).size < 2:
        assert made is None
    else:
        assert made == pytest.approx(float(stats.spearmanr(true, published)[0]))


@given(cubes_with_tables())
def test_parts_make_up_the_whole(pair: tuple[Cube, Table]) -> None:
    cube, table = pair
    whole = utility_of(cube, table)
    inner, outer = (
        utility_of(cube, table, part) for part in (TablePart.INTERIOR, TablePart.MARGINS)
    )
    assert inner.cells == cube.spec.base_cells
    for name in ("cells", "nonzero", "small_cells", "false_zeros", "false_nonzeros"):
        assert getattr(whole, name) == getattr(inner, name) + getattr(outer, name)
    square = (inner.hellinger or 0) ** 2 + (outer.hellinger or 0) ** 2
    assert whole.hellinger is not None
    assert whole.hellinger**2 == pytest.approx(square)
    largest = max(inner.max_deviation or 0, outer.max_deviation or 0)
    assert whole.max_deviation == largest


@given(cubes_with_tables(), st.sampled_from(TablePart), st.sampled_from(Base))
def test_a_sparse_table_has_the_figures_of_the_whole_one(
    pair: tuple[Cube, Table], part: TablePart, base: Base
) -> None:
    cube, table = pair
    held = utility_of(*sparse(cube, table), part, base)
    whole = utility_of(cube, table, part, base)
    assert held.reasons == whole.reasons
    for name, value in whole.figures().items():
        other = held.figures()[name]
        assert other == (value if value is None else pytest.approx(value)), name
    mixed = utility_of(cube, sparse(cube, table)[1], part, base)
    assert mixed.figures() == whole.figures()


@given(cubes_with_tables(), st.sampled_from(TablePart), st.sampled_from(Base))
def test_what_is_no_number_is_none_and_has_a_reason(
    pair: tuple[Cube, Table], part: TablePart, base: Base
) -> None:
    made = utility_of(*pair, part, base)
    for name, value in made.figures().items():
        assert (value is None) == (made.reason(name) is not None), name
        assert value is None or math.isfinite(value)


@pytest.mark.parametrize(
    ("true", "why"), [([0, 0, 0], "no cell is non-empty"), ([], "there is no cell to measure")]
)
def test_empty_tables_are_measured_as_far_as_that_has_a_meaning(true: list[int], why: str) -> None:
    made = utility_of_values(np.array(true, dtype=np.int64), np.array(true, dtype=np.int64))
    assert made.mean_absolute_distance is None
    assert made.utility is None
    assert made.reason("mean_absolute_distance") == made.reason("utility") == why
    assert made.false_zeros == 0


def test_a_table_of_one_cell_is_its_own_interior() -> None:
    cube = cube_of(spec_of([], []), 7)
    table = Table(cube.spec, np.array(5))
    made = utility_of(cube, table, "interior")
    assert (made.cells, made.mean_absolute_distance, made.spearman) == (1, 2, None)
    margins = utility_of(cube, table, "margins")
    assert margins.cells == 0
    assert margins.reason("hellinger") == "there is no cell to measure"


def test_a_table_without_totals_has_no_margins_to_measure() -> None:
    cube = two_way([[1, 2], [3, 4]], totals=False)
    made = utility_of(cube, exactly(cube), TablePart.MARGINS)
    assert made.cells == 0
    assert made.mean_absolute_distance is None


def test_withheld_cells_are_counted_and_left_out() -> None:
    cube = two_way([[1, 50], [3, 4]])
    values = cube.count + 1
    flags = np.zeros(cube.shape, dtype=np.uint8)
    flags[0, 1] = Mark.WITHHELD
    values[0, 1] = 0
    made = utility_of(cube, Table(cube.spec, values, flags))
    assert (made.cells, made.withheld, made.max_deviation) == (8, 1, 1)
    assert made.false_zeros == 0
    all_hidden = Table(
        cube.spec, np.zeros(cube.shape, dtype=np.int64), np.ones(cube.shape, dtype=np.uint8)
    )
    nothing = utility_of(cube, all_hidden)
    assert nothing.reason("mean_absolute_distance") == "every cell is withheld"
    by_array = utility_of_values([1, 2], [9, 2], withheld=[True, False])
    assert (by_array.max_deviation, by_array.withheld) == (0, 1)


def test_weighted_tables_are_compared_with_weighted_counts() -> None:
    cube = island_cube("area", "sex", measure="weighted")
    table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
    made = utility_of(cube, table)
    assert made.mean_relative_distance is not None
    assert made.mean_relative_distance < 0.2


@pytest.mark.parametrize(
    ("true", "published", "message"),
    [
        ([1, 2], [1, 2, 3], "one shape"),
        ([-1, 2], [1, 2], "below 0"),
        ([1, 2], [1, -2], "below 0"),
        ([1.5, 2], [1, 2], "fractions"),
        ([1, math.nan], [1, 2], "fractions"),
        (["1", "2"], [1, 2], "whole numbers"),
        ([[1], [2, 3]], [1, 2], "whole numbers"),
        ([True, False], [1, 2], "whole numbers"),
    ],
)
def test_what_is_no_count_is_refused(true: Any, published: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        utility_of_values(true, published)


def test_tables_that_do_not_match_are_refused() -> None:
    cube = island_cube("area", "sex")
    other = island_cube("area", "married")
    turned = island_cube("sex", "area")
    with pytest.raises(SpecError, match="do not show the same cells"):
        utility_of(cube, exactly(other))
    with pytest.raises(SpecError, match="another order"):
        utility_of(cube, exactly(turned))
    with pytest.raises(SpecError, match="published table"):
        utility_of(cube, cube)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="in this order"):
        utility_of(exactly(cube), cube)  # type: ignore[arg-type]


def test_codes_in_another_order_are_refused() -> None:
    """The hash of a table does not know the order of its codes, but its cells do."""
    one = variable("a", 3)
    turned = type(one)(name="a", entity=one.entity, codes=one.codes[::-1])
    cube = cube_of(spec_of([one], ["a"]), [1, 2, 3])
    other = cube_of(spec_of([turned], ["a"]), [3, 2, 1])
    assert cube.spec == other.spec
    with pytest.raises(SpecError, match="another order"):
        utility_of(cube, exactly(other))


def test_a_table_published_with_values_below_0_is_refused() -> None:
    cube = two_way([[1, 2], [3, 4]])
    with pytest.raises(SpecError, match="below 0"):
        utility_of(cube, Table(cube.spec, cube.count - 4))


def test_levels_that_do_not_nest_have_no_interior_but_can_be_measured_whole() -> None:
    cube = island_cube("age@class+half", "sex")
    assert utility_of(cube, exactly(cube)).hellinger == 0
    with pytest.raises(SpecError, match="do not nest"):
        utility_of(cube, exactly(cube), TablePart.INTERIOR)


@pytest.mark.parametrize("option", [{"part": "inner"}, {"base": "every"}, {"small": 0}])
def test_unknown_options_are_refused(option: dict[str, Any]) -> None:
    cube = two_way([[1, 2], [3, 4]])
    with pytest.raises(SpecError):
        utility_of(cube, exactly(cube), **option)


def test_figures_stay_confidential() -> None:
    made = utility_of_values([1234567], [1234570])
    assert isinstance(made, Utility)
    for text in (repr(made), str(made), f"{made}"):
        assert "1234567" not in text
        assert "confidential" in text
    with pytest.raises(Refused):
        copy.copy(made)
    assert list(made.figures()) == list(FIGURES)
    json.dumps(made.figures())  # plain numbers, for whoever writes the office's report


def test_distances_of_a_large_table_are_those_of_the_scheme() -> None:
    """Of large counts, the mean change and the variance are those that the rows promise."""
    cube = island_cube("area", "sex", "age", "married", people=400_000)
    rows = scheme("CP3")
    made = utility_of(cube, CellKey(rows, secret=SECRET).protect(cube).table)
    large = 100
    assert made.mean_absolute_distance == pytest.approx(
        rows.mean_absolute_deviation(large), abs=4 * math.sqrt(1.5 / made.nonzero)
    )
    assert made.max_deviation == 3
