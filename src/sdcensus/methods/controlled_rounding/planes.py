"""Which planes of a grid a search looks at: drawn all over it, or through cells that are wrong."""

from __future__ import annotations

import itertools
from collections.abc import Sequence as Several

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.plane_places import Stars
from sdcensus.methods.controlled_rounding.draws import Sequence
from sdcensus.methods.controlled_rounding.grid import Grid, GridAxis

Int64 = npt.NDArray[np.int64]

#: The most rows and the most columns of a plane.
_LONGEST = 128
#: The most stars of an axis that are drawn at a time.
_MOST_STARS = 48


class StarList:
    """Stars of all axes of a grid, put together one by one."""

    __slots__ = ("_code_firsts", "_firsts", "_groups", "_shared")

    def __init__(self, grid: Grid) -> None:
        """Begin a list."""
        self._firsts = np.cumsum([0, *(axis.size for axis in grid.axes)])
        self._code_firsts = np.cumsum([0, *(axis.codes for axis in grid.axes)])
        self._groups: list[Int64] = []
        self._shared: list[Int64] = []

    def add(self, axis: int, groups: Int64, shared: Int64) -> int:
        """Add a star of an axis; its number."""
        self._groups.append(groups + self._firsts[axis])
        self._shared.append(shared + self._code_firsts[axis])
        return len(self._groups) - 1

    def group(self, axis: int, group: Int64) -> Int64:
        """Base groups of an axis as planes name them; -1 stays."""
        return np.where(group < 0, -1, group + self._firsts[axis])

    def usual(self, stars: Int64) -> float:
        """How many rows or columns some stars are, with the shared one."""
        return float(np.mean([self._groups[star].size for star in stars.tolist()])) + 1

    def stars(self) -> Stars:
        """All stars, for kernels."""
        groups, shared = self._groups, self._shared
        return Stars(_starts(groups), np.concatenate(groups), _starts(shared), _joined(shared))


def _starts(parts: Several[Int64]) -> Int64:
    return np.cumsum([0, *(part.size for part in parts)]).astype(np.int64)


def _joined(parts: Several[Int64]) -> Int64:
    return np.concatenate(parts).astype(np.int64)


def pairs_of(grid: Grid) -> list[tuple[int, int]]:
    """The axes along which planes lie: all pairs that have more than one base group."""
    wide = [at for at, axis in enumerate(grid.axes) if axis.size > 1]
    if len(wide) < 2:
        first = wide[0] if wide else 0
        return [(first, 1 if first == 0 else 0)]
    return list(itertools.combinations(wide, 2))


def draw_planes(grid: Grid, draws: Sequence, arcs: int) -> tuple[Stars, Int64]:
    """Stars and planes with about so many arcs together, all pairs of axes alike."""
    stars = StarList(grid)
    own = [
        np.array([stars.add(at, *star) for star in draw_stars(axis, draws)], dtype=np.int64)
        for at, axis in enumerate(grid.axes)
    ]
    pairs = pairs_of(grid)
    drawn = []
    for pair in pairs:
        rows, columns = (own[at] for at in pair)
        size = stars.usual(rows) * stars.usual(columns)
        number = max(int(arcs / len(pairs) / size), rows.size, columns.size)
        chosen = [
            rows[draws.shuffled(number) % rows.size],
            columns[draws.shuffled(number) % columns.size],
        ]
        for at in _others(grid, pair):
            groups = grid.axes[at].size
            added, taken = draws.below(groups, number), draws.below(groups, number)
            chosen.append(stars.group(at, added))
            chosen.append(stars.group(at, np.where(added == taken, -1, taken)))
        drawn.append(np.stack(chosen, axis=1))
    return stars.stars(), np.concatenate(drawn)


def planes_through(grid: Grid, draws: Sequence, cells: Int64) -> tuple[Stars, Int64]:
    """Planes in which some cells can change, by their numbers in the grid: one a pair of axes."""
    stars = StarList(grid)
    drawn: list[list[int]] = []
    for codes in grid.codes_at(cells).tolist():
        for pair in pairs_of(grid):
            plane = [stars.add(at, *_star_at(grid.axes[at], draws, codes[at])) for at in pair]
            for at in _others(grid, pair):
                groups = _groups_at(grid.axes[at], draws, codes[at])
                plane += stars.group(at, np.array(groups, dtype=np.int64)).tolist()
            drawn.append(plane)
    return stars.stars(), np.array(drawn, dtype=np.int64)


def _others(grid: Grid, pair: tuple[int, int]) -> list[int]:
    return [at for at in range(len(grid.axes)) if at not in pair]


def draw_stars(axis: GridAxis, draws: Sequence) -> list[tuple[Int64, Int64]]:
    """Rows or columns of planes along an axis: base groups, and the codes that hold all of them.

    Groups lie inside one code. Of all codes below it, each holds one of them at most.
    """
    codes = [
        (level, code)
        for level, numbers in enumerate(axis.levels)
        for code in np.flatnonzero(np.bincount(numbers) > 1).tolist()
    ]
    if not codes:
        return [(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    if len(codes) > _MOST_STARS:
        codes = [codes[at] for at in draws.shuffled(len(codes))[:_MOST_STARS].tolist()]
    stars = []
    for level, code in codes:
        members = np.flatnonzero(axis.levels[level] == code)
        stars.append(_star(axis, members[draws.shuffled(members.size)]))
    return stars


def _star(axis: GridAxis, members: Int64) -> tuple[Int64, Int64]:
    """Of some base groups, in this order, those that share no code but one that holds them all."""
    by_level = axis.codes_of_groups()[members]
    together = (by_level == by_level[0]).all(axis=0)
    apart = by_level[:, ~together]
    if apart.shape[1] > 1:
        used: set[int] = set()
        chosen = []
        for at, own in enumerate(apart.tolist()):
            if used.isdisjoint(own):
                used.update(own)
                chosen.append(at)
        members = members[chosen]
    return members[:_LONGEST], by_level[0][together]


def _members(axis: GridAxis, code: int) -> Int64:
    """The base groups of a code; all where the axis has no such code."""
    for level, start in zip(axis.levels, axis.starts, strict=False):
        if start <= code <= start + int(level.max(initial=-1)):
            return np.flatnonzero(level == code - start)
    return np.arange(axis.size)


def _star_at(axis: GridAxis, draws: Sequence, code: int) -> tuple[Int64, Int64]:
    """A star with a base group of a code, and others around it."""
    members = _members(axis, code)
    first = members[draws.below(members.size, 1)]
    around = [np.flatnonzero(level == level[first[0]]) for level in axis.levels]
    around = [groups for groups in around if groups.size > 1]
    if not around:
        return first, np.zeros(0, dtype=np.int64)
    groups = around[int(draws.below(len(around), 1)[0])]
    others = groups[groups != first[0]]
    return _star(axis, np.concatenate([first, others[draws.shuffled(others.size)]]))


def _groups_at(axis: GridAxis, draws: Sequence, code: int) -> tuple[int, int]:
    """Two base groups between which a code changes: the second is outside of it, or none."""
    members = _members(axis, code)
    inside = int(members[draws.below(members.size, 1)[0]])
    other = int(draws.below(axis.size + 1, 1)[0]) - 1
    return inside, -1 if other in members else other
