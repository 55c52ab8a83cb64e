"""Every format says the same to readers that others have written."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyreadstat
import pytest

from sdcensus.formats.microdata.encoding import CodeForm, spss_encoding
from sdcensus.formats.microdata.layout import parts_of
from sdcensus.formats.microdata.read import table_texts
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.schema.variable import CodeKind
from tests.formats.microdata.release_example import LONG_LABEL, WORK, example

ALL = tuple(MicrodataFormat)


@pytest.fixture(scope="module")
def file() -> ReleaseFile:
    return example()


@pytest.fixture(scope="module", params=list(Layout))
def layout(request: pytest.FixtureRequest) -> Layout:
    chosen: Layout = request.param
    return chosen


@pytest.fixture(scope="module")
def folder(file: ReleaseFile, layout: Layout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_microdata(file, folder, ALL, layout)
    return folder


def test_csv_holds_codes_as_the_schema_writes_them(
    file: ReleaseFile, layout: Layout, folder: Path
) -> None:
    for part in parts_of(file, layout):
        path = folder / f"{part.stem}.csv"
        expected = {
            name: texts.to_pylist() for name, texts in table_texts(part.table).columns.items()
        }
        by_polars = pl.read_csv(path, infer_schema=False).fill_null("")
        assert by_polars.to_dict(as_series=False) == expected
        rows = duckdb.execute(
            f"from read_csv('{path}', all_varchar=true, header=true, nullstr='\x01')"
        )
        names = [name for name, *_ in rows.description or []]
        lists = map(list, zip(*rows.fetchall(), strict=True))
        assert dict(zip(names, lists, strict=True)) == expected


def test_parquet_holds_codes_numbers_and_labels(
    file: ReleaseFile, layout: Layout, folder: Path
) -> None:
    for part in parts_of(file, layout):
        path = folder / f"{part.stem}.parquet"
        frame = pl.read_parquet(path)
        assert frame.columns == [column.name for column in part.table.columns]
        for column in part.table.columns:
            shown = frame[column.name].to_list()
            if column.codes:
                assert shown == [column.codes[place].code for place in column.values]
            else:
                none = np.zeros(part.table.rows, bool) if column.absent is None else column.absent
                scale = 10**column.decimals
                assert shown == [
                    None if gone else value / scale if column.decimals else value
                    for value, gone in zip(column.values.tolist(), none, strict=True)
                ]
        metadata = duckdb.execute(f"select value from parquet_kv_metadata('{path}')").fetchall()
        assert any(b"Ingreso" in value for (value,) in metadata) or layout is Layout.LINKED
        assert not any(b"pandas" in value for (value,) in metadata)


def numbers_of(series: Any) -> list[float | None]:
    return [None if value is None or value != value else float(value) for value in series]


@pytest.mark.parametrize("language", ["en", "es"])
def test_stata_files_say_the_same_to_pandas(
    file: ReleaseFile, layout: Layout, folder: Path, language: str
) -> None:
    for part in parts_of(file, layout):
        path = folder / f"{part.stem}{'' if language == 'en' else '.es'}.dta"
        with pd.read_stata(path, iterator=True, convert_categoricals=False) as reader:
            labels, variables = reader.value_labels(), reader.variable_labels()
            assert reader.time_stamp == "12 May 2021 00:00"
        frame = pd.read_stata(path, convert_categoricals=False, convert_missing=True)
        assert pd.read_stata(path).shape == frame.shape  # labels are no categories twice
        for name, column in zip(frame.columns, part.table.columns, strict=True):
            assert variables[name] == column.label.show(language)[:79] + "…" or (
                variables[name] == column.label.show(language)
            )
            if not column.codes:
                continue
            for value, place in zip(frame[name], column.values, strict=True):
                code = column.codes[place]
                if code.kind is CodeKind.VALID:
                    label = labels[name][int(value)]
                    assert (
                        code.label.show(language) in label
                        or label == code.code
                        or (code.label.show(language) == label[: -len(f" ({code.code})")])
                    )
                else:
                    letter = "a" if code.kind is CodeKind.NOT_STATED else "b"
                    assert str(value) == f".{letter}"


def test_numbers_are_exact_in_stata_and_spss(
    folder: Path, file: ReleaseFile, layout: Layout
) -> None:
    part = parts_of(file, layout)[-1]
    income = part.table.column("income")
    assert income.absent is not None
    expected = [
        None if gone else value / 100
        for value, gone in zip(income.values.tolist(), income.absent, strict=True)
    ]
    assert numbers_of(pd.read_stata(folder / f"{part.stem}.dta")["income"]) == expected
    by_readstat, _ = pyreadstat.read_sav(folder / f"{part.stem}.sav", output_format="dict")
    assert numbers_of(by_readstat["income"]) == expected
    assert numbers_of(by_readstat["person"]) == part.table.columns[0].values.tolist()


@pytest.mark.parametrize("language", ["en", "es"])
def test_spss_files_have_codes_labels_and_missing_values(
    file: ReleaseFile, layout: Layout, folder: Path, language: str
) -> None:
    for part in parts_of(file, layout):
        path = folder / f"{part.stem}{'' if language == 'en' else '.es'}.sav"
        values, about = pyreadstat.read_sav(path, user_missing=True, output_format="dict")
        assert about.file_encoding == "UTF-8"
        assert str(about.creation_time) == "2021-05-12 00:00:00"
        for name, column in zip(about.column_names, part.table.columns, strict=True):
            if not column.codes:
                continue
            encoding = spss_encoding(column.codes)
            shown = [value if isinstance(value, str) else int(value) for value in values[name]]
            assert shown == [encoding.values[place] for place in column.values]
            if encoding.form is not CodeForm.NUMBERED:
                assert list(map(str, encoding.values)) == [code.code for code in column.codes]
            ranges: list[Any] = about.missing_ranges.get(name, [])
            missing = {each["lo"] for each in ranges}
            assert missing == {
                value
                for value, code in zip(encoding.values, column.codes, strict=True)
                if code.is_missing
            }
            labels = about.variable_value_labels[name]
            assert len(set(labels.values())) == len(column.codes)
            assert all(len(label.encode()) <= 120 for label in labels.values())


def test_the_head_of_an_spss_file_is_as_its_format_says(tmp_path: Path, file: ReleaseFile) -> None:
    """Read by hand: the library that reads it in other tests overlooks much."""
    write_microdata(file, tmp_path, [MicrodataFormat.SAV], Layout.LINKED)
    content = (tmp_path / "puf-persons.sav").read_bytes()
    assert content[:4] == b"$FL2"
    layout, case_size, compression, weight, cases = struct.unpack_from("<iiiii", content, 64)
    assert (layout, compression, weight, cases) == (2, 0, 0, 100)
    assert content[92:109] == b"12 May 2100:00:00"
    place, records, names, facts = 176, 0, [], []
    while struct.unpack_from("<i", content, place) != (999,):
        (kind,) = struct.unpack_from("<i", content, place)
        if kind == 2:
            width, labelled, missing = struct.unpack_from("<iii", content, place + 4)
            names.append((content[place + 24 : place + 32], width))
            place += 32
            if labelled:
                (size,) = struct.unpack_from("<i", content, place)
                assert size <= 256
                place += 4 + (size + 3) // 4 * 4
            place += 8 * abs(missing)
            records += 1
        elif kind == 3:
            (count,) = struct.unpack_from("<i", content, place + 4)
            place += 8
            for _ in range(count):
                place += 8 + (content[place + 8] + 8) // 8 * 8
        elif kind == 4:
            (count,) = struct.unpack_from("<i", content, place + 4)
            for index in struct.unpack_from(f"<{count}i", content, place + 8):
                assert names[index - 1][1] != -1  # labels are those of a variable, not of its rest
            place += 8 + 4 * count
        else:
            assert kind == 7
            subtype, size, count = struct.unpack_from("<iii", content, place + 4)
            facts.append(subtype)
            place += 16 + size * count
    assert records == case_size
    assert facts == [3, 4, 11, 13, 16, 20]
    assert len(content) == place + 8 + 100 * case_size * 8


def test_the_files_beside_tell_labels_in_full(folder: Path, layout: Layout) -> None:
    codes = pl.read_csv(folder / "puf-codes.csv", infer_schema=False)
    work = codes.filter(pl.col("variable") == "if")
    assert work["label_es"].to_list()[1] == f"{LONG_LABEL} (es)"
    assert work["label_en"].to_list()[0] == "'=1+1"  # no spreadsheet takes it for a formula
    assert work["code"].to_list() == [code.code for code in WORK]
    assert work["dta"].to_list() == ["1", "2", "3", ".b", ".a"]
    variables = pl.read_csv(folder / "puf-variables.csv", infer_schema=False)
    named = dict(zip(variables["variable"], variables["dta"], strict=True))
    assert named["if"] == "if_"
    assert named["ed@parish"] == "ed_parish"
