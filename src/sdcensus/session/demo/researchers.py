"""A public use file of the demo country, with its report and codebook."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from sdcensus.demo import RELEASE_FILE, RESEARCHERS_FOLDER, release_document
from sdcensus.documents.release.document import read_release
from sdcensus.errors import Refused
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.session.demo.country import OFFICE, STORE, Demonstration
from sdcensus.session.release.assess.proposal import write_proposal
from sdcensus.session.release.opened import open_release
from sdcensus.session.release.release import Release
from sdcensus.store.census_store import read_schema


@dataclass(frozen=True, slots=True, repr=False)
class DemoFile(Confidential):
    """The public use file of a demo country.

    Attributes:
        document: The document that says what it is.
        folder: Where it stands.
        office: Where the office keeps what was done.
        households, persons: How many it holds.
        seconds: How long it took.
    """

    document: Path
    folder: Path
    office: Path
    households: int
    persons: int
    seconds: float

    def __repr__(self) -> str:
        return "<DemoFile: confidential>"


def make_demo_file(made: Demonstration, progress: Progress = no_progress) -> DemoFile | str:
    """Write the document, approve the proposed groups, and make the file.

    Returns:
        The file; or, for a country that is too small for one, why it was refused.
    """
    began = time.perf_counter()
    document = made.folder / RELEASE_FILE
    formats = ("csv", "parquet", "sav", "dta") if find_spec("pyreadstat") else ("csv", "parquet")
    text = release_document(STORE, OFFICE, formats=formats)
    document.write_text(text, encoding="utf-8", newline="\n")
    plan = read_release(document, read_schema)
    undecided = replace(plan, thresholds=replace(plan.thresholds, groupings=None, approved_by=""))
    try:
        write_proposal(open_release(undecided, secret=made.secret), made.folder, progress)
        file = Release(document, secret=made.secret).make(
            made.folder / RESEARCHERS_FOLDER, progress=progress
        )
    except Refused as refusal:
        return str(refusal)
    sizes = {table.entity: table.rows for table in file.file.tables}
    return DemoFile(
        document,
        file.folder,
        file.office,
        sizes[Entity.HOUSEHOLD],
        sizes[Entity.PERSON],
        time.perf_counter() - began,
    )
