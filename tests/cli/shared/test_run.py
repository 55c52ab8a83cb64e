"""What the program does when something goes wrong, as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcensus.cli import main
from sdcensus.cli.shared import run as running
from sdcensus.cli.shared.run import BUG, INTERRUPTED, TERMINATED
from sdcensus.errors import StoreError
from sdcensus.session.census import census
from sdcensus.store.writer import writing
from tests.cli.conftest import Run, Village, start, without_progress
from tests.cli.tiny import write_village

MANY = 400_000


def finished(process: subprocess.Popen[bytes], *, encoding: str = "utf-8") -> tuple[int, str, str]:
    """Exit code and what was said on each stream, besides progress."""
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(encoding), without_progress(err.decode(encoding))


# ---------------------------------------------------------------- bugs


def broken(path: object) -> None:
    raise KeyError("Ana Secret")


def test_a_bug_is_reported_without_values_and_without_a_traceback(
    run: Run, village: Village, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "open_store", broken)
    answer = run("describe", village.store)
    assert answer.code == BUG
    place = "cli/census/describe.py"
    assert answer.err.startswith(f"error: This is a bug of sdcensus (KeyError in {place}")
    assert "Secret" not in answer.out + answer.err
    assert "Traceback" not in answer.err


def test_the_traceback_of_a_bug_is_shown_to_those_who_ask(
    run: Run, village: Village, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "open_store", broken)
    monkeypatch.setenv("SDCENSUS_DEBUG", "1")
    answer = run("describe", village.store)
    assert answer.code == BUG
    assert "Traceback" in answer.err


def test_an_interrupt_is_no_bug_whatever_a_library_makes_of_it(
    run: Run, village: Village, monkeypatch: pytest.MonkeyPatch
) -> None:
    def importing(path: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("initialization failed") from error

    monkeypatch.setattr(census, "open_store", importing)
    answer = run("describe", village.store)
    assert (answer.code, answer.err) == (INTERRUPTED, "error: interrupted\n")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (MemoryError(), "error: There is not enough memory."),
        (PermissionError(13, "Permission denied", "a.store"), "error: a.store: Permission denied."),
        (OSError(28, "No space left on device"), "error: The system says: No space left"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_the_system_refuses_is_told_in_its_words(
    run: Run,
    village: Village,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    text: str,
) -> None:
    def refused(path: object) -> None:
        raise error

    monkeypatch.setattr(census, "open_store", refused)
    answer = run("describe", village.store)
    assert answer.code == 1
    assert answer.err.startswith(text)
    assert "Traceback" not in answer.err


# ---------------------------------------------------------------- the command line itself


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["lod"], "Did you mean 'load'?"),
        (["load"], "SCHEMA"),
        (["load", "census.toml"], "--out"),
        (["tabulate", "a.store", "--bye", "sex"], "--by"),
        (["secret", "news"], "new"),
    ],
)
def test_a_mistyped_command_line_is_explained(run: Run, arguments: list[str], hint: str) -> None:
    answer = run(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert hint in answer.err
    assert "--help" in answer.err


def test_the_module_runs_as_a_program() -> None:
    code, out, err = finished(start("--version"))
    assert (code, err) == (0, "")
    assert out.startswith("sdcensus ")


def test_an_error_is_one_line_on_stderr_and_an_exit_code(tmp_path: Path) -> None:
    code, out, err = finished(start("describe", tmp_path / "none"))
    assert code == 6
    assert out == ""
    assert err.startswith("error: ")
    assert "Traceback" not in err


def test_nobody_reads_any_more(village: Village) -> None:
    process = start("tabulate", village.store, "--by", "age,sex", "--show", "--confidential")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) == 1
    assert without_progress(err.decode("utf-8")) == ""


def test_a_program_without_a_console(
    run: Run, village: Village, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    answer = run("describe", village.store)
    assert (answer.code, answer.err) == (0, "")


def test_the_impatient_see_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run", interrupted)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == INTERRUPTED


# ---------------------------------------------------------------- consoles that cannot show all


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", ["Rivière", "4 × 3 = 12 cells", "Rented – “by the month”"]),
        pytest.param(
            *("cp1252", ["Rivière", "4 × 3 = 12 cells", "Rented – “by the month”"]),
            marks=pytest.mark.soak,
        ),
        ("ascii", ["Riviere", "4 x 3 = 12 cells", 'Rented - "by the month"']),
        pytest.param(
            *("cp437", ["Rivière", "4 x 3 = 12 cells", 'Rented - "by the month"']),
            marks=pytest.mark.soak,
        ),
    ],
)
def test_every_console_shows_something_readable(
    village: Village, encoding: str, expected: list[str]
) -> None:
    process = start(
        *("tabulate", village.store, "--by", "ed,tenure", "--show", "--confidential"),
        PYTHONIOENCODING=encoding,
    )
    code, out, err = finished(process, encoding=encoding)
    assert (code, err) == (0, "")
    assert all(text in out for text in expected)


@pytest.mark.parametrize("encoding", [pytest.param("cp1252", marks=pytest.mark.soak), "ascii"])
def test_help_and_errors_are_shown_on_every_console(encoding: str, tmp_path: Path) -> None:
    asked = start("tabulate", "--help", PYTHONIOENCODING=encoding)
    code, out, err = finished(asked, encoding=encoding)
    assert (code, err) == (0, "")
    assert "Examples:" in out
    failing = start("describe", tmp_path / "Ünïcode – 人", PYTHONIOENCODING=encoding)
    code, _, err = finished(failing, encoding=encoding)
    assert code == 6
    assert err.startswith("error: ")


# ---------------------------------------------------------------- loads that are ended


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A census that takes long enough to be interrupted."""
    schema = write_village(tmp_path_factory.mktemp("large"), persons=[])
    with (schema.parent / "persons.csv").open("a", encoding="utf-8", newline="") as file:
        file.writelines(f"E1,1,{at},Name Secret,1,{at % 100},0,{at}\r\n" for at in range(MANY))
    return schema


