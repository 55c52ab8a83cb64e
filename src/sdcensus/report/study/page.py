"""The page of a study: what falls and what holds, in words, maps and tables. For the office."""

from __future__ import annotations

from sdcensus.model.catalogue import FIRST
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text, written_as
from sdcensus.model.spec.headings import entity_text, joined, table_heading
from sdcensus.model.vocabulary import RiskAxis
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell, Tile, Tone
from sdcensus.report.study.figures import measures
from sdcensus.report.study.frontier import shown_results
from sdcensus.report.study.further import combined, further, rest_words
from sdcensus.report.study.maps import disclosure_map, risk_map
from sdcensus.report.study.ons_tables import ons_tables
from sdcensus.report.study.plots import Plot, changes
from sdcensus.report.study.printed import capital, figure, heads, printed, titled
from sdcensus.report.study.published import ONS, Published
from sdcensus.report.study.results import CellFigures, Study, StudyResult, StudyTable
from sdcensus.report.study.withheld import withheld
from sdcensus.report.study.words import (
    FALLS_FROM,
    HOLDS_BELOW,
    Verdict,
    called,
    drawn,
    fixed,
    lead,
    reasons,
    say,
    scope,
    sentences,
    verdicts,
)

#: The parts of the page, in their order.
_PARTS = (
    "findings",
    "before",
    "maps",
    "methods",
    "withheld",
    "further",
    "combined",
    "ons",
    "totals",
    "changes",
    "cells",
    "printed",
    "reading",
)


def page(study: Study, published: Published | None, *, progress: Progress = no_progress) -> str:
    """The whole page, in the language of the study."""
    left_out = set()
    if len(study.draws) < 2:
        left_out.add("totals")
    if published is None:
        left_out.add("printed")
    if study.preset != ONS:
        left_out.add("ons")
    if all(result.further is None for table in study.tables for result in table.results):
        left_out |= {"further", "combined"}
    if not study.withholds:
        left_out.add("withheld")
    shown = [part for part in _PARTS if part not in left_out]
    blocks = {
        "findings": lambda: _findings(study, published),
        "before": lambda: _before(study),
        "maps": lambda: _maps(study),
        "methods": lambda: _methods(study),
        "withheld": lambda: withheld(study),
        "further": lambda: further(study),
        "combined": lambda: combined(study),
        "ons": lambda: ons_tables(study),
        "totals": lambda: _totals(study),
        "changes": lambda: _changes(study),
        "cells": lambda: _cells(study),
        "printed": lambda: Html() if published is None else printed(study, published),
        "reading": lambda: _reading(study),
    }
    htmls = []
    for at, name in enumerate(shown):
        progress("drawing", at / len(shown))
        htmls.append(blocks[name]())
    language = study.language or FIRST
    return shell.page(
        say(study, "title", census=study.census),
        _tiles(study),
        shell.contents(*(_title(study, part) for part in shown), language=language),
        *htmls,
        facts=_facts(study),
        lead=lead(study),
        stamp=say(study, "stamp"),
        closing=say(study, "closing"),
        language=language,
    )


def _title(study: Study, part: str) -> str:
    return say(study, f"section.{part}")


def _facts(study: Study) -> str:
    tables = joined([called(study, table) for table in study.tables], study.language)
    largest = study.tables[-1]
    population = number_text(largest.original.population, study.language)
    parts = [
        say(study, "facts.tables" if len(study.tables) > 1 else "facts.tables_one", tables=tables),
        f"{population} {entity_text(largest.spec.of, study.language)}",
        say(
            study,
            "facts.methods" if len(study.names) > 1 else "facts.methods_one",
            n=len(study.names),
        ),
    ]
    if study.draws:
        draws = joined([drawn(study, draw) for draw in study.draws], study.language)
        parts.append(say(study, "facts.drawn", draws=draws))
    return capital(" · ".join(parts))


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
    judged = [kind for kind in every.values() if kind not in (Verdict.UNKNOWN, Verdict.UNJUDGED)]
    if judged:
        draw = study.main and say(study, "facts.by_draw", draw=drawn(study, study.main))
        words = say(study, "tile.hold_drawn", draw=draw) if draw else say(study, "tile.hold")
        shown.append(Tile(say(study, "tile.of", n=len(holds), all=len(judged)), words))
    if given:
        most, name = max(given)
        tone = Tone.BAD if most >= FALLS_FROM else Tone.PLAIN
        words = say(study, "tile.most", table=called(study, table), name=name)
        shown.append(Tile(share_text(most, study.language, digits=2), words, tone))
    costs = [
        (result.loss, result.candidate.name)
        for result in results
        if result.candidate.name in holds and result.loss is not None
    ]
    if costs:
        least, name = min(costs)
        shown.append(Tile(fixed(study, least), say(study, "tile.mildest", name=name)))
    few = share_text(table.original.share_small_or_empty, study.language, digits=2)
    shown.append(Tile(few, say(study, "tile.small", table=called(study, table))))
    return shell.tiles(shown)


