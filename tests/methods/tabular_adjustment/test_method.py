"""Controlled tabular adjustment: additive, far enough from the truth, as near as can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import DocumentError, SecretError, SpecError
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import SECRET, island, island_cube
from sdcensus.testing.printed_tables import printed_cube, printed_spec, printed_variable

Int64 = npt.NDArray[np.int64]
ISLAND = island(60)
#: The table of methods.md, section 7: the cell of 8 moves by 5 at least.
TABLE = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
LEVELS: dict[str, Any] = {"lower_protection": 5, "upper_protection": 5}


def cube_of(numbers: Any) -> Cube:
    array = np.asarray(numbers)
    names = [
        printed_variable(f"v{at}", [f"c{code}" for code in range(size)])
        for at, size in enumerate(array.shape)
    ]
    return printed_cube(printed_spec(*names), array)


def method(minimum: int = 3, **settings: Any) -> ControlledTabularAdjustment:
    return ControlledTabularAdjustment(minimum, secret=SECRET, **settings)


def published(cube: Cube, **settings: Any) -> Int64:
    table = method(**settings).protect(cube).table
    assert isinstance(table, Table)
    return table.published


def distance(cube: Cube, **settings: Any) -> int:
    return int(np.abs(published(cube, **settings) - cube.count).sum())


def test_the_published_example_costs_20_free_and_with_fixed_margins() -> None:
    cube = cube_of(TABLE)
    assert distance(cube, minimum=9, senses="best", new_small_counts="allow", **LEVELS) == 20
    fixed = published(
        cube, minimum=9, senses="best", new_small_counts="allow", kept_totals="margins", **LEVELS
    )
    assert np.abs(fixed - cube.count).sum() == 20
    assert (fixed[-1] == cube.count[-1]).all()
    assert (fixed[:, -1] == cube.count[:, -1]).all()
    assert abs(fixed[1, 0] - 8) >= 5


small_tables = st.lists(st.integers(0, 6), min_size=4, max_size=4).map(
    lambda values: cube_of(np.reshape(values, (2, 2)))
)


def brute_force(cube: Cube, minimum: int, *, margins: bool) -> int | None:
    """The least sum of changes over all tables of the same shape, found by looking at all."""
    true = cube.count
    sizes = [1 if count == 0 else count + 7 for count in true[:2, :2].reshape(-1).tolist()]
    inner = np.indices(sizes).reshape(2, 2, -1)
    rows = np.concatenate([inner, inner.sum(axis=0, keepdims=True)])
    tables = np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)
    truth = true[:, :, None]
    wrong = ((tables > 0) & (tables < minimum)) | ((truth >= minimum) & (tables < minimum))
    if margins:
        kept = (truth == 0) | (truth >= minimum)
        kept[:2, :2] = False
        wrong |= kept & (tables != truth)
    costs = np.abs(tables - truth).sum(axis=(0, 1))[~wrong.any(axis=(0, 1))]
    return int(costs.min()) if costs.size else None


@settings(max_examples=25, deadline=None)
@given(small_tables, st.booleans())
def test_no_table_is_nearer(cube: Cube, margins: bool) -> None:
    keep = "margins" if margins else "nothing"
    least = brute_force(cube, 3, margins=margins)
    if least is None:
        with pytest.raises(SpecError):
            distance(cube, senses="best", effort="exact", kept_totals=keep)
    else:
        assert distance(cube, senses="best", effort="exact", kept_totals=keep) == least


@settings(max_examples=15, deadline=None)
@given(small_tables)
def test_solvers_agree(cube: Cube) -> None:
    pytest.importorskip("ortools")
    for senses in ("drawn", "best"):
        one = distance(cube, senses=senses, effort="exact", solver="highs")
        assert one == distance(cube, senses=senses, effort="exact", solver="cp-sat")


AXES = st.sampled_from(
    [
        ("area@parish+district", "sex", "age@class"),
        ("sex", "married"),
        ("area", "age@age+class"),
        ("sex-total", "age@class-total"),
        ("area@district",),
        (),
    ]
)


@settings(max_examples=20, deadline=None)
@given(AXES, st.integers(1, 6), st.integers(5, 120))
def test_additive_zeros_kept_never_negative_blocked_counts_never_appear(
    by: tuple[str, ...], minimum: int, people: int
) -> None:
    cube = island_cube(*by, people=people)
    table = published(cube, minimum=minimum)
    assert adds_up(cube.spec, table)
    assert (table >= 0).all()
    assert not ((table > 0) & (table < minimum)).any()
    assert (table[cube.count == 0] == 0).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4))
def test_sensitive_cells_are_outside_their_protection_levels(lower: int, upper: int) -> None:
    cube = island_cube("area", "sex", people=40)
    table = published(
        cube, minimum=5, lower_protection=lower, upper_protection=upper, new_small_counts="allow"
    )
    moved = (table - cube.count)[(cube.count > 0) & (cube.count < 5)]
    assert moved.size
    assert ((moved <= -lower) | (moved >= upper)).all()
    assert adds_up(cube.spec, table)


@settings(max_examples=10, deadline=None)
@given(small_tables)
def test_more_protection_never_costs_less(cube: Cube) -> None:
    costs = [
        distance(
            cube,
            senses="best",
            effort="exact",
            new_small_counts="allow",
            lower_protection=level,
            upper_protection=level,
        )
        for level in (1, 2, 4)
    ]
    assert costs == sorted(costs)


@pytest.mark.parametrize("senses", ["drawn", "best"])
@pytest.mark.parametrize("seed", range(3))
def test_the_proven_change_is_never_dearer_than_the_fast_one(senses: str, seed: int) -> None:
    counts = np.random.default_rng(seed).negative_binomial(1, 0.2, (3, 3, 3))
    cube = cube_of(counts)
    fast = distance(cube, senses=senses, effort="fast")
    assert distance(cube, senses=senses, effort="exact") <= fast


@pytest.mark.parametrize("turned", [(1, 0, 2), (2, 1, 0)])
def test_the_order_of_axes_does_not_matter(turned: tuple[int, ...]) -> None:
    by = ("area@parish+district", "sex", "age@class")
    straight = published(island_cube(*by, people=80))
    other = published(island_cube(*(by[at] for at in turned), people=80))
    assert (other == straight.transpose(turned)).all()


def test_linked_tables_have_one_number_for_a_common_cell() -> None:
    specs = [ISLAND.spec("sex", "age@class+half"), ISLAND.spec("area@parish+district", "sex")]
    linked = count_linked(ISLAND, specs)
    tables = [each.table for each in method().protect_together(linked)]
    assert all(isinstance(table, Table) for table in tables)
    first, second = (np.asarray(table.published) for table in tables)
    assert first[:, -1].tolist() == second[-1].tolist()
    values = np.zeros(linked.tables.size, dtype=np.int64)
    for cells, numbers in zip(linked.tables.cell_of, (first, second), strict=True):
        values[cells[cells >= 0]] = numbers[cells >= 0]
    shown = linked.tables.published
    assert not ((values[shown] > 0) & (values[shown] < 3)).any()


def test_a_cell_that_is_fixed_and_small_is_named() -> None:
    cube = cube_of([[1, 5], [4, 9]])
    spec: TableSpec = cube.spec
    with pytest.raises(SpecError, match="v0 = c0, v1 = c0"):
        published(cube, fixed=[spec])


def test_levels_that_bounds_do_not_allow_name_the_cell(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text("v0,v1,lower,upper\nc0,c0,1,2\n", encoding="utf-8")
    with pytest.raises(SpecError, match="v0 = c0, v1 = c0"):
        published(cube_of([[2, 5], [4, 9]]), cells=file)


def test_totals_that_cannot_be_kept_name_the_cells() -> None:
    cube = cube_of([[2, 2], [0, 9]])
    with pytest.raises(SpecError, match=r"It fails at: v0 = c0, v1 = c[01]"):
        published(cube, kept_totals="margins", largest_change=0)


def test_a_file_with_mistakes_tells_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text("v0,weight,status\nc0,-1,\nc1,2,perhaps\n", encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        method(cells=file)
    assert [mistake.line for mistake in caught.value.mistakes] == [2, 3]
    file.write_text("v0,v1,weight\nc9,c0,3\n", encoding="utf-8")
    with pytest.raises(DocumentError, match="line 2"):
        published(cube_of([[2, 5], [4, 9]]), cells=file)


def test_it_needs_the_secret_and_another_secret_draws_otherwise() -> None:
    with pytest.raises(SecretError):
        ControlledTabularAdjustment(3)
    cube = island_cube("area", "age@class", people=60)
    drawn = {published(cube, key_version=version).tobytes() for version in range(1, 5)}
    assert len(drawn) > 1
    assert published(cube).tobytes() == published(cube).tobytes()


def test_nothing_small_nothing_changes() -> None:
    cube = cube_of([[5, 6], [0, 9]])
    assert (published(cube) == cube.count).all()
    assert published(cube_of(np.zeros((2, 2), dtype=int))).sum() == 0


def test_the_office_learns_how_near_it_is_and_the_public_does_not() -> None:
    cube = island_cube("area", "sex", people=60)
    protected = method().protect(cube)
    assert "proven" in protected.audit.remarks[0]
    assert "Sum of weighted" not in str(protected.table.notes) + repr(protected.table)
    assert isinstance(LinkedCubes.of_cube(cube).tables.size, int)
