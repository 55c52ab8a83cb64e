"""Loads that are killed leave nothing that stays; of two at once, nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcensus.census import export
from sdcensus.errors import OutputError, StoreError
from sdcensus.session.derive import derive
from sdcensus.store.census_store import CensusStore
from tests.cli.conftest import ROOT, Run, Village, start
from tests.cli.tiny import write_village

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")

#: So many persons are not loaded between two looks at the folder.
MANY = 300_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    schema = write_village(tmp_path_factory.mktemp("large"), persons=[])
    with (schema.parent / "persons.csv").open("a", encoding="utf-8", newline="") as file:
        file.writelines(f"E1,1,{at},Name Secret,1,{at % 100},0,{at}\r\n" for at in range(MANY))
    return schema


@pytest.fixture
def writing(large: Path, village: Village, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A load that was stopped while it writes columns; whoever kills it, kills it there."""
    process = start("load", large, "--out", tmp_path / "c.store", "--secret", village.secret)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("c.store.partial-*/**/*.part")):
        assert process.poll() is None, "the load ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGSTOP)
    yield process
    process.kill()
    process.communicate()


def partial(folder: Path) -> list[Path]:
    return [path for path in folder.glob("c.store.partial-*") if path.is_dir()]


def load(run: Run, village: Village, folder: Path, *more: object) -> tuple[int, str]:
    given = ("load", village.schema, "--out", folder / "c.store", "--secret", village.secret)
    answer = run(*given, *more)
    return answer.code, " ".join(answer.err.split())


@pytest.mark.slow
def test_the_next_load_removes_what_a_killed_one_has_left_and_says_so(
    run: Run, village: Village, tmp_path: Path, writing: subprocess.Popen[bytes]
) -> None:
    (left,) = partial(tmp_path)
    writing.kill()
    writing.communicate()
    assert any(left.rglob("*.part"))
    mine = tmp_path / "c.store.partial-backup"
    mine.mkdir()
    code, said = load(run, village, tmp_path)
    assert code == 0, said
    assert "Removed what a run that was killed had left:" in said
    assert left.name in said.replace(" ", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "c.store",
        "c.store.partial-backup",
        "c.store.report.html",
        "c.store.report.txt",
    ]
    assert list(CensusStore.open(tmp_path / "c.store").verify())


@pytest.mark.slow
def test_a_load_that_is_refused_says_as_well_what_it_removed(
    run: Run, village: Village, tmp_path: Path, writing: subprocess.Popen[bytes]
) -> None:
    (left,) = partial(tmp_path)
    writing.kill()
    writing.communicate()
    bad = write_village(tmp_path / "bad", persons=[("E1", "7", "1", "Nobody", "5", "30", "0", "1")])
    given = ("load", bad, "--out", tmp_path / "c.store", "--secret", village.secret)
    answer = run(*given)
    assert answer.code != 0
    assert left.name in answer.err
    assert not left.exists()


@pytest.mark.slow
def test_two_loads_at_once(
    run: Run, village: Village, tmp_path: Path, writing: subprocess.Popen[bytes]
) -> None:
    (living,) = partial(tmp_path)
    before = sorted(path.name for path in living.rglob("*"))
    for more in ((), ("--replace",)):
        code, said = load(run, village, tmp_path, *more)
        assert code == OutputError.exit_code
        assert said.startswith("error: Another program is making ")
        assert said.count(". ") == 1
    # A derivation to the same place is kept away too, and so is an export.
    with pytest.raises(OutputError, match="Another program is making"):
        derive(
            village.store,
            tmp_path / "c.store",
            "drop-records",
            {"where": "sex == 9"},
            secret=village.secret,
        )
    with pytest.raises(OutputError, match="Another program is making"):
        export(village.store, tmp_path / "c.store")
    assert sorted(path.name for path in living.rglob("*")) == before
    writing.send_signal(signal.SIGCONT)
    out, err = writing.communicate(timeout=300)
    assert writing.returncode == 0, err
    store = CensusStore.open(tmp_path / "c.store")
    assert list(store.verify())
    assert [path.name for path in partial(tmp_path)] == []
    assert not list(tmp_path.glob("*lock*"))
    assert out


