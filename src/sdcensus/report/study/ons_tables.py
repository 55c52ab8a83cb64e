"""The study of the ONS on the page: methods down, tables of the census across."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.report import page as shell
from sdcensus.report.page import Html
from sdcensus.report.study.figures import ons_figure
from sdcensus.report.study.ons_figures import ONS_LAYOUT
from sdcensus.report.study.printed import capital, figure, heads
from sdcensus.report.study.results import Study, StudyTable
from sdcensus.report.study.words import say

_PERCENT = 2
#: So many measures have room beside each other; of more, each has a table.
_MOST_BESIDE = 2
_DIGITS = {"hellinger": 3, "relative": 2, "absolute": 3, "variance_ratio": 3}


def ons_tables(study: Study) -> Html:
    """Its subjects in the order of its tables, with their numbers."""
    parts: list[Html] = []
    for subject, measures in ONS_LAYOUT.items():
        caption = say(study, f"ons.caption_{subject}")
        if len(measures) > _MOST_BESIDE:
            tables = [
                _table(study, capital(say(study, f"ons.{measure}")), (measure,))
                for measure in measures
            ]
            content = [shell.paragraph(caption, soft=True), *tables]
        else:
            content = [_table(study, caption, measures)]
        parts.append(shell.section(say(study, f"ons.title_{subject}"), *content, level=3))
    listed = [
        f"{_called(table)}: {', '.join(axis.name for axis in table.spec.axes)}"
        for table in study.tables
    ]
    return shell.section(
        say(study, "section.ons"), say(study, "page.ons"), shell.bullets(listed), *parts
    )


def _called(table: StudyTable) -> str:
    return table.spec.name or ", ".join(axis.name for axis in table.spec.axes)


def _table(study: Study, caption: str, measures: Sequence[str]) -> Html:
    """Methods down, tables of the census across, with one column for each measure."""
    names = [_called(table) for table in study.tables]
    pairs = [(table, measure) for table in study.tables for measure in measures]
    rows = [
        [name, *(_cell(study, table, name, measure) for table, measure in pairs)]
        for name in study.names
    ]
    below = [say(study, f"ons.{measure}_head") for measure in measures if len(measures) > 1]
    head = [*heads(study, "method"), *(below * len(names) if below else names)]
    groups = [("", 1), *((name, len(measures)) for name in names)] if below else []
    return shell.table(caption, head, rows, groups=groups)


def _cell(study: Study, table: StudyTable, name: str, measure: str) -> str:
    result = next(main for main in study.mains(table) if main.candidate.name == name)
    value, variance, _ = ons_figure(result, measure)
    digits = _DIGITS.get(measure, _PERCENT)
    text = figure(study, value, digits)
    return text if variance is None else f"{text} ({figure(study, variance, digits)})"
