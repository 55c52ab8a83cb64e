"""Audits of files: of other tools, of tau-ARGUS and of our own."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import InputError, Refused, SpecError
from sdcensus.formats.write import write_table
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.audit.results import AuditFindings
from sdcensus.report.audit.words import proof_text
from sdcensus.session.audit import (
    ArgusFiles,
    AuditOptions,
    CellStatus,
    Columns,
    audit_tables,
    read_tables,
)
from sdcensus.solvers.audit.intervals import DoesNotAddUp
from tests.formats.made import PROVENANCE, SCHEMA
from tests.formats.read.argus.written import METADATA, cells, write

#: Section 6.3 of the methods as a file: codes, value, status.
PRINTED = [[20, 50, 10, 80], [8, 19, 22, 49], [17, 32, 12, 61], [45, 101, 44, 190]]
WITHHELD = {(1, 0): "u", (1, 2): "x", (2, 0): "x", (2, 2): "x"}


def printed(folder: Path, *, values: bool = True, name: str = "t.csv") -> Path:
    names = ["1", "2", "3", "Total"]
    lines = ["row,column,value,status"]
    for row, numbers in enumerate(PRINTED):
        for column, number in enumerate(numbers):
            status = WITHHELD.get((row, column), "s")
            shown = number if values or status == "s" else ""
            lines.append(f"{names[row]},{names[column]},{shown},{status}")
    file = folder / name
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def audited(
    *paths: Path,
    options: AuditOptions | None = None,
    files: ArgusFiles | None = None,
    columns: Columns | None = None,
) -> AuditFindings:
    tables, notes = read_tables(paths, files, columns)
    return audit_tables(tables, options or AuditOptions(workers=1), notes=notes)


def intervals(findings: AuditFindings) -> dict[str, tuple[int | None, int | None]]:
    return {cell.cell: (cell.lower, cell.upper) for cell in findings.cells}


@pytest.mark.parametrize("values", [True, False])
def test_the_printed_table_has_the_printed_intervals(tmp_path: Path, values: bool) -> None:
    findings = audited(printed(tmp_path, values=values))
    assert intervals(findings) == {
        "row=2, column=1": (0, 25),
        "row=2, column=3": (5, 30),
        "row=3, column=1": (0, 25),
        "row=3, column=3": (4, 29),
    }
    assert findings.count(CellStatus.PROTECTED) == 4
    assert findings.wrong == 0
    kinds = {cell.cell: cell.secondary for cell in findings.cells}
    assert kinds["row=2, column=1"] is False
    assert kinds["row=3, column=3"] is True


def test_a_cell_without_company_is_disclosed_by_its_line(tmp_path: Path) -> None:
    file = printed(tmp_path)
    file.write_text(file.read_text().replace(",x", ",s"), encoding="utf-8")
    findings = audited(file)
    (cell,) = findings.cells
    assert (cell.lower, cell.upper, cell.status) == (8, 8, CellStatus.DISCLOSED)
    (proof,) = cell.proofs
    assert proof.side is None
    total = sum(term.factor * term.value for term in proof.published)
    assert total == 8
    text = proof_text(proof, 0)
    assert text.startswith("= ")
    assert "[row=" in text


def test_two_tables_disclose_what_each_protects(tmp_path: Path) -> None:
    """A second file shows the margins of what the first withholds."""
    first = printed(tmp_path, values=False)
    lines = (
        first.read_text()
        .replace("2,Total,49,s", "2,Total,,x")
        .replace("3,Total,61,s", "3,Total,,x")
    )
    lines = lines.replace("Total,1,45,s", "Total,1,,x").replace("Total,3,44,s", "Total,3,,x")
    first.write_text(lines, encoding="utf-8")
    second = tmp_path / "margin.csv"
    second.write_text("row,value\n1,80\n2,49\n3,61\nTotal,190\n", encoding="utf-8")
    alone, both = audited(first), audited(first, second)
    assert alone.count(CellStatus.DISCLOSED) == 0
    shown = [cell for cell in both.cells if cell.status is CellStatus.DISCLOSED]
    assert {cell.cell for cell in shown} == {"row=2, column=_T", "row=3, column=_T"}
    assert shown[0].proofs[0].elsewhere == "margin.csv: row=2"
    apart = audited(first, second, options=AuditOptions(separately=True))
    assert apart.count(CellStatus.DISCLOSED) == 0


def test_near_is_by_percent_by_width_and_by_protection_levels(tmp_path: Path) -> None:
    file = printed(tmp_path)
    strict = audited(file, options=AuditOptions(percent=Fraction(99), proofs=9))
    assert strict.count(CellStatus.APPROXIMATE) == 2  # 5 to 30 and 4 to 29
    near = [cell for cell in strict.cells if cell.status is CellStatus.APPROXIMATE]
    assert all(len(cell.proofs) == 2 for cell in near)
    wide = audited(file, options=AuditOptions(width=Fraction(26)))
    assert wide.count(CellStatus.APPROXIMATE) == 4
    exact = audited(file, options=AuditOptions(width=Fraction(25)))
    assert exact.count(CellStatus.APPROXIMATE) == 0


def test_a_table_of_tau_argus_is_audited_with_its_levels(tmp_path: Path) -> None:
    file = write(tmp_path)
    files = ArgusFiles(metadata=tmp_path / "regions.rda")
    findings = audited(file, files=files)
    assert findings.decimals == 1
    assert intervals(findings)["Size=large, Region=S1"] == (0, 200)
    assert findings.count(CellStatus.APPROXIMATE) == 0
    levels = file.read_text().replace("U;2,5;2,5", "U;25;2,5")
    file.write_text(levels, encoding="utf-8")
    strict = audited(file, files=files)
    near = [cell.cell for cell in strict.cells if cell.status is CellStatus.APPROXIMATE]
    assert near == ["Size=small, Region=N1"]  # at least 8, where 0 would be needed
    file.write_text(levels.replace("U;25;2,5", "U;2,5;90"), encoding="utf-8")
    near = [
        cell.cell
        for cell in audited(file, files=files).cells
        if cell.status is CellStatus.APPROXIMATE
    ]
    assert near == ["Size=small, Region=N1"]


def test_metadata_of_the_same_name_are_found(tmp_path: Path) -> None:
    file = write(tmp_path)
    assert len(audited(file).cells) == 8
    (tmp_path / "regions.rda").unlink()
    with pytest.raises(InputError, match=r"regions\.rda beside it.*--rda"):
        audited(file)


def test_history_files_say_what_is_withheld(tmp_path: Path) -> None:
    file = write(tmp_path)
    plain = file.read_text().replace(";U;", ";S;").replace(";M;", ";S;")
    file.write_text(plain, encoding="utf-8")
    before = tmp_path / "before.hst"
    before.write_text('"small";"N1";u\n', encoding="utf-8")
    files = ArgusFiles(metadata=tmp_path / "regions.rda", history=before)
    findings = audited(file, files=files)
    assert intervals(findings) == {"Size=small, Region=N1": (200, 200)}
    assert findings.count(CellStatus.DISCLOSED) == 1


def test_a_batch_names_its_files(tmp_path: Path) -> None:
    write(tmp_path)
    batch = tmp_path / "run.arb"
    text = (
        '<OPENTABLEDATA> "regions.tab"\n<OPENMETADATA> "regions.rda"\n'
        '<SPECIFYTABLE> "Size""Region"|"Turnover"||\n<SAFETYRULE> MAN(10)\n<READTABLE> 1\n'
        '<SUPPRESS> MOD(1,5,1,1,1)\n<WRITETABLE> (1,2,AS+,"out.csv")\n'
    )
    batch.write_text(text, encoding="utf-8")
    findings = audited(batch)
    assert len(findings.cells) == 8
    assert "modular" in findings.notes[0]
    lines = ["Size,Region,Turnover,Status"]
    lines += [f"{size},{part},{value},1" for (size, part), value in cells().items()]
    (tmp_path / "out.csv").write_text("\n".join(lines), encoding="utf-8")
    assert audited(batch).cells == ()
    batch.write_text(text.replace("OPENTABLEDATA", "OPENMICRODATA").replace("out", "none"))
    with pytest.raises(InputError, match=r"line 3.*Run the batch first"):
        audited(batch)


def our_table(name: str, hidden: list[tuple[int, ...]], folder: Path) -> Path:
    spec = TableSpec.build(SCHEMA, ["area+parish", "sex"])
    counts = with_totals(spec, np.arange(1, 1 + spec.base_cells).reshape(spec.base_shape))
    mask = np.zeros(spec.shape, dtype=bool)
    for place in hidden:
        mask[place] = True
    flags = np.where(mask, Mark.WITHHELD, Mark.NONE).astype(np.uint8)
    table = Table(spec, np.where(mask, 0, counts), flags)
    provenance = replace(PROVENANCE, spec_hash=spec.hash())
    return write_table(table, folder / name, provenance=provenance)


def test_our_own_folders_are_audited(tmp_path: Path) -> None:
    our_table("t.csv", [(0, 0)], tmp_path)
    findings = audited(tmp_path)
    (cell,) = findings.cells
    assert cell.status is CellStatus.DISCLOSED
    assert cell.secondary is None
    assert findings.tables[0].name == "t.csv"
    file = audited(tmp_path / "t.csv")
    assert file.cells[0].cell == cell.cell
    with pytest.raises(InputError, match="describe themselves"):
        audited(tmp_path, files=ArgusFiles(totals={"area": "x"}))


def test_tables_with_noise_in_a_published_folder_are_left_out_and_told(tmp_path: Path) -> None:
    our_table("legal.csv", [(0, 0)], tmp_path)
    spec = TableSpec.build(SCHEMA, ["sex"])
    noise = Table(spec, np.array([7, 3, 11][: spec.cells]), None)
    provenance = replace(PROVENANCE, spec_hash=spec.hash())
    write_table(noise, tmp_path / "noise.csv", provenance=provenance)
    findings = audited(tmp_path)
    assert [table.name for table in findings.tables] == ["legal.csv"]
    assert findings.cells[0].status is CellStatus.DISCLOSED
    assert any(note.startswith("noise.csv withholds nothing") for note in findings.notes)


def test_a_folder_of_another_tools_files_is_read_by_their_columns(tmp_path: Path) -> None:
    printed(tmp_path, name="1.csv")
    printed(tmp_path, values=False, name="2.csv")
    findings = audited(tmp_path)
    assert [table.name for table in findings.tables] == ["1.csv", "2.csv"]
    assert len(findings.cells) == 4


def test_a_code_with_one_part_shows_what_its_part_withholds(tmp_path: Path) -> None:
    (tmp_path / "code.hrc").write_text("A\n@A1\n@@A11\nB\n", encoding="utf-8")
    file = tmp_path / "t.csv"
    text = "code,value,status\nA11,5,u\nA1,5,u\nA,5,s\nB,3,s\nTotal,8,s\n"
    file.write_text(text, encoding="utf-8")
    findings = audited(file, files=ArgusFiles(trees={"code": tmp_path / "code.hrc"}))
    (cell,) = findings.cells
    assert cell.status is CellStatus.DISCLOSED
    assert cell.proofs[0].elsewhere == "t.csv: code=A"


def test_sums_that_fail_are_told_with_their_codes(tmp_path: Path) -> None:
    file = printed(tmp_path)
    file.write_text(file.read_text().replace("1,1,20,s", "1,1,21,s"), encoding="utf-8")
    with pytest.raises(DoesNotAddUp) as raised:
        audited(file)
    text = str(raised.value)
    assert "row=1, column=_T: its 3 parts add up to 1 more" in text
    assert "--tolerance" in text
    findings = audited(file, options=AuditOptions(tolerance=Fraction(1)))
    assert findings.tolerance == 1
    assert findings.failed[0].total == "row=1, column=_T"
    assert findings.failed[0].gap == 1


def test_contradictions_between_files_are_told(tmp_path: Path) -> None:
    first = printed(tmp_path)
    second = tmp_path / "margin.csv"
    second.write_text("row,value\n1,80\n2,49\n3,61\nTotal,195\n", encoding="utf-8")
    with pytest.raises(DoesNotAddUp, match=r"different values for the same cell.*--separately"):
        audited(first, second)


def test_negative_values_need_a_word(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    text = "a,value,status\nx,-5,s\ny,3,u\nz,4,u\nTotal,2,s\n"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"a=x is negative.*--lowest none"):
        audited(file)
    findings = audited(file, options=AuditOptions(lowest=None))
    assert all(cell.lower is None and cell.upper is None for cell in findings.cells)
    assert findings.unbounded == 2


def test_combinations_that_are_not_listed_are_withheld_or_empty(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    text = "a,b,value,status\nx,1,5,s\nx,2,3,u\ny,1,4,s\nx,Total,8,s\nTotal,1,9,s\nTotal,2,3,s\n"
    file.write_text(text, encoding="utf-8")
    open_ended = audited(file)
    assert open_ended.tables[0].absent == 3
    assert intervals(open_ended) == {"a=x, b=2": (3, 3)}
    rows = "a,b,value,status\nx,1,5,s\nx,2,3,u\ny,1,4,s\nTotal,2,3,s\nTotal,1,9,s\n"
    file.write_text(rows, encoding="utf-8")
    assert intervals(audited(file)) == {"a=x, b=2": (0, 3)}
    empty = audited(file, files=ArgusFiles(empty=True))
    assert intervals(empty) == {"a=x, b=2": (3, 3)}


def test_what_a_rule_withholds_is_known_to_be_small(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,value\nx,c\ny,c\nz,9\nTotal,13\n", encoding="utf-8")
    assert set(intervals(audited(file)).values()) == {(0, 4)}
    known = audited(file, options=AuditOptions(withheld_below=3))
    assert set(intervals(known).values()) == {(2, 2)}


def test_withheld_cells_hold_somebody_where_empty_ones_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,value\nx,c\ny,c\nz,0\nTotal,2\n", encoding="utf-8")
    free = audited(file)
    assert set(intervals(free).values()) == {(0, 2)}
    assert any("--withheld-from 1" in note for note in free.notes)
    known = audited(file, options=AuditOptions(withheld_from=1, atoms=True))
    assert set(intervals(known).values()) == {(1, 1)}
    assert not any("--withheld-from 1" in note for note in known.notes)


@pytest.mark.parametrize(
    "said", [AuditOptions(withheld_from=2), AuditOptions(withheld_below=1)], ids=["from", "below"]
)
def test_what_is_said_of_withheld_cells_and_fits_nothing_is_named(
    tmp_path: Path, said: AuditOptions
) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,value\nx,c\ny,c\nz,0\nTotal,3\n", encoding="utf-8")
    with pytest.raises(DoesNotAddUp, match=r"what is said of withheld cells: --withheld-"):
        audited(file, options=said)


def test_values_outside_of_their_interval_show_a_wrong_file(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,value,status\nx,9,u\ny,3,u\nz,9,s\nTotal,13,s\n", encoding="utf-8")
    assert audited(file).wrong == 1


def test_atoms_are_used_where_there_are_few(tmp_path: Path) -> None:
    texts = {
        "ab": "a,b,value\n0,0,0\n0,1,3\n1,0,9\n1,1,2\n",
        "ac": "a,c,value\n0,0,0\n0,1,3\n1,0,6\n1,1,5\n",
        "bc": "b,c,value\n0,0,c\n0,1,c\n1,0,c\n1,1,c\n",
    }
    files = []
    for name, text in texts.items():
        file = tmp_path / f"{name}.csv"
        file.write_text(text, encoding="utf-8")
        files.append(file)
    sums, atoms = audited(*files), audited(*files, options=AuditOptions(atoms=True))
    assert atoms.atoms == 8
    assert sums.atoms == 0
    narrower = intervals(atoms)["b=1, c=1"]
    assert narrower[0] == 3
    assert intervals(sums)["b=1, c=1"][0] == 0


def test_what_cannot_be_audited_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        audited(tmp_path / "absent.csv")
    file = printed(tmp_path)
    with pytest.raises(InputError, match="--rda"):
        audited(file, files=ArgusFiles(history=tmp_path / "a.hst"))
    with pytest.raises(SpecError, match="0 cells or more"):
        AuditOptions(proofs=-1)
    with pytest.raises(SpecError, match="1 or more"):
        AuditOptions(withheld_below=0)


def test_findings_keep_what_they_know_to_themselves(tmp_path: Path) -> None:
    findings = audited(printed(tmp_path))
    assert "confidential" in repr(findings)
    assert "confidential" in repr(findings.cells[0])
    with pytest.raises(Refused):
        findings.__reduce_ex__(2)


def test_metadata_of_several_forms_are_read_beside_each_other(tmp_path: Path) -> None:
    """Two tables of one metadata file, audited together."""
    first = write(tmp_path)
    second = tmp_path / "again.tab"
    second.write_text(first.read_text(), encoding="utf-8")
    findings = audited(first, second, files=ArgusFiles(metadata=tmp_path / "regions.rda"))
    assert len(findings.cells) == 8
    assert METADATA.count("<RECODEABLE>") == 2
