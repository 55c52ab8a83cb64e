"""One publication in all formats and two languages, each read by a reader of somebody else's.

Every number, code and sign is compared with the csv file, which the csv module reads.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from jsonstat_validator import validate_jsonstat
from pyaxis import pyaxis
from pyjstat import pyjstat
from pysdmx.io import get_datasets
from pysdmx.io.pd import PandasDataset
from python_calamine import CalamineWorkbook

from sdcensus.demo import make_country, write_country
from sdcensus.model.cube.cube import Cube
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.published.table import Table
from sdcensus.session.census.census import load, open_store
from sdcensus.session.protect.table import build_method, protect_table
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.session.publish.plans import Office

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

LANGUAGES = ("en", "es")
PLAN = """
store = "census.store"
programme = "eu-2021"
tables = ["1.4", "8.1", "35.2", "40.2", "grid"]
mapping = "country/eu-mapping.toml"

[[table]]
name = "areas.v1.0"
rows = ["ed@parish+district"]

[[table]]
name = "everybody"

[[table]]
name = "marital"
rows = ["ed@parish+district"]
columns = ["sex", "marital_status"]

[[table]]
name = "eight"
rows = ["ed@region", "sex-total"]
columns = [
  "age@broad-total", "health_insurance-total", "internet-total", "computer-total",
  "household_status@private-total", "birthplace@origin-total",
]

[[table]]
name = "insured"
rows = ["ed"]
columns = ["age@five_year"]
measure = "share(health_insurance == '1')"

[[indicator]]
name = "middle"
kind = "median-age"
by = ["ed@parish"]

[office]
name = { en = "Office, of \\"Statistics\\"", es = "Oficina de Estadística" }

[protect]
method = "cell-key"
strength = "no-ones-and-twos"

