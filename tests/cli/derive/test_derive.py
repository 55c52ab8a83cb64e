"""``sdcensus derive``: the whole road, and a method that somebody else brings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from tests.cli.conftest import ROOT, Run
from tests.hamlet import Hamlet, write_hamlet

PAGE = ROOT / "docs" / "microdata" / "index.md"


def block(language: str, containing: str) -> str:
    """A block of the page about pre-tabular methods."""
    blocks: list[str] = re.findall(
        rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
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


def test_a_method_of_another_package_is_a_command_as_the_page_says(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    package, out = tmp_path / "packages", tmp_path / "flipped.store"
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

    def derive(*arguments: object) -> str:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(package), str(ROOT / "src")]),
            "SDCENSUS_SECRET_FILE": str(hamlet.secret),
            "COLUMNS": "80",
        }
        program = [sys.executable, "-m", "sdcensus", "derive", *map(str, arguments)]
        done = subprocess.run(program, env=environment, capture_output=True, check=True, text=True)
        return done.stdout

    assert "Some women become men" in derive("--help")
    assert "--rate SHARE" in derive("flip-sex", "--help")
    shown = derive("flip-sex", hamlet.store, "--rate", "0.2", "--out", out)
    assert "asked: 680" in shown
    before, after = open_store(hamlet.store).store, open_store(out).store
    assert after.origin.lineage.startswith("flip-sex 1 ")
    changed = before.raw(Entity.PERSON, "sex") != after.raw(Entity.PERSON, "sex")
    assert f"sex: {changed.sum()} changed" in shown
    assert 90 < changed.sum() < 190


def test_a_store_of_drawn_weights_shows_no_records_and_the_remedy_works(
    run: Run, hamlet: Hamlet, tmp_path: Path
) -> None:
    out = tmp_path / "weighed.store"
    asked = ["perturbation-weights", hamlet.store, "--one-in", 3, "--secret", hamlet.secret]
    refused = run("derive", *asked, "--out", out)
    assert refused.code != 0
    assert "--small accept" in refused.err
    assert run("derive", *asked, "--out", out, "--small", "accept").code == 0
    table = ["tabulate", out, "--by", "sex", "--show", "--confidential"]
    refused = run(*table)
    assert refused.code != 0
    assert "--measure weighted" in " ".join(refused.err.split())
    assert run(*table, "--measure", "weighted").code == 0
