"""Several publications of the same records: one number for one group, and warnings where not.

Keys give the same number to the same records wherever method, settings and keys are the same.
Where they are not, numbers that are out can be taken over; and where an exact and a perturbed
version of a number, or groups that are nearly the same, would stand beside each other, the office
is told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.model.method.registry import Part, declared
from sdcensus.model.published.lock import (
    CLOSE_DAYS,
    Making,
    PublicationLock,
    census_name,
    days_apart,
)
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.leaf_groups import LeafBlock, leaf_blocks
from sdcensus.model.spec.shared_cells import same_layout, shared_cells
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.registry import Registry, RegistryEntry
from sdcensus.store.registry_values import Values

#: Two groups that share this part of their codes, and are not the same, are nearly the same.
NEARLY = 0.9
_MOST = 5

Flags = npt.NDArray[np.uint8]
Methods = Callable[[TableSpec], Method]


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """A table with numbers of earlier publications.

    Attributes:
        table: The table.
        cells: How many cells have a number or a sign of an earlier publication.
        changed: How many of them would have had another one.
        sources: The tables that they come from.
    """

    table: Table
    cells: int
    changed: int
    sources: tuple[str, ...]


def imported(
    table: Table,
    registry: Registry,
    *,
    provenance: Provenance | None = None,
    consistent: bool = False,
    series: str | None = None,
    wanted: Callable[[RegistryEntry], bool] = lambda _: True,
) -> Imported:
    """Take over what was published before for the same records, the last publication first.

    Cells that this table withholds stay withheld. Cells that were withheld before are withheld
    again: a number for them would undo it.

    Args:
        table: What would be published.
        registry: What was published.
        provenance: How the table was made; what was made in the same way agrees with it anyway.
        consistent: Whether its method gives the same records the same number.
        series: The census; tables of others are not looked at.
        wanted: Whether numbers of a publication are to be taken over.
    """
    spec = table.spec
    published = table.published.reshape(-1).copy()
    flags = np.zeros(published.size, dtype=np.uint8)
    if table.flags is not None:
        flags = table.flags.reshape(-1).astype(np.uint8)
    own = flags != 0
    taken = np.zeros(published.size, dtype=bool)
    sources = []
    for entry in reversed(_alike(spec, registry, series)):
        if entry.agrees_with(provenance, consistent=consistent) or not wanted(entry):
            continue
        places = _places(spec, entry)
        if places is None:
            continue
        mine, theirs = places
        free = ~(taken[mine] | own[mine])
        mine, theirs = mine[free], theirs[free]
        if not mine.size:
            continue
        values = registry.values(entry)
        published[mine], flags[mine] = values.at(theirs), values.flags_at(theirs)
        taken[mine] = True
        sources.append(entry.name)
    imported = Table(spec, published.reshape(spec.shape), flags.reshape(spec.shape), table.notes)
    before = Values.of(table)
    every = np.flatnonzero(taken).astype(np.uint64)
    other = (before.at(every) != published[taken]) | (before.flags_at(every) != flags[taken])
    return Imported(imported, int(taken.sum()), int(other.sum()), tuple(sources))


def _alike(spec: TableSpec, registry: Registry, series: str | None) -> list[RegistryEntry]:
    return [
        entry
        for entry in registry.latest()
        if entry.has_values
        and entry.spec.of is spec.of
        and entry.spec.measure is spec.measure
        and (series is None or entry.series in ("", series))
    ]


def _places(
    spec: TableSpec, entry: RegistryEntry
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]] | None:
    """The cells that a table shares with a publication, in both."""
    if same_layout(spec, entry.spec):
        every = np.arange(spec.cells, dtype=np.int64)
        return every, every.astype(np.uint64)
    shared = shared_cells(spec, entry.spec)
    if shared is None:
        return None
    mine, theirs = shared.all()
    return mine.astype(np.int64), theirs


# ------------------------------------------------------------------------------- warnings


def coexistence_warnings(
    lock: PublicationLock,
    registry: Registry,
    specs: Sequence[TableSpec],
    methods: Methods,
    schema: Schema,
) -> tuple[str, ...]:
    """What stands in the way of a publication that fits those before it, a sentence each.

    Scope: what the registry and the lock of this office hold, as seen from code lists, methods
    and dates. Counts are not looked at; ``sdcensus assess`` does that.

    Args:
        lock: How earlier numbers were made.
        registry: What was published.
        specs: The tables of the run.
        methods: The method of each table.
        schema: The census.
    """
    inside = tuple(_exact_beside_noise_inside(specs, methods))
    if not specs or not lock.tables:
        return inside
    here = {spec.hash() for spec in specs}
    series = lock.series_of(schema.census)
    others = [
        (entry, _made(entry, lock))
        for entry in registry.latest(without=here)
        if entry.series in ("", series)
    ]
    return (
        *inside,
        *_exact_beside_noise([entry for entry, _ in others], specs, methods),
        *_exempt_beside_noise(others, specs, methods),
        *_close_dates(lock, schema, series),
        *_near_groups([entry.spec for entry, _ in others], specs),
    )


def _made(entry: RegistryEntry, lock: PublicationLock) -> Making | None:
    table = lock.table(entry.spec_hash, entry.series)
    return None if table is None else lock.making(table)


def _method(entry: RegistryEntry) -> str:
    return "" if entry.provenance is None else entry.provenance.method


def _is_exact(method: str) -> bool:
    try:
        return declared(Part.METHOD, method.split(" → ")[0]).shows_truth
    except SpecError:  # by a package that is no longer installed
        return False


def _exact_beside_noise(
    others: Sequence[RegistryEntry], specs: Sequence[TableSpec], methods: Methods
) -> Iterator[str]:
    """Rounded true counts beside perturbed ones: the rounding interval narrows the noise down."""
    renamed: dict[tuple[str, str], list[str]] = {}
    for entry in others:
        before = _method(entry)
        for spec in specs:
            now = methods(spec).described_name
            if not before or _is_exact(before) is _is_exact(now):
                continue
            if shared_cells(spec, entry.spec) is not None:
                renamed.setdefault((before, now), []).append(entry.name)
                break
    for (before, now), names in renamed.items():
        yield (
            f"{_named(names)}, published by {before!r}, and tables of this run by {now!r} are about"
            " the same records. Rounded true counts beside perturbed ones narrow the noise down."
            " Use one method for all, or take over what is published (import_published = true)."
        )


def _exact_beside_noise_inside(specs: Sequence[TableSpec], methods: Methods) -> Iterator[str]:
    """The same within a run whose tables are protected in different ways."""
    exact = [spec for spec in specs if _is_exact(methods(spec).described_name)]
    noisy = [spec for spec in specs if not _is_exact(methods(spec).described_name)]
    shared: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for spec in exact:
        beside = tuple(other.title for other in noisy if shared_cells(spec, other) is not None)
        if beside:
            shared.setdefault((methods(spec).described_name, beside), []).append(spec.title)
    for (method, beside), names in shared.items():
        yield (
            f"Cells of {_named(names)}, published by {method!r}, are also in {_named(beside)}, with"
            " noise. The difference is the noise. Exempt the common totals from it (the setting"
            " 'exempt', or [exempt] of a policy), so that they are the same in all tables; or leave"
            " them out of one."
        )


def _exempt_beside_noise(
    earlier: Sequence[tuple[RegistryEntry, Making | None]],
    specs: Sequence[TableSpec],
    methods: Methods,
) -> Iterator[str]:
    """Cells that are exempt now and were perturbed before, or the other way round."""
    used = {id(methods(spec)): (spec.of, methods(spec)) for spec in specs}
    for of, method in used.values():
        exempt = method.exempt_tables
        hashes = {spec.hash() for spec in exempt}
        names, again = [], []
        for entry, made in earlier:
            if entry.spec.of is not of or made is None:
                continue
            known = _exempt_before(made)
            if any(
                spec.hash() not in known and shared_cells(spec, entry.spec) is not None
                for spec in exempt
            ):
                names.append(entry.name)
            if known - hashes:
                again.append(entry.name)
        if names:
            yield (
                f"Exempt totals would be published exactly that {_named(names)} has published"
                " with noise. The difference is the noise, and shows how it is drawn."
            )
        if again:
            yield (
                f"{_named(again)} has published totals exactly that this run perturbs. Readers"
                " will find both; keep the exemption."
            )


def _exempt_before(making: Making) -> set[str]:
    """The tables that were exempt when numbers were made, by their hashes."""
    settings = json.loads(making.settings)
    parts = [settings, *settings.get("parts", ())]
    return {str(text) for part in parts for text in part.get("exempt", ())}


def _close_dates(lock: PublicationLock, schema: Schema, series: str) -> Iterator[str]:
    """Another census or register that refers to nearly the same date."""
    info = schema.census
    for date, census in dict.fromkeys(
        (making.reference_date, making.census) for making in lock.makings if making.series != series
    ):
        apart = days_apart(date, info.reference_date)
        if apart is not None and apart <= CLOSE_DAYS:
            yield (
                f"Tables of {census} ({date}) are published, only {apart:,} days from the reference"
                f" date of {census_name(info)} ({info.reference_date}). They count much the same"
                " people under other keys: two looks at the same groups, and small differences"
                " between them can be few people."
            )


def _near_groups(others: Sequence[TableSpec], specs: Sequence[TableSpec]) -> Iterator[str]:
    """Groups of codes, or conditions, that are nearly but not quite those of earlier tables."""
    before, now = _groups(others), _groups(specs)
    names = [
        name
        for (of, name), blocks in now.items()
        if any(
            _nearly(block, other)
            for block in blocks
            for other in before.get((of, name), ())
            if block.group.size == other.group.size
        )
    ]
    if names:
        shown = ", ".join(dict.fromkeys(repr(name) for name in names))
        yield (
            f"Groups or conditions of {shown} are nearly, but not quite, those of tables that were"
            " published before. The difference of two such groups can be few people: look at it"
            " with sdcensus assess --registry, or use the same groups."
        )


def _groups(specs: Sequence[TableSpec]) -> dict[tuple[Entity, str], list[LeafBlock]]:
    """The ways in which tables group the leaves of each variable, each once."""
    groups: dict[tuple[Entity, str], dict[bytes, LeafBlock]] = {}
    for spec in specs:
        variables: dict[str, Variable] = {
            variable.name: variable for variable in spec.universe.variables
        }
        variables |= {axis.variable.name: axis.variable for axis in spec.axes}
        for name, variable in variables.items():
            for block in leaf_blocks(spec, variable):
                groups.setdefault((spec.of, name), {})[block.group.tobytes()] = block
    return {key: list(blocks.values()) for key, blocks in groups.items()}


def _nearly(one: LeafBlock, other: LeafBlock) -> bool:
    """Whether some groups of two ways to group share nearly all their codes and are not equal."""
    inside = (one.group >= 0) & (other.group >= 0)
    pairs = one.group[inside] * other.size + other.group[inside]
    held, both = np.unique(pairs, return_counts=True)
    union = one.leaves[held // other.size] + other.leaves[held % other.size] - both
    return bool(((both < union) & (both >= NEARLY * union)).any())


def _named(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    shown = ", ".join(unique[:_MOST])
    return shown if len(unique) <= _MOST else f"{shown} and {len(unique) - _MOST:,} more"


def check_importable(method: Method) -> None:
    """Refuse to take numbers over into tables whose method makes them add up."""
    if method.claims().additive:
        raise SpecError(
            f"The method {method.described_name!r} makes totals add up, and numbers that are taken"
            " over would not. Leave import_published out, or the step 'additivity'."
        )
