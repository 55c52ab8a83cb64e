"""The files of a registry: descriptions of tables, code lists that they share, publications."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sdcensus.errors import InputError, StoreError
from sdcensus.model.method.registry import closing_of
from sdcensus.model.published.closing import Closing
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, SparseTable
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.document import (
    code_list_to_json,
    code_lists_of,
    spec_from_json,
    spec_to_json,
    variable_from_json,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import parse_json
from sdcensus.store.owner_only import make_owner_only_folder, open_owner_only, write_owner_only
from sdcensus.store.registry_values import Values, identity_of, making_of, values_digest

FORMAT_NAME = "sdcensus-registry"
#: Raised when older programs could not read the folder rightly.
FORMAT_VERSION = 2
#: The version of descriptions of tables that close cells: who does not know what that means must
#: not publish beside them.
CLOSING_VERSION = 3
ABOUT_FILE = "registry.json"
#: Descriptions and values of tables; code lists; what was published when.
FOLDER, LISTS, EVENTS = "published", "lists", "publications"

#: A variable by its identity, and the levels of it that a table shows.
ListKey = tuple[int, tuple[str, ...]]

ENTRY_ID = re.compile(r"[0-9a-f]{32}")
_EVENT = re.compile(r"([0-9]{6,})\.json")


def as_bytes(content: Mapping[str, Any]) -> bytes:
    """A small document as the bytes of its file."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def read_json(path: Path, *, missing: str) -> dict[str, Any]:
    """A document of the registry.

    Raises:
        StoreError: It is missing or damaged.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{missing} Name the folder of a registry; protect --registry and Registry.create make"
            " a new one."
        ) from None
    except (OSError, ValueError):
        raise damaged(path) from None
    if not isinstance(content, dict):
        raise damaged(path)
    return content


def damaged(path: Path) -> StoreError:
    """What is said of a file that is not as it was written."""
    return StoreError(f"{path} is damaged. Restore the registry from a backup.")


def closing(provenance: Provenance | None) -> Closing:
    """What the method of a provenance asks of other products for the cells that it withholds."""
    return Closing("" if provenance is None else closing_of(provenance.method))


def make_folders(folder: Path) -> None:
    """The folders of a registry."""
    for name in ("", FOLDER, LISTS, EVENTS):
        make_owner_only_folder(folder / name)


def event_file(order: int) -> str:
    """What the file of a publication is called, in the folder of the registry."""
    return f"{EVENTS}/{order:06d}.json"


def event_files(folder: Path) -> list[tuple[int, Path]]:
    """The publications of a registry, in their order."""
    try:
        names = [path.name for path in (folder / EVENTS).iterdir()]
    except OSError:
        raise StoreError(f"{folder} has lost its publications. Restore it from a backup.") from None
    matches = [match for match in map(_EVENT.fullmatch, names) if match]
    return sorted((int(match[1]), folder / EVENTS / match[0]) for match in matches)


def put_spec(
    folder: Path, spec: TableSpec, known: dict[ListKey, tuple[str, Variable]]
) -> dict[str, Any]:
    """A specification whose code lists lie in files of their own, since many tables share them.

    Args:
        folder: The registry.
        spec: The specification.
        known: The lists that were written before; these are not looked at again.
    """
    names = []
    for variable, levels in code_lists_of(spec):
        key = (id(variable), tuple(level.name for level in levels))
        if key not in known:
            document = code_list_to_json(variable, levels)
            data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
            name = _list_name(data)
            path = folder / LISTS / f"{name}.json"
            if not path.exists():
                write_owner_only(path, data)
            known[key] = (name, variable)  # the variable itself, so that its id stays its own
        names.append(known[key][0])
    return {**spec_to_json(spec, code_lists=False), "code_lists": names}


def get_spec(
    folder: Path, document: Mapping[str, Any], known: dict[str, Variable]
) -> dict[str, Any]:
    """A specification with its code lists in it again; ``known`` are those read before."""
    lists: list[Any] = []
    for digest in document["code_lists"]:
        if not isinstance(digest, str):
            lists.append(digest)
            continue
        if digest not in known:
            path = folder / LISTS / f"{digest}.json"
            try:
                data = path.read_bytes()
            except OSError:
                raise damaged(path) from None
            if _list_name(data) != digest:
                raise damaged(path)
            known[digest] = variable_from_json(parse_json(data))
        lists.append(known[digest])
    return {**document, "code_lists": lists}


def checksum(document: Mapping[str, Any]) -> str:
    """Whether a specification is as it was written; its code lists have names that say so."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"description").hexdigest()


