"""SAFE with fifteen variables of persons: time, memory and deviations by the size of a country.

``python -m benchmarks --only safe`` makes demo countries. What is measured is the method alone,
with its edit rules and its default control tables, in a process of its own; kernels are compiled
before. ``python -m benchmarks.safe STORE`` measures a store that it made.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.measure import Line, in_own_process, peak_memory
from sdcensus.model.quantities import duration_text

VARIABLES = (
    *("ed@parish", "sex", "age@five_year", "marital_status", "relationship", "ethnicity"),
    *("religion@faith", "language", "birthplace@area", "citizenship@origin", "education@broad"),
    *("activity", "employment_status", "industry@sector", "health_insurance"),
)
#: How long it may take at most, by the number of persons.
_PROMISED = {47_000: (300.0, "at most 5 minutes"), 1_000_000: (3600.0, "at most an hour")}
_SECRET = bytes(range(32))


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """The figures for RESULTS.md, at each size."""
    lines = []
    for persons in sizes:
        took = in_own_process("benchmarks.safe", str(_store(folder, persons)))
        limit, promise = _PROMISED.get(persons, (0.0, ""))
        lines.append(
            Line(
                f"SAFE, {persons:,} persons and {len(VARIABLES)} variables",
                f"{duration_text(took['seconds'])}, {took['memory'] / 1e9:.2f} GB;"
                f" {took['small']:,.0f} of {took['combinations']:,.0f} combinations too small,"
                f" {100 * took['changed']:.0f} % of the persons changed, largest deviation"
                f" {took['worst']:.0f}, none is below {took['bound']:.0f}",
                promise,
                took["seconds"] <= limit if promise else None,
            )
        )
    return lines


def _store(folder: Path, persons: int) -> Path:
    """A demo country of that size, loaded once."""
    from sdcensus.demo import make_country, write_country
    from sdcensus.model.secret import Secret
    from sdcensus.session.census.census import load

    store = folder / f"safe-{persons}.store"
    if not store.exists():
        country = folder / f"safe-{persons}"
        if not country.exists():
            write_country(country, country=make_country(persons), file_format="parquet")
        load(country / "schema.toml", store, secret=Secret(_SECRET))
    return store


def main() -> None:
    """Measure one store."""
    from sdcensus.model.secret import Secret
    from sdcensus.session.derive.step import prepared
    from sdcensus.store.census_store import CensusStore

    store = CensusStore.open(Path(sys.argv[1]))
    said: dict[str, object] = {"variables": list(VARIABLES)}
    # One that ends at once, so that kernels are compiled.
    prepared(store, "safe", {"variables": ["sex", "ed@region"]}, secret=Secret(_SECRET)).run()
    few = {"variables": ["age", "sex", "ed@region"], "moves": 1, "exact": 0}
    prepared(store, "safe", few, secret=Secret(_SECRET)).run()
    start = time.perf_counter()
    changes = prepared(store, "safe", said, secret=Secret(_SECRET)).run().changes
    took = time.perf_counter() - start
    facts = {
        getattr(row[0], "words", ""): row[1]
        for table in changes.facts
        if table.name in ("safe-combinations", "safe-reached")
        for row in table.rows
    }
    persons = max(store.manifest.rows.values())
    figures = {
        "seconds": took,
        "memory": peak_memory(),
        "combinations": facts["safe.rows.combinations"],
        "small": facts["safe.rows.small"],
        "changed": next(iter(changes.figures.values())) / persons,
        "worst": facts["safe.rows.worst"],
        "bound": facts["safe.rows.bound"],
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
