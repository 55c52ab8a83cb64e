"""The figures of a study beside those that the founding study printed."""

from __future__ import annotations

from sdcensus.model.quantities import NOTHING
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.study.figures import compared_figures, counted_as_printed
from sdcensus.report.study.order import agreement_of_all, agreements
from sdcensus.report.study.published import Published
from sdcensus.report.study.results import Study, StudyTable
from sdcensus.report.study.words import called, drawn, fixed, measure_name, say


def figure(study: Study, value: float | None, digits: int) -> str:
    """A figure, or the sign for one that has no meaning."""
    return NOTHING if value is None else fixed(study, value, digits)


def capital(text: str) -> str:
    """The same with a capital letter in front."""
    return text[:1].upper() + text[1:]


_BESIDE = (
    ("disclosed_cells_pct", "disclosed", 2),
    ("R", "risk", 3),
    ("mean_absolute_distance", "change", 2),
    ("hellinger", "hellinger", 2),
    ("small_cells_disclosed_pct", "small_disclosed", 2),
)
#: The decimals of what the ONS printed: one where it is a percentage.
_DIGITS_ONS = {"untouched_records": 1, "ranks": 1}


def printed(study: Study, published: Published) -> Html:
    """What was printed, and this study: figures beside each other, and the order of the methods."""
    source = say(study, published.source)
    if published.lettered:
        words = [say(study, "page.printed_ons", source=source)]
        parts = _printed_ons(study, published)
    else:
        words = [say(study, "page.printed", country=published.country, source=source)]
        words.append(say(study, "page.printed_alike"))
        parts = [*_printed_schemes(study, published), *_printed_draws(study, published)]
    return shell.section(say(study, "section.printed"), *words, *parts, *_order(study, published))


def _printed_ons(study: Study, published: Published) -> list[Html]:
    """Measures down, methods across, for each table of which figures were printed."""
    parts = []
    printed_head, here = heads(study, "printed", "here")
    for table in study.tables:
        mine = compared_figures(study, table, published)
        if not any(published.of(table, name) for name in mine):
            continue
        rows = []
        for measure in published.measures:
            digits = _DIGITS_ONS.get(measure, 3)
            cells: list[PageCell | str] = [capital(measure_name(study, published, measure))]
            for name, figures in mine.items():
                known = published.of(table, name).get(measure)
                cells.append(PageCell(figure(study, known, digits), Tone.SOFT))
                cells.append(figure(study, figures[measure], digits))
            rows.append(cells)
        head = [*heads(study, "measure"), *((printed_head, here) * len(mine))]
        groups = [("", 1), *((name, 2) for name in mine)]
        parts.append(shell.table(titled(study, table), head, rows, groups=groups))
    return parts


def _printed_schemes(study: Study, published: Published) -> list[Html]:
    """Schemes down, measures across, for each table of which figures were printed."""
    parts = []
    for table in study.tables:
        mine = compared_figures(study, table, published)
        rows = []
        for name in mine:
            printed = published.of(table, name)
            if not printed:
                continue
            cells: list[PageCell | str] = [name]
            for measure, _, digits in _BESIDE:
                cells.append(PageCell(figure(study, printed.get(measure), digits), Tone.SOFT))
                cells.append(figure(study, mine[name][measure], digits))
            rows.append(cells)
        if rows:
            parts.append(_printed_table(study, table, rows))
    return parts


def _order(study: Study, published: Published) -> list[Html]:
    """How many pairs of methods stand in the printed order."""
    every = agreements(study, published)
    if not every:
        return []
    rows = []
    for measure in dict.fromkeys(agreement.measure for agreement in every):
        own = [agreement for agreement in every if agreement.measure == measure]
        same, pairs = agreement_of_all(own)
        turned = dict.fromkeys(pair for agreement in own for pair in agreement.turned)
        named = "; ".join([*turned][:_MOST_TURNED]) + (" …" if len(turned) > _MOST_TURNED else "")
        count = say(study, "tile.of", n=same, all=pairs)
        rows.append([measure_name(study, published, measure), count, named or NOTHING])
    same, pairs = agreement_of_all(every)
    return [
        shell.table(
            say(study, "page.order", n=same, all=pairs),
            heads(study, "measure", "same_order", "turned"),
            rows,
            words=3,
            wrapped=True,
        )
    ]


#: Pairs in another order that a line names.
_MOST_TURNED = 4


def _printed_table(
    study: Study,
    table: StudyTable,
    rows: list[list[PageCell | str]],
) -> Html:
    method, printed, here = heads(study, "method", "printed", "here")
    titles = heads(study, *(name for _, name, _ in _BESIDE))
    return shell.table(
        titled(study, table),
        [method, *((printed, here) * len(_BESIDE))],
        rows,
        groups=[("", 1), *((title, 2) for title in titles)],
    )


def titled(study: Study, table: StudyTable) -> str:
    """What a table is called above its figures."""
    return capital(say(study, "ways.titled", table=called(study, table)))


def heads(study: Study, *names: str) -> list[str]:
    """The headings of columns."""
    return [say(study, f"head.{name}") for name in names]


def _printed_draws(study: Study, published: Published) -> list[Html]:
    """Independent against coupled noise, where both were printed."""
    rows: list[list[PageCell | str]] = []
    for table in study.tables:
        for name in study.names:
            printed = published.of(table, name)
            coupled = table.result(name, NoiseDraw.ASCENDING)
            fresh = table.result(name, NoiseDraw.INDEPENDENT)
            known = printed.get("disclosed_pct_independent")
            if known is None or coupled is None or fresh is None:
                continue
            mine = counted_as_printed(fresh)[0], counted_as_printed(coupled)[0]
            shown = (known, printed.get("disclosed_cells_pct"), *mine)
            if any(shown):
                figures = [figure(study, value, 2) for value in shown]
                rows.append([capital(called(study, table)), name, *figures])
    if not rows:
        return []
    independent, keys = drawn(study, NoiseDraw.INDEPENDENT), say(study, "head.keys")
    printed_head, here = heads(study, "printed", "here")
    return [
        shell.table(
            say(study, "page.printed_draws"),
            [*heads(study, "table", "method"), independent, keys, independent, keys],
            rows,
            words=2,
            groups=[("", 2), (printed_head, 2), (here, 2)],
        )
    ]
