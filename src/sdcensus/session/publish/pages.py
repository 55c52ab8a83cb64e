"""Publishing a plan with everything that people look at: notes, evaluation sheet and index."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.marks import Mark
from sdcensus.model.text import Text
from sdcensus.report.publication.index import evaluation_index
from sdcensus.report.publication.notes import NotedTable, PublicationNotes, notes_pages
from sdcensus.session.census.census import Census, open_parquet
from sdcensus.session.gate.group_risk import small_group_lines
from sdcensus.session.protect.smallest_group import group_claim, note_for
from sdcensus.session.publish.evaluation import row_from_json
from sdcensus.session.publish.office_folder import folder_of
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.run import DEFAULT_MEMORY, PublishReport
from sdcensus.session.publish.run import publish as run_plan
from sdcensus.session.publish.workplace import Finished

#: What the evaluation of a publication is called in the office's folder.
SHEET, INDEX = "evaluation.xlsx", "evaluation.html"


def publish(
    plan: str | Path,
    *,
    out: str | Path | None = None,
    secret: str | Path | None = None,
    engine: str | None = None,
    data: str | None = None,
    memory: str | int = DEFAULT_MEMORY,
    threads: int | None = None,
    revision: str | None = None,
    rekey: bool = False,
    old_store: str | Path | None = None,
    revision_minimum: int | None = None,
    restart: bool = False,
    accept_risk: str | None = None,
    reason: str = "",
    progress: Progress = no_progress,
) -> PublishReport:
    """Publish a plan with notes for its readers, and write its evaluation for the office.

    Args:
        plan: The plan: ``.toml``, or an Excel workbook.
        out: The published folder, instead of the one that the plan names.
        secret: The file of the office secret; else ``SDCENSUS_SECRET_FILE`` names it.
        engine: Where tables are counted: ``memory``, ``duckdb`` or ``spark``.
        data: Encoded files that ``sdcensus export`` wrote, instead of the store of the plan.
        memory: How much memory the run keeps within, such as ``"4GB"``.
        threads: How many threads work; as many as there are processors by default.
        revision: The name of a revision: published numbers may change, as far as the guard lets
            them.
        rekey: Change every number as a named event.
        old_store: The store that was published before, if it is not where it was.
        revision_minimum: How many changed records must stand behind every changed number.
        restart: Throw away what an interrupted run has left.
        accept_risk: The name of who accepts that the plan would give people away, where it would.
        reason: Why; kept with the name for those who approve.
        progress: Called with the stage and how much of it is done.
    """
    census: Census | None = None
    if data is not None:
        census = open_parquet(data, engine=engine or "duckdb", memory_limit=str(memory))
    return run_plan(
        plan,
        out=out,
        secret=secret,
        census=census,
        engine=engine,
        memory=memory,
        threads=threads,
        revision=revision,
        rekey=rekey,
        old_store=old_store,
        revision_minimum=revision_minimum,
        restart=restart,
        accept_risk=accept_risk,
        reason=reason,
        pages=_notes,
        office_pages=_evaluation,
        progress=progress,
    )


def _evaluation(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
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


def _notes(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
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
