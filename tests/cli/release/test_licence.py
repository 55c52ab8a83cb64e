"""``sdcensus licence`` as an office types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.model.catalogue import LANGUAGES
from tests.cli.conftest import Run


def test_from_application_to_exclusion(run: Run, tmp_path: Path) -> None:
    office = str(tmp_path / "office")
    said = ["--applicant", "Ana Ruiz", "--file", "puf,lf", "--project", "Migration"]
    answer = run("licence", "apply", office, *said, "--date", "2026-01-05")
    assert answer.code == 0, answer.err
    assert answer.out == "Licence 2026-001, Ana Ruiz: applied for.\n"
    for name in ("Ben Okafor", "Li Wei"):
        decided = ("--name", name, "--grant", "--date", "2026-01-06")
        assert run("licence", "decide", office, "2026-001", *decided).code == 0
    signed = ("--signed-by", "Ana Ruiz", "--date", "2026-01-07", "--expires", "2027-01-07")
    assert "active" in run("licence", "agree", office, "2026-001", *signed).out
    due = run("licence", "due", office, "--on", "2026-12-20", "--within", "30")
    assert due.out == "2026-001  Ana Ruiz: expires on 2027-01-07\n"
    breach = ("--what", "on a server", "--date", "2026-03-01")
    assert run("licence", "breach", office, "2026-001", *breach).code == 0
    excluded = ("--kind", "exclusion", "--name", "Ben Okafor", "--date", "2026-03-02")
    assert "excluded" in run("licence", "sanction", office, "2026-001", *excluded).out
    refused = run("licence", "apply", office, *said, "--date", "2026-04-01")
    assert (refused.code, refused.out) == (4, "")
    assert "excluded" in refused.err
    listed = run("licence", "show", office, "--on", "2026-04-01").out
    assert "2026-001" in listed
    assert "puf, lf" in listed


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_about_a_licence_in_every_language(
    run: Run, tmp_path: Path, language: str
) -> None:
    office = str(tmp_path / "office")
    day = ("--date", "2026-01-05")
    run("licence", "apply", office, "--applicant", "A", "--file", "f", "--project", "p", *day)
    run("licence", "decide", office, "2026-001", "--name", "B", "--refuse", "--reason", "no", *day)
    told = run("licence", "show", office, "2026-001", "-l", language)
    assert told.code == 0, told.err
    assert len(told.out.splitlines()) >= 2
    assert "{" not in told.out
