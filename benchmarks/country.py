"""Making a demo country of a million persons, written as csv."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Line, in_own_process, peak_memory


def measure(persons: int) -> list[Line]:
    took = in_own_process("benchmarks.country", str(persons))
    kept = took["seconds"] <= 15 if persons == 1_000_000 else None
    return [
        Line(
            f"Demo country of {persons:,} persons, as csv",
            f"{took['seconds']:.1f} s, {took['memory'] / 1e9:.2f} GB",
            "at most 15 s",
            kept,
        )
    ]


def main() -> None:
    from sdcensus.demo import make_country, write_country

    country = make_country(int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as scratch:
        start = time.perf_counter()
        write_country(Path(scratch) / "country", country=country)
        took = time.perf_counter() - start
    print(json.dumps({"seconds": took, "memory": peak_memory()}))


if __name__ == "__main__":
    main()
