"""Which published cells are broken down by what: an index over everything that is published.

Pieces of all tables are compared by the sets of leaves that their axes stand for, so that a cell of
one table finds its parts in any other. A breakdown of a piece is another piece with one more axis,
or with one axis at a finer level.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.attack.pieces import Piece, Side, nesting_of, pieces_of, variable_name
from sdcensus.attack.targets import Target

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_Key = tuple[Hashable, frozenset[int]]


@dataclass(frozen=True, slots=True, eq=False)
class BreakdownRows:
    """Parts of some cells, one row for each.

    Attributes:
        values: The published values of the parts; 0 where there is none.
        known: Where there is one. Parts that only other cells have count as a known 0.
        cells: The numbers of the parts in their table.
    """

    values: Int64
    known: Mask
    cells: Int64

    @property
    def whole(self) -> Mask:
        """Which rows have no part without a number."""
        return np.asarray(self.known.all(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class CellBreakdown:
    """How cells of a piece are broken down by those of a finer one.

    Attributes:
        parent: The piece whose cells are broken down.
        fine: The piece that holds their parts.
        at: Which side of the finer piece the parts differ in.
        coarse: Which side of the parent it is the finer level of; ``None`` where it is another
            variable.
    """

    parent: Piece
    fine: Piece
    at: int
    coarse: Side | None = None

    @property
    def side(self) -> Side:
        """What the parts differ in."""
        return self.fine.sides[self.at]

    @property
    def variable(self) -> str:
        """The name of the variable that the parts differ in."""
        return variable_name(self.side)

    def rows(self, chosen: Int64) -> BreakdownRows:
        """The parts of some cells of the parent, by their places in it."""
        order = self._order()
        values, known = self.fine.values.transpose(order), self.fine.known.transpose(order)
        cells = self.fine.cells.transpose(order)
        if not self.parent.sides:  # one cell: everybody
            every = np.zeros(chosen.size, dtype=np.int64)
            return BreakdownRows(values[None][every], known[None][every], cells[None][every])
        places = np.unravel_index(chosen, self.parent.values.shape)
        if self.coarse is None:
            return BreakdownRows(values[places], known[places], cells[places])
        axis = self.parent.sides.index(self.coarse)
        members, padding = _members(self.side, self.coarse)
        inside = members[places[axis]]
        where = tuple(place[:, None] for at, place in enumerate(places) if at != axis)
        outside = padding[places[axis]]
        return BreakdownRows(
            np.where(outside, 0, values[(*where, inside)]),
            outside | known[(*where, inside)],
            cells[(*where, inside)],
        )

    def expected(self, chosen: Int64) -> Float64:
        """What share of some cells each part is expected to have, if the axes hang together in
        pairs alone: products of published margins.
        """
        order = self._order()
        values = self.fine.values.transpose(order).astype(np.float64)
        axes = tuple(range(values.ndim - 1))
        whole = values.sum(axis=axes) + 0.5
        sides = self.parent.sides
        places = np.unravel_index(chosen, self.parent.values.shape) if sides else ()
        if self.coarse is not None:
            axis = self.parent.sides.index(self.coarse)
            members, padding = _members(self.side, self.coarse)
            shares = np.where(padding[places[axis]], 0.0, whole[members[places[axis]]])
        else:
            shares = np.broadcast_to(whole, (chosen.size, whole.size)).copy()
            for axis in axes:
                margin = values.sum(axis=tuple(at for at in axes if at != axis)) + 0.5 / whole.size
                shares *= margin[places[axis]] / whole
        total = shares.sum(axis=1, keepdims=True)
        made: Float64 = np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)
        return made

    def expected_anywhere(self, chosen: Int64) -> Float64:
        """What share of everybody each part of some cells has, whatever the cell."""
        values = self.fine.values.transpose(self._order()).astype(np.float64)
        whole = values.sum(axis=tuple(range(values.ndim - 1)))
        if self.coarse is None:
            return np.broadcast_to(whole, (chosen.size, whole.size))
        places = np.unravel_index(chosen, self.parent.values.shape)
        at = places[self.parent.sides.index(self.coarse)]
        members, padding = _members(self.side, self.coarse)
        made: Float64 = np.where(padding[at], -1.0, whole[members[at]])
        return made

    def _order(self) -> list[int]:
        """Axes of the finer piece as the parent has them, the one that differs behind them."""
        names = [side.variable for side in self.fine.sides]
        kept = [side for side in self.parent.sides if side is not self.coarse]
        return [*(names.index(side.variable) for side in kept), self.at]


def _members(fine: Side, coarse: Side) -> tuple[Int64, Mask]:
    """For each set of a side, which finer sets make it up, and which places are empty."""
    group = nesting_of(fine, coarse).group
    most = int(np.bincount(group[group >= 0], minlength=1).max(initial=1))
    members = np.zeros((coarse.size, most), dtype=np.int64)
    padding = np.ones((coarse.size, most), dtype=bool)
    for number in range(coarse.size):
        own = np.flatnonzero(group == number)
        members[number, : own.size] = own
        padding[number, : own.size] = False
    return members, padding


class Breakdowns:
    """All breakdowns of everything that is published together.

    Args:
        targets: The tables.
    """

    def __init__(self, targets: Sequence[Target]) -> None:
        self.pieces = pieces_of(targets)
        sides: dict[str, dict[int, Side]] = {}
        for piece in self.pieces:
            for side in piece.sides:
                sides.setdefault(side.variable, {})[id(side)] = side
        self._coarser: dict[int, list[Side]] = {
            id(fine): [coarse for coarse in known.values() if _finer(fine, coarse)]
            for known in sides.values()
            for fine in known.values()
        }
        self._found: dict[_Key, list[tuple[Piece, int, Side | None]]] = {}
        for piece in self.pieces:
            self._enter(piece)

    def _enter(self, piece: Piece) -> None:
        making = (piece.context, piece.target.making)
        own = frozenset(id(side) for side in piece.sides)
        for at, side in enumerate(piece.sides):
            if not (side.group < 0).any():
                self._found.setdefault((making, own - {id(side)}), []).append((piece, at, None))
            for coarse in self._coarser[id(side)]:
                key = (making, own - {id(side)} | {id(coarse)})
                self._found.setdefault(key, []).append((piece, at, coarse))

    def of(self, parent: Piece) -> list[CellBreakdown]:
        """What breaks the cells of a piece down; each set of parts once."""
        key = (
            (parent.context, parent.target.making),
            frozenset(id(side) for side in parent.sides),
        )
        return [
            CellBreakdown(parent, fine, at, coarse) for fine, at, coarse in self._found.get(key, [])
        ]

    def __iter__(self) -> Iterator[tuple[Piece, list[CellBreakdown]]]:
        for piece in self.pieces:
            breakdowns = self.of(piece)
            if breakdowns:
                yield piece, breakdowns


def _finer(fine: Side, coarse: Side) -> bool:
    """Whether every set of a side is made up of sets of another, and some of several."""
    if fine is coarse or coarse.size >= fine.size:
        return False
    held = nesting_of(fine, coarse)
    return bool(held.whole[np.unique(coarse.group[coarse.group >= 0])].all())
