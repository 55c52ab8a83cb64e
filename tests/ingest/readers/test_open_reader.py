"""What holds for every format."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import xlsxwriter
from pyarrow import parquet

from sdcensus.errors import InputError, MissingExtra
from sdcensus.ingest.readers import open_reader
from sdcensus.model.schema.source import FileFormat, FileSource
from tests.ingest.readers.helpers import refusal, source, whole
from tests.ingest.readers.writers import write_dta, write_sas7bdat, write_sav

ROWS: dict[str, Any] = {
    "ed": ["A1", "B2", None],
    "age": ["37", None, "9"],
    "name": ["Ana", "José", "Zoë"],
}
NUMBERS = [37.0, None, 9.0]


def _csv(folder: Path) -> FileSource:
    path = folder / "p.csv"
    rows = zip(*ROWS.values(), strict=True)
    text = "\n".join([",".join(ROWS), *[",".join(one or "" for one in row) for row in rows]])
    path.write_text(text, encoding="utf-8")
    return source(path)


def _redatam(folder: Path) -> FileSource:
    return source(*_csv(folder).paths, format=FileFormat.REDATAM)


def _parquet(folder: Path) -> FileSource:
    parquet.write_table(pa.table(ROWS | {"age": pa.array(NUMBERS)}), folder / "p.parquet")
    return source(folder / "p.parquet")


def _spss(folder: Path) -> FileSource:
    return source(write_sav(folder / "p.sav", ROWS | {"age": NUMBERS}))


def _stata(folder: Path) -> FileSource:
    columns: dict[str, Any] = {
        "ed": ("str2", ROWS["ed"]),
        "age": ("float", NUMBERS),
        "name": ("str5", ROWS["name"]),
    }
    return source(write_dta(folder / "p.dta", columns))


def _sas(folder: Path) -> FileSource:
    return source(write_sas7bdat(folder / "p.sas7bdat", ROWS | {"age": NUMBERS}))


def _fixed(folder: Path) -> FileSource:
    layout = folder / "layout.csv"
    layout.write_text("name,start,width\ned,1,2\nage,3,3\nname,6,5\n", encoding="utf-8")
    rows = zip(*ROWS.values(), strict=True)
    lines = [f"{ed or '':2}{age or '':>3}{name or '':5}\n" for ed, age, name in rows]
    (folder / "p.txt").write_text("".join(lines), encoding="utf-8")
    return source(folder / "p.txt", format=FileFormat.FIXED, layout=layout)


def _cspro(folder: Path) -> FileSource:
    fixed = _fixed(folder)
    item = {"contentType": "alpha"}
    record = {
        "name": "PERSON",
        "items": [
            item | {"name": "age", "length": 3},
            item | {"name": "name", "length": 5},
        ],
    }
    level = {"ids": {"items": [item | {"name": "ed", "length": 2}]}, "records": [record]}
    dictionary = folder / "p.dcf"
    text = json.dumps({"relativePositions": True, "levels": [level]})
    dictionary.write_text(text, encoding="utf-8")
    return source(*fixed.paths, format=FileFormat.CSPRO, dictionary=dictionary)


def _excel(folder: Path) -> FileSource:
    book = xlsxwriter.Workbook(folder / "p.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, list(ROWS))
    for at, row in enumerate(zip(ROWS["ed"], NUMBERS, ROWS["name"], strict=True), start=1):
        for place, value in enumerate(row):
            if value is not None:
                sheet.write(at, place, value)
    book.close()
    return source(folder / "p.xlsx")


MAKERS: dict[FileFormat, Callable[[Path], FileSource]] = {
    FileFormat.CSV: _csv,
    FileFormat.REDATAM: _redatam,
    FileFormat.PARQUET: _parquet,
    FileFormat.SPSS: _spss,
    FileFormat.STATA: _stata,
    FileFormat.SAS: _sas,
    FileFormat.FIXED: _fixed,
    FileFormat.CSPRO: _cspro,
    FileFormat.EXCEL: _excel,
}


@pytest.fixture(params=list(FileFormat), ids=str)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> FileSource:
    return MAKERS[request.param](tmp_path)


def _as_text(values: list[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def test_every_format_gives_the_same_people(made: FileSource) -> None:
    reader = open_reader(made)
    assert reader.names() == ("ed", "age", "name")
    assert tuple(column.name for column in reader.columns()) == reader.names()
    assert reader.name == made.paths[0].name
    found = whole(reader, ["name", "age", "ed"])
    assert list(found) == ["name", "age", "ed"]
    assert {name: _as_text(values) for name, values in found.items()} == ROWS


def test_every_format_keeps_its_types_in_small_batches(made: FileSource) -> None:
    reader = open_reader(made)
    assert all(batch.num_rows == 1 for batch in reader.batches(["age", "ed"], rows=1))
    assert whole(reader, ["age"], rows=1) == whole(reader, ["age"])
    assert reader.rows() in (None, 3)


def test_every_format_names_columns_that_do_not_exist_with_the_nearest(made: FileSource) -> None:
    with pytest.raises(InputError, match=r"There is no column 'agee'\. Did you mean 'age'"):
        open_reader(made).batches(["ed", "agee"])


def test_every_format_refuses_what_is_missing_empty_or_a_folder(made: FileSource) -> None:
    (path,) = made.paths
    options: dict[str, Any] = {
        "format": made.format,
        "layout": made.layout,
        "dictionary": made.dictionary,
    }
    assert "There is no file" in refusal(path.with_name("none.xyz"), **options)
    assert "is a folder" in refusal(path.parent, **options)
    path.write_bytes(b"")
    assert "is empty" in refusal(path, **options)


MAGIC = {
    "parquet": b"PAR1" + b"\0" * 80,
    "SPSS": b"$FL2" + b"\0" * 80,
    "Excel workbook": b"PK\x03\x04" + b"\0" * 80,
    "SAS": bytes.fromhex("000000000000000000000000c2ea8160b31411cf") + b"\0" * 80,
    "gzip": b"\x1f\x8b" + b"\0" * 80,
    "PDF": b"%PDF-1.7",
}


@pytest.mark.parametrize("looks_like", list(MAGIC))
def test_every_format_recognises_files_of_another(made: FileSource, looks_like: str) -> None:
    (path,) = made.paths
    names = {
        FileFormat.PARQUET: "parquet",
        FileFormat.SPSS: "SPSS",
        FileFormat.EXCEL: "Excel workbook",
        FileFormat.SAS: "SAS",
    }
    path.write_bytes(MAGIC[looks_like])
    message = refusal(path, format=made.format, layout=made.layout, dictionary=made.dictionary)
    if names.get(made.format) != looks_like:
        assert f"it looks like a{'n' if looks_like in ('SPSS',) else ''}" in message
        assert looks_like in message


@pytest.mark.parametrize(
    "kind",
    [FileFormat.PARQUET, FileFormat.SPSS, FileFormat.STATA, FileFormat.SAS, FileFormat.EXCEL],
)
def test_text_in_place_of_a_binary_file_is_refused(tmp_path: Path, kind: FileFormat) -> None:
    path = tmp_path / "p.bin"
    path.write_bytes(b"ed,age\n1,2\n" * 20)
    assert refusal(path, format=kind).startswith("p.bin: ")


def test_every_format_reads_or_refuses_a_file_with_damaged_bytes(made: FileSource) -> None:
    (path,) = made.paths
    complete = path.read_bytes()
    dice = random.Random(2021)
    refused = 0
    for _ in range(100):
        content = bytearray(complete)
        for _ in range(dice.choice([1, 3, 10])):
            content[dice.randrange(len(content))] = dice.randrange(256)
        path.write_bytes(bytes(content[: dice.randrange(1, 2 * len(content))]))
        try:
            whole(open_reader(made))
        except InputError:
            refused += 1
    assert refused > 0


def test_no_file_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match="No file was given"):
        open_reader(FileSource(paths=(), format=FileFormat.CSV))


@pytest.mark.parametrize(
    ("module", "make"),
    [("pyreadstat", _spss), ("python_calamine", _excel)],
    ids=["pyreadstat", "calamine"],
)
def test_a_library_that_is_not_installed_is_asked_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    make: Callable[[Path], FileSource],
) -> None:
    made = make(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        open_reader(made)
    assert caught.value.extra == "formats"
