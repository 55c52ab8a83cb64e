"""Microaggregation: amounts become the mean or the median of a small group of similar records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.records.amounts import group_values, optimal_groups, similar_groups
from sdcensus.microdata.continuous.amounts import (
    LEAVE_ZEROS,
    STRATA,
    VARIABLES,
    Amounts,
    amounts_of,
)
from sdcensus.microdata.continuous.facts import amount_facts
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import Changes, Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

TOGETHER, EACH = "together", "each"
MEAN, MEDIAN = "mean", "median"
#: A standard deviation in the whole numbers by which records are compared, and the largest.
_DEVIATION, _LARGEST = 1 << 14, (1 << 24) - 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Microaggregation(Confidential):
    """Gives each record the mean or median amount of a group of at least ``group`` records.

    Nothing is drawn. Groups of several amounts are formed by MDAV on standardised values, inside
    blocks of records that lie near each other; groups of each amount on its own are the best there
    are.

    Attributes:
        variables: The amounts.
        group: The fewest records of a group; the last one has up to twice as many, less one.
        grouping: ``together`` for groups by all amounts, ``each`` for groups of each on its own.
        value: What a group gets: its ``mean`` or its ``median``.
        strata: Strata inside which groups are formed.
        leave_zeros: Whether amounts of 0 stay as they are.
        block: The most records among which groups by all amounts are formed.
    """

    variables: tuple[str, ...]
    group: int = 3
    grouping: str = TOGETHER
    value: str = MEAN
    strata: tuple[str, ...] = ()
    leave_zeros: bool = False
    block: int = 2000

    name: ClassVar[str] = "microaggregation"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Amounts become the mean of a small group of similar records."
    purpose: ClassVar[Purpose | None] = None
    takes: ClassVar[tuple[Parameter, ...]] = (
        VARIABLES,
        Parameter(
            "group",
            ValueKind.WHOLE,
            "The fewest records of a group. Confidential.",
            default=3,
            least=2,
        ),
        Parameter(
            "grouping",
            ValueKind.WORD,
            "Groups by all amounts together (MDAV), or the best groups of each amount on its own.",
            words=(TOGETHER, EACH),
            default=TOGETHER,
        ),
        Parameter(
            "value",
            ValueKind.WORD,
            "What the records of a group get.",
            words=(MEAN, MEDIAN),
            default=MEAN,
        ),
        STRATA,
        LEAVE_ZEROS,
        Parameter(
            "block",
            ValueKind.WHOLE,
            "The most records among which groups by all amounts are formed; larger files are parted"
            " into blocks of neighbours.",
            default=2000,
            least=4,
        ),
    )

    def __repr__(self) -> str:
        return "<Microaggregation: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The amounts of groups among all records."""
        return self.among(records, None, progress)

    def among(self, records: CensusStore, rows: Int64 | None, progress: Progress) -> Changes:
        """The amounts of groups among some records, as a file forms them; of all if ``None``.

        In a file the members of a household are one: a group of five has people of five
        households, since one household's own mean would hide nothing of it.

        Args:
            records: The store.
            rows: The rows of the kind of unit that the amounts are about.
            progress: Told how far it is.
        """
        if self.block < 2 * self.group:
            raise SpecError(
                f"--block {self.block} should be at least twice --group {self.group}:"
                f" {2 * self.group}."
            )
        amounts = amounts_of(records, self.variables, self.strata)
        chosen = np.ones(amounts.stratum.size, dtype=bool)
        homes = None
        if rows is not None:
            chosen[:] = False
            chosen[rows] = True
            homes = homes_of(records, amounts.entity)
        numbers = list(range(len(amounts.variables)))
        turns = [[number] for number in numbers] if self.grouping == EACH else [numbers]
        after = amounts.values.copy()
        small = parted = 0
        for done, turn in enumerate(turns):
            progress("forming groups", done / len(turns))
            part = chosen & amounts.taking_part(turn, leave_zeros=self.leave_zeros)
            for own in amounts.strata(part, turn):
                if own.size < self.group:
                    small += int(own.size)
                    continue
                parted += int(self.grouping == TOGETHER and own.size > self.block)
                groups = self._groups(amounts, own, turn)
                if homes is not None:
                    first = amounts.values[turn[0], own]
                    groups = of_households(groups, first, homes[own], self.group)
                for number in turn:
                    after[number, own] = group_values(
                        amounts.values[number, own], groups, median=self.value == MEDIAN
                    )
        new_amounts, new_codes = amounts.new_values(after)
        notes = []
        if small:
            notes.append(sentence("release_treat.amounts.small", n=small, least=self.group))
        if parted:
            notes.append(sentence("release_treat.amounts.blocks", n=self.block))
        if not new_amounts:
            notes.append(sentence("release_treat.amounts.same"))
        return Changes(
            amounts=new_amounts,
            codes=new_codes,
            facts=(amount_facts(amounts, after, chosen),),
            notes=tuple(notes),
        )

    def _groups(self, amounts: Amounts, rows: Int64, turn: list[int]) -> Int64:
        """The group of each row, by all amounts of a turn."""
        if self.grouping == EACH:
            return optimal_groups(amounts.values[turn[0], rows], self.group)
        points = standardised(amounts.values[turn][:, rows].T)
        groups = np.zeros(rows.size, dtype=np.int64)
        number = 0
        for block in blocks(points, self.block):
            own = similar_groups(points[block], self.group)
            groups[block] = own + number
            number += int(own.max()) + 1
        return groups


