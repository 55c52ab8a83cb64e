"""The last files of a publication: notes, evaluation, manifest, and what the office keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sdcensus._version import __version__
from sdcensus.formats.write import new_file
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.published.record_changes import (
    RecordChange,
    notes_of_code_lists,
    notes_of_lineage,
    record_changes,
)
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.sentences import sentence, speak
from sdcensus.model.spec.headings import entity_words
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.report.publication.index import evaluation_index
from sdcensus.report.publication.notes import NotedTable, PublicationNotes, notes_pages
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.gate.group_risk import small_group_lines
from sdcensus.session.protect.smallest_group import group_claim, note_for
from sdcensus.session.publish.linked_groups import remarks_of
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.workplace import (
    ACCEPTED_RISK,
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    OFFICE_FILE,
    Finished,
    Workplace,
    WrittenFile,
    folder_of,
)
from sdcensus.store.owner_only import write_owner_only
from sdcensus.utility.delivered_evaluation import delivered_evaluation
from sdcensus.utility.evaluation import EvaluationRow, Stage, StageFigures

#: In an evaluation: whether it compares with a derived store, whose original was not at hand.
OF_DERIVED = "of_derived"


def evaluated(
    name: str,
    cube: Cube,
    table: Table,
    axes: Sequence[DeliveredAxis] | None = None,
    *,
    original: Cube | None = None,
) -> dict[str, Any]:
    """The row of a table on the evaluation sheet, as plain values; confidential.

    Args:
        name: What the table is called.
        cube: True counts of what is published.
        table: What is published.
        axes: How it is delivered: each code is counted once.
        original: The counts before records were changed, if they were.
    """
    shown = [delivered_axis(axis) for axis in cube.spec.axes] if axes is None else axes
    row = delivered_evaluation(
        name,
        cube if original is None else original,
        table,
        shown,
        swapped=None if original is None else cube,
    )
    return row_to_json(row)


def row_to_json(row: EvaluationRow) -> dict[str, Any]:
    """A row as plain values; its number on the sheet is given later."""
    stages = [{**asdict(stage), "stage": stage.stage.value} for stage in row.stages]
    return {
        "table": row.table,
        "variables": list(row.variables),
        "levels": list(row.levels),
        "unsafe_up_to": row.unsafe_up_to,
        "stages": stages,
    }


def row_from_json(number: int, content: Mapping[str, Any]) -> EvaluationRow:
    """Read what ``row_to_json`` made."""
    stages = [
        StageFigures(**{**figures, "stage": Stage(figures["stage"])})
        for figures in content["stages"]
    ]
    return EvaluationRow(
        number,
        str(content["table"]),
        tuple(content["variables"]),
        tuple(content["levels"]),
        int(content["unsafe_up_to"]),
        tuple(stages),
    )


#: What the evaluation of a publication is called in the office's folder.
SHEET, INDEX = "evaluation.xlsx", "evaluation.html"
#: What methods say of how the numbers were found: the best, or how near to it.
REMARKS = "remarks.txt"


def _manifest_of(
    resolved: Resolved, products: Sequence[Finished], files: Sequence[WrittenFile]
) -> bytes:
    """What a published folder holds and how it was made: digests of all files, and no clock."""
    content = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "publication": resolved.publication,
        "census": str(resolved.census.schema.census.name),
        "office": dict(resolved.heading.source.by_language),
        "date": resolved.heading.date,
        "package_version": __version__,
        "tables": [
            {"name": product.name, **product.public, "files": [file.name for file in product.files]}
            for product in products
        ],
        "files": [file.to_json() for file in files],
    }
    return _as_bytes(content)


def _as_bytes(content: Mapping[str, Any]) -> bytes:
    """Plain values as a file that people can read."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


@dataclass(frozen=True, slots=True)
class LastFiles:
    """The files of a publication: all public ones, and the names of the office's pages."""

    public: list[WrittenFile]
    office: tuple[str, ...]


def write_last_files(
    resolved: Resolved,
    workplace: Workplace,
    products: Sequence[Finished],
    identity: Mapping[str, Any],
    accepted: AcceptedRisk | None,
) -> LastFiles:
    """Write the last public files, the manifest, and what the office keeps."""
    files = [file for product in products for file in product.files]
    for name, content in _reader_pages(resolved, products).items():
        with new_file(workplace.hidden / name) as page:
            page.write(content)
        files.append(WrittenFile.of(workplace.hidden / name))
    with new_file(workplace.hidden / MANIFEST) as manifest:
        manifest.write(_manifest_of(resolved, products, files))
    private = {**_evaluation_pages(resolved, products), **_remarks(products)}
    for name, content in private.items():
        write_owner_only(workplace.notes / name, content)
    policy = resolved.plan.policy
    kept = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "publication": resolved.publication,
        "identity": dict(identity),
        "manifest": WrittenFile.of(workplace.hidden / MANIFEST).to_json(),
        "plan": _named(resolved.file),
        "policy": None if policy is None else _named(resolved.plan.path(policy.file)),
        "office": [WrittenFile.of(workplace.notes / name).to_json() for name in private],
    }
    if accepted is not None:
        kept[ACCEPTED_RISK] = accepted.to_json()
    write_owner_only(workplace.notes / OFFICE_FILE, _as_bytes(kept))
    return LastFiles(files, tuple(private))


def _remarks(products: Sequence[Finished]) -> Mapping[str, bytes]:
    """What methods have to say of how the numbers were found, for the office."""
    remarks = remarks_of(products)
    return {REMARKS: ("\n".join(remarks) + "\n").encode()} if remarks else {}


