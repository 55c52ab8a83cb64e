"""Weights of 0, 1, 2 and 3, and a systematic sample, against a plain copy of the changed column.

``python -m benchmarks --only weights`` makes records straight from arrays: what is measured is the
work on columns. The copy writes the column of weights as the derived store does, with its digest.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import Line
from sdcensus.microdata.derived_store import DerivedRecords, ordered_pieces
from sdcensus.microdata.method import Changes, Draws, PreTabularMethod
from sdcensus.microdata.weights.perturbation_weights import PerturbationWeights
from sdcensus.microdata.weights.systematic_sample import SystematicSample
from sdcensus.model.progress import no_progress
from sdcensus.model.quantities import duration_text
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.writer import writing
from sdcensus.testing.stores import Units, write_store

AREAS = 20_000
_LIMIT = 3.0
_ROUNDS = 7
_COLUMN = "weight.value"


def _store(folder: Path, persons: int) -> CensusStore:
    """Persons in households of one to six, households in areas of very different size."""
    path = folder / f"weights-{persons}.store"
    if path.exists():
        return CensusStore.open(path)
    draw = np.random.default_rng(1)
    households = persons * 2 // 5
    household_of = np.sort(draw.integers(0, households, persons))
    areas = np.sort((draw.random(households) ** 2 * AREAS).astype(np.int64))
    codes = tuple(Code(f"{at:05d}") for at in range(AREAS))
    schema = Schema(
        census=CensusInfo(name="Weights"),
        entities=(
            EntitySpec(entity=Entity.PERSON, id=("p",), within=Entity.HOUSEHOLD),
            EntitySpec(entity=Entity.HOUSEHOLD, id=("h",)),
        ),
        variables=(
            Variable(name="area", entity=Entity.HOUSEHOLD, role=Role.GEOGRAPHY, codes=codes),
            Variable(
                name="weight",
                entity=Entity.HOUSEHOLD,
                role=Role.WEIGHT,
                continuous=True,
                decimals=6,
            ),
        ),
    )
    units = {
        Entity.HOUSEHOLD: Units(
            keys=draw.integers(0, 1 << 32, households, dtype=np.uint32),
            digests=draw.integers(0, 1 << 63, households, dtype=np.uint64),
            leaves={"area": areas},
            values={"weight": draw.integers(900_000, 1_100_000, households)},
        ),
        Entity.PERSON: Units(
            keys=draw.integers(0, 1 << 32, persons, dtype=np.uint32),
            parents={Entity.HOUSEHOLD: household_of},
        ),
    }
    return write_store(path, schema, units)


def _written(store: CensusStore, changes: Changes, path: Path) -> None:
    """Write the column of weights as a derived store does: as it is, or with what has changed."""
    kind = Entity.HOUSEHOLD
    with writing(path, replace=True) as writer:
        derived = DerivedRecords(store, changes)
        writer.add_entity(kind, int(derived.order[kind].size))
        # Columns that are as they were are copied as files; a copy here takes the same way.
        values = derived.column(kind, _COLUMN)
        writer.write(kind, _COLUMN, ordered_pieces(values, derived.order[kind]))
        writer.describe(store.schema, secret_id="", on_problem="refuse")


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """The time of drawing and of writing, at each size; copy and method in turns."""
    lines = []
    draws = Draws(bytes(16))
    out = folder / "weights-out.store"
    methods: list[tuple[PreTabularMethod, str]] = [
        (PerturbationWeights(one_in=3, small_strata="accept"), "perturbation weights"),
        (SystematicSample(every=3), "every third household"),
    ]
    for persons in sizes:
        store = _store(folder, persons)
        millions = f"{persons / 1e6:g} million persons"
        for method, name in methods:
            rounds = [_turn(method, store, draws, out) for _ in range(_ROUNDS + 1)][1:]
            ratio, copied, took = sorted(rounds)[_ROUNDS // 2]
            promised = f"at most {_LIMIT:g} times" if name == "perturbation weights" else ""
            lines.append(
                Line(
                    f"{millions}, {store.rows(Entity.HOUSEHOLD):,} households: {name}, drawn and"
                    " written",
                    f"{duration_text(took)}, {ratio:.1f} times a copy of the column"
                    f" ({duration_text(copied)})",
                    promised,
                    ratio <= _LIMIT if promised else None,
                )
            )
    shutil.rmtree(out, ignore_errors=True)
    return lines


def _turn(
    method: PreTabularMethod, store: CensusStore, draws: Draws, out: Path
) -> tuple[float, float, float]:
    """How many times the copy a method takes, the time of the copy, and its own."""
    start = time.perf_counter()
    _written(store, Changes(), out)
    copied = time.perf_counter() - start
    start = time.perf_counter()
    _written(store, method.derive(store, draws, no_progress), out)
    took = time.perf_counter() - start
    return took / copied, copied, took
