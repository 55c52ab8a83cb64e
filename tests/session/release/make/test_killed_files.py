"""Files whose making is killed, doubled or out of room: the old one or the new one, never both."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import OutputError
from sdcensus.session.release.make.checking import check_folder
from sdcensus.session.release.make.registering import register_file
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, rows, write_hamlet

DOCUMENT = """\
store = "{store}"
name = "file"

[risk]
ladder = ["sex"]

[[design]]
name = "A"
households = "1/4"
drop = ["age", "married", "only", "unasked", "income", "rent"]

[[design]]
name = "B"
households = "1/5"
drop = ["age", "married", "only", "unasked", "income", "rent"]

[thresholds]
persons = 1
households = 1

[make]
design = "A"
formats = ["csv"]
languages = ["en"]
documentation = ["ddi"]
"""
ACCEPTED: dict[str, Any] = {"accepted_by": "Ana Ruiz", "reason": "a test"}

#: Makes design B in the place of A in children, and kills each at one later moment: before it opens
#: for writing, makes, renames or removes its first file, its second, its third … What stands in the
#: place that nobody sees is not told; what it is called is.
DRIVER = """
import json, os, shutil, signal, sys
from pathlib import Path
from sdcensus.report.release import assessment
from sdcensus.session.release.release import Release

# Drawing takes most of the time and writes no file: these pages have no chart.
assessment.ladder_plot = lambda *_: None
secret, prepared, work, second = sys.argv[1:5]
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}
moments = []
release = Release(Path(work) / "release.toml", secret=secret)

def make(out):
    release.make(
        Path(work) / out, design="B", accepted_by="Ana Ruiz", reason="a test", replace=True
    )

def child(moment):
    def watch(event, details):
        if event not in EVENTS or not str(details[0]).startswith(work):
            return
        flags = details[2] if event == "open" else os.O_WRONLY
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            moments.append(str(details[1] if event == "os.rename" else details[0]))
            if len(moments) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(watch)
    make("out")

def forked(work_of_child):
    process = os.fork()
    if process == 0:
        code = 1
        try:
            work_of_child()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    killed = os.WIFSIGNALED(status)
    assert killed or not status
    return killed

def state():
    files = sorted(path for path in Path(work).rglob("*") if path.is_file())
    names = {path.relative_to(work).as_posix(): path for path in files}
    return {name: path.read_bytes().hex() for name, path in names.items() if ".part/" not in name}

def run(moment):
    moments.clear()
    shutil.rmtree(work)
    shutil.copytree(prepared, work)
    return forked(lambda: child(moment))

def whole():
    child(0)
    Path(work + ".json").write_text(json.dumps(moments))

# Whatever is imported and compiled on the way is there for every child.
make("out")
shutil.rmtree(work)
shutil.copytree(prepared, work)
forked(whole)
points = json.loads(Path(work + ".json").read_text())
print(json.dumps(state()), flush=True)
# While it is made aside, every moment is like the next; while it comes into its place, none is.
first = next(at for at, name in enumerate(points, start=1) if "commit" in name)
for place, moment in enumerate([*range(1, first, 5), *range(first, len(points) + 2)]):
    killed = run(moment)
    assert killed == (moment <= len(points))
    after = state()
    elsewhere = place % 2
    forked(lambda: make(second if elsewhere else "out"))
    left = sorted(path.name for path in Path(work).iterdir())
    print(json.dumps([killed, after, state(), left, elsewhere]), flush=True)
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    persons, households = rows(houses=40)
    place = write_hamlet(tmp_path_factory.mktemp("hamlet"), persons=persons, households=households)
    place.load()
    return place


