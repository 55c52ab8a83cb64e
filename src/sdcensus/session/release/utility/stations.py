"""The census and a file as columns of the same variables: what measures of utility compare."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.release.records import NO_HOLDER, WEIGHT_DECIMALS, FileRecords
from sdcensus.microdata.release.weights import census_weight
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Entity
from sdcensus.session.release.columns import told_codes
from sdcensus.store.census_store import CensusStore
from sdcensus.utility.records.pairs import PairColumns
from sdcensus.utility.records.sampling_error import Clusters

Integers = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]

#: Two-way tables with more cells are counted anew for each design.
MOST_KEPT = 20_000


class Station(Confidential, ABC):
    """Records on their way from the census to a file: columns by variable and kind of unit.

    Columns are asked for many times, pair by pair: they are kept, as narrow as their codes allow.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[tuple[str, ...], Any] = {}

    def _keep(self, key: tuple[str, ...], column: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = column()
        return self._kept[key]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: confidential>"

    def codes(self, variable: FileVariable, entity: Entity) -> Integers:
        """The position of the file's code for each record of a kind; -1 where there is no holder.

        A person has the variables of the household.
        """

        def codes() -> Integers:
            own = self._own_codes(variable)
            if variable.entity is not entity:
                own = _of_holders(own, self._holders(), NO_HOLDER)
            return _narrow(own, len(variable.level.codes))

        column: Integers = self._keep(("codes", variable.name, entity.value), codes)
        return column

    def amounts(self, variable: FileVariable, entity: Entity) -> Integers:
        """The fixed-point number of each record of a kind, likewise."""
        own = self._own_amounts(variable)
        return own if variable.entity is entity else _of_holders(own, self._holders(), NO_VALUE)

    def groups(self, entity: Entity) -> Integers:
        """The household of each record; those without any are groups of their own."""
        size = self.weights(entity).size
        if entity is not Entity.PERSON or not self._has_households():
            return np.arange(size)
        holders = self._holders()
        # Numbers below 0 are those of no household.
        return np.where(holders == NO_HOLDER, -1 - np.arange(size), holders)

    def weights(self, entity: Entity) -> Float64:
        """The weight of each record of a kind."""
        weights: Float64 = self._keep(("weights", entity.value), lambda: self._weights(entity))
        return weights

    def _holders(self) -> Integers:
        holders: Integers = self._keep(("holders",), self._own_holders)
        return holders

    @abstractmethod
    def _weights(self, entity: Entity) -> Float64: ...

    @abstractmethod
    def _own_codes(self, variable: FileVariable) -> Integers: ...

    @abstractmethod
    def _own_amounts(self, variable: FileVariable) -> Integers: ...

    @abstractmethod
    def _own_holders(self) -> Integers:
        """The place of each person's household, -1 for none."""

    @abstractmethod
    def _has_households(self) -> bool: ...


class CensusStation(Station):
    """All records of the census, with the codes of a file.

    Args:
        store: The census.
        plan: Says which weight of the census counts.
    """

    __slots__ = ("_plan", "_store")

    def __init__(self, store: CensusStore, plan: ReleasePlan) -> None:
        super().__init__()
        self._store = store
        self._plan = plan

    def own_weights(self, entity: Entity) -> Float64 | None:
        """The census' own weights where a file multiplies them in."""
        if census_weight(self._store.schema, self._plan.making, entity) is None:
            return None
        return self.weights(entity)

    def _weights(self, entity: Entity) -> Float64:
        """The census' own weights where a file multiplies them in, else ones."""
        weight = census_weight(self._store.schema, self._plan.making, entity)
        if weight is None:
            return np.ones(self._store.rows(entity))
        values = self._store.values(entity, weight)[slice(None)]
        return np.asarray(values / 10.0**weight.decimals, dtype=np.float64)

    def leaves(self, variable: FileVariable, entity: Entity) -> Integers:
        """The position of the census' own code for each record of a kind."""

        def leaves() -> Integers:
            own = self._store.column(variable.entity, variable.source)[slice(None)]
            if variable.entity is not entity:
                own = _of_holders(own, self._holders(), NO_HOLDER)
            return _narrow(own, len(variable.source.codes))

        column: Integers = self._keep(("leaves", variable.source.name, entity.value), leaves)
        return column

    def finest_table(
        self, first: FileVariable, second: FileVariable, entity: Entity
    ) -> Float64 | None:
        """The two-way table with the census' own codes; ``None`` where it would be too large.

        Small ones are kept: they serve all designs.
        """
        sizes = (len(first.source.codes), len(second.source.codes))

        def table() -> Float64 | None:
            codes = (self.leaves(first, entity), self.leaves(second, entity))
            return PairColumns(*codes, sizes, self.own_weights(entity)).table()

        if sizes[0] * sizes[1] > MOST_KEPT:
            return table()
        names = ("table", first.source.name, second.source.name, entity.value)
        kept: Float64 | None = self._keep(names, table)
        return kept

    def _own_codes(self, variable: FileVariable) -> Integers:
        return told_codes(self._store, variable.entity, variable)

    def _own_amounts(self, variable: FileVariable) -> Integers:
        return np.asarray(self._store.values(variable.entity, variable.source)[slice(None)])

    def _own_holders(self) -> Integers:
        rows = np.asarray(self._store.household_rows(Entity.PERSON)[slice(None)])
        return np.where(rows == NO_ROW, NO_HOLDER, rows.astype(np.int64))

    def _has_households(self) -> bool:
        schema = self._store.schema
        kinds = {spec.entity for spec in schema.entities}
        return {Entity.PERSON, Entity.HOUSEHOLD} <= kinds and bool(
            schema.path(Entity.PERSON, Entity.HOUSEHOLD)
        )


class RecordsStation(Station):
    """The records of a file, before or after they were changed."""

    __slots__ = ("_records",)

    def __init__(self, records: FileRecords) -> None:
        super().__init__()
        self._records = records

    def _weights(self, entity: Entity) -> Float64:
        """The weights of the file."""
        weights = self._records.sample.weights[entity]
        return np.asarray(weights / 10.0**WEIGHT_DECIMALS, dtype=np.float64)

    def _own_codes(self, variable: FileVariable) -> Integers:
        return np.asarray(self._records.codes[variable.name])

    def _own_amounts(self, variable: FileVariable) -> Integers:
        return np.asarray(self._records.amounts[variable.name])

    def _own_holders(self) -> Integers:
        return np.asarray(self._records.holders[Entity.PERSON, Entity.HOUSEHOLD])

    def _has_households(self) -> bool:
        return (Entity.PERSON, Entity.HOUSEHOLD) in self._records.holders

    def clusters(self, entity: Entity) -> Clusters:
        """Who was drawn together, along the list that the sample was drawn from.

        Lists are sorted by area. Where the units that are drawn have no area, the order of the
        list means nothing.
        """
        records = self._records
        unit = records.design.unit if entity is not Entity.HOUSEHOLD else Entity.HOUSEHOLD
        if unit is Entity.HOUSEHOLD and entity is Entity.PERSON and not self._has_households():
            unit = Entity.PERSON
        rank, along_list = self._list_places(unit)
        weights = self.weights(entity)
        cluster, count = rank, rank.size
        if unit is not entity:
            holders = self._holders()
            alone = holders == NO_HOLDER
            cluster = np.where(alone, 0, rank[holders] if rank.size else 0)
            cluster[alone] = rank.size + np.arange(int(alone.sum()))
            count = rank.size + int(alone.sum())
        return Clusters(
            cluster=cluster,
            count=count,
            weights=weights,
            fraction=float(records.design.design.fraction),
            along_list=along_list,
        )

    def _list_places(self, unit: Entity) -> tuple[Integers, bool]:
        """For each unit of the sample its place in a list by area, and whether there are areas."""
        store, rows = self._records.store, self._records.sample.rows[unit]
        area = store.schema.geography
        if area is None or area.entity not in store.schema.lineage(unit):
            return np.arange(rows.size), False
        order = np.argsort(store.column(unit, area)[rows], kind="stable")
        rank = np.empty(rows.size, dtype=np.int64)
        rank[order] = np.arange(rows.size)
        return rank, True


def _narrow(codes: Integers, size: int) -> Integers:
    """Codes that may be -1 in two bytes where they fit."""
    return codes.astype(np.int16 if size < 1 << 15 else np.int32)


def _of_holders(values: Integers, holders: Integers, absent: int) -> Integers:
    if not values.size:
        return np.full(holders.size, absent, dtype=np.int64)
    inherited = values[holders].astype(np.int64)
    return np.where(holders == NO_HOLDER, absent, inherited)
