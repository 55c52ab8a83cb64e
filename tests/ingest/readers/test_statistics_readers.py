"""SPSS, Stata and SAS: one reader, so each property is shown for the formats that can show it."""

from __future__ import annotations

import struct
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import InputError
from sdcensus.ingest.readers import ColumnKind, Reader, SourceColumn, statfiles
from sdcensus.model.schema.source import FileFormat
from tests.ingest.readers.helpers import opened, refusal, whole
from tests.ingest.readers.writers import write_dta, write_sas7bcat, write_sas7bdat, write_sav

DAY = 86_400.0
#: SPSS counts seconds from the day before the Gregorian calendar, the others from 1960 on.
TO_1960 = (date(1960, 1, 1) - date(1582, 10, 14)).days * DAY
SEX = [1.0, 2.0, None, 9.0]
WEIGHT = [1.5, None, -2.25, 3.0]
NAME = ["Ana", "José Müller", "", "Zoë"]
BORN = [0.0, 10_000.0, None, -1.0]
BORN_TEXT = ["1960-01-01", "1987-05-19", None, "1959-12-31"]


def _spss(folder: Path) -> Path:
    born = [None if day is None else TO_1960 + day * DAY for day in BORN]
    columns: dict[str, Any] = {"sex": SEX, "weight": WEIGHT, "name": NAME, "born": born}
    labels = {"sex": "Sex of the person"}
    codes = {"sex": {1.0: "Male", 2.0: "Female", 9.0: "Not stated"}}
    return write_sav(
        folder / "p.sav",
        columns,
        labels=labels,
        value_labels=codes,
        missing={"sex": [9.0]},
        dates=["born"],
    )


def _stata(folder: Path) -> Path:
    sex = [None if code is None else int(code) for code in SEX]
    columns: dict[str, Any] = {
        "sex": ("byte", sex),
        "weight": ("double", WEIGHT),
        "name": ("str20", NAME),
        "born": ("long", [None if day is None else int(day) for day in BORN]),
    }
    return write_dta(
        folder / "p.dta",
        columns,
        labels={"sex": "Sex of the person"},
        value_labels={"sex": {1: "Male", 2: "Female", 9: "Not stated"}},
        formats={"born": "%td"},
    )


def _sas(folder: Path) -> Path:
    write_sas7bcat(
        folder / "formats.sas7bcat",
        {"SEXF": {1.0: "Male", 2.0: "Female", 9.0: "Not stated"}, "OTHER": {-1.0: "x"}},
    )
    return write_sas7bdat(
        folder / "p.sas7bdat",
        {"sex": SEX, "weight": WEIGHT, "name": NAME, "born": BORN},
        labels={"sex": "Sex of the person"},
        formats={"born": "DATE", "sex": "SEXF"},
    )


WRITERS = {FileFormat.SPSS: _spss, FileFormat.STATA: _stata, FileFormat.SAS: _sas}


@pytest.fixture(params=list(WRITERS), ids=str)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return WRITERS[request.param](tmp_path)


def _column(reader: Reader, name: str) -> SourceColumn:
    return next(column for column in reader.columns() if column.name == name)


def test_numbers_text_and_dates(file: Path) -> None:
    reader = opened(file)
    assert reader.rows() == 4
    assert [(column.name, column.kind) for column in reader.columns()] == [
        ("sex", ColumnKind.INTEGER),
        ("weight", ColumnKind.DECIMAL),
        ("name", ColumnKind.TEXT),
        ("born", ColumnKind.TEXT),
    ]
    assert whole(reader) == {
        "sex": [1, 2, None, 9],
        "weight": WEIGHT,
        "name": ["Ana", "José Müller", None, "Zoë"],
        "born": BORN_TEXT,
    }


def test_labels_are_offered_as_a_code_list(file: Path) -> None:
    sex = _column(opened(file), "sex")
    assert sex.label == "Sex of the person"
    assert sex.value_labels == (("1", "Male"), ("2", "Female"), ("9", "Not stated"))
    assert _column(opened(file), "weight").value_labels == ()


@pytest.mark.parametrize("values", [1, 3, 7, 8_000_000])
def test_reading_in_pieces_gives_the_same(
    file: Path, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statfiles, "_VALUES_PER_READ", values)
    assert whole(opened(file), ["born", "sex"]) == {"born": BORN_TEXT, "sex": [1, 2, None, 9]}
    assert whole(opened(file), ["weight"], rows=1) == {"weight": WEIGHT}
    assert _column(opened(file), "sex").kind is ColumnKind.INTEGER


