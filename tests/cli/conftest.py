from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sdcensus.cli.shared.run import run as run_command
from tests.cli.tiny import PERSONS, write_village

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answered; ``err`` without progress."""

    code: int
    out: str
    err: str


Run = Callable[..., Answer]


def without_progress(text: str) -> str:
    """What was said besides progress, which a busy machine shows and a quick one does not."""
    return "".join(line for line in text.splitlines(True) if not line.endswith(" ...\n"))


@dataclass(frozen=True, slots=True)
class Village:
    """A loaded census, shared by tests that only read it."""

    schema: Path
    secret: Path
    store: Path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, as if it were typed on a console of 80 signs."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("SDCENSUS_DEBUG", "SDCENSUS_SECRET_FILE", "SDCENSUS_DATABASE"):
        monkeypatch.delenv(name, raising=False)

    def command(*arguments: object) -> Answer:
        capsys.readouterr()
        code = run_command([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Answer(code, said.out, without_progress(said.err))

    return command


@pytest.fixture(scope="session")
def village(tmp_path_factory: pytest.TempPathFactory) -> Village:
    folder = tmp_path_factory.mktemp("village")
    made = Village(
        write_village(folder / "files"), folder / "office.secret", folder / "village.store"
    )
    assert run_command(["secret", "new", str(made.secret), "-q"]) == 0
    load = ["load", str(made.schema), "--out", str(made.store), "--secret", str(made.secret), "-q"]
    assert run_command(load) == 0
    return made


def start(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.Popen[bytes]:
    """Start the program in a process of its own, in which warnings are errors."""
    # A shell lets what it starts in the background ignore Ctrl+C, and so would our children.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SDCENSUS")}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "sdcensus", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80", **environment},
    )


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory, village: Village) -> Path:
    """The village many times over, so that there is something to recommend."""

    folder = tmp_path_factory.mktemp("town")
    persons = [
        (ed, house, str(100 * copy + int(number)), name, *rest)
        for copy in range(60)
        for ed, house, number, name, *rest in PERSONS
    ]
    schema = write_village(folder / "files", persons=persons)
    store = folder / "town.store"
    load = ["load", str(schema), "--out", str(store), "--secret", str(village.secret), "-q"]
    assert run_command(load) == 0
    return store
