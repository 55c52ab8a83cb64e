"""Files with tables, against a slow reading: cells of records, intervals, possible areas."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given, settings, strategies as st

from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.records.with_tables import (
    NOT_TOLD,
    PossibleAreas,
    area_cells,
    counted_cells,
    narrowed_table,
    told_places,
)


def codes(size: int) -> tuple[Code, ...]:
    return tuple(Code(str(at)) for at in range(size))


PAIRS = Level("pairs", codes(3), (0, 0, 1, 1, 2, 2))
AGE = Variable(
    name="age", entity=Entity.PERSON, codes=codes(6), hierarchies=(Hierarchy("h", (PAIRS,)),)
)
AREA = Variable(name="area", entity=Entity.PERSON, codes=codes(4), role=Role.GEOGRAPHY)
LEVELS = {"leaves": tuple(range(6)), "pairs": PAIRS.group, "halves": (0, 0, 0, 1, 1, 1)}


def spec_of(levels: tuple[str, ...], *, total: bool) -> TableSpec:
    ages = make_axis(AGE, [AGE.level(name) for name in levels], total=total)
    return TableSpec(of=Entity.PERSON, axes=(ages, make_axis(AREA, [AREA.level()], total=total)))


def positions(axis: Axis, leaves: set[int]) -> set[int]:
    """The positions of an axis at which something that is one of some leaves certainly stands."""
    places = set()
    for block in axis.blocks:
        inside = {block.start + int(block.group[axis.base[leaf]]) for leaf in leaves}
        if len(inside) == 1:
            places |= inside
        if block.level == TOTAL:
            places.add(block.start)
    return places


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=12),
    st.sampled_from([("age",), ("age", "pairs"), ("pairs",)]),
    st.sampled_from(list(LEVELS)),
    st.booleans(),
    st.booleans(),
)
def test_records_are_counted_where_they_certainly_stand(
    people: list[tuple[int, int]], levels: tuple[str, ...], told: str, area: bool, total: bool
) -> None:
    spec, group = spec_of(levels, total=total), np.array(LEVELS[told])
    areas = np.arange(4) if area else np.zeros(4, dtype=np.int64)
    groups = (group, areas)
    columns = [
        groups[at][np.array([person[at] for person in people], dtype=np.int64)] for at in (0, 1)
    ]
    places = [
        told_places(axis, own, int(own.max()) + 1)
        for axis, own in zip(spec.axes, groups, strict=True)
    ]
    counts = counted_cells(spec, columns, places)
    expected: Counter[tuple[int, ...]] = Counter()
    for person in people:
        sets = [
            positions(axis, set(np.flatnonzero(own == own[leaf]).tolist()))
            for axis, own, leaf in zip(spec.axes, groups, person, strict=True)
        ]
        expected.update(product(*sets))
    assert {cell: int(counts[cell]) for cell in np.ndindex(counts.shape)} == {
        cell: expected[cell] for cell in np.ndindex(counts.shape)
    }


def test_a_blank_stands_in_totals_only() -> None:
    axis = spec_of(("age",), total=True).axes[0]
    places = told_places(axis, np.arange(6), 7)  # the seventh code has no leaf
    assert places[:, 6].tolist() == [NOT_TOLD, 6]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=25),
    st.integers(0, 2),
    st.data(),
)
def test_bounds_hold_and_only_get_narrower(
    people: list[tuple[int, int]], most: int, data: st.DataObject
) -> None:
    spec = spec_of(("age", "pairs"), total=True)
    leaves = [np.array([each[at] for each in people], dtype=np.int64) for at in (0, 1)]
    places = [
        told_places(axis, np.arange(size), size)
        for axis, size in zip(spec.axes, (6, 4), strict=True)
    ]
    truth = counted_cells(spec, leaves, places)
    noise = data.draw(st.lists(st.integers(-most, most), min_size=truth.size, max_size=truth.size))
    published = np.maximum(truth + np.array(noise).reshape(truth.shape), 0)
    published[truth == 0] = 0
    lower, upper = Knowledge(max_deviation=most).bounds(Table(spec, published))
    sampled = np.array([data.draw(st.booleans()) for _ in people], dtype=bool)
    counts = counted_cells(spec, [each[sampled] for each in leaves], places)
    assert (counts <= truth).all()
    result = narrowed_table("ages", spec, lower, upper, counts)
    nothing = narrowed_table("ages", spec, lower, upper, np.zeros_like(counts))
    assert (nothing.narrowed, nothing.exact, nothing.reached) == (0, 0, 0)
    assert result.exact_before == nothing.exact_before
    assert result.exact_before + result.exact <= spec.cells
    assert result.reached == int((counts > 0).sum())
    if most == 0:
        assert result.exact_before == spec.cells
    # A whole census in the file: the smallest possible count is the true one.
    whole = narrowed_table("ages", spec, lower, upper, truth)
    assert whole.exact >= result.exact


def test_records_make_a_cell_exact() -> None:
    spec = TableSpec(of=Entity.PERSON, axes=(make_axis(AREA, [AREA.level()], total=False),))
    published = np.array([2, 5, 0, 1])
    lower, upper = Knowledge(max_deviation=1).bounds(Table(spec, published))
    assert (lower.tolist(), upper.tolist()) == ([1, 4, 0, 1], [3, 6, 1, 2])
    # Three records where at most three can be; one where one was certain; one of at most one.
    result = narrowed_table("areas", spec, lower, upper, np.array([3, 4, 1, 1]))
    assert (result.reached, result.narrowed, result.exact_before, result.exact) == (4, 2, 0, 2)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 20),
    st.lists(st.integers(-1, 3), min_size=1, max_size=9),
    st.data(),
)
def test_areas_are_left_that_have_room_for_the_whole_household(
    areas: int, cells: list[int], data: st.DataObject
) -> None:
    room = np.array(
        [[data.draw(st.booleans()) for _ in range(areas)] for _ in range(4)], dtype=bool
    )
    households = np.array([data.draw(st.integers(-1, 2)) for _ in cells], dtype=np.int64)
    possible = PossibleAreas(len(cells), areas)
    possible.leave(room, np.array(cells))
    possible.share(households)
    alone: list[set[int]] = [
        set(np.flatnonzero(room[cell]).tolist()) if cell >= 0 else set(range(areas))
        for cell in cells
    ]
    for at, only in enumerate(possible.only().tolist()):
        left = alone[at]
        if households[at] >= 0:
            left = set.intersection(
                *(
                    own
                    for own, home in zip(alone, households, strict=True)
                    if home == households[at]
                )
            )
        assert only == (next(iter(left)) if len(left) == 1 else NOT_TOLD)
    assert "confidential" in repr(possible)


def test_the_finest_cell_that_is_told_is_taken() -> None:
    axis = spec_of(("age", "pairs"), total=True).axes[0]
    places = told_places(axis, np.array(PAIRS.group), 4)  # and a blank
    cells = area_cells([places], [np.array([0, 1, 2, 3])], [len(axis.codes)])
    assert cells.tolist() == [6, 7, 8, 9]  # the pairs behind six leaves, then the total
    without = told_places(spec_of(("age",), total=False).axes[0], np.zeros(6, dtype=np.int64), 1)
    assert area_cells([without], [np.zeros(2, dtype=np.int64)], [6]).tolist() == [NOT_TOLD] * 2
