"""What people look at beside the tables of a plan: notes for readers, evaluation for the office."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sdcensus.model.published.claims import Claims
from sdcensus.model.published.marks import Mark
from sdcensus.model.text import Text
from sdcensus.report.publication.index import evaluation_index
from sdcensus.report.publication.notes import NotedTable, PublicationNotes, notes_pages
from sdcensus.session.gate.group_risk import small_group_lines
from sdcensus.session.protect.smallest_group import group_claim, note_for
from sdcensus.session.publish.evaluation import row_from_json
from sdcensus.session.publish.office_folder import folder_of
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.workplace import Finished

#: What the evaluation of a publication is called in the office's folder.
SHEET, INDEX = "evaluation.xlsx", "evaluation.html"


def evaluation_pages(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
    """The evaluation of a publication for the office, if the plan asks for it."""
    tables = [table for one in products for table in one.office["tables"]]
    found = [one["evaluation"] for one in tables if "evaluation" in one]
    if not found:
        return {}
    # Takes a second to load, and half of the plans have no evaluation.
    from sdcensus.report.assessment.sheet import rows_workbook

    rows = [row_from_json(number, one) for number, one in enumerate(found, start=1)]
    page = evaluation_index(
        rows,
        {one.name: [file.name for file in one.files] for one in products},
        publication=resolved.publication,
        date=resolved.heading.date,
        sheet=SHEET,
        published=_way(folder_of(resolved.office, resolved.publication), resolved.published),
        groups=tuple(small_group_lines(resolved)),
        guaranteed=_guaranteed(resolved),
    )
    return {SHEET: rows_workbook(rows), INDEX: page.encode("utf-8")}


def _guaranteed(resolved: Resolved) -> list[str]:
    """What the smallest group guarantees, by what is counted; for the office only."""
    smallest = resolved.smallest_group
    if smallest is None:
        return []
    units = resolved.units()
    claims = {of: group_claim(resolved.method(of), smallest).sentence for of in units}
    if len(set(claims.values())) == 1:
        return [claims[units[0]]]
    return [f"{of.plural}: {sentence}" for of, sentence in claims.items()]


def _way(start: Path, end: Path) -> str:
    """How a page in one folder links to another; Windows knows no way from disk to disk."""
    try:
        return Path(os.path.relpath(end, start)).as_posix()
    except ValueError:
        return end.resolve().as_uri()


def reader_pages(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
    """The page for readers, made from what is published."""
    if not resolved.output.notes:
        return {}
    office = resolved.plan.office
    said = [Text.of(note) for one in products for note in one.public["notes"]]
    used = dict.fromkeys(Mark[name] for one in products for name in one.public["marks"])
    own = dict(resolved.heading.signs)
    claims = [resolved.method(of).claims() for of in resolved.units()]
    notes = PublicationNotes(
        census=str(resolved.census.schema.census.name),
        office=office.name,
        legal_basis=office.legal_basis,
        contact=office.contact,
        date=resolved.heading.date,
        tables=tuple(
            NotedTable(
                name=one.name,
                title=Text.of(one.public["title"]),
                cells=int(one.public["cells"]),
                files=tuple(file.name for file in one.files),
            )
            for one in products
        ),
        example=_example(said),
        signs=tuple((mark, own.get(mark, mark.sign)) for mark in used),
        adds_up=all(one.additive for one in claims),
        consistent=all(one.consistent for one in claims),
        zeros=_zeros(claims),
        groups=Text() if resolved.smallest_group is None else note_for(resolved.smallest_group),
    )
    return notes_pages(notes, resolved.output.languages)


def _zeros(claims: Sequence[Claims]) -> str:
    """What a published 0 means, if it is to be true of every table."""
    if any(one.grows_empty_cells for one in claims):
        return "grows"
    return "true" if all(one.zeros_are_true for one in claims) else "hides"


def _example(notes: Sequence[Text]) -> Text:
    """The first note that tells of a total and its parts with numbers."""
    for note in notes:
        if "Example" in note.show("en"):
            return note
    return Text()
