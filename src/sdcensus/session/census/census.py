"""An opened census: ask it for tables, on whichever engine."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import SpecError, StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.file_problems import OnProblem
from sdcensus.model.schema.schema import KeySpace, Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.vocabulary import EngineName as EngineName, option
from sdcensus.session.census.secret_file import find_secret
from sdcensus.store.census_store import CensusStore, RecordSource
from sdcensus.store.parquet_census import ParquetCensus, is_address, is_exported
from sdcensus.store.people import PeopleMark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sdcensus.ingest.load import LoadReport


def load(
    schema: str | Path,
    out: str | Path,
    *,
    secret: str | Path | Secret | None = None,
    on_problem: str | OnProblem = OnProblem.REFUSE,
    replace: bool = False,
    report: str | Path | None = None,
    language: str | None = None,
    propose: bool = False,
    progress: Progress = no_progress,
) -> LoadReport:
    """Load the files that a schema describes into a store.

    Args:
        schema: The schema document.
        out: Where the store will stand.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        on_problem: ``refuse``, or ``missing`` to count values that do not fit as "not stated".
        replace: Put the new store in the place of an older one.
        report: A file for the confidential report on the load, ``.html`` or ``.txt``.
        language: Of that report.
        propose: Look for identities between units that the schema does not declare.
        progress: Called with the stage and how much of it is done.
    """
    # Here and not above: whoever looks for the secret does not load a census.
    from sdcensus.documents.schema.document import read_schema

    if report is not None:
        from sdcensus.session.census.load_report import LoadReporting

        place = LoadReporting(Path(out), Path(report), language=language, replace=replace)
        return place.load(
            schema, secret=secret, on_problem=on_problem, propose=propose, progress=progress
        ).report

    return load_schema(
        read_schema(Path(schema)),
        Path(schema).parent,
        Path(out),
        secret=secret,
        on_problem=on_problem,
        replace=replace,
        propose=propose,
        progress=progress,
    )


def load_schema(
    schema: Schema,
    folder: Path,
    out: Path,
    *,
    secret: str | Path | Secret | None,
    on_problem: str | OnProblem,
    replace: bool,
    propose: bool,
    progress: Progress,
    finish: Callable[[LoadReport, CensusStore], None] = lambda *_: None,
) -> LoadReport:
    """Load the files of a schema that was read from a document in ``folder``."""
    from sdcensus.ingest.load import load_census, read_maps

    return load_census(
        schema,
        out,
        secret=find_secret(secret),
        on_problem=OnProblem.parse(on_problem),
        replace=replace,
        maps=read_maps(schema, folder),
        propose=propose,
        finish=finish,
        progress=progress,
    )


class Census(Confidential):
    """A census that can be asked for tables. Shows nothing of its records.

    Examples:
        >>> census = open_store("census.store")                     # doctest: +SKIP
        >>> census.tabulate("ed@parish", "sex", "age@five_year")    # doctest: +SKIP
        <Cube 17×3×22: confidential>
    """

    __slots__ = (
        "_default",
        "_engines",
        "_lock",
        "_memory_limit",
        "_parquet",
        "_store",
        "_threads",
        "schema",
    )

    def __init__(
        self,
        schema: Schema,
        store: RecordSource | None = None,
        *,
        parquet: ParquetCensus | None = None,
        engines: Mapping[EngineName, Engine] | None = None,
        default: EngineName | None = None,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self.schema = schema
        self._store = store
        self._parquet = parquet
        self._threads = threads or default_threads()
        self._memory_limit = memory_limit
        self._engines = dict(engines or {})
        self._default = default or (EngineName.DUCKDB if store is None else EngineName.MEMORY)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Census {self.schema.census.name!r}: confidential>"

    @property
    def store(self) -> CensusStore:
        """The encoded census itself, where it lies on disk."""
        if not isinstance(self._store, CensusStore):
            raise StoreError("This census was not loaded; it has no store on disk.")
        return self._store

    @property
    def kept_store(self) -> CensusStore | None:
        """The store behind this census; ``None`` where there is none."""
        return self._store if isinstance(self._store, CensusStore) else None

    @property
    def records(self) -> RecordSource | None:
        """Its encoded records; ``None`` where only an engine can read them. Confidential."""
        return self._store

    def verify(self, progress: Progress = no_progress) -> None:
        """Compare all of its store or export with the digests, once, before much is computed."""
        if isinstance(self._store, CensusStore):
            self._store.verify_once(progress)
        if self._parquet is not None:
            self._parquet.verify_once(progress)

    def map(self, variable: str, level: str | None = None) -> dict[str, Any] | None:
        """The areas of a level of a geography as GeoJSON. Public.

        Args:
            variable: The geography.
            level: One of its levels; the finest when none is named.

        Returns:
            One feature for each area, with its code, in the coordinates of the map, whose system
            is named in ``crs``; ``None`` where there is no map.
        """
        from sdcensus.session.census.maps import area_map

        return area_map(self, variable, level or self.schema.variable(variable).leaf_level)

    @property
    def origin(self) -> Origin:
        """Where its numbers come from: which data, which keys."""
        for source in (self._store, self._parquet):
            if source is not None:
                return source.origin
        return self._engine(self._default).origin

    @property
    def people(self) -> PeopleMark | None:
        """The mark of its people, which a store computes; ``None`` where it cannot be known."""
        from sdcensus.store.people import people_mark

        if isinstance(self._store, CensusStore):
            return people_mark(self._store)
        return None if self._parquet is None else PeopleMark.parse(self._parquet.manifest.people)

    @property
    def default_engine(self) -> EngineName:
        """Which engine answers unless another is asked for."""
        return self._default

    def rows(self, of: str | Entity = Entity.PERSON) -> int | None:
        """How many records of a kind there are; ``None`` if files were not loaded. Confidential."""
        entity = Entity.parse(of)
        for source in (self._store, self._parquet):
            if source is not None:
                return source.rows(entity)
        return None

    def spec(
        self,
        *by: str,
        of: str | Entity = Entity.PERSON,
        universe: str | None = None,
        measure: str | Measure | None = Measure.COUNT,
        name: str = "",
    ) -> TableSpec:
        """A table without its numbers, checked against the schema; ``None`` is its own measure."""
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
        contributions: ContributionNeeds | None = None,
        replicates: bool = False,
        engine: str | EngineName | None = None,
    ) -> AnyCube:
        """True counts and cell keys of a table.

        Args:
            by: Axes, such as ``"ed@parish+district"`` or ``"sex-total"``; or one ``TableSpec``.
            of: What is counted: persons, families, households, dwellings, buildings.
            universe: A condition such as ``"age >= 15 and sex == 1"``.
            measure: ``count``, ``weighted``, ``sum(VARIABLE)`` or ``weighted-sum(VARIABLE)``.
            weights: Also sum the weights beside a count.
            sums: Continuous variables to sum as well.
            households: Also find which cells are made of one household.
            contributions: What is kept of the contributions to a sum; by default everything.
            replicates: Also what random groups of households add to an estimate: sampling errors.
            engine: ``memory`` (for a store), ``duckdb`` or ``spark``; the numbers are the same.
        """
        if len(by) == 1 and isinstance(by[0], TableSpec):
            spec = by[0]
            if (of, universe, measure) != (Entity.PERSON, None, Measure.COUNT):
                raise SpecError("A TableSpec says itself what is counted, of whom and how.")
        else:
            spec = self.spec(*map(str, by), of=of, universe=universe, measure=measure)
        request = Tabulate(
            spec=spec,
            weights=weights,
            sums=(sums,) if isinstance(sums, str) else tuple(sums),
            households=households,
            contributions=contributions,
            replicates=replicates,
        )
        return self.engine(engine).tabulate(request)

    def engine(self, name: str | EngineName | None = None, *, threads: int | None = None) -> Engine:
        """Who answers for the records.

        Args:
            name: ``memory`` (for a store, and by default for one), ``duckdb`` or ``spark``.
            threads: How many threads it uses; only the engine ``memory`` can be asked for others
                than those of the census.
        """
        chosen = option(EngineName, "engine", name or self._default)
        own = threads not in (None, self._threads)
        if own and chosen is EngineName.MEMORY and self._store is not None:
            return MemoryEngine(self._store, threads=threads or self._threads)
        return self._engine(chosen)

    def _engine(self, name: EngineName) -> Engine:
        with self._lock:
            if name not in self._engines:
                self._engines[name] = self._made(name)
            return self._engines[name]

    def _made(self, name: EngineName) -> Engine:
        if name is EngineName.MEMORY and self._store is not None and self._parquet is None:
            return MemoryEngine(self._store, threads=self._threads)
        # Here and not above: most of those who open a census need one engine, and not these.
        from sdcensus.engine.duckdb import DuckdbEngine
        from sdcensus.engine.spark import SparkEngine
        from sdcensus.session.census.export import spark_over_store

        threads, limit = self._threads, self._memory_limit
        if self._parquet is not None:
            if name is EngineName.SPARK:
                return SparkEngine(self._parquet)
            if name is EngineName.DUCKDB and not is_address(self._parquet.location):
                return DuckdbEngine.over_parquet(self._parquet, threads=threads, memory_limit=limit)
            raise StoreError(
                f"The engine {name} does not read {self._parquet.location}: an exported census in a"
                " folder of this machine is read by the engines duckdb and spark, one at an address"
                " by spark. Choose with --engine or engine=."
            )
        if self._store is None:
            raise StoreError("These files were not loaded; only the engine duckdb reads them.")
        if name is EngineName.DUCKDB:
            return DuckdbEngine.over_store(self.store, threads=threads, memory_limit=limit)
        return spark_over_store(self.store)


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
    from sdcensus.ingest.frame import records_from_frame

    records = records_from_frame(
        frame, key=key, variables=variables, weight=weight, of=of, key_space=key_space
    )
    return Census(records.schema, records)


def open_store(path: str | Path, *, memory_limit: str | None = None) -> Census:
    """Open a census store that ``sdcensus load`` made.

    Each column is compared with its digest before it is first used.

    Args:
        path: The folder of the store.
        memory_limit: How much memory the engine duckdb may take, such as ``"4GB"``.
    """
    store = CensusStore.open(Path(path), verify=True)
    return Census(store.schema, store, memory_limit=memory_limit)


def open_parquet(
    folder: str | Path,
    *,
    engine: str | EngineName = EngineName.DUCKDB,
    memory_limit: str | None = None,
    verify: bool = False,
    session: SparkSession | None = None,
) -> Census:
    """Open an exported census, for Spark or for DuckDB.

    Args:
        folder: The folder that ``sdcensus export`` made; for Spark also an address of one, such
            as ``hdfs://names/census``.
        engine: ``spark`` or ``duckdb``: which one answers unless another is asked for.
        memory_limit: How much memory DuckDB may take, such as ``"4GB"``.
        verify: Compare every file of a folder with its digest now, not when it is first read.
        session: The Spark session to work beside; else the active one, else a local one.
    """
    from sdcensus.engine.spark import SparkEngine

    chosen = option(EngineName, "engine", engine)
    if chosen is EngineName.MEMORY:
        raise SpecError("The engine memory reads stores only. Take duckdb or spark.")
    engines: dict[EngineName, Engine] = {}
    if chosen is EngineName.SPARK and is_address(folder):
        spark = SparkEngine.over_parquet(folder, session=session, verify=verify)
        parquet, engines[chosen] = spark.census, spark
    elif is_address(folder):
        raise SpecError(
            f"{folder}: the engine {chosen} reads folders of this machine only. Take the engine"
            " spark, or mount the storage."
        )
    else:
        parquet = ParquetCensus.open(Path(folder), verify=verify, before_use=True)
        if session is not None:
            engines[EngineName.SPARK] = SparkEngine(parquet, session=session)
    return Census(
        parquet.schema,
        parquet=parquet,
        engines=engines,
        default=chosen,
        memory_limit=memory_limit,
    )


def open_census(path: str | Path) -> Census:
    """Open a store, or a census that was exported from one.

    Args:
        path: The folder that ``sdcensus load`` or ``sdcensus export`` made.
    """
    if is_address(path) or is_exported(Path(path)):
        return open_parquet(path, engine=EngineName.SPARK if is_address(path) else "duckdb")
    return open_store(path)


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
    from sdcensus.documents.schema.document import read_schema
    from sdcensus.engine.duckdb import DuckdbEngine

    threads = default_threads()
    engine = DuckdbEngine.over_files(
        read_schema(schema),
        find_secret(secret),
        on_problem=on_problem,
        threads=threads,
        memory_limit=memory_limit,
    )
    return Census(engine.schema, engines={EngineName.DUCKDB: engine}, threads=threads)


def default_threads() -> int:
    """As many threads as there are processors to run them, within reason."""
    return max(1, min(16, os.cpu_count() or 1))
