"""The registry of what was published: specifications and published values, never counts or keys.

A folder that only its owner can read. Each publication is a description (JSON) and a file of
values (Parquet); the description is written last and makes it exist, so an interrupted addition
leaves nothing that is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import InputError, OutputError, Refused, SpecError, StoreError
from sdcensus.model.cell_hashes import cell_hashes
from sdcensus.model.provenance import Provenance
from sdcensus.model.publication import PublishedTable
from sdcensus.model.spec_document import spec_from_json, spec_to_json
from sdcensus.model.table import SparseTable, Table
from sdcensus.model.table_spec import TableSpec
from sdcensus.store.owner_only import (
    make_owner_only_folder,
    open_owner_only,
    write_owner_only,
)
from sdcensus.store.registry_values import (
    Found,
    cells_of,
    content_of,
    hashes_in,
    identity_of,
    lookup,
)

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]

FORMAT_NAME = "sdcensus-registry"
#: Raised when older programs could not read the folder rightly.
FORMAT_VERSION = 1
ABOUT_FILE = "registry.json"
FOLDER = "published"
#: A sparse publication with more cells is compared by the cells that it lists only.
_MOST_UNLISTED = 5_000_000
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One publication.

    Attributes:
        id: A digest of what was published and how.
        order: How many publications the registry held before.
        name: How the office calls it.
        spec: The table.
        provenance: How the numbers were made.
        sparse: Whether cells that are not listed were published as 0.
    """

    id: str
    order: int
    name: str
    spec: TableSpec
    provenance: Provenance | None
    sparse: bool


@dataclass(frozen=True, slots=True, eq=False)
class Conflicts:
    """Cells that were published before with another value.

    Attributes:
        entry: The earlier publication.
        cells: The cells of the new table, by number.
        values: Their values there.
        before: Their values in the earlier publication.
    """

    entry: Entry
    cells: Numbers
    values: Int64
    before: Int64

    def __len__(self) -> int:
        return int(self.cells.size)


