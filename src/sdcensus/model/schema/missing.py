"""A code for "not stated" in every variable, for loads that turn problems into missing values."""

from __future__ import annotations

from dataclasses import replace

from sdcensus.model.schema.code_lists import MISSING_CODES
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, CodeKind, Hierarchy, Level, Variable
from sdcensus.model.spec.declared_universes import with_other_variables
from sdcensus.model.text import NOT_STATED_LABEL

#: The leaf that a variable without any missing code gets.
UNKNOWN = Code(MISSING_CODES[CodeKind.NOT_STATED], NOT_STATED_LABEL, CodeKind.NOT_STATED)


def with_missing_codes(schema: Schema) -> Schema:
    """The schema in which every stored variable with codes has a code for "not stated".

    Variables that have a missing code of either kind stay as they are. The others get one more
    leaf, which stays itself at every level, whether the data need it or not: the shape of a table
    depends on the option, never on the records.
    """
    return with_other_variables(schema, _with_missing_code)


def _with_missing_code(variable: Variable) -> Variable:
    if not variable.is_axis or variable.missing_position is not None:
        return variable
    return replace(
        variable,
        codes=(*variable.codes, UNKNOWN),
        hierarchies=tuple(
            Hierarchy(hierarchy.name, tuple(map(_with_unknown, hierarchy.levels)))
            for hierarchy in variable.hierarchies
        ),
    )


def _with_unknown(level: Level) -> Level:
    return Level(level.name, (*level.codes, UNKNOWN), (*level.group, len(level.codes)))
