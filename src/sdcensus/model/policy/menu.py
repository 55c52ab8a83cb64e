"""The finite set of tables that may be asked for: products of declared codes, within limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.schema.variable import Entity, Level, Role, Variable


@dataclass(frozen=True, slots=True)
class MenuVariable:
    """A variable that may be asked for, at these levels, finest first.

    Attributes:
        finest_areas: For each geography by name, the levels at which it may stand in a table
            together with this variable; a geography that is not named may stand at any.
    """

    variable: Variable
    levels: tuple[Level, ...]
    finest_areas: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise SpecError(f"{self.variable.name!r} is on a menu with at least one level.")


@dataclass(frozen=True, slots=True)
class Menu:
    """Tables of one kind of unit by any of these variables together, up to a number of them.

    Attributes:
        of: What is counted.
        variables: What may be asked for, geographies included.
        dimensions: The most variables in a table, filters and geography included.
        cells: The most cells of a table, totals included; ``None`` without a limit.
        never_together: Combinations of (variable, level) of which no table may hold all; an empty
            level stands for every level, and a level for itself and all that are not coarser.
    """

    of: Entity
    variables: tuple[MenuVariable, ...]
    dimensions: int
    cells: int | None = None
    never_together: tuple[tuple[tuple[str, str], ...], ...] = ()

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise SpecError("A menu allows at least one variable in a table.")

    def variable(self, name: str) -> MenuVariable:
        """The variable of that name."""
        for variable in self.variables:
            if variable.variable.name == name:
                return variable
        known = [variable.variable.name for variable in self.variables]
        raise UnknownName("variable on the menu", name, known=known)

    @property
    def geography(self) -> MenuVariable | None:
        """The variable whose codes are areas; of several, the main one or else the first."""
        areas = [each for each in self.variables if each.variable.role is Role.GEOGRAPHY]
        return min(areas, key=lambda area: not area.variable.main, default=None)

    def allows(self, chosen: Mapping[str, Level]) -> bool:
        """Whether a table by these variables at these levels may be asked for, at least coarsely.

        Totals of every axis count among its cells.
        """
        if len(chosen) > self.dimensions:
            return False
        names = {variable.variable.name for variable in self.variables}
        if not names.issuperset(chosen):
            return False
        for name, level in chosen.items():
            if level.name not in {level.name for level in self.variable(name).levels}:
                return False
        cells = math.prod(len(level.codes) + 1 for level in chosen.values())
        if self.cells is not None and cells > self.cells:
            return False
        return not self._too_fine(chosen) and not self._forbidden(chosen)

    def _too_fine(self, chosen: Mapping[str, Level]) -> bool:
        for name in chosen:
            for area, levels in self.variable(name).finest_areas:
                if area in chosen and chosen[area].name not in levels:
                    return True
        return False

    def _forbidden(self, chosen: Mapping[str, Level]) -> bool:
        return any(
            all(self._at_least(name, level, chosen) for name, level in combination)
            for combination in self.never_together
        )

    def _at_least(self, name: str, level: str, chosen: Mapping[str, Level]) -> bool:
        """Whether a table holds a variable at that level or at one that is not coarser."""
        if name not in chosen:
            return False
        if not level:
            return True
        limit = self.variable(name).variable.level(level)
        coarser = limit.refines(chosen[name]) and not chosen[name].refines(limit)
        return not coarser


def finest_first(levels: Sequence[Level]) -> tuple[Level, ...]:
    """Levels from the finest to the coarsest."""
    return tuple(sorted(levels, key=lambda level: (-len(level.codes), level.name)))