def test_a_fraction_in_the_last_piece_makes_the_whole_column_decimal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statfiles, "_VALUES_PER_READ", 2)
    path = write_sav(tmp_path / "p.sav", {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 0.5]})
    assert whole(opened(path)) == {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 0.5]}


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    first = write_sav(tmp_path / "one.sav", {"a": [1.0], "t": ["x"]})
    second = write_sav(tmp_path / "two.sav", {"a": [2.5], "t": ["yy"]})
    reader = opened(first, second)
    assert reader.rows() == 2
    assert whole(reader) == {"a": [1.0, 2.5], "t": ["x", "yy"]}
    other = write_sav(tmp_path / "three.sav", {"b": [2.5], "t": ["yy"]})
    assert "lacks 'a'" in refusal(first, other)
    other = write_sav(tmp_path / "four.sav", {"a": ["2"], "t": ["yy"]})
    assert "text in some and a number in others" in refusal(first, other)


def test_user_missing_values_of_spss_stay_codes_and_are_listed(tmp_path: Path) -> None:
    path = write_sav(
        tmp_path / "p.sav",
        {
            "sex": [1.0, 9.0, 8.0],
            "age": [30.0, 998.0, -1.0],
            "rent": [10.0, 99_999.0, 5.0],
            "t": ["A", "X", "B"],
        },
        value_labels={"rent": {10.0: "ten", 99_999.0: "Refused"}, "t": {"X": "None"}},
        missing={"sex": [8.0, 9.0], "age": [-1.0], "t": ["X"]},
        missing_range={"age": (997.0, 999.0), "rent": (50_000.0, 1e15)},
    )
    reader = opened(path)
    assert whole(reader) == {
        "sex": [1, 9, 8],
        "age": [30, 998, -1],
        "rent": [10, 99_999, 5],
        "t": ["A", "X", "B"],
    }
    assert sorted(_column(reader, "sex").missing) == ["8", "9"]
    assert sorted(_column(reader, "age").missing) == ["-1", "997", "998", "999"]
    assert _column(reader, "rent").missing == ("99999",)
    assert _column(reader, "t").missing == ("X",)
    assert _column(reader, "t").value_labels == (("X", "None"),)


def test_a_date_can_be_a_missing_value(tmp_path: Path) -> None:
    path = write_sav(
        tmp_path / "p.sav",
        {"born": [TO_1960, TO_1960 + DAY]},
        missing={"born": [TO_1960 + DAY]},
        dates=["born"],
    )
    reader = opened(path)
    assert whole(reader) == {"born": ["1960-01-01", "1960-01-02"]}
    assert _column(reader, "born").missing == ("1960-01-02",)


def test_extended_missing_values_of_stata_are_codes_only_where_they_have_labels(
    tmp_path: Path,
) -> None:
    path = write_dta(
        tmp_path / "p.dta",
        {
            "sex": ("byte", [1, "a", "b", None]),
            "work": ("double", [2.0, "a", "z", 0.5]),
            "only": ("int", ["c", 3, None, "d"]),
            "born": ("long", [0, "a", None, 1]),
        },
        value_labels={"sex": {1: "Male", "a": "Refused"}, "only": {"c": "Lost"}},
        formats={"born": "%td"},
    )
    reader = opened(path)
    assert whole(reader) == {
        "sex": ["1", ".a", None, None],
        "work": [2.0, None, None, 0.5],
        "only": [".c", "3", None, None],
        "born": ["1960-01-01", None, None, "1960-01-02"],
    }
    sex = _column(reader, "sex")
    assert sex.kind is ColumnKind.TEXT
    assert sex.value_labels == (("1", "Male"), (".a", "Refused"))
    assert sex.missing == (".a",)
    assert _column(reader, "only").value_labels == ((".c", "Lost"),)
    assert _column(reader, "work").missing == ()


def test_times_of_day_and_moments_are_iso_text(tmp_path: Path) -> None:
    path = write_sav(tmp_path / "p.sav", {"at": [TO_1960 + 3661.0, None]}, datetimes=["at"])
    assert whole(opened(path)) == {"at": ["1960-01-01T01:01:01", None]}
    path = write_dta(
        tmp_path / "p.dta", {"at": ("double", [3_661_000.0, None])}, formats={"at": "%tc"}
    )
    assert whole(opened(path)) == {"at": ["1960-01-01T01:01:01", None]}


def test_a_column_without_values_is_null_throughout(tmp_path: Path) -> None:
    path = write_sav(tmp_path / "p.sav", {"x": [None, None], "y": [1.0, 2.0]})
    assert whole(opened(path)) == {"x": [None, None], "y": [1, 2]}


