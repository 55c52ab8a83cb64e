"""Cells and groups of units in words, in English and Spanish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.quantities import number_text
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.headings import (
    code_label,
    joined,
    table_heading,
    universe_text,
    variable_heading,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, restrict
from sdcensus.model.text import Text

#: One unit, two units, many of them; in Spanish with their articles.
_UNITS = {
    Entity.PERSON: (("person", "persons"), ("persona", "personas")),
    Entity.FAMILY: (("family", "families"), ("familia", "familias")),
    Entity.HOUSEHOLD: (("household", "households"), ("hogar", "hogares")),
    Entity.DWELLING: (("dwelling", "dwellings"), ("vivienda", "viviendas")),
    Entity.BUILDING: (("building", "buildings"), ("edificio", "edificios")),
}
_MASCULINE = frozenset({Entity.HOUSEHOLD, Entity.BUILDING})

PERCEIVED = Text.named("findings.perceived")
#: Findings rest on one table; nothing else was used.
TRUE_SCOPE = Text.named("findings.true_scope")
PERCEIVED_SCOPE = Text.named("findings.perceived_scope")


def tables_scope(specs: Sequence[TableSpec], *, published: bool) -> Text:
    """Which tables findings rest on, in every language of sentences."""
    scope = Text.named(f"findings.{'perceived_' if published else ''}tables_scope")
    names = {
        language: "; ".join(dict.fromkeys(table_heading(spec, language) for spec in specs))
        for language, _ in scope.by_language
    }
    return scope.filled(tables=names)


def sentence_language(language: str | None) -> str | None:
    """The language of findings: Spanish, or English for all others, never half of each."""
    return language if language in (None, "es") else "en"


def spanish(language: str | None) -> bool:
    """Whether sentences are asked for in Spanish; all other languages get English."""
    return language == "es"


@dataclass(frozen=True, slots=True)
class GroupWords:
    """Units with certain codes, in the words of one language.

    Attributes:
        of: What is counted.
        areas: The areas in which they are.
        conditions: What else they have in common.
        universe: The records of the table, in words; empty for all of them.
        language: The language of the words.
    """

    of: Entity
    areas: tuple[str, ...]
    conditions: tuple[str, ...]
    universe: str
    language: str | None

    def place(self) -> str:
        """Where they are: the beginning of a sentence, empty or with a space at its end."""
        es = spanish(self.language)
        text = ""
        if self.areas:
            text = f"{'En' if es else 'In'} {joined(self.areas, self.language)} "
        if self.universe:
            text = text or ("En este cuadro " if es else "In this table ")
            text += f"({self.universe}) "
        return text

    def units(self, number: int, *, counted: bool = True) -> str:
        """So many of them, with what they have in common."""
        single, many = _UNITS[self.of][spanish(self.language)]
        text = single if number == 1 else many
        if counted:
            text = f"{self.number(number)} {text}"
        if self.conditions:
            link = "con" if spanish(self.language) else "with"
            text += f" {link} {joined(self.conditions, self.language)}"
        return text

    def number(self, number: int) -> str:
        """A number of units in words or figures."""
        if number == 1:
            return ("un" if self.masculine else "una") if spanish(self.language) else "one"
        if number == 2:
            return "dos" if spanish(self.language) else "two"
        return number_text(number, self.language)

    @property
    def masculine(self) -> bool:
        """The grammatical gender of the units in Spanish."""
        return self.of in _MASCULINE

    def article(self, number: int) -> str:
        """The definite article in Spanish."""
        if number == 1:
            return "el" if self.masculine else "la"
        return "los" if self.masculine else "las"

    def there_are(self, number: int) -> str:
        """That so many of them exist."""
        place, units = self.place(), self.units(number)
        if spanish(self.language):
            return f"{place}{'hay' if place else 'Hay'} {units}"
        verb = "is" if number == 1 else "are"
        return f"{place}{'there' if place else 'There'} {verb} {units}"


def quoted(label: str, language: str | None) -> str:
    """A label in quotation marks."""
    return f"«{label}»" if spanish(language) else f"'{label}'"


def condition_text(variable: Variable, label: str, language: str | None) -> str:
    """A variable with the label of one of its codes."""
    return f"{variable_heading(variable, language)} {quoted(label, language)}"


def leaves_text(variable: Variable, leaves: npt.NDArray[np.bool_], language: str | None) -> str:
    """A set of leaves of a variable, as short as its levels allow."""
    everything = Universe((), (), np.array(True))
    return universe_text(restrict(everything, variable, leaves), language)


def group_of(
    spec: TableSpec,
    positions: Sequence[int | None],
    language: str | None,
    *,
    further: Sequence[str] = (),
    universe: Universe | None = None,
) -> GroupWords:
    """The units with the codes of a cell; an axis without a position says nothing of them."""
    areas: list[str] = []
    conditions: list[str] = []
    for axis, position in zip(spec.axes, positions, strict=True):
        if position is None or axis.codes[position].is_total:
            continue
        label = code_label(axis, position, language)
        if axis.variable.role is Role.GEOGRAPHY:
            areas.append(label)
        else:
            conditions.append(condition_text(axis.variable, label, language))
    where = spec.universe if universe is None else universe
    return GroupWords(
        spec.of,
        tuple(areas),
        (*conditions, *further),
        universe_text(where, language),
        language,
    )
