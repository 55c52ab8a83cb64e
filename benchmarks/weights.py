"""Weights of 0, 1, 2 and 3, and a systematic sample, against a plain copy of the changed column.

``python -m benchmarks --only weights`` makes records straight from arrays: what is measured is the
work on columns. The copy writes the column of weights as the derived store does, with its digest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.measure import Line, seconds
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import Draws, PreTabularMethod
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


def _written(derived: DerivedRecords | None, store: CensusStore, path: Path) -> None:
    """Write the column of weights as a derived store does: as it is, or with what has changed."""
    column = "weight.value"
    with writing(path, replace=True) as writer:
        values = store.raw(Entity.HOUSEHOLD, column)
        if derived is not None:
            order = derived.order[Entity.HOUSEHOLD]
            values = derived.column(Entity.HOUSEHOLD, column)[order]
        writer.add_entity(Entity.HOUSEHOLD, values.size)
        writer.write(Entity.HOUSEHOLD, column, [values])
        writer.describe(store.schema, secret_id="", on_problem="refuse")


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """The time of drawing and of writing, at each size."""
    lines = []
    draws = Draws(bytes(16))
    out = folder / "weights-out.store"
    for persons in sizes:
        store = _store(folder, persons)
        copied = seconds(lambda store=store: _written(None, store, out), repeats=3)  # type: ignore[misc]
        millions = f"{persons / 1e6:g} million persons"
        lines.append(
            Line(
                f"{millions}: a copy of the weights of {store.rows(Entity.HOUSEHOLD):,} households",
                duration_text(copied),
            )
        )
        methods: list[tuple[PreTabularMethod, str]] = [
            (PerturbationWeights(one_in=3, small_strata="accept"), "perturbation weights"),
            (SystematicSample(every=3), "every third household"),
        ]
        for method, name in methods:

            def work(method: PreTabularMethod = method, store: CensusStore = store) -> None:
                changes = method.derive(store, draws, no_progress)
                _written(DerivedRecords(store, changes), store, out)

            took = seconds(work, repeats=3)
            ratio = took / copied
            promised = f"at most {_LIMIT:g} times" if name == "perturbation weights" else ""
            kept = ratio <= _LIMIT if promised else None
            lines.append(
                Line(
                    f"{millions}: {name}, drawn and written",
                    f"{duration_text(took)}, {ratio:.1f} times the copy",
                    promised,
                    kept,
                )
            )
    return lines
