"""Further measures of a study on its page: untouched records, ranks, margins, information."""

from __future__ import annotations

from sdcensus.model.quantities import NOTHING, decimal_text, number_text
from sdcensus.model.vocabulary import RiskAxis
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell
from sdcensus.report.study.figures import COMBINED, FURTHER, combined_figures, further_figures
from sdcensus.report.study.frontier import frontier_of, shown_results
from sdcensus.report.study.printed import heads, titled
from sdcensus.report.study.results import Study, StudyResult, StudyTable
from sdcensus.report.study.words import say

_MARK = "●"
_HEADS = ("untouched_cells", "untouched_records", "claims", "ranks", "margins", "gain", "lines")


def further(study: Study) -> Html:
    """A table for each table of the study, and the points of a grid that were left out."""
    parts: list[Html] = []
    for table in study.tables:
        results = shown_results(study, table)
        best = frontier_of(study, table)
        rows = [_row(study, result, result.candidate.title in best) for result in results]
        picked = [at for at, result in enumerate(results) if result.candidate.title in best]
        head = heads(study, "method", *_HEADS)
        caption = _caption(study, table, len(results))
        # Not under a heading of its own: the methods have one of that name already.
        caption = f"{titled(study, table)}. {caption}"
        parts.append(shell.table(caption, head, rows, picked=picked, wrapped=study.has_long_names))
    words = [say(study, "page.further")]
    if study.has_grid:
        words.append(say(study, "page.values", names=study.grid_names))
    if study.changes_records:
        words.append(say(study, "page.changed_records"))
    return shell.section(say(study, "section.further"), " ".join(words), *parts, *_left_out(study))


def combined(study: Study) -> Html:
    """What a published 1, 2 or 3 says: changes of records and noise together, for each table."""
    parts: list[Html] = []
    for table in study.tables:
        results = shown_results(study, table)
        best = frontier_of(study, table, RiskAxis.CLAIM)
        rows = []
        for result in results:
            figures = combined_figures(result)
            shares = [_percent(study, figures[name]) for name in COMBINED]
            rows.append([_label(result, result.candidate.title in best), *shares])
        picked = [at for at, result in enumerate(results) if result.candidate.title in best]
        method, true, claim = heads(study, "method", "small_true", "claim")
        formula, measured = heads(study, "formula", "measured")
        rest = len(study.mains(table)) - len(results)
        words = [f"{titled(study, table)}.", caption_words(study, RiskAxis.CLAIM)]
        words += [rest_words(study, rest)] if rest else []
        parts.append(
            shell.table(
                " ".join(words),
                [method, formula, measured, formula, measured],
                rows,
                picked=picked,
                wrapped=study.has_long_names,
                groups=[("", 1), (true, 2), (claim, 2)],
            )
        )
    return shell.section(say(study, "section.combined"), say(study, "page.combined"), *parts)


def caption_words(study: Study, axis: RiskAxis) -> str:
    """Which methods stand out in a table of figures."""
    return say(study, "page.further_caption", risk=say(study, f"axis.{axis.value}"))


def _caption(study: Study, table: StudyTable, shown: int) -> str:
    caption = caption_words(study, study.risk_axis)
    rest = len(study.mains(table)) - shown
    return caption if not rest else f"{caption} {rest_words(study, rest)}"


def rest_words(study: Study, rest: int) -> str:
    """That methods off the frontier stand in the workbook only."""
    return say(study, "page.frontier_only", n=number_text(rest, study.language))


def _row(study: Study, result: StudyResult, best: bool) -> list[PageCell | str]:
    figures = further_figures(result)
    return [
        _label(result, best),
        *(_percent(study, figures[name]) for name in FURTHER),
    ]


def _label(result: StudyResult, best: bool) -> str:
    """The name of a method, marked where it is on the frontier."""
    label = result.candidate.label
    return f"{label} {_MARK}" if best else label


def _percent(study: Study, value: float | None) -> str:
    if value is None:
        return NOTHING
    digits = 2 if value >= 0.005 or not value else 4
    return decimal_text(value, digits, study.language)


def _left_out(study: Study) -> list[Html]:
    if not study.left_out:
        return []
    n = number_text(len(study.left_out), study.language)
    rows = [[title, reason] for title, reason in study.left_out]
    caption = say(study, "page.left_out_points", n=n)
    table = shell.table(caption, heads(study, "method", "reason"), rows, words=2, wrapped=True)
    return [shell.details(caption, table)]
