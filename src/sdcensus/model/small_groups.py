"""Which cells a sparse table does not show, where small groups are not broken down. Public.

A sparse table lists its cells that are not published as 0, and under the rule of the smallest
group a cell that is absent can be one that is not shown. It is told from an empty one by what
holds it: the cells of the table itself, and small groups that the table does not show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.ancestors import Ancestry, AxisAbove, ancestry_of, codes_above
from sdcensus.model.layout import mixed_radix, positions_on, values_at
from sdcensus.model.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Pairs = tuple[Int64, Int64]

#: Of a cell: it or one that holds it is small; one that holds it, and more, is.
_SMALL, _SMALL_ABOVE = np.uint8(1), np.uint8(2)
#: Groups outside a table that it can name.
MOST_GROUPS = 2_000_000
#: Cells that are looked at together.
_AT_A_TIME = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class SmallGroups:
    """The rule of the smallest group in a sparse table.

    Attributes:
        smallest: Cells of the table that are published below it are not broken down.
        groups: For each axis, positions that lie in a code which the table need not show.
        cells: Groups outside the table that are published below ``smallest``, 0 included: for
            each of them, and each axis, which of ``groups`` it is. No cell in them is shown.
    """

    smallest: int
    groups: tuple[tuple[tuple[int, ...], ...], ...]
    cells: Int64

    def __post_init__(self) -> None:
        sizes = [len(one) for one in self.groups]
        if self.cells.ndim != 2 or self.cells.shape[1] != len(sizes):
            raise SpecError("A small group outside a table has one code for each of its axes.")
        if (self.cells < 0).any() or (self.cells >= np.array(sizes, dtype=np.int64)).any():
            raise SpecError("A small group outside a table has codes that are named.")
        self.cells.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SmallGroups):
            return NotImplemented
        mine, theirs = (self.smallest, self.groups), (other.smallest, other.groups)
        return mine == theirs and np.array_equal(self.cells, other.cells)

    __hash__ = None  # type: ignore[assignment]  # compared by content, which is large

    def hidden(self, spec: TableSpec, held: Numbers, published: Int64, wanted: Numbers) -> Mask:
        """Which cells of a sparse table are not shown.

        Args:
            spec: The table.
            held, published: The cells that it lists, ascending, and their values.
            wanted: The cells that are asked for, by number.
        """
        found = np.zeros(wanted.size, dtype=bool)
        absent = np.flatnonzero(values_at(held, published, wanted) == 0)
        within = [_within(one) for one in ancestry_of(spec).axes[: len(spec.axes)]]
        for first in range(0, absent.size, _AT_A_TIME):
            rows = absent[first : first + _AT_A_TIME]
            cells = wanted[rows]
            inside = self._in_small_groups(spec, cells)
            # What is listed at the smallest group or more has nothing small above it. So it is
            # enough to look at the cells that differ from this one along a single axis.
            for row, above in _parents(spec.shape, cells, within):
                inside[row[values_at(held, published, above) < self.smallest]] = True
            found[rows] = inside
        return found

    def _in_small_groups(self, spec: TableSpec, cells: Numbers) -> Mask:
        found = np.zeros(cells.size, dtype=bool)
        if not self.cells.shape[0]:
            return found
        row = np.arange(cells.size)
        code = np.zeros(cells.size, dtype=np.uint64)
        codes = np.zeros(self.cells.shape[0], dtype=np.uint64)
        for at, groups in enumerate(self.groups):
            owner = np.array([one for group in groups for one in group], dtype=np.int64)
            name = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
            start, names = _listed(len(spec.axes[at].codes), (owner, name))
            repeated, group = _spread(positions_on(spec.shape, at, cells[row]), start, names)
            row = row[repeated]
            size = np.uint64(len(groups))
            code = code[repeated] * size + group.astype(np.uint64)
            codes = codes * size + self.cells[:, at].astype(np.uint64)
        found[row[np.isin(code, codes)]] = True
        return found


@dataclass(frozen=True, slots=True, eq=False)
class NonZeroCells:
    """The cells of a table that are not published as 0: numbers, ascending, and values."""

    numbers: Numbers
    published: Int64

    def chosen(self, which: Mask) -> NonZeroCells:
        """Some of them."""
        return NonZeroCells(self.numbers[which], self.published[which])


class SparseGroups:
    """What the rule of the smallest group shows of a table too large to be held.

    Args:
        ancestry: The table, and how its ancestors are counted.
        cells: What is published of the table with its ancestors.
        smallest: The smallest group.
        unconditioned: The same without the condition, where the ancestry asks for it.

    Attributes:
        shown: The cells of the table that are shown and not published as 0.
    """

    __slots__ = ("_above", "_ancestry", "_kept", "_large", "_small", "_whole", "shown", "smallest")

    def __init__(
        self,
        ancestry: Ancestry,
        cells: NonZeroCells,
        smallest: int,
        unconditioned: NonZeroCells | None = None,
    ) -> None:
        self._ancestry, self.smallest = ancestry, smallest
        shape = ancestry.extended.shape
        axes = [_every(one) for one in ancestry.axes]
        useful = [one for one, _ in axes]
        self._above = [pairs for _, pairs in axes]
        cells = cells.chosen(_on(shape, cells.numbers, useful))
        hidden = (_states(shape, cells, self._above, smallest) & _SMALL_ABOVE) != 0
        #: Numbers without the condition that have nothing small above them and are not small.
        self._whole: Numbers | None = None
        #: Small groups that the table does not show.
        self._small: list[Numbers] = []
        if unconditioned is not None:
            other = unconditioned.chosen(_on(shape, unconditioned.numbers, useful))
            states = _states(shape, other, self._above, smallest)
            self._whole = other.numbers[(states & _SMALL) == 0]
            hidden |= ~_among(self._whole, cells.numbers)
            top = (other.published < smallest) & ((states & _SMALL_ABOVE) == 0)
            self._small.append(other.numbers[top])
            self._small += _zeros(ancestry, axes, other.numbers, self._whole)
        small = cells.published < smallest
        self._kept = [_places(one) for one in ancestry.axes]
        inside = _on(shape, cells.numbers, [one >= 0 for one in self._kept])
        # What is not shown is not named either: only groups that are shown wherever they appear.
        self._small.append(cells.numbers[small & ~hidden & ~inside])
        self._large = cells.numbers[~small & ~hidden]
        for zeros in _zeros(ancestry, axes, cells.numbers, self._large):
            shown = ~_on(shape, zeros, [one >= 0 for one in self._kept])
            if self._whole is not None:
                shown &= _among(self._whole, zeros)
            self._small.append(zeros[shown])
        self.shown = self._cut(cells.chosen(inside & ~hidden))

    def _cut(self, cells: NonZeroCells) -> NonZeroCells:
        """Cells of the table with its ancestors as those of the table."""
        spec, shape = self._ancestry.spec, self._ancestry.extended.shape
        numbers = np.zeros(cells.numbers.size, dtype=np.uint64)
        for at, weight in enumerate(mixed_radix(spec.shape)):
            place = self._kept[at][positions_on(shape, at, cells.numbers)]
            numbers += place.astype(np.uint64) * np.uint64(weight)
        order = np.argsort(numbers)
        return NonZeroCells(numbers[order], cells.published[order])

    def outside(self) -> SmallGroups:
        """What a sparse table says of the cells that it does not list."""
        groups, cells = _outside(self._ancestry, np.concatenate(self._small))
        return SmallGroups(self.smallest, groups, cells)

    def broken_down(self, wanted: Numbers) -> Mask:
        """Which cells of the table, by number, are parts of a small one."""
        spec, shape = self._ancestry.spec, self._ancestry.extended.shape
        hidden = np.zeros(wanted.size, dtype=bool)
        for first in range(0, wanted.size, _AT_A_TIME):
            part = wanted[first : first + _AT_A_TIME]
            cells = np.zeros(part.size, dtype=np.uint64)
            for at, (one, weight) in enumerate(
                zip(self._ancestry.axes, mixed_radix(shape), strict=True)
            ):
                fixed = at >= len(spec.axes)
                place = np.zeros(part.size, dtype=np.int64)
                place = place if fixed else positions_on(spec.shape, at, part)
                cells += one.kept[place].astype(np.uint64) * np.uint64(weight)
            found = hidden[first : first + _AT_A_TIME]
            if self._whole is not None:
                found |= ~_among(self._whole, cells)
            for row, above in _parents(shape, cells, self._above):
                found[row[~_among(self._large, above)]] = True
        return hidden


def _among(held: Numbers, wanted: Numbers) -> Mask:
    """Which numbers are among some that stand in ascending order."""
    return np.asarray(values_at(held, np.ones(held.size, dtype=np.int64), wanted) != 0)


def _outside(
    ancestry: Ancestry, numbers: Numbers
) -> tuple[tuple[tuple[tuple[int, ...], ...], ...], Int64]:
    """Groups outside a table by the positions of the table that lie in them, each once."""
    shape = ancestry.extended.shape
    columns: list[Int64] = []
    named: list[list[tuple[int, ...]]] = []
    empty = np.zeros(numbers.size, dtype=bool)
    for at, one in enumerate(ancestry.axes[: len(ancestry.spec.axes)]):
        place = np.arange(one.kept.size)
        holders = np.concatenate([one.kept, one.larger])
        parts = np.concatenate([place, np.repeat(place, np.diff(one.start))])
        start, part = _listed(shape[at], (holders, parts))
        names: dict[tuple[int, ...], int] = {}
        codes, where = np.unique(positions_on(shape, at, numbers), return_inverse=True)
        lies_in = [tuple(sorted(part[start[code] : start[code + 1]].tolist())) for code in codes]
        name = np.array([names.setdefault(held, len(names)) for held in lies_in], dtype=np.int64)
        columns.append(name[where.reshape(-1)])
        empty |= np.array([not held for held in lies_in], dtype=bool)[where.reshape(-1)]
        named.append(list(names))
    rows = np.stack(columns, axis=1) if columns else np.zeros((numbers.size, 0), dtype=np.int64)
    rows = np.unique(rows[~empty], axis=0)
    for at, groups in enumerate(named):
        used, new = np.unique(rows[:, at], return_inverse=True)
        rows[:, at] = new.reshape(-1)
        named[at] = [groups[one] for one in used]
    return tuple(tuple(groups) for groups in named), rows


def _zeros(
    ancestry: Ancestry, axes: list[tuple[Mask, Pairs]], listed: Numbers, large: Numbers
) -> list[Numbers]:
    """Groups that are published as 0 and have nothing small above them, whatever the truth is.

    Such a group lies in large ones only, so it is a part of one along any of its axes: the first
    that does not stand at its top, and there the smallest code that holds it.
    """
    shape = ancestry.extended.shape
    above = [pairs for _, pairs in axes]
    tops = [np.flatnonzero(useful & (np.diff(start) == 0)) for useful, (start, _) in axes]
    found: list[Numbers] = []
    held = 0
    for candidates in _candidates(shape, axes, tops, large):
        kept = ~_among(listed, candidates)
        for row, number in _parents(shape, candidates, above):
            kept[row[~_among(large, number)]] = False
        found.append(candidates[kept])
        held += found[-1].size
        if held > MOST_GROUPS:
            raise SpecError(
                f"{ancestry.spec.title}: more than {MOST_GROUPS:,} groups above its cells have"
                " nobody in them, too many to tell which cells are not shown because of them. Show"
                " the levels and totals above its codes as well, or take fewer or coarser axes."
            )
    return found


def _candidates(
    shape: tuple[int, ...], axes: list[tuple[Mask, Pairs]], tops: list[Int64], large: Numbers
) -> Iterator[Numbers]:
    """The groups at the top of every axis; and the parts of large groups, each once."""
    weights = mixed_radix(shape)
    roots = np.zeros(1, dtype=np.uint64)
    for top, weight in zip(tops, weights, strict=True):
        roots = (roots[:, None] + top.astype(np.uint64) * np.uint64(weight)).reshape(-1)
    yield roots
    for at, ((useful, (start, larger)), weight) in enumerate(zip(axes, weights, strict=True)):
        depth = np.diff(start)
        codes = np.flatnonzero(useful & (depth > 0))
        row, holder = _spread(codes, start, larger)
        order = np.lexsort((depth[holder], row))
        closest = holder[order][np.cumsum(depth[codes]) - 1]
        begin, parts = _listed(shape[at], (closest, codes))
        most = int(np.diff(begin).max(initial=1))
        for first in range(0, large.size, max(1, _AT_A_TIME // most)):
            groups = large[first : first + max(1, _AT_A_TIME // most)]
            place = positions_on(shape, at, groups)
            row, code = _spread(place, begin, parts)
            moved = groups[row] - place[row].astype(np.uint64) * np.uint64(weight)
            yield moved + code.astype(np.uint64) * np.uint64(weight)
        large = large[np.isin(positions_on(shape, at, large), tops[at])]


# ---------------------------------------------------------------- which cells hold which


def _states(
    shape: tuple[int, ...], cells: NonZeroCells, above: list[Pairs], smallest: int
) -> npt.NDArray[np.uint8]:
    """What is small at and above each cell, axis by axis as in ``kernels.ancestors``."""
    state = (cells.published < smallest).astype(np.uint8)
    for at, pairs in enumerate(above):
        made = state.copy()
        only: list[Pairs] = [pairs if one == at else _NONE for one in range(len(shape))]
        for first in range(0, state.size, _AT_A_TIME):
            part = cells.numbers[first : first + _AT_A_TIME]
            for row, number in _parents(shape, part, only):
                # What is absent is published as 0, which is small.
                large = values_at(cells.numbers, 1 - (state & _SMALL).astype(np.int64), number)
                made[first + row[large == 0]] = _SMALL | _SMALL_ABOVE
        state = made
    return state


_NONE: Pairs = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _parents(
    shape: tuple[int, ...], cells: Numbers, above: list[Pairs]
) -> Iterator[tuple[Int64, Numbers]]:
    """The cells that hold others and differ along one axis: whose, and their numbers."""
    for at, (weight, (start, larger)) in enumerate(zip(mixed_radix(shape), above, strict=True)):
        if not larger.size:
            continue
        place = positions_on(shape, at, cells)
        row, code = _spread(place, start, larger)
        without = cells[row] - place[row].astype(np.uint64) * np.uint64(weight)
        yield row, without + code.astype(np.uint64) * np.uint64(weight)


def _spread(places: Int64, start: Int64, values: Int64) -> tuple[Int64, Int64]:
    """For each place all that is listed for it: which of the places, and what."""
    count = start[places + 1] - start[places]
    row = np.repeat(np.arange(places.size), count)
    inside = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    return row, values[start[places][row] + inside]


def _listed(size: int, pairs: Pairs) -> Pairs:
    """Pairs as lists: from ``start[owner]`` to ``start[owner + 1]`` what belongs to an owner."""
    owner, value = pairs
    order = np.argsort(owner, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=size))])
    return start.astype(np.int64), value[order].astype(np.int64)


def _every(one: AxisAbove) -> tuple[Mask, Pairs]:
    """Which positions of an axis are the table's or hold one of them; and what holds those."""
    size = len(one.axis.codes)
    holders = np.zeros(size, dtype=bool)
    holders[one.larger] = True
    useful = holders.copy()
    useful[one.kept] = True
    others = useful.copy()
    others[one.kept] = False
    owner, larger = codes_above(one.axis)
    chosen = others[owner] & holders[larger]
    mine = np.repeat(one.kept, np.diff(one.start))
    owners = np.concatenate([mine, owner[chosen]])
    return useful, _listed(size, (owners, np.concatenate([one.larger, larger[chosen]])))


def _within(one: AxisAbove) -> Pairs:
    """For each position of a table's axis, those of the same axis that hold it and more."""
    place = _places(one)
    owner = np.repeat(np.arange(one.kept.size), np.diff(one.start))
    larger = place[one.larger]
    return _listed(one.kept.size, (owner[larger >= 0], larger[larger >= 0]))


def _places(one: AxisAbove) -> Int64:
    """Where each position stands on the axis of the table; -1 for those that it does not show."""
    place = np.full(len(one.axis.codes), -1, dtype=np.int64)
    place[one.kept] = np.arange(one.kept.size)
    return place


def _on(shape: tuple[int, ...], numbers: Numbers, positions: list[Mask]) -> Mask:
    """Which cells stand at some positions of every axis."""
    inside = np.ones(numbers.size, dtype=bool)
    for at, mask in enumerate(positions):
        inside &= mask[positions_on(shape, at, numbers)]
    return inside