def document(hamlet: Hamlet, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "release.toml"
    path.write_text(DOCUMENT.format(store=hamlet.store.as_posix()), encoding="utf-8")
    return path


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().hex()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def part(state: dict[str, str], folder: str) -> dict[str, str]:
    # Workbooks tell when they were written.
    return {
        name: content
        for name, content in state.items()
        if name.startswith(f"{folder}/")
        and not name.endswith(".xlsx")
        and "running.lock" not in name
    }


def killed_runs(hamlet: Hamlet, folder: Path) -> list[Any]:
    """The files before, those after a whole run, and what each killed run has left."""
    prepared, work = folder / "prepared", folder / "work"
    Release(document(hamlet, work), secret=SECRET).make(work / "out", **ACCEPTED)
    shutil.copytree(work, prepared)
    arguments = [str(hamlet.secret), str(prepared), str(work), "second"]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *arguments], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return [contents(prepared), *map(json.loads, done.stdout.splitlines())]


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_file_that_is_killed_at_any_moment_is_the_old_one_or_the_new_one(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    old, new, *runs = killed_runs(hamlet, tmp_path)
    assert part(new, "out") != part(old, "out")
    assert len(runs) > 30
    states = set()
    for _, after, *_ in runs:
        # The old one is moved away for an instant; the next command brings the new one.
        public, office = part(after, "out"), part(after, "office")
        assert public in (part(old, "out"), part(new, "out"), {})
        if public != part(new, "out"):
            assert office == part(old, "office")
        else:
            kept = {**part(old, "office"), **part(new, "office")}
            assert all(content in (kept[name], old.get(name)) for name, content in office.items())
        states.add((public == part(new, "out"), office == part(new, "office")))
    assert states >= {(False, False), (True, False), (True, True)}
    # The next command completes it and leaves nothing hidden.
    for _, after, again, left, elsewhere in runs:
        assert not [name for name in left if name.startswith(".")]
        assert not [name for name in again if "/." in name]
        assert part(again, "office") == part(new, "office")
        if not elsewhere:
            assert left == ["office", "out", "release.toml"]
            assert part(again, "out") == part(new, "out")
        else:
            # A command for another folder ends what was begun for this one: all of it, or nothing.
            assert left == ["office", "out", "release.toml", "second"]
            begun = [name for name in after if name.endswith("commit.json")]
            assert part(again, "out") in (part(old, "out"), part(new, "out"))
            assert [*part(again, "second").values()] == [*part(new, "out").values()]
            assert not begun or part(again, "out") == part(new, "out")


FULL = """
import resource, sys
from pathlib import Path
from sdcensus.cli.shared.run import run as run_command
import sdcensus.session.release.release

document, out, secret, allowed = sys.argv[1:5]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(allowed),) * 2)
sys.exit(run_command(
    ["release", "make", document, "--design", "B", "--out", out, "--secret", secret, "--replace",
     "--accept-risk", "Ana Ruiz", "--reason", "a test"]
))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
@pytest.mark.parametrize("there_before", [False, True])
def test_a_full_disk_is_told_and_leaves_what_was_there(
    hamlet: Hamlet, tmp_path: Path, there_before: bool
) -> None:
    path = document(hamlet, tmp_path)
    if there_before:
        Release(path, secret=SECRET).make(tmp_path / "out", **ACCEPTED)
    before = contents(tmp_path)
    # Room for little of what is public, and for all of it but not for the office's papers.
    for allowed in (700, 9000):
        arguments = [str(path), str(tmp_path / "out"), str(hamlet.secret), str(allowed)]
        done = subprocess.run(
            [sys.executable, "-B", "-c", FULL, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == OutputError.exit_code, done.stderr
        # A slow machine tells its progress before.
        last = done.stderr.splitlines()[-1]
        assert last.startswith("error: ")
        assert "File too large" in last
        assert {**contents(tmp_path), "office/running.lock": ""} == {
            **before,
            "office/running.lock": "",
        }
        assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith(".")]


def test_of_two_at_the_same_time_one_is_told(hamlet: Hamlet, tmp_path: Path) -> None:
    release = Release(document(hamlet, tmp_path), secret=SECRET)
    refusals: list[str] = []

    def meanwhile(stage: str, _: float) -> None:
        if stage == "writing papers":
            for out in ("out", "second"):
                with pytest.raises(
                    OutputError, match=r"Another run .* Wait until it is done"
                ) as no:
                    release.make(tmp_path / out, design="B", **ACCEPTED)
                refusals.append(str(no.value))

    file = release.make(tmp_path / "out", progress=meanwhile, **ACCEPTED)
    assert len(refusals) == 2
    assert check_folder(tmp_path / "out").sound
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["office", "out", "release.toml"]
    # What it was told to do works: the other is made afterwards, and takes nothing from it.
    release.make(tmp_path / "second", design="B", **ACCEPTED)
    (first,) = register_file(tmp_path / "out", tmp_path / "office", names=("Ana", "Ben"))
    assert (first.name, first.design) == (file.file.name, "A")
