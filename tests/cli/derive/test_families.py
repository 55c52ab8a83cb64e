"""The commands of families of methods, as an office types them: with methods as they are."""

from __future__ import annotations

import csv
import json
import os
import re
import stat
from pathlib import Path

import pytest

from sdcensus.cli.derive.impute import IMPUTE
from sdcensus.cli.derive.pram import PRAM
from sdcensus.cli.derive.swap import EXAMPLES as SWAP_EXAMPLES, SWAP
from sdcensus.cli.derive.weigh import EXAMPLES as WEIGH_EXAMPLES, WEIGH
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
    assert kept in range(80, 95)
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


def test_a_corrected_census_keeps_its_pairs(run: Run, office: Hamlet, tmp_path: Path) -> None:
    out = tmp_path / "swapped.store"
    asked = ["--how", "random", "--rate", "0.3", "--members", "sex", "--within", "anywhere"]
    first = run("swap", office.store, *asked, "--out", out, "--table", "ed,sex")
    assert first.code == 0
    pairs = (tmp_path / "swapped.store.office" / "pairs.csv").read_text(encoding="utf-8")
    page = (tmp_path / "swapped.store.office" / "report.html").read_text(encoding="utf-8")
    assert "A table of the whole country is untouched by swapping inside it" in page
    again = run("swap", office.store, *asked, "--out", out, "--replace")
    assert again.code == 0
    assert "The pairs of the older store are kept" in again.err
    kept = (tmp_path / "swapped.store.office" / "pairs.csv").read_text(encoding="utf-8")
    swapped = [
        {frozenset(line.split(",")[:2]) for line in text.splitlines()} for text in (pairs, kept)
    ]
    assert swapped[0] == swapped[1]
    assert len(swapped[0]) > 20
    nobody = run("swap", office.store, "--how", "random", "--rate", "0", "--plan")
    assert "0.1" not in nobody.err
    missing = run("swap", office.store, *asked, "--rate", "0.2", "--out", out)
    assert "already exists" in missing.err


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
        (["pram", *PRAM_TENURE, "--alpha", "0.5", "--plan"], r"--alpha needs --invariant\."),
        (["pram", "--variables", "ed", "--stay", "0.9", "--plan"], "by --how geographic"),
    ],
)
def test_mistakes_say_what_to_do(
    run: Run, office: Hamlet, tmp_path: Path, line: list[str], words: str
) -> None:
    command, *rest = [str(tmp_path / "o.store") if word == "OUT" else word for word in line]
    said = run(command, office.store, *rest)
    assert said.code == 2
    assert re.search(words, " ".join(said.err.split()))
    assert not list(tmp_path.glob("*store"))


@pytest.mark.parametrize("example", [SWAP_EXAMPLES, WEIGH_EXAMPLES])
def test_examples_of_the_help_can_be_typed(
    run: Run, office: Hamlet, tmp_path: Path, example: str
) -> None:
    lines = re.findall(r"sdcensus (\w+) c\w*\.store (.*)", example)
    assert len(lines) == 3
    for number, (command, rest) in enumerate(lines):
        words = [
            str(tmp_path / f"{number}.store") if word.endswith(".store") else word
            for word in rest.split()
        ]
        shown = run(command, office.store, *words)
        assert (shown.code, "needs" in shown.err) == (0, False), shown.err


def test_partners_from_anywhere_are_told_to_have_left_their_parish(
    run: Run, office: Hamlet, tmp_path: Path
) -> None:
    out = tmp_path / "s.store"
    asked = ["--how", "random", "--rate", "0.3", "--members", "sex", "--within", "anywhere"]
    shown = run("swap", office.store, *asked, "--out", out).out
    told = {
        level: int(number)
        for level, number in re.findall(r"left their (\w+), and no larger area +(\d+)", shown)
    }
    parish = open_store(office.store).schema.variable("ed").level("parish")
    leaves = [code.code for code in open_store(office.store).schema.variable("ed").codes]
    counted = dict.fromkeys(("parish", "ed"), 0)
    changes = tmp_path / "s.store.office" / "changed-records.csv"
    with changes.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            before, after = (parish.group[leaves.index(line[at])] for at in ("before", "after"))
            counted["parish" if before != after else "ed"] += 1
    assert told == counted
    assert told["parish"] > 0


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
