"""Names in a program: kinds of units, variables, levels, and what the program has defined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName, told, unknown
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Role, Variable
from sdcensus.model.spec.predicate import Name, Reference
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.reader import listed

Mask = npt.NDArray[np.bool_]

#: How many codes a program may look at, each time that it does; short lists never come near it.
MOST_LOOKED_AT = 3_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Category:
    """One category of a recode: the leaves of the variable that it holds."""

    code: str
    label: str
    leaves: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Recoded:
    """Computed categories of a variable, under a name of their own."""

    name: str
    variable: Variable
    categories: tuple[Category, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NamedThing:
    """A variable that a program names.

    Attributes:
        reference: As it is written.
        variable: The variable.
        recoded: Its computed categories, if the name is theirs.
        levels: Its levels, the finest first; one at least.
        entity: What is counted where nothing else says so: the kind of unit that is named, or
            that the variable describes.
    """

    reference: Reference
    variable: Variable
    recoded: Recoded | None
    levels: tuple[Level, ...]
    entity: Entity

    @property
    def axis(self) -> str:
        """The axis in the grammar of plans."""
        return axis_text(self.variable, self.levels, total=self.reference.total)

    @property
    def operand(self) -> str:
        """The variable at its level, as conditions write it."""
        return axis_text(self.variable, self.levels[:1], total=True)


def axis_text(variable: Variable, levels: Sequence[Level], *, total: bool) -> str:
    """An axis in the grammar of plans, in its shortest form."""
    ordered = sorted({level.name: level for level in levels}.values(), key=_fineness)
    names = [level.name for level in ordered]
    text = variable.name
    if names != [variable.leaf_level]:
        text += "@" + "+".join(names)
    return text if total else f"{text}-total"


def _fineness(level: Level) -> tuple[int, str]:
    return -len(level.codes), level.name


class ProgramNames:
    """What names mean in one program.

    Attributes:
        source: The program.
        schema: The census.
    """

    def __init__(self, source: str, schema: Schema) -> None:
        self.source, self.schema = source, schema
        self._recoded: dict[str, Recoded] = {}
        self._levels: dict[str, tuple[Level, ...]] = {}
        self._looked_at = 0
        self._variables: dict[str, list[Variable]] = {}
        for variable in schema.variables:
            self._variables.setdefault(variable.name.casefold(), []).append(variable)

    def entity(self, name: Name) -> Entity:
        """The kind of unit of that name."""
        known = [entity.entity for entity in self.schema.entities]
        try:
            unit = Entity.parse(name.text)
        except SpecError:
            unit = None
        if unit is None or unit not in known:
            refuse(self.source, name.at, unknown("kind of unit", name.text, known))
        return unit

    def define(self, target: Reference, recoded: Recoded) -> None:
        """Keep computed categories under their name."""
        if target.entity is not None:
            entity = self.entity(target.entity)
            if entity is not recoded.variable.entity:
                own = recoded.variable.entity
                refuse(
                    self.source,
                    target.entity.at,
                    told(
                        "names.recode-of-others",
                        "{variable!r} describes {own}, and so does what is made of it. Write"
                        " {written}.",
                        variable=recoded.variable.name,
                        own=own.many,
                        written=f"{own}.{target.name.text}",
                    ),
                )
        key = target.name.text.casefold()
        if key in self._variables or key in self._recoded:
            refuse(
                self.source,
                target.name.at,
                told(
                    "names.variable-exists",
                    "There is a variable {name!r} already. Take another name.",
                    name=target.name.text,
                ),
            )
        self._recoded[key] = recoded

    def find(self, reference: Reference, *, adds_up: bool = False) -> NamedThing:
        """The variable that is meant, at the levels that are named.

        Args:
            reference: How it is named.
            adds_up: Whether it is for sums: amounts need no classes then.
        """
        named = None if reference.entity is None else self.entity(reference.entity)
        recoded = self._recoded.get(reference.name.text.casefold())
        if recoded is None:
            reference = self._by_level(reference)
        variable = recoded.variable if recoded else self._variable(reference.name)
        own = variable.entity
        if named is not None and own not in self.schema.lineage(named):
            refuse(
                self.source,
                reference.name.at,
                told(
                    "names.of-others",
                    "{variable!r} describes {own}, not {units}. Write {written}.",
                    variable=reference.name.text,
                    own=own.many,
                    units=named.many,
                    written=f"{own}.{reference.name.text}",
                ),
            )
        summed = adds_up and variable.continuous and variable.role is not Role.WEIGHT
        if not (variable.is_axis or summed):
            why = told("why.no-codes", "it has no list of codes")
            if variable.role is Role.WEIGHT:
                why = told("why.a-weight", "it is a weight")
            elif variable.continuous:
                why = told("why.amount", "it is an amount, and the census gives it no ranges")
            refuse(
                self.source,
                reference.name.at,
                told(
                    "names.unusable",
                    "Tables cannot be made by {variable!r}: {why}.",
                    variable=variable.name,
                    why=why,
                ),
            )
        if recoded is not None and reference.levels:
            refuse(
                self.source,
                reference.levels[0].at,
                told(
                    "names.recode-no-levels",
                    "{name!r} was made by RECODE, and has no levels.",
                    name=reference.name.text,
                ),
            )
        levels = tuple(self._level(variable, level) for level in reference.levels)
        levels = levels or (self.levels(variable)[:1] if variable.is_axis else ())
        return NamedThing(reference, variable, recoded, levels, named or own)

    def _by_level(self, reference: Reference) -> Reference:
        """Areas that are named by their level alone: ``parish`` for ``ed@parish``.

        Of several geographies with such a level, it is the main one.
        """
        name = reference.name
        if reference.levels or name.text.casefold() in self._variables:
            return reference
        owners = [
            (variable, level)
            for variable in self.schema.geographies
            for level in self.levels(variable)
            if level.name.casefold() == name.text.casefold()
        ]
        owners = [owner for owner in owners if owner[0].main] or owners
        if len(owners) != 1:
            return reference
        variable, level = owners[0]
        named = Name(variable.name, name.at)
        return replace(reference, name=named, levels=(Name(level.name, name.at),))

    def look_at(self, codes: int, at: int) -> None:
        """Count the codes that are looked at, so that no program keeps a server busy.

        Raises:
            QuestionError: There are too many.
        """
        self._looked_at += codes
        if self._looked_at > MOST_LOOKED_AT:
            refuse(
                self.source,
                at,
                told(
                    "program.too-many-codes",
                    "The program compares too many codes of long lists. Split it, or take coarser"
                    " levels.",
                ),
            )

    def levels(self, variable: Variable) -> tuple[Level, ...]:
        """The levels of a variable, its codes themselves first; long lists are looked up once."""
        if variable.name not in self._levels:
            self._levels[variable.name] = tuple(variable.levels())
        return self._levels[variable.name]

    def _variable(self, name: Name) -> Variable:
        alike = self._variables.get(name.text.casefold(), [])
        exact = [variable for variable in alike if variable.name == name.text]
        if len(alike) > 1 and not exact:
            what = told(
                "names.ambiguous",
                "{name!r} may be {names}. Write it as one of them.",
                name=name.text,
                names=listed([repr(variable.name) for variable in alike]),
            )
            refuse(self.source, name.at, what)
        if alike:
            return (exact or alike)[0]
        try:
            return self.schema.variable(name.text)
        except UnknownName as error:
            unusable = {variable.name for variable in self.schema.variables if not variable.is_axis}
            known = [other for other in error.known if other not in unusable]
            known += [recoded.name for recoded in self._recoded.values()]
            refuse(self.source, name.at, unknown("variable", name.text, known))

    def _level(self, variable: Variable, name: Name) -> Level:
        levels = self.levels(variable)
        if name.text.casefold() == variable.name.casefold():
            return levels[0]
        alike = [level for level in levels if level.name.casefold() == name.text.casefold()]
        exact = [level for level in alike if level.name == name.text]
        if not exact and len(alike) != 1:
            known = [level.name for level in levels]
            refuse(self.source, name.at, unknown("level", name.text, known, of=variable.name))
        return (exact or alike)[0]