def loading(schema: Path, village: Village, out: Path) -> subprocess.Popen[bytes]:
    """A load that has begun to write."""
    process = start("load", schema, "--out", out, "--secret", village.secret)
    deadline = time.monotonic() + 60
    while not any(columns_of(out)):
        assert process.poll() is None, "the load ended before it could be ended"
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


def columns_of(out: Path) -> Iterator[Path]:
    return out.parent.glob(f"{out.name}*/**/*.part")


def test_a_store_that_is_not_finished_cannot_be_opened(village: Village, tmp_path: Path) -> None:
    """However late a load is killed: here everything is written but the name."""
    schema = census.open_store(village.store).schema
    with writing(tmp_path / "late.store") as writer:
        for unit in schema.entities:
            writer.add_entity(unit.entity, 0)
        writer.describe(schema, secret_id="0" * 16, on_problem="refuse")
        with pytest.raises(StoreError, match="is not a census store"):
            census.open_store(writer.folder)
    assert census.open_store(tmp_path / "late.store").schema == schema


@pytest.mark.slow
def test_a_killed_load_leaves_nothing_that_looks_like_a_store(
    run: Run, large: Path, village: Village, tmp_path: Path
) -> None:
    out = tmp_path / "census.store"
    process = loading(large, village, out)
    process.kill()
    finished(process)
    assert not out.exists()
    assert list(tmp_path.rglob("manifest.json")) == []
    for left in tmp_path.iterdir():
        assert ".partial-" in left.name
        assert run("describe", left).code == 6
    # What is left does not stand in the way of the next attempt.
    assert run("load", village.schema, "--out", out, "--secret", village.secret).code == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (signal.SIGINT, INTERRUPTED, "error: interrupted, nothing was written\n"),
        (signal.SIGTERM, TERMINATED, "error: ended from outside, nothing was written\n"),
    ],
    ids=["interrupted", "terminated"],
)
def test_a_load_that_is_asked_to_end_leaves_nothing(
    large: Path, village: Village, tmp_path: Path, number: signal.Signals, code: int, text: str
) -> None:
    process = loading(large, village, tmp_path / "census.store")
    process.send_signal(number)
    assert finished(process) == (code, "", text)
    assert list(tmp_path.iterdir()) == []
