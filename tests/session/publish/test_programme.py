"""Every table of the European programme on a demo country, from its own mapping."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.demo import DemoFiles, eu_mapping, eu_plan, make_country, write_country
from sdcensus.documents.mapping.document import read_mapping
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.plan.mapping import OUTSIDE, Mapping
from sdcensus.model.published.delivery import NO_PARENT
from sdcensus.model.secret import Secret
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.record_sets import leaves_in, leaves_of
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.publish.products import PublishableTable, StatisticsTable
from sdcensus.session.publish.programme import open_programme, programme_names, programme_tables

EU = open_programme("eu-2021")
PERSONS = 3_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> DemoFiles:
    folder = tmp_path_factory.mktemp("eu")
    return write_country(folder / "country", country=make_country(PERSONS), seed=4)


@pytest.fixture(scope="module")
def census(files: DemoFiles) -> Census:
    store = files.folder.with_name("census.store")
    load(files.schema, store, secret=Secret(bytes(range(32))))
    return open_store(store)


@pytest.fixture(scope="module")
def mapping(files: DemoFiles, census: Census) -> Mapping:
    return read_mapping(files.eu_mapping, EU, census.schema)


@pytest.fixture(scope="module")
def tables(mapping: Mapping, census: Census) -> dict[str, PublishableTable]:
    made = programme_tables("eu-2021", ["*"], mapping, census.schema)
    return {
        one.name.removeprefix("eu-2021-"): one for one in made if isinstance(one, PublishableTable)
    }


@pytest.fixture(scope="module")
def counts(tables: dict[str, PublishableTable], census: Census) -> dict[str, npt.NDArray[np.int64]]:
    """True counts of what is delivered."""
    found = {}
    for name, table in tables.items():
        if table.cells < 400_000:
            cube = census.tabulate(table.spec)
            assert isinstance(cube, Cube)
            chosen = np.ix_(*(axis.positions for axis in table.axes))
            found[name] = cube.count[chosen].astype(np.int64)
    return found


def test_all_hypercubes_and_the_grid_can_be_made(
    tables: dict[str, PublishableTable], mapping: Mapping, census: Census
) -> None:
    assert list(tables) == [hypercube.name for hypercube in EU.hypercubes]
    made = programme_tables("eu-2021", ["*"], mapping, census.schema)
    assert len(made) == 120
    assert isinstance(made[-1], StatisticsTable)
    assert len({one.name for one in made}) == 120
    assert len({table.spec.hash() for table in tables.values()}) == 119


def test_delivered_codes_are_those_of_the_programme(tables: dict[str, PublishableTable]) -> None:
    for cube in EU.hypercubes:
        table = tables[cube.name]
        for names, axis in zip(cube.dimensions, table.axes, strict=True):
            assert axis.column in names
            if axis.geography or axis.column == "LPW.L":
                assert axis.unique
                continue
            tree = EU.breakdown(axis.column)
            assert axis.codes == tuple(code.code for code in tree.codes)
            assert axis.parents == tree.parents
            assert axis.labels == tuple(code.label for code in tree.codes)
            assert axis.total == 0
    assert [axis.column for axis in tables["39.2"].axes] == ["GEO.M", "TOB", "NOR", "NOC"]
    assert str(tables["3.1"].title) == "Total population by place of usual residence, sex and age"


def test_areas_come_level_by_level_below_the_country(tables: dict[str, PublishableTable]) -> None:
    country = make_country(PERSONS)
    sizes = [1, country.regions, country.districts, country.parishes, country.eds]
    for name, levels in (("1.1", 1), ("4.1", 3), ("9.2", 4), ("3.1", 5)):
        axis = tables[name].axes[0]
        assert axis.codes[0] == "ID"
        assert len(axis) == sum(sizes[:levels])
        assert axis.geography
        assert set(axis.levels) == set(["_T", "NUTS1", "NUTS2", "NUTS3", "LAU"][:levels])
        for at, parent in enumerate(axis.parents):
            assert (parent == NO_PARENT) is (at == 0)
            assert parent < at
    work = next(axis for axis in tables["7.1"].axes if axis.column == "LPW.L")
    assert len(work) == 6 + country.regions + country.districts + 1


def test_a_code_is_about_the_records_of_the_codes_below_it(
    tables: dict[str, PublishableTable],
) -> None:
    seen = set()
    for table in tables.values():
        for axis, shown in zip(table.spec.axes, table.axes, strict=True):
            if shown.column in seen:
                continue
            seen.add(shown.column)
            inside = leaves_in(table.spec.universe, axis.variable)
            sets = [leaves_of(axis, int(at)) & inside for at in shown.positions]
            for at, whole in enumerate(sets):
                parts = [one for one, up in zip(sets, shown.parents, strict=True) if up == at]
                if parts:
                    assert (np.sum(parts, axis=0) == whole).all(), (table.name, shown.codes[at])
    assert len(seen) > 45


def test_sums_of_leaves_are_totals(
    tables: dict[str, PublishableTable], counts: dict[str, npt.NDArray[np.int64]]
) -> None:
    assert len(counts) > 110
    for name, count in counts.items():
        for at, axis in enumerate(tables[name].axes):
            leaves = [place for place in range(len(axis)) if place not in axis.parents]
            summed = np.take(count, leaves, axis=at).sum(axis=at)
            assert (summed == np.take(count, 0, axis=at)).all(), (name, axis.column)


def test_every_table_of_a_unit_has_the_same_grand_total(
    census: Census, counts: dict[str, npt.NDArray[np.int64]]
) -> None:
    totals: dict[str, set[int]] = {}
    for cube in EU.hypercubes:
        if cube.name in counts:
            count = counts[cube.name]
            totals.setdefault(cube.unit.name, set()).add(int(count[(0,) * count.ndim]))

    def number(of: str, universe: str | None = None) -> set[int]:
        cube = census.tabulate(of=of, universe=universe)
        assert isinstance(cube, Cube)
        return {int(cube.count)}

    homes = "living_quarters@kind == 'C'"
    assert totals == {
        "population": {PERSONS},
        "private_households": number("households", "household_kind == '1'"),
        "families": number("families"),
        "conventional_dwellings": number("dwellings", homes),
        "occupied_conventional_dwellings": number("dwellings", f"{homes} and occupancy == '1'"),
        "living_quarters": number("dwellings", "occupancy == '1'"),
    }


def test_cells_have_the_hashes_of_national_tables(
    census: Census, tables: dict[str, PublishableTable]
) -> None:
    ours = tables["3.1"]
    axes = [axis.positions for axis in ours.axes]
    women_85 = (0, ours.axes[1].codes.index("2"), ours.axes[2].codes.index("6"))
    cell = [int(axis[at]) for axis, at in zip(axes, women_85, strict=True)]
    number = np.ravel_multi_index(cell, ours.spec.shape)
    national = census.spec("sex", universe="age >= 85")
    assert (
        cell_hashes(ours.spec, cells=np.array([number]))
        == cell_hashes(national, cells=np.array([national.axis("sex").position("2")]))
    ).all()


def test_the_mapping_of_the_demo_says_what_its_list_says(mapping: Mapping) -> None:
    for breakdown in {row.breakdown for row in eu_mapping()}:
        mapped = mapping.breakdown(breakdown)
        assert mapped is not None
        said = {row.code: row.eu_code for row in eu_mapping() if row.breakdown == breakdown}
        leaves = dict(
            zip((code.code for code in mapped.variable.codes), mapped.leaves, strict=True)
        )
        assert {code: leaves[code] for code in said if code in leaves} == {
            code: to for code, to in said.items() if code in leaves
        }
        assert set(leaves.values()) <= set(said.values()) | {OUTSIDE}


def test_the_grid_counts_everybody_once(census: Census, mapping: Mapping) -> None:
    (grid,) = programme_tables("eu-2021", ["grid"], mapping, census.schema)
    assert isinstance(grid, StatisticsTable)
    assert grid.populated
    assert [statistic.code for statistic in grid.statistics] == [f"STAT.G.{at}" for at in range(13)]
    assert grid.areas.codes[-1] == "ID_unallocated"
    assert all(code.startswith("ID_CRS3035RES1000mN") for code in grid.areas.codes[:-1])
    figures = {}
    for statistic in grid.statistics:
        cube = census.tabulate(statistic.spec)
        assert isinstance(cube, Cube)
        column = cube.count if cube.count.ndim == 1 else cube.count[:, statistic.position]
        figures[statistic.code] = column[grid.areas.positions].astype(np.int64)
    total = figures["STAT.G.0"]
    assert total.sum() == PERSONS
    cells = census.tabulate("ed_grid")
    assert isinstance(cells, Cube)
    assert total[-1] == cells.count[cells.spec.axes[0].position("unallocated")]
    for parts in ((1, 2), (3, 4, 5)):
        added = np.sum([figures[f"STAT.G.{at}"] for at in parts], axis=0)
        assert added.tolist() == total.tolist()
    employed = census.tabulate(universe="activity == '1'")
    assert isinstance(employed, Cube)
    assert figures["STAT.G.6"].sum() == int(employed.count)


def test_all_variables_of_a_group_are_crossed(census: Census, mapping: Mapping) -> None:
    (table,) = programme_tables("eu-2021", ["13.all"], mapping, census.schema)
    assert isinstance(table, PublishableTable)
    assert table.name == "eu-2021-13.all"
    assert [axis.column for axis in table.axes] == [
        "GEO.M", "SEX", "AGE.M", "COC.M", "POB.M", "YAE.H", "ROY", "HAR",
    ]  # fmt: skip
    assert table.cells == len(table.axes[0]) * 3 * 28 * 13 * 13 * 30 * 9 * 6


def test_patterns_choose_tables_in_the_order_of_the_programme() -> None:
    assert programme_names(EU, ["9.2", "1.*"]) == ("1.1", "1.2", "1.3", "1.4", "9.2")
    assert programme_names(EU, ["grid", "3.1", "3.1"]) == ("3.1", "grid")
    assert len(programme_names(EU, ["*"])) == len(programme_names(EU, [])) == 120
    assert "grid" not in programme_names(EU, ["*", "!grid"])
    assert len(programme_names(EU, ["!7.*"])) == 118
    assert programme_names(EU, ["13.all", "13.1"]) == ("13.1", "13.all")
    with pytest.raises(SpecError, match=r"no table of eu-2021 '9.9'. Did you mean '9.4' or '9.3'"):
        programme_names(EU, ["1.*", "9.9"])
    with pytest.raises(SpecError, match=r"'gird'. Did you mean 'grid'"):
        programme_names(EU, ["gird"])
    with pytest.raises(SpecError, match="leave out all"):
        programme_names(EU, ["3.1", "!3.*"])


def test_what_the_mapping_lacks_is_listed_with_the_tables_that_need_it(
    census: Census, mapping: Mapping
) -> None:
    kept = tuple(
        breakdown
        for breakdown in mapping.breakdowns
        if breakdown.breakdown.name not in ("YAE.H", "NOR", "AGE.H")
    )
    ages = mapping.breakdown("AGE.L")
    assert ages is not None
    poor = replace(
        mapping,
        breakdowns=(*kept, ages),
        units=tuple(unit for unit in mapping.units if unit.name != "families"),
    )
    with pytest.raises(SpecError) as caught:
        programme_tables("eu-2021", ["1.1", "9.2", "34.1", "39.2"], poor, census.schema)
    text = str(caught.value)
    assert "eu-mapping.toml does not have all" in text
    assert "[breakdown.AGE.H] is missing; the mapping has only AGE.L, which is coarser" in text
    assert "[breakdown.YAE.H] is missing. Needed by 9.2." in text
    assert "[breakdown.UFS or NOR] is missing. Needed by 39.2." in text
    assert "[units.families] is missing" in text
    assert "'!'" in text
    (table,) = programme_tables("eu-2021", ["2.2"], poor, census.schema)
    assert isinstance(table, PublishableTable)
    assert [len(axis) for axis in table.axes[1:]] == [3, 7, 10, 6]


def test_a_grid_without_employment_has_12_figures(census: Census, mapping: Mapping) -> None:
    kept = tuple(
        breakdown for breakdown in mapping.breakdowns if breakdown.breakdown.name != "CAS.H"
    )
    (grid,) = programme_tables(
        "eu-2021", ["grid"], replace(mapping, breakdowns=kept), census.schema
    )
    assert isinstance(grid, StatisticsTable)
    assert len(grid.statistics) == 12
    with pytest.raises(SpecError, match=r"\[grid\] is missing"):
        programme_tables("eu-2021", ["grid"], replace(mapping, grid=None), census.schema)
    with pytest.raises(SpecError, match=r"\[geography\] is missing"):
        programme_tables("eu-2021", ["1.1"], replace(mapping, geography=None), census.schema)


def test_two_breakdowns_of_a_table_need_two_variables(census: Census, mapping: Mapping) -> None:
    birth, citizens = mapping.breakdown("POB.L"), mapping.breakdown("COC.L")
    assert birth is not None
    assert citizens is not None
    same = replace(citizens, variable=birth.variable, leaves=birth.leaves)
    kept = [breakdown for breakdown in mapping.breakdowns if breakdown.breakdown.name != "COC.H"]
    with pytest.raises(SpecError, match=r"COC.L and POB.L are both made from 'birthplace'"):
        programme_tables(
            "eu-2021", ["18.3"], replace(mapping, breakdowns=(*kept, same)), census.schema
        )


def test_the_plan_of_the_demo_is_a_document() -> None:
    plan = parse_toml(Path("eu-plan.toml"), eu_plan("census.store", "country/eu-mapping.toml"))
    assert plan.data["programme"] == "eu-2021"
    assert plan.data["mapping"] == "country/eu-mapping.toml"


def test_long_lists_of_codes_stand_in_files(files: DemoFiles) -> None:
    with (files.folder / "codes" / "eu_birthplace.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"code": "NATIVE", "to": "1"} in rows
