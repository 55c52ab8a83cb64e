"""Withheld cells that follow from their total and the other parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import number_text
from sdcensus.model.spec.headings import cell_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import said
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.detection.wording import (
    PERCEIVED_SCOPE,
    quoted,
    tables_scope,
)
from sdcensus.risk.differencing.tiling import coarsest_tilings, tilings
from sdcensus.risk.discrepancies import lines_of

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WithheldWording:
    """Sentences about withheld cells that can be worked out."""

    spec: TableSpec
    cells: Numbers
    values: Int64

    def sentence(self, at: int, language: str | None) -> str:
        """The cell, and what it must be."""
        cell = quoted(cell_heading(self.spec, int(self.cells[at]), language), language)
        value = number_text(int(self.values[at]), language)
        return said("findings.withheld_cell", language, cell=cell, value=value)


def withheld_that_follow(table: Table, others: Sequence[Table] = ()) -> Findings:
    """Find withheld cells that a reader can work out from the numbers around them.

    A total less all its other parts gives the one that is withheld, and all parts together a
    withheld total; what is found so helps to find more. Other published tables help too: they
    may show the cell itself, its parts, or a union that it is the only withheld part of. Where
    totals are not the sums of their parts the results are as far off as those. Cells that need
    more than one sum at a time are left to feasibility intervals.

    Args:
        table: The table with withheld cells.
        others: Further published tables, if a reader has them.
    """
    if not all(isinstance(source, Table) for source in (table, *others)):
        raise SpecError(
            "Withheld cells are worked out from published tables that are held whole: very large"
            " tables have none. Give tables with fewer or coarser axes."
        )
    state = _State.of(table)
    left = -1
    while state.hidden.any() and left != int(np.count_nonzero(state.hidden)):
        left = int(np.count_nonzero(state.hidden))
        for other in others:
            _from_other(state, table, other)
        _from_lines(state, table)
    known = np.flatnonzero(_flags(table) & ~state.hidden)
    cells = known.astype(np.uint64)
    wording = WithheldWording(table.spec, cells, state.values[known])
    scope = tables_scope([table.spec, *(other.spec for other in others)], published=True)
    return Findings(
        FindingKind.WITHHELD,
        table.spec,
        cells,
        state.values[known],
        state.axes[known],
        scope if others else PERCEIVED_SCOPE,
        wording,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """What is known of every cell so far; the arrays change."""

    values: Int64
    hidden: Mask
    axes: Int64

    @classmethod
    def of(cls, table: Table) -> _State:
        size = table.spec.cells
        values = table.published.reshape(-1).copy()
        return cls(values, _flags(table), np.full(size, -1, dtype=np.int64))

    def learn(self, cells: Int64, values: Int64, axis: int = -1) -> None:
        self.values[cells] = np.maximum(values, 0)
        self.axes[cells] = axis
        self.hidden[cells] = False


def _flags(table: Table) -> Mask:
    if table.flags is None:
        return np.zeros(table.spec.cells, dtype=bool)
    return np.asarray(table.flags.reshape(-1) != 0)


def _from_lines(state: _State, table: Table) -> None:
    """Use the totals of the table itself, until one axis has told something."""
    shape = table.shape
    for total_lines in lines_of(
        table.spec, state.values.reshape(shape), state.hidden.reshape(shape)
    ):
        single = total_lines.hidden == 1
        totals = np.flatnonzero(single & state.hidden[total_lines.totals])
        parts = np.flatnonzero(single[total_lines.line] & state.hidden[total_lines.parts])
        state.learn(total_lines.totals[totals], -total_lines.amounts[totals], total_lines.axis)
        state.learn(
            total_lines.parts[parts], total_lines.amounts[total_lines.line[parts]], total_lines.axis
        )
        if totals.size or parts.size:
            return


def _from_other(state: _State, table: Table, other: Table) -> None:
    """Use cells of another table that are unions of cells of this one, or parts of them."""
    unseen = _flags(other)
    for tiling in coarsest_tilings(table.spec, other.spec):
        cells = tiling.cells.astype(np.int64)
        whole = tiling.sums(unseen.astype(np.int64).reshape(other.shape)) == 0
        learned = np.flatnonzero(whole & state.hidden[cells])
        state.learn(cells[learned], tiling.sums(other.published)[learned])
    numbers = np.arange(table.spec.cells, dtype=np.int64)
    for tiling in tilings(other.spec, table.spec):
        hidden = state.hidden.astype(np.int64)
        missing = tiling.sums(hidden.reshape(table.shape)) == 1
        cells = tiling.cells.astype(np.int64)
        learned = np.flatnonzero(missing & ~unseen[cells])
        if learned.size:
            which = tiling.sums((hidden * numbers).reshape(table.shape))[learned]
            shown = np.where(state.hidden, 0, state.values).reshape(table.shape)
            rest = other.published.reshape(-1)[cells[learned]] - tiling.sums(shown)[learned]
            state.learn(which, rest)
