"""The figures of a study beside those that the founding study printed."""

from __future__ import annotations

from sdcensus.model.quantities import NOTHING
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report import page as shell
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.study.published import SOURCE, Published
from sdcensus.report.study.results import Study, StudyTable
from sdcensus.report.study.rows import counted_as_printed, measures

PRINTED = "Beside the printed figures"


def figure(value: float | None, digits: int) -> str:
    """A figure, or the sign for one that has no meaning."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def capital(text: str) -> str:
    """The same with a capital letter in front."""
    return text[:1].upper() + text[1:]


_BESIDE = (
    ("disclosed_cells_pct", "Disclosed cells, %", 2),
    ("R", "Risk R", 3),
    ("mean_absolute_distance", "Mean change", 2),
    ("hellinger", "Hellinger", 2),
    ("small_cells_disclosed_pct", "Small cells disclosed, %", 2),
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
                cells.append(PageCell(figure(printed.get(name), digits), Tone.SOFT))
                cells.append(figure(mine[name], digits))
            rows.append(cells)
        if rows:
            parts.append(_printed_table(table, rows))
    fresh = _printed_draws(study, published)
    return shell.section(
        PRINTED,
        f"{published.country}, as printed in {SOURCE}, and this study. The records of that census"
        " are not public, and the people of the demo country are fictional: orders of magnitude"
        " and the order of the methods should agree, not digits.",
        "The printed shares of disclosed cells fit an intruder who adds up interior cells only, and"
        " does not compare totals with the totals above them. Here they are counted like that; in"
        " all other tables of this page by all sums, which give away more.",
        *parts,
        *fresh,
    )


def _printed_table(table: StudyTable, rows: list[list[PageCell | str]]) -> Html:
    return shell.table(
        f"{capital(table.name)} table",
        ["Method", *(("printed", "here") * len(_BESIDE))],
        rows,
        groups=[("", 1), *((title, 2) for _, title, _ in _BESIDE)],
    )


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
                rows.append([capital(table.name), name, *(figure(value, 2) for value in shown)])
    if not rows:
        return []
    return [
        shell.table(
            "Disclosed cells in percent, independent against coupled by keys (Table 12)",
            ["Table", "Method", "independent", "keys", "independent", "keys"],
            rows,
            words=2,
            groups=[("", 2), ("printed", 2), ("here", 2)],
        )
    ]
