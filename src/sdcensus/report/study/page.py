"""The page of a study: what falls and what holds, in words, maps and tables. For the office."""

from __future__ import annotations

from collections.abc import Mapping

from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.spec.headings import joined, table_heading
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell, Tile, Tone
from sdcensus.report.study.plots import MAP_LEGEND, Plot, changes, disclosure_map, risk_map
from sdcensus.report.study.printed import PRINTED, capital, figure, printed
from sdcensus.report.study.published import Published
from sdcensus.report.study.results import Study, StudyResult
from sdcensus.report.study.rows import measures
from sdcensus.report.study.words import (
    FALLS_FROM,
    HOLDS_BELOW,
    Verdict,
    lead,
    reasons,
    scope,
    sentences,
    verdicts,
)

STAMP = "For the office only: computed from true counts."

FINDINGS = "What falls, what holds"
BEFORE = "The tables before protection"
MAPS = "Risk against loss of information"
METHODS = "Methods compared"
TOTALS = "How totals are drawn"
CHANGES = "Changes beside their design"
CELLS = "Cells that are changed most, and cells that are given away"
READING = "How to read the figures"


def page(study: Study, published: Published | None, *, progress: Progress = no_progress) -> str:
    """The whole page."""
    shown = [FINDINGS, BEFORE, MAPS, METHODS]
    if len(study.draws) > 1:
        shown.append(TOTALS)
    shown += [CHANGES, CELLS]
    if published is not None:
        shown.append(PRINTED)
    shown.append(READING)
    blocks = {
        FINDINGS: lambda: _findings(study, published),
        BEFORE: lambda: _before(study),
        MAPS: lambda: _maps(study),
        METHODS: lambda: _methods(study),
        TOTALS: lambda: _totals(study),
        CHANGES: lambda: _changes(study),
        CELLS: lambda: _cells(study),
        PRINTED: lambda: Html() if published is None else printed(study, published),
        READING: lambda: _reading(study),
    }
    htmls = []
    for at, name in enumerate(shown):
        progress("drawing", at / len(shown))
        htmls.append(blocks[name]())
    return shell.page(
        f"Methods compared: {study.census}",
        _tiles(study),
        shell.contents(*shown),
        *htmls,
        facts=_facts(study),
        lead=lead(study),
        stamp=STAMP,
        closing="Keep this page like the census itself.",
    )


def _facts(study: Study) -> str:
    tables = joined([table.name for table in study.tables])
    parts = [
        f"{tables} table{'s' if len(study.tables) > 1 else ''}",
        f"{number_text(study.tables[-1].original.population)} {study.tables[-1].spec.of.plural}",
        f"{len(study.names)} method{'s' if len(study.names) > 1 else ''}",
    ]
    if study.draws:
        parts.append(f"noise drawn {joined(list(study.draws))}")
    text = " · ".join(parts)
    return text[:1].upper() + text[1:]


def _tiles(study: Study) -> Html:
    every = verdicts(study)
    table = study.tables[-1]
    holds = [name for name, verdict in every.items() if verdict is Verdict.HOLDS]
    results = study.mains(table)
    given = [
        (result.small_share, result.candidate.name)
        for result in results
        if result.small_share is not None
    ]
    shown = []
    if any(verdict is not Verdict.UNKNOWN for verdict in every.values()):
        shown.append(
            Tile(
                f"{len(holds)} of {len(every)}",
                "methods hold: fewer than one cell in ten thousand is given away by a single table",
            )
        )
    if given:
        most, name = max(given)
        tone = Tone.BAD if most >= FALLS_FROM else Tone.PLAIN
        words = f"of the ones and twos of the {table.name} table: the most, under {name}"
        shown.append(Tile(share_text(most, digits=2), words, tone))
    costs = [
        (result.utility.mean_absolute_distance, result.candidate.name)
        for result in results
        if result.candidate.name in holds and result.utility.mean_absolute_distance is not None
    ]
    if costs:
        least, name = min(costs)
        shown.append(
            Tile(
                f"{least:.2f}",
                f"mean change of a non-empty cell under {name}, the mildest that holds",
            )
        )
    of = table.original
    shown.append(
        Tile(
            share_text(of.share_small_or_empty, digits=2),
            f"of the interior cells of the {table.name} table hold 0, 1 or 2",
        )
    )
    return shell.tiles(shown)


