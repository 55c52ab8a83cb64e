"""Which numbers a server gives out: the guard over them, and the database that keeps them."""

from __future__ import annotations

from dataclasses import replace

from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.served_numbers import Opening
from sdcensus.session.answer import TableService
from sdcensus.session.guard.run import Revision
from sdcensus.session.guard.served_guard import ServingGuard
from sdcensus.session.guard.served_lines import note_served
from sdcensus.web.database import COMMAND_LINE, Database


def decide_numbers(
    service: TableService,
    database: Database,
    revision: Revision | None = None,
    *,
    progress: Progress = no_progress,
) -> Opening:
    """What would be opened; nothing is kept.

    Raises:
        Refused: Other numbers than before, without a name or in a way that shows who changed.
    """
    return ServingGuard(
        census=service.census,
        policy=service.policy,
        methods=service.methods,
        sums=service.sums,
        smallest_group=service.smallest_group or None,
        known=database.served.all(),
        events=database.served.events(),
        revision=revision or Revision(),
        progress=progress,
    ).decide()


def open_numbers(
    service: TableService,
    database: Database,
    revision: Revision | None = None,
    *,
    progress: Progress = no_progress,
) -> Opening:
    """Open the numbers of a service, and keep which they are.

    Raises:
        Refused: Other numbers than before, without a name or in a way that shows who changed.
        OutputError: Another server has opened other numbers at the same time.
    """
    before = database.served.all()
    opening = decide_numbers(service, database, revision, progress=progress)
    database.served.open(opening, before=before, by=COMMAND_LINE)
    if service.office is not None:
        notes = note_served(service.office, service.census, opening.numbers.menus)
        opening = replace(opening, notes=(*opening.notes, *notes))
    return opening
