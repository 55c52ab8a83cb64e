"""The variables that SAFE is told: which units they describe, and which of them can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.microdata.imputation.variables import LevelOfVariable, levels_of_variables
from sdcensus.microdata.pram.targets import identities_with
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ListedVariables:
    """The listed variables, each at its level, in the order of their names.

    Attributes:
        unit: The units whose combinations are counted.
        fixed: Variables that no unit changes: of what holds it, of what it holds, or kept by name.
        free: Variables whose codes can change.
        tied: Of free variables by which declared identities count units: for each code its class.
            Units stay in the classes that they are in.
    """

    unit: Entity
    fixed: tuple[LevelOfVariable, ...]
    free: tuple[LevelOfVariable, ...]
    tied: Mapping[str, Integers]

    @property
    def all(self) -> tuple[LevelOfVariable, ...]:
        """All of them, those that stay first."""
        return (*self.fixed, *self.free)

    def named(self, name: str) -> LevelOfVariable | None:
        """The listed variable of that name, if there is one."""
        return next((listed for listed in self.all if listed.variable.name == name), None)


def spelled(listed: LevelOfVariable) -> str:
    """A variable at a level as axes are written."""
    name, level = listed.variable.name, listed.level.name
    return name if level == listed.variable.leaf_level else f"{name}@{level}"


def listed_variables(
    schema: Schema, texts: Sequence[str], unchanged: Sequence[str] = ()
) -> ListedVariables:
    """Read the listed variables.

    Args:
        schema: Of the census.
        texts: Variables, with levels where they are meant: ``age@five_year``.
        unchanged: Those of them that no unit changes.

    Raises:
        SpecError: A variable does not exist, has no codes, is listed twice or describes other
            units; or none of them can change.
    """
    names = [text.partition("@")[0].strip() for text in texts]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"--variables lists {name!r} twice. List it once, at its finest level.")
    unit = _unit(schema, [schema.variable(name) for name in names])
    listed = levels_of_variables(schema, unit, texts, "--variables")
    listed = tuple(sorted(listed, key=lambda each: each.variable.name))
    kept = {name.partition("@")[0].strip() for name in unchanged}
    for name in sorted(kept - set(names)):
        raise UnknownName("listed variable", name, known=names)
    tied = {each.variable.name: _identity_classes(schema, each) for each in listed}
    fixed = [
        each.variable.name in kept
        or _stays(schema, each.variable, unit)
        or tied[each.variable.name] is None
        for each in listed
    ]
    chosen = ListedVariables(
        unit,
        tuple(each for each, stays in zip(listed, fixed, strict=True) if stays),
        tuple(each for each, stays in zip(listed, fixed, strict=True) if not stays),
        {
            name: classes
            for (name, classes), stays in zip(tied.items(), fixed, strict=True)
            if classes is not None and classes.max(initial=0) and not stays
        },
    )
    if not chosen.free:
        raise SpecError(
            f"No listed variable can change for one {unit.value} alone: they are kept by name, say"
            f" where {unit.plural} are or what they hold, or belong to what holds them. List at"
            f" least one more variable of {unit.plural}."
        )
    return chosen


def _unit(schema: Schema, variables: Sequence[Variable]) -> Entity:
    """The units that have all these variables, their own or inherited."""
    kinds = {variable.entity for variable in variables}
    for kind in reversed(schema.top_down):
        if kind in kinds and kinds <= set(schema.lineage(kind)):
            return kind
    described = ", ".join(f"{each.name} ({each.entity.plural})" for each in variables)
    raise SpecError(
        "The listed variables describe units of which none lies in all the others:"
        f" {described}. Make a store for each kind of unit, one after the other."
    )


def _stays(schema: Schema, variable: Variable, unit: Entity) -> bool:
    """Whether a unit cannot have another code of a variable by itself."""
    if variable.entity is not unit or variable.counts is not None:
        return True
    if variable.role is not Role.GEOGRAPHY:
        return False
    geography = schema.geography
    if geography is None or geography.entity is not unit:
        return False
    # Who is held by something cannot move without it, and a grid goes with its areas.
    return bool(schema.parents(unit)) or len(schema.geographies) > 1


def _identity_classes(schema: Schema, listed: LevelOfVariable) -> Integers | None:
    """For each listed code how identities between units see it; ``None`` if not all its leaves.

    One class where no identity counts by the variable.
    """
    name, group = listed.variable.name, listed.level.group_array
    leaves = np.zeros(group.size, dtype=np.int64)
    for _, when in identities_with(schema, name):
        at = [variable.name for variable in when.variables].index(name)
        classes = when.classes[at]
        pairs = leaves * (int(classes.max(initial=0)) + 1) + classes
        leaves = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    codes = np.zeros(len(listed.level.codes), dtype=np.int64)
    codes[group] = leaves
    return codes if bool((codes[group] == leaves).all()) else None
