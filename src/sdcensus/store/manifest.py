"""The manifest of a store: what it holds, made from what, in which version."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdcensus.errors import SdcensusError, StoreError
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.listed_tables import TableList
from sdcensus.model.text import parse_json

#: The version of the folder's layout. Raised when older programs could not read it rightly.
FORMAT_VERSION = 1
FORMAT_NAME = "sdcensus-store"
MANIFEST_FILE = "manifest.json"
#: What the manifest is called until the store is complete: a killed load leaves no store.
UNFINISHED_FILE = "manifest.unfinished.json"
SCHEMA_FILE = "schema.json"

#: Columns that are not variables.
DIGEST_COLUMN, KEY_COLUMN = "_digest", "_key"
#: Types that a column of codes may have; anything else is damage. A code below 0 would make a
#: kernel count outside its arrays.
CODE_TYPES = frozenset({"uint8", "uint16", "uint32"})
#: Files that are compared with their digests at a time.
_AT_A_TIME = 8


def link_column(parent: Entity) -> str:
    """The column with the row of each record's parent."""
    return f"_{parent}"


def value_column(variable: str) -> str:
    """The column with the fixed-point values of a continuous variable."""
    return f"{variable}.value"


def imputed_column(variable: str) -> str:
    """The column that says where a variable was imputed."""
    return f"{variable}.imputed"


def owner_column(variable: str) -> str:
    """The column with the number of the owner to whom each amount belongs."""
    return f"{variable}.owner"


def column_file(folder: Path, entity: Entity, column: str) -> Path:
    """Where a column lies in a store."""
    return folder / entity.value / f"{column}.bin"


def types_of_column(column: str) -> frozenset[str]:
    """The types that a column may have."""
    if column == DIGEST_COLUMN:
        return frozenset({"uint64"})
    if column.startswith("_"):  # record keys, and rows of parents
        return frozenset({"uint32"})
    return frozenset({"int64"}) if column.endswith(value_column("")) else CODE_TYPES


