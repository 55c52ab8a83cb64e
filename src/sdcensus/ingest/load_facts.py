"""What the records of a loaded census look like: sizes, links, missing values, ranges, areas.

Counted once, from the encoded columns of the new store. Everything here is confidential: it is for
the office's own report on the load.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Level, Role, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import imputed_column, link_column, value_column

Int64 = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

#: Units that hold so many others, or more, are counted together.
MOST_HELD = 12
#: Records that are looked at together.
_BLOCK = 1 << 20
#: Odd numbers that spread the bits of what is multiplied with them.
_SPREAD, _AGAIN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


class _Facts(Confidential):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class LinkFacts(_Facts):
    """How records of one kind lie in records of another, seen from both sides.

    Attributes:
        child, parent: The two kinds.
        linked: Records that lie in one.
        empty: Records that name none.
        lost: Records that name one which does not exist.
        sizes: How many parents hold 0, 1, 2, … records; the last number is of ``MOST_HELD`` and
            more.
        largest: The most that one holds.
    """

    child: Entity
    parent: Entity
    linked: int
    empty: int
    lost: int
    sizes: tuple[int, ...]
    largest: int

    @property
    def childless(self) -> int:
        """Parents that hold none."""
        return self.sizes[0]

    @property
    def parents(self) -> int:
        """All parents."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True, repr=False)
class VariableFacts(_Facts):
    """What stands in one variable.

    Attributes:
        variable: The variable.
        records: How many records have it.
        not_stated, not_applicable: How many have no value.
        never: Codes that occur in no record; those for missing values are not among them.
        lowest, highest: Of numbers and amounts; in units of the last decimal. ``None`` where the
            variable is no number, or no record has one.
        decimals: How many digits of them stand behind the decimal mark.
        imputed: How many values were imputed; ``None`` where the census does not say.
    """

    variable: Variable
    records: int
    not_stated: int = 0
    not_applicable: int = 0
    never: tuple[Code, ...] = ()
    lowest: int | None = None
    highest: int | None = None
    decimals: int = 0
    imputed: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class WeightFacts(_Facts):
    """What the weights of one kind of unit add up to, in units of their last decimal.

    Attributes:
        variable: The weight.
        entity: The units that have it, or inherit it.
        records: How many there are.
        total, lowest, highest: Of all of them; units that lie in nothing with a weight count as 1.
        zeros: How many stand for nobody.
    """

    variable: Variable
    entity: Entity
    records: int
    total: int
    lowest: int
    highest: int
    zeros: int


@dataclass(frozen=True, slots=True, repr=False)
class LevelFacts(_Facts):
    """The areas of one level, with how many records lie in each; in the order of the codes."""

    level: Level
    records: tuple[int, ...]

    @property
    def areas(self) -> list[tuple[Code, int]]:
        """Areas that are some, each with its records."""
        pairs = zip(self.level.codes, self.records, strict=True)
        return [(code, records) for code, records in pairs if not code.is_missing]


@dataclass(frozen=True, slots=True, repr=False)
class GeographyFacts(_Facts):
    """Where the records of one kind lie.

    Attributes:
        variable: The geography.
        entity: The units that were counted.
        levels: From the finest to the coarsest, of its first tree.
        nowhere: Records without an area.
        map: The outlines that the store keeps, if it has a map.
    """

    variable: Variable
    entity: Entity
    levels: tuple[LevelFacts, ...]
    nowhere: int
    map: bytes | None = None


@dataclass(frozen=True, slots=True, repr=False)
class AlikeFacts(_Facts):
    """Records that say the same as another one, whatever their ids are.

    Attributes:
        entity: The kind.
        records: How many say the same as one before them.
        holding: Of units that hold others, the kind that was compared with them; units that hold
            fewer than two are left out then.
        within: Of units that hold none, the kind within which they were compared.
    """

    entity: Entity
    records: int
    holding: Entity | None = None
    within: Entity | None = None


@dataclass(frozen=True, slots=True, repr=False)
class LoadFacts(_Facts):
    """Everything that a report on a load says about the records."""

    rows: Mapping[Entity, int]
    links: tuple[LinkFacts, ...]
    variables: tuple[VariableFacts, ...]
    weights: tuple[WeightFacts, ...]
    geographies: tuple[GeographyFacts, ...]
    alike: tuple[AlikeFacts, ...]


