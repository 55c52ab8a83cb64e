"""Published tables cut into pieces, and which cells of one piece make up a cell of another.

A piece of a table is one level of each of its axes: its cells are products of sets of codes. All
tables of the same records are cut so, filters count as axes with one code, and an axis that stands
at its total restricts nothing. What two tables show alike is then one piece, and a cell can be
found again as a sum of cells of any finer piece.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.attack.targets import Target
from sdcensus.kernels.cells.tabulate import Combine, regroup
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.leaf_groups import Nesting, nesting
from sdcensus.model.spec.record_sets import is_product, leaves_in

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
#: Two pieces of the same cells of which so many values agree hold the same noise.
_AGREE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Disjoint sets of leaves of one variable.

    Attributes:
        variable: Its name, with a mark of its code list: other lists are other variables.
        group: For each leaf the number of its set; -1 where it is in none.
        size: How many sets there are; some may be empty.
    """

    variable: str
    group: Int64
    size: int
    _within: dict[Side, Nesting] = field(init=False, repr=False, default_factory=dict)

    @property
    def key(self) -> tuple[str, bytes]:
        """Equal for equal sets in equal order."""
        return self.variable, self.group.tobytes()

    @property
    def everything(self) -> bool:
        """Whether it restricts nothing: one set of all leaves."""
        return self.size == 1 and not self.group.any()


#: Sides by what makes them equal.
_Sides = dict[tuple[str, bytes, int], Side]


@dataclass(frozen=True, eq=False)
class Piece:
    """One level of each axis of a published table.

    Attributes:
        target: The table.
        context: What its records are, besides its sides; other contexts are never compared.
        sides: What restricts it, in the order of the axes of ``values``.
        values: The published values; 0 where there is none.
        known: Where there is one.
        cells: The numbers of its cells in the table.
    """

    target: Target
    context: str
    sides: tuple[Side, ...]
    values: Int64
    known: Mask
    cells: Int64

    def __repr__(self) -> str:
        return f"<Piece of {self.target.name}: {' × '.join(side.variable for side in self.sides)}>"

    @cached_property
    def variables(self) -> frozenset[str]:
        """The variables that restrict it."""
        return frozenset(side.variable for side in self.sides)

    @cached_property
    def key(self) -> tuple[str, frozenset[tuple[str, bytes]]]:
        """Equal for pieces whose cells hold the same records, for any data."""
        return self.context, frozenset(side.key for side in self.sides)

    def side(self, variable: str) -> Side | None:
        """The side of a variable, if it restricts the piece."""
        return next((side for side in self.sides if side.variable == variable), None)


def pieces_of(targets: Sequence[Target]) -> tuple[Piece, ...]:
    """All pieces of all tables; what several tables show alike is held once.

    The same cells with other values, as another method or other keys give them, are a piece of
    their own: another look at the same counts.
    """
    found: dict[tuple[str, frozenset[tuple[str, bytes]]], list[Piece]] = {}
    sides: _Sides = {}
    for target in targets:
        for piece in _cut(target, sides):
            alike = found.setdefault(piece.key, [])
            if not any(_same_values(piece, other) for other in alike):
                alike.append(piece)
    return tuple(itertools.chain.from_iterable(found.values()))


