"""Targeted swapping: a country of three levels, 5 % of its households, two profiles.

What is measured is risk, selection and pairing, with kernels compiled; writing the derived store
is measured apart, against a copy of the store.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import Line, in_own_process, peak_memory

#: Seconds and bytes that are promised, by millions of persons.
_PROMISED = {1_000_000: (1.0, 600e6), 17_500_000: (20.0, 3e9)}
_MOST_COPIES = 1.5
_AREAS, _IN_DISTRICT, _IN_REGION = 12_000, 30, 40


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """One process for each size, so that memory is its own."""
    lines, earlier = [], None
    for persons in sizes:
        took = in_own_process("benchmarks.swap", str(folder), str(persons))
        seconds, memory = _PROMISED.get(persons, (None, None))
        promise = "" if seconds is None else f"at most {seconds:g} s and {memory / 1e9:g} GB"
        kept = None if seconds is None else took["search"] <= seconds and took["memory"] <= memory
        per_million = took["search"] / persons * 1e6
        growth = "" if earlier is None else f", {per_million / earlier:.2f} times that of the least"
        earlier = earlier or per_million
        lines.append(
            Line(
                f"{persons / 1e6:g} million persons, {took['households']:,.0f} households,"
                f" {took['touched']:,.0f} exchanged: risk, selection and pairing",
                f"{took['search']:.2f} s, {took['memory'] / 1e9:.2f} GB;"
                f" {per_million:.2f} s a million{growth}",
                promise,
                kept,
            )
        )
        ratio = took["write"] / took["copy"]
        lines.append(
            Line(
                "Writing its store, against a copy of the store",
                f"{took['write']:.2f} s, {ratio:.2f} times the copy ({took['copy']:.2f} s)",
                f"at most {_MOST_COPIES:g} times",
                ratio <= _MOST_COPIES,
            )
        )
    return lines


def write_country(path: Path, persons: int) -> None:
    """A store with households of one to five and eight further variables."""
    from sdcensus.model.schema.schema import CensusInfo, Schema
    from sdcensus.model.schema.variable import (
        Code,
        Entity,
        EntitySpec,
        Hierarchy,
        Level,
        Role,
        Variable,
    )
    from sdcensus.testing.stores import Units, write_store

    draw = np.random.default_rng(20260301)
    person, household = Entity.PERSON, Entity.HOUSEHOLD
    size = 1 + np.minimum(draw.geometric(0.55, persons), 6) % 6
    households = int(np.searchsorted(np.cumsum(size), persons)) + 1
    size = size[:households]
    size[-1] = persons - size[:-1].sum()
    household_of = np.repeat(np.arange(households), size)

    def codes(count: int) -> tuple[Code, ...]:
        return tuple(Code(str(at)) for at in range(count))

    def level(name: str, width: int) -> Level:
        group = tuple(at // width for at in range(_AREAS))
        return Level(name, codes(group[-1] + 1), group)

    levels = (level("district", _IN_DISTRICT), level("region", _IN_DISTRICT * _IN_REGION))
    lists = {"age": 101, "sex": 2, "birthplace": 40, "activity": 7, "education": 8, "status": 5}
    schema = Schema(
        census=CensusInfo(name="Swap", code=("SWAP",)),
        entities=(
            EntitySpec(entity=person, id=("p",), within=household),
            EntitySpec(entity=household, id=("h",)),
        ),
        variables=(
            Variable(
                name="area",
                entity=household,
                role=Role.GEOGRAPHY,
                codes=codes(_AREAS),
                hierarchies=(Hierarchy("areas", levels),),
            ),
            Variable(name="size", entity=household, codes=codes(8), counts=person),
            Variable(name="tenure", entity=household, codes=codes(4)),
            Variable(name="rooms", entity=household, codes=codes(8)),
            *(Variable(name=name, entity=person, codes=codes(n)) for name, n in lists.items()),
        ),
    )
    used = max(persons // 1_500, 60)  # areas as large as real ones, whatever the country's size
    area = (min(used, _AREAS) * draw.random(households) ** 1.2).astype(np.int64)
    age = (100 * draw.random(persons) ** 1.3).astype(np.int64)
    leaves = {
        name: age if name == "age" else (count * draw.random(persons) ** 2).astype(np.int64)
        for name, count in lists.items()
    }

    def identities(count: int) -> tuple[np.ndarray, np.ndarray]:
        digests = draw.integers(0, 1 << 64, count, dtype=np.uint64)
        return digests, (digests >> np.uint64(32)).astype(np.uint32)

    own, keys = identities(households)
    people, person_keys = identities(persons)
    write_store(
        path,
        schema,
        {
            household: Units(
                keys=keys,
                digests=own,
                leaves={
                    "area": area,
                    "size": np.minimum(size, 7),
                    "tenure": (4 * draw.random(households) ** 2).astype(np.int64),
                    "rooms": draw.integers(0, 8, households),
                },
            ),
            person: Units(
                keys=person_keys, digests=people, leaves=leaves, parents={household: household_of}
            ),
        },
        secret_id="0",
    )


def main() -> None:
    from sdcensus.microdata.derived_store import DerivedRecords, write_derived
    from sdcensus.microdata.method import Draws
    from sdcensus.microdata.swapping.targeted import TargetedSwap
    from sdcensus.model.progress import no_progress
    from sdcensus.model.published.provenance import Derivation
    from sdcensus.store.census_store import CensusStore
    from sdcensus.store.writer import writing

    folder, persons = Path(sys.argv[1]), int(sys.argv[2])
    path = folder / f"swap-{persons}.store"
    if len(sys.argv) > 3:  # made in a process of its own, as making needs more memory
        write_country(path, persons)
        print(json.dumps({}))
        return
    if not path.exists():
        in_own_process("benchmarks.swap", str(folder), str(persons), "write")
    store = CensusStore.open(path)
    method = TargetedSwap(
        risk_variables=("age", "sex", "activity"),
        k=2,
        rate=0.05,
        profiles=("size,tenure,rooms", "size,tenure"),
        farther=True,
    )
    draws = Draws(bytes(range(16)))
    with tempfile.TemporaryDirectory() as scratch:
        warm = Path(scratch) / "warm.store"
        write_country(warm, 20_000)
        method.derive(CensusStore.open(warm), draws, no_progress)
        start = time.perf_counter()
        changes = method.derive(store, draws, no_progress)
        search = time.perf_counter() - start
        memory = peak_memory()
        step = Derivation(
            parent="", method=method.name, method_version="1", fingerprint="", secret_id=""
        )
        copies, writes = [], []
        for turn in range(3):
            start = time.perf_counter()
            shutil.copytree(path, folder / f"swap-copy-{turn}.store")
            copies.append(time.perf_counter() - start)
            shutil.rmtree(folder / f"swap-copy-{turn}.store")
            start = time.perf_counter()
            with writing(folder / f"swap-derived-{turn}.store") as writer:
                write_derived(DerivedRecords(store, changes), writer, step, no_progress)
            writes.append(time.perf_counter() - start)
            shutil.rmtree(folder / f"swap-derived-{turn}.store")
    print(
        json.dumps(
            {
                "search": search,
                "memory": memory,
                "households": store.manifest.rows[next(iter(store.manifest.rows))],
                "touched": next(iter(changes.figures.values())),
                "write": sorted(writes)[1],
                "copy": sorted(copies)[1],
            }
        )
    )


if __name__ == "__main__":
    main()
