"""A publication in the making: tables are put down one by one, and exist together or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sdcensus.errors import StoreError
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, SparseTable
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.owner_only import open_owner_only, write_owner_only
from sdcensus.store.registry_files import (
    ENTRY_ID,
    FOLDER,
    FORMAT_VERSION,
    LISTS,
    ListKey,
    as_bytes,
    checksum,
    event_file,
    event_files,
    put_spec,
    read_json,
)
from sdcensus.store.registry_values import Values, identity_of, values_digest


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
    ) -> str:
        """Put the values of a table down; the id under which ``take`` finds them again."""
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
        order = 1 + max((one for one, _ in before), default=-1)
        made = {"version": FORMAT_VERSION, "name": publication, "entries": self._taken}
        return event_file(order), as_bytes(made)

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
            kept |= {str(one) for one in read_json(path, missing=str(path)).get("entries", ())}
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
            used |= {str(one) for one in document.get("code_lists", ())}
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