[output]
folder = "published"
date = 2026-03-01
formats = ["csv", "parquet", "xlsx", "json-stat", "sdmx-csv", "px"]
languages = ["en", "es"]
labels = true
"""


@dataclass(frozen=True)
class Read:
    """A table as its csv file has it."""

    folder: Path
    name: str

    @cached_property
    def about(self) -> dict[str, Any]:
        text = (self.folder / f"{self.name}.about.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        with (self.folder / f"{self.name}.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def columns(self) -> list[str]:
        return [one["column"] for one in self.about["axes"]]

    def words(self, column: str) -> list[str]:
        return [row[column] for row in self.rows]

    @cached_property
    def numbers(self) -> list[float | None]:
        return [float(word) if word else None for word in self.words(self.about["values"])]

    @property
    def signs(self) -> list[str]:
        return [row.get("flag", "") for row in self.rows]

    def same(self, found: Any) -> None:
        """Refuse other numbers than those of the csv file."""
        read = [None if pd.isna(one) else float(one) for one in found]
        assert read == self.numbers, self.name


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    folder = tmp_path_factory.mktemp("formats")
    files = write_country(folder / "country", country=make_country(900), seed=5)
    load(files.schema, folder / "census.store", secret=SECRET)
    write_secret(SECRET, folder / "office.secret")
    made = Office(folder)
    made.plan.write_text(PLAN, encoding="utf-8", newline="")
    made.publish(accept_risk="Ana Ruiz", reason="a test of formats")
    return made


@pytest.fixture(scope="module")
def tables(office: Office) -> dict[str, Read]:
    ending = ".about.json"
    names = [path.name.removesuffix(ending) for path in office.published.glob(f"*{ending}")]
    return {name: Read(office.published, name) for name in sorted(names)}


def test_every_cell_stands_once_in_the_order_of_its_codes(tables: dict[str, Read]) -> None:
    assert len(tables) == 11
    for table in tables.values():
        codes = [[code["code"] for code in axis["codes"]] for axis in table.about["axes"]]
        cells = list(zip(*(table.words(column) for column in table.columns), strict=True))
        assert (cells or [()]) == list(itertools.product(*codes))
    assert {sign for table in tables.values() for sign in table.signs} >= {"", "populated", "( )"}


def test_parquet(tables: dict[str, Read]) -> None:
    for table in tables.values():
        read = pq.read_table(table.folder / f"{table.name}.parquet")
        assert read.column_names == list(table.rows[0])
        table.same(read.column(table.about["values"]).to_pylist())
        for name in set(read.column_names) - {table.about["values"]}:
            assert read.column(name).to_pylist() == table.words(name)


def test_json_stat(tables: dict[str, Read]) -> None:
    for one, language in itertools.product(tables.values(), LANGUAGES):
        text = (one.folder / f"{one.name}.{language}.json").read_text(encoding="utf-8")
        raw = json.loads(text)
        assert validate_jsonstat(raw) is True
        read = pyjstat.Dataset.read(text).write("dataframe", naming="id")
        one.same(pd.to_numeric(read["value"]))
        for column in one.columns:
            assert read[column].tolist() == one.words(column)
            category = raw["dimension"][column]["category"]["label"]
            labels = [category[code] for code in one.words(column)]
            assert labels == one.words(f"{column}_label_{language}")
        signs = raw.get("status", {})
        assert [signs.get(str(at), "") for at in range(len(one.rows))] == one.signs


def test_sdmx(tables: dict[str, Read]) -> None:
    for table in tables.values():
        data, structure = (table.folder / f"{table.name}.sdmx.{kind}" for kind in ("csv", "xml"))
        (found,) = get_datasets(str(data), str(structure))
        assert isinstance(found, PandasDataset)
        table.same(pd.to_numeric(found.data["OBS_VALUE"]))
        with data.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for column in table.columns:
            names = [row[column.replace(".", "_")] for row in rows]
            assert names == [re.sub("[.+]", "_", code) for code in table.words(column)]
        marked = [row.get("POPULATED", "") == "1" for row in rows]
        assert marked == [sign == "populated" for sign in table.signs]


def test_px(tables: dict[str, Read], capsys: pytest.CaptureFixture[str]) -> None:
    for one, language in itertools.product(tables.values(), LANGUAGES):
        read = pyaxis.parse(str(one.folder / f"{one.name}.px"), encoding="utf-8", lang=language)
        values = [str(value).strip('"') for value in read["DATA"]["DATA"]]
        one.same([None if set(value) == {"."} else value for value in values])
    capsys.readouterr()  # the reader talks


def test_xlsx(tables: dict[str, Read]) -> None:
    for one, language in itertools.product(tables.values(), LANGUAGES):
        book = CalamineWorkbook.from_path(one.folder / f"{one.name}.{language}.xlsx")
        cells = [
            row
            for name in book.sheet_names[:-1]
            for row in book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        ]
        shown = sorted(value for row in cells for value in _numbers(row))
        assert shown == sorted(value for value in one.numbers if value is not None)
    marital = tables["marital"]
    book = CalamineWorkbook.from_path(marital.folder / "marital.es.xlsx")
    rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    by_area = {str(row[0]): list(_numbers(row)) for row in rows}
    for area, group in itertools.groupby(marital.rows, key=lambda row: row["ed"]):
        assert by_area[area] == [float(row["published"]) for row in group]


def _numbers(row: list[Any]) -> Iterator[float]:
    return (one for one in row if type(one) in (int, float))


def test_populated_squares_are_those_with_people_whatever_is_published(
    office: Office, tables: dict[str, Read]
) -> None:
    census = open_store(office.store)
    cube = census.tabulate("ed_grid")
    assert isinstance(cube, Cube)
    axis = cube.spec.axes[0]
    there = {f"ID_{code.code}" for code, count in zip(axis.codes, cube.count, strict=True) if count}
    grid = tables["eu-2021-grid"].rows
    flagged = {row["GEO.G"] for row in grid if row["flag"] == "populated"}
    assert flagged == there - {"ID__T"}
    assert {row["STAT.G"] for row in grid if row["flag"]} == {"STAT.G.0"}
    # One or two people are published as 0, and still the square is populated.
    assert any(row["flag"] == "populated" and row["published"] == "0" for row in grid)


def test_the_same_people_have_the_same_number_everywhere(
    office: Office, tables: dict[str, Read]
) -> None:
    programme = {
        (row["GEO.H"], row["SEX"]): row["published"]
        for row in tables["eu-2021-8.1"].rows
        if row["COC.L"] == "0"
    }
    own = {
        (row["ed"], row["sex"].replace("_T", "0")): row["published"]
        for row in tables["marital"].rows
        if row["marital_status"] == "_T" and row["ed"] != "_T"
    }
    assert own.items() <= programme.items()
    nation = {
        (row["GEO.N"], row["SEX"]): row["published"]
        for row in tables["eu-2021-1.4"].rows
        if row["LMS.H"] == row["HST.H"] == "0"
    }
    assert nation.items() <= programme.items()
    (everybody,) = tables["everybody"].words("published")
    assert nation["ID", "0"] == everybody
    census = open_store(office.store)
    options = MethodOptions(strength="no-ones-and-twos")
    method = build_method("cell-key", census, options=options, secret=SECRET)
    alone = protect_table(census, census.spec("ed@parish", "sex"), method).table
    assert isinstance(alone, Table)
    areas, sexes = alone.spec.axes
    for at, area in enumerate(areas.codes[:-1]):
        for place, sex in enumerate(sexes.codes[:-1]):
            assert int(programme[area.code, sex.code]) == alone.published[at, place]