class Index:
    """Pieces by what restricts them, to find quickly which can make up cells of others."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._sets: dict[tuple[str, frozenset[str]], list[Piece]] = {}
        for piece in pieces:
            self._sets.setdefault((piece.context, piece.variables), []).append(piece)
        self._finer: dict[tuple[str, frozenset[str]], list[Piece]] = {}

    def finer(self, coarse: Piece, *, most_more: int | None = None) -> list[Piece]:
        """Pieces restricted by the same variables, or by so many more; the piece itself too."""
        key = (coarse.context, coarse.variables)
        if key not in self._finer:
            self._finer[key] = [
                piece
                for (context, variables), pieces in self._sets.items()
                if context == coarse.context and coarse.variables <= variables
                for piece in pieces
            ]
        found = self._finer[key]
        if most_more is None:
            return found
        most = len(coarse.variables) + most_more
        return [piece for piece in found if len(piece.variables) <= most]


def _same_values(piece: Piece, other: Piece) -> bool:
    names = [side.variable for side in other.sides]
    order = [names.index(side.variable) for side in piece.sides]
    values, known = other.values.transpose(order), other.known.transpose(order)
    both = piece.known & known & ((piece.values > 0) | (values > 0))
    if not both.any():
        return True
    return bool((piece.values[both] == values[both]).mean() > _AGREE)


def _cut(target: Target, seen: _Sides) -> Iterator[Piece]:
    """The pieces of a table; sides that other pieces have as well are the same objects."""
    spec, table = target.table.spec, target.table
    product = is_product(spec.universe)
    # A condition that is no product of codes is compared as a whole.
    context = f"{target.data}|{'' if product else spec.universe.canonical()}"
    filters = {
        variable.name: leaves_in(spec.universe, variable) for variable in spec.universe.variables
    }
    if not product:
        filters = {}
    shown = {axis.variable.name for axis in spec.axes}
    fixed = [
        _once(
            Side(_identity(variable), np.where(filters[variable.name], 0, -1).astype(np.int64), 1),
            seen,
        )
        for variable in spec.universe.variables
        if variable.name in filters and variable.name not in shown
    ]
    blocks = [
        [
            _once(_side(axis, at, filters.get(axis.variable.name)), seen)
            for at in range(len(axis.blocks))
        ]
        for axis in spec.axes
    ]
    numbers = np.arange(spec.cells, dtype=np.int64).reshape(spec.shape)
    known = np.ones(spec.shape, dtype=bool) if table.flags is None else table.flags == 0
    for choice in itertools.product(*(range(len(axis.blocks)) for axis in spec.axes)):
        sides: list[Side] = []
        index: list[int | slice] = []
        for axis, held, at in zip(spec.axes, blocks, choice, strict=True):
            block, side = axis.blocks[at], held[at]
            if side.everything:
                index.append(block.start)
            else:
                index.append(slice(block.start, block.start + block.size))
                sides.append(side)
        where = (*index, ...)
        shape = (*(side.size for side in sides), *(1 for _ in fixed))
        yield Piece(
            target,
            context,
            (*sides, *fixed),
            np.ascontiguousarray(table.published[where]).reshape(shape),
            np.ascontiguousarray(known[where]).reshape(shape),
            np.ascontiguousarray(numbers[where]).reshape(shape),
        )


def _once(side: Side, seen: _Sides) -> Side:
    """The side itself, or an equal one that was seen before."""
    return seen.setdefault((*side.key, side.size), side)


def _side(axis: Axis, at: int, inside: Mask | None) -> Side:
    """One block of an axis, within a filter on its variable."""
    block = axis.blocks[at]
    group = np.zeros(len(axis.variable.codes), dtype=np.int64)
    if at < len(axis.levels):
        group = axis.levels[at].group_array
    if inside is not None:
        group = np.where(inside, group, -1)
    return Side(_identity(axis.variable), np.ascontiguousarray(group), block.size)


def _identity(variable: Variable) -> str:
    """The name of a variable and a mark of its code list."""
    codes = "\0".join(code.code for code in variable.codes)
    mark = hashlib.blake2b(codes.encode(), digest_size=8).hexdigest()
    return f"{variable.name} {mark}"


def variable_name(side: Side) -> str:
    """The name of the variable alone, for people."""
    return side.variable.rsplit(" ", 1)[0]


def nesting_of(fine: Side, coarse: Side) -> Nesting:
    """How sets of one side lie in sets of another side of the same variable; found out once."""
    if coarse not in fine._within:
        fine._within[coarse] = nesting(fine.group, fine.size, coarse.group, coarse.size)
    return fine._within[coarse]


@dataclass(frozen=True, slots=True, eq=False)
class PieceTiling:
    """Which cells of a finer piece lie in each cell of a coarser one.

    Attributes:
        fine, coarse: The pieces.
        maps: For each side of the coarser piece, how the finer one lies in it.
    """

    fine: Piece
    coarse: Piece
    maps: tuple[Nesting, ...]

    @property
    def whole(self) -> Mask:
        """Which coarser cells are made up of finer ones without a rest."""
        return _outer([nesting.whole for nesting in self.maps], np.logical_and)

    @property
    def parts(self) -> Int64:
        """How many finer cells each coarser one holds."""
        free = [side.size for side in self.fine.sides if side.variable not in self.coarse.variables]
        made = _outer([nesting.parts for nesting in self.maps], np.multiply).astype(np.int64)
        return made * int(np.prod(free, dtype=np.int64))

    def holder(self) -> Int64:
        """For each finer cell the number of the coarser one that holds it; -1 for none."""
        shape = self.coarse.values.shape
        sizes = tuple(side.size for side in self.fine.sides)
        names = [side.variable for side in self.fine.sides]
        found = np.zeros(sizes, dtype=np.int64)
        outside = np.zeros(sizes, dtype=bool)
        for at, (side, nested) in enumerate(zip(self.coarse.sides, self.maps, strict=True)):
            along = [1] * len(sizes)
            along[names.index(side.variable)] = -1
            group = nested.group.reshape(along)
            found += group * int(np.prod(shape[at + 1 :], dtype=np.int64))
            outside |= group < 0
        return np.where(outside, -1, found)

    def summed(self, values: Int64) -> Int64:
        """Values of the finer cells added up to the coarser ones."""
        for at in reversed(range(len(self.fine.sides))):
            if self.fine.sides[at].variable not in self.coarse.variables:
                values = values.sum(axis=at)
        names = [s.variable for s in self.fine.sides if s.variable in self.coarse.variables]
        for side, nested in zip(self.coarse.sides, self.maps, strict=True):
            at = names.index(side.variable)
            if side in self.fine.sides:  # every set is one of the finer ones, or holds no leaf
                there = nested.whole.reshape([-1 if n == at else 1 for n in range(values.ndim)])
                values = np.where(there, values, 0)
                continue
            held = np.flatnonzero(nested.group >= 0)
            taken = np.take(values, held, axis=at)
            values = regroup(taken, at, nested.group[held], side.size, Combine.SUM, 0)
        order = [names.index(side.variable) for side in self.coarse.sides]
        return np.asarray(values).transpose(order)


def tiling(fine: Piece, coarse: Piece) -> PieceTiling | None:
    """How a finer piece makes up cells of a coarser one; ``None`` if it makes up no cell."""
    if fine.context != coarse.context or not coarse.variables <= fine.variables:
        return None
    for side in fine.sides:
        if side.variable not in coarse.variables and (side.group < 0).any():
            return None  # the finer piece leaves somebody out
    maps = []
    for side in coarse.sides:
        finer = fine.side(side.variable)
        if finer is None:
            return None
        nesting = nesting_of(finer, side)
        if not nesting.whole.any():
            return None
        maps.append(nesting)
    return PieceTiling(fine, coarse, tuple(maps))


def _outer(vectors: Sequence[npt.NDArray[Any]], combine: np.ufunc) -> npt.NDArray[Any]:
    """A product over all axes of one vector for each."""
    made = np.ones((), dtype=vectors[0].dtype if vectors else bool)
    for vector in vectors:
        made = combine(made[..., None], vector)
    return made
