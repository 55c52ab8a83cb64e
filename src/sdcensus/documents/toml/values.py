"""What a single setting may be: texts, labels, codes, numbers, dates, words of a list.

Each check takes what stands in the document and gives the value to go on with, or says in plain
words what it should be.
"""

from __future__ import annotations

import codecs
import datetime
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from sdcensus.documents.toml.lines import KeyPath
from sdcensus.errors import SpecError, unknown
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import has_control_character

#: A label as written: one text, or one for each language.
RawText = str | dict[str, str]


class WrongValueError(ValueError):
    """What is wrong with a value; ``parts`` say where inside it."""

    def __init__(self, *parts: tuple[KeyPath, str]) -> None:
        """Take one text for each place."""
        self.parts = parts
        super().__init__("; ".join(text for _, text in parts))


def _wrong(text: str) -> WrongValueError:
    return WrongValueError(((), text))


def one_of(kind: Iterable[StrEnum], called: str) -> BeforeValidator:
    """One of the words of an enumeration, or of some of them."""
    members = {word.value: word for word in kind}

    def check(value: object) -> object:
        words = list(members)
        if not isinstance(value, str) or value not in words:
            shown = value if isinstance(value, str) else "(no text)"
            raise _wrong(unknown(called, shown, words))
        return members[value]

    return BeforeValidator(check)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _wrong("should be a text in double quotes")
    if not value.strip():
        raise _wrong("should not be empty")
    if has_control_character(value.strip()):  # "codes\new.csv" has a line break
        raise _wrong("has a character that cannot be shown; write '/' instead of '\\' in paths")
    return value.strip()


def _column(value: object) -> str:
    """The name of a column, to the letter: some files have names with blanks around them."""
    if not isinstance(value, str):
        raise _wrong("should be a text in double quotes")
    if not value:
        raise _wrong("should not be empty")
    return value


def _each(value: object, check: Callable[[object], str]) -> list[str]:
    """One text or a list of them, each checked."""
    values = value if isinstance(value, list) else [value]
    checked = []
    wrong = []
    for at, one in enumerate(values):
        try:
            checked.append(check(one))
        except WrongValueError as error:
            wrong.append(((at,) if isinstance(value, list) else (), str(error)))
    if wrong:
        raise WrongValueError(*wrong)
    return checked


def _texts(value: object) -> list[str]:
    if value == []:
        raise _wrong("should not be an empty list")
    return _each(value, _text)


def _columns(value: object) -> list[str]:
    if value == []:
        raise _wrong("should not be an empty list")
    return _each(value, _column)


