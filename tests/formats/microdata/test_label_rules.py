"""Lists of codes of every kind: one rule for their labels, and missing values for every reader."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from sdcensus.formats.microdata.encoding import CodeForm
from sdcensus.formats.microdata.labelled import labelled
from sdcensus.formats.microdata.layout import parts_of
from sdcensus.formats.microdata.read import read_microdata, table_texts
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Code, CodeKind, Entity
from tests.formats.microdata.release_example import (
    code,
    codes_column,
    example,
    label,
    number_column,
)

LABELLED = (MicrodataFormat.SAV, MicrodataFormat.DTA)
RECORDS = 60
STATED, APPLICABLE = CodeKind.NOT_STATED, CodeKind.NOT_APPLICABLE


def missing(*words: str) -> tuple[Code, ...]:
    return tuple(
        code(word, f"No value {place}", STATED if place % 2 else APPLICABLE)
        for place, word in enumerate(words)
    )


LISTS: dict[str, tuple[Code, ...]] = {
    "marital": (
        code("1", "Never married"),
        code("2", "Married"),
        code("3-4", "Divorced or separated"),
        code("5", "Widowed"),
        *missing("9"),
    ),
    "numbers": (code("1", "Man"), code("2", "Woman"), *missing("8", "9")),
    "words_missing": (code("1", "Yes"), code("2", "No"), *missing("NS", "NA")),
    "many_missing": (code("1", "Yes"), code("5", "No"), *missing("6", "7", "8", "9")),
    "scattered": (code("3", "Yes"), code("7", "No"), *missing("1", "5", "9", "11")),
    "zeros": (code("01", "North"), code("02", "South"), *missing("98", "99")),
    "short": (code("A", "Farm"), code("B", "Fish"), *missing("X", "Y", "Z")),
    "short_many": (code("A", "Farm"), code("B", "Fish"), *missing("W", "X", "Y", "Z")),
    "long_one": (code("A-farming", "Farm"), code("B-fishing", "Fish"), *missing("NA")),
    "long_two": (code("A-farming", "Farm"), code("B-fishing", "Fish"), *missing("NA", "NS")),
    "long_missing": (code("A", "Farm"), code("B", "Fish"), *missing("not-applicable")),
    "beyond": (code("1", "One"), code("9999999999", "Many"), *missing("-1")),
    "no_labels": (code("A"), code("B"), Code("C", label(""), STATED)),
    "only_missing": missing("1", "2"),
}


def file_of(lists: dict[str, tuple[Code, ...]]) -> ReleaseFile:
    rows = np.arange(RECORDS)
    columns = [codes_column(name, codes, rows * 7 // 3) for name, codes in lists.items()]
    table = ReleaseTable(entity=Entity.PERSON, columns=(number_column("person", rows), *columns))
    return replace(example(), tables=(table,))


@pytest.fixture(scope="module")
def file() -> ReleaseFile:
    return file_of(LISTS)


@pytest.fixture(scope="module")
def folder(file: ReleaseFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    write_microdata(file, folder, LABELLED, Layout.LINKED)
    return folder


@pytest.mark.parametrize("format", LABELLED)
@pytest.mark.parametrize("name", LISTS)
def test_all_labels_of_a_list_begin_with_the_code_or_none_does(
    file: ReleaseFile, name: str, format: MicrodataFormat
) -> None:
    table = labelled(file, parts_of(file, Layout.LINKED)[0], format, "en")
    column = next(column for column in table.columns if column.name == name)
    assert column.encoding is not None
    begins = {
        shown.startswith(f"{code.code} ")
        for code, shown in zip(LISTS[name], column.labels, strict=True)
        if code.label
    }
    assert begins <= {column.encoding.form is CodeForm.NUMBERED}


def test_the_labels_of_a_list_with_a_group_are_no_jumble(folder: Path) -> None:
    with pd.read_stata(folder / "puf-persons.dta", iterator=True) as reader:
        labels = reader.value_labels()
    assert list(labels["marital"].values()) == [
        "1 Never married",
        "2 Married",
        "3-4 Divorced or separated",
        "5 Widowed",
        "9 No value 0",
    ]
    assert list(labels["numbers"].values()) == ["Man", "Woman", "No value 1", "No value 0"]


@pytest.mark.parametrize("name", LISTS)
def test_every_reader_takes_exactly_the_missing_values_for_missing(
    file: ReleaseFile, folder: Path, name: str
) -> None:
    column = file.tables[0].column(name)
    gone = [column.codes[place].is_missing for place in column.values]
    values, about = pyreadstat.read_sav(folder / "puf-persons.sav", output_format="dict")
    assert [value is None or value == "" or value != value for value in values[name]] == gone
    kept, _ = pyreadstat.read_sav(
        folder / "puf-persons.sav", user_missing=True, output_format="dict"
    )
    shown = about.variable_value_labels[name]
    assert len({shown[value] for value in kept[name]}) == len(set(column.values.tolist()))
    stata = pd.read_stata(folder / "puf-persons.dta", convert_categoricals=False)
    assert stata[name].isna().tolist() == gone


def test_the_files_tell_the_codes_again(file: ReleaseFile, folder: Path) -> None:
    expected = table_texts(file.tables[0])
    for format in LABELLED:
        assert read_microdata(folder / f"puf-persons.{format.value}").differs_from(expected) == ()


@pytest.mark.skipif(shutil.which("pspp") is None, reason="PSPP is not installed")
def test_pspp_counts_the_missing_values(file: ReleaseFile, folder: Path, tmp_path: Path) -> None:
    syntax, target = tmp_path / "count.sps", tmp_path / "count.csv"
    lines = [f"GET FILE='{folder / 'puf-persons.sav'}'.", f"FREQUENCIES {' '.join(LISTS)}."]
    syntax.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    command = ["pspp", "-O", "format=csv", "-o", str(target), str(syntax)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: Counter[str] = Counter()
    name = part = ""
    with target.open(encoding="utf-8", newline="") as table:
        for row in csv.reader(table):
            if row and row[0].startswith("Table: "):
                name, part = row[0].removeprefix("Table: "), ""
            elif row:
                part = row[0] or part
                if part == "Missing" and name in LISTS:
                    found[name] += int(row[2])
    for name, codes in LISTS.items():
        column = file.tables[0].column(name)
        assert found[name] == sum(codes[place].is_missing for place in column.values), name
