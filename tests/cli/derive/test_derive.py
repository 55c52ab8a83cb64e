"""``sdcensus derive``: the whole road, and a method that somebody else brings."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.store.owner_only import is_owner_only
from tests.cli.conftest import ROOT, Run
from tests.hamlet import SCHEMA, Hamlet, write_hamlet

PAGE = ROOT / "docs" / "microdata" / "index.md"


def block(language: str, containing: str) -> str:
    """A block of the page about pre-tabular methods."""
    blocks: list[str] = re.findall(
        rf"```{language}[^\n]*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    return next(text for text in blocks if containing in text)


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    return made


def test_a_store_from_a_store(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    out = tmp_path / "owned.store"
    asked = ["--where", "tenure == 2", "--out", out, "--secret", hamlet.secret]
    shown = run("derive", "drop-records", hamlet.store, *asked)
    assert shown.code == 0
    assert f"Made {out}" in shown.out
    assert re.search(r"households +148 +112 +0 +0\npersons +382 +0 +298 +0", shown.out)
    lineage = open_store(out).origin.lineage
    assert f"names its lineage: {lineage}." in shown.out
    assert "tenure" not in shown.out + shown.err
    assert lineage in run("describe", out).out
    again = run("derive", "drop-records", hamlet.store, *asked)
    assert again.code != 0
    assert "already exists" in again.err
    assert run("derive", "drop-records", hamlet.store, *asked, "--replace", "-q").out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--where", "tenure => 2"], "write '>=' to compare"),
        (["--where", "tenur == 2"], "Did you mean 'tenure'?"),
        (["--where", "age > 3", "--of", "household"], "--of persons"),
        ([], "Missing option '--where'"),
    ],
)
def test_mistakes(
    run: Run, hamlet: Hamlet, tmp_path: Path, arguments: list[str], words: str
) -> None:
    common = ["--out", tmp_path / "b", "--secret", hamlet.secret]
    said = run("derive", "drop-records", hamlet.store, *arguments, *common)
    assert said.code == 2
    assert words in said.err


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The package of the page, as if it were installed."""
    package = tmp_path / "packages"
    metadata = package / "flip_sex-1.0.dist-info"
    metadata.mkdir(parents=True)
    (package / "flip_sex.py").write_text(block("python", "class FlipSex"), encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: flip-sex\nVersion: 1.0\n")
    points = tomllib.loads(block("toml", "flip-sex"))["project"]["entry-points"]
    (metadata / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
            for group, entries in points.items()
        )
    )
    return package


def with_package(
    package: Path, hamlet: Hamlet, *arguments: object
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT / "src")]),
        "SDCENSUS_SECRET_FILE": str(hamlet.secret),
        "COLUMNS": "80",
    }
    program = [sys.executable, "-m", "sdcensus", "derive", *map(str, arguments)]
    return subprocess.run(program, env=environment, capture_output=True, check=False, text=True)


def test_a_method_of_another_package_is_a_command_as_the_page_says(
    hamlet: Hamlet, tmp_path: Path, package: Path
) -> None:
    out = tmp_path / "flipped.store"
    assert "Some women become men" in with_package(package, hamlet, "--help").stdout
    assert "--rate SHARE" in with_package(package, hamlet, "flip-sex", "--help").stdout
    arguments = ("flip-sex", hamlet.store, "--rate", "0.2", "--out", out)
    shown = with_package(package, hamlet, *arguments).stdout
    assert "asked: 680" in shown
    before, after = open_store(hamlet.store).store, open_store(out).store
    assert after.origin.lineage.startswith("flip-sex 1 ")
    changed = before.raw(Entity.PERSON, "sex") != after.raw(Entity.PERSON, "sex")
    assert f"sex: {changed.sum()} changed" in shown
    assert 90 < changed.sum() < 190


RULES = """
[[impossible]]
when = "sex == 1 and age == 40"
label = "Men of forty"

[[impossible]]
when = "sex == 2 and married == 1"
beside = "sex == 2 and married == 1"
label = "Two wives"
"""


def test_new_violations_are_counted_listed_and_refused_unless_the_office_lets_them_pass(
    tmp_path: Path, package: Path
) -> None:
    broken = write_hamlet(
        tmp_path / "census", schema=SCHEMA.replace("[[impossible]]", f"{RULES}\n[[impossible]]", 1)
    )
    store = broken.load(on_problem="missing").store
    known = {rule.text: store.digests(rule.entity)[rows] for rule, rows in impossible_rows(store)}
    out, office = tmp_path / "b", tmp_path / "b.office"
    arguments = ("flip-sex", broken.store, "--rate", "0.5", "--out", out)
    refused = with_package(package, broken, *arguments)
    assert refused.returncode
    assert not out.exists()
    assert not list(tmp_path.glob("b.partial*"))
    (listed,) = (path for path in office.iterdir() if path.suffix == ".csv")
    assert is_owner_only(listed)
    assert listed.name in refused.stderr.replace("\n", "")
    assert "--allow-violations" in refused.stderr
    passed = with_package(package, broken, *arguments, "--allow-violations")
    assert not passed.returncode, passed.stderr
    assert not listed.exists()
    with (office / "violations.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    counted = Counter(line["rule"] for line in lines)
    assert set(counted) == {"Men of forty", "Two wives"}
    kept = json.loads((office / "derivation.json").read_text(encoding="utf-8"))
    assert kept["violations"] == counted
    derived = open_store(out).store
    for rule, rows in impossible_rows(derived):
        digests = derived.digests(rule.entity)
        named = {int(line["record"], 16) for line in lines if line["rule"] == rule.text}
        assert set(digests[rows].tolist()) <= named | set(known[rule.text].tolist())
        for line in lines:
            assert f"{int(digests[int(line['row']) - 1]):016x}" == line["record"]
            assert bool(line["other_record"]) == (line["rule"] == "Two wives")
        if rule.text in counted:
            said = " ".join(f"{passed.stdout} {passed.stderr}".split())
            assert f"{counted[rule.text]} records break it" in said


def test_a_store_of_drawn_weights_shows_no_records_and_the_remedy_works(
    run: Run, hamlet: Hamlet, tmp_path: Path
) -> None:
    out = tmp_path / "weighed.store"
    asked = ["perturbation-weights", hamlet.store, "--one-in", 3, "--secret", hamlet.secret]
    refused = run("derive", *asked, "--out", out)
    assert refused.code != 0
    assert "--small-strata accept" in refused.err
    assert run("derive", *asked, "--out", out, "--small-strata", "accept").code == 0
    table = ["tabulate", out, "--by", "sex", "--show", "--confidential"]
    refused = run(*table)
    assert refused.code != 0
    assert "--measure weighted" in " ".join(refused.err.split())
    assert run(*table, "--measure", "weighted").code == 0