def _list_name(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16, person=b"code-list").hexdigest()


def upgrade(folder: Path) -> None:
    """Bring a registry of the first version into this one: each table was a publication there."""
    make_folders(folder)
    entries = []
    for path in (folder / FOLDER).glob("*.json"):
        if ENTRY_ID.fullmatch(path.stem):
            content = read_json(path, missing=f"{path} cannot be read.")
            try:
                entries.append((int(content["order"]), str(content["id"]), str(content["name"])))
            except (LookupError, TypeError, ValueError):
                raise damaged(path) from None
    for at, (_, identity, name) in enumerate(sorted(entries)):
        content = {"version": FORMAT_VERSION, "name": name, "entries": [identity]}
        write_owner_only(folder / event_file(at), as_bytes(content))
    about = {"format": FORMAT_NAME, "version": FORMAT_VERSION}
    write_owner_only(folder / ABOUT_FILE, as_bytes(about))


class Batch:
    """A publication in the making; its methods may be called from several threads.

    What is added lies in the registry at once, and is read by nobody until ``commit``. A run that
    was killed can add the same again, or take up what it had added.
    """

    __slots__ = ("_folder", "_lists", "_taken")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: dict[ListKey, tuple[str, Variable]] = {}
        self._taken: list[str] = []

    def __repr__(self) -> str:
        return f"<Batch of {len(self._taken)} tables in {self._folder}>"

    def add(
        self,
        table: AnyTable,
        *,
        provenance: Provenance | None = None,
        name: str = "",
        consistent: bool = False,
        series: str = "",
        closes: Closing | None = None,
        together: str = "",
    ) -> str:
        """Put the values of a table down; the id under which ``take`` finds them again.

        Args:
            table: The table.
            provenance: How it was made.
            name: How the office calls it.
            consistent: Whether the same records have the same number however they are reached.
            series: Of which census it is.
            closes: What its method asks of other products for the cells that it withholds; as
                the method of the provenance says, if it is not given.
            together: The same word for tables that were protected together.
        """
        closes = closing(provenance) if closes is None else closes
        values = Values.of(table)
        digest = values_digest(table.spec, values)
        identity = identity_of(table.spec, provenance, digest, series)
        with open_owner_only(self._folder / FOLDER / f"{identity}.parquet") as file:
            pq.write_table(
                values.columns(),
                file,
                compression="zstd",
                compression_level=1,
                write_statistics=False,
                write_page_checksum=True,
            )
        facts: dict[str, Any] = {
            "name": name or table.spec.title,
            "sparse": isinstance(table, SparseTable),
            "consistent": consistent,
            "values": "kept",
            "digest": digest,
            "series": series,
        }
        if closes:
            facts |= {"version": CLOSING_VERSION, "closes": closes.value, "together": together}
        return self._described(identity, table.spec, provenance, facts)

    def add_digest(
        self,
        spec: TableSpec,
        digest: str,
        *,
        provenance: Provenance | None = None,
        name: str = "",
        consistent: bool = False,
        series: str = "",
    ) -> str:
        """Put down that a table was published whose values are too many to be kept."""
        facts: dict[str, Any] = {
            "name": name or spec.title,
            "sparse": True,
            "consistent": consistent,
            "values": "none",
            "digest": digest,
            "series": series,
        }
        return self._described(
            identity_of(spec, provenance, digest, series), spec, provenance, facts
        )

    def take(self, identity: str) -> str:
        """Take up a table that was added before, in this run or in an interrupted one."""
        folder = self._folder / FOLDER
        kept = ENTRY_ID.fullmatch(identity) and (folder / f"{identity}.json").exists()
        if not kept:
            raise StoreError(
                f"{self._folder} has lost a table of the run that was interrupted. Begin"
                " the run anew."
            )
        if identity not in self._taken:
            self._taken.append(identity)
        return identity

    def content(self, publication: str) -> tuple[str, bytes]:
        """What makes the publication exist: the name of a file in the registry, and its content."""
        before = event_files(self._folder)
        order = 1 + max((number for number, _ in before), default=-1)
        document = {"version": FORMAT_VERSION, "name": publication, "entries": self._taken}
        return event_file(order), as_bytes(document)

    def commit(self, publication: str) -> tuple[str, ...]:
        """Make all that was added exist; the ids of the tables."""
        if self._taken:
            name, data = self.content(publication)
            write_owner_only(self._folder / name, data)
        return tuple(self._taken)

    def forget_others(self) -> None:
        """Remove what interrupted publications have left and this one has not taken up."""
        folder = self._folder
        kept = {*self._taken}
        for _, path in event_files(folder):
            kept |= {str(entry) for entry in read_json(path, missing=str(path)).get("entries", ())}
        gone = False
        for path in list((folder / FOLDER).iterdir()):
            if path.stem not in kept and path.suffix in (".json", ".parquet"):
                path.unlink(missing_ok=True)
                gone = True
        if gone:
            self._forget_lists()

    def _forget_lists(self) -> None:
        """Remove code lists that no table has."""
        folder = self._folder
        used = set()
        for path in (folder / FOLDER).glob("*.json"):
            document = read_json(path, missing=str(path)).get("spec", {})
            used |= {str(digest) for digest in document.get("code_lists", ())}
        for path in list((folder / LISTS).glob("*.json")):
            if path.stem not in used:
                path.unlink(missing_ok=True)
        self._lists.clear()

    def _described(
        self,
        identity: str,
        spec: TableSpec,
        provenance: Provenance | None,
        facts: Mapping[str, Any],
    ) -> str:
        document = put_spec(self._folder, spec, self._lists)
        description: dict[str, Any] = {
            "version": FORMAT_VERSION,
            "id": identity,
            "spec_hash": spec.hash(),
            "spec": document,
            "checksum": checksum({"spec": document, "hash": spec.hash()}),
            "provenance": None if provenance is None else provenance.to_json(),
            **facts,
        }
        path = self._folder / FOLDER / f"{identity}.json"
        write_owner_only(path, as_bytes(description))
        return self.take(identity)


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """One table of one publication.

    Attributes:
        id: A digest of what was published and how.
        order: How many tables the registry held before.
        name: How the office calls it.
        spec: The table.
        provenance: How the numbers were made.
        sparse: Whether cells that are not listed were published as 0.
        publication: The name of the publication or revision.
        consistent: Whether the method gives the same records the same number in every table.
        has_values: Whether the values are kept; of tables that were streamed only a digest is.
        digest: A digest of the published values.
        series: Of which census it is, where the office tells them apart.
        spec_hash: The hash of ``spec``.
        closes: What its method asks of other products for the cells that it withholds.
        together: The same word for tables that were protected together.
    """

    id: str
    order: int
    name: str
    spec: TableSpec
    provenance: Provenance | None
    sparse: bool
    publication: str = ""
    consistent: bool = False
    has_values: bool = True
    digest: str = ""
    series: str = ""
    spec_hash: str = ""
    closes: Closing = Closing.NOTHING
    together: str = ""

    def agrees_with(self, provenance: Provenance | None, *, consistent: bool) -> bool:
        """Whether a table made like that has the same numbers for the same records anyway."""
        if provenance is None or self.provenance is None or not (consistent and self.consistent):
            return False
        return making_of(self.provenance) == making_of(provenance)


