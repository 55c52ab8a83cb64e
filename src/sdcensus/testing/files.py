"""Write a small census as the files that an office would have."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.model.schema.schema import CensusFile, Schema
from sdcensus.model.schema.source import FileFormat, FileSource
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.testing.small_census import SmallCensus, Unit, id_columns


def write_files(
    folder: Path,
    census: SmallCensus,
    format_: FileFormat,
    *,
    delimiter: str = ",",
    decimal: str = ".",
    encoding: str = "utf-8",
    parts: int = 1,
    spoil: Callable[[Entity, list[dict[str, str]]], None] = lambda entity, rows: None,
) -> Schema:
    """Write one file for each kind of unit that has one; the schema that tells how to read them.

    Fields are spelled in the ways that mean the same: with blanks around, empty where the schema
    says what that means, in parquet as integers where they are. ``spoil`` may change the rows of a
    kind of unit before they are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for spec in census.schema.entities:
        if spec.derived_from is not None:
            continue
        entity = spec.entity
        rows = [
            _row(census, entity, unit, at, decimal) for at, unit in enumerate(census.units[entity])
        ]
        spoil(entity, rows)
        names = [*id_columns(census.schema.entities, spec), *_columns(census.schema, entity)]
        paths = []
        for part in range(parts):
            path = folder / f"{entity} file {part}.{format_}"
            some = rows[part::parts]
            # A reader goes by the names of the columns, not by their order.
            ordered = names if part % 2 == 0 else names[::-1]
            if format_ is FileFormat.CSV:
                _write_csv(path, ordered, some, delimiter, encoding)
            else:
                _write_parquet(path, ordered, some, census.schema, entity)
            paths.append(path)
        source = FileSource(
            paths=tuple(paths),
            format=format_,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
        )
        files.append(CensusFile(entity.value, entity, source))
    return replace(census.schema, files=tuple(files))


def _columns(schema: Schema, entity: Entity) -> list[str]:
    columns: list[str] = []
    for variable in _described(schema, entity):
        assert variable.source is not None
        columns.append(variable.source.column)
        columns += [variable.source.owner] if variable.source.owner is not None else []
    return columns


def _described(schema: Schema, entity: Entity) -> list[Variable]:
    """The variables in the file of a kind: its own, and those of units without a file."""
    return [
        variable
        for variable in schema.variables
        if variable.stored and variable.source is not None and variable.source.file == entity.value
    ]


def _row(census: SmallCensus, entity: Entity, unit: Unit, at: int, decimal: str) -> dict[str, str]:
    schema, spec = census.schema, census.schema.entity(entity)
    row = dict(zip(spec.id, unit.id, strict=True))
    for parent in schema.parents(entity):
        above = schema.entity(parent)
        place = unit.parents[parent]
        columns = spec.link if parent is spec.within and spec.link else above.id
        parts = [""] * len(columns) if place is None else census.units[parent][place].id
        for column, part in zip(columns, parts, strict=True):
            row.setdefault(column, part)
    for variable in _described(schema, entity):
        assert variable.source is not None
        row[variable.source.column] = _spelled(census, variable, entity, unit, at, decimal)
        if variable.source.owner is not None:
            owner = unit.owners[variable.name]
            spellings = ["", " "] if owner is None else [f"{owner}", f" 00{owner}", f"{owner}.0"]
            row[variable.source.owner] = spellings[at % len(spellings)]
    return row


def _spelled(
    census: SmallCensus, variable: Variable, entity: Entity, unit: Unit, at: int, decimal: str
) -> str:
    described: Unit | None = unit
    if variable.entity is not entity:
        place = unit.parents[variable.entity]
        described = None if place is None else census.units[variable.entity][place]
    if variable.continuous:
        value = 1 if described is None else described.values[variable.name]
        if value is None:
            return "" if at % 2 else "refused"
        return str(Decimal(value).scaleb(-variable.decimals)).replace(".", decimal)
    leaf = variable.missing_position if described is None else described.leaves[variable.name]
    code = variable.codes[leaf or 0]
    first = variable.position_of(code.kind) == (leaf or 0)
    meaning = variable.source.empty.value if variable.source is not None else ""
    if first and meaning == code.kind.value and at % 2:
        return ["", "  "][at // 2 % 2]
    return [code.code, f" {code.code}", f"{code.code}\t "][at % 3]


def _write_csv(
    path: Path, names: Sequence[str], rows: Sequence[dict[str, str]], delimiter: str, encoding: str
) -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([[row[name] for name in names] for row in rows])


def _write_parquet(
    path: Path,
    names: Sequence[str],
    rows: Sequence[dict[str, str]],
    schema: Schema,
    entity: Entity,
) -> None:
    ids = {
        variable.source.column: position
        for position, variable in enumerate(schema.variables)
        if variable.role is Role.RECORD_ID
        and variable.source is not None
        and variable.source.file == entity.value
    }
    arrays = {}
    for name in names:
        texts = [row[name].strip() for row in rows]
        whole = all(not text or text == str(_whole(text)) for text in texts)
        numbers = pa.array([int(text) if _is_whole(text) else None for text in texts], pa.int64())
        if name in ids:  # half of the id columns are numbers whose width the schema declares
            arrays[name] = numbers if ids[name] % 2 else pa.array([row[name] for row in rows])
            if not texts:
                arrays[name] = pa.array([], pa.string())
        elif whole and texts:
            arrays[name] = numbers
        else:
            arrays[name] = pa.array([row[name] for row in rows], pa.string())
    pq.write_table(pa.table(arrays), path)


def _whole(text: str) -> int | None:
    return int(text) if _is_whole(text) else None


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit()
