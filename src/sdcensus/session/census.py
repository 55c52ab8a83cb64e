"""An opened census: ask it for tables, on whichever engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from sdcensus.documents.schema import read_schema
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import SpecError, StoreError
from sdcensus.ingest.frame import records_from_frame
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.entity import Entity
from sdcensus.model.key_space import KeySpace
from sdcensus.model.options import option
from sdcensus.model.problems import OnProblem
from sdcensus.model.schema import Schema
from sdcensus.model.secret import Secret
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table_spec import Measure, TableSpec
from sdcensus.session.loading import find_secret
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

    __slots__ = ("_engines", "_store", "_threads", "schema")

    def __init__(
        self,
        schema: Schema,
        store: RecordSource | None = None,
        *,
        engines: Mapping[EngineName, Engine] | None = None,
        threads: int | None = None,
    ) -> None:
        self.schema = schema
        self._store = store
        self._threads = threads or default_threads()
        self._engines = dict(engines or {})

    def __repr__(self) -> str:
        return f"<Census {self.schema.census.name!r}: confidential>"

    @property
    def store(self) -> CensusStore:
        """The encoded census itself, where it lies on disk."""
        if not isinstance(self._store, CensusStore):
            raise StoreError("This census was not loaded; it has no store on disk.")
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
        sums: str | Sequence[str] = (),
        households: bool = False,
        engine: str | EngineName | None = None,
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
            engine: ``memory`` (for a store) or ``duckdb``; the numbers are the same.
        """
        if len(by) == 1 and isinstance(by[0], TableSpec):
            spec = by[0]
            if (of, universe, measure) != (Entity.PERSON, None, Measure.COUNT):
                raise SpecError("A TableSpec says itself what is counted, of whom and how.")
        else:
            texts = [str(one) for one in by]
            spec = self.spec(*texts, of=of, universe=universe, measure=measure)
        names = (sums,) if isinstance(sums, str) else tuple(sums)
        request = Tabulate(spec=spec, weights=weights, sums=names, households=households)
        default = EngineName.DUCKDB if self._store is None else EngineName.MEMORY
        return self._engine(option(EngineName, "engine", engine or default)).tabulate(request)

    def _engine(self, name: EngineName) -> Engine:
        if name not in self._engines:
            if self._store is None:
                raise StoreError("These files were not loaded; only the engine duckdb reads them.")
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
    return Census(records.schema, records)


def open_store(path: str | Path) -> Census:
    """Open a census store that ``sdcensus load`` made."""
    store = CensusStore.open(Path(path))
    return Census(store.schema, store)


def open_files(
    schema: str | Path,
    *,
    secret: str | Path | Secret | None = None,
    on_problem: str | OnProblem = OnProblem.REFUSE,
    memory_limit: str | None = None,
) -> Census:
    """Tabulate the parquet and csv files of a schema without loading them, by DuckDB.

    For data larger than the disk has room for twice. Slower than a store, and the impossible
    combinations of the schema are not checked; the numbers are the same.

    Args:
        schema: The schema document.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        on_problem: ``refuse``, or ``missing`` to count values that do not fit as "not stated".
        memory_limit: How much memory DuckDB may take, such as ``"4GB"``.
    """
    threads = default_threads()
    engine = DuckdbEngine.over_files(
        read_schema(schema),
        secret if isinstance(secret, Secret) else find_secret(secret),
        on_problem=on_problem,
        threads=threads,
        memory_limit=memory_limit,
    )
    return Census(engine.schema, engines={EngineName.DUCKDB: engine}, threads=threads)


def default_threads() -> int:
    """As many threads as there are processors to run them, within reason."""
    return max(1, min(16, os.cpu_count() or 1))