def _findings(study: Study, published: Published | None) -> Html:
    lines = [
        shell.together(shell.strong(head), f" {text}") for head, text in sentences(study, published)
    ]
    return shell.section(_title(study, "findings"), shell.bullets(lines))


def _before(study: Study) -> Html:
    rows = []
    language = study.language
    for table in study.tables:
        of = table.original
        rows.append(
            (
                capital(called(study, table)),
                ", ".join(axis.name for axis in table.spec.axes) or say(study, "none"),
                number_text(of.interior_cells, language),
                _size(of.mean_cell_size, language),
                decimal_text(100 * of.share_small, 1, language),
                decimal_text(100 * of.share_small_or_empty, 1, language),
                figure(study, of.risk, 3),
            )
        )
    return shell.section(
        _title(study, "before"),
        shell.table(
            say(study, "page.before"),
            heads(
                study, "table", "axes", "interior", "mean_size", "small", "small_or_empty", "risk"
            ),
            rows,
            words=2,
        ),
        *(shell.paragraph(reason, soft=True) for reason in reasons(study)),
    )


def _maps(study: Study) -> Html:
    figures: list[Html] = []
    changed = study.has_grid or study.changes_records
    for table in study.tables:
        risk = risk_map(study, table, frontier=True)
        if risk is None:
            continue
        for axis in dict.fromkeys((study.risk_axis, RiskAxis.COMPOSITE)):
            plot = risk_map(study, table, axis, frontier=True)
            figures.append(_plot_or(study, plot, table, f"page.no_{axis.value}"))
        if study.risk_axis is not RiskAxis.COMPOSITE:
            continue
        if changed:
            second = risk_map(study, table, RiskAxis.UNTOUCHED, frontier=True)
            figures.append(_plot_or(study, second, table, "page.no_DR"))
            continue
        second = disclosure_map(study, table)
        nothing = shell.paragraph(_no_map(study, table), soft=True)
        figures.append(nothing if second is None else _plot(second))
    if not figures:
        return shell.section(_title(study, "maps"), say(study, "page.nothing_drawn"))
    words = [say(study, "page.maps", legend=say(study, "page.legend"))]
    words.append(say(study, "page.frontier"))
    if study.changes_records:
        words.append(say(study, "page.squares"))
    if study.has_grid:
        words.append(say(study, "page.points"))
    wide = study.has_grid or study.has_long_names
    placed = figures if wide else [shell.side_by_side(*figures)]
    return shell.section(_title(study, "maps"), " ".join(words), *placed)


def _plot_or(study: Study, plot: Plot | None, table: StudyTable, nothing: str) -> Html:
    """A map, or that there is nothing to draw."""
    if plot is not None:
        return _plot(plot)
    return shell.paragraph(say(study, nothing, table=called(study, table)), soft=True)


def _no_map(study: Study, table: StudyTable) -> str:
    name = called(study, table)
    if study.main is None:
        return say(study, "page.no_map", table=name)
    return say(study, "page.no_map_drawn", draw=drawn(study, study.main), table=name)


def _plot(plot: Plot, caption: str = "") -> Html:
    return shell.figure(plot.chart, plot.alternative, caption=caption, title=plot.title)


_HEAD = (
    "method",
    "disclosed",
    "risk",
    "change",
    "relative",
    "hellinger",
    "small_disclosed",
    "small_change",
)


def _methods(study: Study) -> Html:
    every = verdicts(study)
    parts: list[Html] = []
    for table in study.tables:
        results = shown_results(study, table)
        rows = [_method_row(study, main) for main in results]
        holding = [
            at for at, main in enumerate(results) if every[main.candidate.name] is Verdict.HOLDS
        ]
        caption = table_heading(table.spec, study.language)
        rest = len(study.mains(table)) - len(results)
        caption = f"{caption}. {rest_words(study, rest)}" if rest else caption
        parts.append(
            shell.section(
                titled(study, table),
                shell.table(
                    caption,
                    heads(study, *_HEAD),
                    rows,
                    picked=holding,
                    wrapped=study.has_long_names,
                ),
                level=3,
            )
        )
    words = say(study, "page.methods")
    if study.main is not None:
        words = say(study, "page.methods_drawn", draw=drawn(study, study.main))
    if study.has_grid:
        words += " " + say(study, "page.values", names=study.grid_names)
    return shell.section(_title(study, "methods"), words, *parts)


def _method_row(study: Study, result: StudyResult) -> list[PageCell | str]:
    figures = measures(result)
    return [
        result.candidate.label,
        _given(study, result.share),
        figure(study, figures["R"], 3),
        figure(study, figures["mean_absolute_distance"], 2),
        figure(study, figures["mean_relative_distance"], 2),
        figure(study, figures["hellinger"], 3),
        _given(study, result.small_share),
        figure(study, figures["mean_absolute_distance_small"], 2),
    ]


