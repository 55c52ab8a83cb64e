"""Loads of files as small offices have them: flat, half linked, with commas and odd numbers."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sdcensus.documents.schema.document import read_schema
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import DataProblems
from sdcensus.ingest.load import load_census
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.file_problems import OnProblem
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from tests.ingest.small_census import SECRET_BYTES

CENSUS = """\
[census]
name = "Flat census"
code = "FC"
[files.person]
path = "persons.csv"
entity = "person"
"""
IN_DWELLINGS = (
    CENSUS
    + """\
[files.dwelling]
path = "dwellings.csv"
entity = "dwelling"
[entity.person]
id = ["hh", "pn"]
within = "household"
[entity.household]
id = ["hh"]
within = "dwelling"
[entity.dwelling]
id = ["dw"]
[variable.rooms]
file = "dwelling"
codes = { 1 = "One", 2 = "Two" }
[variable.tenure]
file = "person"
entity = "household"
codes = { 1 = "Owned", 2 = "Rented" }
"""
)
DWELLINGS = "dw,rooms\nd1,1\nd2,2\n"


def load(
    folder: Path,
    schema: str,
    persons: str,
    *,
    households: str = "",
    dwellings: str = "",
    on_problem: OnProblem = OnProblem.REFUSE,
) -> CensusStore:
    folder.mkdir(exist_ok=True)
    texts = {"persons": persons, "households": households, "dwellings": dwellings}
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8", newline="\n")
    (folder / "schema.toml").write_text(schema, encoding="utf-8", newline="\n")
    out = folder / "census.store"
    load_census(
        read_schema(folder / "schema.toml"),
        out,
        secret=Secret(SECRET_BYTES),
        on_problem=on_problem,
    )
    return CensusStore.open(out)


def refused(folder: Path, schema: str, persons: str, *, dwellings: str = "") -> str:
    with pytest.raises(DataProblems) as caught:
        load(folder, schema, persons, dwellings=dwellings)
    return str(caught.value)


def table(store: CensusStore, *by: str, of: str = "persons") -> Cube:
    spec = TableSpec.build(store.schema, by, of=of)
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec))
    assert isinstance(cube, Cube)
    return cube


ORPHANS = "hh,pn,dw,tenure\n1,1,d1,1\n2,1,d9,1\n2,2,d9,1\n"


def test_a_derived_unit_whose_parent_does_not_exist_is_an_orphan(tmp_path: Path) -> None:
    text = refused(tmp_path, IN_DWELLINGS, ORPHANS, dwellings=DWELLINGS)
    assert "persons.csv: dw: no parent record in 1 record (row 3)" in text


def test_what_a_derived_orphan_would_inherit_is_not_stated(tmp_path: Path) -> None:
    store = load(tmp_path, IN_DWELLINGS, ORPHANS, dwellings=DWELLINGS, on_problem=OnProblem.MISSING)
    assert table(store, "rooms-total").count.tolist() == [1, 0, 2]
    assert table(store, "rooms-total", of="households").count.tolist() == [1, 0, 1]


def test_the_rows_of_a_derived_unit_must_name_one_parent(tmp_path: Path) -> None:
    """Else the order of the rows would decide in which dwelling a household is counted."""
    persons = "hh,pn,dw,tenure\n1,1,d1,1\n1,2,d2,1\n"
    text = refused(tmp_path, IN_DWELLINGS, persons, dwellings=DWELLINGS)
    assert "persons.csv: dw: differs within the unit in 1 record (row 3)" in text


def test_keys_from_content_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    """The link says something of a record, also where no variable is read from it."""
    schema = (
        CENSUS
        + """\
[files.household]
path = "households.csv"
entity = "household"
[entity.person]
from_content = true
within = "household"
[entity.household]
id = ["hh"]
[variable.sex]
file = "person"
codes = { 1 = "Male", 2 = "Female" }
[variable.area]
file = "household"
role = "geography"
codes = { A = "Anse", B = "Bay" }
"""
    )
    rows = ["1,1", "2,1", "3,1", "1,2", "2,2", "2,2"]
    cubes = [
        table(
            load(
                tmp_path / name,
                schema,
                "\n".join(["hh,sex", *order, ""]),
                households="hh,area\n1,A\n2,B\n3,B\n",
            ),
            "area",
            "sex",
        )
        for name, order in (("a", rows), ("b", rows[::-1]))
    ]
    assert cubes[0].key.tolist() == cubes[1].key.tolist()
    assert cubes[0].count.tolist() == cubes[1].count.tolist()


def test_an_id_that_is_a_negative_number_is_refused(tmp_path: Path) -> None:
    schema = (
        CENSUS.replace("persons.csv", "persons.parquet")
        + """\
[entity.person]
id = ["pn"]
[variable.pn]
role = "record-id"
width = 3
[variable.sex]
codes = { 1 = "Male" }
"""
    )
    people = pa.table({"pn": [7, -5], "sex": [1, 1]})
    parquet.write_table(people, tmp_path / "persons.parquet")
    text = refused(tmp_path, schema, "")
    assert "persons.parquet: pn: id that cannot be used in 1 record (row 2)" in text


ONE_FILE = (
    CENSUS
    + """\
