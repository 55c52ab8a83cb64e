"""What levels are called where people read them, also where a schema has no labels for them."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.schema.variable import Level, Role, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import inside_sentence, layer_heading, variable_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text, catalogue


def level_label(variable: Variable, level: Level) -> Text:
    """What a level is called: as the schema says, else like the variable or by its own name.

    Args:
        variable: The variable.
        level: One of its levels.
    """
    given = variable.level_label(level.name)
    if given:
        return given
    if level.name == variable.name:
        return variable.label or Text.of(variable_heading(variable))
    # Names that schemas of many countries give their levels. Others are shown as they are written.
    name = level.name.casefold()
    if name in catalogue("levels", "en"):
        return Text.named(f"levels.{name}")
    words = level.name.replace("_", " ").strip()
    return Text.of(f"{words[:1].upper()}{words[1:]}")


def axis_label(axis: Axis) -> Text:
    """What an axis is called: areas by their level (parishes are no enumeration districts)."""
    variable = axis.variable
    if variable.role is Role.GEOGRAPHY and len(axis.levels) == 1:
        return level_label(variable, axis.levels[0])
    return variable.label or Text.of(variable_heading(variable))


def question_heading(spec: TableSpec) -> Text:
    """What a table shows, in words, in every language of the product."""
    return Text.of({one: layer_heading(spec, _headings(spec.axes, one), one) for one in LANGUAGES})


def _headings(axes: Sequence[Axis], language: str) -> list[str]:
    return [_heading(axis, language) for axis in axes]


def _heading(axis: Axis, language: str) -> str:
    variable = axis.variable
    label = axis_label(axis).show(language)
    names = [level_label(variable, level).show(language) for level in axis.levels]
    if names == [label] or [level.name for level in axis.levels] == [variable.leaf_level]:
        return label
    if variable.role is Role.GEOGRAPHY:
        return " / ".join(names)
    # In the middle of a sentence, and after the name of the variable.
    return f"{label} ({', '.join(inside_sentence(name) for name in names)})"
