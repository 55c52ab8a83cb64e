"""Columns of a dictionary that the office names itself, by heading or by letter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdcensus.ingest.dictionaries.headings import ColumnRole, language_named


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column that the office named itself: ``label:en=Descripción``."""

    role: ColumnRole
    heading: str
    language: str = ""


def column_letter(place: int) -> str:
    """The letter of a column in a spreadsheet.

    Examples:
        >>> column_letter(0), column_letter(27)
        ('A', 'AB')
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def named_columns(texts: Iterable[str]) -> list[NamedColumn]:
    """What ``--dictionary-columns`` says: ``variable=campo,label:en=Description``.

    Raises:
        ValueError: A part is not a role and a heading; the message says which.
    """
    columns = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        if not part:
            continue
        role_text, equals, heading = part.partition("=")
        role_name, _, language = role_text.strip().partition(":")
        plain = role_name.strip().casefold().replace(" ", "_").replace("-", "_")
        aliases = {"min": "minimum", "max": "maximum", "code": "value", "code_label": "value_label"}
        role = aliases.get(plain, plain)
        if not language and role.rpartition("_")[0] in ("label", "value_label"):
            role, _, language = role.rpartition("_")
        if not equals or role not in set(ColumnRole) or not heading.strip():
            raise ValueError(part)
        code = language_named(language) if language else ""
        columns.append(NamedColumn(ColumnRole(role), heading.strip(), code or language))
    return columns
