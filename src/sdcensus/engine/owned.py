"""Contributions that belong together: amounts of one owner in a cell are one contribution.

The largest contributions of a margin are not those of its parts where an owner has amounts in
several of them. What is kept is therefore what each owner has in each of the finest cells. Owners
with everything in one of them go the usual way, since their lists merge; for the others every cell
of the table adds up what they have in it. Both are exact, and nobody looks at the records twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.ranked import merge_lists
from sdcensus.kernels.cells.tabulate import SCATTER, Combine, identity
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import (
    ABSOLUTE,
    AMOUNT,
    BY_AMOUNT,
    CONTRIBUTOR_KEY,
    CONTRIBUTORS,
    ENTRY_KEY,
    ENTRY_WEIGHT,
    HIGHEST,
    LARGEST,
    LOWEST,
    WAIVED,
    ContributionNeeds,
    Contributions,
)
from sdcensus.model.cube.cube import COUNT, KEY, Accumulators, Cube, fields_of
from sdcensus.model.cube.layout import mixed_radix, positions_on
from sdcensus.model.cube.sparse_cube import LARGEST_GRID, AnyCube, SparseCube, assemble
from sdcensus.model.schema.schema import Combine as KeyCombine, KeySpace
from sdcensus.model.spec.table_spec import TableSpec

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class OwnedEntries(Confidential):
    """What owners contribute to cells: one row for an owner in a cell, or several.

    Attributes:
        cell: The number of the cell.
        owner: The number of the owner.
        contribution: What is contributed.
        key: The record keys behind it, combined.
        amount, weight: For a weighted sum, the amounts as they are, and the smallest weight.
        waived: 1 where all that is contributed may be shown, else 0; nothing without waivers.
    """

    cell: UInt64
    owner: Int64
    contribution: Int64
    key: UInt64
    amount: Int64 | None = None
    weight: Int64 | None = None
    waived: Int64 | None = None

    def __repr__(self) -> str:
        return "<OwnedEntries: confidential>"

    def chosen(self, rows: Integers) -> OwnedEntries:
        """Some of the rows."""
        return OwnedEntries(**{name: array[rows] for name, array in self._arrays().items()})

    def together(self, space: KeySpace, cell: UInt64 | None = None) -> OwnedEntries:
        """One row for each owner in each cell; of other cells, if they are given."""
        cells = self.cell if cell is None else cell
        order = np.lexsort((self.owner, cells))
        cells, owner = cells[order], self.owner[order]
        fresh = np.ones(cells.size, dtype=bool)
        fresh[1:] = (cells[1:] != cells[:-1]) | (owner[1:] != owner[:-1])
        first = np.flatnonzero(fresh)
        combines: dict[str, np.ufunc] = {
            "contribution": np.add,
            "key": np.bitwise_xor if space.combine is KeyCombine.XOR else np.add,
            "amount": np.add,
            "weight": np.minimum,
            "waived": np.minimum,
        }
        arrays = self._arrays()
        combined: dict[str, Any] = {
            name: combine.reduceat(arrays[name][order], first) if first.size else arrays[name]
            for name, combine in combines.items()
            if name in arrays
        }
        return OwnedEntries(cell=cells[first], owner=owner[first], **combined)

    def spread(self) -> npt.NDArray[np.bool_]:
        """Which rows are of owners with rows in several cells, where each has one in a cell."""
        _, place, rows = np.unique(self.owner, return_inverse=True, return_counts=True)
        several: npt.NDArray[np.bool_] = (rows > 1)[place]
        return several

    def accumulators(self, needs: ContributionNeeds, space: KeySpace) -> dict[str, Integers]:
        """What each row adds to the accumulators of its cell; nothing where its sum is 0."""
        nothing, limits = self.contribution == 0, np.iinfo(np.int64)
        own_key = space.reduce(self.key)
        arrays: dict[str, Integers] = {
            CONTRIBUTORS: (~nothing).astype(np.int64),
            CONTRIBUTOR_KEY: np.where(nothing, 0, own_key).astype(np.uint64),
        }
        if needs.spread:
            arrays[LOWEST] = np.where(nothing, limits.max, self.contribution)
            arrays[HIGHEST] = np.where(nothing, limits.min, self.contribution)
        if needs.absolute:
            arrays[ABSOLUTE] = np.abs(self.contribution)
        if needs.largest:
            waived = {} if self.waived is None or not needs.waivers else {WAIVED: self.waived}
            keys = {ENTRY_KEY: own_key} if needs.keys else {}
            lists: dict[str, dict[str, Integers]] = {
                LARGEST: {AMOUNT: self.contribution, **keys, **waived}
            }
            if self.amount is not None and self.weight is not None:
                lists[BY_AMOUNT] = {AMOUNT: self.amount, ENTRY_WEIGHT: self.weight, **waived}
            for prefix, fields in lists.items():
                width = needs.largest * len(fields)
                entries = np.zeros((nothing.size, width), dtype=np.int64)
                for at, values in enumerate(fields.values()):
                    entries[:, at] = np.where(nothing, 0, values)
                arrays[f"{prefix}{'+'.join(fields)}"] = entries
        return arrays

    def _arrays(self) -> dict[str, Integers]:
        arrays = {
            "cell": self.cell,
            "owner": self.owner,
            "contribution": self.contribution,
            "key": self.key,
            "amount": self.amount,
            "weight": self.weight,
            "waived": self.waived,
        }
        return {name: array for name, array in arrays.items() if array is not None}


def refuse_sparse_margins(spec: TableSpec) -> None:
    """Refuse a table of owners' amounts whose margins would have to be made from its cells.

    Raises:
        SpecError: It is too large to be held, and an axis has more than one level.
    """
    if any(len(axis.blocks) > 1 for axis in spec.axes):
        raise SpecError(
            f"{spec.title}: the amounts of {spec.amount.name if spec.amount else ''!r} belong to"
            " owners, who may have some in several cells, so that totals are not made from cells;"
            " and the table is too large to make them otherwise. Take fewer or coarser axes, or"
            " each axis at one level without its total: ed-total."
        )


def with_contributions(cube: AnyCube, entries: OwnedEntries, needs: ContributionNeeds) -> AnyCube:
    """A cube with the contributions of owners.

    Args:
        cube: The cube, without contributions.
        entries: What owners contribute to its finest cells, in any order.
        needs: What is kept.
    """
    space = cube.origin.key_space
    entries = entries.together(space)
    if isinstance(cube, SparseCube):
        refuse_sparse_margins(cube.spec)
        added = entries.accumulators(needs, space)
        flat = _empty(added, cube.numbers.size, space)
        _enter(flat, added, np.searchsorted(cube.numbers, entries.cell), space)
        contributions = _contributions(flat, cube, space)
        return replace(cube, values=replace(cube.values, contributions=contributions))
    several = entries.spread()
    flat = _merged_cells(cube, entries.chosen(~several), needs)
    _add_spread(flat, cube, entries.chosen(several), needs)
    shaped = {name: array.reshape((*cube.shape, *array.shape[1:])) for name, array in flat.items()}
    contributions = _contributions(shaped, cube, space)
    return replace(cube, values=replace(cube.values, contributions=contributions))


def _merged_cells(
    cube: Cube, entries: OwnedEntries, needs: ContributionNeeds
) -> dict[str, Integers]:
    """Contributions of owners that have all in one of the finest cells, in every cell."""
    space = cube.origin.key_space
    nobody = np.zeros(entries.cell.size, dtype=np.int64)
    sums = {COUNT: nobody, KEY: nobody.astype(np.uint64), **entries.accumulators(needs, space)}
    part = assemble(cube.spec, cube.origin, entries.cell, sums, largest_dense=LARGEST_GRID)
    return {
        name: np.array(array).reshape((cube.spec.cells, *array.shape[len(cube.shape) :]))
        for name, array, _ in part.values.parts(space)
        if name not in (COUNT, KEY)
    }


def _add_spread(
    flat: Mapping[str, Integers], cube: Cube, entries: OwnedEntries, needs: ContributionNeeds
) -> None:
    """Add the contributions of all other owners, one level of each axis at a time."""
    if not entries.cell.size:
        return
    spec, space = cube.spec, cube.origin.key_space
    digits = [positions_on(spec.base_shape, at, entries.cell) for at in range(len(spec.axes))]
    weights = mixed_radix(spec.shape)
    for blocks in itertools.product(*(axis.blocks for axis in spec.axes)):
        cells = np.zeros(entries.cell.size, dtype=np.uint64)
        for block, digit, weight in zip(blocks, digits, weights, strict=True):
            cells += ((block.group[digit] + block.start) * weight).astype(np.uint64)
        part = entries.together(space, cells)
        _enter(flat, part.accumulators(needs, space), part.cell, space)


def _empty(added: Mapping[str, Integers], cells: int, space: KeySpace) -> dict[str, Integers]:
    """Accumulators of cells to which nobody contributes."""
    empty: dict[str, Integers] = {}
    for name, array in added.items():
        nothing = identity(Accumulators.combine_of(name, space), array.dtype)
        empty[name] = np.full((cells, *array.shape[1:]), nothing, dtype=array.dtype)
    return empty


def _enter(
    flat: Mapping[str, Integers], added: Mapping[str, Integers], cells: Integers, space: KeySpace
) -> None:
    """Combine accumulators of rows into those of cells."""
    for name, array in added.items():
        combine = Accumulators.combine_of(name, space)
        if combine is Combine.LARGEST:
            merge_lists(cells, array, flat[name], fields_of(name))
        else:
            SCATTER[combine](cells, array, flat[name])


def _contributions(
    arrays: Mapping[str, Integers], cube: AnyCube, space: KeySpace
) -> Contributions | None:
    counted: dict[str, Integers] = {COUNT: cube.values.count, KEY: cube.values.key}
    return Accumulators.from_sums({**counted, **arrays}, space).contributions
