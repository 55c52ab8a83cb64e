"""Published tables made ready for attacks: whole, of counts, and sorted by how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sdcensus.errors import SpecError
from sdcensus.model.published.table import PublishedTable, Table
from sdcensus.model.spec.table_spec import Measure

#: Tables with more cells are not attacked whole.
MOST_CELLS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A published table that is attacked.

    Attributes:
        name: The name of its file.
        table: Every cell of it.
        data: Which records it counts: tables of other records are never compared with it.
        making: How it was made; tables made in the same way have the same kind of noise.
        noted: What one attack found out about the table, for the others.
    """

    name: str
    table: Table
    data: str
    making: tuple[str, ...]
    noted: dict[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<Target {self.name}>"


def targets_of(tables: Sequence[PublishedTable]) -> tuple[tuple[Target, ...], tuple[str, ...]]:
    """Tables that can be attacked, and sentences about those that cannot."""
    for table in tables:
        given: object = table
        if not isinstance(given, PublishedTable):
            raise SpecError(
                f"Attacks see published tables only, and a {type(given).__name__} is none."
            )
    chosen: list[Target] = []
    left_out: list[str] = []
    for table in tables:
        spec = table.table.spec
        if spec.measure is not Measure.COUNT:
            left_out.append(f"{table.name} shows weighted counts and was not attacked.")
        elif spec.cells > MOST_CELLS:
            left_out.append(
                f"{table.name} has {spec.cells:,} cells and was not attacked: at most"
                f" {MOST_CELLS:,} are held at a time."
            )
        else:
            chosen.append(_target(table))
    return tuple(chosen), tuple(left_out)


def _target(one: PublishedTable) -> Target:
    provenance = one.provenance
    making: tuple[str, ...] = ()
    if provenance is not None:
        making = (
            provenance.method,
            provenance.method_version,
            provenance.fingerprint,
            str(provenance.key_version),
        )
    data = f"{one.table.spec.of}:{'' if provenance is None else provenance.data_version}"
    return Target(one.name, one.table.whole(), data, making)


def families(targets: Sequence[Target]) -> tuple[tuple[Target, ...], ...]:
    """Tables that were made in the same way, together."""
    groups: dict[tuple[str, ...], list[Target]] = {}
    for target in targets:
        groups.setdefault((target.data, *target.making), []).append(target)
    return tuple(tuple(targets) for targets in groups.values())


def scope(targets: Sequence[Target]) -> str:
    """The tables that a conclusion rests on, for a sentence."""
    return f"{named(targets)} alone" if len(targets) == 1 else named(targets)


def named(targets: Sequence[Target]) -> str:
    """Some tables, for a sentence."""
    if len(targets) == 1:
        return f"the table {targets[0].name}"
    return f"{len(targets)} tables ({targets[0].name} to {targets[-1].name})"


def each_of(targets: Sequence[Target]) -> str:
    """Some tables that are looked at one by one, for a sentence."""
    return scope(targets) if len(targets) == 1 else f"each of {named(targets)} by itself"
