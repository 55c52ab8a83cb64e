"""Targeted swapping: a country of three levels, 5 % of its households, two profiles.

What is measured is risk, selection and pairing, with kernels compiled, as time of the one processor
that it uses; once more with risk variables by which most households are rare, so that nearly all
are exchanged. Writing the derived store is measured apart, in turns with three copies of the store:
a plain one (``shutil.copytree``); one of which each file is brought to the disk; and one whose
columns are compared with their digests, as every store has digests of its columns, which a plain
copy need not compute. The ratios are medians over the rounds.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measure import Line, in_own_process, peak_memory

#: Seconds and bytes that are promised, by millions of persons.
_PROMISED = {1_000_000: (1.0, 600e6), 17_500_000: (20.0, 3e9)}
_MOST_COPIES = 1.5
_ROUNDS = 7
#: What writing is compared with.
_COPIES = {
    "plain": "a plain copy",
    "on_disk": "a copy brought to the disk",
    "checked": "a copy compared with its digests",
}
_AREAS, _IN_DISTRICT, _IN_REGION = 12_000, 30, 40


def measure(folder: Path, sizes: tuple[int, ...]) -> list[Line]:
    """One process for each size, so that memory is its own."""
    lines, earlier = [], None
    for persons in sizes:
        took = in_own_process("benchmarks.swap", str(folder), str(persons))
        promise, kept = "", None
        if persons in _PROMISED:
            seconds, memory = _PROMISED[persons]
            promise = f"at most {seconds:g} s and {memory / 1e9:g} GB"
            kept = took["work"] <= seconds and took["memory"] <= memory
        per_million = took["work"] / persons * 1e6
        growth = "" if earlier is None else f", {per_million / earlier:.2f} times that of the least"
        earlier = earlier or per_million
        lines.append(
            Line(
                f"{persons / 1e6:g} million persons, {took['households']:,.0f} households,"
                f" {took['touched']:,.0f} exchanged: risk, selection and pairing",
                f"{took['work']:.2f} s of one processor, {took['search']:.2f} s on the clock,"
                f" {took['memory'] / 1e9:.2f} GB;"
                f" {per_million:.2f} s a million{growth}",
                promise,
                kept,
            )
        )
        lines.append(
            Line(
                "… most households rare (age, sex and activity):"
                f" {took['heavy_touched']:,.0f} exchanged",
                f"{took['heavy_work']:.2f} s of one processor",
                f"at most {_PROMISED[persons][0]:g} s" if persons in _PROMISED else "",
                took["heavy_work"] <= _PROMISED[persons][0] if persons in _PROMISED else None,
            )
        )
        lines += [
            Line(
                f"Writing its store ({took['write']:.2f} s, {took['write_work']:.2f} s of"
                f" processors), against {title}",
                f"{took[copy]:.2f} times ({took[f'{copy}_seconds']:.2f} s)",
                f"at most {_MOST_COPIES:g} times" if copy != "checked" else "",
                took[copy] <= _MOST_COPIES if copy != "checked" else None,
            )
            for copy, title in _COPIES.items()
        ]
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


def copy_plainly(store: Path, out: Path) -> None:
    """Copy a store as any program would."""
    shutil.copytree(store, out)


def copy_to_disk(store: Path, out: Path) -> None:
    """Copy a store, and wait until it is on the disk."""
    shutil.copytree(store, out)
    for file in out.rglob("*.bin"):
        with file.open("rb+") as column:
            os.fsync(column.fileno())


def copy_checked(store: Path, out: Path) -> None:
    """Copy a store, and compare every column with its digest."""
    from sdcensus.store.census_store import CensusStore

    shutil.copytree(store, out)
    for _ in CensusStore.open(out).verify():
        pass


def _turns(path: Path, folder: Path, write: Callable[[Path], None]) -> dict[str, float]:
    """Writing and copying in turns: other work on the machine meets both."""
    works: dict[str, Callable[[Path], None]] = {
        "plain": lambda out: copy_plainly(path, out),
        "on_disk": lambda out: copy_to_disk(path, out),
        "checked": lambda out: copy_checked(path, out),
        "write": write,
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    processors = []
    for _ in range(_ROUNDS):
        for name, work in works.items():
            out = folder / f"swap-{name}.store"
            start, worked = time.perf_counter(), time.process_time()
            work(out)
            times[name].append(time.perf_counter() - start)
            if name == "write":
                processors.append(time.process_time() - worked)
            shutil.rmtree(out)
    written = times["write"]
    figures = {"write": median(written), "write_work": median(processors)}
    for name in _COPIES:
        figures[name] = median(ours / own for ours, own in zip(written, times[name], strict=True))
        figures[f"{name}_seconds"] = median(times[name])
    return figures


def main() -> None:
    from sdcensus.microdata.derived_store import DerivedRecords, write_derived
    from sdcensus.microdata.method import Draws
    from sdcensus.microdata.swapping.targeted import TargetedSwap
    from sdcensus.model.progress import no_progress
    from sdcensus.model.published.provenance import Derivation
    from sdcensus.model.schema.variable import Entity
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
        risk_variables=("sex", "activity", "education"),
        k=2,
        rate=0.05,
        profiles=("size,tenure,rooms", "size,tenure"),
        farther=True,
    )
    heavy = replace(method, risk_variables=("age", "sex", "activity"))
    draws = Draws(bytes(range(16)))
    with tempfile.TemporaryDirectory() as scratch:
        warm = Path(scratch) / "warm.store"
        write_country(warm, 20_000)
        method.derive(CensusStore.open(warm), draws, no_progress)
        start, worked = time.perf_counter(), time.process_time()
        changes = method.derive(store, draws, no_progress)
        search, work = time.perf_counter() - start, time.process_time() - worked
        memory = peak_memory()
    worked = time.process_time()
    more = heavy.derive(CensusStore.open(path), draws, no_progress)
    heavy_work = time.process_time() - worked
    step = Derivation(
        parent="", method=method.name, method_version="1", fingerprint="", secret_id=""
    )

    def write(out: Path) -> None:
        with writing(out, resumed="bench") as writer:
            write_derived(DerivedRecords(store, changes), writer, step, no_progress)

    figures = {
        "search": search,
        "work": work,
        "memory": memory,
        "households": store.rows(Entity.HOUSEHOLD),
        "touched": changes.figures["households exchanged"],
        "heavy_work": heavy_work,
        "heavy_touched": more.figures["households exchanged"],
        **_turns(path, folder, write),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
