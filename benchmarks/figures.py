"""Medians, quartiles and means of an amount by area: counted, protected, computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Line, seconds
from benchmarks.people import AREAS

_SECRET = bytes(range(32))
#: Lower bounds of the classes of incomes.
BOUNDS = (*range(0, 1_000, 100), *range(1_000, 5_000, 500), 5_000, 10_000)


def census(persons: int) -> Any:
    """So many persons, sorted by area, with incomes of which one in ten is not stated."""
    from sdcensus.model.cube.cube import Origin
    from sdcensus.model.schema.number_codes import continuous_codes
    from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
    from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Variable
    from sdcensus.model.secret import Secret
    from sdcensus.session.census.census import Census
    from sdcensus.store.in_memory import InMemoryRecords

    draw = np.random.default_rng(20261118)
    classes = continuous_codes([",".join(map(str, BOUNDS)) + "+"])
    schema = Schema(
        census=CensusInfo(name="Benchmark"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(
            Variable(
                name="area",
                entity=Entity.PERSON,
                codes=tuple(Code(f"A{at:03d}") for at in range(AREAS)),
            ),
            Variable(
                name="income",
                entity=Entity.PERSON,
                continuous=True,
                decimals=2,
                codes=(*classes, Code("X", kind=CodeKind.NOT_STATED)),
            ),
        ),
    )
    amounts = np.exp(draw.normal(12, 0.9, persons)).astype(np.int64)
    leaves = np.searchsorted(100 * np.array(BOUNDS), amounts, side="right") - 1
    unknown = draw.random(persons) < 0.1
    amounts[unknown] = 0
    leaves[unknown] = len(BOUNDS)
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={
            "area": np.sort((AREAS * draw.random(persons) ** 1.4).astype(np.uint16)),
            "income": leaves.astype(np.uint8),
        },
        keys=draw.integers(0, 1 << 32, persons, dtype=np.uint32),
        values={"income": amounts},
        origin=Origin(KeySpace(), Secret(_SECRET).id, "benchmark"),
    )
    return Census(schema, records)


def measure(persons: int) -> list[Line]:
    """The figures of an indicator by area, from the records on."""
    people = census(persons)
    lines = []
    for kind, called in (("median", "Medians"), ("quartiles", "Quartiles"), ("mean", "Means")):
        work = _figures(people, kind)
        took, processor = seconds(work, repeats=5), processor_seconds(work)
        promised = ("under 2 s", took < 2) if kind == "median" else ()
        lines.append(
            Line(
                f"{called} of an amount by {AREAS} areas, {len(BOUNDS)} classes, with the total",
                f"{took * 1e3:.0f} ms; {processor * 1e3:.0f} ms of processor time",
                *promised,
            )
        )
    return lines


def _figures(people: Any, kind: str) -> Callable[[], object]:
    from sdcensus.methods.cell_key import CellKey
    from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
    from sdcensus.methods.perturbation.schemes import scheme
    from sdcensus.model.plan.plan import PlannedIndicator
    from sdcensus.model.secret import Secret
    from sdcensus.session.figures.indicators import indicator_product
    from sdcensus.session.protect.table import protect_table
    from sdcensus.session.publish.products import Heading, PublishedPart

    secret = Secret(_SECRET)
    counts, sums = CellKey(scheme("CP3"), secret=secret), CellKeySums(secret=secret)
    planned = PlannedIndicator(name=kind, kind=kind, variable="income", by=("area",))

    def work() -> object:
        product = indicator_product(planned, people.schema)
        parts = []
        for spec in product.specs:
            protected = protect_table(people, spec, sums if spec.measure.is_sum else counts)
            parts.append(PublishedPart(protected.table.whole(), protected.provenance))
        return product.delivered(parts, Heading())

    return work


def processor_seconds(work: Callable[[], object]) -> float:
    """The processor time of one warm repeat, of all threads together."""
    start = time.process_time()
    work()
    return time.process_time() - start
