"""Spark: a census on a cluster, or more of it than one machine can hold.

Executors read the columns of an exported census, combine the records of each finest cell, and send
those cells to the driver; nothing else leaves them. No Python runs there, so they need no library
of ours. Margins are made on the driver, in the same way as for every other engine. What Spark says
in an error may quote a value, so its words are never passed on.
"""

from __future__ import annotations

import itertools
import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sdcensus.engine.finest import check_complete, cube_of, finest_plan, parquet_source
from sdcensus.engine.requests import SUM_TOO_LARGE, Can, Tabulate, check_ability, needs_of
from sdcensus.engine.spark_session import request_session
from sdcensus.engine.sql import SPARK, finest_query
from sdcensus.errors import EngineError, SdcensusError, SpecError, StoreError
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube, check_size
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.store.manifest import MANIFEST_FILE, SCHEMA_FILE
from sdcensus.store.parquet_census import ParquetCensus, is_address

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Where pyspark writes the errors of a query, with what they quote.
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_SPARK_TYPES = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT"}


class SparkEngine:
    """Tabulates an exported census on Spark.

    Args:
        census: The exported census.
        session: A session of Spark; else the active one; else a local one is started. The engine
            works in a session of its own beside it and changes none of its settings.
        largest_dense: Grids with more cells are kept as their non-empty cells.
    """

    name: ClassVar[str] = "spark"
    can: ClassVar[frozenset[Can]] = frozenset(Can)

    def __init__(
        self,
        census: ParquetCensus,
        *,
        session: SparkSession | None = None,
        largest_dense: int = LARGEST_DENSE_GRID,
    ) -> None:
        self._census = census
        self._session = request_session(session)
        self._largest_dense = largest_dense
        self._lock = threading.Lock()
        self._requests = itertools.count()
        self._views: dict[Entity, str] = {}

    def __repr__(self) -> str:
        return f"<SparkEngine over {self._census!r}>"

    @classmethod
    def over_parquet(
        cls,
        folder: str | Path,
        *,
        session: SparkSession | None = None,
        verify: bool = False,
        largest_dense: int = LARGEST_DENSE_GRID,
    ) -> SparkEngine:
        """Tabulate the folder of an exported census, or the address of one.

        Args:
            folder: A folder that this machine and every executor see under the same name, or an
                address that Spark understands: ``hdfs://…``, ``s3a://…``.
            session: A session of Spark; else the active one; else a local one is started.
            verify: Compare every file of a folder with its digest first.
            largest_dense: Grids with more cells are kept as their non-empty cells.
        """
        if not is_address(folder):
            census = ParquetCensus.open(Path(folder), verify=verify)
        elif verify:
            raise SpecError("Only the files of a folder of this machine can be verified.")
        else:
            census = _fetched(str(folder), request_session(session))
        return cls(census, session=session, largest_dense=largest_dense)

    @property
    def census(self) -> ParquetCensus:
        """The exported census."""
        return self._census

    @property
    def schema(self) -> Schema:
        """The schema for which tables are to be made."""
        return self._census.schema

    @property
    def origin(self) -> Origin:
        """Where its numbers come from."""
        return self._census.origin

    def tabulate(self, request: Tabulate) -> AnyCube:
        """The cube of a table."""
        check_ability(self, request)
        spec = request.spec
        check_size(spec)
        needs = needs_of(request, self._census.schema)
        with _our_words(), self._relations() as relations:
            view = self._records(spec.of)
            source = parquet_source(self._census, request, needs, view, SPARK)
            plan = finest_plan(
                relations.register, source, request, needs, self.origin, prefix=relations.prefix
            )
            rows = self._session.sql(finest_query(plan, SPARK)).toArrow()
        check_complete(rows, request, self._census.rows(spec.of))
        return cube_of(rows, request, needs, plan, self.origin, largest_dense=self._largest_dense)

    def _records(self, entity: Entity) -> str:
        """The files of a kind as a relation; Spark looks at them when it is first asked."""
        with self._lock:
            if entity not in self._views:
                dataset = self._census.dataset(entity)
                types = (
                    f"{SPARK.name(column.name)} {_SPARK_TYPES[column.type]}"
                    for column in dataset.columns()
                )
                files = [_literal(file) for file in self._census.files(entity)]
                frame = self._session.read.schema(", ".join(types)).parquet(*files)
                name = f"records_{entity.value}_{id(self):x}"
                frame.createOrReplaceTempView(name)
                self._views[entity] = SPARK.name(name)
            return self._views[entity]

    @contextmanager
    def _relations(self) -> Iterator[_Relations]:
        """Small relations for one request, forgotten after it."""
        relations = _Relations(self._session, f"request_{next(self._requests)}_")
        try:
            yield relations
        finally:
            relations.forget()


