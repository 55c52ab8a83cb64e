"""A handle on the encoded census: one memory-mapped column of integers for each variable."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.errors import StoreError
from sdcensus.kernels.cells.tabulate import NO_ROW, inherit
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Origin
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import lineage_text
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.implications import declared_rules
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.listed_tables import ListedTables
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import parse_json
from sdcensus.store.manifest import (
    CODE_TYPES,
    DIGEST_COLUMN,
    KEY_COLUMN,
    SCHEMA_FILE,
    Manifest,
    column_file,
    compared_files,
    link_column,
    map_file,
    owner_column,
    read_manifest,
    types_of_column,
    value_column,
)
from sdcensus.store.schema_json import schema_digest, schema_from_json

Integers = npt.NDArray[Any]

#: Kernels look up without asking whether there is such a place. A store is checked when a column is
#: first used; a file that is overwritten later, under a server that runs, is noticed here.
_DAMAGED = "The census store is damaged. Load the census again."


def check_codes(codes: Integers, size: int) -> None:
    """Refuse encoded records with codes that a list of ``size`` codes does not have."""
    if codes.size and (codes.max() >= size or (codes.dtype.kind == "i" and codes.min() < 0)):
        raise StoreError(_DAMAGED)


def _inherited(rows: Integers, column: Integers, missing: int) -> Integers:
    """The value of each row's parent; ``missing`` where there is none."""
    if ((rows >= column.size) & (rows != NO_ROW)).any():
        raise StoreError(_DAMAGED)
    values = np.empty(rows.size, dtype=column.dtype)
    inherit(rows, column, missing, values)
    return values


