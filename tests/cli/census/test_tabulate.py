from __future__ import annotations

import csv
import os
import re
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import Run, Village

ENGINES = ["memory", "duckdb"]


def rows(text: str) -> list[list[str]]:
    """The words of every line, so that widths of columns are no matter."""
    return [line.split() for line in text.splitlines()]


@pytest.mark.parametrize("engine", ENGINES)
def test_without_confidential_no_count_is_shown(run: Run, village: Village, engine: str) -> None:
    answer = run("tabulate", village.store, "--by", "ed@parish,sex", "--engine", engine)
    assert answer.code == 0
    assert "confidential" in answer.out
    assert "3 × 4 = 12 cells" in answer.out
    # Besides the shape there are only the seconds that it took.
    rest = answer.out.replace("3 × 4 = 12 cells", "")
    assert re.findall(r"[\d.]*\d", rest) == re.findall(r"([\d.]+) m?s with", rest)
    assert "Male" not in answer.out


def test_to_show_counts_confidential_must_be_said(run: Run, village: Village) -> None:
    answer = run("tabulate", village.store, "--by", "sex", "--show")
    assert answer.code == 4
    assert answer.out == ""
    assert "--confidential" in answer.err


@pytest.mark.parametrize("engine", ENGINES)
def test_the_table_shows_true_counts_in_rows_and_columns(
    run: Run, village: Village, engine: str
) -> None:
    shown = ("--by", "ed@parish,sex", "--show", "--confidential", "--engine", engine)
    table = rows(run("tabulate", village.store, *shown).out)
    assert ["Area", "(parish)", "Male", "Female", "Not", "stated", "Total"] in table
    assert ["North", "2", "4", "0", "6"] in table
    assert ["South", "0", "0", "1", "1"] in table
    assert ["Total", "2", "4", "1", "7"] in table


def test_labels_are_in_the_language_asked_for(run: Run, village: Village) -> None:
    shown = ("--by", "ed@parish,sex", "--show", "--confidential", "--language", "es")
    table = rows(run("tabulate", village.store, *shown).out)
    assert ["Norte", "2", "4", "0", "6"] in table
    assert any("Hombre" in line for line in table)
    answer = run("tabulate", village.store, "--by", "sex", "--language", "xx")
    assert answer.code == 2
    assert "There is no language 'xx'" in answer.err


def test_an_axis_too_long_for_columns_gives_rows_and_a_third_one_layers(
    run: Run, village: Village
) -> None:
    shown = ("--by", "ed@parish,sex,age", "--show", "--confidential")
    text = run("tabulate", village.store, *shown).out
    assert "Area (parish): North. Persons by Age and Sex" in text
    north = text.split(": North.")[1].split(": South.")[0]
    assert ["40", "0", "1", "0", "1"] in rows(north)
    assert max(map(len, text.splitlines())) <= 80


def test_where_no_axis_fits_the_width_cells_are_listed(
    run: Run, village: Village, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    shown = ("--by", "sex,tenure", "--show", "--confidential")
    text = run("tabulate", village.store, *shown).out
    assert ["Female", "Owned", "3"] in rows(text)


def test_a_filter_and_another_unit(run: Run, village: Village) -> None:
    shown = ("--show", "--confidential")
    adults = run("tabulate", village.store, "--by", "sex", "--where", "age >= 15", *shown)
    assert ["Total", "4"] in rows(adults.out)
    houses = run("tabulate", village.store, "--of", "households", "--by", "tenure", *shown)
    assert ["Owned", "2"] in rows(houses.out)
    everybody = run("tabulate", village.store, *shown)
    assert ["persons:", "7"] in rows(everybody.out)


def test_weighted_counts(run: Run, village: Village, tmp_path: Path) -> None:
    out = tmp_path / "weighted.csv"
    arguments = ("--by", "sex", "--measure", "weighted", "--confidential")
    answer = run("tabulate", village.store, *arguments, "--show", "--out", out)
    # 1.5 + 1.5 for two men of the first house; two women of the shore count 2.25 each.
    assert ["Male", "3.0"] in rows(answer.out)
    assert ["Female", "7.0"] in rows(answer.out)
    with out.open(encoding="utf-8", newline="") as file:
        written = {row["sex"]: row["weight"] for row in csv.DictReader(file)}
    assert written == {"1": "3.00", "2": "7.00", "9": "1.00", "_T": "11.00"}


def test_to_write_counts_confidential_must_be_said(
    run: Run, village: Village, tmp_path: Path
) -> None:
    answer = run("tabulate", village.store, "--by", "sex", "--out", tmp_path / "a.csv")
    assert answer.code == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["counts.csv", "counts.parquet"])
def test_written_counts_are_complete_and_private(
    run: Run, village: Village, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    arguments = ("--by", "ed@parish+ed,sex", "--out", out, "--confidential")
    answer = run("tabulate", village.store, *arguments)
    assert answer.code == 0
    if os.name != "nt":
        assert stat.S_IMODE(out.stat().st_mode) == 0o600
    if name.endswith(".csv"):
        with out.open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
    else:
        found = pq.read_table(out).to_pylist()
    assert len(found) == 6 * 4
    by_code = {(row["ed"], row["sex"]): row for row in found}
    assert int(by_code["P1", "2"]["count"]) == 4
    assert int(by_code["E1", "_T"]["count"]) == 4
    assert by_code["E3", "1"]["ed_label"] == "Rivière"
    assert int(by_code["E3", "1"]["cell_key"]) == 0
    assert int(by_code["E1", "_T"]["cell_key"]) != 0
    # Nobody has asked to see them.
    assert "Male" not in answer.out


def test_a_file_is_never_overwritten(run: Run, village: Village, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    out.write_text("precious", encoding="utf-8", newline="\n")
    arguments = ("--by", "sex", "--confidential", "--out")
    assert run("tabulate", village.store, *arguments, out).code == 8
    assert out.read_text(encoding="utf-8") == "precious"
    assert run("tabulate", village.store, *arguments, tmp_path / "a.doc").code == 8
    assert run("tabulate", village.store, *arguments, tmp_path / "no" / "a.csv").code == 8
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["--by", "sexx"], 2, "Did you mean 'sex'?"),
        (["--by", "ed@parrish"], 2, "Did you mean 'parish'?"),
        (["--by", "sex", "--where", "age >>= 3"], 2, "age"),
        (["--by", "sex", "--of", "horses"], 2, "households"),
        (["--by", "sex", "--of", "households"], 2, "persons"),
        (["--by", "sex", "--measure", "mean"], 2, "weighted"),
        (["--by", "sex", "--engine", "abacus"], 2, "duckdb"),
        (["--by", "full_name"], 2, "full_name"),
        (["--by", "sex", "--where", " or ".join(["ed == 9"] * 3000)], 2, "There is no code '9'"),
    ],
)
def test_what_cannot_be_understood_is_explained(
    run: Run, village: Village, arguments: list[str], code: int, hint: str
) -> None:
    answer = run("tabulate", village.store, *arguments)
    assert answer.code == code
    assert answer.err.startswith("error: ")
    assert hint in answer.err
    assert "Value error" not in answer.err
    assert "Traceback" not in answer.err


def test_quiet_prints_nothing(run: Run, village: Village, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    arguments = ("--by", "sex", "--quiet", "--show", "--confidential", "--out", out)
    answer = run("tabulate", village.store, *arguments)
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert out.is_file()
