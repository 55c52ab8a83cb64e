"""DuckDB: a store larger than memory, and files that are never loaded.

A connection lives as long as one request. It has a private folder to spill to, downloads nothing
and sees no variables of the calling program. What DuckDB says in an error may quote a row of the
file, so its words are never passed on.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sdcensus.engine.finest import check_complete, cube_of, finest_plan, parquet_source
from sdcensus.engine.raw_records import FileRecords
from sdcensus.engine.records import QuerySource, Records, StoreRecords, registering
from sdcensus.engine.requests import SUM_TOO_LARGE, Can, Needs, Tabulate, check_ability, needs_of
from sdcensus.engine.sql import DUCKDB, finest_query
from sdcensus.errors import EngineError, InputError, SdcensusError
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube, check_size
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.store.census_store import RecordSource
from sdcensus.store.parquet_census import ParquetCensus

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_CSV_LINE = re.compile(r"CSV Error on Line: (\d+)")
_FILE = re.compile(r"^\s*file = (.+)$", re.MULTILINE)


class DuckdbEngine:
    """Tabulates a census store, an exported census, or parquet and csv files as they are.

    Made by ``over_store``, ``over_parquet`` or ``over_files``.
    """

    name: ClassVar[str] = "duckdb"
    can: ClassVar[frozenset[Can]] = frozenset(Can)

    def __init__(
        self,
        records: Records,
        *,
        threads: int = 2,
        memory_limit: str | None = None,
        largest_dense: int = LARGEST_DENSE_GRID,
    ) -> None:
        self._records = records
        self._threads = max(1, threads)
        self._memory_limit = memory_limit
        self._largest_dense = largest_dense

    def __repr__(self) -> str:
        return f"<DuckdbEngine over {self._records!r}>"

    @classmethod
    def over_store(
        cls,
        store: RecordSource,
        *,
        threads: int = 2,
        memory_limit: str | None = None,
        largest_dense: int = LARGEST_DENSE_GRID,
    ) -> DuckdbEngine:
        """Tabulate a store.

        Args:
            store: The store.
            threads: How many threads to use.
            memory_limit: How much memory DuckDB may take, such as ``"4GB"``; it spills to disk.
            largest_dense: Grids with more cells are kept as their non-empty cells.
        """
        return cls(
            StoreRecords(store),
            threads=threads,
            memory_limit=memory_limit,
            largest_dense=largest_dense,
        )

    @classmethod
    def over_files(
        cls,
        schema: Schema,
        secret: Secret | None,
        *,
        on_problem: str = "refuse",
        threads: int = 2,
        memory_limit: str | None = None,
        largest_dense: int = LARGEST_DENSE_GRID,
    ) -> DuckdbEngine:
        """Tabulate the parquet and csv files of a schema without loading them.

        Args:
            schema: The census, with its files.
            secret: The office secret, from which record keys come; not needed where the files
                have a key column for everything that is counted.
            on_problem: ``refuse`` records that do not fit the schema, or count them as
                ``missing``; tables are then made for ``engine.schema``, in which every variable
                has a code for it.
            threads: How many threads to use.
            memory_limit: How much memory DuckDB may take, such as ``"4GB"``; it spills to disk.
            largest_dense: Grids with more cells are kept as their non-empty cells.
        """
        return cls(
            FileRecords(schema, secret, on_problem=on_problem),
            threads=threads,
            memory_limit=memory_limit,
            largest_dense=largest_dense,
        )

    @property
    def origin(self) -> Origin:
        """Where its numbers come from."""
        return self._records.origin

    @classmethod
    def over_parquet(
        cls,
        census: ParquetCensus,
        *,
        threads: int = 2,
        memory_limit: str | None = None,
        largest_dense: int = LARGEST_DENSE_GRID,
    ) -> DuckdbEngine:
        """Tabulate an exported census.

        Args:
            census: The exported census.
            threads: How many threads to use.
            memory_limit: How much memory DuckDB may take, such as ``"4GB"``; it spills to disk.
            largest_dense: Grids with more cells are kept as their non-empty cells.
        """
        return cls(
            ParquetRecords(census),
            threads=threads,
            memory_limit=memory_limit,
            largest_dense=largest_dense,
        )

    @property
    def schema(self) -> Schema:
        """The schema for which tables are to be made."""
        return self._records.schema

    def tabulate(self, request: Tabulate) -> AnyCube:
        """The cube of a table."""
        check_ability(self, request)
        spec = request.spec
        check_size(spec)
        needs = needs_of(request, self._records.schema)
        with connected(threads=self._threads, memory_limit=self._memory_limit) as connection:
            source = self._records.hand_over(connection, request, needs)
            plan = finest_plan(
                registering(connection), source, request, needs, self._records.origin
            )
            answer = connection.sql(finest_query(plan, DUCKDB), params=dict(source.parameters))
            rows = answer.to_arrow_table()
            self._records.check_unchanged()
        check_complete(rows, request, self._records.known_rows(spec.of))
        return cube_of(
            rows, request, needs, plan, self._records.origin, largest_dense=self._largest_dense
        )


@contextmanager
def connected(*, threads: int, memory_limit: str | None) -> Iterator[DuckDBPyConnection]:
    """A connection of its own for one request; every error of DuckDB leaves it in our words."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="sdcensus-", ignore_cleanup_errors=True) as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "threads": threads,
            "temp_directory": str(Path(folder) / "spill"),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
        }
        if memory_limit is not None:
            settings["memory_limit"] = memory_limit
        try:
            connection = duckdb.connect(":memory:", config=settings)
        except duckdb.Error:
            raise EngineError(
                f"DuckDB does not understand its settings (memory limit {memory_limit!r})."
                " Write the limit as a number with a unit, such as '4GB'."
            ) from None
        try:
            yield connection
        except duckdb.Error as error:
            raise _explained(error, duckdb, memory_limit) from None
        finally:
            connection.close()


