"""A store from a store, by a pre-tabular method."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sdcensus._version import __version__
from sdcensus.errors import OutputError
from sdcensus.microdata.derived_store import DerivedRecords, write_derived
from sdcensus.microdata.method import FactTable, OfficeFile, PublicPaper, left_empty
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Derivation, lineage_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.text import plain_cell
from sdcensus.session.derive.step import prepared
from sdcensus.session.publish.workplace import taken
from sdcensus.store.manifest import Manifest
from sdcensus.store.owner_only import open_owner_only, write_owner_only
from sdcensus.store.writer import writing

_HEADINGS = ("unit", "record", "change", "variable", "before", "after")
_LINES = 1 << 16


def write_changed_records(derived: DerivedRecords, path: Path) -> None:
    """Write who was changed, and how, to a file that only its owner can read.

    A record is named by the digest of its identity, which the office can find in the store that
    it had before.
    """
    with open_owner_only(path) as file:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_HEADINGS)
        for number, line in enumerate(_lines(derived), start=1):
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


def write_office_file(content: OfficeFile, folder: Path) -> None:
    """Write a file of a method for its owner alone; digests as 16 hex digits."""
    columns = [
        [f"{value:016x}" for value in values.tolist()] if values.dtype == np.uint64 else values
        for values in content.columns.values()
    ]
    with open_owner_only(folder / content.name) as file:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(content.columns)
        for number, line in enumerate(zip(*columns, strict=True), start=1):
            writer.writerow([plain_cell(str(value)) for value in line])
            if number % _LINES == 0:
                file.write(text.getvalue().encode())
                text.seek(0)
                text.truncate()
        file.write(text.getvalue().encode())


#: What the office keeps about a derivation, beside the store.
REPORT_FILE, RECORDS_FILE = "derivation.json", "changed-records.csv"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DerivationReport(Confidential):
    """What a derivation did. Holds sizes: for the office, not for the public.

    Attributes:
        store: Where the derived store stands.
        office: Where the office keeps its report and the list of changed records.
        lineage: The lineage of the store, which published files name. Public.
        data_version: Its data version. Public.
        rows: How many records of each kind it holds.
        dropped: How many of each kind the method has dropped, and how many went with what holds
            them.
        changed: How many records have another value, by variable.
        left_empty: How many records of each kind hold nothing any more of a kind that they held.
        figures: What the method tells about its work.
        facts: The same as tables.
        notes: What else the office should know.
        public_papers: Where what the office lets everybody read was written; ``None`` for nothing.
    """

    store: Path
    office: Path
    lineage: str
    data_version: str
    rows: Mapping[Entity, int]
    dropped: Mapping[Entity, tuple[int, int]]
    changed: Mapping[str, int]
    left_empty: Mapping[Entity, int]
    figures: Mapping[str, int]
    facts: tuple[FactTable, ...] = ()
    notes: tuple[str, ...] = ()
    public_papers: Path | None = None

    def __repr__(self) -> str:
        return f"<DerivationReport of {self.store.name!r}: confidential>"

    def public(self) -> dict[str, str]:
        """What may be told about the store: no count and no parameter."""
        return {"data_version": self.data_version, "lineage": self.lineage}

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain values. Confidential."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        facts = {
            table.name: [dict(zip(table.headings, row, strict=True)) for row in table.rows]
            for table in self.facts
        }
        return values | {"store": str(self.store), "office": str(self.office), "facts": facts}


def derive(
    store: str | Path,
    out: str | Path,
    method: str,
    parameters: Mapping[str, object] | None = None,
    *,
    secret: Secret | str | Path | None = None,
    office: str | Path | None = None,
    replace: bool = False,
    progress: Progress = no_progress,
) -> DerivationReport:
    """Make a store from a store.

    The derived store keeps the digests and keys of its records, and names its lineage, which
    everything names that is published from it. It appears when it is complete, or not at all; the
    same call goes on where a killed one stopped, and ends with the same bytes.

    Args:
        store: The store to begin with; it is left as it is.
        out: The folder of the derived store; must not exist, unless ``replace``.
        method: The name of a pre-tabular method.
        parameters: What is said about it, by name. Confidential.
        secret: The office secret with which the store was loaded, or its file.
        office: Where the office keeps its report and the list of changed records; beside the store
            under its name with ``.office`` when nothing is said.
        replace: Put the store in the place of an older one.
        progress: Called with the stage and how much of it is done.

    Raises:
        SpecError: What is said about the method is wrong, or the changes break an edit rule.
        SecretError: The secret is another one than that of the store.
    """
    step = prepared(store, method, parameters or {}, secret=secret)
    census, derivation = step.store, step.derivation
    target = Path(out)
    own = Path(office) if office is not None else target.with_name(f"{target.name}.office")
    papers = target.with_name(f"{target.name}.public")
    _check_places(census.path, target, own, papers)
    with taken(own):
        derived = step.run(progress)
        if derived.changes.public and papers.exists():
            raise OutputError(
                f"{papers} already exists, with what was published about an older store. Move it"
                " away, then run the command again."
            )
        with writing(target, replace=replace, resumed=_work(derivation)) as writer:
            manifest = write_derived(derived, writer, derivation, progress)
            report = _report(derived, manifest, target, own, papers)
            content = {"method": step.method.name, "parameters": step.settings, **report.to_json()}
            text = json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n"
            write_owner_only(own / REPORT_FILE, text.encode())
            write_changed_records(derived, own / RECORDS_FILE)
            for file in derived.changes.files:
                write_office_file(file, own)
        # What everybody may read appears once the store is there that it is about.
        write_public_papers(derived.changes.public, papers)
    return report


def write_public_papers(papers: Sequence[PublicPaper], folder: Path) -> None:
    """Write what everybody may read into a folder of its own, which appears whole or not at all."""
    if not papers:
        return
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        unfinished = Path(scratch) / "papers"
        unfinished.mkdir()
        for paper in papers:
            (unfinished / paper.name).write_text(paper.content, encoding="utf-8", newline="\n")
        unfinished.replace(folder)


def _check_places(store: Path, out: Path, office: Path, public: Path) -> None:
    """Neither of the folders may lie in another."""
    places = [(path, path.resolve()) for path in (store, out, office, public)]
    for path, resolved in places:
        for other, above in places:
            if path is not other and (resolved == above or above in resolved.parents):
                raise OutputError(f"{path} cannot lie in {other}. Name a folder of its own.")


def _work(derivation: Derivation) -> str:
    """A name for the work: the same for the same call with the same program."""
    text = json.dumps([derivation.to_json(), __version__])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _report(
    derived: DerivedRecords, manifest: Manifest, out: Path, office: Path, papers: Path
) -> DerivationReport:
    store, changes = derived.store, derived.changes
    dropped: dict[Entity, tuple[int, int]] = {}
    for entity, gone in derived.gone.items():
        own = len(changes.dropped.get(entity, ()))
        if gone.any():
            dropped[entity] = (own, int(gone.sum()) - own)
    counting = [
        variable.name
        for variable in store.schema.variables
        if variable.counts is not None and variable.counts in dropped
    ]
    notes = [
        f"{', '.join(counting)} tell how many units others hold, and were not counted anew."
        for _ in counting[:1]
    ]
    return DerivationReport(
        store=out,
        office=office,
        lineage=lineage_text(manifest.lineage),
        data_version=manifest.data_version,
        rows={entity: int(order.size) for entity, order in derived.order.items()},
        dropped=dropped,
        changed={name: int(new.rows.size) for name, _, new in changes.columns()},
        left_empty=left_empty(store, derived.gone),
        figures=dict(changes.figures),
        facts=changes.facts,
        notes=(*notes, *changes.notes),
        public_papers=papers if changes.public else None,
    )
