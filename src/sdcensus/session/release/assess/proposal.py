"""Categories that are too small: what is proposed, as a file that the office edits and approves."""

from __future__ import annotations

from pathlib import Path

from sdcensus.documents.release.groupings import groupings_text
from sdcensus.microdata.release.groupings import small_categories
from sdcensus.model.progress import Progress, no_progress
from sdcensus.session.release.opened import OpenRelease
from sdcensus.store.owner_only import write_owner_only

#: What the proposal is called in the folder of an assessment.
GROUPINGS_FILE = "groupings.csv"


def write_proposal(
    opened: OpenRelease, folder: Path, progress: Progress = no_progress
) -> Path | None:
    """Write what is proposed for all designs; nothing where every category is large enough."""
    proposals = [
        small_categories(opened.store, design, opened.plan.thresholds, progress)
        for design in opened.designs()
    ]
    rows = [row for proposal in proposals for row in proposal.rows()]
    if not rows:
        return None
    languages = opened.plan.making.languages or opened.store.schema.census.languages
    path = folder / GROUPINGS_FILE
    write_owner_only(path, groupings_text(rows, languages).encode())
    return path
