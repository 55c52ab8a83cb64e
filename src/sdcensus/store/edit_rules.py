"""The edit rules of a schema over encoded records: who breaks which, alone or with another record.

A rule about one record is a condition. A rule about two is a condition of each, within what holds
both, and perhaps the least or the largest gap between numbers that they have. Codes stand for
numbers from a lower to an upper one: a gap breaks a rule only if it does so for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.edit_rules import UNKNOWN, EditRule, edit_rules
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.universe import Universe
from sdcensus.store.census_store import CensusStore, inside

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Breaches(Confidential):
    """The records that break a rule.

    Attributes:
        rows: Their rows.
        others: The row of the second record of each; ``None`` for a rule about one.
    """

    rows: Int64
    others: Int64 | None = None

    def __repr__(self) -> str:
        return "<Breaches: confidential>"


def impossible_rows(
    store: CensusStore, progress: Progress = no_progress
) -> Iterator[tuple[EditRule, Int64]]:
    """Each rule of the schema with the records that break it, none if all is well."""
    rules = store.schema.kept(edit_rules)
    for at, rule in enumerate(rules):
        progress("checking combinations", at / len(rules))
        yield rule, breaches(rule, store).rows


def breaches(rule: EditRule, store: CensusStore, among: Mask | None = None) -> Breaches:
    """Who breaks a rule, and with whom.

    Args:
        rule: The rule.
        store: The records.
        among: The records to look at; all of them when nothing is said.
    """
    rows = rows_inside(rule.when, store, rule.entity, among)
    second = rule.second
    if second is None:
        return Breaches(rows)
    members = Members(rule, store, among)
    return members.breaches(rows)


def rows_inside(
    universe: Universe, store: CensusStore, entity: Entity, among: Mask | None = None
) -> Int64:
    """The rows of the records of a universe, of all or among those of a mask."""
    columns = [store.column(entity, variable) for variable in universe.variables]
    total = store.rows(entity)
    blocks = [np.zeros(0, np.int64)]
    for start in range(0, total, _BLOCK):
        block = slice(start, min(start + _BLOCK, total))
        if among is None:
            chosen = inside(universe, columns, block, block.stop - start)
            blocks.append(np.flatnonzero(chosen) + start)
            continue
        rows = np.flatnonzero(among[block]) + start
        if rows.size:
            blocks.append(rows[inside(universe, columns, rows, rows.size)])
    return np.concatenate(blocks)


class Members(Confidential):
    """The records that a rule may set beside a first one, found by what holds them."""

    __slots__ = ("_gap", "_holders", "_second", "holder", "rows")

    def __init__(self, rule: EditRule, store: CensusStore, among: Mask | None = None) -> None:
        second = rule.second
        assert second is not None
        self._second = second
        self._holders = store.holder_rows(rule.entity, second.within)
        self._gap = None if second.gap is None else store.column(rule.entity, second.gap.variable)
        rows = rows_inside(second.other, store, rule.entity, among)
        holder = self._holders[rows]
        held = holder != NO_ROW
        #: Their rows, sorted by what holds them, and the rows of that.
        self.holder, order = _sorted(holder[held].astype(np.uint64))
        self.rows: Int64 = rows[held][order]

    def __repr__(self) -> str:
        return "<Members: confidential>"

    def holders(self, rows: Int64) -> npt.NDArray[np.uint64]:
        """What holds some records."""
        return np.asarray(self._holders[rows]).astype(np.uint64)

    def breaches(self, rows: Int64) -> Breaches:
        """Which of some records break the rule, and with whom: one other record for each."""
        holder = self.holders(rows)
        rows, holder = rows[holder != NO_ROW], holder[holder != NO_ROW]
        second = self._second
        if second.gap is None:
            return self._beside(rows, holder, self.rows, self.holder)
        lower, upper = second.gap.lower, second.gap.upper
        sides = []
        if second.less_than is not None:
            sides.append(self._beyond(rows, holder, upper, lower, second.less_than))
        if second.more_than is not None:
            # The same with numbers turned round: the gap is more than so many.
            numbers = _turned(lower), _turned(upper)
            sides.append(self._beyond(rows, holder, *numbers, -second.more_than))
        broken = np.concatenate([side.rows for side in sides])
        others = np.concatenate([side.others for side in sides if side.others is not None])
        broken, first = np.unique(broken, return_index=True)
        return Breaches(broken, others[first])

    def _beyond(
        self, rows: Int64, holder: Integers, largest: Int64, smallest: Int64, limit: int
    ) -> Breaches:
        """Records beside which another has a gap below ``limit``, however their codes are read."""
        assert self._gap is not None
        codes = self._gap[self.rows]
        known = largest[codes] != UNKNOWN
        others, theirs = self.rows[known], self.holder[known]
        # Of all others beside a record the one with the smallest number decides.
        values, ranks = np.unique(largest, return_inverse=True)
        bits = max(int(values.size - 1).bit_length(), 1)
        keys = (theirs << np.uint64(bits)) | ranks.reshape(-1)[codes[known]].astype(np.uint64)
        keys, order = _sorted(keys)
        others = others[order]
        own = smallest[self._gap[rows]]
        rows, holder, own = rows[own != UNKNOWN], holder[own != UNKNOWN], own[own != UNKNOWN]
        beside = self._beside(rows, holder, others, keys >> np.uint64(bits))
        assert beside.others is not None
        at = np.searchsorted(rows, beside.rows)
        gap = largest[self._gap[beside.others]] - own[at]
        return Breaches(beside.rows[gap < limit], beside.others[gap < limit])

    @staticmethod
    def _beside(rows: Int64, holder: Integers, others: Int64, theirs: Integers) -> Breaches:
        """For each record the first other beside it, where there is one that is not itself."""
        at = np.searchsorted(theirs, holder)
        ended = np.append(others, -1)
        at = np.where(ended[at] == rows, at + 1, at)
        at = np.minimum(at, others.size)
        exists = np.append(theirs, np.uint64(1 << 63))[at] == holder
        return Breaches(rows[exists], ended[at[exists]])

    def pairs(self, rows: Int64) -> Iterator[tuple[Int64, Int64]]:
        """Every other record beside each of some records, in blocks: their rows and its rows."""
        holder = self.holders(rows)
        start = np.searchsorted(self.holder, holder)
        count = np.searchsorted(self.holder, holder, side="right") - start
        block = np.cumsum(count) // _BLOCK
        for number in np.unique(block).tolist():
            chosen = np.flatnonzero(block == number)
            sizes = count[chosen]
            first = np.repeat(rows[chosen], sizes)
            offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            second = self.rows[np.repeat(start[chosen], sizes) + offsets]
            yield first[first != second], second[first != second]

    def gap_broken(self, first: Int64, second: Int64) -> Mask:
        """For pairs of records, whether the gap between them breaks the rule."""
        rule = self._second
        if rule.gap is None or self._gap is None:
            return np.ones(first.size, dtype=bool)
        own, other = self._gap[first], self._gap[second]
        lower, upper = rule.gap.lower, rule.gap.upper
        broken = np.zeros(first.size, dtype=bool)
        if rule.less_than is not None:
            known = (upper[other] != UNKNOWN) & (lower[own] != UNKNOWN)
            broken |= known & (upper[other] - lower[own] < rule.less_than)
        if rule.more_than is not None:
            known = (lower[other] != UNKNOWN) & (upper[own] != UNKNOWN)
            broken |= known & (lower[other] - upper[own] > rule.more_than)
        return broken


def _turned(numbers: Int64) -> Int64:
    return np.where(numbers == UNKNOWN, UNKNOWN, -numbers)


def _sorted(keys: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint64], Integers]:
    return sort_cells(keys, largest=int(keys.max(initial=0)))