def _named(path: Path) -> dict[str, str | int]:
    """A document that a publication was made from: what it held, and where it lies."""
    return {**WrittenFile.of(path).to_json(), "path": str(path.resolve())}


def _evaluation_pages(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
    """The evaluation of a publication for the office, if the plan asks for it."""
    tables = [table for product in products for table in product.office["tables"]]
    evaluations = [table["evaluation"] for table in tables if "evaluation" in table]
    if not evaluations:
        return {}
    # Takes a second to load, and half of the plans have no evaluation.
    from sdcensus.report.assessment.sheet import workbook

    rows = [row_from_json(number, kept) for number, kept in enumerate(evaluations, start=1)]
    spoken = [language for language in resolved.output.languages if language in LANGUAGES]
    language = spoken[0] if spoken else None
    stages = _stages(resolved, evaluations, language)
    page = evaluation_index(
        rows,
        {product.name: [file.name for file in product.files] for product in products},
        publication=resolved.publication,
        date=resolved.heading.date,
        sheet=SHEET,
        published=_way(folder_of(resolved.office, resolved.publication), resolved.published),
        groups=tuple(small_group_lines(resolved, language)),
        cautions=evaluation_cautions(products),
        stages=stages,
        guaranteed=_guaranteed(resolved),
        language=language,
    )
    sheet = workbook(rows, lambda book, formats: None, {}, language, stages=stages)
    return {SHEET: sheet, INDEX: page.encode("utf-8")}


def _stages(
    resolved: Resolved, evaluations: Sequence[Mapping[str, Any]], language: str | None
) -> dict[Stage, str]:
    """What stages are called: swapping has a word of its own, other changes of records have one."""
    changed = speak("derive.head.derived", language)
    if all(kept.get(OF_DERIVED) for kept in evaluations):
        return {Stage.ORIGINAL: changed}
    kinds = set(record_changes(resolved.census.origin.lineage))
    swapped = {RecordChange.PLACES, RecordChange.ATTRIBUTES}
    return {} if kinds <= swapped else {Stage.SWAPPED: changed}


def evaluation_cautions(products: Sequence[Finished]) -> tuple[str, ...]:
    """That tables are evaluated against a derived store, if any are."""
    tables = [table for product in products for table in product.office["tables"]]
    rows = [table["evaluation"] for table in tables if "evaluation" in table]
    derived = [str(row["table"]) for row in rows if row.get(OF_DERIVED)]
    if not derived:
        return ()
    if len(derived) == len(rows):
        return (sentence("assess.evaluation.derived"),)
    return (sentence("assess.evaluation.derived_some", tables=", ".join(derived)),)


def _guaranteed(resolved: Resolved) -> list[str]:
    """What the smallest group guarantees, by what is counted; for the office only."""
    smallest = resolved.smallest_group
    if smallest is None:
        return []
    units = resolved.units()
    claims = {of: group_claim(resolved.methods.main(of), smallest).sentence for of in units}
    if len(set(claims.values())) == 1:
        return [claims[units[0]]]
    return [
        sentence("assess.left_out.why", what=entity_words(of), why=claim)
        for of, claim in claims.items()
    ]


def _way(start: Path, end: Path) -> str:
    """How a page in one folder links to another; Windows knows no way from disk to disk."""
    try:
        return Path(os.path.relpath(end, start)).as_posix()
    except ValueError:
        return end.resolve().as_uri()


def _reader_pages(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
    """The page for readers, made from what is published."""
    if not resolved.output.notes:
        return {}
    office, census = resolved.plan.office, resolved.census.schema.census
    said = [Text.of(note) for product in products for note in product.public["notes"]]
    used = dict.fromkeys(Mark[name] for product in products for name in product.public["marks"])
    own = dict(resolved.heading.signs)
    claims = [method.claims() for method in resolved.methods.used(resolved.specs())]
    notes = PublicationNotes(
        census=census.names or Text.of(census.name),
        office=office.name,
        legal_basis=office.legal_basis,
        contact=office.contact,
        date=resolved.heading.date,
        tables=tuple(
            NotedTable(
                name=product.name,
                title=Text.of(product.public["title"]),
                cells=int(product.public["cells"]),
                files=tuple(file.name for file in product.files),
            )
            for product in products
        ),
        example=_example(said),
        signs=tuple((mark, own.get(mark, mark.sign)) for mark in used),
        adds_up=all(each.additive for each in claims),
        consistent=all(each.consistent for each in claims),
        zeros=_zeros(claims),
        groups=_about_groups(resolved),
        records=(
            *notes_of_lineage(resolved.census.origin.lineage),
            *notes_of_code_lists(resolved.specs()),
        ),
    )
    return notes_pages(notes, resolved.output.languages)


def _zeros(claims: Sequence[Claims]) -> str:
    """What a published 0 means, if it is to be true of every table."""
    if any(each.grows_empty_cells for each in claims):
        return "grows"
    return "true" if all(each.zeros_are_true for each in claims) else "hides"


def _example(notes: Sequence[Text]) -> Text:
    """The first note that tells of a total and its parts with numbers."""
    for note in notes:
        if "Example" in note.show("en"):
            return note
    return Text()


def _about_groups(resolved: Resolved) -> Text:
    """What readers are told about small groups; nothing where there is no rule."""
    if resolved.smallest_group is None:
        return Text()
    weighted = all(spec.measure is Measure.WEIGHTED for spec in resolved.specs())
    return note_for(resolved.smallest_group, Measure.WEIGHTED if weighted else Measure.COUNT)
