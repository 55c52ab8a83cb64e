"""An exported census as records that a query of DuckDB can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.engine.finest import parquet_source
from sdcensus.engine.records import QuerySource
from sdcensus.engine.requests import Needs, Tabulate
from sdcensus.engine.sql import DUCKDB
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.store.parquet_census import ParquetCensus

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
