"""A plan of a census whose levels share their codes: published, verified, filled in, attacked."""

from __future__ import annotations

import csv
from pathlib import Path

import python_calamine
import xlsxwriter

from tests.cli.conftest import Run
from tests.regions import write_regions

PLAN = """\
store = "census.store"

[[table]]
name = "areas"
rows = ["home@region+province"]
columns = ["sex"]

[[table]]
name = "work"
rows = ["home@region"]
columns = ["work@region"]

[protect]
method = "cell-key"
strength = "strong"

[output]
folder = "published"
formats = ["csv", "xlsx", "json-stat", "px", "sdmx-csv", "parquet"]
"""


def test_from_raw_files_to_a_filled_page(run: Run, tmp_path: Path) -> None:
    schema = write_regions(tmp_path)
    secret, plan = tmp_path / "office.secret", tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    template, page = tmp_path / "template.xlsx", tmp_path / "page.xlsx"
    with xlsxwriter.Workbook(str(template)) as book:
        sheet = book.add_worksheet("Page")
        sheet.write("A1", "{areas: home@region=11}")
        sheet.write("A2", "{areas: home@province=11}")
        sheet.write("A3", "{areas: home@region=@B, sex=1}")
        sheet.write("B3", 12)
    steps = [
        ("secret", "new", secret, "--sheet", tmp_path / "sheet.txt", "-q"),
        ("schema", "check", schema),
        ("load", schema, "--out", tmp_path / "census.store", "--secret", secret, "-q"),
        ("publish", plan, "--secret", secret, "-q"),
        ("verify", tmp_path / "published"),
        ("fill", template, "--published", tmp_path / "published", "--out", page),
        ("attack", tmp_path / "published"),
    ]
    for step in steps:
        answer = run(*step)
        assert answer.code == 0, (step, answer)
    assert "Attacks on 2 published tables" in answer.out
    with (tmp_path / "published" / "areas.csv").open(encoding="utf-8", newline="") as file:
        told = {
            (row["home_level"], row["home"], row["sex"]): int(row["published"])
            for row in csv.DictReader(file)
        }
    rows = python_calamine.CalamineWorkbook.from_path(page).get_sheet_by_name("Page").to_python()
    assert [row[0] for row in rows] == [
        told["region", "11", "_T"],
        told["province", "11", "_T"],
        told["region", "12", "1"],
    ]
    assert told["region", "11", "_T"] != told["province", "11", "_T"]
    with xlsxwriter.Workbook(str(template)) as book:
        book.add_worksheet("Page").write("A1", "{areas: home=11}")
    answer = run(*steps[-2][:-1], tmp_path / "other.xlsx")
    assert "Write home@province or home@region." in answer.err
