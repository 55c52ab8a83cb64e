"""A store from a store, by a pre-tabular method."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace as replaced
from pathlib import Path
from typing import Any

from sdcensus.errors import OutputError, SpecError
from sdcensus.microdata.derived_store import DerivedRecords, write_derived
from sdcensus.microdata.edit_rules import (
    REFUSED_FILE,
    VIOLATIONS_FILE,
    NewViolations,
    new_violations,
    refusal_of,
    violations_file,
)
from sdcensus.microdata.method import FactTable, left_empty
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import lineage_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.sentences import sentence
from sdcensus.report.derivation.files import PAGE, WORKBOOK, write_effects
from sdcensus.session.census.secret_file import find_secret
from sdcensus.session.derive.effects import measured_effects
from sdcensus.session.derive.office_files import (
    RECORDS_FILE,
    REPORT_FILE,
    OfficeFiles,
    check_public_place,
    without_traces,
    write_changed_records,
    write_office_file,
)
from sdcensus.session.derive.questions import EffectQuestions
from sdcensus.session.derive.step import Step, prepared
from sdcensus.session.publish.lock import taken
from sdcensus.store.manifest import Manifest
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.writer import StoreWriter, writing


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
        violations: How many records break a rule of the schema that they kept before, by rule.
        removed: What killed loads and exports had left at its place, which was removed.
        left: What killed derivations with other parameters have left there; theirs go on with it.
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
    violations: Mapping[str, int] = field(default_factory=dict)
    public_papers: Path | None = None
    removed: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()

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
        for name in ("removed", "left"):  # of the run, not of the store
            del values[name]
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
    allow_violations: bool = False,
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
        allow_violations: Write it also where records break a rule of the schema that they kept
            before; they are counted in the report and listed for the office.
        questions: What a page and a workbook for the office shall tell about the store; without
            them there are none.
        progress: Called with the stage and how much of it is done.

    Raises:
        SpecError: What is said about the method is wrong, or the changes break an edit rule.
        SecretError: The secret is another one than that of the store.
    """
    step = prepared(store, method, parameters or {}, secret=secret)
    census = step.store
    if questions is not None:
        questions.checked(census.schema)
    target = Path(out)
    own = Path(office) if office is not None else target.with_name(f"{target.name}.office")
    papers = target.with_name(f"{target.name}.public")
    _check_places(census.path, target, own, papers)
    files = OfficeFiles(own, papers)
    if files.aside.exists():
        with taken(own):
            files.settle(target)
    StoreWriter.check_place(target, replace=replace)
    census.verify_once(progress)
    derived = step.run(progress)
    check_public_place(papers, derived.changes.public)
    violations = new_violations(derived, progress)
    with without_traces(own), taken(own):
        if violations and not allow_violations:
            refused = violations_file(derived, violations, REFUSED_FILE)
            write_office_file(refused, own)
            raise SpecError(refusal_of(violations, own / REFUSED_FILE))
        effects = None
        if questions is not None:
            effects = measured_effects(
                step, derived, questions, find_secret(secret), violations, progress
            )
        try:
            # What a killed run has written may go on only with what is the same.
            resumed = step.work if derived.changes.repeatable else ""
            with writing(target, replace=replace, resumed=resumed) as writer:
                manifest = write_derived(derived, writer, step.derivation, progress)
                report = _report(derived, manifest, violations, target, own, papers)
                files.begin()
                _write_office(step, derived, violations, report, files.aside)
                if effects is not None:
                    write_effects(effects, files.aside, progress)
                files.add_public(derived.changes.public)
                files.seal(manifest.data_version)
            files.place()
        except BaseException:
            files.settle(target)
            raise
        report = replaced(report, removed=writer.removed, left=writer.left)
        (own / REFUSED_FILE).unlink(missing_ok=True)
    return report


def _write_office(
    step: Step,
    derived: DerivedRecords,
    violations: Sequence[NewViolations],
    report: DerivationReport,
    folder: Path,
) -> None:
    content = {"method": step.method.name, "parameters": step.settings, **report.to_json()}
    text = json.dumps(content, indent=1, ensure_ascii=False, default=str) + "\n"
    write_owner_only(folder / REPORT_FILE, text.encode())
    write_changed_records(derived, folder / RECORDS_FILE)
    listed = [violations_file(derived, violations, VIOLATIONS_FILE)] if violations else []
    for file in (*derived.changes.files, *listed):
        write_office_file(file, folder)


def _check_places(store: Path, out: Path, office: Path, public: Path) -> None:
    """Neither of the folders may lie in another."""
    places = [(path, path.resolve()) for path in (store, out, office, public)]
    for path, resolved in places:
        for other, above in places:
            if path is not other and (resolved == above or above in resolved.parents):
                raise OutputError(f"{path} cannot lie in {other}. Name a folder of its own.")


def _report(
    derived: DerivedRecords,
    manifest: Manifest,
    violations: Sequence[NewViolations],
    out: Path,
    office: Path,
    papers: Path,
) -> DerivationReport:
    store, changes = derived.store, derived.changes
    dropped: dict[Entity, tuple[int, int]] = {}
    for entity, gone in derived.gone.items():
        own = len(changes.dropped.get(entity, ()))
        if gone.any():
            dropped[entity] = (own, int(gone.sum()) - own)
    counting = [
        variable.name
        for variable in derived.schema.variables
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
        notes=(
            *notes,
            *changes.notes,
            *(
                sentence("rules.violations", rule=new.rule.text, n=int(new.rows.size))
                for new in violations
            ),
        ),
        violations={new.rule.text: int(new.rows.size) for new in violations},
        public_papers=papers if changes.public else None,
    )
