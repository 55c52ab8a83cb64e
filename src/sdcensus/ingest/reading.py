"""First half of a load: every file once, in batches, into parts of columns in file order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError, SpecError, UnknownName
from sdcensus.ingest.column_hints import column_hints, refuse_missing_amounts
from sdcensus.ingest.coordinates import UNKNOWN_SQUARE, coordinates, grid_positions
from sdcensus.ingest.encode import ColumnEncoder, Encoded
from sdcensus.ingest.id_parts import IdParts, content_digests, part_after
from sdcensus.ingest.owners import owner_reader, scale_of
from sdcensus.ingest.readers import Reader, open_reader
from sdcensus.kernels.keys.decimal_keys import parse_decimal_keys
from sdcensus.model.progress import Progress
from sdcensus.model.schema.encoding import Trouble
from sdcensus.model.schema.file_problems import ProblemKind, ProblemLog, problem_of
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.remedies import (
    coordinate_adviser,
    extent_adviser,
    link_adviser,
    owner_adviser,
    value_adviser,
)
from sdcensus.model.schema.schema import CensusFile, KeyColumn, KeyScope, Schema
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import Entity, EntitySpec, Role, Variable, smallest_width
from sdcensus.store.manifest import (
    DIGEST_COLUMN,
    KEY_COLUMN,
    imputed_column,
    link_column,
    owner_column,
    value_column,
)

Integers = npt.NDArray[Any]

#: Formats whose first row of records is the second row of the file.
_WITH_HEADER = frozenset({FileFormat.CSV, FileFormat.EXCEL, FileFormat.REDATAM})
#: Formats with a record on each line.
_LINES = frozenset({FileFormat.CSV, FileFormat.FIXED, FileFormat.CSPRO, FileFormat.REDATAM})
#: Distinct texts of a column that are looked at for advice.
_MOST_TEXTS = 100


@dataclass(slots=True)
class ColumnParts:
    """Columns of one file's rows, appended batch by batch to files of their own."""

    folder: Path
    rows: int = 0
    types: dict[str, np.dtype[Any]] = field(default_factory=dict)
    pieces: list[tuple[str, int, int]] = field(default_factory=list)

    def append(self, name: str, values: Integers) -> None:
        """Add values to a column."""
        self.types.setdefault(name, values.dtype)
        with (self.folder / f"{name}.part").open("ab") as file:
            file.write(np.ascontiguousarray(values).data)

    def read(self, name: str) -> Integers:
        """A whole column."""
        if not self.rows or name not in self.types:
            return np.zeros(0, dtype=self.types.get(name, np.dtype(np.uint8)))
        return np.asarray(np.memmap(self.folder / f"{name}.part", dtype=self.types[name], mode="r"))

    def write_again(self, name: str, values: Integers) -> None:
        """Put other values in the place of a column."""
        self.types[name] = values.dtype
        with (self.folder / f"{name}.part").open("wb") as file:
            file.write(np.ascontiguousarray(values).data)

    def place(self, row: int) -> tuple[str, int]:
        """File and row number in it, as a reader of the file would count, of a row of the parts."""
        for name, first, number in reversed(self.pieces):
            if row >= first:
                return name, row - first + number
        return "", row + 1


@dataclass(frozen=True, slots=True)
class _Task:
    """One thing to do with every batch: which columns it reads and what it appends."""

    columns: tuple[str, ...]
    run: Callable[[pa.RecordBatch, npt.NDArray[np.int64], str], None]


def read_files(
    schema: Schema, folder: Path, secret: bytes, log: ProblemLog, progress: Progress
) -> dict[Entity, ColumnParts]:
    """Read every file of the schema; the parts are by the entity whose records the rows are."""
    by_entity: dict[Entity, ColumnParts] = {}
    for file in schema.files:
        if file.entity in by_entity:
            raise SpecError(
                f"Two files hold {file.entity.plural}. Name them both in one file:"
                ' path = ["one.csv", "two.csv"].'
            )
        place = folder / f"{file.entity}.parts"
        place.mkdir()
        by_entity[file.entity] = ColumnParts(place)
        _read_file(schema, file, by_entity[file.entity], secret, log, progress)
    return by_entity


