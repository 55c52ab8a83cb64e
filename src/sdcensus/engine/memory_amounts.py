"""What the records of a store contribute to a sum, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field as attribute, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.owned import OwnedEntries
from sdcensus.engine.requests import Needs, Tabulate
from sdcensus.kernels.cells.packed_entries import Packing
from sdcensus.kernels.cells.ranked import contribute, enter_numbers, largest_entries
from sdcensus.kernels.cells.tabulate import BLOCK_ROWS, SCATTER, Combine, add, scale
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
    SPREAD,
    WAIVED,
    ContributionNeeds,
    column_name,
    entry_fields,
    is_list,
)
from sdcensus.model.cube.cube import SUM_OF
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import Combine as KeyCombine, KeySpace
from sdcensus.store.census_store import Column, RecordSource

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Contributors and their keys share one 64-bit integer in this accumulator, while it is filled.
PACKED_CONTRIBUTORS = "contributors and their keys"
_NOTHING = np.zeros(0, dtype=np.int64)
_FIRST = (LARGEST, column_name(LARGEST, AMOUNT))


@dataclass(frozen=True, slots=True, repr=False)
class Extent(Confidential):
    """Limits of what all records together contribute, whatever the table; confidential.

    Attributes:
        total: At least the sum of contributions without their signs, about.
        contribution, amount, weight: At least the largest, without its sign.
        negative: Whether an amount is below 0.
    """

    total: float
    contribution: int
    amount: int
    weight: int
    negative: bool

    def __repr__(self) -> str:
        return "<Extent: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Amounts:
    """The columns behind a table of sums.

    Attributes:
        total: The name of the accumulator of the sum.
        amount, weight, key: The columns; no weight for a plain sum.
        weight_unit: What a weight of 1 is.
        waiver: The leaves that may say that a contributor agreed to be shown.
        waiving: For each leaf whether it says so.
        owner: To whom amounts belong, where contributions of one owner are one.
        needs: What is kept of contributions.
        packed: Whether contributors and keys are counted in one integer.
        packings: The lists whose entries are one integer each, and how.
        positive: Whether nothing is kept that follows from the rest where no amount is below 0.
    """

    total: str
    amount: Column
    key: Column
    weight: Column | None = None
    weight_unit: int = 1
    waiver: Column | None = None
    waiving: npt.NDArray[np.bool_] | None = None
    owner: Column | None = None
    needs: ContributionNeeds | None = None
    packed: bool = False
    packings: Mapping[str, Packing] = attribute(default_factory=dict)
    positive: bool = False

    @classmethod
    def build(
        cls, store: RecordSource, request: Tabulate, needs: Needs, *, packed: bool
    ) -> Amounts | None:
        """The columns behind a request; nothing where it is no table of sums."""
        if needs.amount is None:
            return None
        of = request.spec.of
        weighted = request.spec.measure.is_weighted and needs.weight is not None
        waiver, waiving = None, None
        if needs.waiver is not None:
            waiver = store.column(of, needs.waiver[0])
            waiving = np.isin(np.arange(len(needs.waiver[0].codes)), needs.waiver[1])
        return cls(
            f"{SUM_OF}{needs.amount.name}",
            store.values(of, needs.amount).without_blanks(NO_VALUE),
            Column(store.record_keys(of), (), 0),
            store.values(of, needs.weight) if weighted and needs.weight is not None else None,
            10**needs.weight.decimals if weighted and needs.weight is not None else 1,
            waiver,
            waiving,
            store.owners(of, needs.amount) if needs.owner else None,
            request.contributions,
            packed,
        )

    def extent(self, rows: int) -> Extent:
        """What all records contribute at most; looks at each of them."""
        step = 16 * BLOCK_ROWS
        total, contribution, amount, weight, lowest = 0.0, 0.0, 0, 0, 0
        for start in range(0, rows, step):
            piece = slice(start, min(start + step, rows))
            amounts = self.amount[piece]
            sizes = np.abs(amounts.astype(np.float64))
            lowest = min(lowest, int(amounts.min()))
            amount = max(amount, -int(amounts.min()), int(amounts.max()))
            if self.weight is not None:
                weights = self.weight[piece]
                weight = max(weight, int(weights.max()))
                sizes *= weights / self.weight_unit
            total += float(sizes.sum())
            contribution = max(contribution, float(sizes.max()))
        # Twice 2**-52 of it is the most by which a product of such numbers is off.
        largest = int(contribution * (1 + 2.0**-50)) + 1
        return Extent(total, largest, amount, weight, lowest < 0)

    def within(self, extent: Extent, modulus: int) -> Amounts:
        """The same for a table that is held whole: entries become numbers where they fit.

        Args:
            extent: What is contributed at most.
            modulus: Of the record keys.
        """
        further = {ENTRY_WEIGHT: extent.weight, ENTRY_KEY: modulus - 1, WAIVED: 1}
        packings: dict[str, Packing] = {}
        for name in filter(is_list, self.names()):
            fields = entry_fields(name)[1:]
            largest = extent.contribution if name.startswith(LARGEST) else extent.amount
            packing = Packing.build(largest, extent.negative, [further[field] for field in fields])
            if packing is not None:
                packings[name] = packing
        return replace(self, packings=packings, positive=not extent.negative)

    def names(self) -> tuple[str, ...]:
        """The accumulators, in the order in which they are filled."""
        if self.needs is None:
            return (self.total,)
        counted = (PACKED_CONTRIBUTORS,) if self.packed else (CONTRIBUTORS, CONTRIBUTOR_KEY)
        highest: tuple[str, ...] = () if self._highest_is_first else (HIGHEST,)
        spread: tuple[str, ...] = (LOWEST, *highest) if self.needs.spread else ()
        absolute = (ABSOLUTE,) if self.needs.absolute and not self.positive else ()
        lists: tuple[str, ...] = ()
        if self.needs.largest:
            waived = (WAIVED,) if self.needs.waivers and self.waiver is not None else ()
            keys = (ENTRY_KEY,) if self.needs.keys else ()
            lists = (f"{LARGEST}{'+'.join((AMOUNT, *keys, *waived))}",)
            if self.weight is not None:
                lists += (f"{BY_AMOUNT}{'+'.join((AMOUNT, ENTRY_WEIGHT, *waived))}",)
        return (self.total, *counted, *spread, *absolute, *lists)

    @property
    def _highest_is_first(self) -> bool:
        """Whether the largest contribution is that without its sign, too."""
        return self.positive and self.needs is not None and self.needs.largest > 0

    def width(self, name: str) -> tuple[int, ...]:
        """The further axis of an accumulator that is a list."""
        if not is_list(name) or self.needs is None:
            return ()
        return (self.needs.largest * (1 if name in self.packings else len(entry_fields(name))),)

    def finished(self, grid: Mapping[str, Integers], threads: Executor) -> dict[str, Integers]:
        """The accumulators of a grid whose margins are there: no number stands for an entry now."""
        arrays = dict(grid)
        for name, packing in self.packings.items():
            lists = arrays.pop(name)
            fields = entry_fields(name)
            types: Mapping[str, npt.DTypeLike] = {ENTRY_KEY: np.uint32, WAIVED: np.bool_}
            columns = [
                np.empty(lists.shape, dtype=types.get(field, np.int64)) for field in fields[1:]
            ]
            halves = [np.array_split(array, 2) for array in (lists, *columns)]
            list(threads.map(packing.unpack, *halves))
            for field, column in zip(fields, (lists, *columns), strict=True):
                arrays[column_name(name, field)] = column
        if self.needs is not None and self.needs.spread and self._highest_is_first:
            # The first number of a list is the largest contribution, packed before or not.
            first = next(name for name in arrays if name.startswith(_FIRST))
            arrays[column_name(SPREAD, HIGHEST)] = arrays[first][..., 0]
        for name, nobody in _NOBODY.items():
            if name in arrays:
                values = arrays[column_name(SPREAD, name)] = arrays.pop(name)
                np.copyto(values, 0, where=values == nobody)
        if self.needs is not None and self.needs.absolute and self.positive:
            arrays[ABSOLUTE] = arrays[self.total]
        return arrays

    def contribution(self, rows: slice) -> Int64:
        """What each record contributes; 0 where it has no amount, or no weight."""
        amount = self.amount[rows]
        if self.weight is None:
            return amount.astype(np.int64, copy=False)
        scaled = np.empty(amount.size, dtype=np.int64)
        scale(amount, self.weight[rows], self.weight_unit, scaled)
        return scaled

    def entry(self, name: str, field: str, rows: slice, contribution: Int64) -> Int64:
        """One number of what records enter into a list."""
        if field == AMOUNT:
            return contribution if name.startswith(LARGEST) else self.amount[rows]
        if field == WAIVED and self.waiver is not None and self.waiving is not None:
            return self.waiving[self.waiver[rows]].astype(np.int64)
        column = self.weight if field == ENTRY_WEIGHT and self.weight is not None else self.key
        return column[rows]

    def scatter(
        self, rows: slice, cells: Integers, grid: Mapping[str, Integers], space: KeySpace
    ) -> None:
        """Add a block of records to the accumulators of a grid."""
        contribution = self.contribution(rows)
        if self.needs is None:
            add(cells, contribution, grid[self.total])
            return
        done: frozenset[str] = frozenset()
        if self.packed:
            lowest = grid.get(LOWEST, _NOTHING)
            held = grid[self.total], grid[PACKED_CONTRIBUTORS], lowest
            contribute(cells, contribution, self.key[rows], *held)
            done = frozenset({self.total, PACKED_CONTRIBUTORS, LOWEST})
        for name in self.names():
            if name in self.packings:
                enter_numbers(cells, self._numbers(name, rows, contribution), grid[name])
                done |= {name}
        rest = [name for name in self.names() if name not in done]
        if not rest:
            return
        present = np.flatnonzero(contribution)
        cells, amounts = cells[present], contribution[present]
        for name in rest:
            if is_list(name):
                entries = [
                    self.entry(name, field, rows, contribution)[present]
                    for field in entry_fields(name)
                ]
                largest_entries(cells, np.stack(entries, axis=-1), grid[name])
                continue
            combine = _COMBINES.get(name, Combine.SUM)
            if name == CONTRIBUTOR_KEY and space.combine is KeyCombine.XOR:
                combine = Combine.XOR
            SCATTER[combine](
                cells, self._column(name, self.key[rows][present], amounts), grid[name]
            )

    def _numbers(self, name: str, rows: slice, contribution: Int64) -> Int64:
        """The entries of records in a list, as numbers; 0 for those that contribute nothing."""
        amount, *further = (
            self.entry(name, field, rows, contribution) for field in entry_fields(name)
        )
        if amount is not contribution:
            amount = np.where(contribution == 0, 0, amount)
        return self.packings[name].pack(amount, further)

    def owned(self, blocks: Iterable[tuple[slice, Integers]], outside: int) -> OwnedEntries:
        """What owners contribute to cells, record by record.

        Args:
            blocks: Blocks of records, with the cell of each.
            outside: The cell of those that do not count.
        """
        fields = ["cell", "owner", "contribution", "key"]
        fields += ["amount", "weight"] if self.weight is not None else []
        fields += ["waived"] if self.waiver is not None else []
        parts: dict[str, list[Integers]] = {field: [] for field in fields}
        for rows, cells in blocks:
            contribution = self.contribution(rows)
            chosen = (contribution != 0) & (cells != outside)
            columns: dict[str, Integers] = {
                "cell": cells,
                "contribution": contribution,
                "key": self.key[rows].astype(np.uint64),
                "amount": self.amount[rows],
            }
            if self.owner is not None:
                columns["owner"] = self.owner[rows].astype(np.int64)
            if self.weight is not None:
                columns["weight"] = self.weight[rows]
            if self.waiver is not None:
                columns["waived"] = self.entry(LARGEST, WAIVED, rows, contribution)
            for field in fields:
                parts[field].append(columns[field][chosen])
        types = {"cell": np.uint64, "key": np.uint64}
        return OwnedEntries(
            **{
                field: np.concatenate([np.zeros(0, types.get(field, np.int64)), *pieces])
                for field, pieces in parts.items()
            }
        )

    def columns(self, rows: slice) -> dict[str, Integers]:
        """What records add to each accumulator, by its name; those that contribute nothing too."""
        contribution = self.contribution(rows)
        if self.needs is None:
            return {self.total: contribution}
        nothing, limits = contribution == 0, np.iinfo(np.int64)
        empty = {LOWEST: limits.max, HIGHEST: limits.min}
        columns: dict[str, Integers] = {self.total: contribution}
        for name in self.names()[1:]:
            if is_list(name):
                fields = [
                    np.where(nothing, 0, self.entry(name, field, rows, contribution))
                    for field in entry_fields(name)
                ]
                columns[name] = np.stack(fields, axis=-1)
            else:
                column = self._column(name, self.key[rows], contribution)
                columns[name] = np.where(nothing, empty.get(name, 0), column)
        return columns

    def _column(self, name: str, key: Integers, amounts: Int64) -> Integers:
        if name == CONTRIBUTORS:
            return np.ones(amounts.size, dtype=np.int64)
        if name == CONTRIBUTOR_KEY:
            return key.astype(np.uint64)
        return np.abs(amounts) if name == ABSOLUTE else amounts


#: What the extremes are while nobody contributes.
_NOBODY = {LOWEST: np.iinfo(np.int64).max, HIGHEST: np.iinfo(np.int64).min}
_COMBINES = {LOWEST: Combine.LOW, HIGHEST: Combine.HIGH}
