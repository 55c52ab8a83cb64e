from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.spec.leaf_groups import shared_variables, within
from sdcensus.model.spec.record_sets import universe_of_cell
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe, universe_of
from sdcensus.risk.differencing.tiling import (
    Tiling,
    coarsest_tilings,
    near_tilings,
    tilings,
    values_from,
)
from sdcensus.testing.island import island, island_schema

SCHEMA = island_schema()
CENSUS = island(people=300)
AXES = st.sampled_from(
    [
        ("area@parish",),
        ("area@district", "sex"),
        ("area@parish+district", "age@class"),
        ("sex", "age"),
        ("age@class+half", "sex-total"),
        ("age@half",),
        ("area@district", "sex", "married"),
        (),
    ]
)
CONDITIONS = st.sampled_from(
    [None, "sex == '0'", "age >= 3", "age < 9", "area@district == 'D1'", "age >= 3 and sex == '1'"]
)


def spec(by: tuple[str, ...], where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=where)


def cube(made: TableSpec, where: str | None) -> Cube:
    by = [axis.name for axis in made.axes]
    counted = CENSUS.tabulate(*by, universe=where)
    assert isinstance(counted, Cube)
    return counted


def records_of(made: TableSpec, number: int) -> npt.NDArray[np.bool_]:
    """The records of a cell, one by one, from the meaning of codes alone."""
    positions = tuple(int(at) for at in np.unravel_index(number, made.shape)) if made.shape else ()
    return inside(universe_of_cell(made, positions))


def inside(universe: Universe) -> npt.NDArray[np.bool_]:
    leaves = {"area": 7, "sex": 2, "age": 10, "married": 2}
    grid = np.indices(tuple(leaves.values())).reshape(4, -1)
    of = dict(zip(leaves, grid, strict=True))
    classes = [
        class_[of[variable.name]]
        for variable, class_ in zip(universe.variables, universe.classes, strict=True)
    ]
    return np.broadcast_to(universe.truth[tuple(classes)], grid.shape[1:])


def parts_of(tiling: Tiling, at: int) -> npt.NDArray[np.uint64]:
    """The cells of the other table of which one of these cells is the union."""
    where = np.unravel_index(at, tiling.shape) if tiling.shape else ()
    weights = mixed_radix(tiling.parts.shape)
    numbers = np.zeros(1, dtype=np.uint64)
    for step in tiling.steps:
        if step.parts_axis is None:
            continue
        place = 0 if step.whole_axis is None else int(where[step.whole_axis])
        own = step.parts.start + step.part[step.made == place]
        added = own.astype(np.uint64) * np.uint64(weights[step.parts_axis])
        numbers = (numbers[:, None] + added).reshape(-1)
    return np.sort(numbers)


