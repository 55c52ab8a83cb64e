"""What the office keeps about a derived store: written aside, and in its place with the store.

Files of an earlier store stay as they are until the new one stands. A run that is killed between
the two leaves everything written; whoever comes next puts it in its place. What everybody may read
goes the same way: it appears once the store is there that it is about.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sdcensus.errors import OutputError, SdcensusError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import OfficeFile, PublicPaper
from sdcensus.model.confidential import Confidential
from sdcensus.model.text import plain_cell
from sdcensus.session.publish.lock import RUNNING
from sdcensus.store.manifest import link_column, read_manifest
from sdcensus.store.owner_only import (
    make_owner_only_folder,
    open_owner_only,
    write_owner_only,
)

#: What the office keeps about a derivation, beside the store.
REPORT_FILE, RECORDS_FILE = "derivation.json", "changed-records.csv"
_ASIDE, _WHOLE, _NAMES, _PAPERS = ".new", "whole.json", ".files.json", "public"
_HEADINGS = ("unit", "record", "change", "variable", "before", "after")
_LINES = 1 << 16


class OfficeFiles(Confidential):
    """The files of one derivation, in a folder of their own until its store stands.

    Args:
        office: The folder of the office.
        public: The folder of what everybody may read.
    """

    __slots__ = ("aside", "office", "public")

    def __init__(self, office: Path, public: Path) -> None:
        self.office, self.public = office, public
        #: Where they are written.
        self.aside = office / _ASIDE

    def __repr__(self) -> str:
        return "<OfficeFiles: confidential>"

    def begin(self) -> None:
        """Make room for them."""
        self.discard()
        make_owner_only_folder(self.aside)

    def add_public(self, papers: Sequence[PublicPaper]) -> None:
        """Write what everybody may read, for its folder."""
        if papers:
            (self.aside / _PAPERS).mkdir()
        for paper in papers:
            (self.aside / _PAPERS / paper.name).write_bytes(paper.content.encode())

    def seal(self, data_version: str) -> None:
        """Everything is written; from here on they belong to a store."""
        names = sorted(path.name for path in self.aside.iterdir() if path.is_file())
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
            if (self.aside / _PAPERS).is_dir():
                _publish(_texts(self.aside / _PAPERS), self.public)
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


@contextmanager
def without_traces(office: Path) -> Iterator[None]:
    """Leave no folder behind that a run has made and written nothing into."""
    new = not office.exists()
    try:
        yield
    except BaseException:
        if new and office.is_dir() and {path.name for path in office.iterdir()} <= {RUNNING}:
            shutil.rmtree(office, ignore_errors=True)
        raise


def check_public_place(folder: Path, papers: Sequence[PublicPaper]) -> None:
    """Refuse to put papers in the place of others; the same ones may be there already.

    Raises:
        OutputError: What everybody may read about an older store is there.
    """
    new = {paper.name: paper.content.encode() for paper in papers}
    if new and folder.exists() and _texts(folder) != new:
        raise OutputError(
            f"{folder} already exists, with what was published about an older store. Move it"
            " away, then run the command again."
        )


def _publish(papers: Mapping[str, bytes], folder: Path) -> None:
    """Write what everybody may read into a folder of its own, which appears whole or not at all."""
    if folder.exists() and _texts(folder) == papers:
        return
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        unfinished = Path(scratch) / _PAPERS
        unfinished.mkdir()
        for name, content in papers.items():
            (unfinished / name).write_bytes(content)
        unfinished.replace(folder)


def _texts(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


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
    for (entity, parent), new in changes.links.items():
        digests, holders = store.digests(entity), store.digests(parent)
        before = store.raw(entity, link_column(parent))
        for row, after in zip(new.rows.tolist(), new.values.tolist(), strict=True):
            places = (
                "" if place == NO_ROW else f"{int(holders[place]):016x}"
                for place in (int(before[row]), int(after))
            )
            record = f"{int(digests[row]):016x}"
            yield (entity.value, record, "held by another", parent.value, *places)
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
    for variable, known, weights in derived.new_weights():
        entity = variable.entity
        digests = store.digests(entity)
        for row in np.flatnonzero((weights != known) & ~derived.gone[entity]).tolist():
            record = f"{int(digests[row]):016x}"
            numbers = (str(int(known[row])), str(int(weights[row])))
            yield (entity.value, record, "changed", variable.name, *numbers)
    # Also those that got the value that they had.
    for name, rows in changes.imputed.items():
        entity = store.schema.variable(name).entity
        digests = store.digests(entity)
        for row in rows.tolist():
            yield entity.value, f"{int(digests[row]):016x}", "imputed", name, "", ""
