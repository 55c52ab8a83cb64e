"""Sums of amounts: tabulating them with their largest contributions, and protecting them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Line, in_own_process, seconds
from benchmarks.people import EVERY_MARGIN, FINEST, secret_file, write_people

_SECRET = bytes(range(32))
#: What the R package cellKey takes for a table of sums, in seconds of processor time.
REFERENCE_CELLS, REFERENCE_SECONDS = 2_106, 8.7


def cube(cells: int) -> Any:
    """A table of so many sums, each with its six largest contributions."""
    from sdcensus.model.cube.contributions import Contributions
    from sdcensus.model.cube.cube import Accumulators, Cube, Origin
    from sdcensus.model.schema.schema import KeySpace
    from sdcensus.model.schema.variable import Code, Entity, Variable
    from sdcensus.model.secret import Secret
    from sdcensus.model.spec.axis import make_axis
    from sdcensus.model.spec.table_spec import Measure, TableSpec

    draw = np.random.default_rng(20260302)
    codes = tuple(Code(str(at)) for at in range(cells))
    area = Variable(name="area", entity=Entity.PERSON, codes=codes)
    income = Variable(name="income", entity=Entity.PERSON, continuous=True, decimals=2)
    contributors = draw.geometric(0.1, cells) - 1
    amounts = np.exp(draw.normal(12, 1.5, (cells, 6))).astype(np.int64)
    amounts[np.arange(6) >= contributors[:, np.newaxis]] = 0
    amounts = -np.sort(-amounts, axis=1)
    rest = np.maximum(contributors - 6, 0) * amounts[:, 5] // 2
    total = amounts.sum(axis=1) + rest
    keys = draw.integers(0, 1 << 32, (cells, 7), dtype=np.uint32)
    known = Contributions(
        amount=amounts,
        contributors=contributors,
        contributor_key=keys[:, 0].copy(),
        key=keys[:, 1:].copy(),
        lowest=np.zeros(cells, dtype=np.int64),
        highest=amounts[:, 0].copy(),
        absolute=total.copy(),
    )
    spec = TableSpec(
        of=Entity.PERSON,
        axes=(make_axis(area, [area.level()], total=False),),
        measure=Measure.SUM,
        amount=income,
    )
    values = Accumulators(
        contributors.copy(), keys[:, 0].copy(), sums=(("income", total),), contributions=known
    )
    return Cube(spec, Origin(KeySpace(), Secret(_SECRET).id), values)


def processor_seconds(work: Callable[[], object], repeats: int = 20) -> float:
    """The mean processor time of warm repeats, of all threads together."""
    work()
    start = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - start) / repeats


def measure_protect(cells: int = 1_000_000) -> list[Line]:
    """A table as large as that of the reference, and one of a million cells."""
    from sdcensus.methods.magnitude.abs_top import AbsTopContributors
    from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
    from sdcensus.methods.magnitude.layered import ExperimentalLayered
    from sdcensus.model.secret import Secret

    secret = Secret(_SECRET)
    hardest = CellKeySums(
        contribution_shares=(1, 0.8, 0.6, 0.4, 0.2, 0.1),
        noise_share=0.2,
        large_share=0.03,
        flex_point=1_000,
        power=3,
        small_values=True,
        extra_noise=1,
        sensitive_below=3,
        sensitive_remainder=10,
        secret=secret,
    )
    methods: list[tuple[str, Any]] = [
        ("Cell key for sums, the largest contribution", CellKeySums(secret=secret)),
        ("Cell key for sums, six contributions and every setting", hardest),
        ("Top contributors of the ABS", AbsTopContributors(secret=secret)),
        ("Layered, experimental", ExperimentalLayered(secret=secret)),
    ]
    few, many = cube(REFERENCE_CELLS), cube(cells)
    lines = []
    for name, method in methods:
        took = processor_seconds(lambda: method.protect(few))  # noqa: B023
        lines.append(
            Line(
                f"{name}: {REFERENCE_CELLS:,} cells",
                f"{took * 1e3:.1f} ms of processor time, {REFERENCE_SECONDS / took:,.0f} times"
                " faster than cellKey",
                "at least 100 times",
                took * 100 <= REFERENCE_SECONDS,
            )
        )
        took = seconds(lambda: method.protect(many), repeats=3)  # noqa: B023
        lines.append(
            Line(f"{name}: {cells:,} cells", f"{took:.2f} s", "under 3 s", took < 3),
        )
    return lines


def measure_sums(folder: Path, persons: int) -> list[Line]:
    """Sums with their five largest contributions, beside counts of the same tables."""
    from sdcensus.engine.memory import MemoryEngine
    from sdcensus.engine.requests import Tabulate
    from sdcensus.model.cube.contributions import ContributionNeeds
    from sdcensus.model.spec.table_spec import TableSpec

    records = with_income(folder, persons)
    engine, schema = MemoryEngine(records), records.schema
    bare = ContributionNeeds(largest=5, keys=False, waivers=False, spread=False, absolute=False)
    lines = []
    for what, by, most in (("finest cells", FINEST, 6), ("every margin", EVERY_MARGIN, 12)):
        counted = TableSpec.build(schema, by)
        summed = TableSpec.build(schema, by, measure="sum(income)")
        requests = [
            Tabulate(spec=counted),
            Tabulate(spec=summed, contributions=bare),
            Tabulate(spec=summed, contributions=ContributionNeeds(largest=5)),
        ]
        took, used = zip(*map(partial(_both_times, engine), requests), strict=True)
        lines.append(Line(f"Counts, {what}", f"{took[0]:.2f} s, processor {used[0]:.2f} s"))
        for at, kept in ((1, "the five largest"), (2, "the five largest, keys and extremes")):
            lines.append(
                Line(
                    f"Sums with {kept}, {what}",
                    f"{took[at]:.2f} s, processor {used[at]:.2f} s: {took[at] / took[0]:.1f} and"
                    f" {used[at] / used[0]:.1f} times the count",
                    f"at most {most} times",
                    used[at] <= most * used[0],
                )
            )
    return lines


def _both_times(engine: Any, request: Any) -> tuple[float, float]:
    """The shortest time and the least processor time of warm repeats."""
    engine.tabulate(request)
    times = []
    for _ in range(3):
        start, used = time.perf_counter(), time.process_time()
        engine.tabulate(request)
        times.append((time.perf_counter() - start, time.process_time() - used))
    return min(took for took, _ in times), min(used for _, used in times)


def with_income(folder: Path, persons: int) -> Any:
    """The people of the benchmarks with an income each: their store, and one more column."""
    from sdcensus.model.schema.variable import Entity, Variable
    from sdcensus.store.census_store import CensusStore, Column

    path = folder / f"people-{persons}.store"
    if not path.exists():
        write_people(folder, persons)
        secret_file(folder)
        in_own_process("benchmarks.load", str(folder), str(persons))
    store = CensusStore.open(path)
    draw = np.random.default_rng(20260303)
    amounts = np.exp(draw.normal(12, 1.2, store.rows(Entity.PERSON))).astype(np.int64)
    income = Variable(name="income", entity=Entity.PERSON, continuous=True, decimals=2)

    class WithIncome(CensusStore):
        """A store that has one more column."""

        __slots__ = ()

        def values(self, entity: Entity, variable: Variable) -> Column:
            """The amounts of the one variable that has some."""
            return Column(amounts, (), 0)

    schema = replace(store.schema, variables=(*store.schema.variables, income))
    return WithIncome(store.path, store.manifest, schema)
