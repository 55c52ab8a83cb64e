"""What a further file adds to the files and tables that are out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import Sentence
from sdcensus.microdata.continuous.microaggregation import Microaggregation
from sdcensus.microdata.continuous.rank_swap import RankSwap
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.rules import AtLevel
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import line_text, lineage_text
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.release.registered import RegisteredFile, files_of
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.model.sentences import sentence
from sdcensus.risk.records.union import ShownFile, UnionRisk, union_risk
from sdcensus.session.release.assess.tables import WithTables, with_tables
from sdcensus.session.release.make.shown import read_shown, shown_file
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registered_files import read_registered

#: Leaving records out changes nothing about those that stay: a sample leaves out most of them.
LEAVES_OUT = "drop-records"


#: Methods that change amounts and the classes of amounts, and nothing else.
CHANGES_AMOUNTS = (Microaggregation.name, RankSwap.name)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cumulation(Confidential):
    """What a file and what is out give away together.

    Attributes:
        shown: What the file shows.
        union: The risk of all files; ``None`` where no other one is out.
        beside: The files that it was held against, by what the office keeps of them.
        facts: The same as tables.
        refusals: Why the file should not go out.
        notes: What else the office should know.
    """

    shown: ShownFile
    union: UnionRisk | None = None
    beside: tuple[str, ...] = ()
    facts: tuple[FactTable, ...] = ()
    refusals: tuple[Sentence, ...] = ()
    notes: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return "<Cumulation: confidential>"


def cumulation(
    plan: ReleasePlan, store: CensusStore, records: FileRecords, progress: Progress = no_progress
) -> Cumulation:
    """Hold a file against the files and tables that are out of the same census.

    Args:
        plan: The ladder, the class and the office folder.
        store: The census as it was counted.
        records: What the file tells.
        progress: Told how far it is.

    Raises:
        StoreError: What the office keeps of a file, or of published tables, is damaged.
    """
    shown = shown_file(records, store, plan.name, plan.acceptance.expected_matches)
    earlier: list[ShownFile] = []
    notes: list[Sentence] = []
    refusals: list[Sentence] = []
    info = store.schema.census
    events = read_registered(plan.office)
    out = files_of(events, "|".join(info.code), info.reference_date)
    for place, entry in enumerate(out):
        progress("reading what is out", place / len(out))
        if entry.secret_id != store.manifest.secret_id:
            refusals.append(sentence("release.together.other_secret", name=entry.name))
            continue
        file, gone = read_shown(plan.office / entry.folder / entry.shown, store)
        earlier.append(file)
        if gone:
            notes.append(sentence("release.together.gone", name=entry.name, n=gone))
        same_line = entry.lineage == line_of(records.store)
        if same_line and entry.data_version != records.store.manifest.data_version:
            notes.append(sentence("release.together.other_version", name=entry.name))
    tables = with_tables(plan.office, store, records, progress)
    refusals += _other_lines(records.store, out, tables)
    union = None
    if earlier:
        progress("adding up what is out", 0.0)
        union = _union(plan, store, records, [*earlier, shown])
        if union.exceeded:
            refusals.insert(0, _exceeded(union))
    return Cumulation(
        shown=shown,
        union=union,
        beside=tuple(entry.shown for entry in out),
        facts=(*_union_facts(union, store.rows(Entity.PERSON)), *tables.facts),
        refusals=tuple(refusals),
        notes=(*notes, *tables.notes),
    )


def _union(
    plan: ReleasePlan, store: CensusStore, records: FileRecords, files: Sequence[ShownFile]
) -> UnionRisk:
    known = dict(_known(plan, store, records))
    leaves = {
        name: store.column(Entity.PERSON, store.schema.variable(name))[slice(None)]
        for name in known
        if any(name in file.levels for file in files)
    }
    size = store.rows(Entity.PERSON)
    return union_risk(leaves, files, known, size=size, missing=plan.risk.missing)


def _known(
    plan: ReleasePlan, store: CensusStore, records: FileRecords
) -> Iterator[tuple[str, Level]]:
    """What an intruder knows: the keys by which the file is judged, whoever tells them."""
    design, most = records.design, plan.risk.known_keys
    texts = plan.risk.ladder
    if not texts:
        texts = (*(key.source.name for key in design.ladder), *design.not_in_file)
    judged = {key.source.name for key in design.ladder[:most]}
    for place, text in enumerate(texts):
        at = AtLevel.parse(text)
        if most is None or place < most or at.variable in judged:
            yield at.variable, store.schema.variable(at.variable).level(at.level or None)


def _exceeded(union: UnionRisk) -> Sentence:
    return sentence(
        "release.together.refused",
        n=len(union.files),
        expected=round(union.expected, 1),
        accepted=round(union.accepted, 1),
        adds=round(union.adds, 1),
    )


def _other_lines(
    store: CensusStore, out: Sequence[RegisteredFile], tables: WithTables
) -> Iterator[Sentence]:
    """Several lines of records: what differs between them tells what was changed, and for whom."""
    for entry in out:
        if entry.lineage != line_of(store):
            yield sentence(
                "release.together.other_line", name=entry.name, line=line_text(entry.lineage)
            )
    # Tables that count by no amount are the same before and after amounts were changed.
    line = line_of(store) if tables.by_amounts else line_of(store, besides=CHANGES_AMOUNTS)
    for other in tables.lines:
        if other != line:
            yield sentence("release.together.other_tables", line=line_text(other))


def line_of(store: CensusStore, besides: Collection[str] = ()) -> str:
    """How the records of a store were derived; empty for those that were counted.

    Args:
        store: The store.
        besides: Methods that make no difference here, besides leaving records out.
    """
    steps = store.manifest.lineage
    return lineage_text([step for step in steps if step.method not in (LEAVES_OUT, *besides)])


def _union_facts(union: UnionRisk | None, size: int) -> tuple[FactTable, ...]:
    return () if union is None else (_files_table(union, size), _pairs_table(union))


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
