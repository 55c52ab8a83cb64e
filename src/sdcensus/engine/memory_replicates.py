"""What random groups of households add to estimates, over the columns of a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.memory_amounts import Amounts
from sdcensus.engine.requests import Needs, Tabulate
from sdcensus.kernels.cells.replicates import REPLICATES, replicate_groups
from sdcensus.kernels.cells.tabulate import NO_ROW, add
from sdcensus.model.cube.replicates import replicate_names
from sdcensus.model.schema.schema import KeySpace
from sdcensus.store.census_store import Column, RecordSource

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Replicates:
    """The columns behind sampling errors.

    Attributes:
        value: What the records in some rows add to the estimate.
        key: Record keys, for records without a household.
        household: The key of each record's household; ``None`` where there are none.
    """

    value: Callable[[slice], Integers]
    key: Column
    household: Column | None

    @classmethod
    def build(
        cls, store: RecordSource, request: Tabulate, needs: Needs, amounts: Amounts | None
    ) -> Replicates | None:
        """The columns behind a request; nothing where it asks for no sampling errors."""
        if not request.replicates or needs.weight is None:
            return None
        of = request.spec.of
        weights = store.values(of, needs.weight)
        value = weights.__getitem__ if amounts is None else amounts.contribution
        household = store.household_keys(of) if needs.households else None
        return cls(value, Column(store.record_keys(of), (), 0), household)

    def groups(self, rows: slice) -> npt.NDArray[np.uint8]:
        """The group of each record: that of its household, or its own."""
        keys = self.key[rows].astype(np.int64)
        if self.household is None:
            return replicate_groups(keys)
        households = self.household[rows].astype(np.int64)
        return replicate_groups(np.where(households == int(NO_ROW), keys, households))

    def scatter(self, rows: slice, cells: Integers, grid: Mapping[str, Integers]) -> None:
        """Add a block of records to the accumulators of a grid."""
        groups = self.groups(rows)
        order = np.argsort(groups, kind="stable")
        cells, values = cells[order], self.value(rows)[order]
        ends = np.searchsorted(groups[order], np.arange(REPLICATES + 1))
        for name, start, stop in zip(replicate_names(), ends[:-1], ends[1:], strict=True):
            add(cells[start:stop], values[start:stop], grid[name])

    def columns(self, rows: slice) -> dict[str, Integers]:
        """What records add to each accumulator, by its name."""
        groups, values = self.groups(rows), self.value(rows).astype(np.int64)
        return {
            name: np.where(groups == group, values, 0)
            for group, name in enumerate(replicate_names())
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FurtherSums:
    """What is added up beside records, keys and weights: amounts, and groups of households."""

    amounts: Amounts | None
    replicates: Replicates | None

    @classmethod
    def build(
        cls, store: RecordSource, request: Tabulate, needs: Needs, amounts: Amounts | None
    ) -> FurtherSums:
        """What a request asks for."""
        return cls(amounts, Replicates.build(store, request, needs, amounts))

    def names(self) -> tuple[str, ...]:
        """The accumulators, in the order in which they are filled."""
        own = () if self.amounts is None else self.amounts.names()
        return own if self.replicates is None else (*own, *replicate_names())

    def width(self, name: str) -> tuple[int, ...]:
        """The further axis of an accumulator that is a list."""
        return () if self.amounts is None else self.amounts.width(name)

    def packs(self, name: str) -> bool:
        """Whether an accumulator is a list whose entries are one number each."""
        return self.amounts is not None and name in self.amounts.packings

    def finished(self, grid: Mapping[str, Integers], threads: Executor) -> Mapping[str, Integers]:
        """The accumulators of a grid whose margins are there, as they are told."""
        return grid if self.amounts is None else self.amounts.finished(grid, threads)

    def scatter(
        self, rows: slice, cells: Integers, grid: Mapping[str, Integers], space: KeySpace
    ) -> None:
        """Add a block of records to the accumulators of a grid."""
        if self.amounts is not None:
            self.amounts.scatter(rows, cells, grid, space)
        if self.replicates is not None:
            self.replicates.scatter(rows, cells, grid)

    def columns(self, rows: slice) -> dict[str, Integers]:
        """What records add to each accumulator, by its name."""
        columns = {} if self.amounts is None else self.amounts.columns(rows)
        return columns | ({} if self.replicates is None else self.replicates.columns(rows))