def _given(study: Study, share: float | None) -> PageCell:
    """A share that is given away: loud where it is large, quiet where there is none."""
    if share is None:
        return PageCell(NOTHING, Tone.SOFT)
    if not share:
        return PageCell("0", Tone.SOFT)
    tone = Tone.BAD if share >= FALLS_FROM else Tone.PLAIN
    return PageCell(decimal_text(100 * share, 2, study.language), tone)


def _totals(study: Study) -> Html:
    draws = [drawn(study, draw) for draw in study.draws]
    head = [*heads(study, "table", "method"), *draws, *draws]
    rows: list[list[PageCell | str]] = []
    for table in study.tables:
        for name in study.names:
            results = [table.result(name, draw) for draw in study.draws]
            if not any(study_result is not None for study_result in results):
                continue
            shares = [
                _given(study, None if study_result is None else study_result.share)
                for study_result in results
            ]
            small = [
                _given(study, None if study_result is None else study_result.small_share)
                for study_result in results
            ]
            rows.append([capital(called(study, table)), name, *shares, *small])
    quiet = [row for row in rows if any(_loud(value) for value in row[2:])]
    words = say(study, "page.totals")
    if len(quiet) < len(rows):
        words += " " + say(study, "page.left_out", n=len(rows) - len(quiet))
    width = len(study.draws)
    all_cells, small_cells = heads(study, "all_cells", "small_cells")
    return shell.section(
        _title(study, "totals"),
        " ".join(say(study, f"page.draw_{draw.value}") for draw in study.draws),
        shell.table(
            words,
            head,
            quiet,
            words=2,
            groups=[("", 2), (all_cells, width), (small_cells, width)],
        )
        if quiet
        else say(study, "page.totals_none"),
    )


def _loud(cell: PageCell | str) -> bool:
    return isinstance(cell, PageCell) and cell.text not in ("0", NOTHING)


def _changes(study: Study) -> Html:
    plot = changes(study)
    if plot is None:
        return shell.section(_title(study, "changes"), say(study, "page.no_changes"))
    table = study.tables[-1]
    cells = max(
        int(main.profile.observed.sum()) for main in study.mains(table) if main.profile is not None
    )
    return shell.section(
        _title(study, "changes"),
        shell.figure(
            plot.chart,
            plot.alternative,
            caption=say(study, "page.changes", n=cells, table=called(study, table)),
        ),
    )


def _cells(study: Study) -> Html:
    table = study.tables[-1]
    name = called(study, table)
    changed = [
        (main.candidate.label, *_cell(study, cell))
        for main in shown_results(study, table)
        for cell in main.worst[:1]
    ]
    given_away = [
        (main.candidate.label, *_cell(study, cell), _possible(study, cell))
        for main in shown_results(study, table)
        for cell in main.given_away[:2]
    ]
    head = heads(study, "method", "cell", "true", "published")
    parts: list[Html | str] = []
    if changed:
        parts.append(shell.table(say(study, "page.changed", table=name), head, changed, words=2))
    else:
        parts.append(say(study, "page.not_changed"))
    if given_away:
        caption = say(study, "page.worked_out", table=name)
        head = [*head, say(study, "head.intruder")]
        parts.append(shell.table(caption, head, given_away, words=2))
    else:
        parts.append(say(study, "page.not_worked_out", table=name))
    return shell.section(_title(study, "cells"), *parts)


def _cell(study: Study, cell: CellFigures) -> tuple[str, str, str]:
    """A cell in words, its true count and what is published."""
    language = study.language
    return cell.words, number_text(cell.true, language), number_text(cell.published, language)


def _possible(study: Study, cell: CellFigures) -> str:
    """The counts that an intruder finds possible."""
    if cell.lower == cell.upper:
        return str(cell.lower)
    return say(study, "page.or", lower=str(cell.lower), upper=str(cell.upper))


def _reading(study: Study) -> Html:
    falls, holds = (
        share_text(share, study.language, digits=2) for share in (FALLS_FROM, HOLDS_BELOW)
    )
    lines = [
        *(say(study, f"reading.{name}") for name in ("disclosed", "risk", "change", "hellinger")),
        *_reading_further(study),
        say(study, "reading.falls", falls=falls, holds=holds),
    ]
    none = say(study, "none")
    data = say(
        study, "said.data", version=study.data_version or none, secret=study.secret_id or none
    )
    return shell.section(
        _title(study, "reading"),
        scope(study),
        shell.bullets(lines),
        shell.paragraph(data, soft=True),
    )


def _reading_further(study: Study) -> list[str]:
    if all(result.further is None for table in study.tables for result in table.results):
        return []
    names = ("untouched", "claims", "combined", "ranks", "margins", "gain", "lines")
    risk = say(study, f"axis.{study.risk_axis.value}")
    return [
        *(say(study, f"reading.{name}") for name in names),
        say(study, "reading.frontier", risk=risk),
    ]


def _size(mean: float, language: str | None) -> str:
    return written_as(f"{mean:,.2f}" if mean < 10 else f"{mean:,.0f}", language)
