"""The page that the head of the office signs. Confidential; ``public_page`` is for anybody."""

from __future__ import annotations

from sdcensus.model.catalogue import FIRST
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.quantities import decimal_text, number_text, share_text
from sdcensus.model.sentences import in_language, speak
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
    base_text,
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
    to_sign,
    together,
)

STAMP = speak("assess.page.stamp")


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
        language: The language of the page and of labels; English where there is none.
    """
    said = conclusions(assessment, language)
    before = speak("assess.page.before", language)
    return page(
        assessment.public.title,
        _tiles(assessment, language),
        note(before, bullets(said)) if said else Html(""),
        without_protection(assessment, language),
        remaining(assessment, language),
        seen(assessment, language),
        with_others(assessment, language),
        lost(assessment, language),
        methods(assessment, language),
        _decision(language),
        _annex(assessment, reproduce, language),
        facts=" · ".join(_facts(assessment, date, language)),
        lead=lead(assessment, language),
        stamp=speak("assess.page.stamp", language),
        closing=speak("assess.page.closing", language),
        language=language or FIRST,
    )


def _facts(assessment: Assessment, date: str, language: str | None) -> list[str]:
    interior = assessment.counted_in(TablePart.INTERIOR)
    cells = assessment.table.spec.cells
    public = assessment.public
    shows = [public.shows] if public.shows != public.title else []
    said = [speak(f"assess.page.{'cells' if cells > 1 else 'one_cell'}", language, n=cells)]
    if interior is not None and cells > 1:
        said = [speak("assess.page.interior", language, n=cells, interior=interior.cells)]
    if assessment.population is not None:
        said.append(f"{number_text(assessment.population, language)} {units(assessment, language)}")
    method = in_language(assessment.method, language)
    facts = [assessment.census.show(language), *shows, *said, method, date]
    return [fact for fact in facts if fact]


def _tiles(assessment: Assessment, language: str | None) -> Html:
    feasibility = assessment.main
    whole = assessment.utility_in(TablePart.ALL)
    shown = []
    if feasibility is not None:
        key = "tile_one" if feasibility.disclosed == 1 else "tile"
        shown.append(
            Tile(
                number_text(feasibility.disclosed, language),
                speak(
                    f"assess.page.{key}",
                    language,
                    of=base_text(assessment, feasibility.cells, language),
                ),
                Tone.BAD if feasibility.disclosed else Tone.GOOD,
            )
        )
    seen_cells = assessment.counted[-1]
    right = share_text(seen_cells.perceived.share_right, language, digits=0)
    words = speak("assess.page.seen", language, cells=seen_cells.cells, right=right)
    shown.append(Tile(number_text(seen_cells.visible, language), words))
    if whole is not None:
        counted = units(assessment, language)
        shown += [
            Tile(
                decimal_text(whole.mean_absolute_distance, 2, language),
                speak(
                    "assess.page.mean_change",
                    language,
                    of=base_text(assessment, whole.nonzero, language),
                    units=counted,
                ),
            ),
            Tile(
                decimal_text(whole.hellinger_normalised, 3, language),
                speak("assess.page.hellinger", language, n=whole.cells),
            ),
        ]
    return tiles(shown)


def _decision(language: str | None) -> Html:
    choices = (
        speak("assess.page.approved", language),
        speak("assess.page.approved_brackets", language, below=BRACKETS_BELOW),
        speak("assess.page.refused", language),
    )
    signature = speak("assess.page.signature", language)
    return section(speak("assess.page.decision", language), to_sign(choices, signature))


def _annex(assessment: Assessment, reproduce: str, language: str | None) -> Html:
    listed = (
        ("unmeasured", assessment.left_out),
        ("doubtful", _reasons(assessment, language)),
        ("warns", assessment.cautions),
        ("smallest", [assessment.smallest_group] if assessment.smallest_group else []),
    )
    parts: list[str] = []
    for key, sentences in listed:
        if sentences:
            said = [in_language(sentence, language) for sentence in sentences]
            parts += [speak(f"assess.page.{key}", language), bullets(said)]
    parts.append(made_table(assessment.provenance, language))
    if reproduce:
        words = speak("assess.page.reproduce", language)
        parts.append(paragraph(together(f"{words} ", code(reproduce), ".")))
    return section(speak("assess.page.annex", language), *parts) if any(parts) else Html("")


def _reasons(assessment: Assessment, language: str | None) -> list[str]:
    """Why figures are missing or doubtful, each reason once."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for part, measures in assessment.utility:
        for figure, why in measures.reasons:
            name = part_text(part, language).capitalize()
            named = by_reason.setdefault((name, in_language(why, language)), [])
            named.append(speak(f"utility.{figure}", language))
    said = [
        speak("assess.page.of_part", language, part=part, why=why, figures=", ".join(figures))
        for (part, why), figures in by_reason.items()
    ]
    if assessment.rows is not None:
        for name in ("hellinger", "relative_distance", "absolute_distance", "variance_ratio"):
            why = in_language(getattr(assessment.rows, name).reason, language)
            if why:
                figures = name.replace("_", " ")
                said.append(speak("assess.page.of_rows", language, why=why, figures=figures))
    cautions = [caution for each in assessment.measured for caution in each.cautions]
    return list(dict.fromkeys([*said, *(in_language(caution, language) for caution in cautions)]))