def homes_of(records: CensusStore, entity: Entity) -> Int64:
    """The household of each record, by its row; those in none are each one of their own."""
    own = np.arange(records.rows(entity), dtype=np.int64)
    household = Entity.HOUSEHOLD
    if entity is household or household not in records.schema.lineage(entity):
        return own
    homes = holder_rows(records, entity, household).astype(np.int64)
    return np.where(homes == NO_ROW, -1 - own, homes)


def of_households(groups: Int64, amounts: Int64, homes: Int64, least: int) -> Int64:
    """Groups that have people of so many households: smaller ones join the next larger amounts.

    Args:
        groups: The group of each record.
        amounts: The amount by whose means groups are next to each other.
        homes: The household of each record.
        least: The fewest households of a group.
    """
    count = int(groups.max()) + 1
    sizes = np.bincount(groups, minlength=count)
    means = np.bincount(groups, amounts.astype(np.float64), count) / np.maximum(sizes, 1)
    order = np.argsort(means, kind="stable")
    members = np.split(homes[np.argsort(groups, kind="stable")], np.cumsum(sizes)[:-1])
    joined = np.zeros(count, dtype=np.int64)
    number, known = 0, set[int]()
    for group in order.tolist():
        joined[group] = number
        known.update(members[group].tolist())
        if len(known) >= least:
            number, known = number + 1, set()
    if known and number:
        joined[joined == number] = number - 1
    return joined[groups]


def standardised(values: Int64) -> Int64:
    """Whole numbers of which one standard deviation has equally many in each column."""
    floats = values.astype(np.float64)
    deviation = floats.std(axis=0)
    scale = np.divide(_DEVIATION, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    points = np.rint((floats - floats.mean(axis=0)) * scale)
    clipped: Int64 = np.clip(points, -_LARGEST, _LARGEST).astype(np.int64)
    return clipped


def blocks(points: Int64, most: int) -> Iterator[Int64]:
    """Rows of points that lie near each other, at most so many together.

    The column that varies most is parted in the middle, and each half again: blocks have at least
    half of ``most`` rows.
    """
    waiting = [np.arange(points.shape[0])]
    while waiting:
        rows = waiting.pop()
        if rows.size <= most:
            yield rows
            continue
        spread = points[rows].astype(np.float64).var(axis=0)
        order = rows[np.argsort(points[rows, int(spread.argmax())], kind="stable")]
        middle = order.size // 2
        waiting += [np.sort(order[middle:]), np.sort(order[:middle])]
