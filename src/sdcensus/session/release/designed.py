"""The records of a design: treated, sampled, told, blanked; nobody has seen them yet."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.microdata.release.large_households import ages_moved
from sdcensus.microdata.release.records import FileRecords, records_of
from sdcensus.microdata.release.sample import drawn
from sdcensus.microdata.release.suppression import suppressed
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import LargeHouseholds
from sdcensus.model.secret import Purpose
from sdcensus.session.release.opened import OpenRelease
from sdcensus.session.release.treatments import grouped, treated
from sdcensus.store.census_store import CensusStore


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignedRecords(Confidential):
    """What a design tells of whom.

    Attributes:
        store: The census after the treatments of the plan; the census itself without any.
        before: What the file would tell without suppression and moved ages.
        records: What it tells.
        ungrouped: The census before amounts of the file were grouped.
    """

    store: CensusStore
    before: FileRecords
    records: FileRecords
    ungrouped: CensusStore

    def __repr__(self) -> str:
        return f"<DesignedRecords {self.design.design.name!r}: confidential>"

    @property
    def design(self) -> FileDesign:
        """What the file tells."""
        return self.records.design


def designed(
    opened: OpenRelease, design: FileDesign, progress: Progress = no_progress
) -> DesignedRecords:
    """Draw the sample of a design and tell what its file tells.

    Raises:
        Refused: A treatment breaks edit rules that the census kept.
    """
    plan = opened.plan
    treatment = treated(opened.store, plan, design, opened.secret, progress)
    sample = drawn(treatment.store, design, plan, opened.draws(Purpose.SAMPLE), progress)
    ungrouped = treatment.store
    treatment = grouped(treatment, plan, design, sample, opened.secret, progress)
    store = treatment.store
    before = records_of(store, design, sample).told(
        facts=treatment.facts, notes=treatment.notes, files=treatment.files
    )
    records = before
    if plan.large is LargeHouseholds.PERTURB_AGES and plan.large_above is not None:
        records = ages_moved(records, plan, opened.draws(Purpose.SAMPLE))
    suppression = plan.suppression
    if suppression is not None and design.design.name in (
        suppression.designs or (design.design.name,)
    ):
        progress("blanking keys", 0.0)
        records = suppressed(records, suppression)
    return DesignedRecords(store, before, records, ungrouped)
