from __future__ import annotations

from pathlib import Path

import python_calamine
import xlsxwriter

from sdcensus.errors import DocumentError, InputError
from tests.cli.conftest import Run, Village


def test_a_protected_table_fills_a_template(run: Run, village: Village, tmp_path: Path) -> None:
    published = tmp_path / "published"
    published.mkdir()
    protect = ["protect", village.store, "--by", "ed@parish,sex", "--method", "cell-key"]
    assert (
        run(*protect, "--secret", village.secret, "--out", published / "people.csv", "-q").code == 0
    )
    template = tmp_path / "template.xlsx"
    with xlsxwriter.Workbook(str(template)) as book:
        sheet = book.add_worksheet("Page")
        sheet.write_row(0, 1, [1, 2, "_T"])
        for row, area in enumerate(["P1", "South"], start=1):
            sheet.write(row, 0, area)
            for column in (1, 2, 3):
                sheet.write(row, column, "{people: ed=@A, sex=@1}")
    out = tmp_path / "filled.xlsx"
    answer = run("fill", template, "--published", published, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == f"Wrote {out}: 6 cells from 1 table.\n"
    lines = (published / "people.csv").read_text(encoding="utf-8").splitlines()
    heads = lines[0].split(",")
    told = {}
    for line in lines[1:]:
        cells = dict(zip(heads, line.split(","), strict=True))
        told[cells["ed"], cells["sex"]] = int(cells["published"])
    found = python_calamine.CalamineWorkbook.from_path(out).get_sheet_by_name("Page").to_python()
    assert [row[1:] for row in found[1:]] == [
        [told[area, sex] for sex in ("1", "2", "_T")] for area in ("P1", "P2")
    ]
    again = run("fill", template, "--published", published, "--out", out)
    assert "already exists" in again.err


def test_mistakes_have_exit_codes(run: Run, village: Village, tmp_path: Path) -> None:
    template = tmp_path / "template.xlsx"
    answer = run("fill", template, "--published", tmp_path, "--out", tmp_path / "f.xlsx")
    assert answer.code == InputError.exit_code
    published = tmp_path / "published"
    published.mkdir()
    protect = ["protect", village.store, "--by", "sex", "--method", "cell-key"]
    assert (
        run(*protect, "--secret", village.secret, "--out", published / "people.csv", "-q").code == 0
    )
    with xlsxwriter.Workbook(str(template)) as book:
        book.add_worksheet("Page").write("C3", "{people: sexx=1}")
    answer = run("fill", template, "--published", published, "--out", tmp_path / "f.xlsx")
    assert answer.code == DocumentError.exit_code
    assert "sheet 'Page', cell C3: There is no axis of this table 'sexx'" in answer.err
