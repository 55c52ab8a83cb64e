"""A national census in Spanish with the dictionary of its office: from files to a store."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Run, Village
from tests.ingest.dictionaries.spanish_census import TABLES, write_dictionary, write_files


def test_a_census_with_a_dictionary_is_drafted_checked_and_loaded(
    run: Run, village: Village, tmp_path: Path
) -> None:
    files = write_files(tmp_path)
    dictionary = write_dictionary(tmp_path / "diccionario.xlsx")
    out = tmp_path / "draft"
    answer = run("schema", "draft", *files, "--dictionary", dictionary, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    columns = sum(len(questions) for questions in TABLES.values())
    said = " ".join(answer.out.split())
    assert f"Columns that the dictionary describes: {columns} of {columns}." in said
    assert "Codes that occur and are not in the dictionary: 1 in 1 column (V01)." in said
    check = (out / "dictionary-check.txt").read_text(encoding="utf-8")
    assert "viviendas: V01: 4\n" in check
    checked = run("schema", "check", out / "schema.toml")
    assert checked.code == 0
    text = (out / "schema.toml").read_text(encoding="utf-8")
    assert 'languages = ["es"]' in text
    assert re.search(r'\[variable\.p03\][^[]*range = \[0, 120\]\nnot_stated = \["999"\]', text)
    nine = re.search(r"\[variable\.p30\][^[]*", text)
    assert nine is not None
    assert '"9" = "Nueve o más"' in nine[0]
    assert "not_stated" not in nine[0]
    store = tmp_path / "census.store"
    loaded = run("load", out / "schema.toml", "--out", store, "--secret", village.secret)
    assert (loaded.code, loaded.err) == (0, "")
    records = {path.stem: len(path.read_text("cp1252").splitlines()) - 1 for path in files}
    for name, kind in (("personas", "persons"), ("viviendas", "dwellings")):
        assert re.search(rf"{kind} +{records[name]:,}\b", loaded.out)
    shown = run("tabulate", store, "--by", "p02", "--show", "--confidential", "-l", "es")
    assert "Hombre" in shown.out


def test_a_dictionary_that_is_not_understood_can_be_named(
    run: Run, village: Village, tmp_path: Path
) -> None:
    persons = village.schema.parent / "persons.csv"
    dictionary = tmp_path / "d.csv"
    rows = "Aaa,Bbb,Ccc\nx,1,one\ny,2,two\n"
    dictionary.write_text(rows, encoding="utf-8", newline="\n")
    refused = run(
        "schema", "draft", persons, "--dictionary", dictionary, "--out", tmp_path / "draft"
    )
    assert refused.code == 5
    assert "Not recognised: names of variables" in " ".join(refused.err.split())
    assert not (tmp_path / "draft").exists()
    rows = "Aaa,Bbb,Ccc,Ddd\nsex,sex,1,Man\nsex,sex,2,Woman\n"
    dictionary.write_text(rows, encoding="utf-8", newline="\n")
    named = run(
        *("schema", "draft", persons, "--dictionary", dictionary, "--out", tmp_path / "draft"),
        *("--dictionary-columns", "variable=Aaa,value=C", "--dictionary-columns", "value_label=D"),
    )
    assert (named.code, named.err) == (0, "")
    assert '"1" = "Man", "2" = "Woman"' in (tmp_path / "draft" / "schema.toml").read_text("utf-8")


def test_a_census_file_is_no_dictionary_and_named_columns_must_exist(
    run: Run, village: Village, tmp_path: Path
) -> None:
    persons = village.schema.parent / "persons.csv"
    dictionary = tmp_path / "d.csv"
    dictionary.write_text("Campo,Clave,Texto\nsex,1,Man\n", encoding="utf-8", newline="\n")
    draft = ("schema", "draft", persons, "--out", tmp_path / "draft")
    for arguments, words in (
        (("--dictionary", persons), "this is a census file and no dictionary"),
        (("--dictionary", dictionary, "--dictionary-columns", "value=Klave"), "'Clave'"),
        (("--dictionary-columns", "value=Clave"), "no dictionary that is a table"),
    ):
        answer = run(*draft, *arguments)
        assert answer.code == 5
        assert words in " ".join(answer.err.split())
    assert not (tmp_path / "draft").exists()


def test_dictionaries_that_are_missing_or_of_no_known_kind_are_errors(
    run: Run, village: Village, tmp_path: Path
) -> None:
    persons = village.schema.parent / "persons.csv"
    (tmp_path / "base.dic").write_bytes(b"\x01")
    for name, words in (("none.xlsx", "does not exist"), ("base.dic", "Export the data")):
        answer = run(
            "schema", "draft", persons, "--dictionary", tmp_path / name, "--out", tmp_path / "draft"
        )
        assert answer.code == 5
        assert words in " ".join(answer.err.split())
