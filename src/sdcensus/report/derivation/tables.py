"""What was measured as tables of facts: for the page, the workbook and the console alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sdcensus.errors import Sentence
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.sentences import in_language, sentence, speak
from sdcensus.model.spec.headings import entity_text, table_heading
from sdcensus.model.text import Text
from sdcensus.report.derivation.results import Effects, LevelChange, TableEffect
from sdcensus.utility.evaluation import Stage

_STAGES = {
    Stage.ORIGINAL: "derive.head.original",
    Stage.SWAPPED: "derive.head.derived",
    Stage.PUBLISHED: "derive.head.perturbed",
}


def stage_text(stage: Stage, language: str | None) -> str:
    """What a stage of a table is called."""
    return speak(_STAGES[stage], language)


# ------------------------------------------------------------------------------ how facts look


def is_share(heading: str) -> bool:
    """Whether the figures below a heading are shares: the key of the heading says so."""
    key = heading.words if isinstance(heading, Sentence) else str(heading)
    return "share" in (key or str(heading)).rpartition(".")[2]


def fact_text(heading: str, fact: Fact, language: str | None) -> str:
    """A fact as people read it."""
    if fact is None:
        return NOTHING
    if isinstance(fact, str):
        return in_language(fact, language)
    if is_share(heading):
        sign = "−" if fact < 0 else ""
        return sign + share_text(abs(float(fact)), language)
    if isinstance(fact, int):
        return number_text(fact, language)
    # Large figures need fewer decimals.
    digits = 3 if abs(fact) < 10 else 1
    return ("−" if fact < 0 else "") + decimal_text(abs(fact), digits, language)


def word_columns(table: FactTable) -> int:
    """How many columns from the left hold words."""
    words = 1
    for at in range(1, len(table.headings)):
        if not table.rows or not all(isinstance(row[at], str) for row in table.rows):
            break
        words += 1
    return words


def _table(
    name: str, heads: Sequence[str], rows: Iterable[Sequence[Fact]], title: Sentence | None = None
) -> FactTable:
    return FactTable(
        name=name,
        title=title or sentence(f"derive.table.{name}"),
        headings=tuple(sentence(f"derive.head.{head}") for head in heads),
        rows=tuple(tuple(row) for row in rows),
    )


# ------------------------------------------------------------------------------ protection


def level_name(change: LevelChange, language: str | None) -> str:
    """The level of a change, or the whole country."""
    return change.level or speak("derive.level_country", language)


def level_label(change: LevelChange, language: str | None) -> str:
    """The variable of a change."""
    return change.label.show(language) or change.variable


def levels_table(effects: Effects) -> FactTable:
    """Units and persons with another code, by variable and level."""
    language = effects.language
    heads = ["variable", "level", "entity", "units", "changed", "share"]
    persons = any(change.persons is not None for change in effects.levels)
    if persons:
        heads += ["persons", "persons_changed", "persons_share"]
    rows: list[list[Fact]] = []
    for change in effects.levels:
        row: list[Fact] = [
            level_label(change, language),
            level_name(change, language),
            entity_text(change.entity, language),
            change.units,
            change.changed,
            change.share,
        ]
        if persons:
            row += [change.persons, change.persons_changed, change.persons_share]
        rows.append(row)
    return _table("levels", heads, rows)


def called(table: TableEffect, language: str | None) -> str:
    """What a table shows, in words."""
    return table_heading(table.spec, language)


def small_table(effects: Effects) -> FactTable:
    """Small cells of every table, by level of the geography."""
    heads: tuple[str, ...] = ("level", "cells", "cells_changed", "cells_share", "records")
    language = effects.language
    several = len(effects.tables) > 1
    rows = [
        [
            *([called(table, language)] if several else []),
            small.level or speak("derive.level_country", language),
            small.cells,
            small.changed,
            small.share,
            small.records,
            small.unprotected,
            small.unprotected_share,
        ]
        for table in effects.tables
        for small in table.small
    ]
    heads += ("unprotected", "unprotected_share")
    return _table("small", ("table", *heads) if several else heads, rows)


def combined_table(effects: Effects) -> FactTable:
    """What a published 1, 2 or 3 says about residents: by noise alone, and with the step."""
    language = effects.language
    rows: list[tuple[Fact, ...]] = []
    for table in effects.tables:
        for risk in table.combined:
            level = risk.level or speak("derive.level_country", language)
            for value in risk.alone.values:
                then, seen = risk.together.of(value.published), risk.observed.of(value.published)
                rows.append(
                    (
                        called(table, language),
                        level,
                        value.published,
                        *(value.count_true, then.count_true, seen.count_true),
                        *(value.claim_right, then.claim_right, seen.claim_right),
                    )
                )
    heads = (
        *("true_share", "true_then_share", "true_seen_share"),
        *("right_share", "right_then_share", "right_seen_share"),
    )
    return FactTable(
        name="combined",
        title=sentence("combined.report.title"),
        headings=(
            sentence("derive.head.table"),
            sentence("derive.head.level"),
            sentence("combined.report.published"),
            *(sentence(f"combined.report.{head}") for head in heads),
        ),
        rows=tuple(rows),
        note=sentence("combined.report.note"),
    )


# ------------------------------------------------------------------------------ effect


_MEASURES = ("mean_change", "relative_share", "hellinger", "largest", "equal_share", "risk")


def stages_table(effects: Effects, tables: Sequence[TableEffect]) -> FactTable:
    """Original, records changed, perturbed besides: the measures of an assessment."""
    language = effects.language
    rows: list[list[Fact]] = []
    for table in tables:
        figures = {each.stage: each for each in table.evaluation.stages if each.margins}
        measured = {stage.stage: stage for stage in table.stages}
        for stage in Stage:
            own, after = figures[stage], measured.get(stage)
            row: list[Fact] = [stage_text(stage, language), own.zeros, own.unsafe]
            if after is None:
                row += [None, None, None, None, None, table.original_risk, None]
            else:
                utility = after.utility
                row += [
                    utility.mean_absolute_distance,
                    utility.mean_relative_distance,
                    utility.hellinger_normalised,
                    utility.max_deviation,
                    utility.share_unchanged,
                    after.risk,
                    after.unprotected,
                ]
            rows.append([called(table, language), *row] if len(tables) > 1 else row)
    heads = ("stage", "zeros", "cells", *_MEASURES, "unprotected_share")
    return _table("stages", ("table", *heads) if len(tables) > 1 else heads, rows)


_ROW_MEASURES = {
    "hellinger": "hellinger_distance",
    "relative_distance": "relative_sum",
    "absolute_distance": "absolute_mean",
    "variance_ratio": "variance_ratio",
}


def spread_table(effects: Effects, tables: Sequence[TableEffect]) -> FactTable:
    """Measures of each area and how far areas differ."""
    language = effects.language
    rows: list[list[Fact]] = []
    for table in tables:
        for stage in table.stages:
            if stage.rows is None:
                continue
            for name, word in _ROW_MEASURES.items():
                spread = getattr(stage.rows, name)
                row: list[Fact] = [
                    stage_text(stage.stage, language),
                    speak(f"assess.loss.{word}", language),
                    spread.rows,
                    spread.mean,
                    spread.variance,
                    spread.half_width,
                ]
                rows.append([called(table, language), *row] if len(tables) > 1 else row)
    heads = ("stage", "measure", "areas", "mean", "variance", "half_width")
    return _table("spread", ("table", *heads) if len(tables) > 1 else heads, rows)


_REPEATED_WORDS = {
    "mean_absolute_distance": "derive.head.mean_change",
    "hellinger_normalised": "derive.head.hellinger",
    "share_unchanged": "derive.head.equal_share",
}


def repeated_table(effects: Effects, tables: Sequence[TableEffect]) -> FactTable:
    """The smallest, mean and largest measure with other keys."""
    language = effects.language
    rows: list[list[Fact]] = []
    for table in tables:
        for stage in table.stages:
            for name, span in stage.repeated.items():
                row: list[Fact] = [
                    stage_text(stage.stage, language),
                    speak(_REPEATED_WORDS[name], language),
                    *span,
                ]
                rows.append([called(table, language), *row] if len(tables) > 1 else row)
    heads = ("stage", "measure", "least", "mean", "most")
    return _table("repeated", ("table", *heads) if len(tables) > 1 else heads, rows)


def associations_table(effects: Effects) -> FactTable:
    """Cramér's V of named pairs, and how far it moved."""
    language = effects.language
    reasons = any(each.reason for each in effects.associations)
    rows: list[list[Fact]] = []
    for each in effects.associations:
        labels = [
            _named(label, axis, language)
            for label, axis in zip(each.labels, each.axes, strict=True)
        ]
        row: list[Fact] = [
            *labels,
            each.original,
            each.derived,
            each.perturbed,
            _bias(each.original, each.derived),
            _bias(each.original, each.perturbed),
        ]
        rows.append([*row, each.reason] if reasons else row)
    heads = ("first", "second", "original", "derived", "perturbed", "bias_share", "both_bias_share")
    return _table("associations", (*heads, "reason") if reasons else heads, rows)


