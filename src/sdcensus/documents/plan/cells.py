"""Cells of a plan in a workbook: what they are called, where they stand, what they mean."""

from __future__ import annotations

import datetime
import re
import tomllib
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from sdcensus.documents.schema.sections import Section
from sdcensus.documents.workbooks.ranges import cell_name

_YES = frozenset({"yes", "y", "true", "1", "x", "si", "sí"})
_NO = frozenset({"no", "n", "false", "0"})
_LANGUAGE = re.compile(r"(.+?)\s*(?::\s*|\(\s*|\[\s*)([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*)\s*[)\]]?")


def plain(value: object) -> str:
    """A name as it is compared: small letters, one line for blanks, dots and dashes."""
    text = re.sub(r"[\s.\-]+", "_", str(value).strip().casefold())
    return text.strip("_")


def in_language(name: str) -> tuple[str, str]:
    """A heading and the language that it names.

    Examples:
        >>> in_language("title:es"), in_language("title_(es)"), in_language("rows")
        (('title', 'es'), ('title', 'es'), ('rows', ''))
    """
    match = _LANGUAGE.fullmatch(name)
    return (match[1].strip("_ "), match[2]) if match else (name, "")


def place_text(sheet: str, row: int, column: int, heading: str = "") -> str:
    """Where a cell stands, in words."""
    called = f", {heading!r}" if heading else ""
    return f"sheet {sheet!r}, row {row + 1}{called} (cell {cell_name(row, column)})"


def as_setting(value: object, section: type[Section], name: str) -> object:
    """The value of a cell as its setting takes it; a ``ValueError`` says what it should be."""
    kinds = _kinds(section, name)
    if name == "date" and isinstance(value, datetime.datetime):
        return value.date()
    if name == "date" and isinstance(value, datetime.date):
        return value
    text = cell_text(value)
    if bool in kinds:
        if text.casefold() in _YES | _NO:
            return text.casefold() in _YES
        raise ValueError("should be yes or no")
    if list in kinds:
        return [part.strip() for part in re.split(r"[,;\n]", text) if part.strip()]
    if int in kinds or float in kinds:
        try:
            number = float(text)
        except ValueError:
            raise ValueError("should be a number") from None
        if number.is_integer():
            return int(number)
        if float in kinds:
            return number
        raise ValueError("should be a whole number")
    return text


def own_protection(text: str) -> object:
    """The protection of a table: a name, or in braces what is done, as a plan.toml has it."""
    if not text.startswith("{"):
        return text
    try:
        return tomllib.loads(f"protect = {text}")["protect"]
    except tomllib.TOMLDecodeError:
        raise ValueError(
            "should be a name of the sheet 'protect', or { method = \"…\" } as in a plan.toml"
        ) from None


def _kinds(section: type[Section], name: str) -> set[type]:
    """The plain types that a setting takes."""
    if name not in section.model_fields:
        return {str}
    found: set[type] = set()
    waiting: list[Any] = [section.model_fields[name].annotation]
    while waiting:
        one = waiting.pop()
        origin = get_origin(one)
        if origin is Annotated or origin in (Union, UnionType):
            waiting += get_args(one)[:1] if origin is Annotated else get_args(one)
        else:
            found.add(origin or one)
    return found


def cell_text(value: object) -> str:
    """The text of a cell; whole numbers without the fraction that Excel gives them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    return str(value).strip()
