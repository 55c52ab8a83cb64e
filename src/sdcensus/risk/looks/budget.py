"""The look budget: how well all tables together show one cell, and what that gives away.

Only products of declared codes get noise of their own, so all tables together are finitely many
noisy equations about counts. Whoever solves them by least squares has the best linear estimate of a
cell. Its variance is that of a single published value divided by the *looks*.

The budget reads code lists only: it is public information. It is about estimates that add up and
subtract published values. What it leaves out stands in ``NOT_COVERED``, beside every figure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sdcensus.errors import SpecError
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.policy.menu import Menu
from sdcensus.model.quantities import decimal_text
from sdcensus.model.schema.identities import ties_of
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.model.sentences import in_every_language, sentence, speak
from sdcensus.model.spec.headings import entity_words
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.looks.chance import recovery, recovery_with, variance_for
from sdcensus.risk.looks.lattice import Codes, Lattice
from sdcensus.risk.looks.plan import looks_at_classes
from sdcensus.risk.looks.tables import classes_of, lines_of_tables, pair_text
from sdcensus.risk.looks.tied import TiedLattice, across_sentence, tied_lattice

__all__ = [
    "NOT_COVERED",
    "LookBudget",
    "Looks",
    "look_budget",
    "look_budget_of_tables",
    "look_budgets",
    "looks_at",
]

#: How many variables besides the area the cells have about which a budget speaks.
OWN = 1
#: What a figure of this module does not say. It stands wherever one of them is shown.
NOT_COVERED = sentence("assess.not_covered")


@dataclass(frozen=True, slots=True)
class Looks:
    """How often all tables together look at a cell.

    Attributes:
        area: The geography and level of the cell, such as ``"ed@parish"``; empty for none.
        axes: What else the cell is about, such as ``("age@five_year",)``.
        looks: The variance of one published value divided by that of the best linear estimate.
        exact: Whether this is the number of looks; else there are at most so many.
    """

    area: str
    axes: tuple[str, ...]
    looks: float
    exact: bool = True

    @property
    def title(self) -> str:
        """What the cell is about."""
        return self.title_in(None)

    def title_in(self, language: str | None) -> str:
        """What the cell is about; variables and levels by their names."""
        names = ", ".join([self.area, *self.axes] if self.area else self.axes)
        return names or speak("assess.looks.everything", language)

    def recovery(self, variance: float) -> float:
        """The chance that averaging finds the count, for noise of this variance."""
        return recovery(self.looks, variance)

    def chance(self, variance: float | None, noise: Perturbation | None) -> float | None:
        """The chance to find the count, where cells have noise of their own; else ``None``."""
        if not variance:
            return None
        return self.recovery(variance) if noise is None else recovery_with(self.looks, noise)

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
        across: Which tables of other units count as looks too, as a sentence; empty for none.
    """

    of: Entity
    scope: str
    levels: tuple[Looks, ...]
    lines: tuple[tuple[int, int], ...] = ()
    across: str = ""

    def __post_init__(self) -> None:
        if not self.levels:
            raise SpecError(f"{self.scope} There is no table, so there is no look at a cell.")

    @property
    def worst(self) -> Looks:
        """The cell with the most looks of all."""
        return max(self.levels, key=lambda level: level.looks)

    @property
    def asked(self) -> Looks:
        """The cell that noise is asked for: the worst of all, areas as a whole included.

        Only the count of everybody is left out: it is about nobody, and is published anyway.
        """
        found = [level for level in self.levels if level.area or level.axes]
        return max(found, key=lambda one: one.looks) if found else self.worst

    @property
    def sentence(self) -> str:
        """For whom and for what the budget holds."""
        worst = self.asked
        return sentence(
            "assess.looks.sentence" if worst.exact else "assess.looks.sentence_most",
            scope=self.scope,
            title=in_every_language(worst.title_in),
            looks=in_every_language(partial(decimal_text, worst.looks, 1)),
        )


def look_budget(menu: Menu, *, own: int = OWN) -> LookBudget:
    """The look budget of everything that a menu allows.

    Args:
        menu: The tables that may be asked for.
        own: How many variables the cells have besides the area, at most.
    """
    return _budget(Lattice(menu), own)


def look_budgets(
    schema: Schema,
    menus: Mapping[Entity, Menu],
    *,
    own: int = OWN,
    variances: Mapping[Entity, float] | None = None,
    only: Sequence[Entity] | None = None,
) -> dict[Entity, LookBudget]:
    """The look budgets of several menus, each with what the others say about its units.

    Args:
        schema: What declares identities between units.
        menus: The tables that may be asked for, by kind of unit.
        own: How many variables the cells have besides the area, at most.
        variances: Of the noise of large counts by kind of unit; where there are none, the same
            for all.
        only: The units whose budgets are wanted; else all.
    """
    declared = ties_of(schema)
    return {
        of: _budget(tied_lattice(schema, menus, of, variances or {}, declared), own)
        for of in (menus if only is None else only)
    }


def _budget(lattice: Lattice, own: int) -> LookBudget:
    menu = lattice.menu
    found = []
    for area in _areas(menu):
        for number in range(own + 1):
            worst = _worst(lattice, area, number)
            if worst is not None:
                found.append(worst)
    across = ""
    if isinstance(lattice, TiedLattice):
        across = across_sentence(lattice.ties, lattice.left)
    return LookBudget(menu.of, _menu_sentence(menu), tuple(found), _lines(lattice), across)


