"""Loading from parquet, with keys: time and memory by size."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from benchmarks.measure import Line, in_own_process, peak_memory
from benchmarks.people import secret_file, write_people


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    lines = []
    per_million = []
    for persons in sizes:
        write_people(folder, persons)
        secret_file(folder)
        took = in_own_process("benchmarks.load", str(folder), str(persons))
        figure = f"{took['seconds']:.1f} s, {took['memory'] / 1e9:.2f} GB"
        per_million.append(took["seconds"] / persons * 1e6)
        largest = persons == max(sizes)
        kept = took["seconds"] <= 90 and took["memory"] <= 4e9 if largest else None
        promise = "at most 90 s and 4 GB" if largest else ""
        lines.append(Line(f"Load of {persons / 1e6:g} million rows", figure, promise, kept))
    growth = ", ".join(f"{one:.2f}" for one in per_million)
    linear = per_million[-1] <= 1.5 * per_million[0]
    lines.append(Line("Load: seconds per million rows", growth, "does not grow", linear))
    return lines


def main() -> None:
    import sdcensus as sc

    folder, persons = Path(sys.argv[1]), int(sys.argv[2])
    store = folder / f"people-{persons}.store"
    if store.exists():
        shutil.rmtree(store)
    start = time.perf_counter()
    sc.load(folder / f"people-{persons}.toml", store, secret=folder / "bench.secret")
    print(json.dumps({"seconds": time.perf_counter() - start, "memory": peak_memory()}))


if __name__ == "__main__":
    main()
