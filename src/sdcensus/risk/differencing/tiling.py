"""Cells of one table that are unions of cells of another, axis by axis.

A cell is the set of records with certain leaves of each variable. One table's cell is the union
of another's cells if that is so for every variable, so nothing here grows with the number of
cells: codes are compared with codes, and sums run along one axis after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import Combine, regroup
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.leaf_groups import LeafBlock, SharedVariable, nesting, shared_variables
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class TilingStep:
    """How codes of one table are made of codes of another, for one variable at one level each.

    Attributes:
        variable: The variable.
        whole_axis, parts_axis: The axes that show it, or ``None``.
        whole: The level of the table whose codes are made.
        parts: The level of the table whose codes they are made of.
        codes: The codes that are made, ascending.
        made, part: Pairs: the place in ``codes`` of a code, and a code that is part of it.
    """

    variable: Variable
    whole_axis: int | None
    parts_axis: int | None
    whole: LeafBlock
    parts: LeafBlock
    codes: Int64
    made: Int64
    part: Int64

    @property
    def sizes(self) -> Int64:
        """For each code that is made, how many parts it has."""
        return np.bincount(self.made, minlength=self.codes.size).astype(np.int64)

    def rest(self, at: int) -> Mask:
        """The leaves in which a code that is made differs from the union of its parts."""
        inside = self.whole.group == self.codes[at]
        return np.asarray(inside != np.isin(self.parts.group, self.part[self.made == at]))


@dataclass(frozen=True, slots=True, eq=False)
class Tiling:
    """Cells of a table as unions of cells of another one, at one level of each axis of both.

    Attributes:
        whole: The table whose cells are unions.
        parts: The table whose cells they are unions of.
        steps: How the codes of each variable are made.
    """

    whole: TableSpec
    parts: TableSpec
    steps: tuple[TilingStep, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes of each axis of the whole are made."""
        return tuple(self._on_axis(at).codes.size for at in range(len(self.whole.axes)))

    @property
    def cells(self) -> Numbers:
        """The cells that are unions, by their numbers in the whole, ascending."""
        numbers = np.zeros(self.shape, dtype=np.uint64)
        for at, weight in enumerate(mixed_radix(self.whole.shape)):
            step = self._on_axis(at)
            place = (step.whole.start + step.codes).astype(np.uint64) * np.uint64(weight)
            numbers += place.reshape([-1 if at == one else 1 for one in range(numbers.ndim)])
        return numbers.reshape(-1)

    @property
    def sizes(self) -> Int64:
        """For each of these cells, of how many cells of the other table it is the union."""
        sizes = np.ones(self.shape, dtype=np.int64)
        for step in self.steps:
            shape = [1] * sizes.ndim
            if step.whole_axis is not None:
                shape[step.whole_axis] = -1
            sizes *= step.sizes.reshape(shape)
        return sizes.reshape(-1)

    def sums(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For each of these cells, the sum over its parts of values of the other table."""
        if values.shape != self.parts.shape:
            raise SpecError(f"{self.parts.title}: values need the shape {self.parts.shape}.")
        names = [axis.variable.name for axis in self.parts.axes]
        for step in self.steps:
            if step.parts_axis is None:
                continue
            at = names.index(step.variable.name)
            taken = np.take(values, step.parts.start + step.part, axis=at)
            values = regroup(taken, at, step.made, step.codes.size, Combine.SUM, 0)
        # What the whole does not show is one code by now; what the parts do not show is one, too.
        on_whole = {axis.variable.name: at for at, axis in enumerate(self.whole.axes)}
        gone = tuple(at for at, name in enumerate(names) if name not in on_whole)
        values = values.reshape([size for at, size in enumerate(values.shape) if at not in gone])
        kept = [on_whole[name] for name in names if name in on_whole]
        values = values.transpose(np.argsort(kept).tolist())
        return values.reshape(-1)

    def _on_axis(self, at: int) -> TilingStep:
        return next(step for step in self.steps if step.whole_axis == at)


def tilings(whole: TableSpec, parts: TableSpec) -> Iterator[Tiling]:
    """Every way in which cells of a table are unions of cells of another, by levels.

    One tiling for each choice of a level of each axis of both tables that makes any cell; a cell
    can be part of several: "women" is itself a cell of the other table, and also the sum of women
    by age. Nothing for tables that cannot be compared by sets of leaves (see
    ``shared_variables``).
    """
    shared = shared_variables((whole, parts))
    if shared is None:
        return
    for steps in itertools.product(*(_exact_steps(shared_variable) for shared_variable in shared)):
        yield Tiling(whole, parts, steps)


def coarsest_tilings(whole: TableSpec, parts: TableSpec) -> Iterator[Tiling]:
    """Tilings that together make every cell that can be made, each once, of few parts."""
    shared = shared_variables((whole, parts))
    if shared is None:
        return
    for steps in itertools.product(
        *(_coarsest_steps(shared_variable) for shared_variable in shared)
    ):
        yield Tiling(whole, parts, steps)


def values_from(
    whole: TableSpec, parts: TableSpec, values: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], Mask]:
    """Values of a table from those of another one that add up, and which cells could be made."""
    made = np.zeros(whole.cells, dtype=values.dtype)
    known = np.zeros(whole.cells, dtype=bool)
    for tiling in coarsest_tilings(whole, parts):
        cells = tiling.cells.astype(np.int64)
        made[cells] = tiling.sums(values)
        known[cells] = True
    return made.reshape(whole.shape), known.reshape(whole.shape)


def _exact_steps(shared: SharedVariable) -> list[TilingStep]:
    pairs = itertools.product(*shared.blocks)
    steps = [_step(shared, whole, parts) for whole, parts in pairs]
    return [step for step in steps if step.codes.size]


def _coarsest_steps(shared: SharedVariable) -> list[TilingStep]:
    """For each level of the whole, steps that together make every code that can be made once."""
    chosen: list[TilingStep] = []
    for whole in shared.blocks[0]:
        left = np.ones(whole.size, dtype=bool)
        steps = [_step(shared, whole, parts) for parts in shared.blocks[1]]
        for step in sorted(steps, key=lambda step: step.parts.size):
            kept = left[step.codes]
            if kept.any():
                chosen.append(_only(step, kept))
                left[step.codes] = False
    return chosen


def _only(step: TilingStep, kept: Mask) -> TilingStep:
    """A step with some of the codes that it makes."""
    place = np.cumsum(kept) - 1
    pairs = kept[step.made]
    return TilingStep(
        step.variable,
        step.whole_axis,
        step.parts_axis,
        step.whole,
        step.parts,
        step.codes[kept],
        place[step.made[pairs]],
        step.part[pairs],
    )


def _step(shared: SharedVariable, whole: LeafBlock, parts: LeafBlock) -> TilingStep:
    """The codes of a level that are unions of codes of another one."""
    found = nesting(parts.group, parts.size, whole.group, whole.size)
    part = np.flatnonzero(found.group >= 0)
    return _chosen(shared, whole, parts, found.whole, found.group[part], part)


@dataclass(frozen=True, slots=True, eq=False)
class NearTiling:
    """Cells of a table that differ from unions of cells of another in one variable only.

    The difference is a set of records that neither table shows by itself.

    Attributes:
        tiling: The cells and their parts.
        near: Which step is not exact.
        larger: Whether the cells are larger than the unions of their parts, or smaller.
        blocks: The levels of both tables for the variable of that step.
    """

    tiling: Tiling
    near: int
    larger: bool
    blocks: tuple[LeafBlock, ...]

    @property
    def step(self) -> TilingStep:
        """The step that is not exact."""
        return self.tiling.steps[self.near]

    @property
    def variable(self) -> Variable:
        """The variable in which the cells differ from unions of parts."""
        return self.step.variable

    @property
    def cells(self) -> Numbers:
        """The cells, by their numbers in the whole."""
        return self.tiling.cells

    def differences(self, whole: Int64, parts: Int64) -> Int64:
        """For each of these cells, how many units it differs by from the union of its parts."""
        sums = self.tiling.sums(parts)
        own = whole.reshape(-1)[self.cells.astype(np.int64)]
        return own - sums if self.larger else sums - own

    def codes(self) -> Int64:
        """For each of these cells, the place in the step of its code."""
        axis = self.step.whole_axis
        cells = int(np.prod(self.tiling.shape, dtype=np.int64))
        if axis is None:
            return np.zeros(cells, dtype=np.int64)
        return np.unravel_index(np.arange(cells), self.tiling.shape)[axis].astype(np.int64)

    def rest(self, code: int) -> Mask:
        """The leaves by which a code differs from the union of its parts."""
        return self.step.rest(code)

    def is_shown(self, code: int) -> bool:
        """Whether that set of leaves is itself a union of codes of either table."""
        rest = self.rest(code)
        for block in self.blocks:
            if (block.group[rest] < 0).any():
                continue
            inside = np.bincount(block.group[rest], minlength=block.size)
            if ((inside == 0) | (inside == block.leaves)).all():
                return True
        return False


def near_tilings(whole: TableSpec, parts: TableSpec) -> Iterator[NearTiling]:
    """Cells of a table that are unions of cells of another, up to some codes of one variable.

    The other variables have to fit exactly. Both cells that are larger than the union of the
    parts inside them and cells that several parts cover with something left over are found;
    where one part covers a cell, ask for the tilings of the other table by this one.
    """
    shared = shared_variables((whole, parts)) or ()
    exact = [_coarsest_steps(shared_variable) for shared_variable in shared]
    for near, variable in enumerate(shared):
        blocks = tuple(itertools.chain(*variable.blocks))
        for step, larger in _near_steps(variable):
            for steps in itertools.product(*_replaced(exact, near, step)):
                yield NearTiling(Tiling(whole, parts, steps), near, larger, blocks)


def _replaced(
    steps: Sequence[Sequence[TilingStep]], at: int, step: TilingStep
) -> list[Sequence[TilingStep]]:
    return [*steps[:at], [step], *steps[at + 1 :]]


def _near_steps(shared: SharedVariable) -> Iterator[tuple[TilingStep, bool]]:
    for whole, parts in itertools.product(*shared.blocks):
        found = nesting(parts.group, parts.size, whole.group, whole.size)
        part = np.flatnonzero(found.group >= 0)
        wanted = (found.parts > 0) & ~found.whole
        if wanted.any():
            yield _chosen(shared, whole, parts, wanted, found.group[part], part), True
        # Pairs of codes that share a leaf.
        both = (whole.group >= 0) & (parts.group >= 0)
        pairs = np.unique(whole.group[both] * parts.size + parts.group[both])
        own, other = pairs // parts.size, pairs % parts.size
        shared_leaves = np.bincount(whole.group[both], minlength=whole.size)
        cover = np.bincount(own, weights=parts.leaves[other], minlength=whole.size)
        several = np.bincount(own, minlength=whole.size) > 1
        wanted = (shared_leaves == whole.leaves) & (cover > whole.leaves) & several
        if wanted.any():
            yield _chosen(shared, whole, parts, wanted, own, other), False


def _chosen(
    shared: SharedVariable,
    whole: LeafBlock,
    parts: LeafBlock,
    wanted: Mask,
    own: npt.NDArray[Any],
    part: npt.NDArray[Any],
) -> TilingStep:
    """A step that makes the wanted codes, from pairs of a code and a part of it."""
    kept = wanted[own]
    place = np.cumsum(wanted) - 1
    return TilingStep(
        shared.variable,
        shared.axes[0],
        shared.axes[1],
        whole,
        parts,
        np.flatnonzero(wanted).astype(np.int64),
        place[own[kept]].astype(np.int64),
        part[kept].astype(np.int64),
    )
