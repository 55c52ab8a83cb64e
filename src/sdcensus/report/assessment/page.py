"""The page that the head of the office signs. Confidential; ``public_page`` is for anybody."""

from __future__ import annotations

from sdcensus.model.cube.parts import TablePart
from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.report.assessment.loss import lost, methods
from sdcensus.report.assessment.public_page import made_table
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.risk import (
    remaining,
    seen,
    with_others,
    without_protection,
)
from sdcensus.report.assessment.words import (
    BRACKETS_BELOW,
    conclusions,
    lead,
    part_text,
    units,
)
from sdcensus.report.page import (
    Html,
    Tile,
    Tone,
    bullets,
    code,
    note,
    page,
    paragraph,
    section,
    tiles,
    together,
)

STAMP = "For the statistical office only: figures on this page come from true counts."


def assessment_page(
    assessment: Assessment,
    *,
    reproduce: str = "",
    date: str = "",
    language: str | None = None,
) -> str:
    """The confidential page.

    Args:
        assessment: What was measured.
        reproduce: The command that makes it again, if there is one.
        date: The date that stands on it.
        language: The language of labels; the words of the page are English.
    """
    said = conclusions(assessment)
    return page(
        assessment.public.title,
        _tiles(assessment),
        note("Before it is signed", bullets(said)) if said else Html(""),
        without_protection(assessment, language),
        remaining(assessment, language),
        seen(assessment),
        with_others(assessment, language),
        lost(assessment, language),
        methods(assessment),
        _decision(),
        _annex(assessment, reproduce),
        facts=" · ".join(_facts(assessment, date)),
        lead=lead(assessment),
        stamp=STAMP,
        closing="A version without confidential figures is the public page beside this one.",
    )


def _facts(assessment: Assessment, date: str) -> list[str]:
    interior, cells = assessment.interior_cells, assessment.table.spec.cells
    public = assessment.public
    shows = [public.shows] if public.shows != public.title else []
    said = [f"{number_text(cells)} cells" if cells > 1 else "1 cell"]
    if interior is not None and cells > 1:
        said = [f"{number_text(interior)} interior cells"]
    if assessment.population is not None:
        said.append(f"{number_text(assessment.population)} {units(assessment)}")
    return [*shows, *said, assessment.method, *([date] if date else [])]


def _tiles(assessment: Assessment) -> Html:
    feasibility = assessment.main
    whole = assessment.utility_in(TablePart.ALL)
    shown = []
    if feasibility is not None:
        word = "count" if feasibility.disclosed == 1 else "counts"
        shown.append(
            Tile(
                number_text(feasibility.disclosed),
                f"{word} that this table alone gives away (largest change known)",
                Tone.BAD if feasibility.disclosed else Tone.GOOD,
            )
        )
    visible = sum(assessment.perceived.seen.visible)
    words = "published ones and twos"
    if visible:
        right = share_text(assessment.perceived.share_right, digits=0)
        words += f"; {right} are what they seem"
    shown.append(Tile(number_text(visible), words))
    if whole is not None:
        shown += [
            Tile(
                decimal_text(whole.mean_absolute_distance, 2),
                f"mean change of a non-empty cell, {units(assessment)}",
            ),
            Tile(
                decimal_text(whole.hellinger_normalised, 3),
                "Hellinger distance (0 identical, 1 unrelated)",
            ),
        ]
    return tiles(shown)


def _decision() -> Html:
    boxes = "".join(
        f'<li style="list-style:none">☐ {words}</li>'
        for words in (
            "approved for publication",
            f"approved with brackets around values below {BRACKETS_BELOW}",
            "refused",
        )
    )
    return section(
        "Decision",
        Html(
            f'<ul style="padding-left:0">{boxes}</ul>'
            '<p class="soft" style="margin-top:36px;border-top:1px solid var(--line);'
            'padding-top:4px;max-width:28em">Name, date, signature</p>\n'
        ),
    )


def _annex(assessment: Assessment, reproduce: str) -> Html:
    parts: list[str] = []
    if assessment.left_out:
        parts += ["What could not be measured, and why:", bullets(assessment.left_out)]
    reasons = _reasons(assessment)
    if reasons:
        parts += ["Figures that have no meaning for this table, or need care:", bullets(reasons)]
    if assessment.cautions:
        parts += ["What the method itself warns of:", bullets(assessment.cautions)]
    if assessment.smallest_group:
        parts += ["The smallest group:", bullets([assessment.smallest_group])]
    parts.append(made_table(assessment.provenance))
    if reproduce:
        parts.append(paragraph(together("Reproduce with ", code(reproduce), ".")))
    return section("Annex", *parts) if any(parts) else Html("")


def _reasons(assessment: Assessment) -> list[str]:
    """Why figures are missing or doubtful, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for part, measures in assessment.utility:
        for figure, why in measures.reasons:
            named = by_reason.setdefault(f"{part_text(part).capitalize()}: {why}", [])
            named.append(figure.replace("_", " "))
    said = [f"{why} ({', '.join(figures)})." for why, figures in by_reason.items()]
    if assessment.rows is not None:
        for name in ("hellinger", "relative_distance", "absolute_distance", "variance_ratio"):
            why = getattr(assessment.rows, name).reason
            if why:
                said.append(f"Each area by itself: {why} ({name.replace('_', ' ')}).")
    cautions = [caution for each in assessment.measured for caution in each.cautions]
    return list(dict.fromkeys([*said, *cautions]))
