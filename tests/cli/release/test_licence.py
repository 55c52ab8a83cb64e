"""``sdcensus licence`` as an office types it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from sdcensus.model.catalogue import LANGUAGES
from tests.cli.conftest import Run
from tests.session.licence.handed import enter, licensed, prepare


def test_from_application_to_exclusion(run: Run, tmp_path: Path) -> None:
    office = str(tmp_path / "office")
    said = ["--applicant", "Ana Ruiz", "--file", "hf,lf", "--project", "Migration"]
    unknown = run("licence", "apply", office, *said, "--date", "2026-01-05")
    assert (unknown.code, unknown.out) == (4, "")
    assert "hf is not registered" in unknown.err
    assert "sdcensus release register FOLDER" in " ".join(unknown.err.split())
    for name in ("hf", "lf"):
        enter(tmp_path / "office", name)
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
    assert "hf, lf" in listed


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_about_a_licence_in_every_language(
    run: Run, tmp_path: Path, language: str
) -> None:
    office = str(tmp_path / "office")
    enter(tmp_path / "office", "f")
    day = ("--date", "2026-01-05")
    run("licence", "apply", office, "--applicant", "A", "--file", "f", "--project", "p", *day)
    run("licence", "decide", office, "2026-001", "--name", "B", "--refuse", "--reason", "no", *day)
    told = run("licence", "show", office, "2026-001", "-l", language)
    assert told.code == 0, told.err
    assert len(told.out.splitlines()) >= 2
    assert "{" not in told.out


def test_agreement_copy_holder_and_page(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path, dwellings=400)
    office, document = str(tmp_path / "office"), str(tmp_path / "release.toml")
    secret, copy = ("--secret", str(tmp_path / "office.secret")), tmp_path / "copy"
    number = licensed(tmp_path, "Zoë Émile")
    out = ("--out", str(tmp_path / "agreement.html"))
    answer = run("licence", "agreement", office, number, "--release", document, *out)
    assert answer.code == 0, answer.err
    assert run("licence", "agreement", office, number, "--release", document, *out).code != 0
    given = ("licence", "hand-out", office, number, document, "--out", str(copy), *secret)
    answer = run(*given, "--date", "2026-02-01")
    assert answer.code == 0, answer.err
    assert answer.out.startswith(f"Copy of lf for licence {number} (Zoë Émile): ")
    digest = hashlib.sha256((copy / "lf-persons.csv").read_bytes()).hexdigest()
    assert digest in run("licence", "show", office, number).out
    asked = ("licence", "holder", office, str(copy / "lf-persons.csv"), "--release", document)
    assert f"licence {number}, Zoë Émile." in run(*asked, *secret).out
    for language in LANGUAGES:
        answer = run(*asked, *secret, "-l", language)
        assert answer.code == 0
        assert "{" not in answer.out
    head, *rows = (copy / "lf-persons.csv").read_text(encoding="utf-8").splitlines()
    stripped = sorted(row.split(",", 2)[2] for row in rows)
    found = tmp_path / "sorted.csv"
    found.write_text("\n".join([head.split(",", 2)[2], *stripped]), encoding="utf-8")
    answer = run("licence", "holder", office, str(found), "--release", document, *secret)
    assert "Sorting removes the order" in answer.out
    assert "Zoë" not in answer.out
    site = ("release", "catalogue", office, "--out", str(tmp_path / "site"))
    assert run(*site, "-l", "fr").out.startswith("Fichiers sur la page")
    calendar = ("--calendar", str(tmp_path / "due.ics"), "--on", "2098-12-31")
    assert run("licence", "due", office, *calendar).out.startswith("1 reminders")
