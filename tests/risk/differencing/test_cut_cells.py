"""Areas cut by areas: every piece is found, against a count of records one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES
from sdcensus.risk.detection.findings import FindingKind
from sdcensus.risk.differencing.cut_cells import crossed_geographies, cut_cells
from sdcensus.session.assess.together import differences_of
from sdcensus.session.census.census import Census
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.grid_island import grid_island, grid_schema
from sdcensus.testing.island import SECRET

SCHEMA = grid_schema(2, 2, 3)


def census_of(places: list[tuple[int, int]]) -> Census:
    """Persons in squares and municipalities."""
    squares, towns = np.array(places, dtype=np.uint8).reshape(-1, 2).T
    records = InMemoryRecords(
        SCHEMA,
        Entity.PERSON,
        codes={"square": squares, "municipality": towns, "sex": np.zeros_like(towns)},
        keys=np.arange(len(places), dtype=np.uint32),
        values={},
        origin=Origin(KeySpace(), SECRET.id, "places"),
    )
    return Census(SCHEMA, records)


@given(
    places=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=25),
    threshold=st.integers(1, 4),
)
def test_pieces_are_those_of_a_count_one_by_one(
    places: list[tuple[int, int]], threshold: int
) -> None:
    cube = census_of(places).tabulate("square-total", "municipality-total")
    told = cut_cells(cube, threshold=threshold)
    people = Counter(places)
    squares = {square for square, _ in people}
    towns_of = {square: {town for other, town in people if other == square} for square in squares}
    squares_of = {town: {square for square, other in people if other == town} for _, town in people}
    pieces = {
        place: number
        for place, number in people.items()
        if len(towns_of[place[0]]) > 1 and len(squares_of[place[1]]) > 1
    }
    assert told.inhabited == len(squares)
    assert told.cut == sum(len(towns) > 1 for towns in towns_of.values())
    assert told.pieces == len(pieces)
    assert told.smallest == tuple(sorted(pieces.values())[:10])
    shown = {
        divmod(int(cell), 3): int(value)
        for cell, value in zip(told.findings.cells, told.findings.values, strict=True)
    }
    assert shown == {place: number for place, number in pieces.items() if number <= threshold}
    assert told.findings.values.tolist() == sorted(shown.values())


def test_the_worst_are_named_for_the_office_only() -> None:
    # The first square lies in both towns, the second square in both as well.
    places = [(0, 0)] * 5 + [(0, 1)] + [(1, 0)] * 7 + [(1, 1)] * 9
    cube = census_of(places).tabulate("square-total", "municipality-total")
    told = cut_cells(cube)
    assert (told.inhabited, told.cut, told.pieces, told.smallest) == (2, 2, 4, (1, 5, 7, 9))
    assert told.findings.kind is FindingKind.CUT_CELL
    (sentence,) = told.findings.sentences(language="en")
    assert "Town 2" in sentence
    assert "N3210000E4321000" in sentence
    assert "one person" in sentence
    assert "confidential" in repr(told)
    assert "Town" not in repr(told)
    for language in LANGUAGES:
        scope = told.findings.scope.show(language)
        assert "2" in scope
        assert "{" not in scope
        assert told.findings.kind.meaning.show(language)


def test_a_threshold_finds_more_and_nested_areas_give_nothing() -> None:
    cube = grid_island(6, 5, 400).tabulate("square-total", "municipality-total")
    counts = [len(cut_cells(cube, threshold=most).findings) for most in (1, 3, 1_000)]
    assert counts[0] < counts[1] < counts[2]
    nested = census_of([(0, 0), (1, 0), (2, 1)]).tabulate("square-total", "municipality-total")
    told = cut_cells(nested, threshold=9)
    assert (told.cut, told.pieces, told.findings.count) == (0, 0, 0)


@pytest.mark.parametrize("by", [("square", "municipality"), ("square-total",), ("sex", "square")])
def test_other_tables_are_refused(by: tuple[str, ...]) -> None:
    with pytest.raises(SpecError, match="two geographies, each at one level and without a total"):
        cut_cells(census_of([(0, 0)]).tabulate(*by))


def test_geographies_of_one_publication_are_crossed_once() -> None:
    def spec(*by: str, **more: Any) -> TableSpec:
        return TableSpec.build(SCHEMA, by, **more)

    own = spec("square", "sex")
    others = [spec("municipality", "sex"), spec("municipality"), spec("sex")]
    (crossed,) = crossed_geographies(own, others)
    assert [axis.variable.name for axis in crossed.axes] == ["square", "municipality"]
    assert crossed.shape == (5, 3)
    # A table without areas is cut by nothing, nor is one of another universe.
    assert not list(crossed_geographies(spec("sex"), [own, *others]))
    assert not list(crossed_geographies(own, [spec("municipality", universe="sex == 1")]))


def test_an_assessment_says_what_geographies_cut() -> None:
    census = grid_island(6, 5, 400)
    cube = census.tabulate("square").held_for("a test")
    other = census.spec("municipality")
    left_out: list[str] = []
    found = differences_of(cube, [other], census.tabulate, left_out=left_out)
    (pieces,) = [findings for findings in found if findings.kind is FindingKind.CUT_CELL]
    assert (
        pieces.count
        == cut_cells(census.tabulate("square-total", "municipality-total")).findings.count
    )
    assert pieces.values.max() <= 2
    assert left_out == []
    assert not differences_of(cube, [], census.tabulate, left_out=left_out)
