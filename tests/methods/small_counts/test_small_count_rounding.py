"""Small count rounding of tables: what it promises, alone and together with other tables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.small_counts.differences import exposed_parts
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.published.table import Table
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import SECRET, island, island_cube

PEOPLE = 150
ISLAND = island(PEOPLE)
AXES = {
    "area": ("area", "area@district", "area@parish+district", "area@parish+district-total"),
    "sex": ("sex", "sex-total"),
    "age": ("age@class", "age@half", "age@class+half", "age@class+half-total", "age@age+class"),
    "married": ("married", "married-total"),
}
CONDITIONS = (None, "sex == 1", "age >= 5", "age < 3 or married == 1")


def rounding(base: int = 3, **options: Any) -> SmallCountRounding:
    return SmallCountRounding(base, **{"secret": SECRET, **options})


def linked(*tables: tuple[str, ...], census: Census = ISLAND) -> LinkedCubes:
    return count_linked(census, [census.spec(*axes) for axes in tables])


def values_of(method: SmallCountRounding, cubes: LinkedCubes) -> list[np.ndarray[Any, Any]]:
    tables = [protected.table for protected in method.protect_together(cubes)]
    assert all(isinstance(table, Table) for table in tables)
    return [table.published for table in tables]


@st.composite
def tables(draw: st.DrawFn) -> list[TableSpec]:
    specs = []
    for _ in range(draw(st.integers(1, 3))):
        variables = draw(st.permutations(sorted(AXES)))[: draw(st.integers(0, 3))]
        axes = [draw(st.sampled_from(AXES[name])) for name in variables]
        specs.append(ISLAND.spec(*axes, universe=draw(st.sampled_from(CONDITIONS))))
    return specs


BASES = st.integers(1, 12)


# ---------------------------------------------------------------- what it promises


@settings(max_examples=60)
@given(tables(), BASES, st.integers(0, 9))
def test_blocked_counts_never_appear_in_any_of_the_tables(
    specs: list[TableSpec], base: int, more: int
) -> None:
    cubes = count_linked(ISLAND, specs)
    for published in values_of(rounding(base, threshold=base + more), cubes):
        small = published[(published > 0) & (published < base + more)]
        assert not (small % base).any()


@settings(max_examples=60)
@given(tables(), BASES)
def test_additive_in_every_hierarchy_and_across_tables(specs: list[TableSpec], base: int) -> None:
    """Nested levels or not, totals shown or not: every sum that code lists imply holds."""
    cubes = count_linked(ISLAND, specs)
    outcome = rounding(base).publish_linked(cubes)
    assert cubes.tables.adds_up(outcome.published)


@settings(max_examples=40)
@given(tables(), BASES)
def test_zeros_kept_and_never_negative(specs: list[TableSpec], base: int) -> None:
    cubes = count_linked(ISLAND, specs)
    published = rounding(base).publish_linked(cubes).published
    assert not published[cubes.counts == 0].any()
    assert (published >= 0).all()


@settings(max_examples=40)
@given(tables(), BASES)
def test_cells_that_feed_no_small_count_are_published_as_they_are(
    specs: list[TableSpec], base: int
) -> None:
    cubes = count_linked(ISLAND, specs)
    published = rounding(base, inner_check="none").publish_linked(cubes).published
    atoms, shown = cubes.atoms, cubes.tables.published
    small = shown & (cubes.counts > 0) & (cubes.counts < base)
    if not small.any():
        assert (published == cubes.counts).all()
    rows = np.repeat(np.arange(len(atoms)), np.diff(atoms.starts))
    touched = np.zeros(len(atoms), dtype=bool)
    touched[rows[small[atoms.cells]]] = True
    # Later passes may follow; what no rounded group and none of its companions is in stays.
    reached = np.zeros(cubes.tables.size, dtype=bool)
    for _ in range(len(atoms)):
        reached[atoms.cells[touched[rows]]] = True
        small = reached & shown & (cubes.counts < base + base * len(atoms))
        before = touched.sum()
        touched[rows[small[atoms.cells]]] = True
        if touched.sum() == before:
            break
    assert (published == cubes.counts)[shown & ~reached].all()


@settings(max_examples=40)
@given(tables(), BASES)
def test_the_number_of_people_hardly_changes(specs: list[TableSpec], base: int) -> None:
    cubes = count_linked(ISLAND, specs)
    method = rounding(base)
    words = np.arange(len(cubes.atoms), dtype=np.uint64)
    result = method.rule.rounded(cubes.tables, cubes.atoms, words)
    off = abs(int(result.inner.sum()) - int(cubes.atoms.counts.sum()))
    assert 2 * off <= base * max(result.passes, 1)


# ---------------------------------------------------------------- one answer


def test_the_order_of_tables_and_axes_does_not_matter() -> None:
    first = [("area@parish+district", "sex"), ("age@class", "married", "sex")]
    plain = values_of(rounding(5), linked(*first))
    turned = values_of(rounding(5), linked(*[axes[::-1] for axes in first[::-1]]))
    assert (plain[0] == turned[1].T).all()
    assert (plain[1] == turned[0].transpose(2, 1, 0)).all()


def test_the_order_of_records_does_not_matter() -> None:
    """The same people in another order: what decides is what groups stand for."""
    cube = island_cube("area", "sex", "age@class", people=PEOPLE)
    shuffled = Cube(cube.spec, cube.origin, cube.values.map(lambda array: array.copy()))
    assert (published(rounding(5), cube) == published(rounding(5), shuffled)).all()


def published(method: SmallCountRounding, cube: Cube) -> np.ndarray[Any, Any]:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table.published


def test_a_cell_of_several_tables_has_one_number() -> None:
    cubes = linked(("area", "sex"), ("sex", "age@class"), ("area@district", "sex", "married"))
    one, two, three = values_of(rounding(5), cubes)
    assert (one[-1] == two[:, -1]).all()
    assert (one[-1] == three[-1, :, -1]).all()


def test_tables_that_are_rounded_apart_may_differ() -> None:
    """Why they are rounded together: their totals are not the same otherwise."""
    apart = [values_of(rounding(5), linked(axes))[0] for axes in (("area", "age"), ("age", "sex"))]
    together = values_of(rounding(5), linked(("area", "age"), ("age", "sex")))
    assert (together[0][-1] == together[1][:, -1]).all()
    assert (apart[0][-1] != apart[1][:, -1]).any()


# ---------------------------------------------------------------- what can be said about it


TWO = (("area@district", "age@class"), ("area", "age", "married"))


def several(method: SmallCountRounding) -> object:
    return method.publish_linked(linked(*TWO)).published.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"base": 5},
        {"threshold": 12},
        {"force": True},
        {"key_version": 2},
        {"secret": Secret(bytes(range(1, 33)))},
    ],
    ids=lambda options: next(iter(options)),
)
def test_every_setting_changes_the_result(options: dict[str, Any]) -> None:
    assert several(rounding(**{"base": 4, **options})) != several(rounding(4))


def test_groups_that_differences_give_away_are_rounded() -> None:
    """Ages by class and by half: their overlap is not shown, and a subtraction shows it.

    Two people are the overlap of class c1 (12 people) and the upper half (22 people).
    """
    census = island(60)
    spec = census.spec("age@class+half")
    cubes = count_linked(census, [spec])
    for base in range(3, 30):
        plain, checked = (
            rounding(base, inner_check=check).rule.rounded(
                cubes.tables, cubes.atoms, np.arange(len(cubes.atoms), dtype=np.uint64)
            )
            for check in ("none", "differences")
        )
        if (plain.inner != checked.inner).any():
            break
    else:
        pytest.fail("No base shows the difference.")
    small = (checked.inner > 0) & (checked.inner < base)
    assert not (checked.inner[small] % base).any()


@settings(max_examples=40)
@given(tables(), BASES)
def test_what_is_left_of_a_total_is_not_small_either(specs: list[TableSpec], base: int) -> None:
    """Cells that no table shows, and that a subtraction shows all the same."""
    cubes = count_linked(ISLAND, specs)
    sums, shown = cubes.tables.equations, cubes.tables.published
    exposed = exposed_parts(sums.starts, sums.columns, sums.values, shown)
    assert not exposed[shown].any()
    published = rounding(base).publish_linked(cubes).published
    left = published[exposed]
    assert not ((left > 0) & (left < base)).any()
    matrix = np.zeros(sums.shape, dtype=np.int64)
    matrix[sums.rows, sums.columns] = sums.values
    free = np.linalg.matrix_rank(matrix[:, ~shown]) if (~shown).any() else 0
    for cell in np.flatnonzero(exposed):
        others = ~shown
        others[cell] = False
        assert np.linalg.matrix_rank(matrix[:, others]) == free - 1


def test_levels_that_do_not_nest_are_safe_also_beside_finer_tables() -> None:
    """What classes and halves have in common, with another table that tells more apart."""
    cubes = linked(("age@class+half", "sex"), ("area@district",))
    plain, checked = (
        rounding(20, inner_check=check).publish_linked(cubes).published
        for check in ("none", "differences")
    )
    auxiliary = ~cubes.tables.published
    small = [(values > 0) & (values < 20) & auxiliary for values in (plain, checked)]
    assert small[0].any()
    assert not small[1].any()


def test_a_base_of_one_publishes_the_truth() -> None:
    cubes = linked(*TWO)
    for values, cube in zip(values_of(rounding(1), cubes), cubes.cubes, strict=True):
        assert (values == cube.count).all()


def test_draws_are_those_of_its_own_purpose() -> None:
    keys = {SECRET.sub_key(purpose, 1) for purpose in Purpose}
    assert len(keys) == len(Purpose)
    assert Purpose.SMALL_COUNTS in Purpose


def test_the_office_is_told_how_far_cells_moved() -> None:
    cubes = linked(*TWO)
    outcome = rounding(5).publish_linked(cubes)
    change = np.abs(outcome.published - cubes.counts)[cubes.tables.published]
    (remark,) = outcome.remarks
    assert f"published cell is {change.max()}." in remark


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": 0}, "from 1 to 100"),
        ({"base": 101}, "from 1 to 100"),
        ({"base": 2.5}, "from 1 to 100"),
        ({"threshold": 2}, "at least the base"),
        ({"inner_check": "everything"}, "check of inner cells"),
        ({"force": "yes"}, "True or False"),
        ({"key_version": -1}, "version"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        rounding(**{"base": 3, **options})


def test_the_office_secret_is_needed() -> None:
    with pytest.raises(SecretError, match="office secret"):
        SmallCountRounding(3)


def test_negative_counts_are_refused() -> None:
    cube = island_cube("sex-total", "married-total", people=20)
    counts = cube.count.copy()
    counts[0, 0] = -1
    values = cube.values.map(lambda array: counts if array is cube.values.count else array)
    with pytest.raises(SpecError, match="below 0"):
        rounding(3).protect(Cube(cube.spec, cube.origin, values))


def test_tables_of_different_things_are_refused() -> None:
    with pytest.raises(SpecError, match="different things"):
        count_linked(ISLAND, [ISLAND.spec("sex"), ISLAND.spec("sex", measure="weighted")])


# ---------------------------------------------------------------- odd shapes


def test_one_cell_and_no_cell_and_no_axes() -> None:
    for people, expected in ((0, 0), (2, None), (5, 5)):
        census = island(people)
        for axes in ((), ("sex",), ("area@district-total",)):
            values = values_of(rounding(5), count_linked(census, [census.spec(*axes)]))[0]
            assert (values % 5 == 0).all()
            if expected is not None and axes != ("area@district-total",):
                assert int(values.reshape(-1)[-1]) == expected


def test_the_same_table_twice_is_one() -> None:
    cubes = linked(("sex", "area"), ("area", "sex"))
    first, second = values_of(rounding(5), cubes)
    assert (first == second.T).all()
    assert adds_up(cubes.cubes[0].spec, first)


def test_every_base_leaves_a_whole_table_that_adds_up() -> None:
    cube = island_cube("area@parish+district", "sex", "age@age+class", people=PEOPLE)
    for base, force in itertools.product((2, 3, 5, 10, 100), (False, True)):
        values = published(rounding(base, force=force), cube)
        assert adds_up(cube.spec, values)
        assert not ((values > 0) & (values < base)).any()
        if force:
            assert not (values % base).any()
