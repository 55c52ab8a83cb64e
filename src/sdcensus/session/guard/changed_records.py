"""Which records differ between two stores, and how many of them stand behind a cell. Confidential.

Records are the same if the digests of their identities are. For a table only the variables count
that it shows or has a condition on: a record has changed for it if it was added or removed, or
stands in other cells than before; for a sum also if its amount is another one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.layout import mixed_radix, positions_on
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.guard.changed_amounts import AmountChanges, contributions, whole_column
from sdcensus.store.census_store import CensusStore, Column

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[Any]

#: Records that are looked at together: what is known of them takes some hundred bytes each.
_CHUNK = 200_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Matched(Confidential):
    """Rows of both stores that are about the same units, and those of one store only."""

    before: Int64
    after: Int64
    removed: Int64
    added: Int64

    def __repr__(self) -> str:
        return "<_Matched: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChangedUnits(Confidential):
    """The units that a table could count otherwise than before, with their codes.

    Attributes:
        before, after: For each variable of the table, the leaf of each unit; by position in the
            list of codes of the new store, and -1 for codes that it lacks.
        was, is_now: Whether the unit was in the old store, and is in the new one.
        heavier: Whether its weight has changed.
        gave, gives: What the unit contributed to a sum, and does now; empty where records count.
    """

    before: tuple[Int64, ...]
    after: tuple[Int64, ...]
    was: Mask
    is_now: Mask
    heavier: Mask
    gave: Float64
    gives: Float64

    def __repr__(self) -> str:
        return "<ChangedUnits: confidential>"

    def __len__(self) -> int:
        return int(self.was.size)

    def part(self, rows: slice) -> ChangedUnits:
        """Some of the units."""
        return ChangedUnits(
            tuple(column[rows] for column in self.before),
            tuple(column[rows] for column in self.after),
            *(self.was[rows], self.is_now[rows], self.heavier[rows]),
            *(self.gave[rows], self.gives[rows]),
        )


class ChangedRecords(Confidential):
    """The difference of two stores of one census.

    Args:
        old: The store from which numbers were published.
        new: The store from which they would be published now.

    Raises:
        StoreError: The identities of records were made with different secrets or by different
            rules, so that nobody can tell which are the same.
    """

    __slots__ = ("_changed", "_guard", "_matches", "new", "old")

    def __init__(self, old: CensusStore, new: CensusStore) -> None:
        self.old, self.new = old, new
        self._matches: dict[Entity, _Matched] = {}
        self._changed: dict[tuple[Entity, str], Int64] = {}
        self._guard = Lock()
        if old.manifest.secret_id != new.manifest.secret_id:
            raise StoreError(
                "The two stores were loaded with different secrets, so it cannot be told which"
                " records are the same."
            )
        if _identity_rules(old) != _identity_rules(new):
            raise StoreError(
                "The two schemas identify records in different ways, so it cannot be told which"
                " records are the same."
            )

    def __repr__(self) -> str:
        return "<ChangedRecords: confidential>"

    def units(self, spec: TableSpec) -> ChangedUnits:
        """The units that stand in other cells than before, or with another weight or amount."""
        return self.units_by(
            spec.of,
            _variables(spec),
            conditions=spec.universe.variables,
            weighted=spec.measure.is_weighted,
            amount="" if spec.amount is None else spec.amount.name,
        )

    def units_by(
        self,
        of: Entity,
        variables: Sequence[Variable],
        *,
        conditions: Sequence[Variable] = (),
        weighted: bool = False,
        amount: str = "",
    ) -> ChangedUnits:
        """The units that were added or removed, or differ in any of these variables.

        Args:
            of: What is counted.
            variables: Of the new schema.
            conditions: Those of which every old code must be known in the new store.
            weighted: Whether another weight is a difference too.
            amount: What is added up; another amount is a difference too.
        """
        matched = self._match(of)
        differ = [self._differing(of, variable, matched) for variable in variables]
        heavier = np.zeros(0, dtype=np.int64)
        if weighted:
            heavier = self._differing_weights(of, matched)
        was_given = is_given = np.zeros(0)
        if amount:
            was_given = contributions(self.old, of, amount, weighted=weighted)
            is_given = contributions(self.new, of, amount, weighted=weighted)
            differ.append(
                np.flatnonzero(was_given[matched.before] != is_given[matched.after]),
            )
        both = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *differ, heavier]))
        rows_before = np.concatenate([matched.before[both], matched.removed])
        rows_after = np.concatenate([matched.after[both], matched.added])
        size, gone, new = both.size, matched.removed.size, matched.added.size
        before, after = [], []
        for variable in variables:
            old = self._old_leaves(of, variable, rows_before)
            if variable in conditions and (old < 0).any():
                raise _unknown_codes(variable)
            now = _leaves(self.new.column(of, variable), rows_after)
            blank = np.zeros(max(gone, new), dtype=np.int64)
            before.append(np.concatenate([old, blank[:new]]))
            after.append(np.concatenate([now[:size], blank[:gone], now[size:]]))
        was = np.concatenate([np.ones(size + gone, dtype=bool), np.zeros(new, dtype=bool)])
        is_now = np.ones(size + gone + new, dtype=bool)
        is_now[size : size + gone] = False
        moved_weight = np.zeros(size + gone + new, dtype=bool)
        moved_weight[:size] = np.isin(both, heavier)
        gave, gives = (np.zeros(size + gone + new if amount else 0) for _ in range(2))
        if amount:
            gave[was], gives[is_now] = was_given[rows_before], is_given[rows_after]
        return ChangedUnits(tuple(before), tuple(after), was, is_now, moved_weight, gave, gives)

    def behind(self, spec: TableSpec, cells: Numbers, *, enough: int | None = None) -> Int64:
        """For each of some cells, how many records are in it now or were before, but not both.

        Of a sum, changed amounts count too, and a number of changes is that of equally large ones:
        all of them together by the largest. A small change beside a large one hides nothing.

        Args:
            spec: The table, of the new schema.
            cells: The numbers of the cells, ascending.
            enough: Stop when every cell has so many; counts are then lower bounds.
        """
        counts = np.zeros(cells.size, dtype=np.int64)
        amounts = AmountChanges.none(cells.size) if spec.measure.is_sum else None
        if not cells.size:
            return counts
        units = self.units(spec)
        blocks = list(_block_combinations(spec, cells))
        for start in range(0, len(units), _CHUNK):
            rows = slice(start, min(start + _CHUNK, len(units)))
            _count(spec, units.part(rows), blocks, cells, counts, amounts)
            # More changes of a sum can make the largest of them stand out.
            if amounts is None and enough is not None and (counts >= enough).all():
                break
        return counts if amounts is None else amounts.alike()

    # --------------------------------------------------------------------------- comparing

    def _match(self, entity: Entity) -> _Matched:
        with self._guard:
            if entity not in self._matches:
                self._matches[entity] = _matched(self.old.digests(entity), self.new.digests(entity))
            return self._matches[entity]

    def _differing(self, entity: Entity, variable: Variable, matched: _Matched) -> Int64:
        """The places among matched units at which a variable has changed."""
        with self._guard:
            known = self._changed.get((entity, variable.name))
        if known is None:
            places = self._code_places(variable)
            old = self.old.column(entity, self.old.schema.variable(variable.name))
            new = self.new.column(entity, variable)
            old_whole = places[whole_column(old, self.old.rows(entity))]
            new_whole = whole_column(new, self.new.rows(entity))
            known = np.flatnonzero(old_whole[matched.before] != new_whole[matched.after])
            with self._guard:
                self._changed[entity, variable.name] = known
        return known

    def _differing_weights(self, entity: Entity, matched: _Matched) -> Int64:
        weights = [store.schema.weight(entity) for store in (self.old, self.new)]
        if weights[0] is None or weights[1] is None:
            return np.arange(matched.before.size, dtype=np.int64)
        old = whole_column(self.old.values(entity, weights[0]), self.old.rows(entity))
        new = whole_column(self.new.values(entity, weights[1]), self.new.rows(entity))
        return np.flatnonzero(old[matched.before] != new[matched.after])

    def _old_leaves(self, entity: Entity, variable: Variable, rows: Int64) -> Int64:
        own = self.old.schema.variable(variable.name)
        return self._code_places(variable)[_leaves(self.old.column(entity, own), rows)]

    def _code_places(self, variable: Variable) -> Int64:
        """For each leaf of the old store its place among those of the new one; -1 for none."""
        try:
            own = self.old.schema.variable(variable.name)
        except SpecError:
            raise StoreError(
                f"The store from which was published has no variable {variable.name!r}, so changed"
                " records cannot be counted for tables that use it."
            ) from None
        places = {code.code: at for at, code in enumerate(variable.codes)}
        return np.array([places.get(code.code, -1) for code in own.codes], dtype=np.int64)


def _identity_rules(store: CensusStore) -> tuple[object, ...]:
    schema = store.schema
    return (
        schema.census.code,
        schema.keys.scope,
        tuple((entity.entity, entity.id) for entity in schema.entities),
    )


def _unknown_codes(variable: Variable) -> StoreError:
    return StoreError(
        f"The store from which was published has codes of {variable.name!r} that the new one lacks,"
        " so changed records cannot be counted for tables with a condition on it."
    )


def _variables(spec: TableSpec) -> tuple[Variable, ...]:
    """The variables of a table: those of its axes, then those of its condition."""
    return (*(axis.variable for axis in spec.axes), *spec.universe.variables)


def _matched(old: Integers, new: Integers) -> _Matched:
    """Find the same digests on both sides; equal ones are told apart by their order."""
    first, second = np.argsort(old, kind="stable"), np.argsort(new, kind="stable")
    mine, theirs = _numbered(old[first]), _numbered(new[second])
    digests = np.concatenate([mine[0], theirs[0]])
    repeats = np.concatenate([mine[1], theirs[1]])
    order = np.lexsort((repeats, digests)) if repeats.any() else np.argsort(digests, kind="stable")
    digests, repeats = digests[order], repeats[order]
    pair = np.flatnonzero((digests[1:] == digests[:-1]) & (repeats[1:] == repeats[:-1]))
    before = first[order[pair]]
    after = second[order[pair + 1] - old.size]
    gone = np.ones(old.size, dtype=bool)
    gone[before] = False
    fresh = np.ones(new.size, dtype=bool)
    fresh[after] = False
    return _Matched(before, after, np.flatnonzero(gone), np.flatnonzero(fresh))


def _numbered(digests: Integers) -> tuple[Integers, Int64]:
    """Sorted digests, and for each how many equal ones stand before it."""
    starts = np.ones(digests.size, dtype=bool)
    starts[1:] = digests[1:] != digests[:-1]
    at = np.arange(digests.size, dtype=np.int64)
    return digests, at - np.maximum.accumulate(np.where(starts, at, 0))


def _leaves(column: Column, rows: Int64) -> Int64:
    """The leaves of some records."""
    if column.whole is not None:
        return column.whole[rows].astype(np.int64)
    size = int(rows.max()) + 1 if rows.size else 0
    return whole_column(column, size)[rows].astype(np.int64)


# ------------------------------------------------------------------------------- counting

#: For each axis, the first position of a level and the code of every leaf at it.
_Blocks = Sequence[tuple[int, Int64]]


def _block_combinations(spec: TableSpec, cells: Numbers) -> Iterator[_Blocks]:
    """The combinations of levels in which any of these cells lies."""
    every: list[list[tuple[int, Int64]]] = []
    wanted = np.zeros(cells.size, dtype=np.int64)
    for at, axis in enumerate(spec.axes):
        leaves = len(axis.variable.codes)
        own = [
            (
                block.start,
                np.zeros(leaves, dtype=np.int64)
                if block.level == TOTAL
                else axis.variable.level(block.level).group_array,
            )
            for block in axis.blocks
        ]
        starts = np.array([start for start, _ in own])
        level = np.searchsorted(starts, positions_on(spec.shape, at, cells), side="right") - 1
        wanted = wanted * len(own) + level
        every.append(own)
    needed = set(np.unique(wanted).tolist())
    for number, blocks in enumerate(itertools.product(*every)):
        if number in needed:
            yield blocks


def _count(
    spec: TableSpec,
    units: ChangedUnits,
    combinations: Sequence[_Blocks],
    cells: Numbers,
    counts: Int64,
    amounts: AmountChanges | None,
) -> None:
    """Add to each cell the units of which exactly one of before and after is in it."""
    axes = len(spec.axes)
    was = units.was & _inside(spec, units.before[axes:], len(units))
    now = units.is_now & _inside(spec, units.after[axes:], len(units))
    weights = mixed_radix(spec.shape)
    for blocks in combinations:
        first = _cells(units.before[:axes], blocks, weights, len(units))
        second = _cells(units.after[:axes], blocks, weights, len(units))
        inside = was & _listed(units.before[:axes], blocks, len(units))
        if amounts is not None:
            remains = inside & now & (first == second)
            change = np.where(remains, units.gives - units.gave, units.gave)
            amounts.add(cells, first[inside], change[inside])
            amounts.add(cells, second[now & ~remains], units.gives[now & ~remains])
            continue
        moved = (inside != now) | (first != second) | units.heavier
        _add(first[inside & moved], cells, counts)
        # A unit that stays in a cell with another weight is one changed record, not two.
        stays = inside & (first == second)
        _add(second[now & moved & ~stays], cells, counts)


def _inside(spec: TableSpec, leaves: Sequence[Int64], size: int) -> Mask:
    universe = spec.universe
    if not universe.variables:
        return np.full(size, bool(universe.truth))
    classes = tuple(kinds[leaf] for kinds, leaf in zip(universe.classes, leaves, strict=True))
    return np.asarray(universe.truth[classes])


def _listed(leaves: Sequence[Int64], blocks: _Blocks, size: int) -> Mask:
    """Whether units stand in a cell: those with a code that is gone are in totals only."""
    listed = np.ones(size, dtype=bool)
    for leaf, (_, group) in zip(leaves, blocks, strict=True):
        if group.any():
            listed &= leaf >= 0
    return listed


def _cells(leaves: Sequence[Int64], blocks: _Blocks, weights: Sequence[int], size: int) -> Numbers:
    numbers = np.zeros(size, dtype=np.uint64)
    for leaf, (start, group), weight in zip(leaves, blocks, weights, strict=True):
        numbers += ((start + group) * weight).astype(np.uint64)[leaf]
    return numbers


def _add(found: Numbers, cells: Numbers, counts: Int64) -> None:
    at = np.searchsorted(cells, found)
    inside = at < cells.size
    at, found = at[inside], found[inside]
    counts += np.bincount(at[cells[at] == found], minlength=cells.size)
