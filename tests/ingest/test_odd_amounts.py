"""Amounts, owners and coordinates as files write them: read exactly, or named with what helps.

The same in a store and over files that are not loaded.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyreadstat import write_sav

from sdcensus.errors import DataProblems, InputError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.file_problems import Problem, ProblemKind
from sdcensus.model.secret import Secret
from sdcensus.report.load.blocks import Words
from sdcensus.report.load.content import findings
from sdcensus.session.census.census import Census, load, open_files, open_store
from tests.ingest.small_census import SECRET_BYTES

SCHEMA = """\
[census]
name = "Odd"
code = "ODD"
[files.household]
path = "households.csv"
entity = "household"
[entity.household]
id = ["hh"]
[variable.row]
file = "household"
range = [0, 99]
column = "hh"
[variable.rent]
continuous = true
decimals = 2
not_stated = ["99999", "-8.80"]
empty = "not_stated"
"""
SECRET = Secret(SECRET_BYTES)
NO_NUMBER, OUT = ProblemKind.NOT_A_NUMBER, ProblemKind.OUT_OF_RANGE
#: What is written, and what is kept of it in hundredths; nothing where it means no answer.
READ = {
    "-5": -500, "-0": 0, "+5": 500, "12e3": 1_200_000, "12E+3": 1_200_000, "1e-400": 0, ".5": 50,
    "5.": 500, "\t7": 700, "\u00a07 ": 700, "007": 700, "1.005": 100, "1.015": 102, "2.675": 268,
    "0.1250000000000000000000000000001": 13, "90071992547409.92": 1 << 53, "99998.99": 9_999_899,
    "99999": None, "99999.0": None, "99999.00": None, "9.9999e4": None, "-8.8": None,
    "-8.80": None, "": None, "  ": None, "99999.001": 9_999_900,
}  # fmt: skip
REFUSED = {
    **dict.fromkeys(
        ["1,234.50", "1.234,50", "1 234", "1\u00a0234", "1'234", "NaN", "inf", "-inf", "£500",
         "500 EUR", "\uff11\uff12", "1_000", "0x10", "--5", "5-", "(5)", "5%", "1/2", "'5",
         "5\u200b", "\u22125", "1.2.3", "1e5.5", "1e99999", "9" * 321, "true", "None", ".", "-"],
        NO_NUMBER,
    ),
    **dict.fromkeys(["90071992547409.93", "-9e15", "9.3e18", "1e400", "9" * 309], OUT),
}  # fmt: skip


def put(folder: Path, rows: list[str], *, schema: str = SCHEMA) -> Path:
    """The files of a census; the path of its schema."""
    folder.mkdir(exist_ok=True)
    text = "".join(f"{row}\n" for row in rows)
    (folder / "households.csv").write_text(text, encoding="utf-8", newline="\n")
    (folder / "schema.toml").write_text(schema, encoding="utf-8", newline="\n")
    return folder / "schema.toml"


def rents(values: list[str]) -> list[str]:
    return ["hh;rent", *(f'{at};"{value}"' for at, value in enumerate(values))]


def both(schema: Path, on_problem: str = "refuse") -> list[Census]:
    """The census of a store, and the one over its files."""
    store = schema.with_name("c.store")
    load(schema, store, secret=SECRET, on_problem=on_problem)
    return [open_store(store), open_files(schema, secret=SECRET, on_problem=on_problem)]


def refusals(schema: Path, measure: str) -> list[list[Problem]]:
    """What is wrong with the files: what a load says, and what is said of files not loaded."""
    with pytest.raises(DataProblems) as loading:
        load(schema, schema.with_name("c.store"), secret=SECRET)
    assert not schema.with_name("c.store").exists()
    with pytest.raises(DataProblems) as reading:
        open_files(schema, secret=SECRET).tabulate(of="households", measure=measure)
    return [problems_of(error.value) for error in (loading, reading)]


def problems_of(error: DataProblems) -> list[Problem]:
    return [problem for problem in error.problems if isinstance(problem, Problem)]


def sums(census: Census, by: str, measure: str) -> list[int]:
    cube = census.tabulate(f"{by}-total", of="households", measure=measure)
    assert isinstance(cube, Cube)
    assert cube.values is not None
    amounts: list[int] = cube.values.sums[0][1].tolist()
    return amounts


def test_amounts_are_read_exactly_whatever_their_spelling(tmp_path: Path) -> None:
    schema = put(tmp_path, rents(list(READ)))
    expected = [amount or 0 for amount in READ.values()]
    for census in both(schema):
        assert sums(census, "row", "sum(rent)")[: len(expected)] == expected
        stated = census.tabulate("row-total", "rent-total", of="households")
        assert isinstance(stated, Cube)
        with_amount = stated.count[: len(expected), 0].tolist()
        assert with_amount == [int(amount is not None) for amount in READ.values()]


def test_what_is_no_amount_is_refused_with_its_row_and_never_shown(tmp_path: Path) -> None:
    values = [*REFUSED, "700.25"]
    schema = put(tmp_path, rents(values))
    for problems in refusals(schema, "sum(rent)"):
        assert {problem.kind: problem.records for problem in problems} == {
            kind: list(REFUSED.values()).count(kind) for kind in (NO_NUMBER, OUT)
        }
        for problem in problems:
            kinds = [REFUSED.get(value) for value in values]
            first = [at + 2 for at, kind in enumerate(kinds) if kind is problem.kind]
            assert list(problem.rows) == first[:5]
            assert not any(value in str(problem) for value in REFUSED if len(value) > 4)
    for census in both(schema, "missing"):
        assert sums(census, "row", "sum(rent)")[: len(values)] == [0] * len(REFUSED) + [70_025]
        stated = census.tabulate("rent-total", of="households")
        assert isinstance(stated, Cube)
        assert stated.count[0] == 1


@pytest.mark.parametrize(
    ("value", "kind"),
    [("-5.25", OUT), ("90071992547409.93", OUT), ("1,5", NO_NUMBER), ("NA", NO_NUMBER)],
)
def test_files_that_are_not_loaded_have_the_advice_of_a_load(
    tmp_path: Path, value: str, kind: ProblemKind
) -> None:
    levels = '[variable.rent.levels]\nclass = "0,500+"\n'
    loading, reading = refusals(
        put(tmp_path, rents([value, "7"]), schema=SCHEMA + levels), "sum(rent)"
    )
    assert [problem.kind for problem in loading] == [kind]
    assert [str(problem) for problem in loading] == [str(problem) for problem in reading]


def test_a_missing_code_is_found_in_a_file_with_decimal_commas(tmp_path: Path) -> None:
    schema = SCHEMA.replace('entity = "household"', 'entity = "household"\ndecimal = ","', 1)
    for census in both(put(tmp_path, rents(["-8,8", "-8,80", "8,80"]), schema=schema)):
        assert sums(census, "row", "sum(rent)")[:3] == [0, 0, 880]


OWNED = SCHEMA.replace("decimals = 2\n", 'decimals = 2\nowner = "owner"\n')


def test_only_amounts_need_an_owner(tmp_path: Path) -> None:
    """Who has no land is no holding without an owner."""
    rows = ["hh,rent,owner", "1,5,A", "2,,", "3,0,", "4,99999,  ", "5,7,B"]
    for census in both(put(tmp_path, rows, schema=OWNED)):
        assert sums(census, "row", "sum(rent)")[1:6] == [500, 0, 0, 0, 700]
    for problems in refusals(put(tmp_path / "more", [*rows, "6,7,"], schema=OWNED), "sum(rent)"):
        assert [(problem.kind, problem.rows) for problem in problems] == [
            (ProblemKind.EMPTY_OWNER, (7,))
        ]


GRID = (
    SCHEMA
    + """\
