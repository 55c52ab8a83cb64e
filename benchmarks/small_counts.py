"""Small count rounding: one table by its cells, the European programme by people, and a store.

``python -m benchmarks.small_counts FOLDER PERSONS BASE`` rounds groups 1 to 3 of the programme in
a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Line, in_own_process, peak_memory, seconds
from benchmarks.nation import nation_store, write_mapping
from benchmarks.people import secret_file

_GB = 1e9
_BASE = 5
#: Areas in three levels, sexes, ages in three levels: tables of so many publishable cells, totals
#: included. The second has the size that the reference is known by.
_AREAS = (52, 204, 812, 3_250)
_PROMISED_CELLS, _PROMISED_PERSONS = 32_753, 300_000
_GROUPS = ("1.*", "2.*", "3.*")


def measure(folder: Path, persons: Sequence[int]) -> list[Line]:
    """All figures; the programme for so many people each."""
    lines = [_table(areas) for areas in _AREAS]
    for size in persons:
        nation_store(folder, size)
        lines.append(_programme(folder, size))
    lines.append(_store(folder, min(persons)))
    return lines


def cube(areas: int) -> Any:
    """A sparse table by area, sex and age."""
    from sdcensus.model.cube.cube import Origin, finish
    from sdcensus.model.schema.schema import KeySpace
    from sdcensus.model.schema.variable import Code, Entity, Level, Variable
    from sdcensus.model.secret import Secret
    from sdcensus.model.spec.axis import make_axis
    from sdcensus.model.spec.table_spec import TableSpec

    def axis(name: str, size: int, of_each: int) -> Any:
        codes = tuple(Code(f"{name}{at}") for at in range(size))
        variable = Variable(name=name, entity=Entity.PERSON, codes=codes)
        levels = [variable.level()]
        if of_each > 1:
            groups = tuple(at // of_each for at in range(size))
            coarse = tuple(Code(f"{name}-{at}") for at in range(max(groups) + 1))
            levels.append(Level(f"{name}-groups", coarse, groups))
        return make_axis(variable, levels, total=True)

    spec = TableSpec(
        of=Entity.PERSON, axes=(axis("area", areas, 10), axis("sex", 2, 1), axis("age", 40, 5))
    )
    draw = np.random.default_rng(20261118)
    count = draw.poisson(draw.gamma(1.0, 3.0, spec.base_shape)).astype(np.int64)
    key = draw.integers(0, 1 << 32, spec.base_shape, dtype=np.uint64)
    origin = Origin(KeySpace(), Secret(bytes(range(32))).id)
    return finish(spec, origin, {"count": count, "key": key})


def _table(areas: int) -> Line:
    from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
    from sdcensus.model.secret import Secret

    table = cube(areas)
    method = SmallCountRounding(_BASE, secret=Secret(bytes(range(32))))
    took = seconds(lambda: method.protect(table), repeats=3)
    small = int(((table.count > 0) & (table.count < _BASE)).sum())
    promised = _PROMISED_CELLS <= table.spec.cells < 2 * _PROMISED_CELLS
    return Line(
        f"A table of {table.spec.cells:,} publishable cells, {small:,} of them small, base {_BASE}",
        f"{took:.2f} s",
        "under 0.5 s" if promised else "",
        took < 0.5 if promised else None,
    )


def _programme(folder: Path, persons: int) -> Line:
    run = in_own_process("benchmarks.small_counts", str(folder), str(persons), str(_BASE))
    promised = persons == _PROMISED_PERSONS
    return Line(
        f"Groups 1 to 3 of the European programme together, {persons:,} people:"
        f" {run['cells']:,.0f} cells, {run['groups']:,.0f} smallest groups,"
        f" {run['small']:,.0f} small cells",
        f"{run['seconds']:.0f} s ({run['counting']:.0f} s to count and link,"
        f" {run['finding']:.0f} s to find the groups), {run['memory'] / _GB:.1f} GB; largest change"
        f" of a cell {run['largest']:.0f}, mean {run['mean']:.2f}",
        "under 60 s" if promised else "",
        run["seconds"] < 60 if promised else None,
    )


def _store(folder: Path, persons: int) -> Line:
    from sdcensus.session.derive.step import prepared

    said = {
        "tables": ["area@lau,sex,age", "area@nuts3,sex,marital_status", "area@nuts2,occupation"],
        "base": _BASE,
    }
    store = nation_store(folder, persons)
    step = prepared(store, "small-count-rounding", said, secret=secret_file(folder))
    started = time.perf_counter()
    step.run()
    return Line(
        f"The records of a store without small counts in three tables, {persons:,} people",
        f"{time.perf_counter() - started:.1f} s",
    )


def main(folder: Path, persons: int, base: int) -> None:
    """Round the programme, and print the figures as one line of JSON."""
    import sdcensus as sc
    from sdcensus.documents.mapping.document import read_mapping
    from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
    from sdcensus.programmes.loading import load_programme
    from sdcensus.session.protect.linked import count_linked
    from sdcensus.session.publish.products import PublishableTable
    from sdcensus.session.publish.programme import programme_tables

    census = sc.open_store(nation_store(folder, persons))
    programme = load_programme("eu-2021")
    mapping = read_mapping(write_mapping(folder), programme, census.schema)
    tables = programme_tables(programme.name, _GROUPS, mapping, census.schema)
    specs = [table.spec for table in tables if isinstance(table, PublishableTable)]
    method = SmallCountRounding(base, secret=sc.read_secret(secret_file(folder)))
    method.protect(census.tabulate("sex"))  # compiled before the clock starts
    started = time.perf_counter()
    linked = count_linked(census, specs)
    counted = time.perf_counter()
    atoms = linked.atoms
    found = time.perf_counter()
    published = method.publish_linked(linked).published
    ended = time.perf_counter()
    shown = linked.tables.published
    change = np.abs(published - linked.counts)[shown]
    small = (linked.counts > 0) & (linked.counts < base) & shown
    figures = {
        "seconds": ended - started,
        "counting": counted - started,
        "finding": found - counted,
        "cells": int(shown.sum()),
        "groups": len(atoms),
        "small": int(small.sum()),
        "largest": int(change.max(initial=0)),
        "mean": float(change.mean()),
        "memory": peak_memory(),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
