"""Walking through the menu of a table builder, as anybody can: one table after the other.

An intruder who collects everything does not ask for one table. Here the tables of a menu are asked
for as the public would get them: from a service in the same program, which is quick and for the
office, or from an address, through the public API.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.policy.policy import Policy, UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.session.answer.service import TableService

__all__ = ["COUNTRY", "Crawl", "MenuWalk", "OfferedAxis", "crawl_menu", "questions_of", "walked"]

#: Variables in a table, where nobody says how many.
DIMENSIONS = 3
#: How a walk calls tables without areas.
COUNTRY = "country"


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuWalk:
    """Which part of a menu is walked through.

    Attributes:
        of: What is counted.
        dimensions: Variables in a table, areas included; fewer where the menu allows fewer.
        areas: Levels of areas, such as ``parish``, of which one stands in every table;
            ``country`` stands for tables without areas. All of them where none is named.
        every_level: Whether each variable is asked for at all its levels, and not at the finest
            alone.
        variables: The other variables; all that are offered where none is named.
        most_tables: Tables that are asked for at most; ``None`` for all.
    """

    of: Entity = Entity.PERSON
    dimensions: int = DIMENSIONS
    areas: tuple[str, ...] | None = None
    every_level: bool = False
    variables: tuple[str, ...] = ()
    most_tables: int | None = None

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise SpecError("A table has one variable or more.")
        if self.most_tables is not None and self.most_tables < 1:
            raise SpecError("Ask for one table or more.")


@dataclass(frozen=True, slots=True, eq=False)
class Crawl:
    """What a walk through a menu brought. Public.

    Attributes:
        tables: The tables that were answered.
        asked: How many were asked for.
        refused: How many were refused.
        left: How many further tables the menu has that were not asked for.
        sentences: What is to be known about it.
    """

    tables: tuple[PublishedTable, ...]
    asked: int
    refused: int
    left: int = 0
    sentences: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Crawl of {len(self.tables)} tables>"


@dataclass(frozen=True, slots=True)
class OfferedAxis:
    """A variable that a menu offers: its levels with how many codes each has, finest first."""

    variable: str
    levels: tuple[tuple[str, int], ...]
    area: bool = False


def walked(
    offered: Sequence[OfferedAxis],
    walk: MenuWalk,
    *,
    most_variables: int | None,
    allowed: Callable[[Mapping[str, str]], bool],
) -> tuple[Question, ...]:
    """The tables of a walk, as questions.

    Args:
        offered: The variables of the menu.
        walk: Which part of it.
        most_variables: The most variables in a table.
        allowed: Whether the menu has a table of these variables at these levels.
    """
    places: dict[str, str] = {}
    others = []
    for axis in offered:
        levels = [level for level, _ in axis.levels]
        # A second geography with the levels of the first is a variable like any other.
        if axis.area and places.keys().isdisjoint(levels):
            places |= dict.fromkeys(levels, axis.variable)
        else:
            others.append(axis)
    for name in walk.variables:
        if name not in {other.variable for other in others}:
            known = [other.variable for other in others]
            raise UnknownName("variable on the menu", name, known=known)
    if walk.variables:
        others = [other for other in others if other.variable in walk.variables]
    wanted = (COUNTRY, *places) if walk.areas is None else walk.areas
    for name in wanted:
        if name != COUNTRY and name not in places:
            raise UnknownName("level of areas on the menu", name, known=(COUNTRY, *places))
    dimensions = min(walk.dimensions, most_variables or walk.dimensions)
    questions = []
    for place in wanted:
        fixed = {} if place == COUNTRY else {places[place]: place}
        for chosen in itertools.combinations(others, min(dimensions - len(fixed), len(others))):
            choices = [
                offered_axis.levels if walk.every_level else offered_axis.levels[:1]
                for offered_axis in chosen
            ]
            for combined in itertools.product(*choices):
                table = {
                    offered_axis.variable: level
                    for offered_axis, (level, _) in zip(chosen, combined, strict=True)
                }
                table |= fixed
                if table and allowed(table):
                    by = tuple(f"{name}@{level}" for name, level in table.items())
                    questions.append(Question(of=walk.of.plural, by=by))
    return tuple(questions)


def questions_of(policy: Policy, walk: MenuWalk) -> tuple[Question, ...]:
    """The tables of a walk through the menu of a policy; its rules on code lists hold for all."""
    menu = menu_of(policy, policy.schema, of=walk.of, role=UserRole.PUBLIC)
    areas = {area.name for area in policy.areas}
    offered = [
        OfferedAxis(
            variable.variable.name,
            tuple((level.name, len(level.codes)) for level in variable.levels),
            variable.variable.name in areas,
        )
        for variable in sorted(menu.variables, key=lambda each: not each.variable.main)
    ]
    levels = {
        (variable.variable.name, level.name): level
        for variable in menu.variables
        for level in variable.levels
    }

    def allowed(table: Mapping[str, str]) -> bool:
        return menu.allows({name: levels[name, level] for name, level in table.items()})

    return walked(offered, walk, most_variables=menu.dimensions, allowed=allowed)


def crawl_menu(
    service: TableService, walk: MenuWalk | None = None, *, progress: Progress = no_progress
) -> Crawl:
    """Ask a service for every table of its menu, as the public would get it.

    Args:
        service: The service; answers are those of anybody who is not logged in.
        walk: Which part of the menu.
        progress: Told how far it is.
    """
    chosen = walk or MenuWalk()
    questions = questions_of(service.policy, chosen)
    asked = questions[: chosen.most_tables]
    tables: list[PublishedTable] = []
    refused = 0
    for at, question in enumerate(asked):
        if at % 16 == 0:
            progress("asking for tables", at / len(asked))
        answer = service.answer(question)
        table = None if answer.table is None else published_answer(answer.table)
        if table is None:
            refused += 1
        else:
            tables.append(table)
    left = len(questions) - len(asked)
    return Crawl(tuple(tables), len(asked), refused, left, told(len(asked), refused, left))


def told(asked: int, refused: int, left: int) -> tuple[str, ...]:
    """What is to be known about a walk: tables that were not answered or not asked for."""
    said = []
    if refused:
        said.append(f"{refused:,} of {asked:,} tables that were asked for were not answered.")
    if left:
        said.append(f"The menu has {left:,} further tables of this kind that were not asked for.")
    return tuple(said)


def published_answer(delivered: DeliveredTable) -> PublishedTable | None:
    """An answer as a published table; ``None`` for sums, which have no cells of their own."""
    if delivered.spec is None or delivered.decimals:
        return None
    flags = None
    if delivered.marks is not None:
        flags = np.where(delivered.numbered, np.uint8(Mark.NONE), delivered.marks)
    table = Table(delivered.spec, delivered.values.copy(), flags)
    return PublishedTable(delivered.name, table, delivered.provenance)
