"""Cells as sets of records: which cells of one table are also cells of another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, restrict

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]

#: Comparing one cell takes a fraction of a millisecond.
MOST_CELLS = 50_000


def leaves_of(axis: Axis, position: int) -> Mask:
    """Which leaves of its variable a code of an axis stands for."""
    code = axis.codes[position]
    if code.is_total:
        return np.ones(len(axis.variable.codes), dtype=bool)
    block = next(block for block in axis.blocks if block.level == code.level)
    level = next(level for level in axis.levels if level.name == code.level)
    return np.asarray(level.group_array == position - block.start)


def leaves_in(universe: Universe, variable: Variable) -> Mask:
    """Which leaves of a variable occur in a universe at all."""
    for axis, one in enumerate(universe.variables):
        if one.name == variable.name:
            others = tuple(at for at in range(universe.truth.ndim) if at != axis)
            return np.asarray(universe.truth.any(axis=others))[universe.classes[axis]]
    return np.full(len(variable.codes), bool(universe.truth.any()))


def is_product(universe: Universe) -> bool:
    """Whether the universe is a set of leaves of each of its variables, combined freely."""
    truth = universe.truth
    free = np.ones(truth.shape, dtype=bool)
    for axis in range(truth.ndim):
        others = tuple(at for at in range(truth.ndim) if at != axis)
        shape = [1] * truth.ndim
        shape[axis] = -1
        free &= truth.any(axis=others).reshape(shape)
    return bool((free == truth).all())


def universe_of_cell(spec: TableSpec, positions: tuple[int, ...]) -> Universe:
    """The records of one cell of a table."""
    universe = spec.universe
    for axis, position in zip(spec.axes, positions, strict=True):
        if not axis.codes[position].is_total:
            universe = restrict(universe, axis.variable, leaves_of(axis, position))
    return universe


def cells_of(spec: TableSpec, other: TableSpec) -> Numbers:
    """The cells of ``spec`` that hold the same records as some cell of ``other``, for any data.

    Cells are numbered in the order of the table, the last axis running fastest. Axes and
    conditions count as what they select: "women" as a code, as a filter or as a subtotal with one
    child is the same set of records.
    """
    if spec.of is not other.of:
        return np.zeros(0, dtype=np.uint64)
    if other.cells > MOST_CELLS:
        raise SpecError(f"{other.title}: at most {MOST_CELLS:,} cells can be exempt.")
    leaves = [
        np.stack([leaves_of(axis, at) for at in range(len(axis.codes))]) for axis in spec.axes
    ]
    exact = is_product(spec.universe)
    possible = [leaves_in(spec.universe, axis.variable) for axis in spec.axes]
    weights = mixed_radix(spec.shape)
    found: set[int] = set()
    for wanted in _universes(other):
        candidates = []
        for axis, masks, inside in zip(spec.axes, leaves, possible, strict=True):
            needed = leaves_in(wanted, axis.variable)
            # Under other conditions, codes of the other axes can narrow a code down.
            fits = masks & inside == needed if exact else masks & needed == needed
            candidates.append(np.flatnonzero(fits.all(axis=1)).tolist())
        target = None
        for positions in itertools.product(*candidates):
            target = wanted.canonical() if target is None else target
            if universe_of_cell(spec, positions).canonical() == target:
                found.add(sum(at * weight for at, weight in zip(positions, weights, strict=True)))
    return np.array(sorted(found), dtype=np.uint64)


def _universes(spec: TableSpec) -> Iterator[Universe]:
    """The records of every cell of a table that can hold any."""
    for positions in itertools.product(*(range(size) for size in spec.shape)):
        universe = universe_of_cell(spec, positions)
        if universe.truth.any():
            yield universe