def _named(label: Text, axis: str, language: str | None) -> str:
    """A variable with the level at which it is shown."""
    variable, at, level = axis.partition("@")
    return f"{label.show(language) or variable}{f' ({level})' if at else ''}"


def _bias(before: float | None, after: float | None) -> float | None:
    return None if not before or after is None else (after - before) / before


# ------------------------------------------------------------------------------ the rest


def rules_table(effects: Effects) -> FactTable:
    """Edit rules, and how many records break each that did not before."""
    rows: list[list[Fact]] = [
        [rule.rule, entity_text(rule.entity, effects.language), rule.new] for rule in effects.rules
    ]
    return _table("rules", ("rule", "entity", "new"), rows)


def line_table(effects: Effects) -> FactTable:
    """Every step of the line."""
    rows: list[list[Fact]] = [
        [number, step.method, step.method_version, step.parent, step.fingerprint]
        for number, step in enumerate(effects.lineage, start=1)
    ]
    return _table("line", ("step", "method", "version", "parent", "fingerprint"), rows)


def settings_table(effects: Effects) -> FactTable:
    """What was said about the method."""
    return _table("settings", ("parameter", "value"), effects.settings)


def sizes_table(effects: Effects) -> FactTable:
    """How many records there are, and how many were left out."""
    rows: list[list[Fact]] = [
        [entity_text(entity, effects.language), number, effects.dropped.get(entity, 0)]
        for entity, number in effects.rows.items()
    ]
    return _table("sizes", ("entity", "number", "dropped"), rows)


def figures_table(effects: Effects) -> FactTable:
    """What the method counted."""
    return _table("figures", ("figure", "number"), list(effects.figures.items()))
