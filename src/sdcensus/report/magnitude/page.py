"""Pages about tables of sums for the head of the office. Confidential."""

from __future__ import annotations

from typing import Any

from sdcensus.model.catalogue import FIRST
from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import table_heading
from sdcensus.report.assessment.public_page import made_table
from sdcensus.report.charts import INK, STRONG, altair_library
from sdcensus.report.magnitude.blocks import (
    Block,
    further_block,
    loss_block,
    losses_block,
    method_text,
    methods_block,
    percent_text,
    risk_blocks,
)
from sdcensus.report.magnitude.results import SumAssessment, SumStudy, SumStudyTable
from sdcensus.report.magnitude.words import (
    study_lead,
    study_sentences,
    sum_conclusions,
    sum_lead,
)
from sdcensus.report.page import (
    Html,
    Tile,
    bullets,
    code,
    figure,
    note,
    page,
    paragraph,
    section,
    table,
    tiles,
    to_sign,
    together,
)


def sum_page(
    assessment: SumAssessment,
    *,
    reproduce: str = "",
    date: str = "",
    language: str | None = None,
) -> str:
    """The page that the head of the office signs.

    Args:
        assessment: What was measured.
        reproduce: The command that makes it again, if there is one.
        date: The date that stands on it.
        language: The language of the page and of labels; English where there is none.
    """
    figures, public = assessment.figures, assessment.public
    said = sum_conclusions(assessment, language)
    shows = [public.shows] if public.shows != public.title else []
    facts = [
        assessment.census.show(language),
        *shows,
        speak("assess.page.cells", language, n=figures.cells),
        in_language(assessment.method, language),
        date,
    ]
    blocks = [_block(each, language) for each in risk_blocks(figures, language)]
    lost = (loss_block(figures, language), further_block(figures, language))
    return page(
        public.title,
        _tiles(assessment, language),
        note(speak("assess.page.before", language), bullets(said)) if said else Html(""),
        section(speak("sums.page.without", language), *blocks),
        section(speak("sums.page.loss", language), *(_block(each, language) for each in lost)),
        _methods(assessment, language),
        _decision(language),
        _annex(assessment, reproduce, language),
        facts=" · ".join(fact for fact in facts if fact),
        lead=sum_lead(assessment, language),
        stamp=speak("assess.page.stamp", language),
        closing=speak("assess.page.closing", language),
        language=language or FIRST,
    )


def sum_study_page(study: SumStudy) -> str:
    """The page of a study of methods for sums."""
    language = study.language
    parts = []
    for each in study.tables:
        said = study_sentences(study, each)
        parts.append(
            section(
                table_heading(each.spec, language),
                bullets(said) if said else Html(""),
                _map(study, each),
                *_compared(study, each, language),
            )
        )
    if study.left_out:
        reasons = [f"{name}: {reason}" for name, reason in study.left_out]
        parts.append(paragraph(speak("sums.page.left_out", language)))
        parts.append(bullets(reasons))
    return page(
        speak("sums.page.study_title", language, census=study.census),
        *parts,
        lead=study_lead(study),
        stamp=speak("assess.page.stamp", language),
        language=language or FIRST,
    )


def _block(block: Block, language: str | None) -> Html:
    """A table with its words."""
    shown = table(
        block.title(language), block.headings(language), block.texts(language), wrapped=True
    )
    return together(shown, paragraph(block.note(language), soft=True))


def _tiles(assessment: SumAssessment, language: str | None) -> Html:
    figures = assessment.figures
    second, whole = figures.second, figures.whole
    percent = percent_text(figures.risk.within, language)
    shown = [
        (second.share(second.after), speak("sums.page.tile_after", language, p=percent)),
        (second.share(second.expected), speak("sums.page.tile_expected", language)),
        (whole.mean, speak("sums.page.tile_mean", language)),
        (
            None if whole.within is None else whole.within[1],
            speak("sums.page.tile_within", language),
        ),
    ]
    return tiles(
        [Tile(share_text(share, language), words) for share, words in shown if share is not None]
    )


def _methods(assessment: SumAssessment, language: str | None) -> Html:
    study = assessment.compared
    if study is None:
        return Html("")
    own = study.tables[0]
    return section(
        speak("sums.page.methods", language),
        _map(study, own),
        *_compared(study, own, language),
    )


def _compared(study: SumStudy, own: SumStudyTable, language: str | None) -> tuple[Html, ...]:
    blocks = (methods_block(study, own, language), losses_block(study, own, language))
    return tuple(_block(block, language) for block in blocks)


def _decision(language: str | None) -> Html:
    choices = [speak(f"assess.page.{key}", language) for key in ("approved", "refused")]
    signature = speak("assess.page.signature", language)
    return section(speak("assess.page.decision", language), to_sign(choices, signature))


def _annex(assessment: SumAssessment, reproduce: str, language: str | None) -> Html:
    parts: list[str] = []
    for key, sentences in (("unmeasured", assessment.left_out), ("warns", assessment.cautions)):
        if sentences:
            said = [in_language(sentence, language) for sentence in sentences]
            parts += [speak(f"assess.page.{key}", language), bullets(said)]
    parts.append(made_table(assessment.provenance, language))
    if reproduce:
        words = speak("assess.page.reproduce", language)
        parts.append(paragraph(together(f"{words} ", code(reproduce), ".")))
    return section(speak("assess.page.annex", language), *parts) if any(parts) else Html("")


_WIDTH, _HEIGHT = 620, 300


def _map(study: SumStudy, own: SumStudyTable) -> Html:
    """Each method a point: risk over loss."""
    language = study.language
    points = [
        {
            "method": method_text(result, language),
            "across": 100 * result.figures.loss,
            "up": 100 * result.height,
        }
        for result in own.results
        if result.height is not None and result.figures.loss is not None
    ]
    if not points:
        return Html("")
    percent = percent_text(study.within, language)
    words = speak("sums.page.map_words", language, p=percent)
    return figure(
        _chart(
            points,
            speak("sums.page.map_across", language),
            speak("sums.page.map_up", language, p=percent),
        ),
        words,
        caption=words,
        title=speak("sums.page.map_title", language),
    )


def _chart(points: list[dict[str, Any]], across: str, up: str) -> Any:
    altair = altair_library()
    # Room for the names, which stand to the right of their points.
    widest = 1.6 * max(point["across"] for point in points) or 1.0
    base = altair.Chart(altair.Data(values=points)).encode(
        x=altair.X("across:Q", title=across, scale=altair.Scale(domain=[0, widest])),
        y=altair.Y("up:Q", title=up, scale=altair.Scale(zero=True)),
    )
    marks = base.mark_point(filled=True, size=70, color=STRONG)
    names = base.mark_text(align="left", dx=8, fontSize=11, color=INK).encode(text="method:N")
    return (marks + names).properties(width=_WIDTH, height=_HEIGHT)