def _widths(value: object) -> list[int]:
    """One number of digits or a list of them; 0 for "as written"."""
    widths = value if isinstance(value, list) else [value]
    wrong = [
        ((at,) if isinstance(value, list) else (), "should be a whole number from 0 to 100")
        for at, width in enumerate(widths)
        if not isinstance(width, int) or isinstance(width, bool) or not 0 <= width <= 100
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return [width for width in widths if isinstance(width, int)]


def _label(value: object) -> RawText:
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, dict):
        raise _wrong('should be a text, or a table such as { en = "Age", es = "Edad" }')
    wrong = [
        ((language,), "should be a text in double quotes")
        for language, text in value.items()
        if not isinstance(text, str)
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return {language: text.strip() for language, text in value.items()}


def _name(value: object) -> RawText:
    """A label that has to say something, in one language or in several."""
    if not isinstance(value, dict):
        return _text(value)
    if not value:
        raise _wrong('should be a text, or a table such as { en = "Census", es = "Censo" }')
    for language, text in value.items():
        try:
            _text(text)
        except WrongValueError as wrong:
            raise WrongValueError(*(((language,), why) for _, why in wrong.parts)) from None
    return _label(value)


def code_text(value: object) -> str:
    """A code as text: whole numbers as they are written in decimal."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise _wrong("a code should be a text or a whole number")


def _code_texts(value: object) -> list[str]:
    return _each(value, code_text)


def _code_list(value: object) -> str | dict[str, RawText]:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if not isinstance(value, dict) or not value:
        raise _wrong('should be a table such as { 1 = "Male", 2 = "Female" } or a csv file')
    labels: dict[str, RawText] = {}
    wrong: list[tuple[KeyPath, str]] = []
    for code, label in value.items():
        if not code.strip():
            wrong.append(((code,), "a code should not be empty"))
            continue
        if code.strip() in labels:
            wrong.append(((code,), f"the code {code.strip()!r} stands twice in the list"))
        try:
            labels[code.strip()] = _label(label)
        except WrongValueError as error:
            wrong += [((code, *inside), f"code {code!r}: {text}") for inside, text in error.parts]
    if wrong:
        raise WrongValueError(*wrong)
    return labels


def _levels(value: object) -> list[str] | dict[str, str]:
    if isinstance(value, list):
        return _texts(value)
    if not isinstance(value, dict):
        raise _wrong(
            'should be a list of names such as ["parish", "district"], or for numbers a table such'
            ' as { broad = "0,15,65+" }'
        )
    wrong = [
        ((name,), 'should be a text with lower bounds such as "0,15,25,65+"')
        for name, bounds in value.items()
        if not isinstance(bounds, str)
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return value


def _two_numbers(value: object) -> tuple[int, int]:
    if not _whole_numbers(value, 2):
        raise _wrong("should be two whole numbers such as [0, 120]")
    return tuple(value)  # type: ignore[arg-type, return-value]


def _extent(value: object) -> tuple[int, int, int, int]:
    if not _whole_numbers(value, 4):
        raise _wrong("should be four whole numbers: [x_low, y_low, x_high, y_high]")
    return tuple(value)  # type: ignore[arg-type, return-value]


def _whole_numbers(value: object, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    )


def _date(value: object) -> str:
    """A date as ISO text; a date without quotes is a date in TOML already."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value.strip()).isoformat()
        except ValueError:
            pass
    raise _wrong("should be a date such as 2021-04-01")


def _languages(value: object) -> list[str]:
    languages = _texts(value)
    wrong: list[tuple[KeyPath, str]] = []
    for at, language in enumerate(languages):
        if not re.fullmatch(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*", language):
            wrong.append(((at,), f'{language!r} is no language; write codes such as "en" or "es"'))
        elif language in languages[:at]:
            wrong.append(((at,), f"{language!r} stands twice"))
    if wrong:
        raise WrongValueError(*wrong)
    return languages


def _id_parts(value: object) -> list[str]:
    """Parts of a canonical id, which ``|`` joins and therefore none may have."""
    parts = _code_texts(value)
    wrong: list[tuple[KeyPath, str]] = [
        ((at,) if isinstance(value, list) else (), f"{part!r} has a '|', which separates parts")
        for at, part in enumerate(parts)
        if "|" in part
    ]
    if wrong:
        raise WrongValueError(*wrong)
    return parts


def _encoding(value: object) -> str:
    name = _text(value)
    try:
        codecs.lookup(name)
        "".encode(name)  # refuses codecs that are not about text
    except (LookupError, ValueError, TypeError):
        raise _wrong(
            f"{name!r} is no encoding; write one such as 'utf-8', 'cp1252' or 'latin-1'"
        ) from None
    return name


def _delimiter(value: object) -> str:
    if value == "tab":
        return "\t"
    if not isinstance(value, str) or len(value) != 1 or value in '"\r\n':
        raise _wrong('should be one character such as "," or ";" or "\\t"')
    return value


def _decimal(value: object) -> str:
    if value not in (".", ","):
        raise _wrong('should be "." or ","')
    return str(value)


def _units(value: object) -> Entity:
    try:
        return Entity.parse(_text(value))
    except SpecError as error:
        raise _wrong(str(error)) from None


Word = Annotated[str, BeforeValidator(_text)]
Words = Annotated[list[str], BeforeValidator(_texts)]
Column = Annotated[str, BeforeValidator(_column)]
Columns = Annotated[list[str], BeforeValidator(_columns)]
Widths = Annotated[list[int], BeforeValidator(_widths)]
Label = Annotated[Any, BeforeValidator(_label)]
Name = Annotated[Any, BeforeValidator(_name)]
Codes = Annotated[list[str], BeforeValidator(_code_texts)]
CodeListOrFile = Annotated[Any, BeforeValidator(_code_list)]
LevelNamesOrBounds = Annotated[Any, BeforeValidator(_levels)]
TwoNumbers = Annotated[tuple[int, int], BeforeValidator(_two_numbers)]
Extent = Annotated[tuple[int, int, int, int], BeforeValidator(_extent)]
Date = Annotated[str, BeforeValidator(_date)]
LanguageCodes = Annotated[list[str], BeforeValidator(_languages)]
IdParts = Annotated[list[str], BeforeValidator(_id_parts)]
Encoding = Annotated[str, BeforeValidator(_encoding)]
Delimiter = Annotated[str, BeforeValidator(_delimiter)]
DecimalMark = Annotated[str, BeforeValidator(_decimal)]
Kind = Annotated[Entity, one_of(Entity, "kind of unit")]
#: A kind of unit, as the word for one or for many of them.
Units = Annotated[Entity, BeforeValidator(_units)]
