"""Differencing: the people between two published cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcensus.attack import Assumptions, AttackResult, run_attacks
from sdcensus.attack.claims import CellClaims
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import PublishedTable, Table
from sdcensus.session.census.census import Census
from sdcensus.testing.island import island
from tests.attack.made import cell_key, publish


def exact(census: Census, *by: str, universe: str | None = None) -> PublishedTable:
    """A table that is published without protection."""
    cube = census.tabulate(*by, universe=universe)
    assert isinstance(cube, Cube)
    return PublishedTable(f"{by} {universe}", Table(cube.spec, cube.count.copy()))


def differencing(*tables: PublishedTable) -> AttackResult:
    known = Assumptions(max_deviation=0)
    return run_attacks(tables, known, attacks=["differencing"]).results[0]


def claimed(one: CellClaims) -> dict[tuple[int, ...], int]:
    places = np.stack(np.unravel_index(one.cells, one.spec.shape), axis=1).tolist()
    return {tuple(at): low for at, low in zip(places, one.lower.tolist(), strict=True)}


def test_the_person_between_two_age_limits_is_found() -> None:
    census = island(120)
    result = differencing(
        exact(census, "area", "sex", universe="age >= 5"),
        exact(census, "area", "sex", universe="age >= 6"),
    )
    true = census.tabulate("area", "sex", universe="age == 5")
    assert isinstance(true, Cube)
    found: dict[tuple[int, ...], int] = {}
    for claim in result.claims:
        assert claim.less is not None
        assert claim.less.table.endswith("age >= 6")
        found.update(claimed(claim))
    assert len(found) == true.count.size
    assert all(true.count[at] == count for at, count in found.items())
    assert 1 in found.values()


def test_areas_that_nest_across_tables() -> None:
    # One table shows districts, the other those of the people in two parishes of the first one.
    census = island(200)
    result = differencing(
        exact(census, "area@district", "sex"),
        exact(census, "area", "sex", universe="area == 'P0' or area == 'P1'"),
    )
    true = census.tabulate("sex", universe="area == 'P2'")
    assert isinstance(true, Cube)
    seen = [claimed(claim) for claim in result.claims]
    values = {at: count for one in seen for at, count in one.items() if at[0] == 0}
    assert [values[(0, at)] for at in range(2)] == true.count[:2].tolist()


def test_a_filter_against_everybody() -> None:
    census = island(200)
    result = differencing(
        exact(census, "area", "age"), exact(census, "area", "age", universe="sex == 1")
    )
    true = census.tabulate("area", "age", universe="sex != 1")
    assert isinstance(true, Cube)
    found: dict[tuple[int, ...], int] = {}
    for claim in result.claims:
        found.update(claimed(claim))
    assert len(found) == true.count.size
    assert all(true.count[at] == count for at, count in found.items())


def test_noise_of_some_size_hides_the_difference() -> None:
    from tests.attack.made import cell_key, publish

    census = island(120)
    tables = [
        *publish(census, cell_key("CP3"), ("area", "sex"), universe="age >= 5"),
        *publish(census, cell_key("CP3"), ("area", "sex"), universe="age >= 6"),
    ]
    known = Assumptions(max_deviation=3)
    result = run_attacks(tables, known, attacks=["differencing"]).results[0]
    assert result.exact == 0
    assert result.figures["groups between cells"] == 24


@pytest.mark.parametrize("other", [("area", "age"), ("sex",), ("area+district", "sex")], ids=str)
def test_tables_of_the_same_people_have_nobody_between(other: tuple[str, ...]) -> None:
    census = island(120)
    result = differencing(exact(census, "area", "sex"), exact(census, *other))
    assert result.figures["groups between cells"] == 0


def test_conclusions_name_the_tables_and_bounds_that_they_rest_on() -> None:
    census = island(2000)
    by = ("area", "age", "sex")
    tables = [
        *publish(census, cell_key("CP1"), by),
        *publish(census, cell_key("CP4"), by),
        replace(exact(census, "married-total"), name="no gaps.csv"),
    ]
    tables = [replace(table, name=f"{at} {table.name}") for at, table in enumerate(tables)]
    found = run_attacks(tables, attacks=["differencing"]).results[0]
    assert found.sentences[0].startswith("No differences with the table 2 no gaps.csv: no gap")
    said = found.sentences[1]
    assert "changed by more than 1 in the table 0 area-age-sex.csv and 3 in the table 1 " in said
    assert "subtracts cells of 2 tables" in said


def test_tables_that_contradict_what_is_known_are_named() -> None:
    tables = publish(island(400), cell_key("CP3"), ("area", "sex"), ("area", "age"))
    known = Assumptions(max_deviation=0)
    found = run_attacks(tables, known, attacks=["differencing"]).results[0]
    assert len(found.sentences) == 1
    assert found.sentences[0].startswith("No differences with 2 tables (area-sex.csv to area-age")
    assert "no counts fit" in found.sentences[0]
