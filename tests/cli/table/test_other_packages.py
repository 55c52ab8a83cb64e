"""A method of another package is found everywhere once it is installed, with nothing else said."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from pathlib import Path
from runpy import run_path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.methods.look_up import DEFAULT_STRENGTH
from sdcensus.model.method.registry import Part, Registered, built_in
from sdcensus.session.protect.plan_method import DEFAULT
from tests.cli.conftest import ROOT, Run, Village

SOURCE = ROOT / "tests" / "methods" / "round_down.py"
PLAN = """\
store = "village.store"

[[table]]
name = "people"
rows = ["ed@parish"]
columns = ["sex"]

[protect]
method = "round-down"
floor = 4

[output]
folder = "published"
formats = ["csv"]
languages = ["es"]
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One module and one entry point, in a folder that Python knows."""
    folder = tmp_path / "packages"
    about = folder / "round_down-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(SOURCE, folder / "round_down_of_others.py")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: round-down\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[sdcensus.methods]\nround-down = round_down_of_others:RoundDown\n"
        "broken = no_such_module:Method\n"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "round_down_of_others", raising=False)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("installed")
def test_a_table_is_protected_by_it(run: Run, village: Village, tmp_path: Path) -> None:
    out, audit = tmp_path / "table.csv", tmp_path / "audit.csv"
    table = ("protect", village.store, "--by", "ed@parish,sex", "--method", "round-down")
    answer = run(*table, "--set", "floor=4", "--out", out, "--audit", audit, "--confidential")
    assert answer.code == 0, answer.err
    assert "protected by round-down" in answer.out
    about = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    assert about["provenance"]["method"] == "round-down"
    counts = [int(row["count"]) for row in rows(audit)]
    assert [int(row["published"]) for row in rows(out)] == [4 * (count // 4) for count in counts]
    for said, why in (
        ("floor=1", "should be at least 2"),
        ("floor=many", "floor: should be a number"),
        ("base=3", "--base is no option of round-down. It is for: random-rounding"),
        ("roof=3", "There is no setting 'roof'"),
        ("floor", "NAME=VALUE"),
    ):
        wrong = run(*table, "--set", said)
        assert (wrong.code, why in " ".join(wrong.err.split())) == (2, True), wrong.err


@pytest.mark.usefixtures("installed")
def test_a_plan_publishes_by_it(run: Run, village: Village, tmp_path: Path) -> None:
    shutil.copytree(village.store, tmp_path / "village.store")
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8", newline="\n")
    secret = ("--secret", village.secret)
    answer = run("publish", path, *secret)
    assert answer.code == 0, answer.err
    files = sorted((tmp_path / "published").rglob("people*.csv"))
    values = [int(row["published"]) for row in rows(files[0])]
    assert any(values)
    assert not any(value % 4 for value in values)
    plan = read_plan(path)
    book = plan_workbook(plan)
    (tmp_path / "plan.xlsx").write_bytes(book)
    assert read_plan(tmp_path / "plan.xlsx") == plan
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(book)).get_sheet_by_name("plan").to_python()
    assert ["floor", "4", "round-down: hacia abajo, a múltiplos de esto."] in sheet
    path.write_text(PLAN.replace("floor = 4", "floor = 1\nbase = 3"), encoding="utf-8")
    wrong = run("publish", path, *secret)
    assert wrong.code != 0
    assert "line 10: protect: 'floor' should be at least 2." in wrong.err
    assert "line 11: protect: 'base' is no setting of round-down." in wrong.err


@pytest.mark.usefixtures("installed")
def test_it_is_assessed_and_compared(run: Run, village: Village, tmp_path: Path) -> None:
    table = (village.store, "--by", "ed@parish,sex")
    answer = run("assess", *table, "--method", "round-down", "--set", "floor=4")
    assert answer.code == 0, answer.err
    # It says nothing about itself, so the largest change in the table is taken as known.
    said = " ".join(answer.out.split())
    assert "The method names no largest change that holds for every cell" in said
    out = tmp_path / "study"
    answer = run(
        *("compare", *table, "--schemes", "CP1", "--lookups", "ascending", "--out", out),
        *("--method", "round-down floor=4", "--method", "random-rounding base=5"),
    )
    assert answer.code == 0, answer.err
    names = {row["scheme"] for row in rows(out / "all_results.csv")}
    assert names == {"CP1", "round-down floor=4", "random-rounding base=5"}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("command", ["protect", "assess"])
def test_it_stands_in_the_help(run: Run, command: str) -> None:
    said = " ".join(run(command, "--help").out.split())
    assert "round-down Every count becomes the multiple below it. --set floor=N: Down to" in said


@pytest.mark.usefixtures("installed")
def test_it_stands_in_the_documentation() -> None:
    page = run_path(str(ROOT / "scripts" / "methods.py"))["methods_page"]()
    assert "| `floor` | `--floor` | whole number, 2 or more | `5` | Down to" in page
    assert "broken" not in list(Registered(Part.METHOD))


def test_it_is_not_found_where_it_is_not_installed(run: Run, village: Village) -> None:
    answer = run("protect", village.store, "--by", "sex", "--method", "round-down")
    assert answer.code == 2
    assert "There is no method 'round-down'." in " ".join(answer.err.split())
    assert not [taker for taker in Registered(Part.METHOD).values() if taker.package]


@pytest.mark.usefixtures("installed")
def test_one_that_cannot_be_loaded_is_named(run: Run, village: Village) -> None:
    answer = run("protect", village.store, "--by", "sex", "--method", "broken")
    assert answer.code == 2
    assert "'broken' of round-down cannot be loaded" in " ".join(answer.err.split())


def test_the_default_method_is_one_of_this_package() -> None:
    assert DEFAULT.method in built_in(Part.METHOD)
    assert dict(DEFAULT.settings) == {"strength": DEFAULT_STRENGTH}
