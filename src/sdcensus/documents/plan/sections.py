"""The tables of a plan as they are written: types, allowed words, unknown settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from sdcensus.documents.schema.sections import Section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.values import (
    Date,
    Label,
    LanguageCodes,
    Word,
    Words,
    WrongValueError,
    one_of,
)
from sdcensus.errors import SpecError, unknown
from sdcensus.model.method.registry import Part, Registered
from sdcensus.model.plan.vocabulary import (
    INDICATOR_KINDS,
    LATER_SYMBOLS,
    PROGRAMME_NAMES,
    SYMBOLS,
    ComparedFigure,
)
from sdcensus.model.policy.rules import user_role
from sdcensus.model.published.figures import DEFAULT_LIMITS
from sdcensus.model.published.percentiles import MEDIAN, check_percent
from sdcensus.model.published.table_format import FORMAT_NAMES, meant_format
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.measures import MeasureOf, figure_instead
from sdcensus.model.spec.table_spec import Measure
from sdcensus.model.text import has_control_character
from sdcensus.model.vocabulary import COUNT_MEASURES

#: A name that is a name of a file on every system.
_NAME = re.compile(r"\w[\w.-]{0,99}")
#: Names that some systems keep for devices, whatever stands behind a dot.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SHARE = re.compile(r"\s*share\s*\((.*)\)\s*", re.DOTALL)
#: A sign stands in the place of a number, so it is not longer than one.
MOST_SIGNS = 12


#: What a name should be.
NAME_FORM = 'should be letters, digits, "-", "_" and ".", such as "age-by-parish"'


def is_name(text: str) -> bool:
    """Whether a text is a name: of a table, or of a way to protect some.

    Examples:
        >>> is_name("legal-tables"), is_name("legal tables")
        (True, False)
    """
    return _NAME.fullmatch(text) is not None


def _name(value: object) -> str:
    if not isinstance(value, str) or not is_name(value.strip()):
        raise WrongValueError(((), NAME_FORM))
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


@dataclass(frozen=True, slots=True)
class ShareOf:
    """``share(condition)``: which records of a cell are meant."""

    condition: str


def _measure(value: object) -> Measure | MeasureOf | ShareOf:
    share = _SHARE.fullmatch(value) if isinstance(value, str) else None
    if share is not None:
        condition = share[1].strip()
        if not condition:
            raise WrongValueError(
                ((), 'share() needs a condition, such as "share(health_condition == 1)"')
            )
        return ShareOf(condition)
    written = value.strip() if isinstance(value, str) else ""
    word = written.partition("(")[0].strip().lower()
    if word not in list(Measure):
        words = [f"{each.value}(variable)" if each.is_sum else each.value for each in Measure]
        allowed = " or ".join(map(repr, [*words, "share(condition)"]))
        instead = figure_instead(word)
        raise WrongValueError(((), f"should be {allowed}{instead and f'.{instead}'}"))
    try:
        asked = MeasureOf.parse(f"{word}{written[len(word) :]}")
    except SpecError as error:
        raise WrongValueError(((), str(error))) from None
    return asked if asked.amount else asked.measure


def _own_protection(value: object) -> str | dict[str, Any]:
    """The name of a section, or everything itself; what stands in it is read later."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, dict):
        return value
    raise WrongValueError(
        (
            (),
            'should be the name of a section [protect.NAME], such as "legal", or say what is done:'
            ' { method = "…" }',
        )
    )


def _words_of(kind: str, words: Collection[str], *, folded: bool = False) -> BeforeValidator:
    """A text that must be one of some words; case matters unless the words have none."""

    def check(value: object) -> str:
        if not isinstance(value, str):
            example = next(iter(words))
            raise WrongValueError(((), f'should be a text in double quotes, such as "{example}"'))
        word = value.strip().lower() if folded else value.strip()
        if word not in words:
            raise WrongValueError(((), unknown(kind, value.strip(), words)))
        return word

    return BeforeValidator(check)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """That a word does not exist, with the one that is meant where people call it so."""
    meant = meant_format(name) if kind == "format" else ""
    if meant:
        return f"There is no {kind} {name!r}. Did you mean {meant!r}?"
    return unknown(kind, name, known)


def _list_of(kind: str, known: Collection[str], *, folded: bool = False) -> BeforeValidator:
    """One or more different words of a list."""

    def check(value: object) -> list[str]:
        values = value if isinstance(value, list) else [value]
        if not values:
            raise WrongValueError(((), "should not be an empty list"))
        chosen: list[str] = []
        wrong: list[tuple[KeyPath, str]] = []
        for at, given in enumerate(values):
            place: KeyPath = (at,) if isinstance(value, list) else ()
            word = given.strip() if isinstance(given, str) else None
            if word is not None and folded:
                word = word.lower()
            if word is None:
                wrong.append((place, "should be a text in double quotes"))
            elif word not in known:
                wrong.append((place, _unknown(kind, str(given).strip(), known)))
            elif word in chosen:
                wrong.append((place, f"{word!r} stands twice"))
            else:
                chosen.append(word)
        if wrong:
            raise WrongValueError(*wrong)
        return chosen

    return BeforeValidator(check)


