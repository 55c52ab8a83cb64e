"""What the office keeps about a derived store: written aside, and in its place with the store.

Files of an earlier store stay as they are until the new one stands. A run that is killed between
the two leaves everything written; whoever comes next puts it in its place.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from sdcensus.errors import OutputError, SdcensusError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import OfficeFile
from sdcensus.model.confidential import Confidential
from sdcensus.model.text import plain_cell
from sdcensus.store.manifest import read_manifest
from sdcensus.store.owner_only import (
    make_owner_only_folder,
    open_owner_only,
    write_owner_only,
)

#: What the office keeps about a derivation, beside the store.
REPORT_FILE, RECORDS_FILE = "derivation.json", "changed-records.csv"
_ASIDE, _WHOLE, _NAMES = ".new", "whole.json", ".files.json"
_HEADINGS = ("unit", "record", "change", "variable", "before", "after")
_LINES = 1 << 16


class OfficeFiles(Confidential):
    """The files of one derivation, in a folder of their own until its store stands.

    Args:
        office: The folder of the office.
    """

    __slots__ = ("aside", "office")

    def __init__(self, office: Path) -> None:
        self.office = office
        #: Where they are written.
        self.aside = office / _ASIDE

    def __repr__(self) -> str:
        return "<OfficeFiles: confidential>"

    def begin(self) -> None:
        """Make room for them."""
        self.discard()
        make_owner_only_folder(self.aside)

    def seal(self, data_version: str) -> None:
        """Everything is written; from here on they belong to a store."""
        names = sorted(path.name for path in self.aside.iterdir())
        write_owner_only(self.aside / _WHOLE, _json({"store": data_version, "files": names}))

    def place(self) -> None:
        """Put them in the place of those of an earlier store; the store stands by now."""
        try:
            names = json.loads((self.aside / _WHOLE).read_text(encoding="utf-8"))["files"]
            for name in names:
                if (self.aside / name).exists():
                    (self.aside / name).replace(self.office / name)
            for name in set(self._known()) - set(names):
                (self.office / name).unlink(missing_ok=True)
            write_owner_only(self.office / _NAMES, _json(names))
        except (OSError, OutputError) as error:
            reason = getattr(error, "strerror", None) or str(error).rstrip(".")
            raise OutputError(
                f"The store is written, but {self.office} is not: {reason}. Its files are"
                f" in {self.aside}; the same command puts them in their place."
            ) from None
        self.discard()

    def settle(self, store: Path) -> None:
        """Put in their place what a killed run has written for a store that stands."""
        try:
            whole = json.loads((self.aside / _WHOLE).read_text(encoding="utf-8"))
            stands = read_manifest(store).data_version == whole["store"]
        except (OSError, ValueError, TypeError, LookupError, SdcensusError):
            stands = False
        if stands:
            self.place()
        self.discard()

    def discard(self) -> None:
        """Remove what is not in its place."""
        if self.aside.exists():
            # The mark goes first: what is left of the others then belongs to no store.
            with suppress(OSError):
                (self.aside / _WHOLE).unlink(missing_ok=True)
            shutil.rmtree(self.aside, ignore_errors=True)

    def _known(self) -> list[str]:
        """The files of the store before this one."""
        try:
            names = json.loads((self.office / _NAMES).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        # Names of files in this folder, and no way out of it.
        return [name for name in names if isinstance(name, str) and Path(name).name == name]


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def write_changed_records(derived: DerivedRecords, path: Path) -> None:
    """Write who was changed, and how, to a file that only its owner can read.

    A record is named by the digest of its identity, which the office can find in the store that
    it had before.
    """
    _write_lines(path, _HEADINGS, _lines(derived))


def write_office_file(content: OfficeFile, folder: Path) -> None:
    """Write a file of a method for its owner alone; digests as 16 hex digits."""
    columns = [
        [f"{value:016x}" for value in values.tolist()] if values.dtype == np.uint64 else values
        for values in content.columns.values()
    ]
    lines = ([plain_cell(str(value)) for value in line] for line in zip(*columns, strict=True))
    _write_lines(folder / content.name, tuple(content.columns), lines)


def _write_lines(
    path: Path, headings: tuple[str, ...], lines: Iterator[tuple[str, ...]] | Iterator[list[str]]
) -> None:
    with open_owner_only(path) as file:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(headings)
        for number, line in enumerate(lines, start=1):
            writer.writerow(line)
            if number % _LINES == 0:
                file.write(text.getvalue().encode())
                text.seek(0)
                text.truncate()
        file.write(text.getvalue().encode())


def _lines(derived: DerivedRecords) -> Iterator[tuple[str, ...]]:
    store, changes = derived.store, derived.changes
    for entity, gone in derived.gone.items():
        chosen = changes.drops(entity, gone.size)
        digests = store.digests(entity) if gone.any() else np.zeros(0)
        for row in np.flatnonzero(gone).tolist():
            change = "dropped" if chosen[row] else "dropped with what holds it"
            yield entity.value, f"{int(digests[row]):016x}", change, "", "", ""
    for name, column, new in changes.columns():
        variable = store.schema.variable(name)
        digests = store.digests(variable.entity)
        before = store.raw(variable.entity, column)
        codes = [code.code for code in variable.codes] if column == name else None
        for row, after in zip(new.rows.tolist(), new.values.tolist(), strict=True):
            values = (int(before[row]), int(after))
            shown = map(str, values) if codes is None else (codes[value] for value in values)
            yield (
                *(variable.entity.value, f"{int(digests[row]):016x}", "changed", name),
                *map(plain_cell, shown),
            )
    yield from _imputed_lines(derived)


def _imputed_lines(derived: DerivedRecords) -> Iterator[tuple[str, ...]]:
    """Records whose value was imputed, also those that got the value that they had."""
    for name, rows in derived.changes.imputed.items():
        entity = derived.store.schema.variable(name).entity
        digests = derived.store.digests(entity)
        for row in rows.tolist():
            yield entity.value, f"{int(digests[row]):016x}", "imputed", name, "", ""
