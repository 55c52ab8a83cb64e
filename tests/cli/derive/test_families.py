"""The commands of families of methods, as an office types them: with methods as they are."""

from __future__ import annotations

import csv
import json
import os
import stat
from pathlib import Path

import pytest

from sdcensus.cli.derive.impute import IMPUTE
from sdcensus.cli.derive.pram import PRAM
from sdcensus.cli.derive.swap import SWAP
from sdcensus.cli.derive.weigh import WEIGH
from sdcensus.model.method.registry import Part, Registered
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet

PRAM_TENURE = ("--variables", "tenure", "--stay", "0.8")


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    return made


@pytest.fixture
def office(hamlet: Hamlet, monkeypatch: pytest.MonkeyPatch, run: Run) -> Hamlet:
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(hamlet.secret))
    return hamlet


def test_every_way_is_a_registered_method() -> None:
    known = set(Registered(Part.PRE_TABULAR))
    for family in (SWAP, PRAM, IMPUTE, WEIGH):
        assert set(family.ways.values()) <= known, family.command


def test_a_dry_run_shows_what_would_happen_and_writes_no_store(
    run: Run, office: Hamlet, tmp_path: Path
) -> None:
    shown = run("pram", office.store, *PRAM_TENURE, "--plan", "--report", tmp_path / "plan")
    assert shown.code == 0
    assert "are expected to change" in shown.out
    assert "Nothing was written" in shown.out
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["plan", "plan.html", "plan.xlsx"]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "plan").stat().st_mode) == 0o700
    again = run("pram", office.store, *PRAM_TENURE, "--plan", "--report", tmp_path / "plan")
    assert (again.code != 0, "already exists" in again.err) == (True, True)
    french = run("pram", office.store, *PRAM_TENURE, "--plan", "-l", "fr")
    assert "Rien n'a été écrit" in french.out


def test_a_store_with_its_report(run: Run, office: Hamlet, tmp_path: Path) -> None:
    out = tmp_path / "changed.store"
    asked = ["--table", "ed,tenure", "--table", "households: ed,tenure", "--scheme", "CP3"]
    named = ["--association", "ed,tenure"]
    shown = run("pram", office.store, *PRAM_TENURE, "--out", out, *asked, *named)
    assert shown.code == 0
    own = tmp_path / "changed.store.office"
    page = (own / "report.html").read_text(encoding="utf-8")
    assert str(own / "report.html") in shown.out.replace("\n", "")
    for words in ("Confidential", "cell-key CP3", "Tenure", "Decision", "0.8"):
        assert words in page
    assert (own / "report.xlsx").is_file()
    for path in (own / "report.html", own / "report.xlsx"):
        assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o600
    # What the report tells is not in the store.
    assert b"stay" not in b"".join(path.read_bytes() for path in out.glob("*.json"))
    twice = run("pram", out, *PRAM_TENURE, "--out", tmp_path / "twice.store", "-q")
    assert (twice.code, twice.out, twice.err) == (0, "", "")
    line = run("describe", tmp_path / "twice.store").out
    assert "How it was made" in line
    assert "1. A census was loaded" in line
    assert line.count(", version 1: values become others with known probabilities") == 2
    assert "3. pram" in line


def test_weights_and_samples(run: Run, office: Hamlet, tmp_path: Path) -> None:
    out = tmp_path / "w.store"
    asked = ["--one-in", "4", "--level", "total", "--sizes", "1,2,3+"]
    assert run("weigh", office.store, *asked, "--out", out).code == 0
    assert open_store(out).origin.lineage.startswith("perturbation-weights 1 ")
    sample = ["--how", "sample", "--every", "3"]
    assert run("weigh", office.store, *sample, "--out", tmp_path / "s.store").code == 0
    kept = open_store(tmp_path / "s.store").rows(Entity.HOUSEHOLD)
    assert 80 <= kept <= 94
    report = (tmp_path / "s.store.office" / "report.html").read_text(encoding="utf-8")
    assert "were left out" in report


def test_blanked_records_go_out_and_come_back(run: Run, office: Hamlet, tmp_path: Path) -> None:
    file, out = tmp_path / "blanks.csv", tmp_path / "imputed.store"
    asked = ["--blank", "tenure", "--rate", "0.1"]
    shown = run("impute", office.store, *asked, "--context", "ed", "--export", file)
    assert shown.code == 0
    assert "--import" in shown.out
    early = run("impute", office.store, "--import", file, "--out", out)
    assert early.code != 0
    assert "still empty" in early.err
    assert not out.exists()
    with file.open(encoding="utf-8", newline="") as opened:
        records = list(csv.DictReader(opened))
    for record in records:
        record["tenure"] = record["tenure"] or "1"
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    assert run("impute", office.store, "--import", file, "--out", out).code == 0
    assert open_store(out).origin.lineage.startswith("returned-imputation 1 ")
    nearest = [*asked, "--match", "ed"]
    assert run("impute", office.store, *nearest, "--out", tmp_path / "over.store", "-q").code == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["pram", *PRAM_TENURE, "--move", "ed=0.1"], "--move is no option of --how variables."),
        (["pram", *PRAM_TENURE, "--move", "ed=0.1"], "It is for: --how geographic."),
        (["pram", "--how", "sideways"], "Did you mean|There are: variables, geographic"),
        (["pram"], "Name the store to make|needs"),
        (["pram", *PRAM_TENURE, "--report", "x"], "--report goes with --plan"),
        (["pram", *PRAM_TENURE, "--out", "OUT", "--table", "ed,sexx"], "Did you mean 'sex'"),
        (["pram", *PRAM_TENURE, "--out", "OUT", "--association", "ed"], "two variables"),
        (["pram", *PRAM_TENURE, "--out", "OUT", "--scheme", "CP9"], "CP9"),
        (["pram", *PRAM_TENURE, "--out", "OUT", "-l", "xx"], "xx"),
        (["impute", "--how", "returned", "--out", "OUT"], "needs --import FILE"),
        (["impute", "--import", "a", "--export", "b"], "Choose one"),
        (["impute", "--blank", "tenure", "--context", "ed", "--out", "OUT"], "--context goes with"),
        (["impute", "--export", "b.csv", "--out", "OUT"], "Leave --out out"),
        (["weigh", "--how", "sample", "--one-in", "3", "--out", "OUT"], "It is for: --how weights"),
    ],
)
def test_mistakes_say_what_to_do(
    run: Run, office: Hamlet, tmp_path: Path, line: list[str], words: str
) -> None:
    import re

    command, *rest = [str(tmp_path / "o.store") if word == "OUT" else word for word in line]
    said = run(command, office.store, *rest)
    assert said.code == 2
    assert re.search(words, " ".join(said.err.split()))
    assert not list(tmp_path.glob("*store"))


def test_rules_that_break_are_refused_unless_they_are_allowed(
    run: Run, office: Hamlet, tmp_path: Path
) -> None:
    out = tmp_path / "m.store"
    asked = ["--variables", "married", "--stay", "0.2", "--edit-rules", "refuse", "--out", out]
    refused = run("pram", office.store, *asked)
    assert refused.code != 0
    assert not out.exists()
    allowed = run("pram", office.store, *asked, "--allow-violations")
    if allowed.code == 0:  # the method may refuse by itself
        report = json.loads((tmp_path / "m.store.office" / "derivation.json").read_text("utf-8"))
        assert report["violations"]
