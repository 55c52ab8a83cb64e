"""An opened census: ask it for tables, on whichever engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import StoreError
from sdcensus.ingest.frame import records_from_frame
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.entity import Entity
from sdcensus.model.key_space import KeySpace
from sdcensus.model.schema import Schema
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table_spec import Measure, TableSpec
from sdcensus.store.census_store import CensusStore
from sdcensus.store.column import RecordSource


class EngineName(StrEnum):
    """The engines that can answer for a store."""

    MEMORY = "memory"
    DUCKDB = "duckdb"


class Census(Confidential):
    """A census that can be asked for tables. Shows nothing of its records.

    Examples:
        >>> census = open_store("census.store")                     # doctest: +SKIP
        >>> census.tabulate("ed@parish", "sex", "age@five_year")    # doctest: +SKIP
        <Cube 17×3×22: confidential>
    """

    __slots__ = ("_engines", "_store", "_threads")

    def __init__(self, store: RecordSource, *, threads: int | None = None) -> None:
        self._store = store
        self._threads = threads or default_threads()
        self._engines: dict[EngineName, Engine] = {}

    def __repr__(self) -> str:
        return f"<Census {self._store.schema.census.name!r}: confidential>"

    @property
    def schema(self) -> Schema:
        """The variables, code lists and units of the census."""
        return self._store.schema

    @property
    def store(self) -> CensusStore:
        """The encoded census itself, where it lies on disk."""
        if not isinstance(self._store, CensusStore):
            raise StoreError("This census was made from a frame; it has no store on disk.")
        return self._store

    def spec(
        self,
        *by: str,
        of: str | Entity = Entity.PERSON,
        universe: str | None = None,
        measure: str | Measure = Measure.COUNT,
        name: str = "",
    ) -> TableSpec:
        """A table without its numbers, checked against the schema."""
        return TableSpec.build(
            self.schema, by, of=of, universe=universe, measure=measure, name=name
        )

    def tabulate(
        self,
        *by: str | TableSpec,
        of: str | Entity = Entity.PERSON,
        universe: str | None = None,
        measure: str | Measure = Measure.COUNT,
        weights: bool = False,
        sums: tuple[str, ...] = (),
        households: bool = False,
        engine: str | EngineName = EngineName.MEMORY,
    ) -> Cube | SparseCube:
        """True counts and cell keys of a table.

        Args:
            by: Axes, such as ``"ed@parish+district"`` or ``"sex-total"``; or one ``TableSpec``.
            of: What is counted: persons, families, households, dwellings, buildings.
            universe: A condition such as ``"age >= 15 and sex == 1"``.
            measure: ``count`` or ``weighted``.
            weights: Also sum the weights beside a count.
            sums: Continuous variables to sum as well.
            households: Also find which cells are made of one household.
            engine: ``memory`` or ``duckdb``; the numbers are the same.
        """
        if len(by) == 1 and isinstance(by[0], TableSpec):
            spec = by[0]
        else:
            texts = [str(one) for one in by]
            spec = self.spec(*texts, of=of, universe=universe, measure=measure)
        request = Tabulate(spec=spec, weights=weights, sums=tuple(sums), households=households)
        return self._engine(EngineName(engine)).tabulate(request)

    def _engine(self, name: EngineName) -> Engine:
        if name not in self._engines:
            if name is EngineName.MEMORY:
                self._engines[name] = MemoryEngine(self._store, threads=self._threads)
            else:
                self._engines[name] = DuckdbEngine.over_store(self.store, threads=self._threads)
        return self._engines[name]


def from_frame(
    frame: object,
    *,
    key: str,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    of: str | Entity = Entity.PERSON,
    key_space: KeySpace | None = None,
) -> Census:
    """A census from a data frame with a column of record keys, for notebooks.

    Code lists are what stands in the columns: good for exploring, not for publishing.
    """
    records = records_from_frame(
        frame, key=key, variables=variables, weight=weight, of=of, key_space=key_space
    )
    return Census(records)


def open_store(path: str | Path) -> Census:
    """Open a census store that ``sdcensus load`` made."""
    return Census(CensusStore.open(Path(path)))


def default_threads() -> int:
    """As many threads as there are processors to run them, within reason."""
    return max(1, min(16, os.cpu_count() or 1))
