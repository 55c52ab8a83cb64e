"""The encoded census as parquet files, for engines that cannot map a store.

A cluster reads files over a network, and joins are what costs there. Each kind of unit therefore
has one flat dataset: its own variables and all that it inherits, already looked up. The folder
holds no digests of identity and no ids; it is as confidential as the store that it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdcensus.errors import SdcensusError, StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Origin
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.implications import declared_rules
from sdcensus.model.schema.schema import KeySpace, Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.listed_tables import ListedTables, TableList
from sdcensus.model.text import parse_json
from sdcensus.store.manifest import (
    MANIFEST_FILE,
    SCHEMA_FILE,
    compared_files,
    owner_column,
    value_column,
)
from sdcensus.store.schema_json import schema_digest, schema_from_json

FORMAT_NAME = "sdcensus-parquet"
#: The version of the folder's layout. Raised when older programs could not read it rightly.
FORMAT_VERSION = 1
#: Signed types only: every engine reads them as what they are.
COLUMN_TYPES = ("int8", "int16", "int32", "int64")

_AGAIN = "Export it again with: sdcensus export STORE --out FOLDER"


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """One file of a dataset: its name in the folder, its records, size and BLAKE2b-128 digest."""

    name: str
    rows: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A column as it is called in the files, and the type of its integers."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """The records of one kind.

    Attributes:
        key: The column with the record keys.
        household: The column with the row of each record's household, if it may lie in one.
        household_key: The column with the record key of it; older exports have none.
        codes: The column with the leaves of each variable, own and inherited.
        values: The column with the fixed-point amounts of each weight or continuous variable;
            null where there is none.
        owners: The column with the owners of each variable whose amounts belong to some.
        files: The files, in the order of the records.
    """

    key: ParquetColumn
    household: ParquetColumn | None
    codes: Mapping[str, ParquetColumn]
    values: Mapping[str, ParquetColumn]
    files: tuple[ParquetFile, ...]
    owners: Mapping[str, ParquetColumn] = field(default_factory=dict)
    household_key: ParquetColumn | None = None

    @property
    def rows(self) -> int:
        """How many records there are. Confidential."""
        return sum(file.rows for file in self.files)

    def columns(self) -> Iterator[ParquetColumn]:
        """Every column, in the order of the files."""
        yield self.key
        if self.household is not None:
            yield self.household
        if self.household_key is not None:
            yield self.household_key
        yield from self.codes.values()
        yield from self.values.values()
        yield from self.owners.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetManifest:
    """What an exported census says about itself. As confidential as the census."""

    made_by: str
    schema_digest: str
    key_space: KeySpace
    key_version: int
    secret_id: str
    data_version: str
    datasets: Mapping[Entity, Dataset]
    #: The mark of its people; empty where an older version did not keep it.
    people: str = ""
    #: How its store was derived from an original one, as published files name it.
    lineage: str = ""
    #: The tables for which its records were changed so that no count in them is small.
    listed: TableList | None = None

    def to_json(self) -> str:
        """The manifest as the text of its file."""
        content = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "made_by": self.made_by,
            "schema_digest": self.schema_digest,
            "data_version": self.data_version,
            "key_space": self.key_space.to_json(),
            "key_version": self.key_version,
            "secret_id": self.secret_id,
            **({"people": self.people} if self.people else {}),
            **({"lineage": self.lineage} if self.lineage else {}),
            **({"listed": self.listed.to_json()} if self.listed is not None else {}),
            "entities": {
                entity.value: _dataset_json(dataset) for entity, dataset in self.datasets.items()
            },
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _dataset_json(dataset: Dataset) -> dict[str, Any]:
    def column(one: ParquetColumn) -> dict[str, str]:
        return {"column": one.name, "type": one.type}

    return {
        "key": column(dataset.key),
        "household": None if dataset.household is None else column(dataset.household),
        **({"household_key": column(dataset.household_key)} if dataset.household_key else {}),
        "codes": {name: column(code) for name, code in dataset.codes.items()},
        "values": {name: column(value) for name, value in dataset.values.items()},
        # Folders without owners stay as versions of before wrote them.
        **(
            {"owners": {name: column(owner) for name, owner in dataset.owners.items()}}
            if dataset.owners
            else {}
        ),
        "files": [
            {"name": file.name, "rows": file.rows, "size": file.size, "digest": file.digest}
            for file in dataset.files
        ],
    }


def manifest_from_json(text: str, *, where: str) -> ParquetManifest:
    """Read and check the manifest of an exported census."""
    try:
        content = parse_json(text)
    except ValueError:
        raise StoreError(f"{where}: the manifest cannot be read. {_AGAIN}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT_NAME:
        raise StoreError(f"{where} is not an exported census. Make one: {_AGAIN[13:]}")
    version = content.get("version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StoreError(
            f"{where} was made by a newer sdcensus (version {version} of the layout, this one reads"
            f" {FORMAT_VERSION}). Update sdcensus, or export the census again with this version."
        )
    if version != FORMAT_VERSION:
        raise StoreError(f"{where} has an unknown version. {_AGAIN}")
    try:
        return ParquetManifest(
            made_by=str(content["made_by"]),
            schema_digest=str(content["schema_digest"]),
            key_space=KeySpace.from_json(content["key_space"]),
            key_version=int(content["key_version"]),
            secret_id=str(content["secret_id"]),
            data_version=str(content["data_version"]),
            datasets={
                Entity(name): _dataset_from_json(dataset)
                for name, dataset in content["entities"].items()
            },
            people=str(content.get("people", "")),
            lineage=str(content.get("lineage", "")),
            listed=TableList.from_json(content["listed"]) if "listed" in content else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, SdcensusError):
        raise StoreError(f"{where}: the manifest is damaged. {_AGAIN}") from None


def _dataset_from_json(content: Mapping[str, Any]) -> Dataset:
    def column(one: Mapping[str, Any]) -> ParquetColumn:
        if one["type"] not in COLUMN_TYPES:
            raise ValueError("type")
        return ParquetColumn(str(one["column"]), str(one["type"]))

    household, household_key = content["household"], content.get("household_key")
    return Dataset(
        key=column(content["key"]),
        household=None if household is None else column(household),
        household_key=None if household_key is None else column(household_key),
        codes={name: column(code) for name, code in content["codes"].items()},
        values={name: column(value) for name, value in content["values"].items()},
        owners={name: column(owner) for name, owner in content.get("owners", {}).items()},
        files=tuple(
            ParquetFile(_inside(file["name"]), int(file["rows"]), int(file["size"]), file["digest"])
            for file in content["files"]
        ),
    )


def _inside(name: str) -> str:
    """A name that stays in the folder, whoever wrote the manifest."""
    if any(part in ("", ".", "..") for part in name.split("/")) or "\\" in name or ":" in name:
        raise ValueError("name")
    return name


class ParquetCensus(Confidential):
    """An exported census. Shows no rows and no counts; engines read its files.

    Args:
        location: The folder, or the address of one that only the engine can reach.
        manifest: What it holds.
        schema: The schema of its records.
    """

    __slots__ = ("_unverified", "location", "manifest", "removed", "schema")

    def __init__(self, location: str, manifest: ParquetManifest, schema: Schema) -> None:
        self.location = location
        self.manifest = manifest
        self.schema = schema
        #: What killed exports had left, which was removed when this one was made.
        self.removed: tuple[Path, ...] = ()
        #: Files that are compared with their digests before they are read.
        self._unverified: dict[Path, str] = {}

    def __repr__(self) -> str:
        return f"<ParquetCensus {self.location.rstrip('/').rpartition('/')[2]!r}: confidential>"

    @classmethod
    def from_texts(cls, location: str, *, manifest: str, schema: str) -> ParquetCensus:
        """An exported census from the texts of its manifest and its schema."""
        read = manifest_from_json(manifest, where=location)
        try:
            content = parse_json(schema)
        except ValueError:
            raise StoreError(f"{location}: {SCHEMA_FILE} cannot be read. {_AGAIN}") from None
        own = schema_from_json(content)
        if schema_digest(own) != read.schema_digest:
            raise StoreError(f"{location}: {SCHEMA_FILE} is not the schema it was exported with.")
        return cls(location, read, own)

    @classmethod
    def open(cls, folder: Path, *, verify: bool = False, before_use: bool = False) -> ParquetCensus:
        """Open an exported census on this machine.

        Args:
            folder: The folder.
            verify: Compare every file with its digest; else only the sizes.
            before_use: Compare the files of a kind of unit before they are first read.
        """
        if not folder.is_dir():
            kind = "is a file; an exported census is a folder" if folder.exists() else "is missing"
            raise StoreError(f"{folder} {kind}. {_AGAIN}")
        texts = {}
        for name in (MANIFEST_FILE, SCHEMA_FILE):
            try:
                texts[name] = (folder / name).read_text(encoding="utf-8")
            except FileNotFoundError:
                raise StoreError(
                    f"{folder} is not an exported census: it has no {name}. {_AGAIN}"
                ) from None
            except (OSError, ValueError):
                raise StoreError(f"{folder / name} cannot be read. {_AGAIN}") from None
        # Forward slashes stand between folders for every engine, on Windows as well.
        census = cls.from_texts(
            folder.resolve().as_posix(), manifest=texts[MANIFEST_FILE], schema=texts[SCHEMA_FILE]
        )
        census._check_files(folder)
        if verify or before_use:
            census._unverified = census._digests(census.manifest.datasets.values())
        if verify:
            census.verify_once()
        return census

    def _check_files(self, folder: Path) -> None:
        for dataset in self.manifest.datasets.values():
            for file in dataset.files:
                path = folder / file.name
                try:
                    size = path.stat().st_size
                except OSError:
                    raise StoreError(f"{path} is missing. {_AGAIN}") from None
                if size != file.size:
                    raise StoreError(f"{path} is cut off or too long. {_AGAIN}")

    def verify_once(self, progress: Progress = no_progress) -> None:
        """Compare the files that were not compared since the census was opened to be verified."""
        self._compare(dict(self._unverified), progress)

    def _digests(self, datasets: Iterable[Dataset]) -> dict[Path, str]:
        return {
            Path(self.location) / file.name: file.digest
            for dataset in datasets
            for file in dataset.files
        }

    def _compare(self, files: Mapping[Path, str], progress: Progress) -> None:
        compared = compared_files(
            files,
            since="it was exported",
            remedy=f"The export {self.location} is damaged. {_AGAIN}",
        )
        for done, file in enumerate(compared, start=1):
            progress("comparing the files with their digests", done / len(files))
            self._unverified.pop(file, None)

    @property
    def origin(self) -> Origin:
        """Where the numbers come from: that of the store, since they are the same."""
        manifest = self.manifest
        return Origin(
            manifest.key_space,
            manifest.secret_id,
            manifest.data_version,
            manifest.lineage,
            rules=self.schema.kept(declared_rules),
            weights_only=self.schema.census.weights_only,
            listed=None if manifest.listed is None else ListedTables(manifest.listed, self.schema),
        )

    def rows(self, entity: Entity) -> int:
        """How many records of a kind there are. Confidential."""
        return self.dataset(entity).rows

    def dataset(self, entity: Entity) -> Dataset:
        """The records of a kind."""
        self.schema.entity(entity)
        try:
            return self.manifest.datasets[entity]
        except KeyError:
            raise StoreError(f"{self.location} has no {entity.plural}. {_AGAIN}") from None

    def files(self, entity: Entity) -> list[str]:
        """The addresses of the files of a kind. Other files in the folder are never read."""
        if self._unverified:
            own = self._digests([self.dataset(entity)])
            wanted = {file: known for file, known in own.items() if file in self._unverified}
            self._compare(wanted, no_progress)
        return [f"{self.location.rstrip('/')}/{file.name}" for file in self.dataset(entity).files]

    def codes(self, entity: Entity, variable: Variable) -> str:
        """The column with the leaves of a variable."""
        parquet_column = self.dataset(entity).codes.get(variable.name)
        if parquet_column is None:
            # Refuses what cannot be inherited because there is no code for those without a parent.
            self.schema.inherited_missing(entity, variable)
            raise StoreError(f"{entity.plural} do not have {variable.name!r}.")
        return parquet_column.name

    def values(self, entity: Entity, variable: Variable) -> str:
        """The column with the amounts of a variable; null where there is none."""
        parquet_column = self.dataset(entity).values.get(variable.name)
        if parquet_column is None:
            raise StoreError(f"{entity.plural} do not have {value_column(variable.name)!r}.")
        return parquet_column.name

    def owner(self, entity: Entity, variable: Variable) -> str:
        """The column that says to whom the amounts of a variable belong."""
        parquet_column = self.dataset(entity).owners.get(variable.name)
        if parquet_column is None:
            raise StoreError(f"{entity.plural} do not have {owner_column(variable.name)!r}.")
        return parquet_column.name

    def household(self, entity: Entity) -> str:
        """The column with the row of each record's household."""
        parquet_column = self.dataset(entity).household
        if parquet_column is None:
            raise StoreError(f"{entity.plural} do not lie in households.")
        return parquet_column.name

    def household_key(self, entity: Entity) -> str:
        """The column with the record key of each record's household."""
        parquet_column = self.dataset(entity).household_key
        if parquet_column is None:
            raise StoreError(
                f"The export has no keys of the households of {entity.plural}, by which sampling"
                f" errors go: an older version made it. {_AGAIN}"
            )
        return parquet_column.name


def is_address(folder: str | Path) -> bool:
    """Whether this names something that only Spark can reach.

    Examples:
        >>> is_address("hdfs://names/census"), is_address("C:/census"), is_address("census")
        (True, False, False)
    """
    return isinstance(folder, str) and "://" in folder


def is_exported(folder: Path) -> bool:
    """Whether a folder calls itself an exported census; what else it is, its opener says."""
    try:
        content = parse_json((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT_NAME