class _Relations:
    """Relations of a request, sent to every executor whole."""

    def __init__(self, session: SparkSession, prefix: str) -> None:
        self._session = session
        self._names: list[str] = []
        self.prefix = prefix

    def register(self, name: str, columns: Mapping[str, Sequence[int]]) -> None:
        from pyspark.sql.functions import broadcast

        frame = self._session.sql(small_relation(columns))
        broadcast(frame).createOrReplaceTempView(name)
        self._names.append(name)

    def forget(self) -> None:
        # Where Spark has ended there is nothing left to forget.
        with suppress(Exception):
            for name in self._names:
                self._session.catalog.dropTempView(name)


def small_relation(columns: Mapping[str, Sequence[int]]) -> str:
    """A query whose rows are columns of integers that travel in its text.

    A frame made from Python would pass through a file or a socket, and keep a task waiting for it.
    """
    arrays = (
        f"from_json('{json.dumps(list(column))}', 'array<bigint>')" for column in columns.values()
    )
    names = ", ".join(SPARK.name(column) for column in columns)
    return f"SELECT inline(arrays_zip({', '.join(arrays)})) AS ({names})"


def _fetched(location: str, session: SparkSession) -> ParquetCensus:
    """Manifest and schema of an exported census that lies where only Spark can reach."""
    texts = {}
    for name in (MANIFEST_FILE, SCHEMA_FILE):
        with _our_words():
            path = _literal(f"{location.rstrip('/')}/{name}")
            (row,) = session.read.format("binaryFile").load(path).select("content").collect()
        try:
            texts[name] = bytes(row[0]).decode("utf-8")
        except UnicodeDecodeError:
            raise StoreError(
                f"{location}: {name} cannot be read. Export the census again."
            ) from None
    return ParquetCensus.from_texts(
        location, manifest=texts[MANIFEST_FILE], schema=texts[SCHEMA_FILE]
    )


def _literal(path: str) -> str:
    """A path in which no sign stands for others: Spark reads patterns."""
    return "".join(f"\\{sign}" if sign in "\\{}[]*?" else sign for sign in path)


@contextmanager
def _our_words() -> Iterator[None]:
    """Let every error of Spark leave in our words, and none into the log of the program."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with _unlogged():
        try:
            yield
        except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
            raise _explained(error) from None


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep pyspark from writing down the errors of this thread's queries."""
    from pyspark.logger import PySparkLogger

    thread = threading.get_ident()

    def keep(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(keep)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(keep)


def _explained(error: Exception) -> SdcensusError:
    """Our own words: those of Spark may quote a value."""
    said = ""
    with suppress(Exception):  # Java may have ended, and then nothing can be asked
        said = f"{error}\n{getattr(error, '_cause', '')}"
    if "ARITHMETIC_OVERFLOW" in said or "CAST_OVERFLOW" in said:
        return EngineError(SUM_TOO_LARGE)
    if "maxResultSize" in said:
        return EngineError(
            "The table has more finest cells than the driver of Spark accepts. Raise"
            " spark.driver.maxResultSize and the driver's memory, or take coarser axes."
        )
    if "OutOfMemory" in said or "MEMORY" in said:
        return EngineError(
            "Spark has too little memory. Raise spark.executor.memory and spark.driver.memory (for"
            " a local Spark: start sdcensus with PYSPARK_SUBMIT_ARGS='--driver-memory 8g"
            " pyspark-shell'), or take coarser axes."
        )
    if any(sign in said for sign in ("PATH_NOT_FOUND", "FileNotFound", "FAILED_READ_FILE")):
        return StoreError(
            "Spark cannot read the exported census. Every executor must reach the folder under the"
            " same name: put it on storage that all machines of the cluster share, complete with"
            " manifest.json and schema.json."
        )
    if "No space left" in said:
        return EngineError("A disk that Spark writes temporary files to is full (spark.local.dir).")
    return EngineError(f"Spark could not answer the request ({type(error).__name__}).")