class Column:
    """A column for the records of a kind, read in slices; follows links where it is inherited."""

    __slots__ = ("_blank", "_links", "_missing", "_values")

    def __init__(
        self,
        values: Integers,
        links: tuple[Integers, ...],
        missing: int,
        *,
        blank: int | None = None,
    ) -> None:
        self._values, self._links, self._missing = values, links, missing
        self._blank = blank

    def with_missing(self, missing: int) -> Column:
        """The same column with another value where there is no parent to inherit from."""
        return Column(self._values, self._links, missing)

    def without_blanks(self, blank: int) -> Column:
        """The same column with 0 for ``blank``: a missing value adds nothing to a sum."""
        return Column(self._values, self._links, self._missing, blank=blank)

    @property
    def as_links(self) -> tuple[Integers, ...]:
        """What leads to rows, where the column holds rows: the way to what lies in these."""
        return (*self._links, self._values)

    @property
    def whole(self) -> Integers | None:
        """The column itself where it needs no links."""
        return None if self._links or self._blank is not None else self._values

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its values."""
        return self._values.dtype

    def __getitem__(self, rows: slice | Integers) -> Integers:
        if self._blank is not None:
            plain = Column(self._values, self._links, self._missing)[rows]
            blank = plain == self._blank
            return np.where(blank, 0, plain) if blank.any() else plain
        if not self._links:
            return self._values[rows]
        at = self._links[0][rows]
        for link in self._links[1:]:
            at = _inherited(at, link, int(NO_ROW))
        return _inherited(at, self._values, self._missing)


class RecordSource(Protocol):
    """What an engine needs of encoded records, wherever they lie."""

    @property
    def schema(self) -> Schema: ...  # noqa: D102
    @property
    def origin(self) -> Origin: ...  # noqa: D102
    def rows(self, entity: Entity) -> int: ...  # noqa: D102
    def record_keys(self, entity: Entity) -> Integers: ...  # noqa: D102
    def column(self, entity: Entity, variable: Variable) -> Column: ...  # noqa: D102
    def values(self, entity: Entity, variable: Variable) -> Column: ...  # noqa: D102
    def household_rows(self, entity: Entity) -> Column: ...  # noqa: D102
    def household_keys(self, entity: Entity) -> Column: ...  # noqa: D102
    def owners(self, entity: Entity, variable: Variable) -> Column: ...  # noqa: D102
    def sorted_geography(self, entity: Entity) -> str | None: ...  # noqa: D102


class CensusStore(Confidential):
    """An encoded census. Shows no rows and no counts; reads columns when they are needed."""

    __slots__ = (
        *("_checked", "_columns", "_in_order", "_listed", "_unverified"),
        *("manifest", "path", "schema"),
    )

    def __init__(
        self, path: Path, manifest: Manifest, schema: Schema, *, verify: bool = False
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.schema = schema
        self._unverified = self._digests() if verify else {}  # compared before they are used
        self._columns: dict[tuple[Entity, str], Integers] = {}
        self._checked: set[tuple[Entity, str]] = set()
        self._in_order: dict[Entity, bool] = {}
        # Looked up once for all tables: their cells take a while.
        self._listed = None if manifest.listed is None else ListedTables(manifest.listed, schema)

    @classmethod
    def open(cls, path: Path, *, unfinished: bool = False, verify: bool = False) -> CensusStore:
        """Open a store; only its manifest, its schema and the sizes of its files are read.

        Args:
            path: The folder of the store.
            unfinished: Open one that is still being written, as only who writes it can.
            verify: Compare each column with its digest before it is first used: numbers for others
                come from such stores only.
        """
        if not path.exists():
            raise StoreError(f"There is no store at {path}.")
        if not path.is_dir():
            raise StoreError(f"{path} is a file; a census store is a folder.")
        manifest = read_manifest(path, unfinished=unfinished)
        schema = read_schema(path)
        if schema_digest(schema) != manifest.schema_digest:
            raise StoreError(f"{path / SCHEMA_FILE} is not the schema this store was made with.")
        store = cls(path, manifest, schema, verify=verify)
        store._check_files()
        return store

    def __repr__(self) -> str:
        return f"<CensusStore {self.path.name!r}: confidential>"

    @property
    def origin(self) -> Origin:
        """Where the numbers of this store's cubes come from."""
        manifest = self.manifest
        return Origin(
            manifest.key_space,
            manifest.secret_id,
            manifest.data_version,
            lineage_text(manifest.lineage),
            rules=self.schema.kept(declared_rules),
            weights_only=self.schema.census.weights_only,
            listed=self._listed,
        )

    def rows(self, entity: Entity) -> int:
        """How many records of a kind there are. Confidential."""
        self.schema.entity(entity)
        return self.manifest.rows.get(entity, 0)

    def _check_files(self) -> None:
        for entity, columns in self.manifest.columns.items():
            for name, info in columns.items():
                file = column_file(self.path, entity, name)
                # A column without records has the type of the first piece, which it lacks.
                empty = not self.manifest.rows[entity] and info.type in CODE_TYPES
                if info.type not in types_of_column(name) and not empty:
                    raise StoreError(f"{file} has an unknown type. Load the census again.")
                expected = self.manifest.rows[entity] * np.dtype(info.type).itemsize
                try:
                    size = file.stat().st_size
                except OSError:
                    raise StoreError(f"{file} is missing. Load the census again.") from None
                if size != expected:
                    raise StoreError(f"{file} is cut off or too long. Load the census again.")

    def raw(self, entity: Entity, column: str) -> Integers:
        """A column of the store as it lies on disk, read-only."""
        known = self._columns.get((entity, column))
        if known is not None:
            return known
        info = self.manifest.columns.get(entity, {}).get(column)
        if info is None:
            raise StoreError(f"{self.path.name} has no column {column!r} for {entity.plural}.")
        rows = self.manifest.rows[entity]
        array: Integers
        if rows:
            file = column_file(self.path, entity, column)
            if file in self._unverified:
                self._compare({file: info.digest}, no_progress)
            # A plain array over the mapped file: kernels know arrays, not their subclasses.
            array = np.asarray(np.memmap(file, dtype=info.type, mode="r", shape=(rows,)))
        else:
            array = np.zeros(0, dtype=info.type)
        self._columns[entity, column] = array
        return array

    def is_file(self, entity: Entity, column: str, values: Integers) -> bool:
        """Whether values are the mapped file of a column: not changed, and not of a view."""
        file = getattr(values.base, "filename", None)
        own = values is self._columns.get((entity, column))
        return own and file is not None and Path(file) == column_file(self.path, entity, column)

    def has(self, entity: Entity, column: str) -> bool:
        """Whether the store holds this column."""
        return column in self.manifest.columns.get(entity, {})

    def record_keys(self, entity: Entity) -> Integers:
        """The record key of each record."""
        return self.raw(entity, KEY_COLUMN)

    def digests(self, entity: Entity) -> Integers:
        """The 64-bit digest of each record's identity."""
        return self.raw(entity, DIGEST_COLUMN)

    def column(self, entity: Entity, variable: Variable) -> Column:
        """A variable for the records of a kind: its own, or inherited from what holds them."""
        return self._column(entity, variable, variable.name, len(variable.codes))

    def values(self, entity: Entity, variable: Variable) -> Column:
        """The fixed-point values of a weight or continuous variable, own or inherited."""
        column = self._column(entity, variable, value_column(variable.name), None)
        if variable.role is Role.WEIGHT:
            return column.with_missing(10**variable.decimals)
        return column.with_missing(NO_VALUE)

    def owners(self, entity: Entity, variable: Variable) -> Column:
        """The number of the owner to whom each amount of a variable belongs."""
        return Column(self.raw(entity, owner_column(variable.name)), (), 0)

    def _column(self, entity: Entity, variable: Variable, name: str, limit: int | None) -> Column:
        if self.has(entity, name):
            return Column(self._checked_below(entity, name, limit), (), 0)
        path = self.schema.path(entity, variable.entity)
        if path is None:
            raise StoreError(f"{entity.plural} do not have {variable.name!r}.")
        links: list[Integers] = []
        child = entity
        for parent in path:
            link = self._checked_below(entity=child, name=link_column(parent), limit=None)
            self._check_link(child, parent, link)
            links.append(link)
            child = parent
        missing = 0
        if limit is not None:
            inherited = self.schema.inherited_missing(entity, variable)
            missing = (variable.missing_position if inherited is None else inherited) or 0
        return Column(self._checked_below(child, name, limit), tuple(links), missing)

    def _check_link(self, child: Entity, parent: Entity, link: Integers) -> None:
        """A damaged link must not make a kernel read outside its arrays."""
        mark = (child, f"{link_column(parent)}>")
        if mark not in self._checked:
            held = link != NO_ROW
            rows = link[held]
            if rows.size and int(rows.max()) >= self.manifest.rows[parent]:
                raise self._damaged_links(child, parent)
            area = self.schema.geography
            name = "" if area is None else area.name
            if self.has(child, name) and self.has(parent, name):
                # Records have the area of what holds them: a link elsewhere was not made by us.
                elsewhere = self.raw(child, name)[held] != self.raw(parent, name)[rows]
                if elsewhere.any():
                    raise self._damaged_links(child, parent)
            self._checked.add(mark)

    def _damaged_links(self, child: Entity, parent: Entity) -> StoreError:
        file = column_file(self.path, child, link_column(parent))
        return StoreError(
            f"{file} is damaged: the links of {child.plural} do not lead to the {parent.plural}"
            " that hold them. Load the census again."
        )

    def _checked_below(self, entity: Entity, name: str, limit: int | None) -> Integers:
        array = self.raw(entity, name)
        if limit is not None and (entity, name) not in self._checked:
            if array.size and int(array.max()) >= limit:
                raise StoreError(
                    f"{column_file(self.path, entity, name)} is damaged. Load the census again."
                )
            self._checked.add((entity, name))
        return array

    def household_rows(self, entity: Entity) -> Column:
        """The row of each record's household."""
        return self.holder_rows(entity, Entity.HOUSEHOLD)

    def household_keys(self, entity: Entity) -> Column:
        """The record key of each record's household; ``NO_ROW`` where there is none.

        Unlike rows, keys do not depend on the order of the files.
        """
        keys = self.record_keys(Entity.HOUSEHOLD)
        if entity is Entity.HOUSEHOLD:
            return Column(keys, (), 0)
        return Column(keys, self.household_rows(entity).as_links, int(NO_ROW))

    def holder_rows(self, entity: Entity, holder: Entity) -> Column:
        """The row of what holds each record, among the units of the kind ``holder``."""
        if entity is holder:
            rows = np.arange(self.rows(entity), dtype=np.uint32)
            return Column(rows, (), 0)
        path = self.schema.path(entity, holder)
        if not path:
            raise StoreError(f"{entity.plural} do not lie in {holder.plural}.")
        steps = [entity, *path]
        links: list[Integers] = []
        for child, parent in itertools.pairwise(steps):
            links.append(self.raw(child, link_column(parent)))
            self._check_link(child, parent, links[-1])
        return Column(links[-1], tuple(links[:-1]), int(NO_ROW))

    def sorted_geography(self, entity: Entity) -> str | None:
        """The geography by which the records of a kind are sorted, if they are.

        Looked at, not believed: threads that share a table rely on it.
        """
        geography = self.schema.geography
        if geography is None or not self.has(entity, geography.name):
            return None
        if entity not in self._in_order:
            area = self.raw(entity, geography.name)
            self._in_order[entity] = bool((area[1:] >= area[:-1]).all())
        return geography.name if self._in_order[entity] else None

    def map(self, variable: str) -> bytes | None:
        """The map of a geography as GeoJSON; ``None`` where the store has none. Public."""
        digest = self.manifest.maps.get(variable)
        if digest is None:
            return None
        file = map_file(self.path, variable)
        try:
            content = file.read_bytes()
        except OSError:
            raise StoreError(f"{file} is missing. Load the census again.") from None
        if hashlib.blake2b(content, digest_size=16).hexdigest() != digest:
            raise StoreError(f"{file} has changed since the census was loaded.")
        return content

    def verify(self) -> Iterator[str]:
        """Compare every column with its digest; yields the name of each that was read."""
        for file in self._compared(self._digests()):
            yield f"{file.parent.name}/{file.stem}"
        for variable in self.manifest.maps:
            self.map(variable)
            yield f"maps/{variable}"

    def verify_once(self, progress: Progress) -> None:
        """Compare the columns that were not compared since the store was opened to be verified."""
        self._compare(dict(self._unverified), progress)

    def _digests(self) -> dict[Path, str]:
        return {
            column_file(self.path, entity, name): info.digest
            for entity, columns in self.manifest.columns.items()
            for name, info in columns.items()
        }

    def _compare(self, files: Mapping[Path, str], progress: Progress) -> None:
        for done, file in enumerate(self._compared(files), start=1):
            progress("comparing the store with its digests", done / len(files))
            self._unverified.pop(file, None)

    def _compared(self, files: Mapping[Path, str]) -> Iterator[Path]:
        made, again = "the census was loaded", "load the census again"
        if self.manifest.lineage:
            made, again = "the store was derived", "derive it again from its store"
        return compared_files(
            files,
            since=made,
            remedy=f"The store {self.path} is damaged. Restore it from a backup, or {again}.",
        )


