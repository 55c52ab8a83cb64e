"""Encoded records as relations that a query of DuckDB can read, with small ones beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from sdcensus.engine.requests import Needs, Tabulate
from sdcensus.engine.sql import COMBINATION, DUCKDB, LEAF, PART, Mapped
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.universe import Universe
from sdcensus.store.census_store import Column, RecordSource

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Makes columns of 64-bit integers known to an engine as a relation of that name.
Register = Callable[[str, Mapping[str, Sequence[int]]], None]

#: Rows that are handed over at a time.
_BATCH_ROWS = 1 << 18
#: Columns of every relation of records.
KEY_COLUMN, HOUSEHOLD_COLUMN, OWNER_COLUMN = "key", "household", "owner"
HOUSEHOLD_KEY_COLUMN = "household_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySource:
    """Encoded records as a relation that a query can read once.

    Attributes:
        relation: A quoted name, or a query in parentheses.
        leaves: The column with the leaves of each variable, by its name.
        values: The column with the amounts of each weight or continuous variable.
        parameters: What stands for the names in the query.
    """

    relation: str
    leaves: Mapping[str, str]
    values: Mapping[str, str]
    parameters: Mapping[str, object] = field(default_factory=dict)


class Records(Protocol):
    """Where the records of a DuckDB engine come from."""

    @property
    def schema(self) -> Schema:
        """The schema for which tables are made."""

    @property
    def origin(self) -> Origin:
        """Where the numbers of the cubes come from."""

    def hand_over(
        self, connection: DuckDBPyConnection, request: Tabulate, needs: Needs
    ) -> QuerySource:
        """Make the records that a request needs known to DuckDB."""

    def check_unchanged(self) -> None:
        """Refuse an answer for which the data changed under the query."""

    def known_rows(self, entity: Entity) -> int | None:
        """How many records of a kind there are; ``None`` where only the query can say."""


class StoreRecords:
    """The columns of a store, handed over piece by piece and without a copy where that is possible.

    Args:
        store: The store.
    """

    def __init__(self, store: RecordSource) -> None:
        self._store = store

    def __repr__(self) -> str:
        return repr(self._store)

    @property
    def schema(self) -> Schema:
        """The schema of the store."""
        return self._store.schema

    @property
    def origin(self) -> Origin:
        """Where the numbers of the store come from."""
        return self._store.origin

    def check_unchanged(self) -> None:
        """A store does not change."""

    def known_rows(self, entity: Entity) -> int | None:
        """How many records of a kind there are."""
        return self._store.rows(entity)

    def hand_over(
        self, connection: DuckDBPyConnection, request: Tabulate, needs: Needs
    ) -> QuerySource:
        """Register a stream of the columns that the request needs."""
        store, of = self._store, request.spec.of
        leaves = {code.name: f"leaf_{at}" for at, code in enumerate(needs.codes)}
        columns: dict[str, tuple[Column, np.dtype[Any]]] = {}
        for variable in needs.codes:
            column = store.column(of, variable)
            columns[leaves[variable.name]] = column, column.dtype
        columns[KEY_COLUMN] = Column(store.record_keys(of), (), 0), np.dtype(np.int64)
        if needs.households:
            columns[HOUSEHOLD_COLUMN] = store.household_rows(of), np.dtype(np.int64)
            if request.replicates:
                columns[HOUSEHOLD_KEY_COLUMN] = store.household_keys(of), np.dtype(np.int64)
        if needs.owner and needs.amount is not None:
            columns[OWNER_COLUMN] = store.owners(of, needs.amount), np.dtype(np.int64)
        values = {variable.name: f"value_{at}" for at, variable in enumerate(needs.values)}
        for variable in needs.values:
            column = store.values(of, variable).without_blanks(NO_VALUE)
            columns[values[variable.name]] = column, np.dtype(np.int64)
        connection.register("records", _stream(columns, store.rows(of)))
        return QuerySource(relation=DUCKDB.name("records"), leaves=leaves, values=values)


def added_up(needs: Needs) -> tuple[Variable, ...]:
    """The variables whose values are added up as they are, the weight first."""
    return needs.sums if needs.weight is None else (needs.weight, *needs.sums)


def _stream(columns: Mapping[str, tuple[Column, np.dtype[Any]]], rows: int) -> Any:
    schema = pa.schema([(name, pa.from_numpy_dtype(kind)) for name, (_, kind) in columns.items()])

    def batches() -> Iterator[Any]:
        for start in range(0, rows, _BATCH_ROWS):
            piece = slice(start, min(start + _BATCH_ROWS, rows))
            arrays = [
                pa.array(column[piece].astype(kind, copy=False))
                for column, kind in columns.values()
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def register_universe(
    register: Register,
    universe: Universe,
    leaves: Mapping[str, str],
    *,
    prefix: str,
) -> tuple[Mapped, ...] | None:
    """Register the classes of a universe and its true combinations; ``None`` for everything."""
    if universe.everything:
        return None
    mapped = []
    weights = mixed_radix(universe.truth.shape)
    for at, (variable, classes, weight) in enumerate(
        zip(universe.variables, universe.classes, weights, strict=True)
    ):
        parts = [int(class_) * weight for class_ in classes]
        register(f"{prefix}_{at}", {LEAF: range(len(parts)), PART: parts})
        mapped.append(Mapped(leaves[variable.name], f"{prefix}_{at}"))
    true = np.flatnonzero(np.ascontiguousarray(universe.truth).reshape(-1))
    register(prefix, {COMBINATION: true.tolist()})
    return tuple(mapped)


def registering(connection: DuckDBPyConnection) -> Register:
    """How small relations are made known to a connection of DuckDB."""

    def register(name: str, columns: Mapping[str, Sequence[int]]) -> None:
        arrays = {key: pa.array(list(values), pa.int64()) for key, values in columns.items()}
        connection.register(name, pa.table(arrays))

    return register
