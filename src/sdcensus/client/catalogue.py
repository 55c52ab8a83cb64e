"""What a table builder offers: populations, variables, levels, codes, areas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sdcensus.client.failures import NotUnderstood


@contextmanager
def understood() -> Iterator[None]:
    """Around the reading of an answer: what is not of the API is one error, and no traceback."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise NotUnderstood(
            "The answer is JSON, but not that of a table builder, or of one of another version."
        ) from None


@dataclass(frozen=True, slots=True)
class Population:
    """What can be counted: persons, households, dwellings.

    Attributes:
        id: How questions name it (``of``).
        label: What it is called.
        variables: How many variables it has.
        most_variables, most_cells: How large a table may be; ``None`` for no limit.
        universes: The names of records in common use, which conditions (``where``) may name.
        measures: What can be asked of amounts (``measure``), such as ``mean(income)``.
    """

    id: str
    label: str
    variables: int
    most_variables: int | None = None
    most_cells: int | None = None
    universes: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeOfLevel:
    """One code of a level, and the code above it as ``level:code``; empty if there is none."""

    code: str
    label: str
    kind: str = "valid"
    parent: str = ""


@dataclass(frozen=True, slots=True)
class LevelOfVariable:
    """A level of detail; ``codes`` only where one variable was asked for."""

    name: str
    size: int
    codes: tuple[CodeOfLevel, ...] = ()


@dataclass(frozen=True, slots=True)
class VariableOffered:
    """A variable that can be asked for.

    Attributes:
        name: How questions name it.
        label, topic, description: What it is.
        geography: Whether its codes are areas.
        filter: Whether conditions may use it.
        levels: Its levels of detail.
        default_level: The one that a question without a level means.
    """

    name: str
    label: str
    topic: str = ""
    description: str = ""
    geography: bool = False
    filter: bool = True
    levels: tuple[LevelOfVariable, ...] = ()
    default_level: str = ""


def populations_of(document: Any) -> tuple[Population, ...]:
    """Read the populations of the answer about data sets."""
    with understood():
        return tuple(
            Population(
                str(population["id"]),
                str(population["label"]),
                int(population["variables"]),
                _limit(population, "variables"),
                _limit(population, "cells"),
                tuple(str(each["name"]) for each in population.get("universes") or ()),
                tuple(
                    str(each["id"])
                    for amount in population.get("amounts") or ()
                    for each in amount["measures"]
                ),
            )
            for population in document["datasets"]
        )


def variables_of(document: Any) -> tuple[VariableOffered, ...]:
    """Read the variables of a population."""
    with understood():
        return tuple(map(variable_of, document["variables"]))


def variable_of(document: Any) -> VariableOffered:
    """Read one variable, with its codes where they are there."""
    with understood():
        return VariableOffered(
            str(document["name"]),
            str(document["label"]),
            str(document.get("topic") or ""),
            str(document.get("description") or ""),
            document.get("kind") == "geography",
            bool(document.get("filter", True)),
            tuple(map(_level, document.get("levels") or ())),
            str(document.get("default_level") or ""),
        )


def areas_of(document: Any) -> tuple[int, tuple[CodeOfLevel, ...]]:
    """Read a page of areas, and how many there are in all."""
    with understood():
        return int(document["total"]), tuple(map(_code, document["areas"]))


def _level(document: Any) -> LevelOfVariable:
    codes = document["codes"]
    if isinstance(codes, int):
        return LevelOfVariable(str(document["name"]), codes)
    return LevelOfVariable(str(document["name"]), len(codes), tuple(map(_code, codes)))


def _code(document: Any) -> CodeOfLevel:
    above = document.get("parent")
    parent = f"{above['level']}:{above['code']}" if isinstance(above, Mapping) else ""
    return CodeOfLevel(
        str(document["code"]), str(document["label"]), str(document.get("kind", "valid")), parent
    )


def _limit(document: Any, name: str) -> int | None:
    value = (document.get("limits") or {}).get(name)
    return None if value is None else int(value)
