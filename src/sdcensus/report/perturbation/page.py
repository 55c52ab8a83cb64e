"""A page about a perturbation: words, pictures and numbers, in one file without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.quantities import share_text
from sdcensus.model.vocabulary import PerturbationChart
from sdcensus.report import page as shell
from sdcensus.report.charts import as_png, as_svg, require_libraries
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.perturbation.plots import CONFIDENTIAL, Picture, pictures, sheet
from sdcensus.report.perturbation.rows import first_and_last, shown_deviations
from sdcensus.report.perturbation.summary import Summary
from sdcensus.report.perturbation.words import (
    distinction_sentence,
    in_words,
    key_space_text,
    lookup_sentence,
    probability,
    scrambled_sentence,
    signed,
    small,
)
from sdcensus.store.owner_only import create_owner_only

#: Of larger tables, the first rows and the last one stand on the page.
MOST_ROWS = 24


def page(title: str, summary: Summary, shown: Sequence[Picture]) -> str:
    """The whole page, for the office only."""
    return shell.page(
        title,
        _tiles(summary),
        _relaxed(summary),
        *(_figure(picture) for picture in shown),
        _rows(summary),
        _lookups(summary),
        facts=_facts(summary),
        lead=in_words(summary),
        stamp=CONFIDENTIAL,
        closing="Whoever knows these numbers can undo more of what is published: keep this page"
        " like the census itself.",
    )


def _facts(summary: Summary) -> str:
    keys = "any number of keys" if summary.keys is None else f"{key_space_text(summary.keys)} keys"
    return f"Largest change {summary.max_deviation} · {keys} · {summary.tail}"


def _tiles(summary: Summary) -> Html:
    large = summary.large
    ones = next((row for row in summary.rows if row.count == 1), None)
    tiles = [
        (f"{large.size:.2f}", "mean change of a large count, up or down"),
        (f"{large.variance:.3g}", "variance of the change of a large count"),
        (share_text(large.stay), "of large counts are published as they are"),
    ]
    if ones is not None:
        tiles.append((share_text(ones.becomes_zero), "of the ones are published as 0"))
    return shell.tiles(tiles)


def _relaxed(summary: Summary) -> Html:
    if not summary.relaxed:
        return Html()
    return shell.note(
        "Not everything that was asked for could be met.",
        shell.bullets(str(relaxation) for relaxation in summary.relaxed),
    )


def _figure(picture: Picture) -> Html:
    return shell.section(
        picture.title,
        shell.figure(picture.chart, picture.alternative, caption=picture.caption),
    )


def _rows(summary: Summary) -> Html:
    """The probability of each change, row by row, and each row in figures."""
    shown = first_and_last(summary.rows, MOST_ROWS)
    deviations = shown_deviations(shown)
    lines = []
    for row in shown:
        cells: list[PageCell | str] = [row.counts]
        for value in deviations:
            share = row.chances.get(value, 0.0)
            tone = Tone.SOFT if not share else Tone.PLAIN if value else Tone.MARKED
            cells.append(PageCell(probability(share), tone))
        lines.append(cells)
    return shell.section(
        "The same in numbers",
        shell.table(
            "Probability of each change of a count", ["count", *map(signed, deviations)], lines
        ),
        _part(summary),
        _measures(summary),
    )


def _measures(summary: Summary) -> Html:
    lines = [
        (
            row.counts,
            small(row.bias).replace("-", "−"),
            f"{row.size:.3f}",
            f"{row.variance:.3f}",
            f"{row.entropy:.2f}",
            probability(row.stay),
            probability(row.becomes_zero),
        )
        for row in first_and_last(summary.rows, MOST_ROWS)
    ]
    return shell.table(
        "Each row in figures. Bits: how uncertain the change is. Becomes 0: of the smallest count"
        " of the row.",
        ["count", "mean change", "mean size", "variance", "bits", "stays", "becomes 0"],
        lines,
    )


def _lookups(summary: Summary) -> Html:
    if not summary.lookups:
        return Html()
    lines = [
        (
            f"{lookup.name}{' (default)' if lookup.is_default else ''}",
            *(
                probability(share, 3)
                for share in (
                    lookup.coupling.gap_is_zero,
                    lookup.coupling.guess_part,
                    lookup.coupling.guess_both,
                )
            ),
            f"{lookup.coupling.uncertainty_bits:.2f}",
        )
        for lookup in summary.lookups
    ]
    return shell.section(
        "What a total and its parts give away",
        lookup_sentence(),
        shell.table(
            "Two large parts and their published total",
            ["look-up", "parts add up", "guesses a part", "guesses both", "bits left"],
            lines,
            picked=[at for at, lookup in enumerate(summary.lookups) if lookup.is_default],
        ),
        shell.paragraph(
            shell.together(
                shell.strong(f"Default for this table: {summary.default_lookup}."),
                f" {summary.why_default}",
            )
        ),
        shell.paragraph(scrambled_sentence(summary), soft=True),
        distinction_sentence(summary),
    )


def _part(summary: Summary) -> Html:
    hidden = len(summary.rows) - MOST_ROWS
    if hidden <= 0:
        return Html()
    return shell.paragraph(
        f"{hidden} rows between the first and the last are not shown.", soft=True
    )


#: What can be made, by the ending of the file.
ENDINGS = (".png", ".svg", ".html")


def write_pictures(
    perturbation: Perturbation,
    summary: Summary,
    paths: Sequence[str | Path],
    *,
    title: str,
    charts: Sequence[PerturbationChart | str] = (),
) -> list[Path]:
    """Draw a perturbation to files: all of them are written, or none.

    Args:
        perturbation: What is drawn.
        summary: What was found out about it; a page tells that as well.
        paths: Files that end with .png, .svg or .html; they must not exist.
        title: What to call it.
        charts: Which charts; all of them if none is named.
    """
    targets = check_targets(paths)
    if not targets:
        return []
    drawn = pictures(perturbation, charts)
    contents = [(path, _content(path, title, summary, drawn)) for path in targets]
    written: list[Path] = []
    try:
        for path, content in contents:
            _create(path, content)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return written


def check_targets(paths: Sequence[str | Path]) -> list[Path]:
    """Refuse early what could not be written in the end."""
    targets = [Path(path) for path in paths]
    for at, path in enumerate(targets):
        if path.suffix.lower() not in ENDINGS:
            raise OutputError(
                f"{path}: a picture ends with .png or .svg, and a page with pictures and numbers"
                " with .html."
            )
        if path in targets[:at]:
            raise OutputError(f"{path} is named twice. Give each picture a file of its own.")
        if path.exists():
            raise OutputError(f"{path} already exists. Choose another name or remove it first.")
        if not path.parent.is_dir():
            raise OutputError(f"The folder {path.parent} does not exist.")
    if targets:
        require_libraries()
    return targets


def _content(path: Path, title: str, summary: Summary, drawn: Sequence[Picture]) -> bytes:
    ending = path.suffix.lower()
    if ending == ".html":
        return page(title, summary, drawn).encode("utf-8")
    together = sheet(title, drawn)
    if ending == ".png":
        return as_png(together)
    return as_svg(together, " ".join(picture.alternative for picture in drawn)).encode("utf-8")


def _create(path: Path, content: bytes) -> None:
    try:
        create_owner_only(path, content)
    except FileExistsError:
        raise OutputError(f"{path} already exists. Choose another name.") from None
