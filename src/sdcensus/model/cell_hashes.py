"""A hash of the records that each cell of a table is about, the same however it is spelled.

A cell is a set of leaves of each variable. Each such set has a 128-bit BLAKE2b digest, sets of
all leaves have none, and the hash of a cell is the sum of the digests of its sets: so "women" is
the same cell as a code, as a filter and as a subtotal, and all cells of a table are hashed by
adding arrays, one axis after the other.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.layout import positions_on
from sdcensus.model.leaf_groups import LeafBlock, leaf_blocks
from sdcensus.model.record_sets import is_product, leaves_in, leaves_of
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.universe import Universe, restrict
from sdcensus.model.variable import Variable

UInt64 = npt.NDArray[np.uint64]

#: Conditions on several variables together are resolved for so many combinations of codes.
MOST_COMBINATIONS = 50_000


def cell_hashes(spec: TableSpec, *, cells: npt.NDArray[Any] | None = None) -> UInt64:
    """For each cell of a table the hash of its records, as two 64-bit numbers.

    Args:
        spec: The table.
        cells: The numbers of the cells that are wanted, the last axis running fastest; all of
            them without.

    Returns:
        An array of one row for each cell. Cells that cannot hold a record have the hash 0.
    """
    wanted = np.arange(spec.cells, dtype=np.uint64) if cells is None else cells.astype(np.uint64)
    joint = [] if is_product(spec.universe) else _joint_axes(spec)
    made = np.zeros((wanted.size, 2), dtype=np.uint64)
    possible = np.ones(wanted.size, dtype=bool)
    made += _digest([spec.of.value, spec.measure.value], b"cell-kind")
    place = np.zeros(wanted.size, dtype=np.int64)
    size = 1
    for at in reversed(range(len(spec.axes))):
        axis = spec.axes[at]
        position = positions_on(spec.shape, at, wanted)
        if at in joint:
            place += position * size
            size *= len(axis.codes)
            continue
        digests, held = code_digests(spec, axis.variable)
        possible &= held[position]
        made += digests[position]
    if joint:
        digests, held = _joint_digests(spec, joint)
        made += digests[place]
        possible &= held[place]
    else:
        shown = {axis.variable.name for axis in spec.axes}
        rest = [one for one in spec.universe.variables if one.name not in shown]
        for variable in rest:
            made += code_digests(spec, variable)[0][0]
    made[~possible] = 0
    return made


def code_digests(spec: TableSpec, variable: Variable) -> tuple[UInt64, npt.NDArray[np.bool_]]:
    """For each code of a variable in a table the digest of its leaves, and if it has any.

    A variable that is no axis has one code: what the condition of the table leaves of it.
    Conditions on several variables together are taken for the leaves that occur in them at all.
    """
    blocks = leaf_blocks(spec, variable)
    digests = np.concatenate([_block_digests(variable, block) for block in blocks])
    return digests, np.concatenate([block.leaves > 0 for block in blocks])


def _block_digests(variable: Variable, block: LeafBlock) -> UInt64:
    """For each code of a level the digest of its set of leaves; 0 for all leaves together."""
    members: list[list[str]] = [[] for _ in range(block.size)]
    for code, group in zip(variable.codes, block.group.tolist(), strict=True):
        if group >= 0:
            members[group].append(code.code)
    digests = np.zeros((block.size, 2), dtype=np.uint64)
    for at, codes in enumerate(members):
        if 0 < len(codes) < len(variable.codes):
            digests[at] = _digest([variable.name, sorted(codes)], b"cell-leaves")
    return digests


def _joint_axes(spec: TableSpec) -> list[int]:
    """The axes whose variables a condition combines with others."""
    names = {one.name for one in spec.universe.variables}
    return [at for at, axis in enumerate(spec.axes) if axis.variable.name in names] or [-1]


def _joint_digests(spec: TableSpec, joint: list[int]) -> tuple[UInt64, npt.NDArray[np.bool_]]:
    """Digests for all combinations of codes of the axes that a condition combines."""
    axes = [spec.axes[at] for at in joint if at >= 0]
    shape = tuple(len(axis.codes) for axis in axes)
    size = int(np.prod(shape, dtype=np.int64))
    if size > MOST_COMBINATIONS:
        raise SpecError(
            f"{spec.title}: its condition combines variables with more than"
            f" {MOST_COMBINATIONS:,} combinations of codes. Use fewer of its variables as axes."
        )
    digests = np.zeros((size, 2), dtype=np.uint64)
    held = np.zeros(size, dtype=bool)
    for number, positions in enumerate(np.ndindex(*shape)):
        universe = spec.universe
        for axis, position in zip(axes, positions, strict=True):
            universe = restrict(universe, axis.variable, leaves_of(axis, position))
        held[number] = universe.truth.any()
        digests[number] = _universe_digest(universe)
    return digests, held


def _universe_digest(universe: Universe) -> UInt64:
    total = np.zeros(2, dtype=np.uint64)
    if not is_product(universe):
        return total + _digest(universe.canonical(), b"cell-condition")
    for variable in universe.variables:
        mask = leaves_in(universe, variable)
        codes = sorted(one.code for one, inside in zip(variable.codes, mask, strict=True) if inside)
        if codes and len(codes) < len(variable.codes):
            total += _digest([variable.name, codes], b"cell-leaves")
    return total


def _digest(content: object, purpose: bytes) -> UInt64:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    digest = hashlib.blake2b(text.encode(), digest_size=16, person=purpose).digest()
    return np.frombuffer(digest, dtype="<u8").astype(np.uint64)
