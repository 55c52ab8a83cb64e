"""Whose copy a file is: unsorted, in any format, with rows and columns missing; never if sorted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sdcensus.errors import InputError, Refused
from sdcensus.session.licence.holders import HolderAnswer
from sdcensus.session.release.release import Release
from tests.session.licence.handed import licensed, prepare

NUMBERS = ["2026-001", "2026-002", "2026-003"]
UNITS = ["person_number", "household_number"]


def answer(handed: tuple[Path, Release], file: Path) -> str:
    """The licence that is named, or why none is."""
    _, release = handed
    found = release.holder(file)
    assert (found.answer is HolderAnswer.HOLDER) == (found.holding is not None)
    assert repr(found) == "<FoundHolder: confidential>"
    return str(found.answer) if found.holding is None else found.holding.number


@pytest.mark.parametrize("ending", ["csv", "parquet", "sav", "dta"])
@pytest.mark.parametrize("table", ["persons", "households"])
def test_every_format_names_its_holder(
    handed: tuple[Path, Release], ending: str, table: str
) -> None:
    folder, _ = handed
    for number in NUMBERS:
        assert answer(handed, folder / f"copy-{number}" / f"lf-{table}.{ending}") == number
    assert answer(handed, folder / "files" / f"lf-{table}.{ending}") == HolderAnswer.OWN


@pytest.mark.parametrize("number", NUMBERS)
def test_a_file_that_somebody_has_worked_on(
    handed: tuple[Path, Release], number: str, tmp_path: Path
) -> None:
    """Read as a spreadsheet reads it: zeros before numbers are gone."""
    folder, _ = handed
    frame = pd.read_csv(folder / f"copy-{number}" / "lf-persons.csv")
    told = frame.drop(columns=UNITS)
    fewer = told.sample(frac=0.9, random_state=1).sort_index()
    by_all = list(told.columns)

    def said(name: str, table: pd.DataFrame, separator: str = ",", encoding: str = "utf-8") -> str:
        path = tmp_path / f"{name}.csv"
        table.to_csv(path, index=False, sep=separator, encoding=encoding)
        return answer(handed, path)

    assert said("no-numbers", told) == number
    assert said("fewer-rows", fewer) == number
    assert said("fewer-columns", fewer[["income", "sex", "age"]]) == number
    assert said("two-columns", told[["sex", "age"]]) == number
    assert said("columns-moved", fewer[fewer.columns[::-1]], ";", "cp1252") == number
    renamed = told.rename(columns=str.upper).assign(mine="é")
    assert said("renamed", renamed, "\t", "cp1252") == number
    assert said("sorted-by-age", told.sort_values("age", kind="stable")) == number
    assert said("sorted-with-numbers", frame.sort_values(by_all)) == number
    assert said("sorted", told.sort_values(by_all)) == HolderAnswer.NO_ORDER
    assert said("shuffled", told.sample(frac=1, random_state=2)) == HolderAnswer.NO_ORDER
    assert said("few", told.head(40)) == HolderAnswer.NO_ORDER
    other = told.assign(income=-5, age=8, sex=0)
    assert said("other", other) == HolderAnswer.OTHER_FILE


def test_files_that_cannot_be_compared(handed: tuple[Path, Release], tmp_path: Path) -> None:
    _, release = handed
    for name, text, message in (
        ("a.csv", "x,y\n1,2\n", "has no column of this file"),
        ("b.pdf", "x", "the ending does not tell the format"),
        ("c.csv", "", "is empty"),
        ("d.sav", "sex\n1\n", "not an SPSS file"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            release.holder(tmp_path / name)
    with pytest.raises(InputError, match="no file"):
        release.holder(tmp_path / "absent.csv")


def test_without_a_copy_nobody_is_looked_for(tmp_path: Path) -> None:
    release = prepare(tmp_path, dwellings=120)
    licensed(tmp_path)
    with pytest.raises(Refused, match="No copy of lf was handed out"):
        release.holder(tmp_path / "files" / "lf-persons.csv")
