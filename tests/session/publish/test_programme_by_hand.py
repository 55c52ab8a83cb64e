"""Hypercubes beside a count of the same files record by record, without any of the same code.

In the breakdowns of the regulation a code lies in another one if it begins with it (2.1.1 in 2.1
in 2), which is all that is used here.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from sdcensus.demo import DemoFiles, eu_mapping, make_country, write_country
from sdcensus.documents.mapping.document import read_mapping
from sdcensus.model.cube.cube import Cube
from sdcensus.model.secret import Secret
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.publish.products import PublishableTable, StatisticsTable
from sdcensus.session.publish.programme import open_programme, programme_tables

EU = open_programme("eu-2021")
Record = dict[str, str]
#: Of every kind of unit, with the breakdowns whose trees end at different depths.
TABLES = [
    *("1.2", "1.4", "7.1", "9.2", "13.1", "13.5", "2.3", "33.1", "34.1", "36.1", "37.1"),
    *("39.2", "39.3", "40.2", "41.1"),
]


class ByHand:
    """The files of a demo country as records with all that they are in."""

    def __init__(self, folder: Path) -> None:
        def read(name: str) -> list[Record]:
            with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
                return list(csv.DictReader(file))

        self.above: dict[str, dict[str, str]] = {}
        for path in (folder / "codes").glob("*.csv"):
            with path.open(encoding="utf-8", newline="") as file:
                rows = csv.DictReader(file)
                self.above[path.stem] = {row["code"]: row.get("parent", "") for row in rows}
        buildings = {(row["ed"], row["building_no"]): row for row in read("buildings")}
        self.dwellings = [
            buildings[row["ed"], row["building_no"]] | row for row in read("dwellings")
        ]
        homes = {(row["ed"], row["dwelling_no"]): row for row in self.dwellings}
        self.households = [homes[row["ed"], row["dwelling_no"]] | row for row in read("households")]
        houses = {(row["ed"], row["household_no"]): row for row in self.households}
        self.persons = [houses[row["ed"], row["household_no"]] | row for row in read("persons")]
        families = {
            (row["ed"], row["household_no"], row["family_no"]): row
            for row in self.persons
            if row["family_no"]
        }
        self.families = list(families.values())
        self.codes = {(row.breakdown, row.code): row.eu_code for row in eu_mapping()}
        self.variables = {row.breakdown: row.variable for row in eu_mapping()}

    def up(self, codes: str, code: str) -> Iterator[str]:
        """A code of the country and all above it."""
        while code:
            yield code
            code = self.above.get(codes, {}).get(code, "")

    def of(self, unit: str) -> list[Record]:
        def conventional(row: Record) -> bool:
            return "C" in self.up("living_quarters", row["living_quarters"])

        chosen: dict[str, tuple[list[Record], Callable[[Record], bool]]] = {
            "population": (self.persons, lambda _: True),
            "private_households": (self.households, lambda row: row["household_kind"] == "1"),
            "families": (self.families, lambda _: True),
            "conventional_dwellings": (self.dwellings, conventional),
            "occupied_conventional_dwellings": (
                self.dwellings,
                lambda row: conventional(row) and row["occupancy"] == "1",
            ),
            "living_quarters": (self.dwellings, lambda row: row["occupancy"] == "1"),
        }
        records, fits = chosen[unit]
        return [row for row in records if fits(row)]

    def held_by(self, breakdown: str, row: Record, codes: tuple[str, ...]) -> list[str]:
        """All codes of a breakdown that a record is in; none if it is outside."""
        if breakdown.startswith("GEO."):
            return [codes[0], *(one for one in self.up("areas", row["ed"]) if one in codes)]
        if breakdown == "LPW.L":  # a place in the country is in its district and region
            places = [one for one in self.up("areas", row["place_of_work"]) if one in codes]
            if row["place_of_work"] == "D00":
                places = ["1.unknown"]
            if places:
                return ["0", "1", *places]
            breakdown = "LPW.N"
        finest = next(
            one
            for one in (breakdown, *(f"{breakdown[:-2]}.{at}" for at in "HN"))
            if one in self.variables
        )
        variable = self.variables[finest]
        leaf = next(
            self.codes[finest, one]
            for one in self.up(variable, row[variable])
            if (finest, one) in self.codes
        )
        if not leaf:
            return []
        return [code for code in codes if code == "0" or f"{leaf}.".startswith(f"{code}.")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> DemoFiles:
    folder = tmp_path_factory.mktemp("by-hand")
    return write_country(folder / "country", country=make_country(1_200), seed=9)


@pytest.fixture(scope="module")
def census(files: DemoFiles) -> Census:
    store = files.folder.with_name("census.store")
    load(files.schema, store, secret=Secret(bytes(range(32))))
    return open_store(store)


@pytest.fixture(scope="module")
def by_hand(files: DemoFiles) -> ByHand:
    return ByHand(files.folder)


def test_hypercubes_are_what_a_count_by_hand_gives(
    files: DemoFiles, census: Census, by_hand: ByHand
) -> None:
    mapping = read_mapping(files.eu_mapping, EU, census.schema)
    for table in programme_tables("eu-2021", TABLES, mapping, census.schema):
        assert isinstance(table, PublishableTable)
        (cube,) = [
            hypercube for hypercube in EU.hypercubes if f"eu-2021-{hypercube.name}" == table.name
        ]
        expected: Counter[tuple[str, ...]] = Counter()
        for row in by_hand.of(cube.unit.name):
            held = [by_hand.held_by(axis.column, row, axis.codes) for axis in table.axes]
            expected.update(itertools.product(*held))
        counted = census.tabulate(table.spec)
        assert isinstance(counted, Cube)
        shown = counted.count[np.ix_(*(axis.positions for axis in table.axes))]
        cells = itertools.product(*(axis.codes for axis in table.axes))
        found = zip(cells, shown.reshape(-1).tolist(), strict=True)
        assert {cell: count for cell, count in found if count} == dict(expected), table.name
        assert expected


def test_figures_on_the_grid_are_what_a_count_by_hand_gives(
    files: DemoFiles, census: Census, by_hand: ByHand
) -> None:
    mapping = read_mapping(files.eu_mapping, EU, census.schema)
    (grid,) = programme_tables("eu-2021", ["grid"], mapping, census.schema)
    assert isinstance(grid, StatisticsTable)

    def born(row: Record) -> list[str]:
        return by_hand.held_by("POB.L", row, ("1", "2.1", "2.2"))

    def lived(row: Record) -> list[str]:
        return by_hand.held_by("ROY", row, ("1", "2.1", "2.2"))

    # The figures of (EU) 2018/1799, in its order.
    figures: list[Callable[[Record], bool]] = [
        lambda _: True,
        lambda row: row["sex"] == "1",
        lambda row: row["sex"] == "2",
        lambda row: int(row["age"]) < 15,
        lambda row: 15 <= int(row["age"]) < 65,
        lambda row: int(row["age"]) >= 65,
        lambda row: row["activity"] == "1",
        lambda row: "1" in born(row),
        lambda row: "2.1" in born(row),
        lambda row: "2.2" in born(row),
        lambda row: "1" in lived(row),
        lambda row: "2.1" in lived(row),
        lambda row: "2.2" in lived(row),
    ]
    for statistic, chosen in zip(grid.statistics, figures, strict=True):
        expected = Counter(
            f"ID_CRS3035RES1000m{_cell(row)}" for row in by_hand.persons if chosen(row)
        )
        cube = census.tabulate(statistic.spec)
        assert isinstance(cube, Cube)
        column = cube.count if cube.count.ndim == 1 else cube.count[:, statistic.position]
        found = zip(grid.areas.codes, column[grid.areas.positions].tolist(), strict=True)
        assert {cell: count for cell, count in found if count} == dict(expected), statistic.code


def _cell(row: Record) -> str:
    north, east = (int(row[one]) // 1000 * 1000 for one in ("northing", "easting"))
    return f"N{north}E{east}"
