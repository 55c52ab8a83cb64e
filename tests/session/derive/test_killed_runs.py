"""Runs that are killed, refused or without room leave what was there, or what was asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import OutputError
from sdcensus.session.derive import EffectQuestions, derive
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet

FIRST, SECOND = "sex == 9", "tenure == 2"

#: Runs a derivation again and again in children, and kills the child at one later moment each time:
#: before it opens, makes, renames or removes its first file, its second, its third …
DRIVER = """
import json, os, shutil, signal, sys
from pathlib import Path
import sdcensus.session.derive.derivation
from sdcensus.session.derive import derive

store, secret, prepared, work, where = sys.argv[1:6]
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}

def child(moment):
    seen = [0]
    def watch(event, details):
        if event not in EVENTS:
            return
        flags = details[2] if event == "open" else os.O_WRONLY
        if not (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            return
        if not str(details[0]).startswith(work):
            return
        seen[0] += 1
        if seen[0] == moment:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
    derive(store, Path(work) / "out", "drop-records", {"where": where}, secret=secret, replace=True)

def contents(folder):
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    # Where the office folder stands is in the report; whether it is taken is nobody's content.
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().hex()
        for path in files
        if not path.name.startswith((".", "running")) and ".new" not in path.parts
    }

for moment in range(1, 500):
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(prepared, work)
    process = os.fork()
    if process == 0:
        try:
            child(moment)
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status)
    after = {name: contents(Path(work) / name) for name in ("out", "out.office")}
    derive(store, Path(work) / "out", "drop-records", {"where": where}, secret=secret, replace=True)
    again = {name: contents(Path(work) / name) for name in ("out", "out.office")}
    left = sorted(path.name for path in Path(work).iterdir())
    aside = sorted(path.name for path in Path(work, "out.office").glob(".new*"))
    print(json.dumps([killed, after, again, left, aside]), flush=True)
    if not killed:
        break
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    return hamlet


def derived(hamlet: Hamlet, out: Path, where: str, **options: Any) -> None:
    derive(hamlet.store, out, "drop-records", {"where": where}, secret=SECRET, **options)


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().hex()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and not path.name.startswith("running")
    }


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_run_killed_at_any_moment_leaves_the_old_or_the_new(
    hamlet: Hamlet, tmp_path: Path, replaced: bool
) -> None:
    prepared, work = tmp_path / "prepared", tmp_path / "work"
    # Reports name their place: both stores are made where the killed runs make theirs.
    derived(hamlet, work / "out", SECOND)
    new = {name: contents(work / name) for name in ("out", "out.office")}
    if replaced:
        derived(hamlet, work / "out", FIRST, replace=True)
        work.rename(prepared)
    else:
        prepared.mkdir()
    old = {name: contents(prepared / name) if replaced else {} for name in ("out", "out.office")}
    arguments = [str(hamlet.store), str(hamlet.secret), str(prepared), str(work), SECOND]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *arguments], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) > 30
    assert not runs[-1][0]
    states = set()
    for _, after, again, left, aside in runs:
        # A store is whole, the old or the new one; the old one is moved away for an instant.
        assert after["out"] in (old["out"], new["out"], {})
        if after["out"] != new["out"]:
            assert after["out.office"] == old["out.office"]
        else:
            kept = {**old["out.office"], **new["out.office"]}
            assert all(
                text in (kept[name], old["out.office"].get(name))
                for name, text in after["out.office"].items()
            )
        states.add((after["out"] == new["out"], after["out.office"] == new["out.office"]))
        # Whatever the moment, the same command ends with everything in its place.
        assert again == new
        assert left == ["out", "out.office"]
        assert not aside
    assert states >= {(False, False), (True, True)}


