"""The tables of a mapping as they are written: types, allowed words, unknown settings."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sdcensus.documents.schema.sections import Section
from sdcensus.documents.toml.values import Codes, Word, WrongValueError, code_text
from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Entity

#: Written instead of codes: those of the census are those of the programme.
SAME = "same"


def _country(value: object) -> str:
    if not isinstance(value, str) or re.fullmatch(r"[A-Z]{2}", value.strip()) is None:
        raise WrongValueError(((), 'should be two capital letters such as "NL"'))
    return value.strip()


def _targets(value: object) -> str | dict[str, str]:
    """A file, the word for "the same", or a table from codes of the census to the programme's."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if not isinstance(value, dict) or not value:
        raise WrongValueError(
            (
                (),
                'should be a table such as { 1 = "1", "2..4" = "2.1" }, the name of a csv file, or'
                f' "{SAME}"',
            )
        )
    made: dict[str, str] = {}
    wrong = []
    for code, target in value.items():
        if isinstance(target, str) and not target.strip():
            made[code] = ""
            continue
        if isinstance(target, dict):  # 1.1 = "2" is a table in TOML
            wrong.append(((code,), f"{code!r}: write codes that have a point in double quotes"))
            continue
        try:
            made[code] = code_text(target)
        except WrongValueError:
            wrong.append(((code,), f"{code!r}: write the code of the programme in double quotes"))
    if wrong:
        raise WrongValueError(*wrong)
    return made


def _units(value: object) -> Entity:
    if not isinstance(value, str):
        raise WrongValueError(((), 'should be a text such as "households"'))
    try:
        return Entity.parse(value)
    except SpecError as error:
        raise WrongValueError(((), str(error))) from None


Country = Annotated[str, BeforeValidator(_country)]
Targets = Annotated[Any, BeforeValidator(_targets)]
Units = Annotated[Entity, BeforeValidator(_units)]


class MappingHead(Section):
    """What stands above the first table of a mapping."""

    programme: Word
    country: Country


class GridOfMapping(Section):
    """``[grid]``."""

    variable: Word


class UnitSection(Section):
    """``[units.NAME]``: which records are counted."""

    of: Units | None = None
    condition: Word = ""


class BreakdownSection(Section):
    """``[breakdown.NAME]``."""

    variable: Word
    level: Word | None = None
    codes: Targets = SAME
    outside: Codes = Field(default_factory=list)
