"""The evaluation of a whole publication as one page with links. Confidential."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from sdcensus.model.catalogue import FIRST
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.report.page import (
    Html,
    PageCell,
    Tile,
    Tone,
    bullets,
    link,
    page,
    paragraph,
    section,
    table,
    tiles,
)
from sdcensus.report.publication.notes import links
from sdcensus.utility.evaluation import EvaluationRow, Stage, StageFigures

#: A share of changed numbers above which a row stands out: such a table says little.
_MUCH_CHANGED = 0.75


@dataclass(frozen=True, slots=True, repr=False)
class _Changes(Confidential):
    """How many numbers all tables have together, how many of them are true, the largest change."""

    cells: int
    equal: float
    largest: int

    @classmethod
    def of(cls, rows: Sequence[EvaluationRow], *, margins: bool) -> _Changes:
        stages = [_stage(row, Stage.PUBLISHED, margins=margins) for row in rows]
        changed = [stage for stage in stages if stage is not None]
        return cls(
            sum(stage.cells for stage in changed),
            sum((stage.share_equal or 0.0) * stage.cells for stage in changed),
            max((stage.max_change or 0 for stage in changed), default=0),
        )

    @property
    def share_equal(self) -> float | None:
        return self.equal / self.cells if self.cells else None


def evaluation_index(
    rows: Sequence[EvaluationRow],
    files: Mapping[str, Sequence[str]],
    *,
    publication: str,
    date: str = "",
    sheet: str = "evaluation.xlsx",
    published: str = "",
    groups: Sequence[str] = (),
    guaranteed: Sequence[str] = (),
    cautions: Sequence[str] = (),
    stages: Mapping[Stage, str] | None = None,
    language: str | None = None,
) -> str:
    """A page with a line for each table: what was counted, what is published, how far apart.

    Args:
        rows: The evaluation of each table.
        files: The published files of each product, by its name.
        publication: What was published.
        date: The date of the publication.
        sheet: The workbook with all figures.
        published: The published folder, as seen from the page.
        groups: What all tables together give away about small groups, in sentences.
        guaranteed: What is guaranteed of all tables; for the office only.
        cautions: What the figures do not cover.
        stages: What stages are called, where they are called otherwise than usual.
        language: The language of the page.
    """
    whole, inner = _Changes.of(rows, margins=True), _Changes.of(rows, margins=False)

    def word(key: str, **values: str | int) -> str:
        return speak(f"assess.evaluation.{key}", language, **values)

    shown = tiles(
        [
            Tile(number_text(len(rows), language), word("tables")),
            Tile(number_text(whole.cells, language), word("numbers")),
            Tile(
                share_text(whole.share_equal, language),
                word(
                    "equal_share",
                    n=whole.cells,
                    interior=inner.cells,
                    share=share_text(inner.share_equal, language),
                ),
            ),
            Tile(
                number_text(whole.largest, language),
                word("largest_change", n=whole.cells, interior=inner.largest),
            ),
        ]
    )
    claims = [in_language(sentence, language) for sentence in guaranteed]
    facts = " · ".join(fact for fact in (publication, date) if fact)
    return page(
        word("title"),
        shown,
        *(paragraph(in_language(caution, language)) for caution in cautions),
        section(
            word("all"),
            _lines(rows, files, published, language, stages or {}, margins=True),
            _lines(rows, files, published, language, stages or {}, margins=False),
            _reading(language),
        ),
        *([section(word("groups"), bullets(list(groups)))] if groups else []),
        *([section(word("guaranteed"), bullets(claims))] if claims else ()),
        section(
            word("figures"),
            paragraph(Html(word("workbook", link=link(sheet, quote(sheet))))),
        ),
        facts=facts,
        lead=word("lead"),
        stamp=word("stamp"),
        language=language or FIRST,
    )


def _lines(
    rows: Sequence[EvaluationRow],
    files: Mapping[str, Sequence[str]],
    published: str,
    language: str | None,
    called: Mapping[Stage, str],
    *,
    margins: bool,
) -> Html:
    """A line for each table: all its cells, or its interior cells alone."""
    stages = list(dict.fromkeys(stage.stage for row in rows for stage in row.stages))
    swapped = Stage.SWAPPED in stages
    keys = ["sheet.table", *(["evaluation.files"] if margins else [])]
    words = len(keys)
    keys += ["loss.cells", "evaluation.withheld", "evaluation.before", "sheet.published"]
    keys += ["sheet.after_swap"] if swapped else []
    keys += ["evaluation.mean", "loss.largest", "evaluation.equal"]
    head = [speak(f"assess.{key}", language) for key in keys]
    if swapped and Stage.SWAPPED in called:
        head[keys.index("sheet.after_swap")] = called[Stage.SWAPPED]
    small, changes = (speak(f"assess.evaluation.{key}", language) for key in ("small", "changes"))
    groups = [("", words + 2), (small, 2), (changes, 4 if swapped else 3)]
    lines: list[list[PageCell | str]] = []
    for row in rows:
        line: list[PageCell | str] = [_name(row.table)]
        line += [_links(row.table, files, published)] if margins else []
        before, swap, after = (
            _told(row, stage, language, margins=margins)
            for stage in (Stage.ORIGINAL, Stage.SWAPPED, Stage.PUBLISHED)
        )
        line += [after["cells"], after["withheld"], before["unsafe"], after["unsafe"]]
        line += [swap["mean_change"]] if swapped else []
        line += [after["mean_change"], after["max_change"]]
        stage_figures = _stage(row, Stage.PUBLISHED, margins=margins)
        share = None if stage_figures is None else stage_figures.share_equal
        tone = Tone.WARN if share is not None and share < 1 - _MUCH_CHANGED else Tone.PLAIN
        lines.append([*line, PageCell(share_text(share, language), tone)])
    key = "every" if margins else "every_interior"
    caption = speak(f"assess.evaluation.{key}", language)
    return table(caption, head, lines, groups=groups, words=words, wrapped=True)


def _reading(language: str | None) -> Html:
    return paragraph(speak("assess.evaluation.reading", language), soft=True)


def _name(table: str) -> Html:
    """A name that may break where the grammar of axes has its signs."""
    return Html(re.sub(r"([@+,])", r"\1<wbr>", escape(table)))


def _links(name: str, files: Mapping[str, Sequence[str]], published: str) -> Html:
    """Links to the files of the product in which a table stands."""
    product = name.partition(" (")[0]
    before = f"{published.rstrip('/')}/" if published else ""
    html = links(product, files.get(product, ()), before)
    return html or Html(NOTHING)


def _told(
    row: EvaluationRow, stage: Stage, language: str | None, *, margins: bool
) -> dict[str, str]:
    """The figures of a stage as text; a dash where there is none."""
    stage_figures = _stage(row, stage, margins=margins)
    if stage_figures is None:
        return dict.fromkeys(("cells", "withheld", "unsafe", "mean_change", "max_change"), NOTHING)
    return {
        "cells": _whole(stage_figures.cells, language),
        "withheld": _whole(stage_figures.withheld, language),
        "unsafe": share_text(stage_figures.unsafe_share, language),
        "mean_change": decimal_text(stage_figures.mean_change, 3, language),
        "max_change": _whole(stage_figures.max_change, language),
    }


def _stage(row: EvaluationRow, stage: Stage, *, margins: bool) -> StageFigures | None:
    return next(
        (
            stage_figures
            for stage_figures in row.stages
            if stage_figures.stage is stage and stage_figures.margins is margins
        ),
        None,
    )


def _whole(value: int | None, language: str | None) -> str:
    return NOTHING if value is None else number_text(value, language)
