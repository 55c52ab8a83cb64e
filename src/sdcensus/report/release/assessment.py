"""The page about designs of a file, for the head of the office. Confidential."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.microdata.method import FactTable
from sdcensus.model.catalogue import FIRST
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.report import page as shell
from sdcensus.report.derivation.page import fact_block
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.release import tables
from sdcensus.report.release.plots import intruder_plot, ladder_plot, missing_plot, sizes_plot
from sdcensus.report.release.results import DesignResult, ReleaseAssessment
from sdcensus.report.release.tables import measure_text, say
from sdcensus.report.release.words import facts_line, lead, note_lines, size_text, verdict_lines
from sdcensus.report.study.plots import Plot

#: The tables of the study have many columns: on paper they have to stand side by side.
_STYLE = """.scroll table{font-size:13px}.scroll th,.scroll td{padding:5px 6px}
@media print{.scroll th,.scroll td{padding:2px 3px}.scroll table{font-size:8.6px}}"""


def assessment_page(
    assessment: ReleaseAssessment,
    language: str | None = None,
    *,
    progress: Progress = no_progress,
) -> str:
    """The whole page; what was not measured is not told."""
    progress("drawing", 0.0)
    parts = {
        "ladder": [*_ladder(assessment, language)],
        "missing": [*_missing(assessment, language)],
        "sizes": [*_sizes(assessment, language)],
        "intruders": [*_intruders(assessment, language)],
        "composition": [*_composition(assessment, language)],
        "special": [*_special(assessment, language)],
        **{part: [*_further(assessment, part, language)] for part in tables.FURTHER},
        "ladders": [*_ladders(assessment, language)],
        "settings": [*_settings(assessment, language)],
        "decision": [*_decision(assessment, language)],
    }
    titles = {name: say(f"section.{name}", language) for name, blocks in parts.items() if blocks}
    notes = [*note_lines(assessment, language)]
    title = assessment.title.show(language) or assessment.census
    return shell.page(
        say("title", language, title=title),
        *(_verdict(assessment, design, language) for design in assessment.designs),
        *_measures(assessment, language),
        shell.note(say("look_at", language), shell.bullets(notes)) if notes else Html(""),
        shell.contents(*titles.values(), language=language),
        *(shell.section(words, *parts[name]) for name, words in titles.items()),
        facts=facts_line(assessment, language),
        lead=lead(assessment, language),
        stamp=say("stamp", language),
        closing=say("closing", language),
        language=language or FIRST,
        style=_STYLE,
    )


def _verdict(assessment: ReleaseAssessment, design: DesignResult, language: str | None) -> Html:
    tone = Tone.GOOD if design.accepted else Tone.BAD if design.judged else Tone.WARN
    name = tables.design_name(design, language)
    words = [
        in_language(design.fraction, language),
        tables.geography_text(design, language),
        size_text(assessment, design, language),
    ]
    return shell.note(
        f"{name}: {tables.result_text(design, language)}",
        " · ".join(words),
        shell.bullets(verdict_lines(assessment, design, language)),
        tone=tone,
    )


def _measures(assessment: ReleaseAssessment, language: str | None) -> Iterator[Html]:
    """Every measure of every design beside what is accepted."""
    names = list(
        dict.fromkeys(each.measure for design in assessment.designs for each in design.verdicts)
    )
    if not names:
        return
    accepted = {
        each.measure: each.accepted for design in assessment.designs for each in design.verdicts
    }
    judged = [design for design in assessment.designs if design.verdicts]
    rows: list[list[PageCell | str]] = []
    for name in names:
        row: list[PageCell | str] = [measure_text(name, language, assessment.k)]
        for design in judged:
            verdict = next((each for each in design.verdicts if each.measure == name), None)
            if verdict is None or verdict.value is None:
                row.append(PageCell(share_text(None, language), Tone.SOFT))
                continue
            text = share_text(verdict.value, language, digits=2)
            row.append(PageCell(text, Tone.GOOD if verdict.passes else Tone.BAD))
        rows.append([*row, share_text(accepted[name], language, digits=2)])
    heads = [
        say("head.measure", language),
        *(tables.design_name(design, language) for design in judged),
        say("head.share_accepted", language),
    ]
    step = assessment.known_keys
    key = "measures" if step is None else "measures_at"
    caption = say(f"table.{key}", language, **({} if step is None else {"n": step}))
    yield shell.table(caption, heads, rows, wrapped=True)
    yield shell.paragraph(say("about.measures", language), soft=True)
    worst = tables.worst_table(assessment.designs, assessment.known_keys, language)
    yield from _facts(worst, language)


def _plot(plot: Plot | None, caption: str) -> Iterator[Html]:
    if plot is not None:
        yield shell.figure(plot.chart, plot.alternative, title=plot.title, caption=caption)


def _facts(table: FactTable, language: str | None) -> Iterator[Html]:
    if table.rows:
        yield fact_block(table, language)


def _ladder(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    yield from _plot(ladder_plot(assessment, language), say("about.ladder", language))


def _missing(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    yield from _plot(missing_plot(assessment, language), say("about.missing", language))


def _sizes(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    yield from _plot(sizes_plot(assessment, language), say("about.sizes", language))
    yield from _facts(tables.designs_table(assessment, language), language)
    if assessment.surveys:
        yield from _facts(tables.sizes_table(assessment, language), language)


def _intruders(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    table = tables.intruders_table(assessment)
    if table.rows:
        yield say("about.intruders", language)
    yield from _plot(intruder_plot(assessment, language), "")
    yield from _facts(table, language)


def _composition(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    table = tables.composition_table(assessment, language)
    if table.rows:
        yield say("about.composition", language)
        yield from _facts(table, language)


def _special(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    blocks = [
        *_facts(tables.contributions_table(assessment, language), language),
        *_facts(tables.scores_table(assessment), language),
    ]
    if blocks:
        yield say("about.special", language)
        yield from blocks


def _further(assessment: ReleaseAssessment, part: str, language: str | None) -> Iterator[str]:
    several = len(assessment.designs) > 1
    for design in assessment.designs:
        blocks = [
            block
            for table in tables.further_tables(design, part)
            for block in _facts(table, language)
        ]
        if not blocks:
            continue
        if several:
            # Headings of the same words in several sections would share their address.
            yield shell.paragraph(shell.strong(tables.design_name(design, language)))
        yield from blocks
    if part == "further":
        for table in assessment.tables:
            yield from _facts(table, language)


def _ladders(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    for design in assessment.designs:
        yield from _facts(
            tables.ladder_table(assessment, design, language, otherwise=False), language
        )
        yield from _facts(tables.household_table(assessment, design, language), language)
        other = tables.ladder_table(assessment, design, language, otherwise=True)
        if other.rows:
            yield shell.details(in_language(other.title, language), *_facts(other, language))


def _settings(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    rows = list(assessment.settings.items())
    yield from _facts(tables.fact_table("settings", ("parameter", "value"), rows), language)


def _decision(assessment: ReleaseAssessment, language: str | None) -> Iterator[str]:
    choices = [
        say("decision.make", language, name=design.name)
        for design in assessment.designs
        if design.accepted
    ]
    choices += [
        say("decision.make_although", language, name=design.name)
        for design in assessment.designs
        if design.judged and not design.accepted
    ]
    choices.append(say("decision.none", language))
    yield shell.to_sign(choices, speak("assess.page.signature", language))
