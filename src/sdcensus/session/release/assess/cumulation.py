"""What a further file adds to the files that are out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.release.registered import RegisteredFile, files_out
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.risk.records.union import ShownFile, UnionRisk, union_risk
from sdcensus.session.release.make.shown import read_shown, shown_file
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registered_files import read_registered


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cumulation(Confidential):
    """What a file and those that are out give away together.

    Attributes:
        shown: What the file shows.
        union: The risk of all of them; ``None`` where no other file is out.
        facts: The same as tables.
        refusals: Why the file should not go out.
        notes: What else the office should know.
    """

    shown: ShownFile
    union: UnionRisk | None = None
    facts: tuple[FactTable, ...] = ()
    refusals: tuple[Sentence, ...] = ()
    notes: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return "<Cumulation: confidential>"


def cumulation(
    plan: ReleasePlan, store: CensusStore, records: FileRecords, progress: Progress = no_progress
) -> Cumulation:
    """Hold a file against those that are out of the same census.

    Args:
        plan: The ladder, the class and the office folder.
        store: The census as it was counted.
        records: What the file tells.
        progress: Told how far it is.
    """
    ladder = list(dict.fromkeys(key.source.name for key in records.design.ladder))
    names = list(dict.fromkeys([*ladder, *_known(plan, store)]))
    shown = shown_file(records, plan.name, plan.acceptance.expected_matches, names)
    earlier: list[ShownFile] = []
    notes: list[Sentence] = []
    for place, entry in enumerate(out := files_out(read_registered(plan.office))):
        progress("reading what is out", place / len(out))
        if entry.secret_id != store.manifest.secret_id:
            notes.append(sentence("release.together.other_secret", name=entry.name))
            continue
        file, gone = read_shown(plan.office / entry.folder / entry.shown, store, names)
        earlier.append(file)
        if gone:
            notes.append(sentence("release.together.gone", name=entry.name, n=gone))
        notes += _other_line(entry, records.store)
    if not earlier:
        return Cumulation(shown=shown, notes=tuple(notes))
    progress("adding up what is out", 0.0)
    files = [*earlier, shown]
    keys = {key for file in files for key in file.keys}
    leaves = {
        name: store.column(Entity.PERSON, store.schema.variable(name))[slice(None)] for name in keys
    }
    size = store.rows(Entity.PERSON)
    union = union_risk(leaves, files, size=size, missing=plan.risk.missing)
    refusals: tuple[Sentence, ...] = ()
    if union.exceeded:
        refusals = (
            sentence(
                "release.together.refused",
                n=len(files),
                expected=round(union.expected, 1),
                accepted=round(union.accepted, 1),
                adds=round(union.adds, 1),
            ),
        )
    return Cumulation(
        shown=shown,
        union=union,
        facts=(_files_table(union, size), _pairs_table(union)),
        refusals=refusals,
        notes=tuple(notes),
    )


def _known(plan: ReleasePlan, store: CensusStore) -> list[str]:
    """The variables of the plan's ladder, whether the file tells them or another one does."""
    known = {variable.name for variable in store.schema.variables}
    names = [key.partition("@")[0] for key in plan.risk.ladder]
    return [name for name in names if name in known]


def _other_line(entry: RegisteredFile, store: CensusStore) -> tuple[Sentence, ...]:
    """Files of several lines of records: what differs between them tells what was changed."""
    if entry.lineage != line_of(store):
        return (sentence("release.together.other_line", name=entry.name),)
    if entry.data_version != store.manifest.data_version:
        return (sentence("release.together.other_version", name=entry.name),)
    return ()


def line_of(store: CensusStore) -> str:
    """How the records of a store were derived; empty for those that were counted."""
    return "; ".join(f"{step.method} {step.fingerprint}" for step in store.manifest.lineage)


def _files_table(union: UnionRisk, size: int) -> FactTable:
    lines: list[tuple[Fact, ...]] = [
        (
            file.name,
            file.records,
            round(file.expected_alone, 1),
            round(file.accepted * size, 1),
        )
        for file in union.files
    ]
    together = str(sentence("release.together.all"))
    lines.append((together, union.persons, round(union.expected, 1), round(union.accepted, 1)))
    return _table("files", ("file", "persons", "expected", "accepted"), lines)


def _pairs_table(union: UnionRisk) -> FactTable:
    lines: list[tuple[Fact, ...]] = [(*pair.names, pair.both, pair.linked) for pair in union.pairs]
    return _table("pairs", ("file", "other", "both", "linked"), lines)


def _table(name: str, heads: Sequence[str], lines: Sequence[tuple[Fact, ...]]) -> FactTable:
    return FactTable(
        name=f"together-{name}",
        title=sentence(f"release.together.{name}"),
        headings=tuple(sentence(f"release.together.{head}") for head in heads),
        rows=tuple(lines),
    )


def office_file(plan: ReleasePlan, entry: RegisteredFile) -> Path:
    """Where the office keeps what a registered file shows."""
    return plan.office / entry.folder / entry.shown
