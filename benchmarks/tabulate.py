"""Tabulating 17.5 million people: against DuckDB and against just summing the columns."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import Line, in_own_process, peak_memory, seconds
from benchmarks.people import EVERY_MARGIN, FINEST

_COLUMNS = ("area", "sex", "age", "first", "second")


def measure(folder: Path, persons: int) -> list[Line]:
    import duckdb

    import sdcensus as sc

    census = sc.open_store(folder / f"people-{persons}.store")
    parquet = _encoded_parquet(census, folder / f"encoded-{persons}.parquet")
    finest = seconds(lambda: census.tabulate(*FINEST))
    every = seconds(lambda: census.tabulate(*EVERY_MARGIN))
    arrays = [
        np.array(census.store.column("person", census.schema.variable(name)).whole)  # type: ignore[arg-type]
        for name in _COLUMNS
    ]
    arrays.append(np.array(census.store.record_keys("person")))  # type: ignore[arg-type]
    sums = seconds(lambda: [array.sum(dtype=np.uint64) for array in arrays])
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2")
        names = ", ".join(_COLUMNS)
        query = (
            f"SELECT {names}, count(*) AS n, sum(key) AS k FROM '{parquet.as_posix()}'"
            f" GROUP BY {names}"
        )
        other = seconds(lambda: connection.sql(query).to_arrow_table(), repeats=5)
        theirs = connection.sql(query).to_arrow_table()
    _check_equal(census.tabulate(*FINEST), theirs)
    memory = in_own_process("benchmarks.tabulate", str(folder), str(persons))["memory"]
    cells = census.spec(*EVERY_MARGIN).cells
    return [
        Line("Five axes, counts and key sums", f"{finest * 1e3:.0f} ms"),
        Line("The same by DuckDB's GROUP BY on sorted parquet", f"{other * 1e3:.0f} ms"),
        Line(
            "Faster than DuckDB", f"{other / finest:.1f} times", "at least 5", other >= 5 * finest
        ),
        Line("Summing the same columns once with numpy", f"{sums * 1e3:.0f} ms"),
        Line(
            "Time against that sum", f"{finest / sums:.1f} times", "at most 4", finest <= 4 * sums
        ),
        Line(
            f"Every margin of every hierarchy ({cells / 1e6:.1f} million cells)",
            f"{every * 1e3:.0f} ms, {every / finest:.1f} times the finest",
            "at most 3 times",
            every <= 3 * finest,
        ),
        Line("Peak memory of both", f"{memory / 1e9:.2f} GB", "at most 1.5 GB", memory <= 1.5e9),
    ]


def _encoded_parquet(census: object, path: Path) -> Path:
    """The store's own columns as parquet, in its order: the same bytes to count for both."""
    from sdcensus.model.schema.variable import Entity
    from sdcensus.session.census.census import Census

    assert isinstance(census, Census)
    columns = {
        name: pa.array(census.store.column(Entity.PERSON, census.schema.variable(name)).whole)
        for name in _COLUMNS
    }
    columns["key"] = pa.array(census.store.record_keys(Entity.PERSON).astype(np.int64))
    pq.write_table(pa.table(columns), path)
    return path


def _check_equal(cube: object, theirs: pa.Table) -> None:
    """A figure counts only if both gave the same numbers."""
    from sdcensus.model.cube.cube import Cube

    assert isinstance(cube, Cube)
    at = tuple(theirs.column(name).to_numpy() for name in _COLUMNS)
    keys = np.array([int(one) % 2**32 for one in theirs.column("k").to_pylist()], dtype=np.uint32)
    assert (cube.count[at] == theirs.column("n").to_numpy()).all()
    assert (cube.key[at] == keys).all()
    assert int(cube.count.sum()) == int(theirs.column("n").to_numpy().sum())


def main() -> None:
    import sdcensus as sc

    census = sc.open_store(Path(sys.argv[1]) / f"people-{sys.argv[2]}.store")
    census.tabulate(*FINEST)
    census.tabulate(*EVERY_MARGIN)
    print(json.dumps({"memory": peak_memory()}))


if __name__ == "__main__":
    main()
