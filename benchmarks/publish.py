"""Publishing the European programme: time, memory, growth, engines.

Each run is a process of its own: ``python -m benchmarks.publish FOLDER PERSONS VARIED
PATTERNS ENGINE FORMATS LIMIT``. Loading is not part of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.measure import Line, in_own_process, peak_memory, seconds
from benchmarks.nation import nation_store, write_mapping
from benchmarks.people import secret_file

#: Groups 1 to 32: persons.
PERSONS = tuple(f"{group}.*" for group in range(1, 33))
EVERYTHING = ("*",)
CROSSED = ("13.all",)
#: Nations that fill more and more cells of that table; the last about 65 million.
VARIED = (0.0, 0.05, 0.1)
#: Six hypercubes of different groups, for engines that are much slower.
SOME = ("2.1", "3.1", "8.1", "14.1", "23.2", "31.1")
_GB = 1e9
#: DuckDB needs some memory for each thread.
_LEAST = 64_000_000

_PLAN = """\
store = "{store}"
programme = "eu-2021"
tables = [{tables}]
mapping = "nation-mapping.toml"

[protect]
method = "cell-key"
scheme = "CP3(EU)"

[output]
folder = "{name}"
office_folder = "{name}.office"
formats = [{formats}]
languages = ["en"]
evaluation = true
"""


def measure(folder: Path, sizes: Sequence[int]) -> list[Line]:
    """All figures; the largest size is that of the promises."""
    for persons in sizes:
        nation_store(folder, persons)
    largest = max(sizes)
    full = largest >= 17_500_000
    lines = []
    whole = _run(folder, largest, PERSONS)
    kept = whole["seconds"] <= 45 and whole["memory"] <= 4 * _GB if full else None
    lines.append(
        Line(
            f"103 hypercubes, {whole['cells'] / 1e6:.1f} million cells, {_millions(largest)}:"
            " counted, protected, evaluated, csv",
            f"{_took(whole)}, {whole['scans']:.0f} scans, {whole['size'] / 1e6:.0f} MB",
            "at most 45 s and 4 GB",
            kept,
        )
    )
    lines.append(
        Line(
            "One plain pass over the same columns (numpy sums)",
            f"{whole['pass'] * 1e3:.0f} ms; publishing takes"
            f" {whole['seconds'] / whole['pass']:.0f} times as long",
        )
    )
    every = _run(folder, largest, EVERYTHING)
    lines.append(
        Line(
            f"All 119 hypercubes and the grid of 1 km², {every['cells'] / 1e6:.1f} million cells",
            _took(every),
            "at most 50 s and 4 GB",
            every["seconds"] <= 50 and every["memory"] <= 4 * _GB if full else None,
        )
    )
    lines += _growth(folder, sizes, whole)
    lines += _crossed(folder, min(sizes), full)
    lines += _engines(folder, sizes)
    return lines


def _growth(folder: Path, sizes: Sequence[int], largest: dict[str, float]) -> list[Line]:
    """Time by people: cells must be protected and written however few people there are."""
    runs = [_run(folder, size, PERSONS) for size in sizes if size != max(sizes)] + [largest]
    by_size = dict(zip(sorted(sizes), runs, strict=True))
    low, high = min(by_size), max(by_size)
    grown = by_size[high]["counting"] / by_size[low]["counting"]
    return [
        Line(
            "The same tables by people: whole run",
            ", ".join(f"{_millions(one)} {run['seconds']:.1f} s" for one, run in by_size.items()),
        ),
        Line(
            "The same tables by people: counting alone",
            ", ".join(f"{_millions(one)} {run['counting']:.2f} s" for one, run in by_size.items()),
            "not faster than the number of people",
            grown <= 1.25 * high / low,
        ),
    ]


def _crossed(folder: Path, persons: int, full: bool) -> list[Line]:
    """Group 13 with all its variables crossed, for nations that fill more and more of its cells."""
    runs = [_run(folder, persons, CROSSED, varied=one, formats=("parquet",)) for one in VARIED]
    last = runs[-1]
    each = [run["seconds"] / run["rows"] * 1e6 for run in runs]
    shown = ", ".join(f"{run['rows'] / 1e6:.0f} million {run['seconds']:.0f} s" for run in runs)
    return [
        Line(
            f"Group 13, all variables crossed, {_millions(persons)}, every margin, parquet:"
            f" {last['cells'] / 1e9:.2f}·10⁹ possible cells, {last['rows'] / 1e6:.0f} million"
            " that are not empty",
            f"{_took(last)}, {last['size'] / 1e6:.0f} MB",
            "at most 120 s and 4 GB",
            last["seconds"] <= 120 and last["memory"] <= 4 * _GB if full else None,
        ),
        Line(
            "The same by cells that are not empty",
            f"{shown}: {', '.join(f'{one:.2f}' for one in each)} s for a million",
            "time for a cell does not grow",
            each[-1] <= 1.25 * each[0],
        ),
    ]


def _engines(folder: Path, sizes: Sequence[int]) -> list[Line]:
    persons = max(sizes)
    export = _exported(folder, persons)
    size = sum(one.stat().st_size for one in export.rglob("*.parquet"))
    # Less than its data; half would be less than the tables of these hypercubes take.
    limit = max(size * 9 // 10, _LEAST)
    memory = _run(folder, persons, SOME)
    duckdb = _run(folder, persons, SOME, engine="duckdb", limit=limit)
    lines = [
        Line(f"{len(SOME)} hypercubes, {_millions(persons)}, engine memory", _took(memory)),
        Line(
            f"The same by DuckDB, which may take {limit / 1e6:.0f} MB, from an export of"
            f" {size / 1e6:.0f} MB",
            f"{_took(duckdb)}, {duckdb['seconds'] / memory['seconds']:.1f} times",
            "at most 10 times",
            duckdb["seconds"] <= 10 * memory["seconds"],
        ),
    ]
    return [*lines, _spark(folder, persons, memory)]


def _exported(folder: Path, persons: int) -> Path:
    """The nation as encoded files, made once."""
    from sdcensus.session.census.export import export

    target = folder / f"nation-{persons}.export"
    if not target.exists():
        export(nation_store(folder, persons), target)
    return target


def _spark(folder: Path, persons: int, memory: dict[str, float]) -> Line:
    what = "The same by Spark on this machine from that export, starting it included"
    missing = [] if find_spec("pyspark") else ["pyspark"]
    missing += [] if os.environ.get("JAVA_HOME") or shutil.which("java") else ["Java"]
    if missing:
        return Line(what, f"not run: there is no {' and no '.join(missing)} here")
    try:
        spark = _run(folder, persons, SOME, engine="spark")
    except subprocess.CalledProcessError as error:
        return Line(what, f"failed with exit code {error.returncode}", "the same numbers", False)
    return Line(
        what, f"{_took(spark)} without Java, {spark['seconds'] / memory['seconds']:.1f} times"
    )


def _run(
    folder: Path,
    persons: int,
    tables: Sequence[str],
    *,
    varied: float = 0.0,
    engine: str = "memory",
    formats: Sequence[str] = ("csv",),
    limit: int = 0,
) -> dict[str, float]:
    names = (",".join(tables), engine, ",".join(formats), str(limit))
    arguments = (str(folder), str(persons), str(varied), *names)
    return in_own_process("benchmarks.publish", *arguments)


def _millions(persons: int) -> str:
    return f"{persons / 1e6:g} million people"


def _took(run: dict[str, float]) -> str:
    return f"{run['seconds']:.1f} s, {run['memory'] / _GB:.2f} GB"


def publish_nation(
    folder: Path,
    persons: int,
    varied: float,
    tables: Sequence[str],
    *,
    engine: str,
    formats: Sequence[str],
    limit: int = 0,
) -> dict[str, Any]:
    """Publish some tables of the nation, and say what that took.

    Args:
        folder, persons, varied: Which nation, and where it lies.
        tables: Which tables of the programme.
        engine, formats: How they are counted and written.
        limit: How many bytes the run keeps within; 0 for what is usual.
    """
    from sdcensus.session.publish import counting, run

    write_mapping(folder)
    name = f"published-{persons}"
    for old in (folder / name, folder / f"{name}.office"):
        shutil.rmtree(old, ignore_errors=True)
    plan = folder / f"plan-{persons}.toml"
    store = nation_store(folder, persons, varied)
    text = _PLAN.format(
        store=store.name,
        name=name,
        tables=", ".join(map(json.dumps, tables)),
        formats=", ".join(map(json.dumps, formats)),
    )
    plan.write_text(text, encoding="utf-8", newline="\n")
    began = time.perf_counter()
    options = run.PublishOptions(
        secret=secret_file(folder),
        engine=engine,
        data=None if engine == "memory" else str(folder / f"nation-{persons}.export"),
        memory=limit or run.DEFAULT_MEMORY,
        # The programme breaks small groups down: the gate is asked, and somebody accepts it.
        accept_risk="Benchmark",
        reason="to measure",
        yes=True,
    )
    report = run.publish(plan, options)
    took = time.perf_counter() - began
    figures: dict[str, Any] = {
        "seconds": took,
        "memory": peak_memory(),
        "cells": report.cells,
        "scans": report.scans,
        "size": report.size,
    }
    found = [pq.ParquetFile(one).metadata.num_rows for one in (folder / name).glob("*.parquet")]
    figures["rows"] = sum(found)
    for old in (folder / name, folder / f"{name}.office"):
        shutil.rmtree(old, ignore_errors=True)
    if engine == "memory" and tuple(tables) == PERSONS:
        figures |= _counting(plan, folder, counting)
    return figures


def _counting(plan: Path, folder: Path, counting: Any) -> dict[str, float]:
    """Counting alone, and one plain pass over the columns that it reads."""
    from sdcensus.model.schema.variable import Entity
    from sdcensus.session.publish.resolution import resolve
    from sdcensus.session.publish.run import scheduled

    resolved = resolve(plan, secret=secret_file(folder))
    schedule = scheduled(resolved, memory=4 * 10**9, threads=2)
    census = resolved.census
    count = seconds(
        lambda: counting.count_tables(census, schedule, lambda at, cube: None), repeats=1
    )
    named = {axis.variable.name for spec in schedule.specs for axis in spec.axes}
    store, person = census.store, Entity.PERSON
    columns = [store.column(person, census.schema.variable(one)).whole for one in sorted(named)]
    columns.append(store.record_keys(person))
    arrays = [column for column in columns if column is not None]
    plain = seconds(lambda: [np.sum(array, dtype=np.uint64) for array in arrays], repeats=3)
    return {"counting": count, "pass": plain}


def main() -> None:
    folder, persons, varied, tables, engine, formats, limit = sys.argv[1:]
    figures = publish_nation(
        Path(folder),
        int(persons),
        float(varied),
        tables.split(","),
        engine=engine,
        formats=formats.split(","),
        limit=int(limit),
    )
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