def entry_from(
    folder: Path, identity: str, content: Mapping[str, Any], lists: dict[str, Variable]
) -> RegistryEntry:
    """Read the description of a table.

    Args:
        folder: The registry.
        identity: Under what the table is kept.
        content: Its description.
        lists: Code lists that were read before, by the names of their files.

    Raises:
        StoreError: It is damaged, or a newer version wrote it.
    """
    path = folder / FOLDER / identity
    try:
        if int(content["version"]) > CLOSING_VERSION:
            raise StoreError(f"{path} was written by a newer sdcensus. Update sdcensus.")
        document = get_spec(folder, content["spec"], lists)
        spec = spec_from_json(document, where=f"the table in {path.name}")
        provenance_json = content["provenance"]
        entry = RegistryEntry(
            id=str(content["id"]),
            order=0,
            name=str(content["name"]),
            spec=spec,
            provenance=None if provenance_json is None else Provenance(**provenance_json),
            sparse=bool(content["sparse"]),
            consistent=bool(content.get("consistent", False)),
            has_values=content.get("values", "kept") != "none",
            digest=str(content.get("digest", "")),
            series=str(content.get("series", "")),
            spec_hash=str(content["spec_hash"]),
            closes=Closing(str(content.get("closes", ""))),
            together=str(content.get("together", "")),
        )
        same = entry.id == identity and _is_intact(content, spec)
    except (InputError, LookupError, TypeError, ValueError, AttributeError):
        raise damaged(path) from None
    if not same:
        raise damaged(path)
    return entry


def _is_intact(content: Mapping[str, Any], spec: TableSpec) -> bool:
    """Whether a specification is the one that was written."""
    written = content.get("checksum")
    if written is None:  # the first version had none
        return bool(spec.hash() == content["spec_hash"])
    return bool(written == checksum({"spec": content["spec"], "hash": content["spec_hash"]}))