def _findings(study: Study, published: Published | None) -> Html:
    lines = [
        shell.together(shell.strong(head), f" {text}") for head, text in sentences(study, published)
    ]
    return shell.section(FINDINGS, shell.bullets(lines))


def _before(study: Study) -> Html:
    rows = []
    for table in study.tables:
        of = table.original
        rows.append(
            (
                capital(table.name),
                ", ".join(axis.name for axis in table.spec.axes) or "none",
                number_text(of.interior_cells),
                _size(of.mean_cell_size),
                decimal_text(100 * of.share_small, 1),
                decimal_text(100 * of.share_small_or_empty, 1),
                figure(of.risk, 3),
            )
        )
    return shell.section(
        BEFORE,
        shell.table(
            "Interior cells: at the finest level on every axis. Laid out as Table 9 of the founding"
            " study.",
            ["Table", "Axes", "Interior cells", "Mean size", "1–2, %", "0–2, %", "Risk R"],
            rows,
            words=2,
        ),
        *(shell.paragraph(reason, soft=True) for reason in reasons(study)),
    )


def _maps(study: Study) -> Html:
    figures: list[Html] = []
    for table in study.tables:
        risk = risk_map(study, table)
        if risk is None:
            continue
        figures.append(_plot(risk))
        given = disclosure_map(study, table)
        drawn = f"Drawn {study.main}, no" if study.main is not None else "No"
        nothing = f"{drawn} method gives a cell of the {table.name} table away."
        figures.append(shell.paragraph(nothing, soft=True) if given is None else _plot(given))
    if not figures:
        return shell.section(MAPS, "No cell is non-empty, so there is nothing to draw.")
    return shell.section(
        MAPS,
        "Each method is a point. Left is little loss, low is little risk: the best methods stand"
        f" below on the left. {MAP_LEGEND} Axes show the range of the figures, and most of them do"
        " not begin at 0.",
        shell.side_by_side(*figures),
    )


def _plot(plot: Plot, caption: str = "") -> Html:
    return shell.figure(plot.chart, plot.alternative, caption=caption, title=plot.title)


_HEAD = (
    "Method",
    "Disclosed cells, %",
    "Risk R",
    "Mean change",
    "Mean relative change",
    "Hellinger",
    "Small cells disclosed, %",
    "Mean change, small",
)


def _methods(study: Study) -> Html:
    every = verdicts(study)
    parts: list[Html] = []
    for table in study.tables:
        rows = [_method_row(main) for main in study.mains(table)]
        holding = [
            at
            for at, main in enumerate(study.mains(table))
            if every[main.candidate.name] is Verdict.HOLDS
        ]
        parts.append(
            shell.section(
                f"{capital(table.name)} table",
                shell.table(table_heading(table.spec), _HEAD, rows, picked=holding),
                level=3,
            )
        )
    drawn = f", drawn {study.main}" if study.main is not None else ""
    return shell.section(
        METHODS,
        f"One line for each method{drawn}, as in Tables 10, A1 and A2 of the founding study."
        " Methods that hold in all these tables stand out.",
        *parts,
    )


def _method_row(result: StudyResult) -> list[PageCell | str]:
    figures = measures(result)
    return [
        result.candidate.name,
        _given(result.share),
        figure(figures["R"], 3),
        figure(figures["mean_absolute_distance"], 2),
        figure(figures["mean_relative_distance"], 2),
        figure(figures["hellinger"], 3),
        _given(result.small_share),
        figure(figures["mean_absolute_distance_small"], 2),
    ]


def _given(share: float | None) -> PageCell:
    """A share that is given away: loud where it is large, quiet where there is none."""
    if share is None:
        return PageCell(NOTHING, Tone.SOFT)
    if not share:
        return PageCell("0", Tone.SOFT)
    return PageCell(decimal_text(100 * share, 2), Tone.BAD if share >= FALLS_FROM else Tone.PLAIN)


def _totals(study: Study) -> Html:
    head = ["Table", "Method", *map(str, study.draws), *map(str, study.draws)]
    rows: list[list[PageCell | str]] = []
    for table in study.tables:
        for name in study.names:
            results = [table.result(name, draw) for draw in study.draws]
            if not any(study_result is not None for study_result in results):
                continue
            shares = [
                _given(None if study_result is None else study_result.share)
                for study_result in results
            ]
            small = [
                _given(None if study_result is None else study_result.small_share)
                for study_result in results
            ]
            rows.append([capital(table.name), name, *shares, *small])
    quiet = [row for row in rows if any(_loud(value) for value in row[2:])]
    words = "Percent of cells that are given away. Laid out as Table 12 of the founding study."
    if len(quiet) < len(rows):
        words += f" {len(rows) - len(quiet)} lines in which all is 0 are left out."
    width = len(study.draws)
    return shell.section(
        TOTALS,
        _draw_words(study),
        shell.table(
            words,
            head,
            quiet,
            words=2,
            groups=[("", 2), ("all cells", width), ("cells of 1 and 2", width)],
        )
        if quiet
        else "However totals are drawn, no cell of these tables is given away.",
    )


