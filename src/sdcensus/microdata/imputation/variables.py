"""The variables that a method of imputation is told: those that are blanked, those that match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Role, Variable
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class LevelOfVariable:
    """A variable at a level, as axes are written: ``age@five_year``.

    Attributes:
        text: How it was written.
        variable: The variable.
        level: The level; that of the leaves where none is named.
    """

    text: str
    variable: Variable
    level: Level

    def codes(self, records: CensusStore, unit: Entity) -> Integers:
        """For each record of a kind the position of its code at the level."""
        leaves = records.column(unit, self.variable)[slice(0, records.rows(unit))]
        return self.level.group_array.astype(np.int64)[leaves]

    @property
    def ranks(self) -> Integers | None:
        """For each code where it stands in the order of numbers; ``None`` if codes have no order.

        Codes that say that there is no value are further from all others than these from each
        other.
        """
        codes = self.level.codes
        valid = [at for at, code in enumerate(codes) if not code.is_missing]
        if not valid or any(codes[at].lower is None for at in valid):
            return None
        ranks = np.zeros(len(codes), dtype=np.int64)
        ordered = sorted(valid, key=lambda at: (codes[at].lower, at))
        for rank, at in enumerate(ordered):
            ranks[at] = rank
        missing = [at for at, code in enumerate(codes) if code.is_missing]
        for number, at in enumerate(missing):
            ranks[at] = (2 + number) * len(codes)
        return ranks


def blanked_variables(schema: Schema, names: Sequence[str]) -> tuple[Variable, ...]:
    """The variables that are blanked, all of one kind of unit.

    Raises:
        SpecError: A variable cannot be blanked, or they describe several kinds of units.
    """
    variables = tuple(schema.variable(name) for name in names)
    _refuse_twice(names, "--blank")
    geography = schema.geography
    for variable in variables:
        why = ""
        if not variable.stored or variable.role is Role.WEIGHT:
            why = "it is not an answer that could be given by somebody else"
        elif variable.continuous or not variable.is_axis:
            why = "it is continuous, and a donor gives codes; blank variables with code lists"
        elif geography is not None and variable.name == geography.name:
            why = "it says where units are; move them by swapping or by geographic-pram instead"
        elif variable.counts is not None:
            why = f"it counts the {variable.counts.plural} that units hold, which stay as they are"
        if why:
            raise SpecError(f"{variable.name!r} cannot be blanked: {why}.")
    first = variables[0]
    for variable in variables[1:]:
        if variable.entity is not first.entity:
            raise SpecError(
                f"{first.name!r} describes {first.entity.plural} and {variable.name!r} describes"
                f" {variable.entity.plural}. Blank variables of one kind of unit at a time, with a"
                " store for each step."
            )
    return variables


def levels_of_variables(
    schema: Schema, unit: Entity, texts: Sequence[str], option: str
) -> tuple[LevelOfVariable, ...]:
    """Variables at levels that units of a kind have, their own or inherited.

    Raises:
        SpecError: One has no codes, or describes units of which these may hold several.
    """
    chosen = []
    for text in texts:
        name, _, level = (part.strip() for part in text.partition("@"))
        variable = schema.variable(name)
        if not variable.is_axis:
            why = "is continuous" if variable.continuous else "has no code list that is stored"
            raise SpecError(
                f"{option}: {variable.name!r} {why}. Take a variable with codes; levels (ranges) in"
                " the schema give a number codes."
            )
        if variable.entity not in schema.lineage(unit):
            raise SpecError(
                f"{option}: {variable.name!r} describes {variable.entity.plural}, of which one"
                f" {unit.value} may have several. Take variables of {unit.plural} or of what holds"
                " them."
            )
        schema.inherited_missing(unit, variable)
        chosen.append(LevelOfVariable(text, variable, variable.level(level or None)))
    _refuse_twice([each.variable.name + "@" + each.level.name for each in chosen], option)
    return tuple(chosen)


def _refuse_twice(names: Sequence[str], option: str) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise SpecError(f"{option} names {name!r} twice. Name it once.")


def mixed_classes(columns: Sequence[tuple[Integers, int]], rows: int) -> Integers:
    """One number for each combination of codes: the same exactly for the same combination.

    Args:
        columns: Codes of each record, and how many codes there are.
        rows: How many records there are.
    """
    numbers = np.zeros(rows, dtype=np.int64)
    largest = 1
    for codes, size in columns:
        if largest * size >= 1 << 62:
            _, numbers = np.unique(numbers, return_inverse=True)
            numbers, largest = numbers.astype(np.int64).reshape(-1), rows
        numbers = numbers * size + codes
        largest *= size
    return numbers
