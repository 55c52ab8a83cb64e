"""The figures of a study beside those that the founding study printed."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.quantities import NOTHING
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.study.figures import compared_figures, counted_as_printed
from sdcensus.report.study.order import Agreement, agreement_of_all, agreements
from sdcensus.report.study.published import Published
from sdcensus.report.study.results import Study, StudyTable
from sdcensus.report.study.words import called, drawn, fixed, say


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
#: What our sources quote of the study of the ONS.
_BESIDE_ONS = (("rank_change_pct", "ranks", 1), ("mean_absolute_distance", "change", 3))


def printed(study: Study, published: Published) -> Html:
    """What was printed, and this study: figures beside each other, and the order of the methods."""
    shown = _BESIDE_ONS if published.lettered else _BESIDE
    parts: list[Html] = []
    for table in study.tables:
        mine = compared_figures(study, table, published)
        rows = []
        for name in mine:
            printed = published.of(table, name)
            if not printed:
                continue
            cells: list[PageCell | str] = [name]
            for measure, _, digits in shown:
                cells.append(PageCell(figure(study, printed.get(measure), digits), Tone.SOFT))
                cells.append(figure(study, mine[name][measure], digits))
            rows.append(cells)
        if rows:
            parts.append(_printed_table(study, table, rows, shown))
    source = say(study, published.source)
    words = [say(study, "page.printed", country=published.country, source=source)]
    if published.lettered:
        words = [say(study, "page.printed_ons", source=source)]
    else:
        words.append(say(study, "page.printed_alike"))
        parts += _printed_draws(study, published)
    return shell.section(say(study, "section.printed"), *words, *parts, *_order(study, published))


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
        rows.append([say(study, f"measure.{measure}"), count, named or NOTHING])
    same, pairs = agreement_of_all(every)
    return [
        shell.table(
            say(study, "page.order", n=same, all=pairs)
            if not published.lettered
            else say(study, "page.order_ons", n=same, all=pairs, figures=_by_figures(every)),
            heads(study, "measure", "same_order", "turned"),
            rows,
            words=3,
            wrapped=True,
        )
    ]


def _by_figures(every: Sequence[Agreement]) -> int:
    return sum(agreement.by_figures for agreement in every)


#: Pairs in another order that a line names.
_MOST_TURNED = 4


def _printed_table(
    study: Study,
    table: StudyTable,
    rows: list[list[PageCell | str]],
    shown: Sequence[tuple[str, str, int]],
) -> Html:
    method, printed, here = heads(study, "method", "printed", "here")
    titles = heads(study, *(name for _, name, _ in shown))
    return shell.table(
        titled(study, table),
        [method, *((printed, here) * len(shown))],
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
