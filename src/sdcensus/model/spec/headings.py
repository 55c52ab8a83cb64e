"""What a table is called where people read it: its units, its axes, the records it is about."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.layout import positions_of
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import LANGUAGES, Text

_UNITS = {entity: Text.named(f"headings.units.{entity.name.lower()}") for entity in Entity}
_BY = Text.named("headings.by")
_TO = Text.named("headings.to")
_CONDITION = Text.named("headings.condition")
_NOTHING = Text.named("headings.nothing")
_WEIGHTED = Text.named("headings.weighted")
_SUM = Text.named("headings.sum")
_AND = Text.named("headings.and")
#: The form of "and" before some words, such as "e" for "y" in Spanish, and how those begin.
_OTHER_AND = Text.named("language.other_and")
_BEFORE_OTHER_AND = Text.named("language.before_other_and")

#: What stands between a name and what it is, and between two such pairs.
_COLON = Text.named("headings.colon")
_SEMICOLON = Text.named("headings.semicolon")

#: Whether names keep their capitals in the middle of a title.
_CAPITALS = Text.named("language.capitals_in_titles")

#: A set of codes with more members than this is not listed.
_MOST_LISTED = 6


def joined(words: Sequence[str], language: str | None = None) -> str:
    """Words as a list in a sentence.

    Examples:
        >>> joined(["Male", "Female", "Not stated"]), joined(["Edad", "Ingreso"], "es")
        ('Male, Female and Not stated', 'Edad e Ingreso')
    """
    if len(words) < 2:
        return "".join(words)
    last = words[-1]
    other, before = _OTHER_AND.show(language), _BEFORE_OTHER_AND.show(language)
    special = bool(other) and re.match(before, last, re.IGNORECASE) is not None
    both = other if special else _AND.show(language)
    return f"{', '.join(words[:-1])} {both} {last}"


def joined_in_title(labels: Sequence[str], language: str | None = None) -> str:
    """Labels as a list in a title: English keeps their capitals, other languages do not.

    Examples:
        >>> joined_in_title(["Age", "Sex"]), joined_in_title(["Edad", "Sexo"], "es")
        ('Age and Sex', 'edad y sexo')
    """
    small = _CAPITALS.show(language) == "no"
    return joined([inside_sentence(label) if small else label for label in labels], language)


def pairs_text(pairs: Sequence[tuple[str, str]], language: str | None = None) -> str:
    """Names with what they are, one after the other.

    Examples:
        >>> pairs_text([("Sex", "Male"), ("Age", "0 to 14")])
        'Sex: Male; Age: 0 to 14'
    """
    colon = _COLON.show(language)
    return _SEMICOLON.show(language).join(f"{name}{colon}{value}" for name, value in pairs)


def entity_text(entity: Entity, language: str | None = None) -> str:
    """The word for many units of a kind, as it stands inside a sentence.

    Examples:
        >>> entity_text(Entity.HOUSEHOLD, "fr")
        'ménages'
    """
    return _UNITS[entity].show(language)


def entity_words(entity: Entity) -> Text:
    """The word for many units of a kind inside a sentence, in every language."""
    return _UNITS[entity]


def entity_label(entity: Entity) -> Text:
    """The word for many units of a kind, as it stands alone."""
    words = _UNITS[entity].by_language
    return Text.of({language: f"{one[:1].upper()}{one[1:]}" for language, one in words})


def units_text(spec: TableSpec, language: str | None = None) -> str:
    """What is counted, for the head of a table."""
    units = _UNITS[spec.of].show(language)
    if spec.amount is not None:
        unit = spec.amount.unit_text.show(language)
        unit = f" ({unit})" if unit else ""
        units = _SUM.filled(
            amount=f"{variable_heading(spec.amount, language)}{unit}", units=units
        ).show(language)
    if spec.measure.is_weighted:
        units = f"{units} ({_WEIGHTED.show(language)})"
    return f"{units[:1].upper()}{units[1:]}"


def figure_heading(figure: FigureOf, schema: Schema, language: str | None = None) -> str:
    """What is asked of an amount, inside a sentence."""
    amount = variable_heading(schema.variable(figure.amount), language)
    words = Text.named(f"headings.amount_{figure.figure.value}")
    return words.filled(amount=inside_sentence(amount)).show(language)


def units_words(spec: TableSpec) -> Text:
    """What is counted, within a sentence, in every language."""
    return Text.of({language: units_text(spec, language).lower() for language in LANGUAGES})


def variable_heading(variable: Variable, language: str | None = None) -> str:
    """The label of a variable, or its name where it has none."""
    return variable.label.show(language) or variable.name


def axis_heading(axis: Axis, language: str | None = None) -> str:
    """The label of the variable, and the level where that is not its own.

    Areas are called by their level where the schema has a label for it: a parish is a parish, and
    no enumeration district.
    """
    variable = axis.variable
    label = variable_heading(variable, language)
    levels = [level.name for level in axis.levels]
    given = [variable.level_label(level).show(language) for level in levels]
    if variable.called_by_level and all(given):
        return " / ".join(given)
    if levels == [variable.leaf_level]:
        return label
    called = [inside_sentence(one) or name for one, name in zip(given, levels, strict=True)]
    return f"{label} ({', '.join(called)})"


def inside_sentence(label: str) -> str:
    """A label as it stands in the middle of a sentence; abbreviations keep their capitals.

    Examples:
        >>> inside_sentence("Five-year groups"), inside_sentence("NACE sections")
        ('five-year groups', 'NACE sections')
    """
    return f"{label[:1].lower()}{label[1:]}" if label[1:2].islower() else label


def code_label(axis: Axis, position: int, language: str | None = None) -> str:
    """The label of a code, or the code itself where it has none."""
    code = axis.codes[position]
    return code.label.show(language) or code.code


def cell_heading(spec: TableSpec, number: int, language: str | None = None) -> str:
    """The labels of a cell, totals included; the cell by its number in the table."""
    positions = positions_of(spec.shape, number)
    pairs = zip(spec.axes, positions, strict=True)
    return " × ".join(code_label(axis, at, language) for axis, at in pairs)


def table_heading(spec: TableSpec, language: str | None = None) -> str:
    """What a table shows, in words: units, axes, and the records that it is about."""
    axes = [axis_heading(axis, language) for axis in spec.axes]
    if spec.name:
        where = universe_text(spec.universe, language)
        return f"{spec.name}. {where}" if where else spec.name
    return layer_heading(spec, axes, language)


def heading_in(spec: TableSpec, languages: Sequence[str]) -> Text:
    """What a table shows, in words, in the languages of a census; its own name is no part of it."""
    unnamed = replace(spec, name="")
    return Text.of(
        {language: table_heading(unnamed, language) for language in languages or ("en",)}
    )


def layer_heading(spec: TableSpec, axes: Sequence[str], language: str | None = None) -> str:
    """What a part of a table shows along these axes, in words."""
    text = units_text(spec, language)
    if axes:
        text += f" {_BY.show(language)} {joined_in_title(axes, language)}"
    where = universe_text(spec.universe, language)
    return f"{text}. {where}" if where else text


def universe_text(universe: Universe, language: str | None = None) -> str:
    """The records that a table is about, in words; empty where it is about all of them.

    A universe that no short list of codes describes is named by its variables.
    """
    if universe.everything:
        return ""
    names = [variable_heading(variable, language) for variable in universe.variables]
    if not names:
        return _NOTHING.show(language)
    if not is_product(universe):
        return f"{_CONDITION.show(language).capitalize()} {joined(names, language)}"
    parts = []
    for variable, name in zip(universe.variables, names, strict=True):
        codes = _codes_text(variable, leaves_in(universe, variable), language)
        if codes is None:
            parts.append(f"{_CONDITION.show(language)} {name}")
        else:
            parts.append(pairs_text([(name, codes)], language))
    text = _SEMICOLON.show(language).join(parts)
    return f"{text[:1].upper()}{text[1:]}"


def _codes_text(
    variable: Variable, mask: npt.NDArray[np.bool_], language: str | None
) -> str | None:
    """A set of leaves as a range, or as codes of the level that needs the fewest."""
    best: list[str] | None = None
    for level in variable.levels():
        labels = _labels_at(level, mask, language)
        if labels is not None and (best is None or len(labels) < len(best)):
            best = labels
    leaves = [code for code, inside in zip(variable.codes, mask, strict=True) if inside]
    lows = [code.lower for code in leaves]
    if (
        (best is None or len(best) > 1)
        and len(leaves) > 1
        and not any(low is None for low in lows)
        and _adjacent(mask)
    ):
        first, last = (code.label.show(language) or code.code for code in (leaves[0], leaves[-1]))
        return f"{first} {_TO.show(language)} {last}"
    if best is None or len(best) > _MOST_LISTED:
        return None
    return joined(best, language)


def _labels_at(level: Level, mask: npt.NDArray[np.bool_], language: str | None) -> list[str] | None:
    """The codes of a level that make up a set of leaves; ``None`` if they do not."""
    group, size = level.group_array, len(level.codes)
    there = np.bincount(group, minlength=size)
    inside = np.bincount(group[mask], minlength=size)
    if ((inside > 0) & (inside < there)).any():
        return None
    chosen = [level.codes[at] for at in np.flatnonzero(inside)]
    return [code.label.show(language) or code.code for code in chosen]


def _adjacent(mask: npt.NDArray[np.bool_]) -> bool:
    return [bool(value) for value, _ in itertools.groupby(mask.tolist())].count(True) == 1
