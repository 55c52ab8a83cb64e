"""A country whose levels share their codes goes every road, and its numbers are the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import write_delivered
from sdcensus.methods.building_blocks import BuildingBlocks
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.delivery import DeliveredTable, deliver
from sdcensus.model.published.table import Table
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.testing.island import SECRET
from tests.regions import COMMUNES, LEVELS, regions

METHOD = CellKey(design_perturbation(5, 2.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
ENGINES = ["memory", "duckdb"]
PLACES = ("home", "work", "born")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return regions(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def unique(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return regions(tmp_path_factory.mktemp("unique"), unique=True)


@st.composite
def axes(draw: st.DrawFn) -> tuple[str, ...]:
    """Up to three variables, areas at any of their levels."""
    chosen = draw(st.lists(st.sampled_from([*PLACES, "sex", "age@broad"]), max_size=3, unique=True))
    by = []
    for name in chosen:
        if name in PLACES:
            levels = draw(st.lists(st.sampled_from(LEVELS), min_size=1, unique=True))
            name = f"{name}@{'+'.join(levels)}"
        by.append(name if draw(st.booleans()) else f"{name}-total")
    return tuple(by)


@st.composite
def conditions(draw: st.DrawFn) -> tuple[str, str]:
    """A condition on areas, with codes as they are and with the letter of their level."""
    place, level = draw(st.sampled_from(PLACES)), draw(st.sampled_from(LEVELS))
    codes = sorted({row[LEVELS.index(level)] for row in COMMUNES})
    some = draw(st.lists(st.sampled_from(codes), min_size=1, unique=True))
    plain, unique = (
        f"{place}@{level} in ({', '.join(f'{chr(39)}{front}{code}{chr(39)}' for code in some)})"
        for front in ("", level[0])
    )
    return plain, unique


def counts(census: Census, by: tuple[str, ...], where: str | None, engine: str) -> list[int]:
    cube = census.tabulate(*by, universe=where, engine=engine).held_for("a test")
    assert isinstance(cube, Cube)
    numbers: list[int] = cube.count.reshape(-1).tolist()
    return numbers


@settings(max_examples=25)
@given(by=axes(), where=st.none() | conditions(), engine=st.sampled_from(ENGINES))
def test_counts_are_those_of_the_same_census_with_unique_codes(
    plain: Census,
    unique: Census,
    by: tuple[str, ...],
    where: tuple[str, str] | None,
    engine: str,
) -> None:
    own, other = where or (None, None)
    assert counts(plain, by, own, engine) == counts(unique, by, other, "memory")


def test_cells_of_two_levels_are_two_questions(plain: Census) -> None:
    """Region 11 is not province 11; province 121 is commune 121, whatever the level is called."""
    spec = TableSpec.build(plain.schema, ["home@region+province+commune"])
    axis = spec.axes[0]
    hashes = {
        (code.level, code.code): tuple(row)
        for code, row in zip(axis.codes, cell_hashes(spec).tolist(), strict=True)
    }
    assert hashes["region", "11"] != hashes["province", "11"]
    assert len({hashes[level, "12"] for level in LEVELS}) == 3
    assert hashes["province", "121"] == hashes["commune", "121"] == hashes["region", "12"]
    for level in LEVELS:
        codes = sorted({row[LEVELS.index(level)] for row in COMMUNES})
        for code in codes:
            alone = TableSpec.build(plain.schema, [], universe=f"home@{level} == '{code}'")
            assert tuple(cell_hashes(alone)[0].tolist()) == hashes[level, code]


def test_the_main_geography_is_that_of_the_household(plain: Census) -> None:
    assert plain.schema.geography is not None
    assert plain.schema.geography.name == "home"
    assert [variable.name for variable in plain.schema.geographies] == ["home", "born", "work"]
    store = plain.kept_store
    assert store is not None
    assert store.sorted_geography(plain.schema.entities[-1].entity) == "home"


def published(census: Census, *by: str, where: str | None = None) -> Table:
    table = METHOD.protect(census.tabulate(*by, universe=where)).table
    assert isinstance(table, Table)
    return table


def delivered(table: Table) -> DeliveredTable:
    return deliver(table, name="t")


@pytest.mark.parametrize(
    "by",
    [
        ("home@region+province+commune", "sex"),
        ("home@province+region-total", "work@region+province"),
        ("born@region", "sex"),
    ],
)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_published_tables_are_read_back(
    plain: Census, tmp_path: Path, by: tuple[str, ...], format: str
) -> None:
    table = published(plain, *by)
    (path, *_) = write_delivered(delivered(table), tmp_path, formats=[format])
    assert read_published(path).table == table


def test_files_have_official_codes_and_qualify_them_where_the_format_needs_it(
    plain: Census, tmp_path: Path
) -> None:
    both = published(plain, "home@region+province")
    one = published(plain, "home@region")
    for name, table in (("both", both), ("one", one)):
        write_delivered(
            deliver(table, name=name), tmp_path, formats=["csv", "json-stat", "px", "sdmx-csv"]
        )
    rows = (tmp_path / "both.csv").read_text(encoding="utf-8").splitlines()
    assert {row.split(",")[0] for row in rows[1:]} == {
        *("1", "2", "11", "12", "21", "111", "112", "121", "_T")
    }
    ids = json.loads((tmp_path / "both.json").read_text(encoding="utf-8"))
    index = ids["dimension"]["home"]["category"]["index"]
    assert {"11@region", "11@province", "111", "1"} <= set(index)
    assert len(set(index)) == len(index)
    for name in ("one.json", "one.px", "one.sdmx.csv", "one.csv"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "11@" not in text
    assert '"11@region"' in (tmp_path / "both.px").read_text(encoding="utf-8")
    assert ",11@province," in (tmp_path / "both.sdmx.csv").read_text(encoding="utf-8")


def test_a_cell_is_named_with_its_level_where_the_code_is_not_enough(plain: Census) -> None:
    table = published(plain, "home@region+province+commune")
    regions_alone = published(plain, "home@region")
    assert table.value(home="region:11") == regions_alone.value(home="11")
    assert table.value(home="11@region") == regions_alone.value(home="region:11")
    assert table.value(home="region:11") != table.value(home="province:11")
    assert table.value(home="121") == table.value(home="province:121")  # the same people
    with pytest.raises(SpecError, match=r"\(province, region\). Write 'province:11'"):
        table.value(home="11")


def test_a_condition_without_a_level_is_about_the_leaves_and_says_so(plain: Census) -> None:
    (leaf,) = counts(plain, (), "home == '12'", "memory")
    (same,) = counts(plain, (), "home@commune == '12'", "memory")
    (region,) = counts(plain, (), "home@region == '12'", "memory")
    assert leaf == same != region
    with pytest.raises(UnknownName, match=r"a code of home@province, home@region\. Write"):
        counts(plain, (), "home == '11'", "memory")


def test_groups_name_the_level_where_a_code_has_several(plain: Census) -> None:
    table = published(plain, "home@region+province+commune")
    blocks = BuildingBlocks()
    groups = {"home": {"both": ["province:11", "region:2"]}}
    grouped = blocks.group(table, groups)
    parts = [table.value(home=code) for code in groups["home"]["both"]]
    assert grouped.value(home="both") == sum(part or 0 for part in parts)
    with pytest.raises(SpecError, match="Write 'province:11'"):
        blocks.group(table, {"home": {"a": ["11"]}})
    alone = published(plain, "home@region")
    assert blocks.group(alone, {"home": {"a": ["11"]}}).value(home="a") == alone.value(home="11")


def test_maps_are_drawn_of_every_geography(plain: Census) -> None:
    for place in PLACES:
        for level in LEVELS:
            drawn = plain.map(place, level)
            assert drawn is not None
            codes = [feature["properties"]["code"] for feature in drawn["features"]]
            assert sorted(codes) == sorted({row[LEVELS.index(level)] for row in COMMUNES})
