"""How things are measured: warm repeats, medians, peak memory of a process of its own."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of the results: what, how much, and what was promised."""

    what: str
    figure: str
    promise: str = ""
    kept: bool | None = None

    def row(self) -> str:
        """The figure as a row of a Markdown table."""
        mark = {True: "yes", False: "**no**", None: ""}[self.kept]
        return f"| {self.what} | {self.figure} | {self.promise} | {mark} |"


def seconds(work: Callable[[], object], *, repeats: int = 7) -> float:
    """The median time of warm repeats; the first run is not counted."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def in_own_process(module: str, *arguments: str) -> dict[str, float]:
    """Run ``python -m module`` and read the figures that it prints as its last line."""
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=REPOSITORY,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    figures: dict[str, float] = json.loads(run.stdout.strip().splitlines()[-1])
    return figures


def peak_memory() -> float:
    """The largest memory that this process has held, in bytes, mapped files included."""
    # Not getrusage: what it says of a process begins with the memory of the one that started it.
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    peak = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    return float(peak) * 1024


def machine() -> str:
    """The machine in a few words."""
    name = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        name = next((line.split(":")[1].strip() for line in lines if "model name" in line), name)
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = platform.python_version()
    system = f"{platform.system()} {platform.release()}"
    return f"{name}, {os.cpu_count()} processors, {gigabytes:.0f} GB, {system}, Python {python}"