def _explained(error: Exception, duckdb: Any, memory_limit: str | None) -> SdcensusError:
    """Our own words: those of DuckDB may quote a row, and rows hold personal data."""
    message = str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        limit = memory_limit or "what the machine has"
        return EngineError(
            f"DuckDB needs more memory than {limit}, or more room on the disk to spill to. Raise"
            " the memory limit, take fewer threads, or set TMPDIR (on Windows TEMP) to a disk"
            " with more room."
        )
    line, file = _CSV_LINE.search(message), _FILE.search(message)
    if file is not None:
        where = f"{Path(file[1]).name}{f', line {line[1]}' if line else ''}"
        return InputError(
            f"{where}: the file cannot be read as csv. Check its delimiter and encoding, that all"
            " rows have as many fields as the header, and that quotation marks are closed;"
            " `sdcensus load` says more."
        )
    if "UINT64" in message:
        return InputError(
            "A parquet column of whole numbers without a sign holds one that does not fit 64 bits"
            " with a sign. Write the column as signed integers, or as decimals of 38 digits."
        )
    if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
        return EngineError(SUM_TOO_LARGE)
    if isinstance(error, duckdb.IOException):
        return EngineError(
            "DuckDB could not read a file, or could not write to the folder for temporary files."
            " Check that the files are complete and that the disk has room."
        )
    return EngineError(f"DuckDB could not answer the request ({type(error).__name__}).")


if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class ParquetRecords:
    """The flat files of an exported census; DuckDB reads the columns that it needs.

    Args:
        census: The exported census.
    """

    def __init__(self, census: ParquetCensus) -> None:
        self._census = census

    def __repr__(self) -> str:
        return repr(self._census)

    @property
    def schema(self) -> Schema:
        """The schema of the exported census."""
        return self._census.schema

    @property
    def origin(self) -> Origin:
        """Where the numbers of the exported census come from."""
        return self._census.origin

    def check_unchanged(self) -> None:
        """An exported census does not change."""

    def known_rows(self, entity: Entity) -> int | None:
        """How many records of a kind there are, by the manifest."""
        return self._census.rows(entity)

    def hand_over(
        self, connection: DuckDBPyConnection, request: Tabulate, needs: Needs
    ) -> QuerySource:
        """The query over the files; their names travel as data."""
        relation = connection.read_parquet(self._census.files(request.spec.of))
        relation.create_view("files")
        return parquet_source(self._census, request, needs, DUCKDB.name("files"), DUCKDB)
