"""A village on disk and the plainest exchange of places, for tests of what swapping does."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from sdcensus.microdata.derived_store import write_derived
from sdcensus.microdata.method import Changes, Draws, NewValues
from sdcensus.model.method.parameter import Parameter
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Derivation
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
from sdcensus.model.secret import Purpose
from sdcensus.session.derive.step import Step
from sdcensus.store.census_store import CensusStore
from sdcensus.store.writer import writing
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, write_store

AREAS, DISTRICTS = 40, 4
#: What attacks need: further variables that break small cells down.
FURTHER = ("song", "drink", "sport", "trade")


def village_schema(kinds: int) -> Schema:
    def codes(prefix: str, size: int) -> tuple[Code, ...]:
        return tuple(Code(f"{prefix}{at}") for at in range(size))

    districts = tuple(at * DISTRICTS // AREAS for at in range(AREAS))
    return Schema(
        census=CensusInfo(name="Village", code=("V1",)),
        entities=(
            EntitySpec(entity=Entity.PERSON, id=("p",), within=Entity.HOUSEHOLD),
            EntitySpec(entity=Entity.HOUSEHOLD, id=("h",)),
        ),
        variables=(
            Variable(
                name="area",
                entity=Entity.HOUSEHOLD,
                role=Role.GEOGRAPHY,
                codes=codes("A", AREAS),
                leaf_level="area",
                hierarchies=(
                    Hierarchy("areas", (Level("district", codes("D", DISTRICTS), districts),)),
                ),
            ),
            Variable(name="kind", entity=Entity.PERSON, codes=codes("K", kinds)),
            Variable(name="colour", entity=Entity.PERSON, codes=codes("C", 12)),
            Variable(name="craft", entity=Entity.PERSON, codes=codes("T", 9)),
            *(Variable(name=name, entity=Entity.PERSON, codes=codes("", 7)) for name in FURTHER),
        ),
    )


def village(
    path: Path, *, households: int = 4_000, size: int = 1, kinds: int = 60, seed: int = 1
) -> CensusStore:
    """Households of one size whose members are of one kind; kinds are rare and frequent alike."""
    draw = np.random.default_rng(seed)
    popular = 1.0 / (np.arange(kinds) + 2.0)
    of_household = draw.choice(kinds, households, p=popular / popular.sum())
    persons = households * size
    keys = draw.choice(1 << 32, households + persons, replace=False).astype(np.uint32)
    units = {
        Entity.HOUSEHOLD: Units(
            keys=keys[:households], leaves={"area": draw.integers(0, AREAS, households)}
        ),
        Entity.PERSON: Units(
            keys=keys[households:],
            leaves={
                "kind": np.repeat(of_household, size),
                "colour": draw.integers(0, 12, persons),
                "craft": draw.integers(0, 9, persons),
                **{name: draw.integers(0, 7, persons) for name in FURTHER},
            },
            parents={Entity.HOUSEHOLD: np.repeat(np.arange(households), size)},
        ),
    }
    return write_store(path, village_schema(kinds), units, secret_id=SECRET.id)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Exchange:
    """Exchanges the places of a share of the households, pair by pair, at random.

    Attributes:
        rate: The share of households.
        within: Whether partners stay in one district.
    """

    rate: float
    within: bool = False

    name: ClassVar[str] = "exchange"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Exchange places."
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = ()

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        assert draws is not None
        area = records.raw(Entity.HOUSEHOLD, "area").astype(np.int64)
        digests = records.digests(Entity.HOUSEHOLD)
        order = np.argsort(draws.words(digests, 1), kind="stable")
        chosen = order[: round(self.rate * order.size)]
        if self.within:
            group = area[chosen] * DISTRICTS // AREAS
            chosen = chosen[np.argsort(group, kind="stable")]
            group = area[chosen] * DISTRICTS // AREAS
        chosen = chosen[: chosen.size // 2 * 2]
        first, second = chosen[::2], chosen[1::2]
        fits = area[first] != area[second]
        if self.within:
            fits &= group[: chosen.size : 2] == group[1 : chosen.size : 2]
        first, second = first[fits], second[fits]
        rows = np.concatenate([first, second])
        values = np.concatenate([area[second], area[first]])
        sort = np.argsort(rows)
        return Changes(codes={"area": NewValues(rows[sort], values[sort])})


def exchange_step(store: CensusStore, *, rate: float, within: bool = False) -> Step:
    """The exchange as a step under the secret of the tests."""
    version = store.manifest.key_version
    derivation = Derivation(
        parent=store.manifest.data_version,
        method="exchange",
        method_version="1",
        fingerprint="0" * 32,
        secret_id=SECRET.id,
    )
    draws = Draws(SECRET.sub_key(Purpose.SWAP, version))
    return Step(store, Exchange(rate=rate, within=within), draws, derivation, "work")


def write_exchange(
    store: Path, out: Path, *, rate: float, called: str = "random-swap", within: bool = False
) -> CensusStore:
    """A derived store on disk with what the office keeps beside it, under the name of a method."""
    step = exchange_step(CensusStore.open(store), rate=rate, within=within)
    derivation = replace(step.derivation, method=called)
    with writing(out) as writer:
        manifest = write_derived(step.run(), writer, derivation, no_progress)
    report = {
        "method": called,
        "parameters": {"rate": rate, "within": "district" if within else ""},
        "data_version": manifest.data_version,
    }
    office = out.with_name(f"{out.name}.office")
    office.mkdir()
    (office / "derivation.json").write_text(json.dumps(report), encoding="utf-8")
    return CensusStore.open(out)
