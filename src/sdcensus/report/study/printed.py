"""The figures of a study beside those that the founding study printed."""

from __future__ import annotations

from sdcensus.model.quantities import NOTHING
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.study.figures import counted_as_printed, measures
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


def printed(study: Study, published: Published) -> Html:
    """What was printed about a census of the same size, and this study."""
    parts: list[Html] = []
    for table in study.tables:
        rows = []
        for main in study.mains(table):
            printed = published.of(table, main.candidate.name)
            if not printed:
                continue
            mine = measures(main)
            mine["disclosed_cells_pct"], mine["small_cells_disclosed_pct"] = counted_as_printed(
                main
            )
            cells: list[PageCell | str] = [main.candidate.name]
            for name, _, digits in _BESIDE:
                cells.append(PageCell(figure(study, printed.get(name), digits), Tone.SOFT))
                cells.append(figure(study, mine[name], digits))
            rows.append(cells)
        if rows:
            parts.append(_printed_table(study, table, rows))
    fresh = _printed_draws(study, published)
    source = say(study, "source")
    return shell.section(
        say(study, "section.printed"),
        say(study, "page.printed", country=published.country, source=source),
        say(study, "page.printed_alike"),
        *parts,
        *fresh,
    )


def _printed_table(study: Study, table: StudyTable, rows: list[list[PageCell | str]]) -> Html:
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
