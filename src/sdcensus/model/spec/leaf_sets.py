"""Sets of leaves of one variable with their digests: what the codes of tables are made of.

A digest stands for a variable and a set of its leaves, in whatever order they are listed. The set
of all leaves tells nothing about a record: its digest is 0, and so is that of no leaf at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import TOTAL, Axis

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
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
        made = [np.zeros((0, size), dtype=np.int64)]
        for group, count in self.blocks:
            held = group >= 0
            pairs = group[held] * size + classes[held]
            made.append(np.bincount(pairs, minlength=count * size).reshape(count, size))
        return np.concatenate(made)


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
    declared = next((one for one in variable.levels() if one.name == level.name), None)
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
    made = digests[own]
    new = np.flatnonzero(own < 0)
    made[new] = _digests(variable, level.group_array, new.tolist(), words)
    return made


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
    found = hashlib.blake2b(text.encode(), digest_size=8 * words, person=purpose).digest()
    return np.frombuffer(found, dtype="<u8").astype(np.uint64)
