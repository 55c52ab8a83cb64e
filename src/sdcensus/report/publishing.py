"""Publishing a plan with everything that people look at: notes, evaluation sheet and index."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sdcensus.model.marks import Mark
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.text import Text
from sdcensus.report.assessment_sheet import rows_workbook
from sdcensus.report.publication_index import evaluation_index
from sdcensus.report.publication_notes import NotedTable, PublicationNotes, notes_pages
from sdcensus.session.census import Census, open_parquet
from sdcensus.session.publishing.evaluating import row_from_json
from sdcensus.session.publishing.resolving import Resolved
from sdcensus.session.publishing.run import DEFAULT_MEMORY, PublishReport, publish
from sdcensus.session.publishing.workplace import MANIFEST, Finished, read_json
from sdcensus.store.owner_only import write_owner_only

#: What the evaluation of a publication is called in the office's folder.
SHEET, INDEX = "evaluation.xlsx", "evaluation.html"


def publish_plan(
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
        progress: Called with the stage and how much of it is done.
    """
    census: Census | None = None
    if data is not None:
        census = open_parquet(data, engine=engine or "duckdb", memory_limit=str(memory))
    report = publish(
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
        pages=_notes,
        progress=progress,
    )
    progress("writing the evaluation", 0.0)
    write_evaluation(report)
    return report


def write_evaluation(report: PublishReport) -> tuple[Path, ...]:
    """Write the evaluation of a publication for the office; the files, if there are any."""
    found = [one["evaluation"] for one in report.office_tables if "evaluation" in one]
    if not found:
        return ()
    rows = [row_from_json(number, one) for number, one in enumerate(found, start=1)]
    manifest = read_json(report.published / MANIFEST)
    files = {str(one["name"]): [str(file) for file in one["files"]] for one in manifest["tables"]}
    page = evaluation_index(
        rows,
        files,
        publication=str(manifest["publication"]),
        date=str(manifest["date"]),
        sheet=SHEET,
        published=Path(os.path.relpath(report.published, report.office)).as_posix(),
    )
    written = report.office / SHEET, report.office / INDEX
    write_owner_only(written[0], rows_workbook(rows))
    write_owner_only(written[1], page.encode("utf-8"))
    return written


def _notes(resolved: Resolved, products: Sequence[Finished]) -> Mapping[str, bytes]:
    """The page for readers, made from what is published."""
    if not resolved.output.notes:
        return {}
    office = resolved.plan.office
    said = [Text.of(note) for one in products for note in one.public["notes"]]
    used = dict.fromkeys(Mark[name] for one in products for name in one.public["marks"])
    own = dict(resolved.heading.signs)
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
        adds_up=all(resolved.method(of).claims().additive for of in resolved.units()),
    )
    return notes_pages(notes, resolved.output.languages)


def _example(notes: Sequence[Text]) -> Text:
    """The first note that tells of a total and its parts with numbers."""
    for note in notes:
        if "Example" in note.show("en"):
            return note
    return Text()
