"""What the records of a store contribute to a sum, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.owned import OwnedEntries
from sdcensus.engine.requests import Needs, Tabulate
from sdcensus.kernels.cells.ranked import enter_rows, largest_entries, largest_ranks
from sdcensus.kernels.cells.tabulate import SCATTER, Combine, add, count_and_key, scale
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Amounts:
    """The columns behind a table of sums.

    Attributes:
        total: The name of the accumulator of the sum.
        amount, weight, key: The columns; no weight for a plain sum.
        given: The amounts as they lie, with a mark where there is none.
        weight_unit: What a weight of 1 is.
        waiver: The leaves that may say that a contributor agreed to be shown.
        waiving: For each leaf whether it says so.
        owner: To whom amounts belong, where contributions of one owner are one.
        needs: What is kept of contributions.
        packed: Whether contributors and keys are counted in one integer.
    """

    total: str
    amount: Column
    key: Column
    given: Column
    weight: Column | None = None
    weight_unit: int = 1
    waiver: Column | None = None
    waiving: npt.NDArray[np.bool_] | None = None
    owner: Column | None = None
    needs: ContributionNeeds | None = None
    packed: bool = False

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
            store.values(of, needs.amount),
            store.values(of, needs.weight) if weighted and needs.weight is not None else None,
            10**needs.weight.decimals if weighted and needs.weight is not None else 1,
            waiver,
            waiving,
            store.owners(of, needs.amount) if needs.owner else None,
            request.contributions,
            packed,
        )

    def names(self) -> tuple[str, ...]:
        """The accumulators, in the order in which they are filled."""
        if self.needs is None:
            return (self.total,)
        counted = (PACKED_CONTRIBUTORS,) if self.packed else (CONTRIBUTORS, CONTRIBUTOR_KEY)
        spread = (LOWEST, HIGHEST) if self.needs.spread else ()
        absolute = (ABSOLUTE,) if self.needs.absolute else ()
        lists: tuple[str, ...] = ()
        if self.needs.largest:
            waived = (WAIVED,) if self.needs.waivers and self.waiver is not None else ()
            keys = (ENTRY_KEY,) if self.needs.keys else ()
            lists = (f"{LARGEST}{'+'.join((AMOUNT, *keys, *waived))}",)
            if self.weight is not None:
                lists += (f"{BY_AMOUNT}{'+'.join((AMOUNT, ENTRY_WEIGHT, *waived))}",)
        return (self.total, *counted, *spread, *absolute, *lists)

    @staticmethod
    def ranks(name: str) -> bool:
        """Whether the grid of an accumulator holds ranks of amounts."""
        return is_list(name) and entry_fields(name) == (AMOUNT,)

    def width(self, name: str) -> tuple[int, ...]:
        """The further axis of an accumulator that is a list."""
        if not is_list(name) or self.needs is None:
            return ()
        return (self.needs.largest * len(entry_fields(name)),)

    def contribution(self, rows: slice) -> Int64:
        """What each record contributes; 0 where it has no amount, or no weight."""
        amount = self.amount[rows]
        if self.weight is None:
            return amount.astype(np.int64, copy=False)
        scaled = np.empty(amount.size, dtype=np.int64)
        scale(amount, self.weight[rows], self.weight_unit, scaled)
        return scaled

    def size(self, rows: slice) -> npt.NDArray[np.float64]:
        """About what each record contributes: whether sums fit is asked before they are made."""
        amount = self.amount[rows].astype(np.float64)
        return amount if self.weight is None else amount * (self.weight[rows] / self.weight_unit)

    def entry(self, name: str, field: str, rows: slice, contribution: Int64) -> Int64:
        """One number of what records enter into a list."""
        if field == AMOUNT:
            return contribution if name.startswith(LARGEST) else self.amount[rows]
        if field == WAIVED and self.waiver is not None and self.waiving is not None:
            return self.waiving[self.waiver[rows]].astype(np.int64)
        column = self.weight if field == ENTRY_WEIGHT and self.weight is not None else self.key
        return column[rows].astype(np.int64)

    def scatter(
        self, rows: slice, cells: Integers, grid: Mapping[str, Integers], space: KeySpace
    ) -> None:
        """Add a block of records to the accumulators of a grid; a list of amounts holds ranks."""
        together = self._together()
        if together is not None:
            fields = len(entry_fields(together))
            columns = cells, self.given[rows], NO_VALUE, self.key[rows]
            held = grid[self.total], grid[PACKED_CONTRIBUTORS], grid[together]
            enter_rows(*columns, *held, fields)
            if not self.needs or not (self.needs.spread or self.needs.absolute):
                return
        contribution = self.contribution(rows)
        if self.needs is None:
            add(cells, contribution, grid[self.total])
            return
        present = slice(None) if contribution.all() else np.flatnonzero(contribution)
        cells, amounts = cells[present], contribution[present]
        done = () if together is None else (self.total, PACKED_CONTRIBUTORS, together)
        for name in self.names():
            if name in done:
                continue
            if name == self.total:
                add(cells, amounts, grid[name])
            elif is_list(name):
                listed = entry_fields(name)
                if listed == (AMOUNT,):
                    largest_ranks(cells, amounts, grid[name])
                    continue
                entries = np.empty((cells.size, len(listed)), dtype=np.int64)
                for at, field in enumerate(listed):
                    entries[:, at] = self.entry(name, field, rows, contribution)[present]
                largest_entries(cells, entries, grid[name])
            elif name == PACKED_CONTRIBUTORS:
                count_and_key(cells, self.key[rows][present], grid[name])
            else:
                combine = _COMBINES.get(name, Combine.SUM)
                if name == CONTRIBUTOR_KEY and space.combine is KeyCombine.XOR:
                    combine = Combine.XOR
                column = self._column(name, self.key[rows][present], amounts)
                SCATTER[combine](cells, column, grid[name])

    def _together(self) -> str | None:
        """The list that is filled in one pass with the sum and the contributors, if there is."""
        if self.needs is None or not self.packed or self.weight is not None:
            return None
        for name in self.names():
            if is_list(name) and entry_fields(name) in ((AMOUNT,), (AMOUNT, ENTRY_KEY)):
                return name
        return None

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


_COMBINES = {LOWEST: Combine.LOW, HIGHEST: Combine.HIGH}