def look_at(
    store: CensusStore,
    lost: Mapping[tuple[Entity, Entity], int],
    progress: Progress = no_progress,
) -> LoadFacts:
    """Count what a report on a load shows.

    Args:
        store: The new store.
        lost: How many records of a kind name a parent of another kind that does not exist.
        progress: Called with the stage and how much of it is done.
    """
    schema = store.schema
    rows = {entity: store.rows(entity) for entity in schema.top_down}
    stored = [
        variable for variable in schema.variables if variable.stored and rows[variable.entity]
    ]
    variables = []
    for at, variable in enumerate(stored):
        progress("looking at the records", at / len(stored))
        variables.append(_variable(store, variable))
    return LoadFacts(
        rows=rows,
        links=tuple(_links(store, lost)),
        variables=tuple(variables),
        weights=tuple(_weights(store)),
        geographies=tuple(_geographies(store)),
        alike=tuple(_alike(store)),
    )


# ---------------------------------------------------------------- links


def _links(store: CensusStore, lost: Mapping[tuple[Entity, Entity], int]) -> Iterator[LinkFacts]:
    for spec in store.schema.entities:
        for parent in store.schema.parents(spec.entity):
            if not store.has(spec.entity, link_column(parent)):
                continue
            held = _held(store, spec.entity, parent)
            linked = int(held.sum())
            nowhere = lost.get((spec.entity, parent), 0)
            sizes = np.bincount(np.minimum(held, MOST_HELD), minlength=MOST_HELD + 1)
            yield LinkFacts(
                spec.entity,
                parent,
                linked,
                store.rows(spec.entity) - linked - nowhere,
                nowhere,
                tuple(sizes.tolist()),
                int(held.max(initial=0)),
            )


def _held(store: CensusStore, child: Entity, parent: Entity) -> npt.NDArray[Any]:
    """For each parent how many it holds."""
    link = store.raw(child, link_column(parent))
    return np.bincount(link[link != NO_ROW], minlength=store.rows(parent))


# ---------------------------------------------------------------- variables


def _variable(store: CensusStore, variable: Variable) -> VariableFacts:
    entity, name = variable.entity, variable.name
    records = store.rows(entity)
    facts: dict[str, Any] = {}
    if store.has(entity, name):
        facts = _of_codes(variable, _leaf_counts(store, entity, name, len(variable.codes)))
        if name in {grid.variable for grid in store.schema.grids}:
            del facts["never"]  # most of a country is empty
    if store.has(entity, value_column(name)):
        facts |= _of_values(variable, store.raw(entity, value_column(name)), "not_stated" in facts)
    if store.has(entity, imputed_column(name)):
        facts["imputed"] = int(np.count_nonzero(store.raw(entity, imputed_column(name))))
    return VariableFacts(variable, records, **facts)


def _leaf_counts(store: CensusStore, entity: Entity, name: str, codes: int) -> Int64:
    column = store.raw(entity, name)
    counts = np.zeros(codes, dtype=np.int64)
    for start in range(0, column.size, _BLOCK):
        counts += np.bincount(column[start : start + _BLOCK], minlength=codes)
    return counts


def _of_codes(variable: Variable, counts: Int64) -> dict[str, Any]:
    by_kind = dict.fromkeys(CodeKind, 0)
    never, numbers = [], []
    for code, count in zip(variable.codes, counts.tolist(), strict=True):
        by_kind[code.kind] += count
        if not count and not code.is_missing:
            never.append(code)
        elif count and code.lower is not None:
            numbers.append((code.lower, code.lower if code.upper is None else code.upper))
    facts: dict[str, Any] = {
        "not_stated": by_kind[CodeKind.NOT_STATED],
        "not_applicable": by_kind[CodeKind.NOT_APPLICABLE],
        "never": tuple(never),
    }
    if numbers:
        facts["lowest"] = min(lower for lower, _ in numbers)
        facts["highest"] = max(upper for _, upper in numbers)
    return facts


def _of_values(variable: Variable, values: Int64, coded: bool) -> dict[str, Any]:
    """The range of amounts; where the variable has no codes, also how many there are not."""
    smallest, largest, without = [], [], 0
    for start in range(0, values.size, _BLOCK):
        block = values[start : start + _BLOCK]
        there = block[block != NO_VALUE]
        without += block.size - there.size
        if there.size:
            smallest.append(int(there.min()))
            largest.append(int(there.max()))
    facts: dict[str, Any] = {
        "lowest": min(smallest, default=None),
        "highest": max(largest, default=None),
        "decimals": variable.decimals,
    }
    return facts if coded else {**facts, "not_stated": without}


# ---------------------------------------------------------------- weights


