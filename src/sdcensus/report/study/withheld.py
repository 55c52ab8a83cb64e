"""What methods withhold, on the page of a study: how much, and what it costs if filled in."""

from __future__ import annotations

from sdcensus.model.quantities import NOTHING, decimal_text
from sdcensus.report import page as shell
from sdcensus.report.page import Html
from sdcensus.report.study.figures import percentage
from sdcensus.report.study.frontier import shown_results
from sdcensus.report.study.printed import heads, titled
from sdcensus.report.study.results import Study, StudyResult
from sdcensus.report.study.words import say

#: What is told of withheld cells, by name.
WITHHELD = (
    "withheld_cells_pct",
    "withheld_units_pct",
    "width",
    "relative_width_pct",
    "worked_out_pct",
    "filled_distance",
    "filled_hellinger",
)
_HEADS = (
    "hidden_cells",
    "hidden_units",
    "width",
    "relative_width",
    "worked",
    "filled",
    "filled_hd",
)
_DIGITS = (2, 2, 2, 1, 2, 2, 4)


def withheld_figures(result: StudyResult) -> dict[str, float | None]:
    """What a method withholds of a table; the loss of other methods in the last two."""
    measured = result.withheld
    if measured is None:
        utility = result.utility
        last = (utility.mean_absolute_distance, utility.hellinger_normalised)
        return dict(zip(WITHHELD, (0.0, 0.0, None, None, None, *last), strict=True))
    gone = measured.nonzero_withheld
    known = measured.mean_width is not None and gone
    values = (
        percentage(measured.share),
        percentage(measured.share_of_units),
        measured.mean_width,
        percentage(measured.relative_width),
        100 * measured.known / gone if known else None,
        measured.filled_distance,
        measured.filled_hellinger,
    )
    return dict(zip(WITHHELD, values, strict=True))


def withheld(study: Study) -> Html:
    """For each table of the study every method: those that withhold beside those that do not."""
    parts: list[Html] = []
    for table in study.tables:
        rows = []
        for result in shown_results(study, table):
            figures = withheld_figures(result).values()
            cells = [
                NOTHING if value is None else decimal_text(value, digits, study.language)
                for value, digits in zip(figures, _DIGITS, strict=True)
            ]
            rows.append([result.candidate.label, *cells])
        head = heads(study, "method", *_HEADS)
        parts.append(
            shell.table(f"{titled(study, table)}.", head, rows, wrapped=study.has_long_names)
        )
    words = f"{say(study, 'page.withheld')} {say(study, 'reading.withheld')}"
    return shell.section(say(study, "section.withheld"), words, *parts)
