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
from sdcensus.model.cube.ancestors import Ancestry, AxisAbove, ancestry_of, codes_above
from sdcensus.model.cube.layout import mixed_radix, positions_on, values_at
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Pairs = tuple[Int64, Int64]

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
        sizes = [len(group) for group in self.groups]
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
        hidden = np.zeros(wanted.size, dtype=bool)
        absent = np.flatnonzero(values_at(held, published, wanted) == 0)
        within = [_within(axis) for axis in ancestry_of(spec).axes[: len(spec.axes)]]
        large = held[published >= self.smallest]
        for first in range(0, absent.size, _AT_A_TIME):
            rows = absent[first : first + _AT_A_TIME]
            cells = wanted[rows]
            inside = self._in_small_groups(spec, cells)
            # What is listed at the smallest group or more has nothing small above it.
            hidden[rows] = inside | ~_in_large_only(spec.shape, cells, within, large)
        return hidden

    def _in_small_groups(self, spec: TableSpec, cells: Numbers) -> Mask:
        inside = np.zeros(cells.size, dtype=bool)
        if not self.cells.shape[0]:
            return inside
        row = np.arange(cells.size)
        code = np.zeros(cells.size, dtype=np.uint64)
        codes = np.zeros(self.cells.shape[0], dtype=np.uint64)
        for at, groups in enumerate(self.groups):
            owner = np.array([code for group in groups for code in group], dtype=np.int64)
            name = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
            start, names = _listed(len(spec.axes[at].codes), (owner, name))
            repeated, group = _spread(positions_on(spec.shape, at, cells[row]), start, names)
            row = row[repeated]
            size = np.uint64(len(groups))
            code = code[repeated] * size + group.astype(np.uint64)
            codes = codes * size + self.cells[:, at].astype(np.uint64)
        inside[row[np.isin(code, codes)]] = True
        return inside


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
        axes = [_every(axis) for axis in ancestry.axes]
        useful = [one for one, _ in axes]
        self._above = [pairs for _, pairs in axes]
        #: Groups without the condition that are large, and have nothing small above them.
        self._whole: Numbers | None = None
        #: Small groups that the table does not show and that have nothing small above them.
        self._small: list[Numbers] = []
        if unconditioned is not None:
            self._whole, small = self._judged(unconditioned, useful)
            self._small.append(small.numbers)
            self._small += _zeros(ancestry, axes, unconditioned.numbers, self._whole)
        self._large, small = self._judged(cells, useful)
        self._kept = [_places(axis) for axis in ancestry.axes]
        kept = [position >= 0 for position in self._kept]
        inside = _on(shape, small.numbers, kept)
        # What is not shown is not named either: only groups that are shown wherever they appear.
        self._small.append(small.numbers[~inside])
        for zeros in _zeros(ancestry, axes, cells.numbers, self._large):
            named = ~_on(shape, zeros, kept)
            if self._whole is not None:
                named &= _among(self._whole, zeros)
            self._small.append(zeros[named])
        large = self._large[_on(shape, self._large, kept)]
        few = small.chosen(inside)
        numbers = np.concatenate([large, few.numbers])
        published = np.concatenate(
            [values_at(cells.numbers, cells.published, large), few.published]
        )
        self.shown = self._cut(NonZeroCells(numbers, published))

    def _judged(self, cells: NonZeroCells, useful: list[Mask]) -> tuple[Numbers, NonZeroCells]:
        """Of the cells with nothing small above them: the large ones, and the others."""
        shape = self._ancestry.extended.shape
        is_large = cells.published >= self.smallest
        large = cells.numbers[is_large]
        large = large[_on(shape, large, useful)]
        large = large[~_small_above(shape, large, self._above)]
        small = cells.chosen(~is_large)
        small = small.chosen(_in_large_only(shape, small.numbers, self._above, large))
        small = small.chosen(_on(shape, small.numbers, useful))
        if self._whole is None:
            return large, small
        return large[_among(self._whole, large)], small.chosen(_among(self._whole, small.numbers))

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
            for at, (axis, weight) in enumerate(
                zip(self._ancestry.axes, mixed_radix(shape), strict=True)
            ):
                fixed = at >= len(spec.axes)
                place = np.zeros(part.size, dtype=np.int64)
                place = place if fixed else positions_on(spec.shape, at, part)
                cells += axis.kept[place].astype(np.uint64) * np.uint64(weight)
            is_small = ~_in_large_only(shape, cells, self._above, self._large)
            if self._whole is not None:
                is_small |= ~_among(self._whole, cells)
            hidden[first : first + _AT_A_TIME] = is_small
        return hidden


def _among(held: Numbers, wanted: Numbers) -> Mask:
    """Which numbers are among some that stand in ascending order."""
    if not held.size:
        return np.zeros(wanted.size, dtype=bool)
    return np.asarray(held[np.minimum(np.searchsorted(held, wanted), held.size - 1)] == wanted)


