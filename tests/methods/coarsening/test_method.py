"""Coarsening: the finest version that passes, exact counts, codes that readers understand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.coarsening import search as search_module
from sdcensus.methods.coarsening.axis_versions import AxisVersions
from sdcensus.methods.coarsening.method import Coarsening
from sdcensus.methods.coarsening.rules import FewSmall
from sdcensus.methods.coarsening.search import Finest, VersionSearch
from sdcensus.methods.coarsening.stepwise import Work
from sdcensus.methods.notes import notes_for
from sdcensus.model.cube.constraints import adds_up, interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.testing.island import island_cube
from sdcensus.testing.printed_tables import printed_cube, printed_spec, printed_variable


def cube_of(numbers: Any) -> Cube:
    array = np.asarray(numbers)
    names = [
        printed_variable(f"v{at}", [f"c{code}" for code in range(size)])
        for at, size in enumerate(array.shape)
    ]
    return printed_cube(printed_spec(*names), array)


def coarse(cube: Cube, minimum: int = 3, **settings: Any) -> Table:
    table = Coarsening(minimum, **settings).protect(cube).table
    assert isinstance(table, Table)
    return table


def inner(table: Table | Cube) -> Any:
    corner: Any = (*interior(table.spec), ...)
    return (table.published if isinstance(table, Table) else table.count)[corner]


def runs(size: int) -> list[list[range]]:
    """Every way to cut so many codes into runs."""
    ways = []
    for count in range(size):
        for cuts in itertools.combinations(range(1, size), count):
            ends = [0, *cuts, size]
            ways.append([range(*pair) for pair in itertools.pairwise(ends)])
    return ways


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=3, max_size=3))
def test_no_version_of_ordered_codes_that_passes_has_more_cells(rows: list[list[int]]) -> None:
    counts = np.array(rows)
    best = 0
    for first, second in itertools.product(runs(3), runs(4)):
        version = np.array(
            [[counts[np.ix_(list(a), list(b))].sum() for b in second] for a in first]
        )
        if not ((version > 0) & (version < 3)).any():
            best = max(best, version.size)
    cube = cube_of(counts)
    if not best:
        with pytest.raises(Refused):
            coarse(cube, ordered=["v0", "v1"])
        return
    table = coarse(cube, ordered=["v0", "v1"])
    assert inner(table).size == best
    assert not ((table.published > 0) & (table.published < 3)).any()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=6, max_size=6))
def test_blocked_counts_never_appear_and_no_group_can_be_parted(counts: list[int]) -> None:
    cube = cube_of(np.reshape(counts, (2, 3)))
    array = np.reshape(counts, (2, 3))
    axes = [
        AxisVersions(axis, array.sum(axis=1 - at), ordered=True, codes=True)
        for at, axis in enumerate(cube.spec.axes)
    ]
    search = VersionSearch(array, axes, [FewSmall(3)], area=None, finest=Finest.CELLS)
    ends = [
        search.stepwise(start, Work(10**9))
        for start in itertools.product(*(axis.options for axis in axes))
    ]
    passing = [version for version in ends if version is not None]
    assert passing or 0 < sum(counts) < 3
    for version in passing:
        assert search.wrong(version) == 0
        for at, (axis, shown) in enumerate(zip(axes, version, strict=True)):
            for number in range(shown.size):
                for part in axis.parts(shown, number):
                    parted = axis.parted(shown, part)
                    assert search.wrong((*version[:at], parted, *version[at + 1 :]))


def test_many_codes_in_their_order_are_no_hang() -> None:
    """There are 2**59 ways to put sixty neighbours together, and none of them is listed."""
    counts = np.random.default_rng(8).poisson(2.0, (60, 3))
    table = coarse(cube_of(counts), 3, ordered=["v0"])
    assert not ((table.published > 0) & (table.published < 3)).any()
    assert inner(table).size > 20


def test_no_axis_is_left_out_where_putting_codes_together_is_enough() -> None:
    """A single step that mends everything is not taken for the sake of it."""
    draw = np.random.default_rng(11)
    counts = np.array([90, 60, 40, 3, 2, 1])[:, None, None] * draw.poisson(1.0, (6, 12, 10))
    table = coarse(cube_of(counts), 5, ordered=["v1"])
    assert len(table.spec.axes) == 3


@pytest.mark.parametrize("seed", range(6))
def test_steps_come_near_the_finest_of_all(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    counts = np.random.default_rng(seed).poisson(2.5, (4, 6, 3))
    sizes = []
    for most in (search_module.MOST_VERSIONS, 0):
        monkeypatch.setattr(search_module, "MOST_VERSIONS", most)
        sizes.append(inner(coarse(cube_of(counts), 3, ordered=["v1"])).size)
    assert sizes[0] >= sizes[1] >= 0.6 * sizes[0]


def test_work_is_limited_and_the_best_so_far_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(5).poisson(3.0, (30, 20, 4))
    cube = cube_of(counts)
    method = Coarsening(3, ordered=["v0", "v1"])
    finest = method.protect(cube)
    monkeypatch.setattr(search_module, "MOST_STEPS", 1)
    early = method.protect(cube)
    assert early.table.spec.cells <= finest.table.spec.cells
    assert "ended early" in early.audit.remarks[0]
    assert "ended early" not in finest.audit.remarks[0]


def test_levels_alone_take_the_finest_combination_of_levels() -> None:
    cube = island_cube("area@parish+district", "age@age+class", people=200)
    table = coarse(cube, 5, collapse="levels")
    finest = 0
    for area, age in itertools.product(
        ("area@parish", "area@district", None), ("age@age", "age@class", "age@half", None)
    ):
        by = [axis for axis in (area, age) if axis is not None]
        try:
            small = island_cube(*by, people=200)
        except SpecError:
            continue
        counts = inner(small)
        if not ((counts > 0) & (counts < 5)).any():
            finest = max(finest, counts.size)
    assert inner(table).size >= finest
    assert not ((table.published > 0) & (table.published < 5)).any()


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(
        [("area@parish+district", "sex", "age@class"), ("age@age+class",), ("sex-total",), ()]
    ),
    st.integers(1, 8),
)
def test_additive_and_exact_so_unbiased_bounded_zeros_kept_zeros_are_true_never_negative(
    by: tuple[str, ...], minimum: int
) -> None:
    cube = island_cube(*by, people=150)
    protected = Coarsening(minimum).protect(cube)
    table = protected.table
    assert isinstance(table, Table)
    assert adds_up(table.spec, table.published)
    assert table.published.reshape(-1)[-1] == cube.count.reshape(-1)[-1] or not all(
        axis.total for axis in cube.spec.axes
    )
    assert inner(table).sum() == inner(cube).sum()
    assert (table.published >= 0).all()
    mine = {tuple(pair): at for at, pair in enumerate(cell_hashes(cube.spec).tolist())}
    for at, pair in enumerate(cell_hashes(table.spec).tolist()):
        if tuple(pair) in mine and any(pair):
            assert table.published.reshape(-1)[at] == cube.count.reshape(-1)[mine[tuple(pair)]]
    assert protected.provenance.spec_hash == table.spec.hash()


def test_readers_are_told_that_counts_are_exact_and_codes_stand_together() -> None:
    table = coarse(cube_of([[5, 6], [1, 9]]))
    said = [note.show("en") for note in notes_for(table, Coarsening(3).claims())]
    assert any("Counts are exact" in note for note in said)
    assert not any("changes" in note or "different published values" in note for note in said)


def test_consistent_a_table_that_passes_is_the_table() -> None:
    cube = cube_of([[5, 6], [0, 9]])
    table = coarse(cube)
    assert table.spec.hash() == cube.spec.hash()
    assert (table.published == cube.count).all()


def test_codes_that_are_put_together_have_names_of_what_they_hold() -> None:
    table = coarse(cube_of([1, 2, 9, 9, 1, 1, 1]), ordered=["v0"])
    codes = [code.code for code in table.spec.axes[0].codes]
    labels = [str(code.label) for code in table.spec.axes[0].codes]
    assert codes[:2] == ["c0_c1", "c2"]
    assert labels[0] == "c0 + c1"
    assert len(set(codes)) == len(codes)
    assert table.published.tolist()[0] == 3
    other = coarse(cube_of([1, 1, 1, 1, 9, 9]), 4)
    assert [str(code.label) for code in other.spec.axes[0].codes][:1] == ["Other"]


def test_parishes_are_put_together_inside_their_district_only() -> None:
    cube = island_cube("area@parish+district", people=30)
    table = coarse(cube, 6)
    district = next(level for level in cube.spec.axes[0].levels if level.name == "district")
    for level in table.spec.axes[0].levels:
        if level.name == "parish_coarser":
            assert level.refines(district)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("minimum", 9),
        ("small_share", 0.9),
        ("mean_cell_size", 9),
        ("area_population", 30),
        ("whole_groups", "avoid"),
        ("collapse", "levels"),
        ("ordered", ["area"]),
        ("only", ["area"]),
        ("finest", "information"),
    ],
)
def test_every_setting_changes_the_table(setting: str, value: Any) -> None:
    changed = False
    cubes = [
        island_cube("area", "age@class", people=people, seed=seed)
        for people, seed in itertools.product((25, 60), range(3))
    ]
    if setting in ("whole_groups", "finest"):
        draw = np.random.default_rng(3)
        cubes = [cube_of(draw.choice([0, 2, 5, 40], (3, 3))) for _ in range(20)]
    for cube in cubes:
        plain: dict[str, Any] = {"minimum": 3}
        results = []
        for settings_ in (plain, plain | {setting: value}):
            try:
                results.append(Coarsening(**settings_).protect(cube).table.spec.hash())
            except Refused:
                results.append("refused")
        changed |= results[0] != results[1]
    assert changed


def test_the_variable_of_areas_matters() -> None:
    cube = cube_of([[9, 1], [9, 9]])
    by_rows = coarse(cube, 1, area_population=11, area="v0")
    by_columns = coarse(cube, 1, area_population=11, area="v1")
    assert by_rows.spec.hash() != by_columns.spec.hash()


def test_a_table_of_which_only_the_total_passes_is_that_one_number() -> None:
    table = coarse(cube_of([4, 5, 3]), 9)
    assert table.columns() == {"published": [12]}


def test_own_rules_are_taken() -> None:
    cube = cube_of([[5, 6], [7, 9]])
    table = coarse(cube, rules=(lambda counts, area: max(counts.size - 2, 0),))
    assert inner(table).size <= 2


def test_a_table_of_which_nothing_passes_is_refused() -> None:
    with pytest.raises(Refused, match="not even its total"):
        coarse(cube_of([[1, 0], [0, 0]]))
    with pytest.raises(SpecError, match="no axis"):
        coarse(cube_of([[1, 0], [0, 0]]), only=["age"])


def test_shares_are_what_was_written() -> None:
    assert FewSmall(3, Fraction("0.5"))(np.array([1, 5]), None) == 0
    assert FewSmall(3, Fraction("0.4"))(np.array([1, 5]), None) == 1


def test_the_order_of_axes_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (5_000, 1):
        monkeypatch.setattr(search_module, "MOST_VERSIONS", most)
        one = coarse(island_cube("area", "age@class", people=40))
        other = coarse(island_cube("age@class", "area", people=40))
        assert one.spec.hash() == other.spec.hash()
        assert math.prod(one.shape) == math.prod(other.shape)
