"""Cells as sets of leaves and of records: which cells of one table are also cells of another.

A digest stands for a variable and a set of its leaves, in whatever order they are listed. The set
of all leaves tells nothing about a record: its digest is 0, and so is that of no leaf at all.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, restrict

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class LeafSets:
    """Sets of leaves of one variable, numbered block by block.

    Attributes:
        variable: The variable.
        blocks: Sets that do not overlap: for each leaf the set that holds it, -1 for none, and how
            many sets there are.
        digests: For each set one row of 64-bit words.
    """

    variable: Variable
    blocks: tuple[tuple[Int64, int], ...]
    digests: UInt64

    @property
    def sizes(self) -> Int64:
        """How many leaves each set has."""
        return self.inside(np.zeros(len(self.variable.codes), dtype=np.int64), 1)[:, 0]

    def inside(self, classes: Int64, size: int) -> Int64:
        """For each set, how many of its leaves lie in each class of leaves.

        Args:
            classes: For each leaf its class.
            size: How many classes there are.
        """
        counted = [np.zeros((0, size), dtype=np.int64)]
        for group, count in self.blocks:
            held = group >= 0
            pairs = group[held] * size + classes[held]
            counted.append(np.bincount(pairs, minlength=count * size).reshape(count, size))
        return np.concatenate(counted)


def axis_sets(axis: Axis, inside: Mask | None, words: int) -> LeafSets:
    """The sets of leaves of the codes of an axis, in their order.

    Args:
        axis: The axis.
        inside: The leaves that the table counts at all; ``None`` for all.
        words: How many words a digest has.
    """
    variable = axis.variable
    levels = {level.name: level for level in axis.levels}
    blocks, digests = [], [np.zeros((0, words), dtype=np.uint64)]
    for block in axis.blocks:
        group = np.zeros(len(variable.codes), dtype=np.int64)
        if block.level != TOTAL:
            group = levels[block.level].group_array
        if inside is not None:
            group = np.where(inside, group, -1)
            digests.append(_digests(variable, group, range(block.size), words))
        elif block.level == TOTAL:
            digests.append(np.zeros((1, words), dtype=np.uint64))
        else:
            digests.append(_level_digests(variable, levels[block.level], words))
        blocks.append((group, block.size))
    return LeafSets(variable, tuple(blocks), np.concatenate(digests))


def mask_sets(variable: Variable, masks: Sequence[Mask], words: int) -> LeafSets:
    """Some sets of leaves, each given by its leaves."""
    blocks = tuple((np.where(mask, 0, -1).astype(np.int64), 1) for mask in masks)
    digests = [_digests(variable, group, range(1), words) for group, _ in blocks]
    empty = np.zeros((0, words), dtype=np.uint64)
    return LeafSets(variable, blocks, np.concatenate([empty, *digests]))


def joined(first: LeafSets, second: LeafSets) -> LeafSets:
    """The sets of two lists behind each other."""
    return LeafSets(
        first.variable,
        (*first.blocks, *second.blocks),
        np.concatenate([first.digests, second.digests]),
    )


def _level_digests(variable: Variable, level: Level, words: int) -> UInt64:
    """The digests of the codes of a level; those of a declared one are made once."""
    declared = next((other for other in variable.levels() if other.name == level.name), None)
    if declared is None:  # made by the rule of the smallest group, to count ancestors
        return _digests(variable, level.group_array, range(len(level.codes)), words)
    digests: UInt64 = variable.kept(
        ("leaf-digests", level.name, words),
        lambda: _digests(variable, declared.group_array, range(len(declared.codes)), words),
    )
    if declared is level:
        return digests
    # A question counts a level with some of its codes only, and the others as one.
    places = {id(code): at for at, code in enumerate(declared.codes)}
    own = np.array([places.get(id(code), -1) for code in level.codes], dtype=np.int64)
    place = np.full(len(declared.codes), -1, dtype=np.int64)
    place[own[own >= 0]] = np.flatnonzero(own >= 0)
    kept = own[level.group_array] >= 0
    same = np.array_equal(np.where(kept, level.group_array, -1), place[declared.group_array])
    if not same:
        return _digests(variable, level.group_array, range(len(level.codes)), words)
    digest_rows = digests[own]
    new = np.flatnonzero(own < 0)
    digest_rows[new] = _digests(variable, level.group_array, new.tolist(), words)
    return digest_rows


def _digests(variable: Variable, group: Int64, wanted: Sequence[int], words: int) -> UInt64:
    """The digests of some of the sets into which leaves are put."""
    members: dict[int, list[str]] = {at: [] for at in wanted}
    for code, at in zip(variable.codes, group.tolist(), strict=True):
        if at in members:
            members[at].append(code.code)
    digests = np.zeros((len(members), words), dtype=np.uint64)
    for row, codes in enumerate(members.values()):
        if 0 < len(codes) < len(variable.codes):
            digests[row] = digest([variable.name, sorted(codes)], b"cell-leaves", words)
    return digests


def digest(content: object, purpose: bytes, words: int) -> UInt64:
    """A digest of plain values: so many 64-bit words."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    digest_bytes = hashlib.blake2b(text.encode(), digest_size=8 * words, person=purpose).digest()
    return np.frombuffer(digest_bytes, dtype="<u8").astype(np.uint64)


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
    numbers: set[int] = set()
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
                numbers.add(sum(at * weight for at, weight in zip(positions, weights, strict=True)))
    return np.array(sorted(numbers), dtype=np.uint64)


def _universes(spec: TableSpec) -> Iterator[Universe]:
    """The records of every cell of a table that can hold any."""
    for positions in itertools.product(*(range(size) for size in spec.shape)):
        universe = universe_of_cell(spec, positions)
        if universe.truth.any():
            yield universe
