"""Cells and groups of units in words; the words stand in the catalogue ``findings``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.catalogue import FIRST, LANGUAGES
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
from sdcensus.model.text import Text, said

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
    """The language of findings: one that the product speaks, else English, never half of each."""
    return language if language is None or language in LANGUAGES else FIRST


def sentence_text(words: str) -> str:
    """Words as a sentence: with a capital, and a point at the end."""
    return f"{words[:1].upper()}{words[1:]}."


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

    def word(self, key: str, **values: object) -> str:
        """A phrase about units of this kind; languages tell them apart by gender."""
        return said(f"findings.unit.{self.of.name.lower()}.{key}", self.language, **values)

    def place(self) -> str:
        """Where they are: the beginning of a sentence, empty or with a space at its end."""
        text = ""
        if self.areas:
            areas = joined(self.areas, self.language)
            text = said("findings.in_areas", self.language, areas=areas)
        if self.universe:
            text = text or said("findings.in_table", self.language)
            text += said("findings.of_universe", self.language, universe=self.universe)
        return text

    def units(self, number: int) -> str:
        """So many of them, with what they have in common."""
        key = {1: "one", 2: "two"}.get(number, "many")
        return self.with_conditions(self.word(key, number=number_text(number, self.language)))

    def with_conditions(self, units: str) -> str:
        """Units, and what they have in common."""
        if not self.conditions:
            return units
        conditions = joined(self.conditions, self.language)
        return said("findings.with", self.language, units=units, conditions=conditions)

    def number(self, number: int) -> str:
        """A number of units in words or figures."""
        if number in (1, 2):
            return self.word("number_one" if number == 1 else "number_two")
        return number_text(number, self.language)

    def there_are(self, number: int, units: str = "") -> str:
        """That so many of them exist; ``units``: what is said of them instead."""
        place = self.place()
        key = f"findings.{'there' if place else 'alone'}_{'is' if number == 1 else 'are'}"
        return f"{place}{said(key, self.language, units=units or self.units(number))}"

    def clause(self, members: str, verb: str, told: str) -> str:
        """What is told of some of them, with the place before it if there is one."""
        place, members = self.place(), self.with_conditions(members)
        key = "findings.placed_clause" if place else "findings.clause"
        return said(key, self.language, place=place, members=members, verb=verb, told=told)


def quoted(label: str, language: str | None) -> str:
    """A label in quotation marks."""
    return said("findings.quote", language, label=label)


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
