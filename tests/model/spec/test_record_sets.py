"""Which cells of one table hold the same records as cells of another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.spec.record_sets import cells_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island, island_schema

SCHEMA = island_schema()


def spec(*by: str, where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=where)


def named(table: TableSpec, other: TableSpec) -> set[tuple[str, ...]]:
    positions = np.unravel_index(cells_of(table, other).astype(np.int64), table.shape)
    return {
        tuple(axis.codes[at].code for axis, at in zip(table.axes, cell, strict=True))
        for cell in zip(*(position.tolist() for position in positions), strict=True)
    }


def test_districts_are_found_in_a_table_of_districts_by_sex() -> None:
    found = named(spec("area@district", "sex"), spec("area@district-total"))
    assert found == {("D0", "_T"), ("D1", "_T"), ("D2", "_T")}


def test_the_order_of_axes_is_no_matter() -> None:
    assert named(spec("sex", "area@district"), spec("area@district-total")) == {
        ("_T", "D0"),
        ("_T", "D1"),
        ("_T", "D2"),
    }


def test_a_parish_that_is_a_whole_district_is_that_district() -> None:
    found = named(spec("area@parish"), spec("area@district-total"))
    assert found == {("P6",)}


def test_a_filter_is_the_same_as_a_code() -> None:
    """Women of a district: an axis here, a condition there."""
    women = spec("area@district-total", where="sex == 1")
    assert named(spec("area@district", "sex"), women) == {("D0", "1"), ("D1", "1"), ("D2", "1")}
    filtered = spec("area@district+parish", where="area@district == 'D1'")
    assert named(filtered, spec("area@district-total")) == {("D1",), ("_T",)}


def test_another_universe_has_no_cell_in_common() -> None:
    assert not named(spec("area@district", where="sex == 1"), spec("area@district"))
    assert not named(spec("sex"), spec("area@district-total"))


def test_a_condition_that_is_always_true_is_none() -> None:
    everyone = spec("area@district-total", where="sex == 0 or sex == 1")
    assert len(named(spec("area@district"), everyone)) == 3


def test_too_many_cells_are_refused() -> None:
    large = spec("area", "age", "sex", "married")
    doubled = TableSpec(of=large.of, axes=(*large.axes, *large.axes, *large.axes))
    with pytest.raises(SpecError, match="at most 50,000"):
        cells_of(large, doubled)


AXES = ["area@parish", "area@district", "area@parish+district", "area@district-total"]
OTHERS = [[], ["sex"], ["sex-total"], ["age@class"], ["sex", "age@class"]]
CONDITIONS = [None, "sex == 1", "age < 5", "area@district == 'D2'", "sex == 1 or area == 'P6'"]


@given(
    st.sampled_from(AXES),
    st.sampled_from(OTHERS),
    st.sampled_from(CONDITIONS),
    st.sampled_from(AXES),
    st.sampled_from(OTHERS),
    st.sampled_from(CONDITIONS),
)
def test_cells_that_are_found_always_hold_the_same_records(
    area: str,
    more: list[str],
    where: str | None,
    other_area: str,
    other_more: list[str],
    other_where: str | None,
) -> None:
    """With many records, equal keys mean equal sets of records: an independent check."""
    table, other = spec(area, *more, where=where), spec(other_area, *other_more, where=other_where)
    census = island(3_000)
    mine, theirs = census.tabulate(table), census.tabulate(other)
    pairs = itertools.product(mine.cells(), theirs.cells())
    same = {
        one.codes
        for one, two in pairs
        if one.count and (one.key, one.count) == (two.key, two.count)
    }
    assert named(table, other) >= same
    counts = {cell.codes: cell.count for cell in mine.cells()}
    assert all(cell in same or not counts[cell] for cell in named(table, other))
