"""The evaluation of a whole publication as one page with links. Confidential."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote

from sdcensus.model.catalogue import FIRST
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
        language: The language of the page.
    """
    changed = [
        stage_figures for stage_figures in map(_published, rows) if stage_figures is not None
    ]
    cells = sum(stage_figures.cells for stage_figures in changed)
    equal = sum(
        (stage_figures.share_equal or 0.0) * stage_figures.cells for stage_figures in changed
    )
    largest = max((stage_figures.max_change or 0 for stage_figures in changed), default=0)

    def word(key: str, **values: str) -> str:
        return speak(f"assess.evaluation.{key}", language, **values)

    shown = tiles(
        [
            Tile(number_text(len(rows), language), word("tables")),
            Tile(number_text(cells, language), word("numbers")),
            Tile(share_text(equal / cells if cells else None, language), word("equal_share")),
            Tile(number_text(largest, language), word("largest_change")),
        ]
    )
    claims = [in_language(sentence, language) for sentence in guaranteed]
    facts = " · ".join(fact for fact in (publication, date) if fact)
    return page(
        word("title"),
        shown,
        section(word("all"), _lines(rows, files, published, language), _reading(language)),
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
) -> Html:
    stages = list(dict.fromkeys(stage.stage for row in rows for stage in row.stages))
    swapped = Stage.SWAPPED in stages
    keys = ["sheet.table", "evaluation.files", "loss.cells", "evaluation.withheld"]
    keys += ["evaluation.before", "sheet.published"]
    keys += ["sheet.after_swap"] if swapped else []
    keys += ["evaluation.mean", "loss.largest", "evaluation.equal"]
    head = [speak(f"assess.{key}", language) for key in keys]
    small, changes = (speak(f"assess.evaluation.{key}", language) for key in ("small", "changes"))
    groups = [("", 4), (small, 2), (changes, 4 if swapped else 3)]
    lines: list[list[PageCell | str]] = []
    for row in rows:
        line: list[PageCell | str] = [_name(row.table), _links(row.table, files, published)]
        before, after = _told(row, Stage.ORIGINAL, language), _told(row, Stage.PUBLISHED, language)
        line += [after["cells"], after["withheld"], before["unsafe"], after["unsafe"]]
        line += [_told(row, Stage.SWAPPED, language)["mean_change"]] if swapped else []
        line += [after["mean_change"], after["max_change"]]
        stage_figures = _published(row)
        share = None if stage_figures is None else stage_figures.share_equal
        tone = Tone.WARN if share is not None and share < 1 - _MUCH_CHANGED else Tone.PLAIN
        lines.append([*line, PageCell(share_text(share, language), tone)])
    caption = speak("assess.evaluation.every", language)
    return table(caption, head, lines, groups=groups, words=2, wrapped=True)


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


def _told(row: EvaluationRow, stage: Stage, language: str | None) -> dict[str, str]:
    """The figures of a stage as text; a dash where there is none."""
    stage_figures = _stage(row, stage)
    if stage_figures is None:
        return dict.fromkeys(("cells", "withheld", "unsafe", "mean_change", "max_change"), NOTHING)
    return {
        "cells": _whole(stage_figures.cells, language),
        "withheld": _whole(stage_figures.withheld, language),
        "unsafe": share_text(stage_figures.unsafe_share, language),
        "mean_change": decimal_text(stage_figures.mean_change, 3, language),
        "max_change": _whole(stage_figures.max_change, language),
    }


def _stage(row: EvaluationRow, stage: Stage) -> StageFigures | None:
    return next(
        (
            stage_figures
            for stage_figures in row.stages
            if stage_figures.stage is stage and stage_figures.margins
        ),
        None,
    )


def _published(row: EvaluationRow) -> StageFigures | None:
    return _stage(row, Stage.PUBLISHED)


def _whole(value: int | None, language: str | None) -> str:
    return NOTHING if value is None else number_text(value, language)
