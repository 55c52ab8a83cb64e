"""Local suppression, microaggregation and rank swapping: time by the number of records.

``python -m benchmarks --only suppression`` makes files straight from arrays: what is measured is
the work on columns, with the counts before and after.
"""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from benchmarks.measure import Line
from sdcensus.microdata.continuous.microaggregation import Microaggregation
from sdcensus.microdata.continuous.rank_swap import RankSwap
from sdcensus.microdata.method import Draws, PreTabularMethod
from sdcensus.microdata.release.records import FileRecords, Sample
from sdcensus.microdata.release.suppression import suppressed
from sdcensus.model.progress import no_progress
from sdcensus.model.quantities import duration_text
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Blanks, Design, Suppression
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.stores import Units, write_store

#: Age, sex, parish, marital status, occupation and religion, with a code for "not stated".
SIZES = {"age": 90, "sex": 2, "parish": 15, "marital": 5, "occupation": 40, "religion": 20}
_MISSING = 0.01
_PROMISED_SIZE, _LIMIT = 100_000, 20.0
_AMOUNTS = ("income", "rent")


def _store(folder: Path, persons: int) -> CensusStore:
    path = folder / f"amounts-{persons}.store"
    if path.exists():
        return CensusStore.open(path)
    draw = np.random.default_rng(1)
    keys = [
        Variable(
            name=name,
            entity=Entity.PERSON,
            codes=(
                *(Code(f"{at:02d}") for at in range(size)),
                Code("NS", kind=CodeKind.NOT_STATED),
            ),
        )
        for name, size in SIZES.items()
    ]
    amounts = [
        Variable(name=name, entity=Entity.PERSON, continuous=True, decimals=2) for name in _AMOUNTS
    ]
    schema = Schema(
        census=CensusInfo(name="Amounts"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("p",)),),
        variables=(*keys, *amounts),
    )
    leaves = {}
    for name, size in SIZES.items():
        codes = np.minimum((draw.random(persons) ** 2 * size).astype(np.int64), size - 1)
        leaves[name] = np.where(draw.random(persons) < _MISSING, size, codes)
    income = (draw.lognormal(7, 1, persons) * 100).astype(np.int64)
    units = Units(
        keys=draw.integers(0, 1 << 32, persons, dtype=np.uint32),
        digests=draw.integers(0, 1 << 63, persons, dtype=np.uint64),
        leaves=leaves,
        values={"income": income, "rent": income // 4 + draw.integers(0, 50_000, persons)},
    )
    return write_store(path, schema, {Entity.PERSON: units})


def _file(store: CensusStore) -> FileRecords:
    """Everybody with the six keys."""
    persons = store.rows(Entity.PERSON)
    told = tuple(
        FileVariable(name=each.name, source=each, entity=Entity.PERSON, level=each.level())
        for each in store.schema.variables
        if each.codes
    )
    rows = np.arange(persons, dtype=np.int64)
    return FileRecords(
        store=store,
        design=FileDesign(
            design=Design(name="A", fraction=Fraction(1)),
            unit=Entity.PERSON,
            variables=told,
            ladder=told,
        ),
        sample=Sample(rows={Entity.PERSON: rows}, weights={Entity.PERSON: rows}),
        codes={each.name: store.raw(Entity.PERSON, each.name) for each in told},
    )


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """The time of each treatment, at each size."""
    lines = []
    small = _file(_store(folder, 1_000))
    for persons in sizes:
        store = _store(folder, persons)
        millions = f"{persons / 1e6:g} million records"
        for blanks in Blanks:
            suppressed(small, Suppression(k=3, blanks=blanks))  # compiles
            start = time.perf_counter()
            after = suppressed(_file(store), Suppression(k=3, blanks=blanks))
            took = time.perf_counter() - start
            number = sum(file.columns["record"].size for file in after.files)
            promised = f"at most {_LIMIT:g} s" if persons == _PROMISED_SIZE else ""
            lines.append(
                Line(
                    f"{millions} with {len(SIZES)} keys: local suppression to k = 3, blanks ="
                    f" {blanks.value}",
                    f"{duration_text(took)}, {number:,} values blanked",
                    promised,
                    took <= _LIMIT if promised else None,
                )
            )
        methods: list[tuple[PreTabularMethod, str]] = [
            (Microaggregation(variables=_AMOUNTS), "microaggregation of two amounts (MDAV)"),
            (Microaggregation(variables=_AMOUNTS, grouping="each"), "best groups of each amount"),
            (RankSwap(variables=_AMOUNTS), "rank swapping of two amounts"),
        ]
        for method, name in methods:
            method.derive(small.store, Draws(bytes(16)), no_progress)
            start = time.perf_counter()
            method.derive(store, Draws(bytes(16)), no_progress)
            lines.append(
                Line(f"{millions}: {name}", duration_text(time.perf_counter() - start), "", None)
            )
    return lines