def read_schema(path: Path) -> Schema:
    """The schema of a store: its code lists, and nothing of any record is looked at.

    Raises:
        StoreError: There is none, or it is damaged.
    """
    if not path.is_dir():
        raise StoreError(f"There is no store at {path}.")
    schema_file = path / SCHEMA_FILE
    try:
        return schema_from_json(parse_json(schema_file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        raise StoreError(f"{schema_file} cannot be read. Load the census again.") from None


def all_rows_of(universe: Universe, store: CensusStore, entity: Entity) -> Integers:
    """Row numbers of the records of a universe."""
    return np.concatenate([np.zeros(0, np.int64), *rows_of(universe, store, entity)])


def rows_of(universe: Universe, store: CensusStore, entity: Entity) -> Iterator[Integers]:
    """Row numbers of the records of a universe, block by block."""
    columns = [store.column(entity, variable) for variable in universe.variables]
    total, step = store.rows(entity), 1 << 20
    for start in range(0, total, step):
        rows = slice(start, min(start + step, total))
        yield np.flatnonzero(inside(universe, columns, rows, rows.stop - start)) + start


def inside(
    universe: Universe, columns: Sequence[Column], rows: slice | Integers, size: int
) -> npt.NDArray[np.bool_]:
    """Which of some rows belong to a universe, by the columns of its variables."""
    classes = tuple(
        kinds[column[rows]] for kinds, column in zip(universe.classes, columns, strict=True)
    )
    return universe.truth[classes] if classes else np.full(size, universe.truth)
