"""The report of an audit: words, page, workbook, csv; for the owner alone."""

from __future__ import annotations

import csv
import io
import os
from fractions import Fraction
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.errors import OutputError
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.report.audit.files import audit_csv, audit_workbook, check_audit_target, write_audit
from sdcensus.report.audit.page import MOST_CELLS, audit_page
from sdcensus.report.audit.plots import widths
from sdcensus.report.audit.results import (
    AuditedCell,
    AuditedTable,
    AuditFindings,
    FailedSum,
    Proof,
    ProofTerm,
)
from sdcensus.report.audit.words import amount_text, interval_text, lead, proof_text, scope
from sdcensus.solvers.audit.certificate import Side
from sdcensus.solvers.audit.intervals import CellStatus

SUM = Proof(
    side=None,
    bound=3,
    published=(
        ProofTerm("sex=M, area=_T", Fraction(1), 8),
        ProofTerm("sex=M, area=1", Fraction(-1), 5),
    ),
    zeros=2,
)
BOUND = Proof(
    side=Side.UPPER,
    bound=4,
    published=(ProofTerm("a=1", Fraction(1, 2), 8),),
    zeros=1,
    withheld=(ProofTerm("a=2", Fraction(-1), 0),),
    slack=Fraction(1),
)


def cell(name: str, lower: int | None, upper: int | None, status: CellStatus) -> AuditedCell:
    proofs = (SUM,) if status is CellStatus.DISCLOSED else ()
    return AuditedCell(
        table="t.csv",
        cell=name,
        secondary=None,
        lower=lower,
        upper=upper,
        status=status,
        proofs=proofs,
    )


FINDINGS = AuditFindings(
    tables=(AuditedTable("t.csv", 20, 16, 4, 0, "SBS"),),
    cells=(
        cell("a=1", 3, 3, CellStatus.DISCLOSED),
        cell("a=<2>", 99, 101, CellStatus.APPROXIMATE),
        cell("a=3", 0, 25, CellStatus.PROTECTED),
        cell("a=4", 0, None, CellStatus.PROTECTED),
    ),
    percent=Fraction(10),
    width=3,
    tolerance=1,
    failed=(FailedSum("a=_T", 4, -1),),
    fractional=1,
    unproven=1,
    wrong=1,
    notes=("Something else.",),
)


def test_a_proof_is_a_sum_that_anybody_can_do() -> None:
    assert proof_text(SUM, 0) == (
        "= 8 [sex=M, area=_T] − 5 [sex=M, area=1] and 2 cells published as 0"
    )
    assert proof_text(BOUND, 0) == (
        "≤ 1/2 × 8 [a=1] and 1 cell published as 0 give or take 1; as [a=2] ≥ 0"
    )
    assert proof_text(Proof(side=None, bound=3, elsewhere="b.csv"), 0) == "published in b.csv"
    assert proof_text(Proof(side=Side.UPPER, bound=0, zeros=3), 0).startswith("≤ 0 and 3")
    many = Proof(
        side=None,
        bound=20,
        published=tuple(ProofTerm(f"a={at}", Fraction(1), 1) for at in range(20)),
    )
    assert proof_text(many, 0).endswith("and 8 more cells")


def test_amounts_have_their_decimals() -> None:
    assert amount_text(1205, 2) == "12.05"
    assert amount_text(-5, 2) == "-0.05"
    assert interval_text(FINDINGS.cells[3], 0) == "[0, ∞]"


def test_widths_are_counted_by_classes() -> None:
    assert dict(widths(FINDINGS)) == {
        "0": 1,
        "1": 0,
        "2–4": 1,
        "5–9": 0,
        "10–19": 0,
        "20–49": 1,
        "no bound": 1,
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_tells_everything_in_every_language(language: str) -> None:
    page = audit_page(FINDINGS, language)
    assert "a=&lt;2&gt;" in page
    assert "[3, 3]" in page
    assert "<svg" in page
    assert lead(FINDINGS, language) in page
    assert len(scope(FINDINGS, language)) == 8
    assert f'lang="{language}"' in page


def test_a_page_of_many_cells_says_how_many_more_there_are() -> None:
    many = tuple(cell(f"a={at}", 1, 1, CellStatus.DISCLOSED) for at in range(MOST_CELLS + 7))
    page = audit_page(AuditFindings(tables=FINDINGS.tables, cells=many))
    assert "7 more cells stand in the workbook" in page
    nothing = audit_page(AuditFindings(tables=FINDINGS.tables, cells=()))
    assert "No cell is withheld" in nothing


def test_the_csv_file_has_a_line_for_each_cell() -> None:
    rows = list(csv.DictReader(io.StringIO(audit_csv(FINDINGS))))
    assert [row["cell"] for row in rows] == ["a=1", "a=<2>", "a=3", "a=4"]
    assert [row["upper"] for row in rows] == ["3", "101", "25", ""]
    assert rows[0]["proof"].startswith("'= 8")


def test_the_workbook_has_sheets_for_cells_tables_and_sums() -> None:
    book = CalamineWorkbook.from_filelike(io.BytesIO(audit_workbook(FINDINGS)))
    assert len(book.sheet_names) == 4
    cells = book.get_sheet_by_name("withheld cells").to_python()
    assert [row[1] for row in cells[-4:]] == ["a=1", "a=<2>", "a=3", "a=4"]


@pytest.mark.parametrize("ending", [".html", ".xlsx", ".csv"])
def test_files_are_for_their_owner(tmp_path: Path, ending: str) -> None:
    target = check_audit_target(tmp_path / f"audit{ending}")
    write_audit(FINDINGS, target)
    if os.name != "nt":
        assert target.stat().st_mode & 0o077 == 0
    with pytest.raises(OutputError, match="exists"):
        check_audit_target(target)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.html, \.xlsx or \.csv"):
        check_audit_target(tmp_path / "audit.pdf")
