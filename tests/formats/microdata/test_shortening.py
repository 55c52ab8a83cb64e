"""What a format cannot hold is told before anything is written, in the form that is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, strategies as st

from sdcensus.formats.microdata.labelled import format_problems
from sdcensus.formats.microdata.shortening import (
    LIMITS,
    ShortenedPart,
    byte_size,
    shortened,
    value_labels,
    variable_names,
)
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.release.plan import MicrodataFormat
from sdcensus.model.sentences import in_language
from sdcensus.model.text import Text
from tests.formats.microdata.release_example import code, codes_column, example

LABELLED = (MicrodataFormat.SAV, MicrodataFormat.DTA)


def test_what_is_told_is_what_stands_in_the_file(tmp_path: Path) -> None:
    file = replace(example(), title=Text.of({"en": "Ü" * 300, "es": "Corto"}))
    problems = format_problems(file, LABELLED)
    assert not list(tmp_path.iterdir())
    write_microdata(file, tmp_path, LABELLED)
    for problem in problems:
        ending = ".es" if problem.language == "es" else ""
        path = tmp_path / f"{problem.file}{ending}.{problem.format}"
        read = pyreadstat.read_sav if problem.format is MicrodataFormat.SAV else pyreadstat.read_dta
        _, about = read(path, metadataonly=True)
        if problem.part is ShortenedPart.NAME:
            assert problem.shortened in about.column_names
        elif problem.part is ShortenedPart.VARIABLE_LABEL:
            assert problem.shortened in about.column_labels
        elif problem.part is ShortenedPart.TITLE:
            assert problem.shortened == about.file_label
        else:
            labels = [set(each.values()) for each in about.variable_value_labels.values()]
            assert any(problem.shortened in each for each in labels)
    parts = {(problem.format, problem.part) for problem in problems}
    assert parts == {
        (format, part)
        for format in LABELLED
        for part in (
            ShortenedPart.NAME,
            ShortenedPart.VARIABLE_LABEL,
            ShortenedPart.VALUE_LABEL,
            ShortenedPart.TITLE,
        )
    }


def test_the_message_names_file_variable_code_and_form() -> None:
    problems = format_problems(example(), [MicrodataFormat.SAV])
    message = next(
        problem.message
        for problem in problems
        if problem.part is ShortenedPart.VALUE_LABEL and problem.code == "B-fishing"
    )
    assert message.startswith("puf-persons.sav (en): the label of code B-fishing of if")
    assert message.endswith("…")
    assert in_language(message, "es").startswith("puf-persons.sav (en): la etiqueta del código")


def test_formats_without_limits_change_nothing() -> None:
    assert format_problems(example(), [MicrodataFormat.CSV, MicrodataFormat.PARQUET]) == ()


@given(st.text(min_size=0, max_size=200), st.integers(4, 60), st.sampled_from([len, byte_size]))
def test_texts_are_cut_between_characters(text: str, most: int, size: object) -> None:
    assert callable(size)
    cut = shortened(text, most, size)
    assert size(cut) <= most
    assert cut == text or cut[:-1] == text[: len(cut) - 1] or cut.endswith("…")
    cut.encode().decode()


@pytest.mark.parametrize("format", LABELLED)
@given(names=st.lists(st.text(max_size=80), unique=True, max_size=12))
def test_names_are_allowed_and_different(format: MicrodataFormat, names: list[str]) -> None:
    fixed = variable_names(names, format)
    assert len({name.casefold() for name in fixed}) == len(names)
    assert all(LIMITS[format].size(name) <= LIMITS[format].name for name in fixed)
    assert all(name[0].isalpha() or name[0] in "_@" for name in fixed)
    allowed = "_" if format is MicrodataFormat.DTA else "_.$#@"
    assert all(sign.isalnum() or sign in allowed for name in fixed for sign in name)


def test_reserved_words_and_collisions() -> None:
    stata = variable_names(["if", "if_", "_n", "_N", "str8", "strL", "If"], MicrodataFormat.DTA)
    assert stata == ("if__2", "if_", "_n_", "_N__2", "str8_", "strL_", "If")
    spss = variable_names(["ALL", "all_", "x.", "1a", "a b", "a_b"], MicrodataFormat.SAV)
    assert spss == ("ALL__2", "all_", "x_", "v1a", "a_b_2", "a_b")


@given(st.lists(st.text("ab", max_size=150), min_size=1, max_size=10))
def test_labels_of_a_variable_differ(labels: list[str]) -> None:
    codes = [str(number) for number in range(len(labels))]
    for format in LABELLED:
        unique = value_labels(labels, codes, LIMITS[format])
        assert len(set(unique)) == len(labels)
        assert all(LIMITS[format].size(label) <= LIMITS[format].value_label for label in unique)


def test_a_list_longer_than_stata_labels_stands_without(tmp_path: Path) -> None:
    file = example()
    persons = file.tables[1]
    many = codes_column("many", [code(str(each)) for each in range(65_537)], np.arange(100))
    tables = (file.tables[0], replace(persons, columns=(*persons.columns, many)))
    file = replace(file, tables=tables, languages=("en",))
    problems = format_problems(file, [MicrodataFormat.DTA])
    assert [each.variable for each in problems if each.part is ShortenedPart.NO_LABELS] == ["many"]
    write_microdata(file, tmp_path, [MicrodataFormat.DTA])
    frame = pd.read_stata(tmp_path / "puf-persons.dta")
    assert frame["many"].tolist() == list(range(100))
