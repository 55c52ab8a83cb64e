"""Writing the encoded census as parquet, for clusters and for data larger than memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus._version import __version__
from sdcensus.errors import SpecError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.census_store import CensusStore, Column
from sdcensus.store.manifest import (
    KEY_COLUMN,
    SCHEMA_FILE,
    file_digest,
    link_column,
    owner_column,
    value_column,
)
from sdcensus.store.parquet_census import (
    COLUMN_TYPES,
    FORMAT_NAME,
    Dataset,
    ParquetCensus,
    ParquetColumn,
    ParquetFile,
    ParquetManifest,
)
from sdcensus.store.people import people_mark
from sdcensus.store.schema_json import schema_to_json
from sdcensus.store.writer import FolderInTheMaking

#: Records of one file, which is one row group: a piece of work for one core of a cluster.
ROWS_PER_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class _Writing:
    """A column that is read from the store in pieces."""

    target: ParquetColumn
    column: Column
    nullable: bool = False

    def array(self, rows: slice) -> Any:
        values = self.column[rows]
        blank = values == NO_VALUE if self.nullable else None
        return pa.array(values.astype(self.target.type, copy=False), mask=blank)


@dataclass(slots=True)
class _Names:
    """Names of columns that differ in more than capital letters: engines confuse those."""

    taken: set[str] = field(default_factory=set)

    def take(self, wanted: str) -> str:
        name, number = wanted, 1
        while name.casefold() in self.taken:
            number += 1
            name = f"{wanted}~{number}"
        self.taken.add(name.casefold())
        return name


def export_parquet(
    store: CensusStore,
    out: Path,
    *,
    replace: bool = False,
    rows_per_file: int = ROWS_PER_FILE,
    progress: Progress = no_progress,
) -> ParquetCensus:
    """Write the encoded census as parquet files that Spark and DuckDB read.

    The folder appears when it is complete, or not at all, and only its owner can enter it.

    Args:
        store: The census.
        out: Where the folder will stand.
        replace: Put it in the place of an older export.
        rows_per_file: How many records a file holds.
        progress: Called with the stage and how much of it is done.
    """
    if rows_per_file < 1:
        raise SpecError("A file of an export holds at least one record.")
    making = FolderInTheMaking(
        out, replace=replace, what="an exported census", format_name=FORMAT_NAME
    )
    schema = store.schema
    try:
        datasets: dict[Entity, Dataset] = {}
        entities = [
            entity.entity for entity in schema.entities if entity.entity in store.manifest.rows
        ]
        for entity in entities:
            datasets[entity] = _write_dataset(store, entity, making, rows_per_file, progress)
        manifest = ParquetManifest(
            made_by=f"sdcensus {__version__}",
            schema_digest=store.manifest.schema_digest,
            key_space=store.manifest.key_space,
            key_version=store.manifest.key_version,
            secret_id=store.manifest.secret_id,
            data_version=store.manifest.data_version,
            datasets=datasets,
            people=str(people_mark(store)),
            lineage=store.origin.lineage,
            listed=store.manifest.listed,
        )
        text = json.dumps(schema_to_json(schema), ensure_ascii=False, separators=(",", ":"))
        (making.folder / SCHEMA_FILE).write_text(text + "\n", encoding="utf-8", newline="\n")
        making.write_manifest(manifest.to_json())
        making.publish()
    except OSError as error:
        raise making.not_written(error) from None
    except BaseException as error:
        making.note_removed(error)
        raise
    finally:
        making.abandon()
    exported = ParquetCensus.open(out)
    exported.removed = making.removed
    return exported


def _write_dataset(
    store: CensusStore,
    entity: Entity,
    making: FolderInTheMaking,
    rows_per_file: int,
    progress: Progress,
) -> Dataset:
    stage = f"writing {entity.plural}"
    progress(stage, 0.0)
    names = _Names()
    key = _Writing(
        ParquetColumn(names.take(KEY_COLUMN), "int64"), Column(store.record_keys(entity), (), 0)
    )
    household = _household(store, entity, names)
    household_key = _household_key(store, entity, names)
    codes = dict(_codes(store, entity, names))
    values = dict(_values(store, entity, names))
    owners = dict(_owners(store, entity, names))
    writing = [key, *(each for each in (household, household_key) if each is not None)]
    writing += [*codes.values(), *values.values()]
    writing += owners.values()
    files = []
    (making.folder / entity.value).mkdir()
    rows = store.rows(entity)
    for number, start in enumerate(range(0, max(rows, 1), rows_per_file)):
        piece = slice(start, min(start + rows_per_file, rows))
        name = f"{entity.value}/part-{number:05d}.parquet"
        files.append(_write_file(making.folder, name, writing, piece, dictionary=codes))
        progress(stage, piece.stop / max(rows, 1))
    return Dataset(
        key=key.target,
        household=household.target if household else None,
        household_key=household_key.target if household_key else None,
        codes={name: code.target for name, code in codes.items()},
        values={name: value.target for name, value in values.items()},
        owners={name: owner.target for name, owner in owners.items()},
        files=tuple(files),
    )


def _owners(store: CensusStore, entity: Entity, names: _Names) -> Iterator[tuple[str, _Writing]]:
    for variable in store.schema.variables:
        if variable.owner and variable.entity is entity:
            target = ParquetColumn(names.take(owner_column(variable.name)), "int64")
            yield variable.name, _Writing(target, store.owners(entity, variable))


def _household(store: CensusStore, entity: Entity, names: _Names) -> _Writing | None:
    if Entity.HOUSEHOLD not in store.schema.lineage(entity):
        return None
    target = ParquetColumn(names.take(link_column(Entity.HOUSEHOLD)), "int64")
    return _Writing(target, store.household_rows(entity))


def _household_key(store: CensusStore, entity: Entity, names: _Names) -> _Writing | None:
    if Entity.HOUSEHOLD not in store.schema.lineage(entity):
        return None
    target = ParquetColumn(names.take(f"{link_column(Entity.HOUSEHOLD)}_key"), "int64")
    return _Writing(target, store.household_keys(entity))


def _codes(store: CensusStore, entity: Entity, names: _Names) -> Iterator[tuple[str, _Writing]]:
    schema = store.schema
    for variable in schema.usable(entity):
        if _inherits(schema, entity, variable):
            target = ParquetColumn(names.take(variable.name), _smallest(len(variable.codes)))
            yield variable.name, _Writing(target, store.column(entity, variable))


def _inherits(schema: Schema, entity: Entity, variable: Variable) -> bool:
    """Whether every unit has the variable, or a code for having none.

    A table by one that has not is refused with the reason, by every engine.
    """
    try:
        schema.inherited_missing(entity, variable)
    except SpecError:
        return False
    return True


def _values(store: CensusStore, entity: Entity, names: _Names) -> Iterator[tuple[str, _Writing]]:
    lineage = store.schema.lineage(entity)
    for variable in store.schema.variables:
        column = value_column(variable.name)
        if variable.entity in lineage and store.has(variable.entity, column):
            target = ParquetColumn(names.take(column), "int64")
            yield variable.name, _Writing(target, store.values(entity, variable), nullable=True)


def _smallest(size: int) -> str:
    """The smallest signed type for positions below ``size``."""
    return next(type_name for type_name in COLUMN_TYPES if size - 1 <= np.iinfo(type_name).max)


def _write_file(
    folder: Path,
    name: str,
    writing: list[_Writing],
    rows: slice,
    *,
    dictionary: Mapping[str, _Writing],
) -> ParquetFile:
    table = pa.table({written.target.name: written.array(rows) for written in writing})
    path = folder / name
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=1,
        use_dictionary=[writing.target.name for writing in dictionary.values()],
        row_group_size=max(1, table.num_rows),
        write_page_checksum=True,
    )
    return ParquetFile(name, table.num_rows, path.stat().st_size, file_digest(path))
