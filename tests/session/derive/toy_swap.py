"""A swap small enough to be followed by hand: units of drawn pairs exchange their areas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdcensus.microdata.method import Changes, Draws, NewValues
from sdcensus.model.method.parameter import Parameter
from sdcensus.model.progress import Progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.secret import Purpose
from sdcensus.session.derive.step import Step
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET


@dataclass(frozen=True, kw_only=True)
class ToySwap:
    rate: float

    name: ClassVar[str] = "toy-swap"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Drawn pairs exchange their areas."
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = ()

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        assert draws is not None
        geography = records.schema.geography
        assert geography is not None
        unit = geography.entity
        area = records.raw(unit, geography.name)
        order = np.argsort(draws.words(records.digests(unit), 1))
        rows = order[: 2 * int(self.rate * area.size / 2)]
        new = area[rows].reshape(-1, 2)[:, ::-1].reshape(-1)
        by_row = np.argsort(rows)
        rows, new = rows[by_row], new[by_row]
        moved = area[rows] != new
        return Changes(
            codes={geography.name: NewValues(rows[moved], new[moved])},
            figures={"pairs": rows.size // 2},
        )


def toy_step(store: CensusStore, rate: float) -> Step:
    """The swap on a store."""
    derivation = Derivation(
        parent=store.manifest.data_version,
        method="toy-swap",
        method_version="1",
        fingerprint="00",
        secret_id=SECRET.id,
    )
    draws = Draws(SECRET.sub_key(Purpose.SWAP, store.manifest.key_version))
    return Step(store, ToySwap(rate=rate), draws, derivation, "work")