@given(AXES, CONDITIONS, AXES, CONDITIONS)
def test_tiles_are_disjoint_and_make_up_the_cell_for_any_data(
    by: tuple[str, ...], where: str | None, other: tuple[str, ...], also: str | None
) -> None:
    whole, parts = spec(by, where), spec(other, also)
    for tiling in itertools.islice(tilings(whole, parts), 6):
        cells = tiling.cells
        assert cells.size == tiling.sizes.size == int(np.prod(tiling.shape, dtype=int))
        for at in {0, cells.size // 2, cells.size - 1}:
            tiles = parts_of(tiling, at)
            assert tiles.size == tiling.sizes[at] >= 1
            together = np.sum([records_of(parts, int(tile)) for tile in tiles], axis=0)
            assert (together == records_of(whole, int(cells[at]))).all()


@given(AXES, CONDITIONS, AXES, CONDITIONS)
def test_true_counts_of_tiles_add_up_to_the_true_count_of_the_cell(
    by: tuple[str, ...], where: str | None, other: tuple[str, ...], also: str | None
) -> None:
    whole, parts = spec(by, where), spec(other, also)
    count, part = cube(whole, where).count, cube(parts, also).count
    for tiling in tilings(whole, parts):
        own = count.reshape(-1)[tiling.cells.astype(np.int64)]
        assert (tiling.sums(part) == own).all()
        assert tiling.sums(part)[0] == part.reshape(-1)[parts_of(tiling, 0).astype(int)].sum()


@given(AXES, CONDITIONS, AXES, CONDITIONS)
def test_cells_that_are_unions_of_cells_at_one_level_are_all_found(
    by: tuple[str, ...], where: str | None, other: tuple[str, ...], also: str | None
) -> None:
    whole, parts = spec(by, where), spec(other, also)
    found = {int(cell) for tiling in tilings(whole, parts) for cell in tiling.cells}
    coarse = [one for tiling in coarsest_tilings(whole, parts) for one in tiling.cells.tolist()]
    assert sorted(coarse) == sorted(found)
    # A cell of which every record lies in cells of the other table that lie inside it.
    if parts.cells > 60 or whole.cells > 60:
        return
    tiles = [records_of(parts, at) for at in range(parts.cells)]
    for at in range(whole.cells):
        own = records_of(whole, at)
        union = np.zeros(own.shape, dtype=bool)
        for tile in tiles:
            if tile.any() and not (tile & ~own).any():
                union |= tile
        if int(at) in found:
            assert (union == own).all()
        elif own.any() and (union == own).all():
            # Only tiles of mixed levels can be missed; these axes have one level that does it.
            pytest.fail(f"cell {at} of {whole.title} is a union of cells of {parts.title}")


def test_a_cell_is_found_through_every_level() -> None:
    whole, parts = spec(("sex",)), spec(("sex", "age@class+half"))
    women = 1
    ways = [
        sorted(parts_of(tiling, tiling.cells.tolist().index(women)).tolist())
        for tiling in tilings(whole, parts)
        if women in tiling.cells
    ]
    assert sorted(map(len, ways)) == [1, 2, 3]  # the total, two halves, three classes


def test_conditions_count_as_what_they_select() -> None:
    whole, parts = spec(("age@class",), "sex == '1'"), spec(("age", "sex"))
    made, known = values_from(whole, parts, cube(parts, None).count)
    assert known.all()
    assert (made == cube(whole, "sex == '1'").count).all()
    _, known = values_from(parts, whole, made)
    # Single ages cannot be made of classes; women of all ages can.
    assert np.argwhere(known).tolist() == [[10, 1]]


def test_what_cannot_be_compared_has_no_tilings() -> None:
    whole = spec(("sex",), "age >= 3 or married == '0'")
    assert list(tilings(whole, spec(("sex",)))) == []
    assert shared_variables((whole, spec(("sex",)))) is None
    assert len(list(tilings(whole, spec(("sex", "married"), "age >= 3 or married == '0'")))) > 0


def test_near_tilings_isolate_the_code_by_which_two_levels_differ() -> None:
    whole, parts = spec(("age@half", "sex")), spec(("age@class", "sex"))
    found = {}
    for near in near_tilings(whole, parts):
        step = near.step
        for at, code in enumerate(step.codes.tolist()):
            assert near.variable.name == "age"
            found[(code, near.larger)] = np.flatnonzero(near.rest(at)).tolist()
    # Half 0 to 4 holds the class 0 to 2 and is covered by the classes 0 to 6.
    assert found == {
        (0, True): [3, 4],
        (0, False): [5, 6],
        (1, True): [5, 6],
        (1, False): [3, 4],
    }


def test_near_tilings_count_the_rest_truly() -> None:
    whole, parts = spec(("age@half", "sex")), spec(("age@class", "sex", "married"))
    first, second = cube(whole, None).count, cube(parts, None).count
    by_age = cube(spec(("sex", "age")), None).count
    for near in near_tilings(whole, parts):
        differences = near.differences(first, second)
        for at, (cell, code) in enumerate(zip(near.cells.tolist(), near.codes(), strict=True)):
            sex = cell % 3
            rest = np.flatnonzero(near.rest(int(code)))
            assert differences[at] == by_age[sex, rest].sum()


def test_universes_within_each_other() -> None:
    def universe(text: str | None) -> Universe:
        return EVERYTHING if text is None else universe_of(text, SCHEMA)

    texts = [None, "age >= 3", "age >= 5", "sex == '1'", "age >= 5 and sex == '1'"]
    for one, other in itertools.product(texts, texts):
        expected = not (inside(universe(one)) & ~inside(universe(other))).any()
        assert within(universe(one), universe(other)) == expected