#: Loads again and again in children, and kills each at one later moment: before it opens, renames
#: or removes its first file after the columns are written, its second, its third …
DRIVER = """
import json, os, shutil, signal, sys
from pathlib import Path
from sdcensus.session.census.load_report import LoadReporting

schema, secret, work, report = sys.argv[1:5]
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}

def load():
    file = Path(report) if report else None
    return LoadReporting(Path(work, "c.store"), file).load(schema, secret=secret)

def child(moment):
    seen = 0
    def watch(event, details):
        nonlocal seen
        if event not in EVENTS or not str(details[0]).startswith(work):
            return
        flags = details[2] if event == "open" else os.O_WRONLY
        if not (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            return
        if any(Path(work).glob("c.store.partial-*/manifest.unfinished.json")):
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
    load()

def contents():
    return {
        path.relative_to(work).as_posix(): path.read_bytes().hex()
        for path in sorted(Path(work).rglob("*")) if path.is_file()
    }

for moment in range(1, 200):
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    process = os.fork()
    if process == 0:
        try:
            child(moment)
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status)
    stands = Path(work, "c.store").exists()
    removed = [] if stands else [path.name for path in load().report.removed]
    print(json.dumps([killed, stands, removed, contents()]), flush=True)
    if not killed:
        break
"""


@pytest.mark.slow
@pytest.mark.parametrize("report", ["", "load.html"])
def test_a_load_that_is_killed_while_it_reports_is_made_by_the_same_command(
    village: Village, tmp_path: Path, report: str
) -> None:
    work = tmp_path / "work"
    named = str(work / report) if report else ""
    given = (str(village.schema), str(village.secret), str(work), named)
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *given],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert not done.returncode, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    whole = runs[-1]
    assert not whole[0]
    reports = {report} if report else {"c.store.report.html", "c.store.report.txt"}
    assert {name for name in whole[3] if "/" not in name} == reports
    killed_before_its_name = 0
    for killed, stands, removed, contents in runs[:-1]:
        assert killed
        # Whenever it was killed: all of it, and nothing else, after the same command.
        assert {**contents, "c.store/.report": ""} == {**whole[3], "c.store/.report": ""}
        killed_before_its_name += not stands
        assert stands or len(removed) == 1
    assert killed_before_its_name >= len(reports) + 2


KILLED_DERIVATION = """
import os, signal, sys
from sdcensus.session.derive import derive

def killed(stage, done):
    if stage == "writing columns":
        os.kill(os.getpid(), signal.SIGKILL)

derive(sys.argv[1], sys.argv[2], "drop-records", {"where": "sex == 9"}, secret=sys.argv[3],
       progress=killed)
"""


def test_a_killed_derivation_is_gone_on_with_named_or_removed(
    run: Run, village: Village, tmp_path: Path
) -> None:
    out = tmp_path / "c.store"
    given = (str(village.store), str(out), str(village.secret))
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", KILLED_DERIVATION, *given], check=False, env=env)
    assert done.returncode == -signal.SIGKILL
    (left,) = partial(tmp_path)
    killed_load = tmp_path / "c.store.partial-0123abcd"
    (killed_load / "person").mkdir(parents=True)
    report = derive(
        village.store, out, "drop-records", {"where": "age == 0"}, secret=village.secret
    )
    assert (report.removed, report.left) == ((killed_load,), (left,))
    assert partial(tmp_path) == [left]
    assert not {"removed", "left"} & set(report.to_json())
    # The command names it; a load removes it.
    again = ("derive", "drop-records", village.store, "--where", "age == 1", "--out", out)
    answer = run(*again, "--secret", village.secret, "--replace")
    assert answer.code == 0
    assert left.name in answer.err.replace("\n", "")
    code, said = load(run, village, tmp_path, "--replace")
    assert code == 0
    assert left.name in said.replace(" ", "")
    assert partial(tmp_path) == []


def test_an_export_removes_what_a_killed_one_has_left(village: Village, tmp_path: Path) -> None:
    left = tmp_path / "c.store.partial-0123abcd"
    (left / "person").mkdir(parents=True)
    made = export(village.store, tmp_path / "c.store")
    assert made.removed == (left,)
    with pytest.raises(StoreError):
        CensusStore.open(left)


MAPPED = """
import sys
from pathlib import Path
from sdcensus.session.census.load_report import LoadReporting

def watch(event, details):
    if event == "os.rename" and Path(details[1]).name == "c.store":
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        print(*[line for line in lines if ".partial-" in line], "renamed")

sys.addaudithook(watch)
LoadReporting(Path(sys.argv[2], "c.store")).load(sys.argv[1], secret=sys.argv[3], propose=True)
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not tell")
def test_nothing_of_a_store_is_mapped_when_it_gets_its_name(
    village: Village, tmp_path: Path
) -> None:
    """Windows renames no folder of which a file is mapped."""
    done = subprocess.run(
        [sys.executable, "-c", MAPPED, str(village.schema), str(tmp_path), str(village.secret)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.stdout == "renamed\n", done.stdout + done.stderr
