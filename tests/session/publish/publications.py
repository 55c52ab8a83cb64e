"""A run of publishing without files: protect, look, decide, record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.guard.guard import (
    REVISION_MINIMUM,
    Revision,
    TableChanges,
    open_guard,
    series_key_version,
)
from sdcensus.testing.island import SECRET, island_schema, island_units
from sdcensus.testing.stores import Units, write_store

BY = (("area@parish+district", "sex", "age"), ("area@district", "married"), ("sex", "age@class"))


def corrected(units: Units, **changes: npt.NDArray[Any]) -> Units:
    """The same people with other codes."""
    return replace(units, leaves={**units.leaves, **changes})


def without(units: Units, rows: Sequence[int]) -> Units:
    """The same people but for some."""
    kept = np.setdiff1d(np.arange(units.keys.size), np.array(rows))
    return replace(
        units,
        keys=units.keys[kept],
        leaves={name: leaf[kept] for name, leaf in units.leaves.items()},
        values={name: value[kept] for name, value in units.values.items()},
    )


def stored(path: Path, units: Units, *, secret_id: str = SECRET.id) -> Census:
    """A store of these people."""
    write_store(path, island_schema(), {Entity.PERSON: units}, secret_id=secret_id)
    return open_store(path)


def people(count: int = 4000, seed: int = 7) -> Units:
    return island_units(count, seed=seed)


@dataclass(frozen=True)
class Publication:
    """What a run published, and what the guard said."""

    tables: Mapping[str, Table]
    changes: tuple[TableChanges, ...]
    notes: tuple[str, ...]


def cell_key(key_version: int | None = None, **options: Any) -> CellKey:
    return CellKey(
        scheme(options.pop("scheme", "CP4")), SECRET, key_version=key_version or 1, **options
    )


def publish(
    office: Path,
    census: Census,
    *,
    by: Sequence[Sequence[str]] = BY,
    method: Method | None = None,
    plan: str = "plan",
    specs: Sequence[TableSpec] | None = None,
    **asked: Any,
) -> Publication:
    """Protect tables, let the guard look and decide, and record them."""
    said = {name: asked[name] for name in ("revision", "rekey") if name in asked}
    used = method or cell_key(series_key_version(office, None, **said))
    wanted = [census.spec(*one) for one in by] if specs is None else list(specs)
    revision = Revision(
        asked.pop("revision", None),
        asked.pop("rekey", False),
        asked.pop("old_store", None),
        asked.pop("minimum", REVISION_MINIMUM),
    )
    guard = open_guard(office, census, used, plan=plan, specs=wanted, revision=revision, **asked)
    tables, changes = {}, []
    for spec in wanted:
        cube = census.tabulate(spec)
        assert isinstance(cube, Cube)
        done = used.protect(cube)
        assert isinstance(done.table, Table)
        tables[spec.hash()] = done.table
        changes.append(guard.look(spec.title, done.table, done.provenance))
    changes = [TableChanges.from_json(change.to_json()) for change in changes]
    notes = guard.decide(changes)
    guard.record(changes)
    return Publication(tables, tuple(changes), notes)