def _outside(
    ancestry: Ancestry, numbers: Numbers
) -> tuple[tuple[tuple[tuple[int, ...], ...], ...], Int64]:
    """Groups outside a table by the positions of the table that lie in them, each once."""
    shape = ancestry.extended.shape
    columns: list[Int64] = []
    named: list[list[tuple[int, ...]]] = []
    empty = np.zeros(numbers.size, dtype=bool)
    for at, axis in enumerate(ancestry.axes[: len(ancestry.spec.axes)]):
        place = np.arange(axis.kept.size)
        holders = np.concatenate([axis.kept, axis.larger])
        parts = np.concatenate([place, np.repeat(place, np.diff(axis.start))])
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
        named[at] = [groups[position] for position in used]
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
    small: list[Numbers] = []
    held = 0
    for candidates in _candidates(shape, axes, tops, large):
        candidates = candidates[_in_large_only(shape, candidates, above, large)]
        small.append(candidates[~_among(listed, candidates)])
        held += small[-1].size
        if held > MOST_GROUPS:
            raise SpecError(
                f"{ancestry.spec.title}: more than {MOST_GROUPS:,} groups above its cells have"
                " nobody in them, too many to tell which cells are not shown because of them. Show"
                " the levels and totals above its codes as well, or take fewer or coarser axes."
            )
    return small


def _candidates(
    shape: tuple[int, ...], axes: list[tuple[Mask, Pairs]], tops: list[Int64], large: Numbers
) -> Iterator[Numbers]:
    """The groups at the top of every axis; and the parts of large groups, each once."""
    weights = mixed_radix(shape)
    roots = np.zeros(1, dtype=np.uint64)
    for top, weight in zip(tops, weights, strict=True):
        roots = (roots[:, None] + top.astype(np.uint64) * np.uint64(weight)).reshape(-1)
    yield roots
    for at, ((useful, pairs), weight) in enumerate(zip(axes, weights, strict=True)):
        codes, closest = _closest(pairs)
        begin, parts = _listed(shape[at], (closest[useful[codes]], codes[useful[codes]]))
        most = int(np.diff(begin).max(initial=1))
        for first in range(0, large.size, max(1, _AT_A_TIME // most)):
            groups = large[first : first + max(1, _AT_A_TIME // most)]
            place = positions_on(shape, at, groups)
            row, code = _spread(place, begin, parts)
            moved = groups[row] - place[row].astype(np.uint64) * np.uint64(weight)
            yield moved + code.astype(np.uint64) * np.uint64(weight)
        large = large[np.isin(positions_on(shape, at, large), tops[at])]


# ---------------------------------------------------------------- which cells hold which


def _small_above(shape: tuple[int, ...], large: Numbers, above: list[Pairs]) -> Mask:
    """Which of some large cells have one above them that is not among them.

    Axis by axis, as in ``kernels.ancestors``: what is small above a cell along the axes so far is
    so above all cells that it holds along the next.
    """
    small = np.zeros(large.size, dtype=bool)
    for at, pairs in enumerate(above):
        row, number = _above_along(shape, at, large, pairs)
        fine = values_at(large, (~small).astype(np.int64), number) != 0
        small = small.copy()
        small[row[~fine]] = True
    return small


def _in_large_only(
    shape: tuple[int, ...], cells: Numbers, above: list[Pairs], large: Numbers
) -> Mask:
    """Which cells have nothing above them that is not large, or has something small above it.

    Args:
        shape: Of the table.
        cells: The cells.
        above: For each axis, what holds its positions.
        large: The large cells that have nothing small above them. So it is enough to look at what
            differs from a cell along a single axis.
    """
    inside = np.zeros(cells.size, dtype=bool)
    # Most cells of a large table lie in small groups, and most of those in one that is close.
    close = [_listed(pairs[0].size - 1, _closest(pairs)) for pairs in above]
    for first in range(0, cells.size, _AT_A_TIME):
        left = np.arange(first, min(first + _AT_A_TIME, cells.size))
        for at, pairs in (*enumerate(close), *enumerate(above)):
            row, number = _above_along(shape, at, cells[left], pairs)
            small = np.zeros(left.size, dtype=bool)
            small[row[~_among(large, number)]] = True
            left = left[~small]
        inside[left] = True
    return inside


def _above_along(
    shape: tuple[int, ...], at: int, cells: Numbers, pairs: Pairs
) -> tuple[Int64, Numbers]:
    """The cells that hold others and differ along one axis: whose, and their numbers."""
    weight = np.uint64(mixed_radix(shape)[at])
    place = positions_on(shape, at, cells)
    row, code = _spread(place, *pairs)
    without = cells - place.astype(np.uint64) * weight
    return row, without[row] + code.astype(np.uint64) * weight


def _closest(pairs: Pairs) -> Pairs:
    """The positions of an axis that others hold, and for each the nearest: held by most itself."""
    start, larger = pairs
    depth = np.diff(start)
    codes = np.flatnonzero(depth)
    row, holder = _spread(codes, start, larger)
    order = np.lexsort((depth[holder], row))
    return codes, holder[order][np.cumsum(depth[codes]) - 1]


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