def map_file(folder: Path, variable: str) -> Path:
    """Where the map of a geography lies in a store."""
    return folder / "maps" / f"{variable}.geojson"


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """Type and digest of one column; ``digest`` is BLAKE2b-128 of its bytes."""

    type: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a store says about itself. Holds sizes of the census: as confidential as the store."""

    made_by: str
    schema_digest: str
    key_space: KeySpace
    key_version: int
    secret_id: str
    on_problem: str
    rows: Mapping[Entity, int]
    columns: Mapping[Entity, Mapping[str, ColumnInfo]]
    #: Digests of the maps of geographies, by variable. Maps are no data: tables do not change.
    maps: Mapping[str, str] = field(default_factory=dict)
    #: How it was derived from an original store; empty for one that was loaded.
    lineage: tuple[Derivation, ...] = ()
    #: The tables for which its records were changed so that no count in them is small.
    listed: TableList | None = None

    @property
    def data_version(self) -> str:
        """A digest of all columns: equal exactly for equal data, keys and lineage."""
        whole = hashlib.blake2b(digest_size=16, person=b"data-version")
        for entity in sorted(self.columns):
            for name in sorted(self.columns[entity]):
                info = self.columns[entity][name]
                whole.update(f"{entity}/{name}/{info.type}/{info.digest}\n".encode())
        for derivation in self.lineage:
            whole.update(f"{json.dumps(derivation.to_json(), sort_keys=True)}\n".encode())
        return whole.hexdigest()

    @property
    def settings_digest(self) -> str:
        """A digest of what the data version does not cover and numbers depend on."""
        listed = None if self.listed is None else self.listed.to_json()
        settings = [self.key_space.to_json(), self.key_version, self.secret_id, listed]
        text = json.dumps(settings, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16, person=b"settings").hexdigest()

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
            "settings_digest": self.settings_digest,
            "on_problem": self.on_problem,
            **({"maps": dict(sorted(self.maps.items()))} if self.maps else {}),
            **({"lineage": [step.to_json() for step in self.lineage]} if self.lineage else {}),
            **({"listed": self.listed.to_json()} if self.listed is not None else {}),
            "entities": {
                entity.value: {
                    "rows": self.rows[entity],
                    "columns": {
                        name: {"type": info.type, "digest": info.digest}
                        for name, info in sorted(self.columns[entity].items())
                    },
                }
                for entity in self.rows
            },
        }
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def read_manifest(folder: Path, *, unfinished: bool = False) -> Manifest:
    """Read and check the manifest of a store, or of one that is still being written."""
    path = folder / (UNFINISHED_FILE if unfinished else MANIFEST_FILE)
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(
            f"{folder} is not a census store: it has no {MANIFEST_FILE}."
            " Make one with: sdcensus load SCHEMA --out STORE"
        ) from None
    except (OSError, ValueError):
        raise StoreError(f"{path} cannot be read. Load the census again.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT_NAME:
        raise StoreError(f"{folder} is not a census store.")
    version = content.get("version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise StoreError(
            f"{folder} was made by a newer sdcensus (store version {version}, this one reads"
            f" {FORMAT_VERSION}). Update sdcensus, or load the census again with this version."
        )
    if version != FORMAT_VERSION:
        raise StoreError(f"{folder} has an unknown store version. Load the census again.")
    try:
        return _from_json(content)
    except (KeyError, TypeError, ValueError, AttributeError, SdcensusError):
        raise StoreError(f"{path} is damaged. Load the census again.") from None


def _from_json(content: Mapping[str, Any]) -> Manifest:
    entities = {Entity(name): value for name, value in content["entities"].items()}
    manifest = Manifest(
        made_by=str(content["made_by"]),
        schema_digest=str(content["schema_digest"]),
        key_space=KeySpace.from_json(content["key_space"]),
        key_version=int(content["key_version"]),
        secret_id=str(content["secret_id"]),
        on_problem=str(content["on_problem"]),
        rows={entity: int(value["rows"]) for entity, value in entities.items()},
        columns={
            entity: {
                name: ColumnInfo(str(info["type"]), str(info["digest"]))
                for name, info in value["columns"].items()
            }
            for entity, value in entities.items()
        },
        maps={str(name): str(digest) for name, digest in content.get("maps", {}).items()},
        lineage=tuple(Derivation.from_json(step) for step in content.get("lineage", ())),
        listed=TableList.from_json(content["listed"]) if "listed" in content else None,
    )
    if manifest.data_version != content["data_version"]:
        raise ValueError("data version")
    # Older versions wrote none.
    if content.get("settings_digest", manifest.settings_digest) != manifest.settings_digest:
        raise ValueError("settings")
    return manifest


def file_digest(path: Path) -> str:
    """BLAKE2b-128 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def compared_files(digests: Mapping[Path, str], *, since: str, remedy: str) -> Iterator[Path]:
    """Compare files with their digests, several at a time; yields each, in their order.

    They are read, not mapped: of a disk that fails one learns by an error, not by a crash.

    Args:
        digests: The files, with the digests that their bytes had.
        since: When they had, for messages.
        remedy: What to do about a file that has changed.

    Raises:
        StoreError: The bytes of a file are others, or it cannot be read.
    """

    def compare(file: Path) -> Path:
        try:
            same = file_digest(file) == digests[file]
        except FileNotFoundError:
            raise StoreError(f"{file} is missing. {remedy}") from None
        except OSError as error:
            raise StoreError(f"{file} cannot be read: {error.strerror}. {remedy}") from None
        if not same:
            raise StoreError(f"{file} has changed since {since}. {remedy}")
        return file

    if len(digests) == 1:
        yield from map(compare, digests)
        return
    # Taking a digest lets other threads work.
    with ThreadPoolExecutor(min(_AT_A_TIME, os.cpu_count() or 1)) as threads:
        yield from threads.map(compare, digests)
