"""Exempt totals in words: ``"usual residents by district"``."""

from __future__ import annotations

import re

from sdcensus.errors import SpecError, UnknownName, unknown
from sdcensus.model.policy.rules import RecordSet
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role

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
    areas = [variable for variable in schema.variables if variable.role is Role.GEOGRAPHY]
    for area in areas:
        if text in (level.name for level in area.levels()):
            return f"{area.name}@{text}"
    levels = [level.name for area in areas for level in area.levels()]
    raise UnknownName("variable or level of areas", text, known=[*known, *levels])
