"""What trials of changes of records have shown, line by line. For the office."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, fields

from sdcensus.model.confidential import Confidential


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LabLine(Confidential):
    """Claims about groups of one size at one level of areas, after one change of records.

    Attributes:
        change: The change in one line; empty for the records as they are.
        measured: Whether tables of the changed records were attacked; else the claims of the first
            attack were compared with the changed records.
        touched: Units that exchanged something.
        touched_share: Their share.
        level: The level of the areas, ``country`` for none.
        size: How many persons a group is said to be.
        claims: Groups that were claimed.
        right: Those that are right about residents.
        worst: The largest share of right claims of one attack and size at any level of areas.
        mean_distance: How far published counts are from the original ones.
        hellinger: The Hellinger distance of the tables.
        combined: The share of right claims about small cells by the combined measure.
    """

    change: str
    measured: bool
    touched: int | None
    touched_share: float | None
    level: str
    size: int
    claims: int
    right: int
    worst: float
    mean_distance: float | None
    hellinger: float | None
    combined: float | None

    def __repr__(self) -> str:
        return "<LabLine: confidential>"

    @property
    def share(self) -> float | None:
        """The share of claims that are right about residents."""
        return self.right / self.claims if self.claims else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LabReport(Confidential):
    """All trials, and what follows.

    Attributes:
        census: The name of the census.
        limit: Claims are to be no better than this.
        tables: How many tables were attacked.
        lines: The lines of all trials, from few households touched to many.
        chosen: The change that was found; ``None`` if none is enough.
        findings: What follows, in sentences.
        language: Of the page.
    """

    census: str
    limit: float
    tables: int
    lines: tuple[LabLine, ...]
    chosen: str | None
    findings: tuple[str, ...]
    language: str | None

    def __repr__(self) -> str:
        return "<LabReport: confidential>"


def as_csv(report: LabReport) -> bytes:
    """The lines for programs: the same in every language."""
    names = [field.name for field in fields(LabLine)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, "share", "chosen"])
    for line in report.lines:
        values = [getattr(line, name) for name in names]
        cells = [*values, line.share, line.change == report.chosen]
        writer.writerow([_plain(value) for value in cells])
    return text.getvalue().encode("utf-8")


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else value