def _weights(store: CensusStore) -> Iterator[WeightFacts]:
    schema = store.schema
    for spec in reversed(schema.top_down):
        variable = schema.weight(spec)
        rows = store.rows(spec)
        if variable is None or not rows:
            continue
        column = store.values(spec, variable)
        total, lowest, highest, zeros = 0, None, 0, 0
        for start in range(0, rows, _BLOCK):
            block = column[slice(start, min(start + _BLOCK, rows))]
            # In two halves: no sum of a block leaves 64 bits.
            total += (int((block >> 24).sum()) << 24) + int((block & 0xFFFFFF).sum())
            least = int(block.min())
            lowest = least if lowest is None else min(lowest, least)
            highest = max(highest, int(block.max()))
            zeros += int(np.count_nonzero(block <= 0))
        yield WeightFacts(variable, spec, rows, total, lowest or 0, highest, zeros)


# ---------------------------------------------------------------- areas


def _geographies(store: CensusStore) -> Iterator[GeographyFacts]:
    schema = store.schema
    grids = {grid.variable for grid in schema.grids}
    for variable in schema.variables:
        if variable.role is not Role.GEOGRAPHY or variable.name in grids:
            continue
        entity = _counted(store, schema, variable)
        if not store.has(entity, variable.name):
            continue
        counts = _leaf_counts(store, entity, variable.name, len(variable.codes))
        tree = variable.hierarchies[0].levels if variable.hierarchies else ()
        levels = [variable.level(), *(level for level in tree if not level.universe)]
        missing = np.array([code.is_missing for code in variable.codes], dtype=bool)
        yield GeographyFacts(
            variable,
            entity,
            tuple(LevelFacts(level, _grouped(level, counts)) for level in levels),
            int(counts[missing].sum()),
            store.map(variable.name),
        )


def _counted(store: CensusStore, schema: Schema, variable: Variable) -> Entity:
    """The smallest units whose area the store keeps: what most tables count."""
    for entity in reversed(schema.top_down):
        if store.rows(entity) and store.has(entity, variable.name):
            return entity
    return variable.entity


def _grouped(level: Level, counts: Int64) -> tuple[int, ...]:
    sums = np.zeros(len(level.codes), dtype=np.int64)
    np.add.at(sums, level.group_array, counts)
    return tuple(sums.tolist())


# ---------------------------------------------------------------- records that say the same


def _alike(store: CensusStore) -> Iterator[AlikeFacts]:
    """Records that say the same as others; units with whatever lies in them, from below."""
    schema = store.schema
    hashes: dict[Entity, Hashes] = {}
    larger: set[Entity] = set()
    for entity in reversed(schema.top_down):
        if not store.rows(entity):
            continue
        own = _hashes(store, entity)
        holding = None
        for child in [kind for kind in hashes if entity in schema.parents(kind)]:
            link = store.raw(child, link_column(entity))
            there = link != NO_ROW
            np.add.at(own, link[there], _mixed(hashes[child][there]))
            holding = holding or child
        hashes[entity] = own
        if holding is not None:
            # Units of units say nothing new, and families are parts of households.
            if holding not in larger and entity is not Entity.FAMILY:
                several = _held(store, holding, entity) >= 2
                yield AlikeFacts(entity, _repeated(own[several]), holding=holding)
            larger.add(entity)
        elif schema.entity(entity).derived_from is None:
            within = schema.entity(entity).within
            if within is not None and store.has(entity, link_column(within)):
                link = store.raw(entity, link_column(within))
                there = link != NO_ROW
                beside = _mixed(own[there] + link[there].astype(np.uint64) * _AGAIN)
                yield AlikeFacts(entity, _repeated(beside), within=within)
            else:
                yield AlikeFacts(entity, _repeated(own))


def _hashes(store: CensusStore, entity: Entity) -> Hashes:
    """One number for everything that a record says."""
    hashes = np.full(store.rows(entity), _SPREAD, dtype=np.uint64)
    columns = sorted(name for name in store.manifest.columns[entity] if not name.startswith("_"))
    for start in range(0, hashes.size, _BLOCK):
        block = hashes[start : start + _BLOCK]
        for name in columns:
            block *= _AGAIN
            block += store.raw(entity, name)[start : start + _BLOCK].astype(np.uint64)
            block ^= block >> np.uint64(29)
    return hashes


def _mixed(hashes: Hashes) -> Hashes:
    mixed = (hashes ^ (hashes >> np.uint64(32))) * _SPREAD
    return mixed ^ (mixed >> np.uint64(29))


def _repeated(hashes: Hashes) -> int:
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))
