"""Walking through the menu of a table builder, as anybody can: one table after the other.

An intruder who collects everything does not ask for one table. Here the tables of a menu are asked
for as the public would get them: from a service in the same program, which is quick and for the
office, or from an address, through the public API.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.delivery import DeliveredTable
from sdcensus.model.entity import Entity
from sdcensus.model.policy import Policy, UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.publication import PublishedTable
from sdcensus.model.question import Question
from sdcensus.model.table import Flag, Table
from sdcensus.session.answering.service import TableService

__all__ = ["Crawl", "MenuWalk", "crawl_menu", "questions_of"]

#: Variables in a table, where nobody says how many.
DIMENSIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuWalk:
    """Which part of a menu is walked through.

    Attributes:
        of: What is counted.
        dimensions: Variables in a table, areas included; fewer where the menu allows fewer.
        areas: Levels of areas that stand in every table, such as ``parish``, one after the other;
            an empty text stands for tables of the whole country. Every level that is offered
            where none is named, and the country.
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
class _Axis:
    """An axis that can be asked for: its words, how many codes it has, and of which variable."""

    variable: str
    text: str
    codes: int


def questions_of(policy: Policy, walk: MenuWalk) -> tuple[Question, ...]:
    """The tables of a walk, as questions; the menu's rules on code lists hold for all of them."""
    menu = menu_of(policy, policy.schema, of=walk.of, role=UserRole.PUBLIC)
    areas = {one.name for one in policy.areas}
    named = {one.variable.name: one for one in menu.variables}
    for name in walk.variables:
        if name not in named or name in areas:
            known = [one for one in named if one not in areas]
            raise UnknownName("variable on the menu", name, known=known)
    others = [
        one
        for name, one in named.items()
        if name not in areas and (not walk.variables or name in walk.variables)
    ]
    places = {
        level.name: (one.variable, level)
        for one in menu.variables
        if one.variable.name in areas
        for level in one.levels
    }
    wanted = ("", *places) if walk.areas is None else walk.areas
    for name in wanted:
        if name and name not in places:
            raise UnknownName("level of areas on the menu", name, known=places)
    dimensions = min(walk.dimensions, menu.dimensions)
    questions = []
    for place in wanted:
        free = min(dimensions - (1 if place else 0), len(others))
        for chosen in itertools.combinations(others, free):
            levels = [one.levels if walk.every_level else one.levels[:1] for one in chosen]
            for finest in itertools.product(*levels):
                table = {
                    one.variable.name: level for one, level in zip(chosen, finest, strict=True)
                }
                if place:
                    table[places[place][0].name] = places[place][1]
                if not table or not menu.allows(table):
                    continue
                by = tuple(f"{name}@{level.name}" for name, level in table.items())
                questions.append(Question(of=walk.of.plural, by=by))
    return tuple(questions)


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
    return Crawl(tuple(tables), len(asked), refused, len(questions) - len(asked))


def published_answer(delivered: DeliveredTable) -> PublishedTable | None:
    """An answer as a published table; ``None`` for sums, which have no cells of their own."""
    if delivered.spec is None or delivered.decimals:
        return None
    flags = None
    if delivered.marks is not None:
        flags = np.where(delivered.numbered, Flag.PUBLISHED, Flag.WITHHELD).astype(np.uint8)
    table = Table(delivered.spec, delivered.values.copy(), flags)
    return PublishedTable(delivered.name, table, delivered.provenance)
