"""The table builder under load: first answer, uncached and cached tables, fifty users at once.

Everything goes over loopback to a server that was started as an office starts it.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.measure import REPOSITORY, Line
from benchmarks.people import secret_file

_POLICY = """\
name = "Table builder of the benchmark"
[limits]
dimensions = 5
cells = 100_000
[online]
mean_cell_size = 2
recovery = 0.5
smallest_group = 40
"""
#: Areas, and the levels of the other variables of the people of the benchmark.
AREAS = 420
AGES = ("age@five_year", "age@broad", "age")
#: A user reads for so long between two questions, in seconds.
THINKING = (0.2, 1.0)
USERS = 50
PORT = 18_462


def measure(folder: Path, persons: int, *, minutes: float = 5.0) -> list[Line]:
    """All figures."""
    # The benchmark of loading has made it.
    store = folder / f"people-{persons}.store"
    with _server(folder, store) as (process, started):
        alone = _uncached(60)
        lines = [
            Line(
                f"From the command to the first answer, {persons / 1e6:g} million people",
                f"{started:.1f} s",
                "under 3 s",
                started < 3,
            ),
            Line(
                "Five variables, 60 different tables of up to 100,000 cells, not cached, one user",
                f"median {1000 * statistics.median(alone):.0f} ms,"
                f" p95 {1000 * _percentile(alone, 95):.0f} ms",
                "p95 at most 300 ms",
                _percentile(alone, 95) <= 0.3,
            ),
        ]
        lines += _cached()
        lines += _crowd(process, minutes)
    return lines


@contextmanager
def _server(folder: Path, store: Path) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """A server with empty caches, and how long it took until its first answer."""
    state = folder / "serve-state"
    shutil.rmtree(state, ignore_errors=True)
    state.mkdir(parents=True)
    (state / "policy.toml").write_text(_POLICY, encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", "sdcensus"]
    noise = state / "noise.csv"
    design = ["ptable", "design", "--max-deviation", "6", "--variance", "3"]
    written = ["--format", "plain", "--out", str(noise), "--quiet"]
    subprocess.run([*command, *design, *written], cwd=REPOSITORY, check=True)
    began = time.perf_counter()
    process = subprocess.Popen(
        [
            *command,
            *("serve", str(store), "--policy", str(state / "policy.toml")),
            *("--perturbation", str(noise)),
            *("--secret", str(secret_file(folder))),
            # Users come from addresses of their own, as behind the proxy of an office.
            *("--port", str(PORT), "--state", str(state / "server"), "--proxy", "127.0.0.1"),
            "--quiet",
        ],
        cwd=REPOSITORY,
        # As it is installed: with compiled modules.
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
        stdout=subprocess.DEVNULL,
    )
    try:
        while True:
            if process.poll() is not None:
                raise RuntimeError("The server has ended; its message stands above.")
            try:
                _ask(_question(("area@district", "sex")), "10.0.0.1")
                break
            except OSError:
                time.sleep(0.02)
        yield process, time.perf_counter() - began
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _question(by: tuple[str, ...], areas: tuple[str, ...] | None = None, where: str = "") -> str:
    parameters = [("of", "persons"), *(("by", one) for one in by)]
    if where:
        parameters.append(("where", where))
    if areas is not None:
        parameters.append(("codes", json.dumps({"area": list(areas)}, separators=(",", ":"))))
    return f"/api/v1/tables?{urlencode(parameters)}"


def _ask(link: str, address: str, connection: http.client.HTTPConnection | None = None) -> float:
    """Seconds until the whole answer is there."""
    own = connection or http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    began = time.perf_counter()
    own.request("GET", link, headers={"X-Forwarded-For": address})
    answer = own.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status} for {link}: {body[:200]!r}")
    took = time.perf_counter() - began
    if connection is None:
        own.close()
    return took


def _codes() -> tuple[str, ...]:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    link = f"/api/v1/datasets/persons/areas?variable=area&level=area&limit={AREAS}"
    connection.request("GET", link, headers={"X-Forwarded-For": "10.0.0.1"})
    areas = json.loads(connection.getresponse().read())["areas"]
    connection.close()
    return tuple(area["code"] for area in areas)


def _tables(seed: int) -> Iterator[str]:
    """Tables by five variables, each of which nobody has asked for."""
    draw = random.Random(seed)
    codes = _codes()
    for at in itertools.count():
        age = AGES[at % len(AGES)]
        most = {"age@five_year": 30, "age@broad": 100, "age": 6}[age]
        areas = tuple(sorted(draw.sample(codes, draw.randint(max(2, most // 5), most))))
        yield _question(("area", "sex", age, "first", "second"), areas)


def _uncached(tables: int) -> list[float]:
    questions = _tables(1)
    _ask(next(questions), "10.0.1.1")  # what is compiled at the first table is compiled now
    return [_ask(next(questions), f"10.0.{2 + at // 5}.1") for at in range(tables)]


def _percentile(times: list[float], percent: float) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def _cached() -> list[Line]:
    link = _question(("area@district", "sex"))
    _ask(link, "10.0.0.1")
    if shutil.which("wrk") is None:
        return [Line("Cached tables", "not measured: wrk is not installed", "at least 1,000/s")]
    run = subprocess.run(
        ["wrk", "-t1", "-c32", "-d15s", f"http://127.0.0.1:{PORT}{link}"],
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    found = re.search(r"Requests/sec:\s+([0-9.]+)", run.stdout)
    rate = float(found[1]) if found else 0.0
    failed = re.search(r"Non-2xx|Socket errors", run.stdout) is not None
    return [
        Line(
            "Cached table, wrk with 32 connections on the same machine",
            f"{rate:,.0f} requests a second{', some failed' if failed else ''}",
            "at least 1,000",
            rate >= 1_000 and not failed,
        )
    ]


@dataclass
class _Seen:
    """What happened to all users together."""

    cached: list[float] = field(default_factory=list)
    uncached: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def _crowd(process: subprocess.Popen[bytes], minutes: float) -> list[Line]:
    """Users who mostly look at what others look at, and sometimes ask for something new."""
    popular = list(itertools.islice(_tables(2), 20))
    new = _tables(3)
    seen = _Seen()
    end = time.monotonic() + 60 * minutes

    def user(number: int) -> None:
        draw = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        visits = 0
        while time.monotonic() < end:
            fresh = draw.random() < 0.15
            with seen.lock:
                link = next(new) if fresh else draw.choice(popular)
            visits += 1
            try:
                took = _ask(link, f"10.{number}.{visits // 5}.1", connection)
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                with seen.lock:
                    seen.errors.append(str(error))
                connection.close()
                continue
            with seen.lock:
                (seen.uncached if fresh else seen.cached).append(took)
            time.sleep(draw.uniform(*THINKING))
        connection.close()

    users = [threading.Thread(target=user, args=(one,)) for one in range(USERS)]
    for one in users:
        one.start()
    memory = []
    while time.monotonic() < end:
        time.sleep(min(15.0, max(end - time.monotonic(), 0.0)))
        memory.append(_resident(process.pid))
    for one in users:
        one.join()
    half = memory[len(memory) // 2 :]
    growth = (half[-1] - half[0]) / half[0]
    questions = len(seen.cached) + len(seen.uncached)
    return [
        Line(
            f"{USERS} users for {minutes:g} minutes, {questions:,} questions,"
            f" {len(seen.uncached):,} of them not cached",
            f"{len(seen.errors)} errors; cached p95 {1000 * _percentile(seen.cached, 95):.0f} ms,"
            f" not cached p95 {1000 * _percentile(seen.uncached, 95):.0f} ms",
            "no error",
            not seen.errors,
        ),
        Line(
            "Memory of the server meanwhile, mapped files included",
            f"{memory[0] / 1e9:.2f} GB at first, {half[0] / 1e9:.2f} GB half way,"
            f" {half[-1] / 1e9:.2f} GB at the end",
            "flat in the second half (below 5 %)",
            growth < 0.05,
        ),
    ]


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
