"""The look budget: how often all tables together look at one cell, and what that gives away.

Only products of declared codes get noise of their own, so there are finitely many ways to add up
published values to a count. Each way with ``k`` noisy parts is worth ``1 / k`` of a look; the best
average of all of them has the variance of a single published value divided by the looks.

The budget reads code lists only. It is public information, and an upper bound: parts that are
empty carry no noise, which makes looks better, and parts that hold the same records carry the same
noise, which adds nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.entity import Entity
from sdcensus.model.menu import Menu
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.variable import Level
from sdcensus.risk.looks_chance import recovery, variance_for
from sdcensus.risk.looks_lattice import Codes, Lattice
from sdcensus.risk.looks_tables import (
    classes_of,
    lines_of_tables,
    looks_at_classes,
    pair_text,
)

__all__ = [
    "LookBudget",
    "Looks",
    "look_budget",
    "look_budget_of_tables",
    "looks_at",
]

#: How many variables besides the area the cells have about which a budget speaks.
OWN = 1


@dataclass(frozen=True, slots=True)
class Looks:
    """How often all tables together look at a cell.

    Attributes:
        area: The geography and level of the cell, such as ``"ed@parish"``; empty for none.
        axes: What else the cell is about, such as ``("age@five_year",)``.
        looks: Published values of the cell itself count 1, sums of ``k`` parts ``1 / k``.
        tables: Over how many choices of variables and levels was summed; ``None`` if the sum is
            known without going through them.
        exact: Whether this is the number of looks; else, for very open menus, at most so many.
    """

    area: str
    axes: tuple[str, ...]
    looks: float
    tables: int | None = None
    exact: bool = True

    @property
    def title(self) -> str:
        """What the cell is about."""
        return ", ".join([self.area, *self.axes] if self.area else self.axes) or "everything"

    def recovery(self, variance: float) -> float:
        """The chance that averaging finds the count, for noise of this variance."""
        return recovery(self.looks, variance)

    def variance(self, limit: float) -> float:
        """The variance that keeps the chance at or below a limit."""
        return variance_for(self.looks, limit)


@dataclass(frozen=True, slots=True)
class LookBudget:
    """The worst cells by level of geography and by the number of variables.

    Attributes:
        of: What is counted.
        scope: Which tables were taken together, as a sentence.
        levels: For each level and number of variables the cell with the most looks, coarse levels
            last.
        lines: How many sums are published with their totals, by the number of parts; of a menu
            only those with the fewest parts, which give away most. Empty if nothing adds up.
    """

    of: Entity
    scope: str
    levels: tuple[Looks, ...]
    lines: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise SpecError(f"{self.scope} There is no table, so there is no look at a cell.")

    @property
    def worst(self) -> Looks:
        """The cell with the most looks of all."""
        return max(self.levels, key=lambda one: one.looks)

    @property
    def worst_in_areas(self) -> Looks:
        """The worst cell that is about an area and something else, where counts are small.

        Without such cells, the worst that is about an area or something else; else the worst.
        """
        for needed in (2, 1, 0):
            found = [one for one in self.levels if bool(one.area) + bool(one.axes) >= needed]
            if found:
                return max(found, key=lambda one: one.looks)
        return self.worst

    @property
    def sentence(self) -> str:
        """For whom and for what the budget holds."""
        worst = self.worst_in_areas
        most = "" if worst.exact else "at most "
        return (
            f"{self.scope} An intruder who collects all of them can average every way to add up to"
            f" a count: that is worth {most}{worst.looks:,.1f} independent looks at a cell of"
            f" {worst.title}."
        )


def look_budget(menu: Menu, *, own: int = OWN) -> LookBudget:
    """The look budget of everything that a menu allows.

    Args:
        menu: The tables that may be asked for.
        own: How many variables the cells have besides the area, at most.
    """
    lattice = Lattice(menu)
    found = []
    for area in _areas(menu):
        for number in range(own + 1):
            worst = _worst(lattice, area, number)
            if worst is not None:
                found.append(worst)
    return LookBudget(menu.of, _menu_sentence(menu), tuple(found), _lines(lattice))


def looks_at(menu: Menu, chosen: Mapping[str, Level | str], codes: Codes | None = None) -> Looks:
    """The looks that a menu gives at a cell with these variables at these levels.

    Args:
        menu: The tables that may be asked for.
        chosen: The levels of the cell by variable; names will do.
        codes: The codes of the cell by variable. Where none is given, the code is meant that
            finer levels divide into the fewest parts: the one with the most looks.
    """
    levels = {
        name: menu.variable(name).variable.level(level) if isinstance(level, str) else level
        for name, level in chosen.items()
    }
    if not menu.allows(levels):
        asked = ", ".join(
            pair_text(menu.variable(name).variable, one) for name, one in levels.items()
        )
        raise SpecError(f"The menu has no table by {asked or 'nothing'}, so nobody looks at it.")
    return _looks(Lattice(menu), levels, codes)


def look_budget_of_tables(
    specs: Sequence[TableSpec], *, own: int = OWN, scope: str = ""
) -> tuple[LookBudget, ...]:
    """The look budgets of a list of tables, such as those of a plan: one for each kind of unit.

    Tables with weighted counts are left out; they say nothing exact about a count.

    Args:
        specs: The tables, each with its totals and levels.
        own: How many variables the cells have besides the area, at most.
        scope: How the budget calls the list; else its number of tables.
    """
    budgets = []
    for of in Entity:
        tables = [one for one in specs if one.of is of and one.measure.value == "count"]
        if not tables:
            continue
        worst: dict[tuple[str, int], Looks] = {}
        order: dict[str, int] = {"": -1}
        classes = classes_of(tables)
        # Tables without totals may have no cell with so few variables: then the fewest that are.
        least = max(own, min(len(one.others) for one in classes))
        for cell, looks, number in looks_at_classes(classes, own=least):
            area = "" if cell.area is None else pair_text(*cell.area)
            if cell.area is not None:
                order[area] = len(cell.area[1].codes)
            axes = tuple(pair_text(variable, level) for variable, level in cell.others)
            key = (area, len(axes))
            if key not in worst or looks > worst[key].looks:
                worst[key] = Looks(area, axes, looks, number)
        rows = sorted(worst, key=lambda key: (not key[0], -order[key[0]], key[0], key[1]))
        said = scope or f"{len(tables)} table{'s' if len(tables) != 1 else ''}"
        sentence = f"{said} of {of.plural}, with all totals and levels, taken together."
        found = tuple(worst[key] for key in rows)
        budgets.append(LookBudget(of, sentence, found, lines_of_tables(tables)))
    if not budgets:
        raise SpecError("There is no table of counts, so there is no look at a cell.")
    return tuple(budgets)


def _areas(menu: Menu) -> Iterator[tuple[str, Level] | None]:
    """Every level of every geography, the finest first, and no area at all."""
    for one in menu.geographies:
        for level in one.levels:
            yield one.variable.name, level
    yield None


def _worst(lattice: Lattice, area: tuple[str, Level] | None, number: int) -> Looks | None:
    """The cell of an area with so many other variables that has the most looks."""
    menu = lattice.menu
    others = [one for one in menu.variables if one not in menu.geographies]
    candidates: list[tuple[float, int, dict[str, Level]]] = []
    for variables in itertools.combinations(others, number):
        names = [one.variable.name for one in variables]
        for levels in itertools.product(*(lattice.levels_of(one) for one in variables)):
            chosen = dict(zip(names, levels, strict=True))
            if area is not None:
                chosen = {area[0]: area[1], **chosen}
            if menu.allows(chosen):
                candidates.append((lattice.at_most(chosen), len(candidates), chosen))
    best: Looks | None = None
    # The looks without limits are never fewer, so the search ends where these cannot win.
    for bound, _, chosen in sorted(candidates, key=lambda one: (-_rounded(one[0]), one[1])):
        if best is not None and _rounded(bound) <= _rounded(best.looks):
            break
        found = _looks(lattice, chosen)
        if best is None or _rounded(found.looks) > _rounded(best.looks):
            best = found
    return best


def _rounded(looks: float) -> float:
    """Looks to ten digits: of equal ones, added up in another order, the first is the worst."""
    return float(f"{looks:.10g}")


def _looks(lattice: Lattice, chosen: Mapping[str, Level], codes: Codes | None = None) -> Looks:
    summed = lattice.looks(chosen, codes)
    area, axes = "", []
    for name, level in chosen.items():
        one = lattice.menu.variable(name)
        text = pair_text(one.variable, level)
        if not area and one in lattice.menu.geographies:
            area = text
        else:
            axes.append(text)
    return Looks(area, tuple(axes), summed.looks, summed.choices, summed.exact)


def _lines(lattice: Lattice) -> tuple[tuple[int, int], ...]:
    """The sums with the fewest parts that the tables of a menu show."""
    levels = [
        (len(level.codes), one.variable.name, level)
        for one in lattice.menu.variables
        for level in one.levels
        if len(level.codes) > 1 and lattice.menu.allows({one.variable.name: level})
    ]
    if not levels:
        return ()
    fewest = min(size for size, _, _ in levels)
    found = sum(lattice.lines(name, level) for size, name, level in levels if size == fewest)
    return ((fewest, round(found)),)


def _menu_sentence(menu: Menu) -> str:
    variables = f"{len(menu.variables)} variable{'s' if len(menu.variables) != 1 else ''}"
    limits = []
    if menu.cells is not None:
        limits.append(f"of at most {menu.cells:,} cells")
    if menu.never_together:
        limits.append(f"without {len(menu.never_together)} forbidden combinations")
    return (
        f"All tables of {menu.of.plural} by up to {menu.dimensions} of {variables}"
        f"{''.join(', ' + one for one in limits)}, taken together."
    )
