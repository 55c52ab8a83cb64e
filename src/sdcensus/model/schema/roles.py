"""Which variable is the age, which the sex: what indicators and advice need, in any language.

An office says it once, in the schema or in a plan (``[roles]``). Where it says nothing, the name or
the label of a variable may tell, as long as only one variable fits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from sdcensus.errors import SpecError, unknown
from sdcensus.model.letters import plain_letters
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable


class IndicatorRole(StrEnum):
    """What a variable is to indicators."""

    AGE = "age"
    SEX = "sex"


#: Words for each of them in the languages of our users, in plain letters.
_WORDS: Mapping[IndicatorRole, tuple[str, ...]] = {
    IndicatorRole.AGE: ("age", "edad", "idade", "leeftijd", "alter"),
    IndicatorRole.SEX: ("sex", "sexo", "sexe", "gender", "genero", "genre", "geslacht"),
}


def recognised(variables: Sequence[Variable], role: IndicatorRole) -> Variable | None:
    """The variable that a name or a label tells; ``None`` where none or several may be meant.

    Examples:
        >>> from sdcensus.model.schema.variable import Entity
        >>> edad = Variable(name="P09_EDAD", entity=Entity.PERSON)
        >>> recognised([edad], IndicatorRole.AGE).name
        'P09_EDAD'
    """
    words = _WORDS[role]
    for variable in variables:
        if plain_letters(variable.name) in words:
            return variable
    by_name = [variable for variable in variables if _parts(variable.name) & set(words)]
    if len(by_name) == 1:
        return by_name[0]
    by_label = [
        variable
        for variable in variables
        if any(plain_letters(text).strip() in words for _, text in variable.label.by_language)
    ]
    return by_label[0] if len(by_label) == 1 else None


def is_age(variable: Variable, schema: Schema | None = None) -> bool:
    """Whether the numbers of a variable are years of an age, as the schema or its name says.

    Examples:
        >>> from sdcensus.model.schema.variable import Entity
        >>> is_age(Variable(name="age_at_marriage", entity=Entity.PERSON))
        True
    """
    said = None if schema is None else dict(schema.roles).get(IndicatorRole.AGE)
    return variable.name == said or recognised((variable,), IndicatorRole.AGE) is not None


def variable_for(
    role: IndicatorRole, schema: Schema, named: Mapping[str, str] | None = None
) -> Variable:
    """The variable that has a role.

    Args:
        role: What it is to indicators.
        schema: The census, which may say it.
        named: What a plan says instead.

    Raises:
        SpecError: Nobody says it, and nothing tells.
    """
    name = (named or {}).get(role) or dict(schema.roles).get(role)
    variable = schema.variable(name) if name else recognised(schema.variables, role)
    if variable is None:
        raise SpecError(
            f"nothing tells which variable is the {role}. Say it once, in the plan or in the"
            f' schema: [roles] {role} = "...".'
        )
    return variable


def wrong_role(role: str) -> str:
    """What to say about a role that does not exist."""
    return unknown("role of a variable", role, list(IndicatorRole))


def _parts(name: str) -> set[str]:
    return set(re.split(r"[\W_\d]+", plain_letters(name)))
