"""A run that is killed at any moment is gone on with, and ends with the same bytes.

Real processes and real kills, at moments drawn by a seeded generator: spread over the whole run,
and while everything is put into its place.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from sdcensus.cli.shared.run import run as run_command
from tests.cli.conftest import ROOT, start, without_progress
from tests.session.publish.plans import TABLES, Office, contents, new_office

MORE = "".join(
    f"""
[[table]]
name = "table-{at}"
rows = ["area@{level}"]
columns = {columns}
"""
    for at, (level, columns) in enumerate(
        (level, columns)
        for level in ("parish", "district", "parish+district")
        for columns in ('["age@class"]', '["age", "sex"]', '["sex", "married", "age@half"]')
    )
)


PRODUCTS = 4 + 9


@dataclass(frozen=True)
class Killed:
    """An office whose runs are killed, what must come out, and how long a run works."""

    office: Office
    expected: dict[str, bytes]
    seconds: float


# Children of a process that has the libraries in memory begin to work at once.
if sys.platform == "win32":
    CONTEXT = multiprocessing.get_context("spawn")
else:
    CONTEXT = multiprocessing.get_context("forkserver")


def command(arguments: list[str]) -> None:
    """What the program does, in a process of its own."""
    sys.exit(run_command(arguments))


def publishing(office: Office) -> BaseProcess:
    """Begin to publish."""
    CONTEXT.set_forkserver_preload(
        ["sdcensus.session.publish.run", "sdcensus.cli.shared.run", __name__]
    )
    arguments = ["publish", str(office.plan), "--secret", str(office.secret), "--quiet"]
    process = CONTEXT.Process(target=command, args=(arguments,))
    process.start()
    return process


def forget(office: Office) -> None:
    shutil.rmtree(office.published, ignore_errors=True)
    shutil.rmtree(office.office, ignore_errors=True)


def until(is_alive: Callable[[], bool], path: Path, files: int = 0) -> bool:
    """Wait for a file, or for so many in a folder; false if the process ends before."""
    while not path.exists() or (files and len(list(path.glob("*.json"))) < files):
        if not is_alive():
            return False
        time.sleep(0.0003)
    return True


@pytest.fixture(scope="module", autouse=True)
def same_code() -> Iterator[None]:
    """Processes that are started later take the program from where the tests have it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
        yield


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    office = new_office(
        tmp_path_factory.mktemp("killed"), tables=TABLES + MORE, formats=["csv", "px"]
    )
    process = publishing(office)
    assert until(process.is_alive, office.own / ".part" / "run.json")
    began = time.perf_counter()
    process.join()
    assert process.exitcode == 0
    seconds = time.perf_counter() - began
    yield Killed(office, contents(office.folder), seconds)
    shutil.rmtree(office.folder)


Moment = Callable[[BaseProcess, Office], None]


def after(seconds: float) -> Moment:
    """So long after the run has begun to work."""

    def wait(process: BaseProcess, office: Office) -> None:
        until(process.is_alive, office.own / ".part" / "run.json")
        time.sleep(seconds)

    return wait


def when_finished(products: int, seconds: float) -> Moment:
    """While tables are made: when so many are finished."""

    def wait(process: BaseProcess, office: Office) -> None:
        until(process.is_alive, office.own / ".part" / "finished", products)
        time.sleep(seconds)

    return wait


def while_moving(seconds: float) -> Moment:
    """While everything is put into its place."""

    def wait(process: BaseProcess, office: Office) -> None:
        until(process.is_alive, office.own / ".part" / "commit.json")
        if seconds:
            time.sleep(seconds)

    return wait


def moments(killed: Killed, seed: int) -> Iterator[Moment]:
    """Anywhere in the run, while tables are made, and at its end, in turn."""
    draw = random.Random(seed)
    while True:
        yield after(draw.uniform(0, killed.seconds))
        yield when_finished(draw.randint(1, PRODUCTS), draw.uniform(0, 0.02))
        yield while_moving(draw.choice((0, 0, draw.uniform(0, 0.004))))


def check_kills(killed: Killed, wanted: int, seed: int) -> None:
    office = killed.office
    hits = resumed = 0
    for at, moment in enumerate(moments(killed, seed)):
        if at % 2:
            (office.published / "ages.csv").unlink()  # the old folder makes room for a new one
        else:
            forget(office)
        process = publishing(office)
        moment(process, office)
        process.kill()
        process.join()
        hits += process.exitcode != 0
        report = office.publish()
        assert len(report.products) == PRODUCTS
        resumed += 0 < report.made < PRODUCTS
        assert contents(office.folder) == killed.expected
        if hits >= wanted and resumed:
            return


@pytest.mark.slow
def test_ten_kills_change_nothing(killed: Killed) -> None:
    check_kills(killed, 10, seed=1)


@pytest.mark.soak
def test_fifty_kills_change_nothing(killed: Killed) -> None:
    check_kills(killed, 50, seed=2)


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_comes_to_its_end(killed: Killed) -> None:
    office = killed.office
    forget(office)
    draw = random.Random(3)
    for _ in range(4):
        process = publishing(office)
        after(draw.uniform(0, killed.seconds / 3))(process, office)
        process.kill()
        process.join()
    office.publish()
    assert contents(office.folder) == killed.expected


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended from outside")],
)
def test_an_interrupted_run_says_that_it_can_go_on(
    killed: Killed, number: signal.Signals, code: int, words: str
) -> None:
    office = killed.office
    forget(office)
    process = start("publish", office.plan, "--secret", office.secret, "--quiet")
    assert until(lambda: process.poll() is None, office.own / ".part" / "finished")
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == code
    said = without_progress(err.decode("utf-8"))
    # A signal may come while a file is being opened, and tests show what is then left unclosed.
    assert said.splitlines()[-1] == f"error: {words}; the same command goes on where it stopped"
    assert not office.published.exists()
    office.publish()
    assert contents(office.folder) == killed.expected
