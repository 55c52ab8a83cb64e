"""The page about a derived store, and the page about what a method would meet. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.microdata.method import FactTable
from sdcensus.model.catalogue import FIRST
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import decimal_text, share_text
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import entity_text
from sdcensus.report import page as shell
from sdcensus.report.derivation import tables
from sdcensus.report.derivation.plots import distance_plot, levels_plot, small_plot
from sdcensus.report.derivation.results import Effects, TableEffect
from sdcensus.report.derivation.words import findings, lead
from sdcensus.report.page import Html, PageCell, Tile, Tone
from sdcensus.report.study.plots import Plot

#: Longer tables of a method are folded away.
_LONG = 15


def effects_page(effects: Effects, *, progress: Progress = no_progress) -> str:
    """The whole page."""
    language = effects.language
    progress("drawing", 0.0)
    sections = {
        "did": _did(effects),
        "levels": _levels(effects),
        "small": _small(effects),
        "tables": _tables(effects),
        "associations": _associations(effects),
        "rules": _rules(effects),
        "line": _line(effects),
        "decision": _decision(effects),
    }
    titles = {name: speak(f"derive.section.{name}", language) for name in sections}
    said = list(findings(effects))
    steps = len(effects.lineage)
    return shell.page(
        speak("derive.title", language, census=effects.census),
        _tiles(effects),
        shell.note(speak("derive.look_at", language), shell.bullets(said)) if said else Html(""),
        shell.contents(*titles.values(), language=language),
        *(shell.section(titles[name], *blocks) for name, blocks in sections.items()),
        facts=speak(
            f"derive.facts{'' if steps > 1 else '_one'}", language, method=effects.method, n=steps
        ),
        lead=lead(effects),
        stamp=speak("derive.stamp", language),
        closing=speak("derive.closing", language),
        language=language or FIRST,
    )


def plan_page(
    census: str, method: str, facts: Sequence[FactTable], language: str | None = None
) -> str:
    """What a method would meet, as a page."""
    key = "derive.about.plan" if facts else "derive.about.no_plan"
    return shell.page(
        speak("derive.plan_title", language, census=census),
        shell.section(
            speak("derive.section.before", language),
            *(fact_block(table, language) for table in facts),
        ),
        facts=method,
        lead=speak(key, language),
        stamp=speak("derive.stamp", language),
        closing=speak("derive.closing", language),
        language=language or FIRST,
    )


def _tiles(effects: Effects) -> Html:
    language = effects.language
    shown = []
    seen = set()
    for change in effects.levels:
        if change.variable in seen:
            continue
        seen.add(change.variable)
        words = speak(
            "derive.tile.moved" if change.area else "derive.tile.changed",
            language,
            entity=entity_text(change.entity, language),
            variable=tables.level_label(change, language),
        )
        shown.append(Tile(share_text(change.share, language), words))
    alone = all(change.area for change in effects.levels)
    if effects.area_levels and alone and not effects.dropped and not effects.weights:
        none = share_text(0.0, language)
        shown.append(Tile(none, speak("derive.tile.country", language), Tone.BAD))
    if effects.tables:
        first, both = effects.tables[0].stages
        shown += [
            Tile(
                share_text(first.unprotected, language), speak("derive.tile.unprotected", language)
            ),
            Tile(
                share_text(both.unprotected, language),
                speak("derive.tile.unprotected_both", language),
            ),
            Tile(
                decimal_text(first.utility.mean_absolute_distance, 2, language),
                speak("derive.tile.mean", language),
            ),
        ]
    return shell.tiles(shown[:6])


def fact_block(table: FactTable, language: str | None) -> Html:
    """A table of facts with its note; a long one is folded away."""
    words = tables.word_columns(table)
    rows = [[_cell(table, at, row[at], language) for at in range(len(row))] for row in table.rows]
    heads = [in_language(heading, language) for heading in table.headings]
    caption = in_language(table.title, language)
    block = shell.table(caption, heads, rows, words=words)
    if table.note is not None:
        note = shell.paragraph(in_language(table.note, language), soft=True)
        block = Html(f"{block}{note}")
    return shell.details(caption, block) if len(table.rows) > _LONG else block


def _cell(table: FactTable, at: int, fact: object, language: str | None) -> PageCell | str:
    text = tables.fact_text(table.headings[at], fact, language)  # type: ignore[arg-type]
    if fact is None:
        return PageCell(text, Tone.SOFT)
    key = getattr(table.headings[at], "words", "")
    unprotected = fact == 0 and key in ("derive.head.share", "derive.head.cells_share")
    return PageCell(text, Tone.BAD) if unprotected else text


def _plot(plot: Plot | None, caption: str = "") -> Html:
    if plot is None:
        return Html("")
    return shell.figure(plot.chart, plot.alternative, title=plot.title, caption=caption)


def _did(effects: Effects) -> Iterator[str]:
    language = effects.language
    yield effects.summary
    yield fact_block(tables.sizes_table(effects), language)
    if effects.figures:
        yield fact_block(tables.figures_table(effects), language)
    for facts in effects.facts:
        yield fact_block(facts, language)


def _levels(effects: Effects) -> Iterator[str]:
    language = effects.language
    if not effects.levels:
        yield lead(effects)
        return
    yield speak("derive.about.levels", language)
    yield _plot(levels_plot(effects))
    yield fact_block(tables.levels_table(effects), language)


def _small(effects: Effects) -> Iterator[str]:
    language = effects.language
    if not effects.tables:
        yield speak("derive.about.no_table", language)
        return
    yield speak("derive.about.small", language)
    yield _plot(small_plot(effects))
    yield fact_block(tables.small_table(effects), language)
    combined = tables.combined_table(effects)
    if combined.rows:
        yield fact_block(combined, language)


def _tables(effects: Effects) -> Iterator[str]:
    language = effects.language
    if not effects.tables:
        yield speak("derive.about.no_table", language)
        return
    yield speak("derive.about.tables", language, perturbation=effects.perturbation)
    if not effects.named:
        yield shell.paragraph(speak("derive.about.stands", language), soft=True)
    repeats = effects.repetitions
    yield (
        speak("derive.about.repeated", language, n=repeats)
        if repeats
        else speak("derive.about.not_repeated", language)
    )
    caption = speak("derive.chart.distance_caption", language) if repeats else ""
    yield _plot(distance_plot(effects), caption)
    for table in effects.tables:
        yield shell.section(tables.called(table, language), *_table(effects, table), level=3)


def _table(effects: Effects, table: TableEffect) -> Iterator[str]:
    language = effects.language
    yield fact_block(tables.stages_table(effects, [table]), language)
    for facts in (
        tables.repeated_table(effects, [table]),
        tables.spread_table(effects, [table]),
    ):
        if facts.rows:
            yield fact_block(facts, language)


def _associations(effects: Effects) -> Iterator[str]:
    language = effects.language
    if not effects.associations:
        yield speak("derive.about.no_association", language)
        return
    yield speak("derive.about.associations", language)
    yield fact_block(tables.associations_table(effects), language)


def _rules(effects: Effects) -> Iterator[str]:
    language = effects.language
    if not effects.rules:
        yield speak("derive.rules_none", language)
        return
    broken = sum(rule.new for rule in effects.rules)
    if broken:
        yield speak("derive.rules_broken", language, n=broken)
    else:
        yield speak("derive.rules_kept", language)
    yield fact_block(tables.rules_table(effects), language)


def _line(effects: Effects) -> Iterator[str]:
    language = effects.language
    yield speak("derive.about.line", language)
    yield fact_block(tables.line_table(effects), language)
    if effects.settings:
        yield fact_block(tables.settings_table(effects), language)


def _decision(effects: Effects) -> Iterator[str]:
    language = effects.language
    choices = [
        speak(f"derive.decision.{name}", language)
        for name in ("approved", "approved_perturbed", "refused")
    ]
    yield shell.to_sign(choices, speak("assess.page.signature", language))