def _symbols(value: object) -> dict[str, str]:
    """Signs by the name of what they mean."""
    if not isinstance(value, dict):
        raise WrongValueError(((), 'should be a table such as { withheld = "x", refused = "-" }'))
    wrong: list[tuple[KeyPath, str]] = []
    for name, sign in value.items():
        if name not in SYMBOLS:
            wrong.append(((name,), unknown("symbol", name, SYMBOLS)))
        elif not isinstance(sign, str) or not sign.strip() or has_control_character(sign):
            wrong.append(((name,), f"{name!r} should be a sign in double quotes"))
        elif len(sign.strip()) > MOST_SIGNS:
            wrong.append(((name,), f"{name!r} should have at most {MOST_SIGNS} characters"))
        elif any(one.isdigit() for one in sign):
            wrong.append(((name,), f"{name!r}: readers would take {sign!r} for a number"))
    signs = {name: sign.strip() for name, sign in value.items() if isinstance(sign, str)}
    seen: dict[str, str] = {}
    for name, mark in SYMBOLS.items():
        if name in LATER_SYMBOLS and name not in signs:
            continue  # tables that need both are refused
        first = seen.setdefault(signs.get(name, mark.sign), name)
        if first != name and not wrong:
            at = name if name in signs else first
            wrong.append(((at,), f"{first!r} and {name!r} would have the same sign"))
    if wrong:
        raise WrongValueError(*wrong)
    return signs


def _role(value: object) -> str:
    if not isinstance(value, str):
        raise WrongValueError(((), 'should be a text such as "production"'))
    try:
        return user_role(value).value
    except SpecError as error:
        raise WrongValueError(((), str(error))) from None


def _percent(value: object) -> int:
    try:
        return check_percent(value)
    except SpecError as error:
        raise WrongValueError(((), str(error))) from None


Name = Annotated[str, BeforeValidator(_name)]
Axes = Annotated[list[str], BeforeValidator(_axes)]
Units = Annotated[Entity, BeforeValidator(_units)]
RoleWord = Annotated[str, BeforeValidator(_role)]
OwnProtection = Annotated[Any, BeforeValidator(_own_protection)]
MeasureWord = Annotated[Any, BeforeValidator(_measure)]
Symbols = Annotated[dict[str, str], BeforeValidator(_symbols)]
Programme = Annotated[str, _words_of("programme", PROGRAMME_NAMES, folded=True)]
Formats = Annotated[list[str], _list_of("format", FORMAT_NAMES, folded=True)]
MethodWord = Annotated[str, _words_of("method", Registered(Part.METHOD))]
Steps = Annotated[list[str], _list_of("step after a method", Registered(Part.STEP))]
Percent = Annotated[int, BeforeValidator(_percent)]
FigureWord = Annotated[ComparedFigure, one_of(ComparedFigure, "figure")]
KindWord = Annotated[str, _words_of("kind of indicator", INDICATOR_KINDS)]


class PlanHead(Section):
    """What stands above the first table of a plan."""

    store: Word
    measure: Annotated[Measure | None, one_of(COUNT_MEASURES, "measure")] = None
    programme: Programme | None = None
    tables: Words | None = None
    mapping: Word | None = None


class TableSection(Section):
    """``[[table]]``."""

    name: Name = ""
    title: Label = ""
    universe: Word = ""
    where: Word = ""
    rows: Axes = Field(default_factory=list)
    columns: Axes = Field(default_factory=list)
    of: Units = Entity.PERSON
    measure: MeasureWord | None = None
    protect: OwnProtection | None = None


class IndicatorSection(Section):
    """``[[indicator]]``."""

    name: Name = ""
    title: Label = ""
    kind: KindWord = "share"
    by: Axes = Field(default_factory=list)
    of: Units = Entity.PERSON
    universe: Word = ""
    numerator: Word = ""
    denominator: Word = ""
    variable: Word = ""
    per: int | None = Field(default=None, ge=1, le=1_000_000)
    decimals: int | None = Field(default=None, ge=0, le=6)
    percent: Percent = MEDIAN
    first: Word = ""
    second: Word = ""
    figure: FigureWord = ComparedFigure.MEAN
    fewest: int | None = Field(default=None, ge=DEFAULT_LIMITS.none_below)


class OfficeSection(Section):
    """``[office]``."""

    name: Label = ""
    legal_basis: Label = ""
    contact: Word = ""
    symbols: Symbols = Field(default_factory=dict)


class ProtectSection(Section):
    """``[protect]``, without what methods and steps declare themselves."""

    method: MethodWord
    then: Steps = Field(default_factory=list)
    import_published: bool = False
    smallest_group: int | None = Field(default=None, ge=2)


class PolicyOfPlan(Section):
    """``[policy]``."""

    file: Word
    role: RoleWord = "production"


class OutputSection(Section):
    """``[output]``."""

    folder: Word
    office_folder: Word = ""
    date: Date = ""
    formats: Formats = Field(default_factory=lambda: ["csv"])
    languages: LanguageCodes = Field(default_factory=list)
    notes: bool = True
    evaluation: bool = False
    original_store: Word = ""
    labels: bool | None = None