def test_sas_data_of_several_pages_and_without_a_catalog(tmp_path: Path) -> None:
    numbers = [float(number) for number in range(2000)]
    path = write_sas7bdat(tmp_path / "p.sas7bdat", {"n": numbers, "t": ["ab"] * 2000})
    reader = opened(path)
    assert whole(reader) == {"n": list(range(2000)), "t": ["ab"] * 2000}
    assert _column(reader, "n").value_labels == ()


def test_a_catalog_with_the_name_of_the_file_comes_first(tmp_path: Path) -> None:
    path = _sas(tmp_path)
    write_sas7bcat(tmp_path / "p.sas7bcat", {"SEXF": {1.0: "Hombre"}})
    assert _column(opened(path), "sex").value_labels == (("1", "Hombre"),)


def test_a_damaged_catalog_is_named(tmp_path: Path) -> None:
    path = _sas(tmp_path)
    (tmp_path / "formats.sas7bcat").write_bytes(b"nothing of the kind")
    assert "formats.sas7bcat" in refusal(path)


def test_an_unknown_column_is_refused_with_the_nearest_names(file: Path) -> None:
    assert "'weight'" in refusal(file, columns=["wieght"])


@pytest.mark.parametrize("kept", [0.05, 0.3, 0.6, 0.8, 0.97])
def test_a_file_that_is_cut_off_is_refused_or_still_holds_all_rows(file: Path, kept: float) -> None:
    content = file.read_bytes()
    complete = whole(opened(file))
    file.write_bytes(content[: int(len(content) * kept)])
    # What comes after the rows, such as labels, may be missing; rows may not.
    try:
        found = whole(opened(file))
    except InputError:
        assert file.name in refusal(file)
    else:
        assert found == complete


def test_rows_that_are_missing_at_the_end_are_noticed(tmp_path: Path) -> None:
    numbers = [float(number) for number in range(3000)]
    for path in (
        write_sav(tmp_path / "p.sav", {"n": numbers}),
        write_dta(tmp_path / "p.dta", {"n": ("double", numbers)}),
        write_sas7bdat(tmp_path / "p.sas7bdat", {"n": numbers}),
    ):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        assert path.name in refusal(path)


@pytest.mark.parametrize("ending", ["sav", "dta", "sas7bdat"])
def test_garbage_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"p.{ending}"
    for content in (b"garbage", b"a,b\n1,2\n" * 50, bytes(range(256)) * 20, b"\0" * 5000):
        path.write_bytes(content)
        assert path.name in refusal(path)


def _cell(name: str, place: int) -> int:
    """Where a field of the record of a variable of ``_spss`` stands."""
    label = 24 * (name != "sex") + 8 * (name != "sex")
    return 176 + 32 * ["sex", "weight", "name"].index(name) + label + place


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (_cell("sex", 4), 8),  # a number that says it is text
        (_cell("sex", 4), 14_592),  # a text wider than any
        (_cell("name", 4), 100),  # a text without the parts that it needs
        (_cell("name", 4), 0),  # parts without a text
        (_cell("sex", 12), 77),  # more missing values than there can be
        (64, 9),  # an order of bytes that there is not
    ],
)
def test_an_spss_file_with_a_damaged_head_never_reaches_the_library(
    tmp_path: Path, at: int, value: int
) -> None:
    path = _spss(tmp_path)
    content = bytearray(path.read_bytes())
    content[at : at + 4] = struct.pack("<i", value)
    path.write_bytes(bytes(content))
    assert "the head of the file is damaged" in refusal(path)


@pytest.mark.parametrize("index", [0, 3, 4, 111, -1])
def test_spss_labels_for_variables_that_cannot_have_them_are_refused(
    tmp_path: Path, index: int
) -> None:
    path = _spss(tmp_path)
    content = path.read_bytes()
    labelled = struct.pack("<iii", 4, 1, 1)
    assert content.count(labelled) == 1
    path.write_bytes(content.replace(labelled, struct.pack("<iii", 4, 1, index)))
    assert "the head of the file is damaged" in refusal(path)


def test_a_head_without_a_body_is_refused(tmp_path: Path) -> None:
    for name, head in (
        ("p.sav", b"$FL2"),
        ("p.dta", b"<stata_dta><header><release>118"),
        ("p.sas7bdat", bytes.fromhex("000000000000000000000000c2ea8160b31411cf")),
    ):
        path = tmp_path / name
        path.write_bytes(head)
        assert name in refusal(path)
