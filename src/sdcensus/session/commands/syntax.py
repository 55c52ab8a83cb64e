"""What a program says, as a tree. Two trees are equal if they say the same, wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from sdcensus.model.spec.predicate import Condition, Name, Reference, Value


@dataclass(frozen=True, slots=True)
class Label:
    """A text that readers see."""

    text: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number that says how something is shown."""

    value: int
    at: int = field(default=0, compare=False)


# ---------------------------------------------------------------------------------- categories


@dataclass(frozen=True, slots=True)
class Span:
    """Numbers from one to another, both included; ``None`` for the lowest or highest there is."""

    low: Value | None
    high: Value | None
    at: int = field(default=0, compare=False)


class RestKind(StrEnum):
    """Codes that are not named one by one."""

    ELSE = "ELSE"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True)
class RestCategory:
    """Every code that is left, or every code that says that there is no value."""

    kind: RestKind
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class GroupDefinition:
    """One category of a recode: ``(0-14 = 1 "Children")``."""

    items: tuple[Value | Span | RestCategory, ...]
    code: Value
    label: Label | None = None
    at: int = field(default=0, compare=False)


# ---------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Rundef:
    """What holds for every table of the program."""

    name: Name
    selection: Condition | None = None
    universe: Condition | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Define:
    """A name for computed categories."""

    target: Reference
    source: Reference
    groups: tuple[GroupDefinition, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CountStatement:
    """Counts: FREQUENCY of one variable, CROSSTABS of several, COUNT of units.

    Attributes:
        unit: What is counted, where it is named.
        of: The variable of the rows, except for COUNT.
        by: The others.
    """

    word: Literal["FREQUENCY", "CROSSTABS", "COUNT"]
    unit: Name | None = None
    of: Reference | None = None
    by: tuple[Reference, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Indicator:
    """Figures that are computed from published counts.

    Attributes:
        kind: What is computed, by the name that plans know.
        numerator, denominator: Conditions; the second may be a kind of unit: all of them.
        of: The variable, for kinds that have one.
        by: For which groups.
    """

    kind: Name
    numerator: Condition | None = None
    denominator: Condition | Name | None = None
    of: Reference | None = None
    by: tuple[Reference, ...] = ()
    at: int = field(default=0, compare=False)


class PercentOf(StrEnum):
    """What percentages are of."""

    ROW = "ROW"
    COLUMN = "COLUMN"
    TOTAL = "TOTAL"


@dataclass(frozen=True, slots=True)
class Percent:
    """Percentages in the place of counts."""

    of: PercentOf
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class TableStatement:
    """One table and everything that is said about it."""

    name: Name
    analysis: CountStatement | Indicator
    title: Label | None = None
    where: Condition | None = None
    areas: Reference | None = None
    percent: Percent | None = None
    per: Number | None = None
    decimals: Number | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Script:
    """A whole program, before anything in it is looked up."""

    rundef: Rundef | None = None
    statements: tuple[Define | TableStatement, ...] = ()

    @property
    def tables(self) -> tuple[TableStatement, ...]:
        """Its tables."""
        return tuple(
            statement for statement in self.statements if isinstance(statement, TableStatement)
        )