def _read_file(
    schema: Schema,
    file: CensusFile,
    parts: ColumnParts,
    secret: bytes,
    log: ProblemLog,
    progress: Progress,
) -> None:
    for path in file.source.paths:
        reader = open_reader(replace(file.source, paths=(path,)))
        tasks = _Tasks(schema, file, path, reader, parts, secret, log).all()
        columns = list(dict.fromkeys(column for task in tasks for column in task.columns))
        _check_columns(schema, file, path, reader, columns)
        refuse_missing_amounts(schema, file, path)
        progress(f"reading {reader.name}", 0.0)
        total = reader.rows() or _guessed_rows(path, file.source.format)
        first = 2 if file.source.format in _WITH_HEADER else 1
        parts.pieces.append((reader.name, parts.rows, first))
        done = 0
        with ThreadPoolExecutor(2) as threads:
            for batch in reader.batches(columns):
                rows = np.arange(done + first, done + first + batch.num_rows)
                list(threads.map(_runner(batch, rows, reader.name), tasks))
                done += batch.num_rows
                parts.rows += batch.num_rows
                progress(f"reading {reader.name}", min(done / total, 0.99) if total else 0.0)
        progress(f"reading {reader.name}", 1.0)
    if parts.rows == 0:
        names = ", ".join(path.name for path in file.source.paths)
        raise InputError(
            f"{names}: there are no records, only the names of columns. Is it the right file?"
        )


def _guessed_rows(path: Path, kind: FileFormat) -> int:
    """About how many lines a text file has, from its beginning; 0 for other files."""
    if kind not in _LINES:
        return 0
    with path.open("rb") as file:
        beginning = file.read(1 << 20)
    return path.stat().st_size * beginning.count(b"\n") // max(len(beginning), 1)


def _runner(
    batch: pa.RecordBatch, rows: npt.NDArray[np.int64], name: str
) -> Callable[[_Task], None]:
    return lambda task: task.run(batch, rows, name)


def _check_columns(
    schema: Schema, file: CensusFile, path: Path, reader: Reader, columns: list[str]
) -> None:
    known = list(reader.names())
    missing = [column for column in columns if column not in known]
    if missing:
        texts = [
            str(UnknownName("column", column, known=known, where=f"{reader.name}: "))
            for column in missing
        ]
        hints = column_hints(schema, file, path, columns, known)
        usual = (
            'If the file calls it differently, say so in the schema: column = "…" in its variable;'
            f" id = […] or link = […] in [entity.{file.entity}] where it is part of an id;"
            " owner = … of an amount; x = … or y = … of a grid."
        )
        if file.source.format is FileFormat.PARQUET:
            usual += " Columns of lists, structures and durations cannot be read."
        raise InputError("\n".join([*texts, *(hints or [usual])]))


