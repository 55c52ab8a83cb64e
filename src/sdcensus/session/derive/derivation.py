"""A store from a store, by a pre-tabular method."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus._version import __version__
from sdcensus.errors import OutputError
from sdcensus.microdata.derived_store import DerivedRecords, write_derived
from sdcensus.microdata.method import FactTable, OfficeFile, left_empty
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Derivation, lineage_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.text import plain_cell
from sdcensus.report.derivation.files import PAGE, WORKBOOK, write_effects
from sdcensus.session.census.census import find_secret
from sdcensus.session.derive.effects import measured_effects
from sdcensus.session.derive.questions import EffectQuestions
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

    def __repr__(self) -> str:
        return f"<DerivationReport of {self.store.name!r}: confidential>"

    @property
    def report_files(self) -> tuple[str, str]:
        """The page and the workbook in the folder of the office, where they were asked for."""
        return PAGE, WORKBOOK

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
    questions: EffectQuestions | None = None,
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
        questions: What a page and a workbook for the office shall tell about the store; without
            them there are none.
        progress: Called with the stage and how much of it is done.

    Raises:
        SpecError: What is said about the method is wrong, or the changes break an edit rule.
        SecretError: The secret is another one than that of the store.
    """
    step = prepared(store, method, parameters or {}, secret=secret)
    census, derivation = step.store, step.derivation
    if questions is not None:
        questions.checked(census.schema)
    target = Path(out)
    own = Path(office) if office is not None else target.with_name(f"{target.name}.office")
    _check_places(census.path, target, own)
    with taken(own):
        derived = step.run(progress)
        with writing(target, replace=replace, resumed=_work(derivation)) as writer:
            manifest = write_derived(derived, writer, derivation, progress)
            report = _report(derived, manifest, target, own)
            content = {"method": step.method.name, "parameters": step.settings, **report.to_json()}
            text = json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n"
            write_owner_only(own / REPORT_FILE, text.encode())
            write_changed_records(derived, own / RECORDS_FILE)
            for file in derived.changes.files:
                write_office_file(file, own)
            if questions is not None:
                effects = measured_effects(step, derived, questions, find_secret(secret), progress)
                write_effects(effects, own, progress)
    return report


def _check_places(store: Path, out: Path, office: Path) -> None:
    """Neither of the folders may lie in another."""
    places = [(path, path.resolve()) for path in (store, out, office)]
    for path, resolved in places:
        for other, above in places:
            if path is not other and (resolved == above or above in resolved.parents):
                raise OutputError(f"{path} cannot lie in {other}. Name a folder of its own.")


def _work(derivation: Derivation) -> str:
    """A name for the work: the same for the same call with the same program."""
    text = json.dumps([derivation.to_json(), __version__])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _report(
    derived: DerivedRecords, manifest: Manifest, out: Path, office: Path
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
    )