PAPERS = """
import os, signal, sys
from pathlib import Path
from sdcensus.session.derive import derive

store, secret, out, moment = sys.argv[1:5]
office, public = Path(out + ".office"), Path(out + ".public")
seen = 0

def watch(event, details):
    global seen
    # From the moment at which the store is in its place: whatever is written then can be cut off.
    if event in ("open", "os.rename", "os.mkdir", "os.remove") and Path(out).is_dir():
        flags = details[2] if event == "open" else os.O_WRONLY
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            seen += 1
            if seen == int(moment):
                os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(watch)
said = {"variables": ["tenure"], "stay": ["0.8"], "similar": ["equal"], "publish_matrix": True}
derive(store, out, "pram", said, secret=secret, replace=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_what_everybody_may_read_comes_with_its_store_whenever_a_run_is_killed(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    def run(out: Path, moment: int) -> int:
        arguments = (str(hamlet.store), str(hamlet.secret), str(out), str(moment))
        done = subprocess.run(
            [sys.executable, "-c", PAPERS, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, -9), done.stderr
        return done.returncode

    assert not run(tmp_path / "whole", 0)
    papers = contents(tmp_path / "whole.public")
    assert papers
    without = []
    for moment in (1, 6, 12):
        out = tmp_path / f"killed-{moment}"
        killed = run(out, moment)
        public = tmp_path / f"{out.name}.public"
        # They appear whole or not at all, and never without their store.
        assert not public.exists() or contents(public) == papers
        without.append(bool(killed) and not public.exists())
        # Settled by whoever comes next, also by one who is told that the store is there already.
        with pytest.raises(OutputError, match="already exists"):
            derive(hamlet.store, out, "drop-records", {"where": FIRST}, secret=SECRET)
        assert contents(public) == papers
        assert not list(tmp_path.glob(f"{out.name}.office/.new*"))
    assert any(without)


def test_a_refused_run_leaves_no_folder_of_the_office(hamlet: Hamlet, tmp_path: Path) -> None:
    questions = EffectQuestions(tables=("ed,sex",))

    def stopped(stage: str, _: float) -> None:
        if "writing" in stage or "measuring" in stage:
            raise OutputError("no room")

    with pytest.raises(OutputError, match="no room"):
        derived(hamlet, tmp_path / "b", FIRST, questions=questions, progress=stopped)
    assert not list(tmp_path.iterdir())
    # What was there before stays.
    (tmp_path / "b.office").mkdir()
    with pytest.raises(OutputError, match="no room"):
        derived(hamlet, tmp_path / "b", FIRST, questions=questions, progress=stopped)
    assert [path.name for path in tmp_path.iterdir()] == ["b.office"]


def test_office_files_of_an_earlier_store_go_with_it(hamlet: Hamlet, tmp_path: Path) -> None:
    derived(hamlet, tmp_path / "b", FIRST)
    office = tmp_path / "b.office"
    mine = office / "notes.txt"
    mine.write_text("what somebody wrote", encoding="utf-8")
    kept = json.loads((office / ".files.json").read_text(encoding="utf-8"))
    assert kept == ["changed-records.csv", "derivation.json"]
    (office / "pairs.csv").write_text("of the earlier store", encoding="utf-8")
    (office / ".files.json").write_text(json.dumps([*kept, "pairs.csv", "../b"]), encoding="utf-8")
    derived(hamlet, tmp_path / "b", SECOND, replace=True)
    assert not (office / "pairs.csv").exists()
    assert mine.exists()
    assert CensusStore.open(tmp_path / "b").manifest.lineage


FULL = """
import resource, sys
from sdcensus.session.derive import derive
from sdcensus.errors import OutputError
import sdcensus.session.derive.derivation

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[5]),) * 2)
try:
    derive(sys.argv[1], sys.argv[2], "drop-records", {"where": sys.argv[3]}, secret=sys.argv[4],
           replace=True)
except OutputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
@pytest.mark.parametrize("bytes_allowed", [700, 6000])
def test_a_full_disk_is_told_and_leaves_what_was_there(
    hamlet: Hamlet, tmp_path: Path, bytes_allowed: int
) -> None:
    derived(hamlet, tmp_path / "b", FIRST)
    before = contents(tmp_path)
    done = subprocess.run(
        [
            *(sys.executable, "-c", FULL, str(hamlet.store), str(tmp_path / "b"), SECOND),
            *(str(hamlet.secret), str(bytes_allowed)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot be written: File too large" in done.stdout, done.stdout + done.stderr
    assert contents(tmp_path) == before


def test_a_place_that_is_taken_is_told_before_any_work(hamlet: Hamlet, tmp_path: Path) -> None:
    derived(hamlet, tmp_path / "b", FIRST)
    stages: list[str] = []
    with pytest.raises(OutputError, match="already exists"):
        derived(hamlet, tmp_path / "b", SECOND, progress=lambda stage, _: stages.append(stage))
    assert not stages
