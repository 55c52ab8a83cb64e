"""The examples in all formats are one census: the same counts and the same keys."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
import xlsxwriter
from pyarrow import parquet

import sdcensus as sc
from sdcensus.model.secret import Secret
from tests.docs.pages import EXAMPLES

SECRET = Secret(bytes(range(32)))
IN_FOLDERS = ("cspro", "fixed-width", "flat", "redatam")
Columns = Mapping[str, list[float]]


def tables(schema: Path, store: Path) -> list[Any]:
    """Counts, keys and weighted counts of two tables of a census."""
    sc.load(schema, store, secret=SECRET)
    census = sc.open_store(store)
    persons = census.tabulate("ed+parish", "sex", "age+broad", measure="weighted")
    households = census.tabulate("ed+parish", "tenure", of="households", measure="weighted")
    return [
        array
        for cube in (persons, households)
        for array in (cube.values.count, cube.values.key, cube.values.weight)
    ]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    store = tmp_path_factory.mktemp("expected") / "palm.store"
    return tables(EXAMPLES / "palm-cay" / "schema.toml", store)


def assert_same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("folder", IN_FOLDERS)
def test_text_formats_are_the_same_census(folder: str, expected: list[Any], tmp_path: Path) -> None:
    assert_same(tables(EXAMPLES / folder / "schema.toml", tmp_path / "palm.store"), expected)


def flat_columns() -> Columns:
    """The columns of the flat file as the numbers that statistics packages make of them."""
    text = (EXAMPLES / "flat" / "persons.csv").read_text(encoding="latin-1")
    rows = list(csv.DictReader(text.splitlines(), delimiter=";"))
    names = [name for name in rows[0] if name != "name"]
    return {name: [float(row[name].replace(",", ".")) for row in rows] for name in names}


def write_parquet(path: Path, columns: Columns) -> None:
    parquet.write_table(pa.table(dict(columns)), path)


def write_excel(path: Path, columns: Columns) -> None:
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("Persons")
    for at, (name, values) in enumerate(columns.items()):
        sheet.write_column(0, at, [name, *values])
    book.close()


def write_spss(path: Path, columns: Columns) -> None:
    pyreadstat.write_sav(pd.DataFrame(columns), path, missing_ranges={"sex": [9]})


def write_stata(path: Path, columns: Columns) -> None:
    pyreadstat.write_dta(pd.DataFrame(columns), path)


WRITERS: dict[str, Callable[[Path, Columns], None]] = {
    "persons.parquet": write_parquet,
    "persons.xlsx": write_excel,
    "persons.sav": write_spss,
    "persons.dta": write_stata,
}
WIDTHS = """
[variable.household_no]
role = "record-id"
width = 3

[variable.person_no]
role = "record-id"
width = 2
"""


@pytest.mark.parametrize("name", WRITERS)
def test_formats_with_numbers_are_the_same_census_once_widths_are_declared(
    name: str, expected: list[Any], tmp_path: Path
) -> None:
    WRITERS[name](tmp_path / name, flat_columns())
    lines = (EXAMPLES / "flat" / "schema.toml").read_text(encoding="utf-8").splitlines()
    csv_only = ("delimiter", "decimal =", "encoding")
    schema = "\n".join(line for line in lines if not line.startswith(csv_only))
    schema = schema.replace("persons.csv", name)
    schema = schema.replace('role = "geography"', 'role = "geography"\nwidth = 4')
    schema = schema.replace("../palm-cay", (EXAMPLES / "palm-cay").as_posix())
    path = tmp_path / "schema.toml"
    path.write_text(schema, encoding="utf-8", newline="\n")
    with pytest.raises(sc.SdcensusError, match="width"):
        tables(path, tmp_path / "palm.store")
    path.write_text(schema + WIDTHS, encoding="utf-8", newline="\n")
    assert_same(tables(path, tmp_path / "palm.store"), expected)
