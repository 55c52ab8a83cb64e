"""Verdicts of a policy in the language of the reader: reasons, notes, remedies.

The texts stand in the catalogue ``policy``; here names of variables, levels and units and figures
are put into them. Nothing here knows a number that the verdict does not tell.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from sdcensus.errors import Sentence, UnknownName
from sdcensus.model.catalogue import FIRST, catalogue
from sdcensus.model.policy.policy import AtLevel
from sdcensus.model.quantities import figure_text, number_text
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import (
    entity_text,
    figure_heading,
    inside_sentence,
    joined,
    variable_heading,
)
from sdcensus.model.spec.measures import FigureOf
from sdcensus.session.answer import level_label
from sdcensus.session.policy.verdict import (
    RemedyStep,
    StepKind,
    Told,
    VerdictReason,
    VerdictRemedy,
)

#: Where the texts stand.
_AREA = "web/policy"
#: Texts by their full key, such as ``policy.remedy.leave-out``.
Texts = Mapping[str, str]


def reason_text(reason: VerdictReason, schema: Schema, language: str, texts: Texts) -> str:
    """Why a table is refused or shown in part only.

    Args:
        reason: The reason.
        schema: The census; labels of its variables are shown.
        language: The language of the reader.
        texts: The texts of that language.
    """
    values = {name: _shown(name, value, schema, language) for name, value in reason.values}
    spoken = dict(reason.values)
    if isinstance(spoken.get("level"), str):
        level, variable = str(spoken["level"]), spoken.get("variable")
        of = str(variable) if variable else _geography_with(level, schema)
        values["level"] = _level(of, level, schema, language)
    return texts[f"policy.{reason.words}"].format_map(values)


def reason_in(reason: VerdictReason, schema: Schema, language: str | None) -> str:
    """The same with the texts of the catalogue; English is as the policy itself says it."""
    if language is None or language == FIRST:
        return reason.sentence
    texts = {f"policy.{key}": text for key, text in catalogue(_AREA, language).items()}
    return reason_text(reason, schema, language, texts)


def note_text(note: Sentence, language: str, texts: Texts) -> str:
    """What else there is to know, such as rules that only published numbers decide."""
    values = {
        name: figure_text(value, language) if isinstance(value, int | float) else value
        for name, value in note.values.items()
    }
    return texts[f"policy.{note.words}"].format_map(values)


def remedy_text(remedy: VerdictRemedy, schema: Schema, language: str, texts: Texts) -> str:
    """What would help."""
    parts = [*_steps(remedy.steps, schema, language, texts)]
    steps = joined(parts, language)
    steps = f"{steps[:1].upper()}{steps[1:]}"
    if remedy.available is None or remedy.areas is None:
        return texts["policy.remedy.alone"].format(steps=steps)
    return texts["policy.remedy.with-areas"].format(
        steps=steps,
        available=number_text(remedy.available, language),
        areas=number_text(remedy.areas, language),
    )


def _steps(
    steps: Iterable[RemedyStep], schema: Schema, language: str, texts: Texts
) -> Iterable[str]:
    """The parts of a remedy: coarser levels one by one, the rest as lists of variables."""
    for kind, group in itertools.groupby(steps, key=lambda step: step.kind):
        text = texts[f"policy.remedy.{kind.value}"]
        if kind is StepKind.COARSER:
            for step in group:
                name = _name(step.variable, schema, language)
                levels = [_level(step.variable, level, schema, language) for level in step.levels]
                areas = _is_area(step.variable, schema)
                said = texts["policy.remedy.coarser-areas"] if areas else text
                yield said.format(variable=name, levels=joined(levels, language))
        else:
            names = [_name(step.variable, schema, language) for step in group]
            yield text.format(variables=joined(names, language))


def _shown(name: str, value: Told, schema: Schema, language: str) -> str:
    """A value as the reader sees it; its name says what it is."""
    if name in ("measure", "known"):
        figures = value if isinstance(value, tuple) else (str(value),)
        return joined([_figure(text, schema, language) for text in figures], language)
    if isinstance(value, tuple):
        return joined([_at(text, schema, language) for text in value], language)
    if not isinstance(value, str):
        return figure_text(value, language)
    if name == "variable":
        return _name(value, schema, language)
    if name == "units":
        return entity_text(Entity(value), language)
    return value


def _name(variable: str, schema: Schema, language: str) -> str:
    """The label of a variable."""
    try:
        return variable_heading(schema.variable(variable), language)
    except UnknownName:
        return variable


def _figure(text: str, schema: Schema, language: str) -> str:
    """What is asked of an amount, such as the mean of incomes."""
    figure = FigureOf.parse(text)
    return text if figure is None else figure_heading(figure, schema, language)


def _geography_with(level: str, schema: Schema) -> str:
    """The geography that has a level of this name; empty where none has."""
    for variable in schema.geographies:
        if any(level == other.name for other in variable.levels()):
            return variable.name
    return ""


def _level(variable: str, level: str, schema: Schema, language: str) -> str:
    """What a level is called."""
    try:
        declared = schema.variable(variable)
        return level_label(declared, declared.level(level)).show(language)
    except UnknownName:
        return level


def _at(text: str, schema: Schema, language: str) -> str:
    """A variable at a level; areas by their level alone."""
    parsed = AtLevel.parse(text)
    name = _name(parsed.variable, schema, language)
    if not parsed.level:
        return name
    level = _level(parsed.variable, parsed.level, schema, language)
    if level == name:
        return name  # the leaves
    return level if _is_area(parsed.variable, schema) else f"{name} ({inside_sentence(level)})"


def _is_area(variable: str, schema: Schema) -> bool:
    try:
        return schema.variable(variable).called_by_level
    except UnknownName:
        return False
