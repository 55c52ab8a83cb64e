"""A store from a store: lineage, what the office keeps, and runs that are killed."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import OutputError, SecretError, SpecError, UnknownName
from sdcensus.model.secret import Secret
from sdcensus.session.census.census import open_census, open_store
from sdcensus.session.census.export import export
from sdcensus.session.derive import DerivationReport, derive
from sdcensus.session.derive.step import prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import is_owner_only
from sdcensus.testing.island import SECRET
from tests.cli.conftest import ROOT
from tests.hamlet import Hamlet, write_hamlet
from tests.microdata.settlement import dense

WHERE = "age in (61, 62, 63, 64) and tenure == 2"


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    return made


def dropped(hamlet: Hamlet, out: Path, where: str = WHERE, **options: Any) -> DerivationReport:
    options.setdefault("secret", SECRET)
    store = options.pop("store", hamlet.store)
    return derive(
        store, out, "drop-records", {"where": where, **options.pop("more", {})}, **options
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_records_go_by_a_condition_with_what_they_hold(hamlet: Hamlet, tmp_path: Path) -> None:
    rented = {(row["ed"], row["house"]) for row in hamlet.households if row["tenure"] == "2"}
    members = [row for row in hamlet.persons if (row["ed"], row["house"]) in rented]
    report = dropped(hamlet, tmp_path / "b", "tenure == 2")
    assert {str(kind): numbers for kind, numbers in report.dropped.items()} == {
        "household": (len(rented), 0),
        "person": (0, len(members)),
    }
    assert not report.left_empty
    old = [row for row in hamlet.persons if row["age"] != "999" and int(row["age"]) > 60]
    report = dropped(hamlet, tmp_path / "c", "age > 60")
    assert list(report.dropped.values()) == [(len(old), 0)]
    houses = {(row["ed"], row["house"]) for row in hamlet.persons if row not in old}
    assert list(report.left_empty.values()) == [len(hamlet.households) - len(houses)]
    report = dropped(hamlet, tmp_path / "d", "tenure == 2", more={"of": "persons"})
    assert list(report.dropped.values()) == [(len(members), 0)]


def test_the_manifest_holds_the_lineage_and_no_parameter(hamlet: Hamlet, tmp_path: Path) -> None:
    report = dropped(hamlet, tmp_path / "b")
    original, out = CensusStore.open(hamlet.store), CensusStore.open(tmp_path / "b")
    (step,) = out.manifest.lineage
    assert step.parent == original.manifest.data_version != out.manifest.data_version
    assert (step.method, step.method_version, step.secret_id) == ("drop-records", "1", SECRET.id)
    assert report.public() == {
        "data_version": out.manifest.data_version,
        "lineage": f"drop-records 1 {step.fingerprint}",
    }
    assert out.origin.lineage == report.lineage
    assert original.origin.lineage == ""
    assert not any(WHERE.encode() in content for content in contents(tmp_path / "b").values())
    assert list(out.verify())
    # A second step adds to the first; a damaged lineage is seen.
    dropped(hamlet, tmp_path / "c", "sex == 9", store=tmp_path / "b")
    again = CensusStore.open(tmp_path / "c")
    assert again.manifest.lineage[0] == step
    assert again.origin.lineage.startswith(f"{report.lineage} → drop-records 1 ")
    manifest = tmp_path / "c" / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace(step.fingerprint, "0" * 32), encoding="utf-8")
    with pytest.raises(Exception, match="damaged"):
        CensusStore.open(tmp_path / "c")


def test_a_derivation_that_changes_nothing_is_a_line_of_its_own(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    report = dropped(hamlet, tmp_path / "b", "age == 50 and age == 51")
    assert not report.dropped
    original, out = open_store(hamlet.store), open_store(tmp_path / "b")
    assert original.origin.data_version != out.origin.data_version
    keys = [dense(census.tabulate("ed", "sex")).key for census in (original, out)]
    assert (keys[0] == keys[1]).all()


def test_fingerprints_tell_parameters_apart_to_holders_of_the_secret_only(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    lines = [
        dropped(hamlet, tmp_path / name, where).lineage
        for name, where in (("b", WHERE), ("c", WHERE), ("d", "sex == 9"))
    ]
    assert lines[0] == lines[1] != lines[2]
    assert contents(tmp_path / "b") == contents(tmp_path / "c")


def test_how_parameters_are_spelled_does_not_matter(hamlet: Hamlet) -> None:
    def line(method: str, **said: object) -> str:
        return prepared(hamlet.store, method, said, secret=SECRET).derivation.fingerprint

    swap: dict[str, object] = {
        "risk_variables": ("sex", "age@broad"),
        "profiles": ("persons,tenure", "persons"),
    }
    spelled: list[dict[str, object]] = [
        {"risk_variables": ["sex", "age@broad"]},
        {"risk_variables": "sex, age @broad"},
        {"profiles": ["persons, tenure", " persons"]},
        {"rate": 1.0},
    ]
    lines = {line("targeted-swap", **({**swap, "rate": 1} | other)) for other in spelled}
    assert len(lines) == 1
    stays = {line("pram", variables=("tenure",), stay=(said,)) for said in ("0.8", ".8", " 0.80")}
    assert len(stays) == 1
    named = {
        line("pram", variables=("tenure",), stay=(f"tenure{said}",)) for said in ("=.8", " = 0.8")
    }
    assert len(named) == 1
    assert named != stays
    # What is tried first does matter, and so does every value.
    others: list[dict[str, object]] = [
        {"profiles": ("persons", "persons,tenure")},
        {"rate": 0.05},
        {"k": 4},
    ]
    assert len({line("targeted-swap", **(swap | other)) for other in others} | lines) == 4


def test_the_office_keeps_who_was_changed_and_nobody_else_can_read_it(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    report = dropped(hamlet, tmp_path / "b", "tenure == 2")
    assert report.office == tmp_path / "b.office"
    files = [report.office, *report.office.iterdir()]
    assert all(map(is_owner_only, files))
    kept = json.loads((report.office / "derivation.json").read_text(encoding="utf-8"))
    assert kept["parameters"] == {"where": "tenure == 2", "of": ""}
    with (report.office / "changed-records.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    before = CensusStore.open(hamlet.store)
    after = CensusStore.open(tmp_path / "b")
    for entity in before.manifest.rows:
        gone = set(before.digests(entity).tolist()) - set(after.digests(entity).tolist())
        listed = {int(line["record"], 16) for line in lines if line["unit"] == entity.value}
        assert listed == gone
    assert {line["change"] for line in lines} == {"dropped", "dropped with what holds it"}
    shown = f"{report!r}{report}{report:s}{[report]}"
    assert "tenure" not in shown
    assert "112" not in shown


def test_an_exported_census_keeps_its_line(hamlet: Hamlet, tmp_path: Path) -> None:
    report = dropped(hamlet, tmp_path / "b")
    export(tmp_path / "b", tmp_path / "b.parquet")
    assert open_census(tmp_path / "b.parquet").origin.lineage == report.lineage


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"where": "sex =="}, SpecError, "In the condition 'sex ==', at its end"),
        ({"where": ""}, SpecError, "should not be empty"),
        ({"where": "sex in (1, 2, 9)"}, SpecError, "leaves no persons in the store"),
        ({"where": "age > 60", "more": {"of": "households"}}, SpecError, "--of persons"),
        ({"more": {"of": "ships"}}, SpecError, "kind of unit 'ships'"),
        ({"more": {"rate": 3}}, SpecError, "--rate is no option of drop-records. It is for: "),
        ({"secret": Secret(bytes(32))}, SecretError, "loaded with the secret"),
    ],
)
def test_mistakes_are_told_and_leave_nothing(
    hamlet: Hamlet, tmp_path: Path, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        dropped(hamlet, tmp_path / "b", **options)
    assert not [path for path in tmp_path.iterdir() if path.name != "b.office"]


def test_a_method_that_nobody_has_and_one_without_its_condition(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    with pytest.raises(UnknownName, match="drop-records"):
        derive(hamlet.store, tmp_path / "b", "drop-record", {}, secret=SECRET)
    with pytest.raises(SpecError, match="drop-records needs --where CONDITION"):
        derive(hamlet.store, tmp_path / "b", "drop-records", {}, secret=SECRET)


def test_stores_are_replaced_by_name_only_and_lie_in_places_of_their_own(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    dropped(hamlet, tmp_path / "b")
    with pytest.raises(OutputError, match="already exists"):
        dropped(hamlet, tmp_path / "b", "sex == 9")
    report = dropped(hamlet, tmp_path / "b", "sex == 9", replace=True)
    assert CensusStore.open(tmp_path / "b").origin.lineage == report.lineage
    for out, office in (
        (hamlet.store, None),
        (hamlet.store / "b", None),
        (tmp_path / "x", tmp_path / "x" / "office"),
    ):
        with pytest.raises(OutputError, match="cannot lie in"):
            dropped(hamlet, out, office=office, replace=True)


KILLED = """
import os, signal, sys
from sdcensus.session.derive import derive

