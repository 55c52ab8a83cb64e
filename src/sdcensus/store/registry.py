"""The registry of what was published: specifications and published values, never counts or keys.

A folder that only its owner can read. Each table is a description (JSON) and a file of values by
cell number (Parquet). A publication is a list of tables; its file is written last and makes them
exist, so an interrupted publication leaves nothing that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import OutputError, Refused, SpecError, StoreError
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.published.provenance import Provenance, line_text
from sdcensus.model.published.table import AnyTable, PublishedTable, SparseTable, Table
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.shared_cells import shared_cells
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.registry_closed import product_of, refuse_opened
from sdcensus.store.registry_files import (
    ABOUT_FILE,
    FOLDER,
    FORMAT_NAME,
    FORMAT_VERSION,
    Batch,
    RegistryEntry,
    as_bytes,
    closing,
    damaged,
    entry_from,
    event_files,
    make_folders,
    read_json,
    upgrade,
)
from sdcensus.store.registry_values import (
    Differences,
    Values,
    differences,
    making_of,
)

__all__ = ["Batch", "Conflicts", "Registry", "RegistryEntry"]

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Conflicts:
    """Cells that were published before with another value.

    Attributes:
        entry: The earlier publication.
        cells: The cells of the new table, by number.
        values: Their values there.
        before: Their values in the earlier publication.
    """

    entry: RegistryEntry
    cells: Numbers
    values: Int64
    before: Int64

    def __len__(self) -> int:
        return int(self.cells.size)


class Registry:
    """Published specifications and values of an office, in a folder of its own."""

    __slots__ = ("_contents", "_known", "_lists", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self._contents: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}
        self._known: dict[str, RegistryEntry] = {}
        self._lists: dict[str, Variable] = {}

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
        make_folders(folder)
        about = {"format": FORMAT_NAME, "version": FORMAT_VERSION}
        write_owner_only(folder / ABOUT_FILE, as_bytes(about))
        return cls(folder)

    @classmethod
    def open(cls, path: str | Path) -> Registry:
        """Open a registry; one of the first version is brought into the present one.

        Raises:
            StoreError: There is none, it is damaged, or a newer version made it.
        """
        folder = Path(path)
        about = read_json(folder / ABOUT_FILE, missing=f"{folder} is not a registry.")
        if about.get("format") != FORMAT_NAME:
            raise StoreError(f"{folder} is not a registry of published tables.")
        version = about.get("version")
        if type(version) is not int or version < 1:
            raise StoreError(f"{folder} has an unknown registry version. Restore it from a backup.")
        if version > FORMAT_VERSION:
            raise StoreError(
                f"{folder} was made by a newer sdcensus (registry version {version}, this one"
                f" reads {FORMAT_VERSION}). Update sdcensus."
            )
        if version < FORMAT_VERSION:
            upgrade(folder)
        return cls(folder)

    def entries(self) -> tuple[RegistryEntry, ...]:
        """All tables of all publications, in the order in which they were added."""
        return tuple(self._entries())

    def latest(self, *, without: Collection[str] = ()) -> tuple[RegistryEntry, ...]:
        """Of every table the last publication: later ones take the place of earlier ones.

        Args:
            without: Hashes of specifications that are not wanted; these are not read whole.
        """
        last: dict[tuple[str, str], tuple[str, int, str]] = {}
        for publication, order, identity in self._listed():
            content = self._content(identity)
            spec_hash = str(content.get("spec_hash", ""))
            if spec_hash not in without:
                last[str(content.get("series", "")), spec_hash] = (publication, order, identity)
        return tuple(self._placed(*place) for place in last.values())

    def specs(self) -> tuple[TableSpec, ...]:
        """Every table that was published, once."""
        return tuple({entry.spec_hash: entry.spec for entry in self._entries()}.values())

    def tables(self) -> Iterator[AnyTable]:
        """Every publication whose values are kept, in the order in which they were added."""
        for entry in self.entries():
            if entry.has_values:
                yield self.table(entry)

    def entry(self, identity: str) -> RegistryEntry:
        """A table by the digest of what was published, also of a publication in the making."""
        content = self._content(identity)
        if identity not in self._known:
            self._known[identity] = entry_from(self.path, identity, content, self._lists)
        return self._known[identity]

    def table(self, entry: RegistryEntry) -> AnyTable:
        """The published values of one publication."""
        return self.values(entry).table(entry.spec)

    def values(self, entry: RegistryEntry) -> Values:
        """The published values by cell number."""
        if not entry.has_values:
            raise SpecError(
                f"{entry.name}: the table was streamed; the registry holds its specification and a"
                " digest, and no values."
            )
        path = self.path / FOLDER / f"{entry.id}.parquet"
        try:
            columns = pq.read_table(path, page_checksum_verification=True)
            values = Values.from_columns(columns)
            values = values if entry.sparse else values.dense(entry.spec.cells)
        except (OSError, ValueError, KeyError, pa.ArrowException):
            raise damaged(self.path / FOLDER / entry.id) from None
        if not entry.sparse and values.published.size != entry.spec.cells:
            raise damaged(self.path / FOLDER / entry.id)
        return values

    def batch(self) -> Batch:
        """A publication of several tables, which exist together or not at all."""
        return Batch(self.path)

    def add_many(
        self,
        tables: Iterable[PublishedTable],
        *,
        publication: str = "",
        consistent: bool = False,
    ) -> tuple[RegistryEntry, ...]:
        """Add a publication of several tables; all of them, or none if anything fails.

        Args:
            tables: The published tables.
            publication: What the publication is called.
            consistent: Whether the same records have the same number in all of them.
        """
        batch = self.batch()
        for table in tables:
            batch.add(
                table.table, provenance=table.provenance, name=table.name, consistent=consistent
            )
        added = batch.commit(publication)
        return self.entries()[-len(added) :] if added else ()

    def add(
        self,
        published: PublishedTable | AnyTable,
        *,
        provenance: Provenance | None = None,
        name: str = "",
        allow_conflicts: bool = False,
        consistent: bool = False,
        closes: Closing | None = None,
    ) -> RegistryEntry:
        """Add a publication of one table; adding the same again changes nothing.

        Args:
            published: The published table.
            provenance: How it was made, if ``published`` does not say so itself.
            name: How the office calls it.
            allow_conflicts: Whether cells may have been published before with another value.
            consistent: Whether the same records have the same number however they are reached.
            closes: What its method asks of other products for the cells that it withholds; as the
                method of the provenance says, if it is not given.

        Raises:
            Refused: Cells were published before with another value, or are closed.
        """
        table: AnyTable
        if isinstance(published, PublishedTable):
            table = published.table
            provenance = provenance or published.provenance
            name = name or published.name
        elif isinstance(published, AnyTable):
            table = published
        else:
            raise SpecError("A registry takes published tables only, never true counts.")
        known = self._same(table, provenance)
        if known is not None:
            return known
        if not allow_conflicts:
            self.refuse_conflicts(table, provenance, closes)
        batch = self.batch()
        batch.add(table, provenance=provenance, name=name, consistent=consistent, closes=closes)
        batch.commit(name or table.spec.title)
        return self.entries()[-1]

    def _same(self, table: AnyTable, provenance: Provenance | None) -> RegistryEntry | None:
        """The same numbers, made in the same way, if they were published before."""
        own = Values.of(table)
        wanted = table.spec.hash()
        for entry in self._entries():
            if entry.sparse is not isinstance(table, SparseTable) or not entry.has_values:
                continue
            if entry.spec_hash != wanted or making_of(entry.provenance) != making_of(provenance):
                continue
            compared = differences(table.spec, own, entry.spec, self.values(entry))
            if (
                compared is not None
                and compared.compared >= own.published.size
                and not compared.cells.size
            ):
                return entry
        return None

    def value(self, spec: TableSpec, cell: int) -> int | None:
        """What was last published for the records of a cell, in any table; ``None`` if nothing.

        Args:
            spec: A table with that cell.
            cell: The number of the cell, the last axis running fastest.
        """
        if not 0 <= cell < spec.cells:
            raise SpecError(f"{spec.title}: the cells have numbers from 0 to {spec.cells - 1}.")
        wanted = np.array([cell], dtype=np.uint64)
        latest: int | None = None
        for entry in self._alike(spec):
            for _, value in zip(*self._numbers(spec, wanted, entry), strict=True):
                latest = int(value)
        return latest

    def conflicts(
        self,
        table: AnyTable,
        *,
        provenance: Provenance | None = None,
        consistent: bool = False,
    ) -> tuple[Conflicts, ...]:
        """Cells of a table that were published before with another value, by publication.

        Args:
            table: The table.
            provenance: How it was made. Publications that were made in the same way by a
                consistent method agree with it and are not looked at.
            consistent: Whether its method is consistent.
        """
        own = Values.of(table)
        conflicts = []
        for entry in self._alike(table.spec):
            if entry.agrees_with(provenance, consistent=consistent):
                continue
            compared = differences(table.spec, own, entry.spec, self.values(entry))
            if compared is None:
                continue
            both = np.flatnonzero((compared.flags == 0) & (compared.flags_before == 0))
            if both.size:
                conflicts.append(_conflicts(entry, compared, both))
        return tuple(conflicts)

    def published_elsewhere(self, table: Table) -> Numbers:
        """Withheld cells of a table whose records were published before with a number."""
        if table.flags is None:
            return np.zeros(0, dtype=np.uint64)
        withheld = np.flatnonzero(table.flags.reshape(-1)).astype(np.uint64)
        seen = np.zeros(withheld.size, dtype=bool)
        for entry in self._alike(table.spec):
            kept, _ = self._numbers(table.spec, withheld, entry)
            seen[kept] = True
        return withheld[seen]

    def refuse_conflicts(
        self,
        table: AnyTable,
        provenance: Provenance | None = None,
        closes: Closing | None = None,
    ) -> None:
        """Refuse a table with numbers that contradict what was published before.

        Or one from another line of records than anything else: all tables of a census are related,
        also where they share no number. Or one that gives away what was closed, or closes what is
        out.

        Args:
            table: What would be published.
            provenance: How it was made.
            closes: As for ``add``.
        """
        self._refuse_other_lines(table, provenance)
        self._refuse_opened(table, closing(provenance) if closes is None else closes)
        conflicts = self.conflicts(table)
        if conflicts:
            cells = sum(map(len, conflicts))
            were = "1 cell was" if cells == 1 else f"{cells:,} cells were"
            raise Refused(
                f"{table.spec.title}: {were} published before with another value,"
                f" first in {conflicts[0].entry.name!r}. Publish the same numbers, with the same"
                " method and secret; or record a change that is meant with Registry.add(...,"
                " allow_conflicts=True)."
            )

    def _refuse_other_lines(self, table: AnyTable, provenance: Provenance | None) -> None:
        for entry in self.latest() if provenance is not None else ():
            before = entry.provenance
            if provenance is None or before is None or before.lineage == provenance.lineage:
                continue
            raise Refused(
                f"{table.spec.title} was made from {line_text(provenance.lineage)}, and"
                f" {entry.name!r} was published from {line_text(before.lineage)}. Who has related"
                " numbers from both learns from their differences what was changed, and for whom."
                " Publish from the store from which was published before; for another census,"
                " name a registry of its own."
            )

    def _refuse_opened(self, table: AnyTable, closes: Closing) -> None:
        new = ProductTable.of(table.spec.title, table, closing=closes)
        before = self.latest()
        if new.closes or any(entry.closes for entry in before):
            refuse_opened(new, self.products(before))

    def products(
        self, entries: Iterable[RegistryEntry], names: Callable[[RegistryEntry], str] | None = None
    ) -> list[ProductTable]:
        """Published tables as products that show and close cells.

        Args:
            entries: The tables.
            names: What messages call them; their names if it is not said.
        """
        called = names or (lambda entry: entry.name)
        return [product_of(entry, self.values, called(entry)) for entry in entries]

    def _numbers(
        self, spec: TableSpec, cells: Numbers, entry: RegistryEntry
    ) -> tuple[Int64, Int64]:
        """Of some cells those that a publication has with a number, and the numbers."""
        shared = shared_cells(spec, entry.spec)
        if shared is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        kept, theirs = shared.of(cells)
        values = self.values(entry)
        numbered = values.flags_at(theirs) == 0
        return kept[numbered], values.at(theirs[numbered])

    def _alike(self, spec: TableSpec) -> Iterator[RegistryEntry]:
        """The last publications that count the same kind of units in the same way."""
        for entry in self.latest():
            same = entry.spec.of is spec.of and entry.spec.measure is spec.measure
            if same and entry.has_values:
                yield entry

    def _entries(self) -> Iterator[RegistryEntry]:
        return (self._placed(*place) for place in self._listed())

    def _listed(self) -> Iterator[tuple[str, int, str]]:
        """Of every table of every publication: its publication, its place, its id."""
        order = 0
        for _, path in event_files(self.path):
            content = read_json(path, missing=f"{path} cannot be read.")
            try:
                name, identities = (
                    str(content["name"]),
                    [str(identity) for identity in content["entries"]],
                )
                newer = int(content["version"]) > FORMAT_VERSION
            except (LookupError, TypeError, ValueError):
                raise damaged(path) from None
            if newer:
                raise StoreError(f"{path} was written by a newer sdcensus. Update sdcensus.")
            for identity in identities:
                yield name, order, identity
                order += 1

    def _placed(self, publication: str, order: int, identity: str) -> RegistryEntry:
        return replace(self.entry(identity), order=order, publication=publication)

    def _content(self, identity: str) -> dict[str, Any]:
        """The description of a table, read again only if its file has changed."""
        path = self.path / FOLDER / f"{identity}.json"
        try:
            state = path.stat()
        except OSError:
            raise damaged(path) from None
        mark = (state.st_mtime_ns, state.st_size)
        known = self._contents.get(identity)
        if known is None or known[0] != mark:
            known = (mark, read_json(path, missing=f"{path} cannot be read."))
            self._contents[identity] = known
            self._known.pop(identity, None)
        return known[1]


def _conflicts(entry: RegistryEntry, found: Differences, chosen: Int64) -> Conflicts:
    return Conflicts(entry, found.cells[chosen], found.values[chosen], found.before[chosen])