[variable.area]
role = "geography"
codes = { A = "Anse" }
grid = { x = "x", y = "y", epsg = 3035, cell = 1000, extent = [0, 0, 3000, 2000] }
"""
)
#: Coordinates, and the square in which they lie; the last one is that of none.
POINTS = {
    ("0", "0"): 0, ("+999.999", "5"): 0, ("1e3", " 5 "): 1, ("2999.9", "1999.9"): 5,
    ("", "5"): 6, ("5", ""): 6, ("", ""): 6, ("1999.99999999999999999", "0"): 2,
}  # fmt: skip
NO_POINTS = {
    ("-0.1", "5"): OUT, ("3000", "5"): OUT, ("5", "2000"): OUT, ("1e999", "5"): OUT,
    ("NaN", "5"): NO_NUMBER, ("abc", "5"): NO_NUMBER, ("1,5", "5"): NO_NUMBER,
    ("1 000", "5"): NO_NUMBER,
}  # fmt: skip


def points(pairs: list[tuple[str, str]]) -> list[str]:
    rows = [f'{at};1;A;"{x}";"{y}"' for at, (x, y) in enumerate(pairs)]
    return ["hh;rent;area;x;y", *rows]


def test_a_point_lies_in_the_same_square_in_a_store_and_in_its_files(tmp_path: Path) -> None:
    for census in both(put(tmp_path, points(list(POINTS)), schema=GRID)):
        cube = census.tabulate("row-total", "area_grid-total", of="households")
        assert isinstance(cube, Cube)
        assert np.argmax(cube.count, axis=1)[: len(POINTS)].tolist() == list(POINTS.values())


@pytest.mark.parametrize("point", NO_POINTS, ids=str)
def test_what_is_no_point_is_refused_with_what_helps(
    tmp_path: Path, point: tuple[str, str]
) -> None:
    schema = put(tmp_path, points([("5", "5"), point]), schema=GRID)
    helps = "epsg_of_coordinates" if NO_POINTS[point] is OUT else "the field empty|decimal = "
    with pytest.raises(DataProblems, match=helps) as loading:
        load(schema, tmp_path / "c.store", secret=SECRET)
    with pytest.raises(DataProblems, match=helps) as reading:
        open_files(schema, secret=SECRET).tabulate("area_grid", of="households")
    for error in (loading, reading):
        assert [(problem.kind, problem.rows) for problem in problems_of(error.value)] == [
            (NO_POINTS[point], (3,))
        ]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([float("nan"), 1.5, float("nan")]), [0, 150, 0]),
        (pa.array([0.1, 1.005, 2.675]), [10, 100, 268]),
        (pa.array([0.1, 16777217.0, 1.5], pa.float32()), [10, 1677721600, 150]),
        (pa.array([5, 6, 7], pa.uint64()), [500, 600, 700]),
        (pa.array([True, False, True]), [100, 0, 100]),
        (pa.array([None, None, None], pa.null()), [0, 0, 0]),
    ],
    ids=["nan", "float64", "float32", "uint64", "boolean", "null"],
)
def test_columns_of_parquet_files_are_the_same_amounts(
    tmp_path: Path, column: pa.Array, expected: list[int]
) -> None:
    schema = put(tmp_path, [], schema=SCHEMA.replace(".csv", ".parquet"))
    table = pa.table({"hh": pa.array(["1", "2", "3"]), "rent": column})
    parquet.write_table(table, tmp_path / "households.parquet")
    for census in both(schema):
        assert sums(census, "row", "sum(rent)")[1:4] == expected


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1 << 63] * 3, pa.uint64()),
        pa.array([1, 2, 3], pa.duration("us")),
        pa.array([[1], [2], [3]]),
        pa.array([1, 2, 3], pa.date32()),
    ],
    ids=["unsigned", "duration", "lists", "dates"],
)
def test_columns_that_hold_no_amounts_are_refused(tmp_path: Path, column: pa.Array) -> None:
    schema = put(tmp_path, [], schema=SCHEMA.replace(".csv", ".parquet"))
    table = pa.table({"hh": pa.array(["1", "2", "3"]), "rent": column})
    parquet.write_table(table, tmp_path / "households.parquet")
    with pytest.raises(InputError):
        load(schema, tmp_path / "c.store", secret=SECRET)
    with pytest.raises(InputError):
        open_files(schema, secret=SECRET).tabulate("row", of="households", measure="sum(rent)")


@pytest.mark.parametrize("declared", ['["99999"]', '["99999", "999"]'])
def test_amounts_that_a_file_declares_to_be_no_answer_are_not_added_up(
    tmp_path: Path, declared: str
) -> None:
    schema = SCHEMA.replace(".csv", ".sav").replace('["99999", "-8.80"]', declared)
    path = put(tmp_path, [], schema=schema)
    table = pa.table({"hh": ["1", "2", "3"], "rent": [5.0, 999.0, 7.5]}).to_pandas()
    write_sav(table, str(tmp_path / "households.sav"), missing_ranges={"rent": [999]})
    if "999" in declared.split('"'):
        load(path, tmp_path / "c.store", secret=SECRET)
        assert sums(open_store(tmp_path / "c.store"), "row", "sum(rent)")[1:4] == [500, 0, 750]
        return
    remedy = r'not_stated = \["99999", "999"\] in \[variable.rent\]'
    with pytest.raises(InputError, match=remedy):
        load(path, tmp_path / "c.store", secret=SECRET)


TWO_FILES = SCHEMA.replace('path = "households.csv"', 'path = ["a.csv", "b.csv"]').replace(
    'empty = "not_stated"\n', 'empty = "not_stated"\nunit = "euro per month"\n'
)


def notes(folder: Path, first: list[int], second: list[int], setting: str = "") -> list[str]:
    """What the report on a load of two files tells."""
    for file, amounts, start in (("a.csv", first, 0), ("b.csv", second, 50)):
        rows = "".join(f"{start + at},{amount}\n" for at, amount in enumerate(amounts))
        (folder / file).write_text(f"hh,rent\n{rows}", encoding="utf-8", newline="\n")
    report = load(put(folder, [], schema=TWO_FILES + setting), folder / "c.store", secret=SECRET)
    told = findings(report, Words("en"))
    return [note for note in told if "times as large" in note or "below 0" in note]


MONTHS = [900, 1000, 0, 1100, 1200, 800]
YEARS = [12 * amount for amount in MONTHS]


def test_a_unit_that_was_forgotten_is_told(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, MONTHS, YEARS)
    assert note.startswith("amounts of rent are about 12 times as large in b.csv as in a.csv")
    assert "file_units in [variable.rent]" in note


@pytest.mark.parametrize(
    ("second", "setting"),
    [
        ([3 * amount for amount in MONTHS], ""),  # a rich part of the country
        (YEARS[:4], ""),  # too few to say anything
        ([0] * 9, ""),
        (YEARS, 'file_units = { "b.csv" = { unit = "euro per year", scale = "1/12" } }\n'),
    ],
)
def test_files_in_one_unit_are_not_complained_of(
    tmp_path: Path, second: list[int], setting: str
) -> None:
    assert notes(tmp_path, MONTHS, second, setting) == []


def test_amounts_below_0_are_told_where_no_class_forbids_them(tmp_path: Path) -> None:
    assert "levels" in notes(tmp_path, [*MONTHS, -5], MONTHS)[0]
