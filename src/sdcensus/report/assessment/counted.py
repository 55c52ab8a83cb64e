"""Counts and shares with the cells that they are of, alike in every part of a table.

A column for interior cells, one for totals and subtotals, one for both together: so two figures of
one page can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from sdcensus.model.cube.parts import TablePart
from sdcensus.model.quantities import NOTHING, number_text, share_text, written_as
from sdcensus.model.sentences import speak
from sdcensus.report.assessment.results import Assessment, PublicAssessment, PublicPart
from sdcensus.report.assessment.words import part_text, units
from sdcensus.risk.counted_parts import PartCounts
from sdcensus.risk.feasibility import Feasibility, GivenAway

Counted = TypeVar("Counted", PartCounts, PublicPart, GivenAway)

#: What a row of the table says: its words, and its text for each part.
CountedRow = tuple[str, list[str]]


def share_of(number: int, cells: int, language: str | None, *, digits: int = 1) -> str:
    """So many of so many cells, and their share; a dash where there are none to be a share of."""
    if not cells:
        return NOTHING
    share = share_text(number / cells, language, digits=digits)
    return speak("assess.base.share", language, n=number, of=cells, share=share)


def part_heads(assessment: Assessment | PublicAssessment, language: str | None) -> list[str]:
    """The parts of a table as headings of columns."""
    parts = assessment.counted if isinstance(assessment, Assessment) else assessment.parts
    return [part_text(counts.part, language) for counts in parts]


def _row(
    label: str,
    parts: Sequence[Counted],
    figure: Callable[[Counted], tuple[int, int]],
    language: str | None,
) -> CountedRow:
    return label, [share_of(*figure(counts), language) for counts in parts]


def counted_rows(assessment: Assessment, language: str | None) -> list[CountedRow]:
    """How many cells are empty, small, kept and seen; each share is of what its words name."""
    parts = assessment.counted
    counted = units(assessment, language)
    cells = [number_text(counts.cells, language) for counts in parts]

    def row(key: str, figure: Callable[[PartCounts], tuple[int, int]]) -> CountedRow:
        label = speak(f"assess.counted.{key}", language, units=counted)
        return _row(label, parts, figure, language)

    rows = [
        (speak("assess.counted.cells", language), cells),
        row("nonempty", lambda counts: (counts.nonempty, counts.cells)),
        row("small", lambda counts: (counts.small.cells, counts.nonempty)),
        row("kept", lambda counts: (int(counts.small.unchanged_cells), counts.small.cells)),
        row("units", lambda counts: (int(counts.small.unchanged_records), counts.small.records)),
        row("seen", lambda counts: (counts.visible, counts.perceived.seen.nonzero)),
        row("right", lambda counts: (counts.right, counts.visible)),
    ]
    return rows + _record_rows(assessment, language)


def _record_rows(assessment: Assessment, language: str | None) -> list[CountedRow]:
    """Imputed and changed records, of interior cells; nothing where there is none."""
    figures = assessment.records
    if figures is None:
        return []
    counted = units(assessment, language)
    small, seen = figures.untouched, figures.perceived
    key = "untouched" if seen is None else "untouched_original"
    texts = {key: share_of(int(small.unchanged_records), small.records, language)}
    if seen is not None:
        texts["right_original"] = share_of(sum(seen.right), sum(seen.seen.visible), language)
    if figures.change is not None:
        texts["change_original"] = written_as(f"{figures.change:.2f}", language)
    rows = []
    for key, text in texts.items():
        label = speak(f"assess.counted.{key}", language, units=counted)
        inside = [counts.part is TablePart.INTERIOR for counts in assessment.counted]
        rows.append((label, [text if own else NOTHING for own in inside]))
    return rows


def public_rows(public: PublicAssessment, language: str | None) -> list[CountedRow]:
    """The same of what is published, as every reader could count it."""
    parts = public.parts
    cells = [number_text(counts.cells, language) for counts in parts]

    def row(key: str, figure: Callable[[PublicPart], tuple[int, int]]) -> CountedRow:
        return _row(speak(f"assess.public.{key}", language), parts, figure, language)

    rows = [
        (speak("assess.public.cells", language), cells),
        row("zeros", lambda counts: (counts.zeros, counts.cells - counts.withheld)),
    ]
    if public.table.spec.amount is None:  # a sum of 1 or 2 is nothing by itself
        rows.append(row("small", lambda counts: (counts.visible, counts.cells - counts.withheld)))
    if public.whole.withheld:
        rows.insert(1, row("withheld_cells", lambda counts: (counts.withheld, counts.cells)))
    return rows


def given_away_texts(interval: Feasibility, language: str | None, *, small: bool) -> list[str]:
    """What an intruder finds in each part: of cells that are not empty, or of the small ones."""
    return [
        share_of(given.small_disclosed, given.small_cells, language, digits=2)
        if small
        else share_of(given.disclosed, given.cells, language, digits=2)
        for given in interval.parts.values()
    ]