def _loud(cell: PageCell | str) -> bool:
    return isinstance(cell, PageCell) and cell.text not in ("0", NOTHING)


def _draw_words(study: Study) -> str:
    words: Mapping[NoiseDraw, str] = {
        NoiseDraw.ASCENDING: "Ascending: by the cell key, so that a total hangs on its parts.",
        NoiseDraw.INDEPENDENT: (
            "Independent: fresh noise in every cell, to see what keys are worth."
        ),
        NoiseDraw.HASHED: (
            "Hashed: by a keyed hash, so that cells with other people have other noise."
        ),
    }
    return " ".join(words[draw] for draw in study.draws)


def _changes(study: Study) -> Html:
    plot = changes(study)
    if plot is None:
        return shell.section(CHANGES, "No method with a known design has changed a cell.")
    table = study.tables[-1]
    cells = max(
        int(main.profile.observed.sum()) for main in study.mains(table) if main.profile is not None
    )
    return shell.section(
        CHANGES,
        shell.figure(
            plot.chart,
            plot.alternative,
            caption=f"Bars: the {number_text(cells)} non-empty interior cells of the {table.name}"
            " table. Lines: what the design expects for their true counts.",
        ),
    )


def _cells(study: Study) -> Html:
    table = study.tables[-1]
    changed = [
        (main.candidate.name, cell.words, number_text(cell.true), number_text(cell.published))
        for main in study.mains(table)
        for cell in main.worst[:1]
    ]
    sentences = [
        (
            main.candidate.name,
            cell.words,
            number_text(cell.true),
            number_text(cell.published),
            str(cell.lower) if cell.lower == cell.upper else f"{cell.lower} or {cell.upper}",
        )
        for main in study.mains(table)
        for cell in main.given_away[:2]
    ]
    parts: list[Html | str] = []
    if changed:
        parts.append(
            shell.table(
                f"The cell of the {table.name} table that each method changes most, by the"
                " difference of square roots; of several, the one with the most totals.",
                ["Method", "Cell", "True", "Published"],
                changed,
                words=2,
            )
        )
    else:
        parts.append("No cell was changed.")
    if sentences:
        parts.append(
            shell.table(
                f"Ones and twos of the {table.name} table that can be worked out: two for each"
                " method, those with the most totals.",
                ["Method", "Cell", "True", "Published", "An intruder finds"],
                sentences,
                words=2,
            )
        )
    else:
        parts.append(f"No cell of 1 or 2 of the {table.name} table can be worked out.")
    return shell.section(CELLS, *parts)


def _reading(study: Study) -> Html:
    return shell.section(
        READING,
        scope(study),
        shell.bullets(
            [
                "Disclosed: of all non-empty cells, totals included, those of which one count is"
                " left, or only 0 and 1. Small cells have a true count of 1 or 2.",
                "Risk R: one figure from the share of empty interior cells, from how unevenly"
                " people spread over small and large cells, and from the size of the population;"
                " noise lowers it. 0 is none. It does not see what sums of cells give away.",
                "Mean change: of non-empty cells, totals included, up or down. Relative: over the"
                " true count.",
                "Hellinger: the distance of the whole tables, over the root of the sum of true"
                " counts; 0 is no difference, 1 is unrelated.",
                f"A method falls where {share_text(FALLS_FROM, digits=2)} of the cells of a"
                " table, or of its"
                " small ones, are given away, and holds below"
                f" {share_text(HOLDS_BELOW, digits=2)}. These are"
                " aids for reading: whether one person may be given away is for the office to say.",
            ]
        ),
        shell.paragraph(
            f"Data version {study.data_version or 'none'}, secret {study.secret_id or 'none'}.",
            soft=True,
        ),
    )


def _size(mean: float) -> str:
    return f"{mean:,.2f}" if mean < 10 else f"{mean:,.0f}"