[entity.person]
id = ["pn"]
[variable.sex]
codes = { 1 = "Male", 2 = "Female" }
"""
)


def test_two_variables_of_one_column_are_two_problems(tmp_path: Path) -> None:
    schema = f'{ONE_FILE}[variable.gender]\ncolumn = "sex"\ncodes = {{ 1 = "M", 2 = "F" }}\n'
    text = refused(tmp_path, schema, "pn,sex\n1,1\n2,7\n")
    assert "persons.csv: sex (sex): unknown code in 1 record (row 3)" in text
    assert "persons.csv: sex (gender): unknown code in 1 record (row 3)" in text


COMMAS = ONE_FILE.replace('entity = "person"\n', 'entity = "person"\ndecimal = ","\n', 1)


def test_a_point_is_no_decimal_mark_where_the_comma_is(tmp_path: Path) -> None:
    """1.234 is a thousand and more for those who write 0,5: no number is better than a wrong one"""
    schema = f"{COMMAS}[variable.income]\ncontinuous = true\n"
    text = refused(tmp_path, schema, "pn;sex;income\n1;1;12,5\n2;2;1.234\n3;2;1.234,50\n")
    assert "persons.csv: income: not a number in 2 records (rows 3, 4)" in text


def test_a_comma_in_a_code_is_no_decimal_mark(tmp_path: Path) -> None:
    schema = f'{COMMAS}[variable.answer]\ncodes = {{ "a,b" = "Both", a = "One" }}\n'
    store = load(tmp_path, schema, "pn;sex;answer\n1;1;a,b\n2;2,0;a\n3;2;a\n")
    assert table(store, "answer-total").count.tolist() == [1, 2]
    assert table(store, "sex-total").count.tolist() == [1, 2]


def test_coordinates_follow_the_decimal_mark(tmp_path: Path) -> None:
    schema = f"""{COMMAS}[variable.area]
role = "geography"
codes = {{ A = "Anse" }}
grid = {{ x = "x", y = "y", epsg = 3035, cell = 1000, extent = [0, 0, 2000, 2000] }}
"""
    rows = ["1;1;A;999,5;1000", "2;1;A;1e3;0,5", "3;1;A;;", "4;1;A;,5;,5"]
    store = load(tmp_path, schema, "\n".join(["pn;sex;area;x;y", *rows, ""]))
    assert table(store, "area_grid-total").count.tolist() == [1, 1, 1, 0, 1]


def test_a_coordinate_beyond_all_integers_is_out_of_range(tmp_path: Path) -> None:
    schema = f"""{ONE_FILE}[variable.area]
role = "geography"
codes = {{ A = "Anse" }}
grid = {{ x = "x", y = "y", epsg = 3035, cell = 1000, extent = [0, 0, 2000, 2000] }}
"""
    rows = [f"1,1,A,{'9' * 400},5", "2,1,A,5,-1e300", "3,1,A,5,five"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = refused(tmp_path, schema, "\n".join(["pn,sex,area,x,y", *rows, ""]))
    assert "persons.csv: x, y: out of range in 2 records (rows 2, 3)" in text
    assert "persons.csv: y: not a number in 1 record (row 4)" in text


@pytest.mark.parametrize(
    ("weight", "kind"),
    [
        ("0", "weight of 0"),
        ("0.00", "weight of 0"),
        ("-1", "weight below 0"),
        ("-0.5", "weight below 0"),
        ("0.004", "weight of 0"),
        ("", "empty weight"),
        ("many", "weight that cannot be used"),
        ("nan", "weight that cannot be used"),
        ("1e400", "weight too large"),
    ],
)
@pytest.mark.parametrize("on_problem", list(OnProblem))
def test_a_weight_that_is_none_is_always_refused(
    tmp_path: Path, weight: str, kind: str, on_problem: OnProblem
) -> None:
    """It was made 1, and stood in every weighted number: a record of nobody became one."""
    schema = f'{ONE_FILE}[variable.weight]\nrole = "weight"\ndecimals = 2\n'
    (tmp_path / "schema.toml").write_text(schema)
    (tmp_path / "persons.csv").write_text(f"pn,sex,weight\n1,1,1.5\n2,2,{weight}\n3,7,2\n")
    read = read_schema(tmp_path / "schema.toml")
    secret = Secret(SECRET_BYTES)
    with pytest.raises(DataProblems, match=rf"{kind} in 1 record \(row 3\)"):
        load_census(read, tmp_path / "store", secret=secret, on_problem=on_problem)
    assert not (tmp_path / "store").exists()
    engine = DuckdbEngine.over_files(read, secret, on_problem=on_problem.value)
    spec = TableSpec.build(engine.schema, ["sex"])
    with pytest.raises(DataProblems, match="a weight above 0"):
        engine.tabulate(Tabulate(spec=spec, weights=True))


def test_a_weight_that_is_kept_whole_is_taken(tmp_path: Path) -> None:
    schema = f'{ONE_FILE}[variable.weight]\nrole = "weight"\ndecimals = 3\n'
    store = load(tmp_path, schema, "pn,sex,weight\n1,1,1.5\n2,2,0.004\n")
    spec = TableSpec.build(store.schema, ["sex-total"])
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec, weights=True))
    assert isinstance(cube, Cube)
    assert cube.weight is not None
    assert cube.weight.tolist() == [1500, 4]