def looks_at(menu: Menu, chosen: Mapping[str, Level | str], codes: Codes | None = None) -> Looks:
    """The looks that a menu gives at a cell with these variables at these levels.

    Args:
        menu: The tables that may be asked for.
        chosen: The levels of the cell by variable; names will do.
        codes: The codes of the cell by variable. Where none is given, the code is meant that has
            the most looks.
    """
    levels = {
        name: menu.variable(name).variable.level(level) if isinstance(level, str) else level
        for name, level in chosen.items()
    }
    if not menu.allows(levels):
        asked = ", ".join(
            pair_text(menu.variable(name).variable, level) for name, level in levels.items()
        )
        raise SpecError(f"The menu has no table by {asked or 'nothing'}, so nobody looks at it.")
    return _looks(Lattice(menu), levels, codes)


def look_budget_of_tables(
    specs: Sequence[TableSpec], *, own: int = OWN, scope: str = ""
) -> tuple[LookBudget, ...]:
    """The look budgets of a list of tables, such as those of a plan: one for each kind of unit.

    A weighted count has the noise of the count of its records: it is a look at that count, and both
    together are one. A sum of amounts is no look at any count.

    Args:
        specs: The tables, each with its totals and levels.
        own: How many variables the cells have besides the area, at most.
        scope: How the budget calls the list; else its number of tables.
    """
    budgets = []
    counts = [spec for spec in specs if spec.amount is None]
    for of in Entity:
        tables = TableSpec.of_records(counts, of)
        if not tables:
            continue
        worst: dict[tuple[str, int], Looks] = {}
        order: dict[str, int] = {"": -1}
        classes = classes_of(tables)
        # Tables without totals may have no cell with so few variables: then the fewest that are.
        least = max(own, min(len(class_.others) for class_ in classes))
        for cell, looks, exact in looks_at_classes(classes, own=least):
            area = "" if cell.area is None else pair_text(*cell.area)
            if cell.area is not None:
                order[area] = len(cell.area[1].codes)
            axes = tuple(pair_text(variable, level) for variable, level in cell.others)
            key = (area, len(axes))
            if key not in worst or looks > worst[key].looks:
                worst[key] = Looks(area, axes, looks, exact)
        rows = sorted(worst, key=lambda key: (not key[0], -order[key[0]], key[0], key[1]))
        key_of_number = "assess.scope.tables_one" if len(tables) == 1 else "assess.scope.tables"
        together = sentence(
            "assess.scope.of",
            scope=scope or sentence(key_of_number, n=len(tables)),
            units=entity_words(of),
        )
        found = tuple(worst[key] for key in rows)
        budgets.append(LookBudget(of, together, found, lines_of_tables(tables)))
    if not budgets:
        raise SpecError("There is no table of counts, so there is no look at a cell.")
    return tuple(budgets)


def _areas(menu: Menu) -> Iterator[tuple[str, Level] | None]:
    """Every level of the geography, the finest first, and no area at all."""
    if menu.geography is not None:
        for level in menu.geography.levels:
            yield menu.geography.variable.name, level
    yield None


def _worst(lattice: Lattice, area: tuple[str, Level] | None, number: int) -> Looks | None:
    """The cell of an area with so many other variables that has the most looks."""
    menu = lattice.menu
    # Further geographies, such as places of work, are variables like any other.
    others = [variable for variable in menu.variables if variable != menu.geography]
    candidates: list[tuple[float, int, dict[str, Level]]] = []
    for variables in itertools.combinations(others, number):
        names = [variable.variable.name for variable in variables]
        for levels in itertools.product(*(variable.levels for variable in variables)):
            chosen = dict(zip(names, levels, strict=True))
            if area is not None:
                chosen = {area[0]: area[1], **chosen}
            if lattice.menu.allows(chosen):
                candidates.append((lattice.at_most(chosen), len(candidates), chosen))
    best: Looks | None = None
    # Without limits on levels the looks are never fewer: the search ends where these cannot win.
    for bound, _, chosen in sorted(
        candidates, key=lambda candidate: (-_rounded(candidate[0]), candidate[1])
    ):
        if best is not None and _rounded(bound) <= _rounded(best.looks):
            break
        looks = _looks(lattice, chosen)
        if best is None or _rounded(looks.looks) > _rounded(best.looks):
            best = looks
    return best


def _rounded(looks: float) -> float:
    """Looks to ten digits: of equal ones, added up in another order, the first is the worst."""
    return float(f"{looks:.10g}")


def _looks(lattice: Lattice, chosen: Mapping[str, Level], codes: Codes | None = None) -> Looks:
    summed = lattice.looks(chosen, codes)
    area, axes = "", []
    for name, level in chosen.items():
        menu_variable = lattice.menu.variable(name)
        text = pair_text(menu_variable.variable, level)
        if not area and menu_variable == lattice.menu.geography:
            area = text
        else:
            axes.append(text)
    return Looks(area, tuple(axes), summed.looks, summed.exact)


def _lines(lattice: Lattice) -> tuple[tuple[int, int], ...]:
    """The sums with the fewest parts that the tables of a menu show."""
    levels = [
        (len(level.codes), variable.variable.name, level)
        for variable in lattice.menu.variables
        for level in variable.levels
        if len(level.codes) > 1 and lattice.menu.allows({variable.variable.name: level})
    ]
    if not levels:
        return ()
    fewest = min(size for size, _, _ in levels)
    found = sum(lattice.lines(name, level) for size, name, level in levels if size == fewest)
    return ((fewest, round(found)),)


def _menu_sentence(menu: Menu) -> str:
    number = len(menu.variables)
    forbidden = len(menu.never_together)
    return sentence(
        "assess.scope.menu_without" if forbidden else "assess.scope.menu",
        units=entity_words(menu.of),
        most=menu.dimensions,
        variables=sentence(f"assess.scope.variable{'' if number == 1 else 's'}", n=number),
        n=forbidden,
    )
