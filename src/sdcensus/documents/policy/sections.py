"""The tables of a policy as they are written: types, allowed words, unknown settings."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sdcensus.documents.schema.sections import Section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.values import Codes, Kind, Units, Word, Words, WrongValueError, one_of
from sdcensus.errors import SpecError, UnknownName, unknown
from sdcensus.model.policy.policy import PRESETS, AtLevel, OneHousehold, WhenSparse
from sdcensus.model.policy.rules import NOISE_LEFT, RecordSet
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.vocabulary import COUNT_MEASURES, AmountFigure, Measure

_AT_LEVEL = re.compile(r"\s*\w+\s*(?:@\s*\w+\s*)?")


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):  # type: ignore[arg-type]
        raise WrongValueError(((), "should be a number"))
    return value  # type: ignore[return-value]


def _at_level(value: object) -> AtLevel:
    if not isinstance(value, str) or _AT_LEVEL.fullmatch(value) is None:
        raise WrongValueError(((), 'should be a text such as "ed@district" or "ed"'))
    return AtLevel.parse(value)


def _combinations(value: object) -> list[list[AtLevel]]:
    if not isinstance(value, list):
        raise WrongValueError(
            ((), 'should be a list of lists, such as [["religion", "ed@parish"]]')
        )
    made: list[list[AtLevel]] = []
    wrong: list[tuple[KeyPath, str]] = []
    for at, combination in enumerate(value):
        if not isinstance(combination, list):
            wrong.append(((at,), 'should be a list, such as ["religion", "ed@parish"]'))
            continue
        names: list[AtLevel] = []
        for inside, one in enumerate(combination):
            try:
                names.append(_at_level(one))
            except WrongValueError as error:
                wrong.append(((at, inside), str(error)))
        made.append(names)
    if wrong:
        raise WrongValueError(*wrong)
    return made


def _levels(value: object) -> tuple[AtLevel, ...]:
    """Levels by variable: ``{ age = "five_year" }``."""
    if not isinstance(value, dict) or not value:
        raise WrongValueError(((), 'should be a table such as { age = "five_year" }'))
    wrong = [
        ((name,), "should be the name of a level, in double quotes")
        for name, level in value.items()
        if not isinstance(level, str) or not level.strip()
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return tuple(
        AtLevel(name, level.strip().removeprefix(f"{name}@")) for name, level in value.items()
    )


def _sizes(value: object) -> tuple[tuple[AtLevel, int], ...]:
    """Sizes by level: ``{ "ed@parish" = 500 }``."""
    if not isinstance(value, dict) or not value:
        raise WrongValueError(((), 'should be a table such as { "ed@parish" = 500 }'))
    made: list[tuple[AtLevel, int]] = []
    wrong: list[tuple[KeyPath, str]] = []
    for name, size in value.items():
        if type(size) is not int:
            wrong.append(((name,), "should be a whole number"))
            continue
        try:
            made.append((_at_level(name), size))
        except WrongValueError as error:
            wrong.append(((name,), str(error)))
    if wrong:
        raise WrongValueError(*wrong)
    return tuple(made)


def _preset(value: object) -> str:
    if not isinstance(value, str) or value.upper() not in PRESETS:
        raise WrongValueError(((), unknown("preset", str(value), list(PRESETS))))
    return value.upper()


def _on_or_off(value: object) -> bool:
    if value not in ("on", "off"):
        raise WrongValueError(((), 'should be "on" or "off"'))
    return value == "on"


Number = Annotated[float, BeforeValidator(_number)]
Level = Annotated[AtLevel, BeforeValidator(_at_level)]
Combinations = Annotated[Any, BeforeValidator(_combinations)]
Levels = Annotated[Any, BeforeValidator(_levels)]
Sizes = Annotated[Any, BeforeValidator(_sizes)]
Preset = Annotated[str, BeforeValidator(_preset)]
Figure = Annotated[AmountFigure, one_of(AmountFigure, "measure")]
OnOrOff = Annotated[bool, BeforeValidator(_on_or_off)]


class HeadSection(Section):
    """What stands above the first table."""

    name: Word
    lock: bool = False
    measure: Annotated[Measure | None, one_of(COUNT_MEASURES, "measure")] = None


class LimitsSection(Section):
    """``[limits]``."""

    dimensions: int | None = None
    cells: int | None = None


class OnlineSection(Section):
    """``[online]``."""

    preset: Preset | None = None
    mean_cell_size: Number | None = None
    when_sparse: Annotated[WhenSparse | None, one_of(WhenSparse, "action for sparse areas")] = None
    below: int | None = None
    mean_cell_size_of_table: Number | None = None
    exclude_structural_zeros: bool = False
    ones: Number | None = None
    ones_and_twos: Number | None = None
    minimum_population: int | None = None
    recovery: Number | None = None
    brackets: int | None = None
    smallest_group: int | None = None
    broken_down: Number | None = None


class DesignSection(Section):
    """``[design]``, without its entries of detail."""

    minimum_population: int | None = None
    minimum_population_at: Sizes = ()
    minimum_category: int | None = None
    one_household_cells: Annotated[
        OneHousehold | None, one_of(OneHousehold, "action for cells of one household")
    ] = None


class DetailSection(Section):
    """``[[design.detail]]``."""

    population: int
    levels: Levels


class ExemptSection(Section):
    """``[exempt]``; each of its record sets is read on its own."""

    record_sets: list[Any] = Field(default=[])


class RecordSetSection(Section):
    """A record set as a table."""

    by: Words
    of: Kind = Entity.PERSON
    where: Word = ""
    name: Word = ""


class RuleSection(Section):
    """``[variable.NAME]``."""

    offered: bool = True
    as_filter: bool = True
    finest_level: Level | None = None
    finest_area: Level | None = None
    units: list[Units] | None = None


class AmountSection(Section):
    """``[amount.NAME]``."""

    measures: list[Figure] = Field(default=[AmountFigure.SUM, AmountFigure.MEAN])
    by: list[Level] | None = None
    dimensions: int | None = None
    finest_area: Level | None = None
    at_least: int | None = None
    noise_left: Number = NOISE_LEFT


class TogetherSection(Section):
    """``[never_together]``."""

    combinations: Combinations = ()


class RoleSection(Section):
    """``[role.NAME]``."""

    dimensions: int | None = None
    cells: int | None = None
    cells_per_hour: int | None = None
    tables_per_day: int | None = None
    jobs: int | None = None
    online: OnOrOff = True


class NotOfferedSection(Section):
    """``[[decided.not_offered]]``."""

    at: Level
    codes: Codes


class DetailOfSection(Section):
    """``[[decided.detail]]``."""

    areas: Level
    codes: Codes
    levels: Levels


class DecidedSection(Section):
    """``[decided]``; its entries are read one by one."""

    not_offered: list[Any] = Field(default=[])
    detail: list[Any] = Field(default=[])


#: Words for every person of the census.
_PEOPLE = frozenset(
    {"people", "population", "residents", "usual residents", "inhabitants", "total population"}
)
_SENTENCE = re.compile(
    r"\s*(?:(?P<units>.*?)\s+)?by\s+(?P<axes>.+?)(?:\s+where\s+(?P<where>.+?))?\s*", re.IGNORECASE
)


def parse_record_set(text: str, schema: Schema) -> RecordSet:
    """Read ``UNITS by AXES [where CONDITION]``, or axes alone for persons.

    Units are persons, households and so on; residents, people and population are persons. An axis
    is written as everywhere (``ed@district``), or as the bare name of a level of areas.
    """
    match = _SENTENCE.fullmatch(text)
    units, axes, where = ("", text, "")
    if match is not None:
        units, axes, where = (match[one] or "" for one in ("units", "axes", "where"))
    by = tuple(_axis(one.strip(), schema) for one in axes.split(",") if one.strip())
    if not by:
        raise SpecError(f"{text!r} names no axis. Write for example: persons by ed@district")
    record_set = RecordSet(text, _units(units), by, where)
    record_set.spec(schema)
    return record_set


def _units(words: str) -> Entity:
    plain = " ".join(words.lower().split())
    if not plain or plain in _PEOPLE:
        return Entity.PERSON
    try:
        return Entity.parse(plain)
    except SpecError:
        known = [*(entity.plural for entity in Entity), *sorted(_PEOPLE)]
        raise SpecError(unknown("kind of unit", words, known)) from None


def _axis(text: str, schema: Schema) -> str:
    """An axis; the bare name of a level of areas stands for the areas at this level."""
    known = [variable.name for variable in schema.variables if variable.is_axis]
    if not text.isidentifier() or text in known:
        return text
    areas = schema.geographies
    for area in areas:
        if text in (level.name for level in area.levels()):
            return f"{area.name}@{text}"
    levels = [level.name for area in areas for level in area.levels()]
    raise UnknownName("variable or level of areas", text, known=[*known, *levels])