class Registry:
    """Published specifications and values of an office, in a folder of its own."""

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"<Registry {self.path}>"

    @classmethod
    def create(cls, path: str | Path) -> Registry:
        """Make an empty registry; a registry that is there already is never overwritten."""
        folder = Path(path)
        if (folder / ABOUT_FILE).exists():
            raise OutputError(f"{folder} is a registry already. Open it instead.")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputError(f"{folder} is not empty. Choose a new folder for the registry.")
        make_owner_only_folder(folder)
        make_owner_only_folder(folder / FOLDER)
        about = {"format": FORMAT_NAME, "version": FORMAT_VERSION}
        write_owner_only(folder / ABOUT_FILE, _bytes(about))
        return cls(folder)

    @classmethod
    def open(cls, path: str | Path) -> Registry:
        """Open a registry.

        Raises:
            StoreError: There is none, it is damaged, or a newer version made it.
        """
        folder = Path(path)
        about = _read_json(folder / ABOUT_FILE, missing=f"{folder} is not a registry.")
        if about.get("format") != FORMAT_NAME:
            raise StoreError(f"{folder} is not a registry of published tables.")
        version = about.get("version")
        if isinstance(version, int) and version > FORMAT_VERSION:
            raise StoreError(
                f"{folder} was made by a newer sdcensus (registry version {version}, this one"
                f" reads {FORMAT_VERSION}). Update sdcensus."
            )
        if version != FORMAT_VERSION:
            raise StoreError(f"{folder} has an unknown registry version. Restore it from a backup.")
        return cls(folder)

    def entries(self) -> tuple[Entry, ...]:
        """All publications, in the order in which they were added."""
        found = [self._entry(path) for path in self._descriptions()]
        return tuple(sorted(found, key=lambda one: (one.order, one.id)))

    def specs(self) -> tuple[TableSpec, ...]:
        """Every table that was published, once."""
        return tuple({one.spec.hash(): one.spec for one in self.entries()}.values())

    def tables(self) -> Iterator[Table | SparseTable]:
        """Every publication as a table, in the order in which they were added."""
        for entry in self.entries():
            yield self.table(entry)

    def table(self, entry: Entry) -> Table | SparseTable:
        """The published values of one publication."""
        numbers, values, flags = self._values(entry)
        if entry.sparse:
            return SparseTable(entry.spec, numbers, values)
        if numbers.size != entry.spec.cells:
            raise self._damaged(entry.id)
        shape = entry.spec.shape
        return Table(entry.spec, values.reshape(shape), flags.reshape(shape))

    def add(
        self,
        published: PublishedTable | Table | SparseTable,
        *,
        provenance: Provenance | None = None,
        name: str = "",
        allow_conflicts: bool = False,
    ) -> Entry:
        """Add a publication; adding the same again changes nothing.

        Args:
            published: The published table.
            provenance: How it was made, if ``published`` does not say so itself.
            name: How the office calls it.
            allow_conflicts: Whether cells may have been published before with another value.

        Raises:
            Refused: Cells were published before with another value.
        """
        table: Table | SparseTable
        if isinstance(published, PublishedTable):
            table = published.table
            provenance = provenance or published.provenance
            name = name or published.name
        elif isinstance(published, Table | SparseTable):
            table = published
        else:
            raise SpecError("A registry takes published tables only, never true counts.")
        content = content_of(table, provenance)
        identity = identity_of(table.spec, provenance, content)
        entries = self.entries()
        for entry in entries:
            if entry.id == identity:
                return entry
        if not allow_conflicts:
            self.refuse_conflicts(table)
        order = 1 + max((one.order for one in entries), default=-1)
        self._write(identity, content)
        description = {
            "version": FORMAT_VERSION,
            "id": identity,
            "order": order,
            "name": name or table.spec.title,
            "spec_hash": table.spec.hash(),
            "spec": spec_to_json(table.spec),
            "provenance": None if provenance is None else provenance.to_json(),
            "sparse": isinstance(table, SparseTable),
            "rows": content.num_rows,
        }
        write_owner_only(self.path / FOLDER / f"{identity}.json", _bytes(description))
        return self._entry(self.path / FOLDER / f"{identity}.json")

    def value(self, spec: TableSpec, cell: int) -> int | None:
        """What was last published for the records of a cell, in any table; ``None`` if nothing.

        Args:
            spec: A table with that cell.
            cell: The number of the cell, the last axis running fastest.
        """
        if not 0 <= cell < spec.cells:
            raise SpecError(f"{spec.title}: the cells have numbers from 0 to {spec.cells - 1}.")
        wanted = cell_hashes(spec, cells=np.array([cell], dtype=np.uint64))
        latest: int | None = None
        for entry in self._alike(spec):
            found = self._find(entry, wanted)
            if found.seen[0]:
                latest = int(found.values[0])
        return latest

    def conflicts(self, table: Table | SparseTable) -> tuple[Conflicts, ...]:
        """Cells of a table that were published before with another value, by publication."""
        numbers, values, flags = cells_of(table)
        numbers, values = numbers[flags == 0], values[flags == 0]
        if isinstance(table, SparseTable) and table.spec.cells <= _MOST_UNLISTED:
            # Cells that are not listed are published as 0, and may have been something else.
            numbers = np.arange(table.spec.cells, dtype=np.uint64)
            values = table.at(numbers)
        wanted = cell_hashes(table.spec, cells=numbers)
        made = []
        for entry in self._alike(table.spec):
            found = self._find(entry, wanted)
            other = np.flatnonzero(found.seen & (found.values != values))
            if other.size:
                made.append(Conflicts(entry, numbers[other], values[other], found.values[other]))
        return tuple(made)

    def published_elsewhere(self, table: Table) -> Numbers:
        """Withheld cells of a table whose records were published before with a number."""
        if table.flags is None:
            return np.zeros(0, dtype=np.uint64)
        numbers = np.flatnonzero(table.flags.reshape(-1)).astype(np.uint64)
        wanted = cell_hashes(table.spec, cells=numbers)
        seen = np.zeros(numbers.size, dtype=bool)
        for entry in self._alike(table.spec):
            seen |= self._find(entry, wanted).seen
        return numbers[seen]

    def _alike(self, spec: TableSpec) -> Iterator[Entry]:
        """Publications that count the same kind of units in the same way."""
        for entry in self.entries():
            if entry.spec.of is spec.of and entry.spec.measure is spec.measure:
                yield entry

    def refuse_conflicts(self, table: Table | SparseTable) -> None:
        """Refuse a table with numbers that contradict what was published before."""
        found = self.conflicts(table)
        if found:
            cells = sum(map(len, found))
            were = "1 cell was" if cells == 1 else f"{cells:,} cells were"
            raise Refused(
                f"{table.spec.title}: {were} published before with another value,"
                f" first in {found[0].entry.name!r}. Publish the same numbers, with the same method"
                " and secret; or record a change that is meant with Registry.add(...,"
                " allow_conflicts=True)."
            )

    def _find(self, entry: Entry, wanted: Numbers) -> Found:
        """Values that a publication has for cells with these hashes."""
        columns = self._read(entry.id, ["cell", "value"])
        own = hashes_in(columns)
        published = columns.column("value")
        numbered = np.asarray(published.is_valid().to_numpy())
        values = published.fill_null(0).to_numpy()
        if entry.sparse:
            return self._find_sparse(entry, own, values, wanted)
        return lookup(own[numbered], values[numbered], wanted)

    def _find_sparse(self, entry: Entry, own: Numbers, values: Int64, wanted: Numbers) -> Found:
        found = lookup(own, values, wanted)
        # What is not listed was published as 0, but only cells of that table are not listed.
        missing = np.flatnonzero(~found.seen)
        if missing.size and entry.spec.cells <= _MOST_UNLISTED:
            everything = cell_hashes(entry.spec)
            zeros = np.zeros(everything.shape[0], dtype=np.int64)
            inside = lookup(everything, zeros, wanted[missing])
            found.seen[missing] = inside.seen
        return found

    def _values(self, entry: Entry) -> tuple[Numbers, Int64, npt.NDArray[np.uint8]]:
        columns = self._read(entry.id, ["number", "value", "flag"])
        numbers = columns.column("number").to_numpy()
        values = columns.column("value").fill_null(0).to_numpy().astype(np.int64)
        flags = columns.column("flag").to_numpy().astype(np.uint8)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], values[order], flags[order]

    def _write(self, identity: str, content: pa.Table) -> None:
        with open_owner_only(self.path / FOLDER / f"{identity}.parquet") as file:
            pq.write_table(content, file, compression="zstd", write_page_checksum=True)

    def _read(self, identity: str, columns: list[str]) -> pa.Table:
        try:
            return pq.read_table(
                self.path / FOLDER / f"{identity}.parquet",
                columns=columns,
                page_checksum_verification=True,
            )
        except (OSError, ValueError, KeyError, pa.ArrowException):
            raise self._damaged(identity) from None

    def _descriptions(self) -> list[Path]:
        try:
            names = [one.name for one in (self.path / FOLDER).iterdir()]
        except OSError:
            raise StoreError(
                f"{self.path} has lost its publications. Restore it from a backup."
            ) from None
        found = [one[:-5] for one in names if one.endswith(".json")]
        return [self.path / FOLDER / f"{one}.json" for one in found if _ID.fullmatch(one)]

    def _entry(self, path: Path) -> Entry:
        content = _read_json(path, missing=f"{path} cannot be read.")
        try:
            if int(content["version"]) > FORMAT_VERSION:
                raise StoreError(f"{path} was written by a newer sdcensus. Update sdcensus.")
            spec = spec_from_json(content["spec"], where=f"the table in {path.name}")
            made = content["provenance"]
            entry = Entry(
                id=str(content["id"]),
                order=int(content["order"]),
                name=str(content["name"]),
                spec=spec,
                provenance=None if made is None else Provenance(**made),
                sparse=bool(content["sparse"]),
            )
        except (InputError, LookupError, TypeError, ValueError, AttributeError):
            raise self._damaged(path.stem) from None
        if entry.id != path.stem or spec.hash() != content["spec_hash"]:
            raise self._damaged(path.stem)
        return entry

    def _damaged(self, identity: str) -> StoreError:
        return StoreError(
            f"{self.path / FOLDER / identity} is damaged. Restore the registry from a backup."
        )


def _bytes(content: dict[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _read_json(path: Path, *, missing: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{missing} Name the folder of a registry; protect --registry and Registry.create make"
            " a new one."
        ) from None
    except (OSError, ValueError):
        raise StoreError(f"{path} is damaged. Restore the registry from a backup.") from None
    if not isinstance(content, dict):
        raise StoreError(f"{path} is damaged. Restore the registry from a backup.")
    return content
