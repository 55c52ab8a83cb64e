"""PRAM on millions of persons: drawing and writing, against a plain copy of the same columns.

A plain copy reads the columns that change and writes them to another store: in order, in blocks,
with their digests, as every store is written. PRAM draws new codes and writes them in the same way.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.measure import Line, seconds
from sdcensus.microdata.derived_store import DerivedRecords, ordered_pieces
from sdcensus.microdata.method import Changes, Draws
from sdcensus.microdata.pram.method import Pram
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Role, Variable
from sdcensus.model.secret import Purpose, Secret
from sdcensus.store.census_store import CensusStore
from sdcensus.store.writer import writing
from sdcensus.testing.stores import Units, write_store

_SECRET = Secret(bytes(range(32)))
_CODES = {"sex": 2, "age": 101, "status": 7}
_AREAS = 352
_ROUNDS = 7


def _codes(number: int) -> tuple[Code, ...]:
    none = Code("999", kind=CodeKind.NOT_STATED)
    return (*(Code(str(at)) for at in range(number)), none)


def _country(path: Path, persons: int) -> CensusStore:
    """Persons with areas and three variables, drawn without any structure: it does not matter."""
    if path.exists():
        return CensusStore.open(path)
    person = Entity.PERSON
    area = Variable(name="area", entity=person, role=Role.GEOGRAPHY, codes=_codes(_AREAS))
    own = tuple(
        Variable(name=name, entity=person, codes=_codes(size)) for name, size in _CODES.items()
    )
    schema = Schema(
        census=CensusInfo(name="Benchmark", code=("B",)),
        entities=(EntitySpec(entity=person, id=("p",)),),
        variables=(area, *own),
    )
    draw = np.random.default_rng(1)
    digests = draw.integers(0, 1 << 63, persons, dtype=np.uint64)
    leaves = {"area": np.sort(draw.integers(0, _AREAS, persons).astype(np.uint16))}
    for name, size in _CODES.items():
        leaves[name] = draw.integers(0, size, persons).astype(np.uint8)
    keys = (digests >> np.uint64(32)).astype(np.uint32)
    units = {person: Units(keys=keys, digests=digests, leaves=leaves)}
    order = {person: np.arange(persons)}
    return write_store(path, schema, units, secret_id=_SECRET.id, order=order)


def _written(store: CensusStore, changes: Changes, folder: Path) -> None:
    """Write the columns that a step changes, as a derived store does."""
    out = folder / "columns"
    shutil.rmtree(out, ignore_errors=True)
    with writing(out) as writer:
        derived = DerivedRecords(store, changes)
        writer.add_entity(Entity.PERSON, store.rows(Entity.PERSON))
        order = derived.order[Entity.PERSON]

        def write(name: str) -> None:
            values = derived.column(Entity.PERSON, name)
            writer.write(Entity.PERSON, name, ordered_pieces(values, order))

        # A derived store copies columns that are as they were as files. The copy here takes the
        # way of those that change, two at a time.
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(write, _CODES))
        writer.describe(store.schema, secret_id=_SECRET.id, on_problem="refuse")


def measure(folder: Path, persons: int) -> list[Line]:
    """The figures for RESULTS.md."""
    store = _country(folder / f"pram-{persons}.store", persons)
    draws = Draws(_SECRET.sub_key(Purpose.PRAM, 1))
    method = Pram(variables=tuple(_CODES), stay=("0.9",))
    held = [np.array(store.raw(Entity.PERSON, name)) for name in _CODES]
    memory = seconds(lambda: [column.copy() for column in held])
    drawn = seconds(lambda: method.derive(store, draws, no_progress))
    # Copy and PRAM in turn: other work on the machine meets both.
    pairs = []
    for _ in range(_ROUNDS):
        copied = seconds(lambda: _written(store, Changes(), folder), repeats=1)
        changes = seconds(
            lambda: _written(store, method.derive(store, draws, no_progress), folder), repeats=1
        )
        pairs.append((changes / copied, copied, changes))
    ratio, copied, whole = sorted(pairs)[_ROUNDS // 2]
    shutil.rmtree(folder / "columns", ignore_errors=True)
    size = f"{persons / 1e6:g} million persons"
    return [
        Line(f"A plain copy of {len(_CODES)} columns, store to store, {size}", _text(copied)),
        Line("… the same from memory to memory", _text(memory)),
        Line("PRAM: matrices, draws, facts, without writing", _text(drawn)),
        Line(
            "PRAM with writing, against the plain copy",
            f"{_text(whole)}, {ratio:.1f} times",
            "at most 3 times",
            ratio <= 3,
        ),
    ]


def _text(duration: float) -> str:
    return f"{duration * 1e3:.0f} ms"