def kill(stage, done):
    if stage == "writing columns" and done > 0.5:
        os.kill(os.getpid(), signal.SIGKILL)

derive(sys.argv[1], sys.argv[2], "drop-records", {"where": sys.argv[3]}, secret=sys.argv[4],
       progress=kill)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_killed_run_is_gone_on_with_and_ends_with_the_same_bytes(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    dropped(hamlet, whole)
    arguments = [str(hamlet.store), str(out), WHERE, str(hamlet.secret)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists()
    (partial,) = tmp_path.glob("out.partial-*")
    assert is_owner_only(partial)
    kept = {path: path.stat().st_ino for path in partial.rglob("*.bin")}
    assert kept
    # Another derivation does not take up what it has left.
    dropped(hamlet, out, "sex == 9")
    assert {path: path.stat().st_ino for path in partial.rglob("*.bin")} == kept
    # A column that never reached the disk has its length at most: it is written anew.
    lost = max(kept, key=lambda path: path.stat().st_size)
    lost.write_bytes(bytes(lost.stat().st_size))
    dropped(hamlet, out, replace=True)
    assert contents(out) == contents(whole)
    numbers = {path.stat().st_ino for path in out.rglob("*.bin")}
    assert {kept[path] for path in kept if path != lost} <= numbers
    assert not list(tmp_path.glob("out.partial-*"))
