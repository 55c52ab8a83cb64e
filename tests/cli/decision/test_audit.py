"""``sdcensus audit`` at the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.formats.read.argus.written import write

OPEN = "a,b,value,status\nx,1,5,s\nx,2,3,u\nx,Total,8,s\ny,1,4,s\ny,2,2,x\ny,Total,6,s\n"
SHUT = (
    "a,b,value,status\nx,1,5,u\nx,2,3,x\nx,Total,8,s\ny,1,4,x\ny,2,2,x\ny,Total,6,s\n"
    "Total,1,9,s\nTotal,2,5,s\nTotal,Total,14,s\n"
)


def written(folder: Path, text: str, name: str = "t.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_disclosed_cells_are_told_with_what_discloses_them(run: Run, tmp_path: Path) -> None:
    answer = run("audit", written(tmp_path, OPEN))
    assert answer.code == 4
    assert "2 of 2 withheld cells can be computed exactly" in answer.out
    assert "a=x, b=2: [3, 3], disclosed" in answer.out
    assert "= 8 [a=x, b=_T] − 5 [a=x, b=1]" in answer.out
    assert "note: Found from the sums of cells" in answer.err


def test_protected_cells_leave_with_nothing(run: Run, tmp_path: Path) -> None:
    answer = run("audit", written(tmp_path, SHUT))
    assert answer.code == 0
    assert "None of 4 withheld cells can be computed" in answer.out
    near = run("audit", written(tmp_path, SHUT), "--width", "6", "--show", "1")
    assert near.code == 0
    assert "None of 4 withheld cells can be computed exactly; 4 can be computed nearly" in near.out
    assert "and 3 more cells" in near.out


def test_reports_are_written_once(run: Run, tmp_path: Path) -> None:
    file, page, book = written(tmp_path, OPEN), tmp_path / "a.html", tmp_path / "a.csv"
    answer = run("audit", file, "--out", page, "--out", book, "--language", "fr")
    assert answer.code == 4
    assert "révélée" in page.read_text(encoding="utf-8")
    assert "only you can read" in answer.out
    assert book.exists()
    assert run("audit", file, "--out", page).code != 0
    assert run("audit", file, "--out", tmp_path / "a.pdf").code != 0


def test_files_of_tau_argus_are_named(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path)
    answer = run("audit", file, "--rda", tmp_path / "regions.rda", "--quiet")
    assert (answer.code, answer.out) == (0, "")
    tree = tmp_path / "region.hrc"
    tree.rename(tmp_path / "other.hrc")
    named = ("--hrc", f"Region={tmp_path / 'other.hrc'}")
    assert run("audit", file, "--rda", tmp_path / "regions.rda", *named).code == 0
    missing = run("audit", file, "--rda", tmp_path / "regions.rda")
    assert missing.code != 0
    assert "--hrc" in missing.err


def test_columns_and_statuses_can_be_named(run: Run, tmp_path: Path) -> None:
    text = "year,zone,what,mark\n2020,1,5,open\n2020,2,3,shut\n2020,all,8,open\n"
    file = written(tmp_path, text)
    told = ("--codes", "zone", "--value", "what", "--status", "mark", "--total", "zone=all")
    answer = run("audit", file, *told, "--shown", "open", "--withheld", "shut")
    assert answer.code == 4
    assert "zone=2: [3, 3]" in answer.out
    tree = written(tmp_path, "1\n2\n", "zone.hrc")
    answer = run(
        *("audit", file, *told, "--shown", "open", "--withheld", "shut", "--hrc", tree),
        *("--absent", "zero"),
    )
    assert answer.code == 4


def test_sums_that_fail_stop_without_a_tolerance(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, SHUT.replace("Total,Total,14", "Total,Total,16"))
    answer = run("audit", file)
    assert answer.code == 5
    assert "do not add up" in answer.err
    assert "a=_T, b=_T" in answer.err
    assert run("audit", file, "--tolerance", "2").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "Name a table"),
        (("--percent", "many"), "is no number"),
        (("--percent", "-1"), "0 or more"),
        (("--width", "x"), "is no number"),
        (("--lowest", "0.5"), "whole number, or none"),
        (("--absent", "perhaps"), "'zero' or"),
        (("--total", "zone"), "COLUMN=CODE"),
        (("--language", "xx"), "language"),
    ],
)
def test_what_cannot_be_meant_is_told(
    run: Run, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    file = [] if not options else [written(tmp_path, OPEN)]
    answer = run("audit", *file, *options)
    assert answer.code != 0
    assert said in answer.err


def test_every_option_changes_what_is_found(run: Run, tmp_path: Path) -> None:
    """Each option beside the same command without it."""
    file = written(tmp_path, SHUT)
    plain = run("audit", file, "--show", "9", "--percent", "99")
    changed = {
        "--percent": run("audit", file, "--show", "9", "--percent", "1"),
        "--width": run("audit", file, "--show", "9", "--percent", "99", "--width", "99"),
        "--withheld-from": run(
            "audit", file, "--show", "9", "--percent", "99", "--withheld-from", "1"
        ),
        "--withheld-below": run(
            "audit", file, "--show", "9", "--percent", "99", "--withheld-below", "6"
        ),
        "--lowest": run("audit", file, "--show", "9", "--percent", "99", "--lowest", "none"),
        "--tolerance": run("audit", file, "--show", "9", "--percent", "99", "--tolerance", "1"),
        "--proofs": run("audit", file, "--show", "9", "--percent", "99", "--proofs", "0"),
        "--show": run("audit", file, "--show", "1", "--percent", "99"),
        "--language": run("audit", file, "--show", "9", "--percent", "99", "--language", "nl"),
        "--whole-numbers": run("audit", file, "--show", "9", "--percent", "99", "--whole-numbers"),
        "--atoms": run("audit", file, "--show", "9", "--percent", "99", "--atoms"),
    }
    for name, answer in changed.items():
        assert (answer.out, answer.err) != (plain.out, plain.err), name
