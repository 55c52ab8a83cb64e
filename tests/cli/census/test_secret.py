from __future__ import annotations

import io
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Village

NUMBERED = re.compile(r"\d/\d: ([0-9a-f ]+)")


def secret_digits(path: Path) -> list[str]:
    """Every group of digits of the numbered lines of a secret's file or sheet."""
    text = path.read_text(encoding="utf-8")
    return [group for line in NUMBERED.findall(text) for group in line.split()]


def private(path: Path) -> bool:
    return os.name == "nt" or not stat.S_IMODE(path.stat().st_mode) & 0o077


def test_a_new_secret_is_private_and_its_digits_are_not_shown(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "office.secret"
    answer = run("secret", "new", path)
    assert answer.code == 0
    assert private(path)
    digits = secret_digits(path)
    assert len(digits) == 4 * 5
    # The id of the secret is shown: sixteen digits in which a group of four may stand by chance.
    shown = (answer.out + answer.err).replace(str(path), "")
    assert not {*digits} & {*re.findall(r"\w+", shown)}
    in_a_row = "".join(digits)
    runs = {in_a_row[at : at + 8] for at in range(len(in_a_row) - 7)}
    assert not [run_of for run_of in runs if run_of in re.sub(r"[\s:-]", "", shown)]
    assert f"sdcensus secret sheet {path}" in answer.out


def test_a_secret_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "office.secret"
    run("secret", "new", path)
    before = path.read_bytes()
    answer = run("secret", "new", path)
    assert answer.code == 7
    assert answer.err.startswith(f"error: {path} exists already")
    assert path.read_bytes() == before


def test_the_sheet_restores_the_secret(run: Run, tmp_path: Path) -> None:
    path, sheet, again = (tmp_path / name for name in ("a.secret", "sheet.txt", "b.secret"))
    assert run("secret", "new", path, "--sheet", sheet).code == 0
    assert private(sheet)
    assert secret_digits(sheet) == secret_digits(path)
    assert run("secret", "restore", sheet, again).code == 0
    assert secret_digits(again) == secret_digits(path)
    assert private(again)
    assert run("secret", "check", path, again).code == 0


def test_the_sheet_can_be_typed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, again = tmp_path / "a.secret", tmp_path / "b.secret"
    shown = run("secret", "new", path, "--show-sheet").out
    assert all(group in shown for group in secret_digits(path))
    monkeypatch.setattr(sys, "stdin", io.StringIO(shown))
    assert run("secret", "restore", "-", again).code == 0
    assert secret_digits(again) == secret_digits(path)


def test_restoring_needs_the_lines_of_a_sheet(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run("secret", "restore", tmp_path / "none.txt", tmp_path / "a.secret")
    assert answer.code == 7
    assert "none.txt does not exist. Give the file with the lines of the sheet" in answer.err
    monkeypatch.setattr(sys, "stdin", None)
    assert run("secret", "restore", "-", tmp_path / "a.secret").code == 7
    assert not list(tmp_path.iterdir())


def test_a_mistyped_line_is_named_and_nothing_is_written(run: Run, tmp_path: Path) -> None:
    path, sheet, again = (tmp_path / name for name in ("a.secret", "sheet.txt", "b.secret"))
    run("secret", "new", path, "--sheet", sheet)
    lines = sheet.read_text(encoding="utf-8").splitlines()
    at = next(number for number, line in enumerate(lines) if "2/4:" in line)
    digit = lines[at][-1]
    lines[at] = lines[at][:-1] + ("0" if digit != "0" else "1")
    sheet.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    answer = run("secret", "restore", sheet, again)
    assert answer.code == 7
    assert "line 2 is mistyped" in answer.err
    assert not again.exists()


def test_no_secret_is_made_when_its_sheet_cannot_be_written(run: Run, tmp_path: Path) -> None:
    path, sheet = tmp_path / "a.secret", tmp_path / "sheet.txt"
    sheet.write_text("shopping list", encoding="utf-8", newline="\n")
    answer = run("secret", "new", path, "--sheet", sheet)
    assert answer.code == 8
    assert "already exists" in answer.err
    assert not path.exists()
    assert sheet.read_text(encoding="utf-8") == "shopping list"
    assert run("secret", "new", path, "--sheet", tmp_path / "no" / "sheet.txt").code == 8
    assert run("secret", "new", path, "--sheet", path).code == 8
    assert not path.exists()


def test_a_sheet_can_be_written_later(run: Run, tmp_path: Path) -> None:
    path, sheet = tmp_path / "a.secret", tmp_path / "sheet.txt"
    run("secret", "new", path)
    assert run("secret", "sheet", path).code == 2
    assert run("secret", "sheet", path, "--out", sheet).code == 0
    assert secret_digits(sheet) == secret_digits(path)
    assert run("secret", "sheet", path, "--out", sheet).code == 8
    assert all(group in run("secret", "sheet", path, "--show").out for group in secret_digits(path))


def test_check_compares_ids(run: Run, tmp_path: Path, village: Village) -> None:
    answer = run("secret", "check", village.secret, "--store", village.store)
    assert answer.code == 0
    assert f"It is the secret of {village.store}." in answer.out
    identity = re.search(r"id is ([0-9a-f]{16})", answer.out)
    assert identity is not None
    assert run("secret", "check", village.secret, identity[1]).code == 0

    other = tmp_path / "other.secret"
    run("secret", "new", other)
    for arguments in (["--store", village.store], [village.secret], [identity[1]]):
        answer = run("secret", "check", other, *arguments)
        assert answer.code == 7
        assert "is not the secret of" in answer.err


def test_a_secret_that_others_can_read_is_refused(run: Run, tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("permissions are another matter on Windows")
    path = tmp_path / "a.secret"
    run("secret", "new", path)
    path.chmod(0o644)
    answer = run("secret", "check", path)
    assert answer.code == 7
    assert "chmod 600" in answer.err


# ---------------------------------------------------------------- for a server


def test_the_look_up_secret_is_made_shown_and_refused_as_an_office_secret(
    run: Run, tmp_path: Path
) -> None:
    office, server = tmp_path / "office.secret", tmp_path / "server.secret"
    run("secret", "new", office)
    answer = run("secret", "lookup", office, server)
    assert answer.code == 0
    assert private(server)
    digits = re.findall(r"key \d: (.*)", server.read_text(encoding="ascii"))
    assert len(digits) == 2
    groups = " ".join(digits).split()
    assert not [group for group in groups if group in answer.out + answer.err]
    shown = run("secret", "check", server, office)
    assert shown.code == 0
    assert "It is for lookup version 1" in " ".join(shown.out.split())
    assert run("secret", "check", office, server).code == 0
    assert run("secret", "lookup", office, server).code == 7
    for words in (("lookup", server, tmp_path / "x"), ("sheet", server, "--show")):
        refused = run("secret", *words)
        assert refused.code == 7
        assert "is a secret for one purpose" in refused.err
    assert not (tmp_path / "x").exists()
