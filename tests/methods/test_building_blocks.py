"""Groups that nobody declared are sums of published values, and say of how many."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SpecError, UnknownName
from sdcensus.methods.building_blocks import BuildingBlocks, LargeAreasExact
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.model.published.table import Table
from sdcensus.testing.island import DISTRICT_OF, SECRET, island_cube

KEY = CellKey(scheme("CP3"), SECRET)
BLOCKS = BuildingBlocks()
PARISHES = [f"P{at}" for at in range(7)]


def table(*by: str, people: int = 2_000) -> Table:
    made = KEY.protect(island_cube(*by, people=people)).table
    assert isinstance(made, Table)
    return made


AREAS = table("area@parish+district", "sex")
AGES = table("age@age+class", "area@district")


def test_a_group_is_the_sum_of_published_values_with_its_error() -> None:
    grouped = BLOCKS.group(AREAS, {"area": {"coast": ["P0", "P3", "P6"]}})
    for sex in ("0", "1", "_T"):
        parts = [AREAS.value(area=area, sex=sex) for area in ("P0", "P3", "P6")]
        assert grouped.value(area="coast", sex=sex) == sum(part or 0 for part in parts)
    assert grouped.parts_of(area="coast", sex="1") == 3
    assert grouped.error_factor[0, 0] == pytest.approx(3**0.5)
    assert grouped.standard_error(1.5)[0, 0] == pytest.approx(4.5**0.5)
    assert grouped.bound(3)[0, 0] == 9
    assert grouped.value(area="_T") == AREAS.value()
    assert grouped.parts_of(area="_T") == 1


def test_a_whole_district_is_its_published_value_and_not_a_sum() -> None:
    north = ["P0", "P1", "P2", "P4"]
    grouped = BLOCKS.group(AREAS, {"area": {"district": north[:3], "more": north}})
    assert grouped.value(area="district", sex="1") == AREAS.value(area="D0", sex="1")
    assert grouped.parts_of(area="district") == 1
    assert grouped.parts_of(area="more") == 2
    everyone = BLOCKS.group(AREAS, {"area": {"all": PARISHES}})
    assert everyone.value(area="all") == AREAS.value()
    assert everyone.parts_of(area="all") == 1


def test_codes_of_several_levels_and_axes_can_be_grouped_together() -> None:
    grouped = BLOCKS.group(
        AGES,
        {"area": {"west": ["D0", "D2"]}, "age": {"young": ["0", "1", "c1"], "old": ["8", "9"]}},
    )
    assert grouped.parts_of(area="west", age="young") == 6
    expected = sum(
        AGES.value(area=area, age=age) or 0
        for area, age in itertools.product(("D0", "D2"), ("8", "9"))
    )
    assert grouped.value(area="west", age="old") == expected
    frame = grouped.to_pandas()
    assert list(frame.columns[:2]) == ["age", "area"]
    assert frame.published.tolist() == grouped.published.ravel().tolist()


#: Which parishes each code of the axis holds: parishes, districts, the total.
MEMBERS = np.array(
    [
        *np.eye(7, dtype=np.int8),
        *[[int(DISTRICT_OF[at] == one) for at in range(7)] for one in range(3)],
        [1] * 7,
    ],
    dtype=np.int8,
)
#: Every way to add or leave out the eleven codes, and the parishes that it makes.
WAYS = np.array(list(itertools.product((0, 1), repeat=len(MEMBERS))), dtype=np.int8)
MADE = WAYS @ MEMBERS


@given(st.sets(st.integers(0, 6), min_size=1))
def test_the_fewest_values_are_taken_and_they_make_the_group(parishes: set[int]) -> None:
    """Compared with every combination of codes, by brute force."""
    grouped = BLOCKS.group(AREAS, {"area": {"own": [f"P{at}" for at in parishes]}})
    wanted = np.array([int(at in parishes) for at in range(7)])
    right = WAYS[(wanted == MADE).all(axis=1)]
    sizes = right.sum(axis=1)
    assert grouped.parts_of(area="own") == sizes.min()
    # A district of one parish has the value of that parish.
    values = set((right[sizes == sizes.min()] @ AREAS.published[:, 1]).tolist())
    assert values == {grouped.value(area="own", sex="1")}


def test_codes_of_levels_that_cross_are_chosen_together() -> None:
    """0 to 6 are two classes, 0 to 4 are a half: whichever takes fewer codes."""
    ages = table("age@age+class+half", "sex")
    grouped = BLOCKS.group(ages, {"age": {"own": [str(age) for age in range(7)]}})
    assert grouped.parts_of(age="own") == 2
    parts = [ages.value(age=code, sex="1") or 0 for code in ("c0", "c1")]
    assert grouped.value(age="own", sex="1") == sum(parts)
    halves = BLOCKS.group(ages, {"age": {"own": ["0", "1", "2", "3", "4", "9"]}})
    assert halves.parts_of(age="own") == 2
    assert halves.value(age="own") == (ages.value(age="h0") or 0) + (ages.value(age="9") or 0)


def test_a_table_that_does_not_show_the_codes_of_a_group_is_refused_with_what_would() -> None:
    parishes = table("area", "sex")
    group = {"area": {"own": ["P0", "P1", "P2", "P6"]}}
    with pytest.raises(SpecError, match=r"Make the table by area@parish\+district\."):
        BLOCKS.group(parishes, group)
    assert BLOCKS.group(AREAS, group).parts_of(area="own") == 2
    with pytest.raises(SpecError, match=r"Make the table by area\."):
        BLOCKS.group(table("area-total", "sex"), {"area": {"own": PARISHES}})


def test_the_order_of_groups_and_codes_is_no_matter() -> None:
    grouped = BLOCKS.group(AREAS, {"area": {"a": ["P0", "P3"], "b": ["P1", "P4", "P6"]}})
    turned = BLOCKS.group(AREAS, {"area": {"b": ["P6", "P1", "P4"], "a": ["P3", "P0"]}})
    assert grouped.value(area="a", sex="0") == turned.value(area="a", sex="0")
    assert grouped.value(area="b") == turned.value(area="b")


def test_never_negative() -> None:
    small = table("area@parish+district", "sex", people=30)
    for size in (2, 3):
        for codes in itertools.combinations(PARISHES, size):
            grouped = BLOCKS.group(small, {"area": {"own": list(codes)}})
            assert grouped.published.min() >= 0
    assert BLOCKS.claims().never_negative


def test_levels_that_do_not_nest() -> None:
    ages = table("age@class+half", "sex")
    grouped = BLOCKS.group(ages, {"age": {"own": ["c0", "c1"], "half": ["h0"]}})
    assert grouped.parts_of(age="own") == 2
    assert grouped.value(age="half", sex="1") == ages.value(age="h0", sex="1")


def test_what_is_refused() -> None:
    with pytest.raises(SpecError, match="counts some records twice"):
        BLOCKS.group(AREAS, {"area": {"own": ["D0", "P1"]}})
    with pytest.raises(SpecError, match="counts some records twice"):
        BLOCKS.group(AREAS, {"area": {"own": ["P1", "P1"]}})
    with pytest.raises(UnknownName, match="P9"):
        BLOCKS.group(AREAS, {"area": {"own": ["P9"]}})
    with pytest.raises(SpecError, match="no axis 'age'"):
        BLOCKS.group(AREAS, {"age": {"own": ["1"]}})
    with pytest.raises(SpecError, match="list of codes"):
        BLOCKS.group(AREAS, {"area": {"own": "P1"}})
    with pytest.raises(SpecError, match="list of codes"):
        BLOCKS.group(AREAS, {"area": {"own": []}})
    with pytest.raises(SpecError, match="has no groups"):
        BLOCKS.group(AREAS, {"area": {}})
    with pytest.raises(SpecError, match="has no groups"):
        BLOCKS.group(AREAS, {"area": ["P1"]})  # type: ignore[dict-item]
    with pytest.raises(SpecError, match="is the total of 'area'"):
        BLOCKS.group(AREAS, {"area": {"_T": ["P1"]}})
    with pytest.raises(SpecError, match=r"protected\.table"):
        BLOCKS.group(KEY.protect(island_cube("area")), {"area": {"a": ["P1"]}})  # type: ignore[arg-type]


def test_a_small_group_of_areas_is_refused_by_its_published_population() -> None:
    population = AREAS.value(area="P6") or 0
    group = {"area": {"own": ["P6"]}}
    allowed = BuildingBlocks(minimum_population=population)
    assert allowed.group(AREAS, group).value(area="own") == population
    with pytest.raises(Refused, match="fewer than"):
        BuildingBlocks(minimum_population=population + 1).group(AREAS, group)
    with pytest.raises(SpecError, match="has no total"):
        allowed.group(table("area", "sex-total"), group)


def test_a_group_with_a_withheld_part_has_no_number() -> None:
    withheld = ThresholdRounding().protect(island_cube("area", "age", people=60)).table
    assert isinstance(withheld, Table)
    assert withheld.flags is not None
    grouped = BLOCKS.group(withheld, {"area": {"all": PARISHES, "two": ["P0", "P1"]}})
    assert grouped.flags is not None
    for age in map(str, range(10)):
        parts = [withheld.value(area=area, age=age) for area in ("P0", "P1")]
        expected = None if None in parts else sum(part or 0 for part in parts)
        assert grouped.value(area="two", age=age) == expected
    assert (grouped.published[grouped.flags != 0] == 0).all()


LARGE = LargeAreasExact(KEY, 200)


def test_large_areas_are_exact_and_small_ones_protected() -> None:
    cube = island_cube("area@parish+district", "sex", people=900)
    exact = LARGE.protect(cube).table
    by_key = KEY.protect(cube).table
    assert isinstance(exact, Table)
    assert isinstance(by_key, Table)
    large = cube.count[:, -1] >= 200
    large[7:] = False  # a district less its large parishes would be the small one, exactly
    assert large.any()
    assert not large.all()
    assert (exact.published[large] == cube.count[large]).all()
    assert (exact.published[~large] == by_key.published[~large]).all()
    assert (exact.published != by_key.published).any()


def test_a_small_area_cannot_be_computed_from_a_larger_exact_one() -> None:
    """A district less its exact parishes is not the small parish that is left."""
    cube = island_cube("area@parish+district", "sex", people=900)
    table = LARGE.protect(cube).table
    assert isinstance(table, Table)
    protected = [table.value(area=code, sex="1") for code in ("D0", "D1", "D2", "_T")]
    by_key = KEY.protect(cube).table
    assert isinstance(by_key, Table)
    assert protected == [by_key.value(area=code, sex="1") for code in ("D0", "D1", "D2", "_T")]


def test_bounded_unbiased_zeros_kept_never_negative_as_the_method_behind() -> None:
    cube = island_cube("area", "sex", "age", people=300)
    published = LARGE.protect(cube).table.published
    assert abs(published - cube.count).max() <= KEY.perturbation.max_deviation
    assert not published[cube.count == 0].any()
    assert published.min() >= 0
    assert LARGE.claims().unbiased is KEY.claims().unbiased
    assert not LARGE.claims().consistent


def test_its_audit_shows_both() -> None:
    cube = island_cube("area", "sex", people=900)
    protected = LARGE.protect(cube)
    assert [name for name, _ in protected.audit.stages] == ["cell-key"]
    assert protected.provenance.method == "large-areas-exact"
    with pytest.raises(SpecError, match="1 or more"):
        LargeAreasExact(KEY, 0)
    with pytest.raises(SpecError, match="need a method"):
        LargeAreasExact("cell-key", 300)  # type: ignore[arg-type]


def test_sums_of_a_large_table_are_exact_integers() -> None:
    grouped = BLOCKS.group(AREAS, {"area": {"own": ["P1", "P2"]}})
    assert grouped.published.dtype == np.int64