class _Tasks:
    """What is to be done with every batch of one file."""

    def __init__(
        self,
        schema: Schema,
        file: CensusFile,
        path: Path,
        reader: Reader,
        parts: ColumnParts,
        secret: bytes,
        log: ProblemLog,
    ) -> None:
        self._schema, self._file, self._parts, self._path = schema, file, parts, path
        self._secret, self._log, self._name = secret, log, reader.name
        self._widths = {
            variable.source.column: variable.source.width
            for variable in schema.variables
            if variable.source is not None
            and variable.source.file == file.name
            and variable.source.width is not None
        }

    def all(self) -> list[_Task]:
        return [*self._identity(), *self._keys(), *self._variables(), *self._grids()]

    def _identity(self) -> Iterator[_Task]:
        spec = self._schema.entity(self._file.entity)
        if spec.from_content:
            yield self._content_task(spec)
        else:
            yield self._digest_task(spec, spec.id, DIGEST_COLUMN, required=True)
        for parent in self._schema.parents(spec.entity):
            above = self._schema.entity(parent)
            required = parent is spec.within and not spec.optional
            columns = self._link_columns(spec, above)
            yield self._digest_task(above, columns, link_column(parent), required=required)
            if above.derived_from is spec.entity and above.within not in (None, spec.within):
                # A derived household in a dwelling: its rows come from this file as well.
                grand = self._schema.entity(above.within)
                yield self._digest_task(
                    grand,
                    above.link or grand.id,
                    f"{link_column(parent)}{link_column(grand.entity)}",
                    required=not above.optional,
                    child=parent,
                )

    @staticmethod
    def _link_columns(spec: EntitySpec, above: EntitySpec) -> tuple[str, ...]:
        return spec.link if above.entity is spec.within and spec.link else above.id

    def _digest_task(
        self,
        spec: EntitySpec,
        columns: tuple[str, ...],
        name: str,
        *,
        required: bool,
        child: Entity | None = None,
    ) -> _Task:
        """Digest ids: of the records themselves, or of what holds the records of ``child``."""
        child = child or self._file.entity
        by_number = spec.entity is Entity.PERSON and (
            self._schema.keys.scope is KeyScope.PERSON_NUMBER
        )
        ids = IdParts(
            columns,
            prefix=() if by_number else self._schema.census.code,
            widths=self._widths,
            form=spec.form,
            file=self._name,
            secret=self._secret,
            tag=spec.entity.tag,
        )
        label = " + ".join(columns)

        def run(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], file: str) -> None:
            identities = ids.digests(batch)
            empty = rows[identities.empty]
            if required and name == DIGEST_COLUMN:
                self._log.add(ProblemKind.EMPTY_ID, file, label, empty)
            elif required:
                kind = ProblemKind.EMPTY_LINK
                adviser = link_adviser(self._schema, child, spec.entity, kind)
                self._log.add(kind, file, label, empty, adviser=adviser)
            self._log.add(ProblemKind.BAD_ID, file, label, rows[identities.bad])
            for rule, earlier in identities.after.items():
                self._parts.append(part_after(name, rule), earlier)
            identities.digests[identities.empty] = 0  # no id, no parent
            self._parts.append(name, identities.digests)

        return _Task(columns, run)

    def _content_task(self, spec: EntitySpec) -> _Task:
        """Digest what a record says, in the order of the names of columns.

        Where it belongs is part of that: else the order of the rows would decide which of two
        equal records in different households gets which key.
        """
        named = {
            variable.source.column
            for variable in self._schema.variables
            if variable.source is not None and variable.source.file == self._file.name
        }
        for parent in self._schema.parents(spec.entity):
            named.update(self._link_columns(spec, self._schema.entity(parent)))
        columns = tuple(sorted(named))

        def run(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], file: str) -> None:
            prefix = self._schema.census.code
            tag = spec.entity.tag
            digests = content_digests(batch, columns, prefix, secret=self._secret, tag=tag)
            self._parts.append(DIGEST_COLUMN, digests)

        return _Task(columns, run)

    def _keys(self) -> Iterator[_Task]:
        existing = self._schema.keys.column_of(self._file.entity)
        if existing is None:
            return
        space = self._schema.keys.space

        def run(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], file: str) -> None:
            array = batch.column(existing.column)
            keys, bad = _existing_keys(array, existing, space.modulus)
            self._log.add(ProblemKind.BAD_KEY, file, existing.column, rows[bad])
            self._parts.append(KEY_COLUMN, keys)

        yield _Task((existing.column,), run)

    def _variables(self) -> Iterator[_Task]:
        made = {grid.variable for grid in self._schema.grids}
        for variable in self._schema.variables:
            source = variable.source
            if source is None or source.file != self._file.name or variable.name in made:
                continue
            if variable.role is Role.DIRECT_IDENTIFIER:
                yield _Task((source.column,), lambda batch, rows, file: None)
            elif variable.stored:
                yield self._variable_task(variable, source.column)
                if source.imputed is not None:
                    yield self._imputed_task(variable, source.imputed)

    def _variable_task(self, variable: Variable, column: str) -> _Task:
        encoder = ColumnEncoder(
            variable,
            decimal_mark=self._file.source.decimal,
            scale=scale_of(variable, self._file.source, self._path),
        )
        label = self._label(variable, column)
        owners = owner_reader(variable, self._widths, self._name, self._secret)
        as_codes = variable.is_axis
        as_values = variable.continuous or variable.role is Role.WEIGHT

        def run(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], file: str) -> None:
            array = batch.column(column)
            if as_codes:
                encoded = encoder.positions(array)
                self._report(variable, encoded, rows, file, label)
                self._parts.append(variable.name, encoded.values)
            if as_values:
                numbers = encoder.numbers(array)
                if not as_codes:
                    self._report(variable, numbers, rows, file, label)
                self._parts.append(value_column(variable.name), numbers.values)
                if owners is not None:
                    digests, empty = owners.digests(batch, numbers.values)
                    kind, adviser = ProblemKind.EMPTY_OWNER, owner_adviser(variable)
                    self._log.add(kind, file, owners.column, rows[empty], adviser=adviser)
                    self._parts.append(owner_column(variable.name), digests)

        return _Task((column,) if owners is None else (column, owners.column), run)

    def _label(self, variable: Variable, column: str) -> str:
        """What messages call a column: with the variable, where several are read from it."""
        readers = [
            variable
            for variable in self._schema.variables
            if variable.stored
            and variable.source is not None
            and (variable.source.file, variable.source.column) == (self._file.name, column)
        ]
        return column if len(readers) < 2 else f"{column} ({variable.name})"

    def _imputed_task(self, variable: Variable, column: str) -> _Task:
        def run(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], file: str) -> None:
            text = pc.utf8_trim_whitespace(batch.column(column).cast(pa.string()))
            number = pc.is_in(text, value_set=pa.array(["1", "1.0", "true", "True", "TRUE"]))
            flag = pc.fill_null(number, False).to_numpy(zero_copy_only=False)
            self._parts.append(imputed_column(variable.name), flag.astype(np.uint8))

        return _Task((column,), run)

    def _grids(self) -> Iterator[_Task]:
        for grid in self._schema.grids:
            variable = self._schema.variable(grid.variable)
            if variable.source is not None and variable.source.file == self._file.name:
                yield self._grid_task(grid, variable)

    def _grid_task(self, grid: GridSpec, variable: Variable) -> _Task:
        # Which squares are inhabited is known once all records are read.
        width = np.int64 if grid.inhabited else smallest_width(len(variable.codes))
        unallocated = UNKNOWN_SQUARE if grid.inhabited else len(variable.codes) - 1

        def run(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], file: str) -> None:
            x, bad_x = coordinates(batch.column(grid.x), self._file.source.decimal)
            y, bad_y = coordinates(batch.column(grid.y), self._file.source.decimal)
            for column, bad in ((grid.x, bad_x), (grid.y, bad_y)):
                adviser = coordinate_adviser(column, self._file)
                wrong = _distinct_texts(batch.column(column), bad)
                self._log.add(ProblemKind.NOT_A_NUMBER, file, column, rows[bad], wrong, adviser)
            cells, outside = grid_positions(grid, x, y, unallocated)
            place = f"{grid.x}, {grid.y}"
            adviser = extent_adviser(grid)
            self._log.add(ProblemKind.OUT_OF_RANGE, file, place, rows[outside], adviser=adviser)
            self._parts.append(variable.name, cells.astype(width))

        return _Task((grid.x, grid.y), run)

    def _report(
        self,
        variable: Variable,
        encoded: Encoded,
        rows: npt.NDArray[np.int64],
        file: str,
        column: str,
    ) -> None:
        if encoded.trouble is None:
            return
        for trouble in Trouble:
            kind = problem_of(variable, trouble)
            wrong = rows[encoded.trouble == trouble]
            values = [text for which, text in encoded.examples if which == trouble]
            adviser = value_adviser(variable, self._file, kind)
            self._log.add(kind, file, column, wrong, values, adviser)


def _distinct_texts(array: pa.Array, chosen: Integers) -> list[str]:
    """Some of the texts that were chosen."""
    if not chosen.any():
        return []
    texts: list[str | None] = array.filter(pa.array(chosen)).unique()[:_MOST_TEXTS].to_pylist()
    return [str(text) for text in texts]


def _existing_keys(array: pa.Array, existing: KeyColumn, modulus: int) -> tuple[Integers, Integers]:
    """Keys that another system drew, and which of them cannot be used."""
    text = array if pa.types.is_string(array.type) else array.cast(pa.string())
    text = pc.fill_null(pc.utf8_trim_whitespace(text), "")
    if existing.digits is not None:
        keys, good = parse_decimal_keys(text.to_numpy(zero_copy_only=False), existing.digits)
        return keys, ~good
    whole = pc.match_substring_regex(text, r"^[0-9]{1,10}([.]0*)?$")
    numbers = pc.if_else(whole, pc.replace_substring_regex(text, r"[.]0*$", ""), "0")
    values = numbers.cast(pa.int64()).to_numpy(zero_copy_only=False)
    good = whole.to_numpy(zero_copy_only=False).astype(bool) & (values < modulus)
    return np.where(good, values, 0).astype(np.uint32), ~good
