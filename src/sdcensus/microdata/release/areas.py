"""The areas of units, for samples that spread over them and for files that do not tell them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.schema.variable import Entity, Level, Variable, common_refinement
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: In place of a leaf, for units that have no area.
NO_AREA = -1


def leaves_of(store: CensusStore, entity: Entity) -> Int64 | None:
    """The leaf of the geography of each unit of a kind, ``NO_AREA`` where it has none.

    A household whose persons have areas has the first of them in the code list. ``None`` for
    a census without areas, or with areas of other units only.
    """
    schema = store.schema
    geography = schema.geography
    if geography is None:
        return None
    if schema.path(entity, geography.entity) is not None:
        rows = holder_rows(store, entity, geography.entity)
        own = np.append(store.raw(geography.entity, geography.name).astype(np.int64), NO_AREA)
        return own[np.where(rows == NO_ROW, own.size - 1, rows)]
    if schema.path(geography.entity, entity) is None:
        return None
    holder = holder_rows(store, geography.entity, entity)
    held = holder != NO_ROW
    none = len(geography.codes)
    first = np.full(store.rows(entity), none, dtype=np.int64)
    leaves = store.raw(geography.entity, geography.name)
    np.minimum.at(first, holder[held], leaves[held].astype(np.int64))
    return np.where(first == none, NO_AREA, first)


def places_of_leaves(geography: Variable) -> Int64:
    """For each leaf its place when leaves are put in order of all levels, the coarsest first."""
    keys: list[Integers] = [np.arange(len(geography.codes))]
    for hierarchy in geography.hierarchies[:1]:
        keys += [level.group_array for level in hierarchy.levels if not level.universe]
    order = np.lexsort(keys)
    places = np.empty(order.size, dtype=np.int64)
    places[order] = np.arange(order.size)
    return places


def sorted_areas(store: CensusStore, entity: Entity) -> Int64:
    """A number for each unit that ascends with its area; 0 for all in a census without areas."""
    leaves = leaves_of(store, entity)
    geography = store.schema.geography
    if leaves is None or geography is None:
        return np.zeros(store.rows(entity), dtype=np.int64)
    places = np.append(places_of_leaves(geography), len(geography.codes))
    return places[leaves]  # those without an area come last


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HiddenLevel(Confidential):
    """A level of the geography that a file does not tell.

    Attributes:
        level: The level.
        part: For each leaf the number of its area at the level, within what the file tells.
        told: For each such area the number of what the file tells of it.
        codes: For each such area the position of its code at the level.
    """

    level: Level
    part: Int64
    told: Int64
    codes: Int64

    def __repr__(self) -> str:
        return f"<HiddenLevel {self.level.name!r}: confidential>"

    def parts_of(self, leaves: Int64) -> Int64:
        """The number of each unit's area; ``NO_AREA`` where it has none."""
        return np.append(self.part, NO_AREA)[leaves]


def hidden_levels(store: CensusStore, design: FileDesign) -> tuple[HiddenLevel, ...]:
    """The levels of the main geography that a file does not tell, the coarsest first."""
    geography = store.schema.geography
    if geography is None:
        return ()
    kept = [each.level for each in design.geographies if each.source.name == geography.name]
    told = np.zeros(len(geography.codes), dtype=np.int64)
    if kept:
        told, _ = common_refinement(kept)
    hidden = []
    for level in geography.plain_levels:
        if len(level.codes) < 2 or any(own.refines(level) for own in kept):
            continue
        pairs = told * len(level.codes) + level.group_array
        areas, part = np.unique(pairs, return_inverse=True)
        hidden.append(HiddenLevel(level, part, areas // len(level.codes), areas % len(level.codes)))
    return tuple(sorted(hidden, key=lambda each: each.told.size))
