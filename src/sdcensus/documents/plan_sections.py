"""The tables of a plan as they are written: types, allowed words, unknown settings."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sdcensus.documents.sections import Section
from sdcensus.documents.values import Date, Label, LanguageCodes, Word, Words, WrongValueError
from sdcensus.errors import SpecError
from sdcensus.model.entity import Entity
from sdcensus.model.policy_rules import user_role
from sdcensus.model.table_spec import Measure

#: A name that is a name of a file on every system.
_NAME = re.compile(r"\w[\w.-]{0,99}")
#: Names that some systems keep for devices, whatever stands behind a dot.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SHARE = re.compile(r"\s*share\s*\(.*\)\s*", re.DOTALL)


def _name(value: object) -> str:
    if not isinstance(value, str) or _NAME.fullmatch(value.strip()) is None:
        raise WrongValueError(
            ((), 'should be letters, digits, "-", "_" and ".", such as "age-by-parish"')
        )
    if _DEVICES.fullmatch(value.strip()):
        raise WrongValueError(((), "should be no word that some systems keep for a device"))
    return value.strip()


def _axes(value: object) -> list[str]:
    """A list of axes, which may be empty: a table by one variable has rows only."""
    if not isinstance(value, list) or any(not isinstance(one, str) for one in value):
        raise WrongValueError(
            ((), 'should be a list of axes, such as ["ed@parish", "sex"], each in double quotes')
        )
    empty = [((at,), "should not be empty") for at, one in enumerate(value) if not one.strip()]
    if empty:
        raise WrongValueError(*empty)
    return [one.strip() for one in value]


def _units(value: object) -> Entity:
    if not isinstance(value, str):
        raise WrongValueError(((), 'should be a text such as "persons" or "households"'))
    try:
        return Entity.parse(value)
    except SpecError as error:
        raise WrongValueError(((), str(error))) from None


def _measure(value: object) -> Measure:
    if isinstance(value, str) and _SHARE.fullmatch(value):
        raise WrongValueError(
            (
                (),
                'Shares come in a later version of sdcensus. Publish the counts (measure = "count")'
                " with the variable of the condition as an axis, and divide published values.",
            )
        )
    words = [word.value for word in Measure]
    if not isinstance(value, str) or value not in words:
        raise WrongValueError(((), f"should be {' or '.join(map(repr, words))}"))
    return Measure(value)


def _exempt(value: object) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    found = [one.strip() for one in texts if isinstance(one, str) and one.strip()]
    if not found or len(found) < len(texts):
        raise WrongValueError(((), 'should be a list such as ["ed@district"]'))
    return found


def _role(value: object) -> str:
    if not isinstance(value, str):
        raise WrongValueError(((), 'should be a text such as "production"'))
    try:
        return user_role(value).value
    except SpecError as error:
        raise WrongValueError(((), str(error))) from None


def _number(value: object) -> float | int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):  # type: ignore[arg-type]
        raise WrongValueError(((), "should be a number"))
    return value  # type: ignore[return-value]


Name = Annotated[str, BeforeValidator(_name)]
Axes = Annotated[list[str], BeforeValidator(_axes)]
Units = Annotated[Entity, BeforeValidator(_units)]
RoleWord = Annotated[str, BeforeValidator(_role)]
MeasureWord = Annotated[Measure, BeforeValidator(_measure)]
Number = Annotated[float | int, BeforeValidator(_number)]
Exempt = Annotated[list[str], BeforeValidator(_exempt)]


class PlanHead(Section):
    """What stands above the first table of a plan."""

    store: Word
    programme: Word | None = None
    tables: Words | None = None
    mapping: Word | None = None


class TableSection(Section):
    """``[[table]]``."""

    name: Name = ""
    title: Label = ""
    universe: Word = ""
    rows: Axes = Field(default_factory=list)
    columns: Axes = Field(default_factory=list)
    of: Units = Entity.PERSON
    measure: MeasureWord = Measure.COUNT


class ProtectSection(Section):
    """``[protect]``: a method, the steps after it, and what is said about them."""

    method: Word
    then: Words = Field(default_factory=list)
    perturbation: Word | None = None
    scheme: Word | None = None
    strength: Word | None = None
    lookup: Word | None = None
    key_version: int | None = Field(default=None, ge=1)
    allow_bias: bool | None = None
    repeat: int | None = Field(default=None, ge=1)
    zeros: Word | None = None
    zero_share: Number | None = None
    exempt: Exempt | None = None
    base: int | None = Field(default=None, ge=2)
    threshold: int | None = Field(default=None, ge=0)
    units: int | None = Field(default=None, ge=1)
    totals: Word | None = None
    to: Word | None = None
    area: Word | None = None
    mode: Word | None = None
    mean_cell_size: Number | None = None
    below: int | None = Field(default=None, ge=0)

    def settings(self) -> dict[str, Any]:
        """What was said, besides the names of the method and of the steps."""
        said = {name: getattr(self, name) for name in type(self).model_fields}
        return {
            name: value
            for name, value in said.items()
            if value is not None and name not in ("method", "then")
        }


class PolicyOfPlan(Section):
    """``[policy]``."""

    file: Word
    role: RoleWord = "production"


class OutputSection(Section):
    """``[output]``."""

    folder: Word
    office_folder: Word = ""
    date: Date = ""
    formats: Words = Field(default_factory=lambda: ["csv"])
    languages: LanguageCodes = Field(default_factory=list)
    notes: bool = True
    evaluation: bool = False
