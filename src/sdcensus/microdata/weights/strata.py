"""Strata of units: by the area in which they lie and by how many persons they hold."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.records.weights import held_counts
from sdcensus.microdata.holders import holder_rows
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column

Integers = npt.NDArray[Any]

#: The word for the whole country instead of a level of areas.
WHOLE = "total"
#: The classes of sizes that the method was published with.
USUAL_SIZES = "1,2,3,4,5+"
_SIZES = re.compile(r"(\d+)(?:-(\d+))?(\+)?")
#: Sizes beyond this are no classes of households.
_LARGEST_SIZE = 1000


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Classes of sizes, in ascending order; units that hold nobody are a class before the first.

    Attributes:
        labels: How they are written, the empty ones first.
        of_size: For each size the number of its class; the last holds for all larger ones.
    """

    labels: tuple[str, ...]
    of_size: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> SizeClasses:
        """Read classes such as ``1,2,3-4,5+``.

        Examples:
            >>> SizeClasses.parse("1,2-3,4+")
            SizeClasses(labels=('0', '1', '2-3', '4+'), of_size=(0, 1, 2, 2, 3))
        """
        labels, of_size = ["0"], [0]
        parts = [part.strip() for part in text.split(",")]
        for at, part in enumerate(parts):
            match = _SIZES.fullmatch(part)
            last = at == len(parts) - 1
            low = int(match[1]) if match else -1
            high = int(match[2]) if match and match[2] else low
            open_end = bool(match and match[3])
            sound = low == len(of_size) and low <= high < _LARGEST_SIZE and open_end == last
            if not sound or (open_end and match is not None and match[2]):
                raise SpecError(
                    f"The classes of sizes {text!r} cannot be read. Write every size once, from 1"
                    f" on, the last with +: {USUAL_SIZES}, or 1,2,3-4,5+."
                )
            labels.append(part)
            of_size += [at + 1] * (high - low + 1)
        return cls(tuple(labels), tuple(of_size))


@dataclass(frozen=True, eq=False, repr=False)
class Strata(Confidential):
    """The strata of the units of one kind.

    Attributes:
        unit: The kind.
        labels: The classes of sizes; one alone where sizes are not known.
        size_class: For each unit the number of its class.
        area: For each unit the number of its area.
        areas: How many areas there are.
        level: The level of the areas, or ``total``.
    """

    unit: Entity
    labels: tuple[str, ...]
    size_class: Integers
    area: Integers | None
    areas: int
    level: str

    def __repr__(self) -> str:
        return f"<Strata of {self.unit.plural}: confidential>"

    @cached_property
    def number(self) -> Integers:
        """For each unit the number of its stratum: areas in their order, sizes within."""
        if self.area is None:
            return self.size_class
        numbers = self.area.astype(np.uint32)
        numbers *= np.uint32(len(self.labels))
        numbers += self.size_class
        return numbers

    @cached_property
    def sizes(self) -> Integers:
        """How many units each stratum has; empty ones included."""
        return held_counts(self.number, self.areas * len(self.labels)).astype(np.int64)

    @property
    def classes(self) -> Integers:
        """For each stratum the number of its class of sizes."""
        return np.tile(np.arange(len(self.labels)), self.areas)


def strata_of(records: CensusStore, unit: Entity, level: str, sizes: str) -> Strata:
    """Put the units of a kind into strata.

    Args:
        records: The store.
        unit: The kind.
        level: The level of the geography; ``total`` for the whole country, empty for the finest.
        sizes: The classes of how many persons they hold; empty for the usual ones.
    """
    schema = records.schema
    labels: tuple[str, ...] = ("",)
    size_class: Integers = np.zeros(records.rows(unit), dtype=np.uint8)
    if unit is not Entity.PERSON and _holds(records, unit, Entity.PERSON):
        classes = SizeClasses.parse(sizes or USUAL_SIZES)
        held = held_counts(holder_rows(records, Entity.PERSON, unit), records.rows(unit))
        np.minimum(held, np.uint32(len(classes.of_size) - 1), out=held)
        labels = classes.labels
        size_class = np.array(classes.of_size, dtype=np.uint8)[held]
    elif sizes:
        raise SpecError(
            f"The census does not say which persons {unit.plural} hold, so they have no sizes."
            " Leave --sizes out."
        )
    area, areas, shown = _areas(records, schema, unit, level)
    return Strata(unit, labels, size_class, area, areas, shown)


def _areas(
    records: CensusStore, schema: Schema, unit: Entity, level: str
) -> tuple[Integers | None, int, str]:
    geography = schema.geography
    known = geography is not None and schema.path(unit, geography.entity) is not None
    if level == WHOLE or (not level and not known):
        return None, 1, WHOLE
    if geography is None or not known:
        which = "no geography" if geography is None else f"areas of {geography.entity.plural} only"
        raise SpecError(
            f"The census has {which}, so {unit.plural} have no level {level!r}. Say --level"
            f" {WHOLE}, for the whole country."
        )
    chosen = geography.level(level or None)
    leaves = records.column(unit, geography)[slice(0, records.rows(unit))]
    group = chosen.group_array.astype(np.uint32)
    return group[leaves], len(chosen.codes), chosen.name


def _holds(records: CensusStore, unit: Entity, kind: Entity) -> bool:
    kinds = [spec.entity for spec in records.schema.entities]
    if kind not in kinds:
        return False
    path = records.schema.path(kind, unit)
    steps = [kind, *(path or ())]
    pairs = itertools.pairwise(steps)
    return path is not None and all(
        records.has(child, link_column(parent)) for child, parent in pairs
    )
