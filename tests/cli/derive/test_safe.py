"""``sdcensus safe``, as an office types it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet

ASKED = ("--variables", "ed@parish,sex,age@ten_year,married", "--moves", "2")


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    written = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    written.load()
    return written


@pytest.fixture
def office(hamlet: Hamlet, monkeypatch: pytest.MonkeyPatch, run: Run) -> Hamlet:
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(hamlet.secret))
    return hamlet


def test_a_dry_run_counts_combinations_and_writes_nothing(
    run: Run, office: Hamlet, tmp_path: Path
) -> None:
    shown = run("safe", office.store, *ASKED, "--plan")
    assert shown.code == 0, shown.err
    assert "Combinations that occur" in shown.out
    assert "No solution is below" in shown.out
    assert not list(tmp_path.iterdir())
    dutch = run("safe", office.store, *ASKED, "--plan", "-l", "nl")
    assert "Combinaties die voorkomen" in dutch.out


def test_a_store_is_made_with_what_the_office_should_know(
    run: Run, office: Hamlet, tmp_path: Path
) -> None:
    out = tmp_path / "safe.store"
    control = ("--control-table", "sex,age@ten_year", "--control-table", "ed@parish,sex=3")
    shown = run("safe", office.store, *ASKED, *control, "--out", out)
    assert shown.code == 0, shown.err
    assert "Largest deviation" in shown.out
    assert "not listed may still be rare" in shown.err
    store = open_store(out).store
    columns = []
    for name, level in (("ed", "parish"), ("sex", None), ("age", "ten_year"), ("married", None)):
        variable = store.schema.variable(name)
        leaves = store.column(Entity.PERSON, variable)[slice(0, store.rows(Entity.PERSON))]
        columns.append(variable.level(level).group_array[leaves].tolist())
    assert min(Counter(zip(*columns, strict=True)).values()) >= 3
    office_folder = tmp_path / "safe.store.office"
    with (office_folder / "safe-control-cells.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["table"] for row in rows} <= {
        *("sex", "age@ten_year", "age@ten_year,sex", "ed@parish,sex"),
    }
    assert (office_folder / "report.html").exists()
    again = run("derive", "safe", office.store, *ASKED, *control, "--out", tmp_path / "b", "-q")
    assert again.code == 0
    versions = [open_store(path).store.manifest.data_version for path in (out, tmp_path / "b")]
    assert versions[0] == versions[1]


def test_groups_that_are_too_small_are_named(run: Run, office: Hamlet, tmp_path: Path) -> None:
    asked = ("--variables", "ed,tenure,sex,age", "--minimum", "40")
    refused = run("safe", office.store, *asked, "--out", tmp_path / "x")
    assert refused.code != 0
    assert "ed E5 and tenure" in refused.err
    assert "ed@parish" in refused.err
    assert not (tmp_path / "x").exists()
    planned = run("safe", office.store, *asked, "--plan")
    assert "which nobody can leave or join" in planned.out


def test_what_is_wrong_is_told(run: Run, office: Hamlet, tmp_path: Path) -> None:
    for words, told in (
        (("--variables", "sexx"), "Did you mean 'sex'"),
        (("--variables", "sex", "--control-table", "sex,age"), "'age' is not listed"),
        (("--variables", "sex", "--minimum", "1"), "from 2 to 100"),
        (("--variables", "sex", "--rate", "0.1"), "--rate"),
        ((), "--variables"),
    ):
        refused = run("safe", office.store, *words, "--out", tmp_path / "x")
        assert refused.code != 0
        assert told in refused.err, refused.err
