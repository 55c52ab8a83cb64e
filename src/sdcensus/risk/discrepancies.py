"""Totals that are not the sums of their parts: which, by how much, and which cells may be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.constraints import adds_up, level_steps
from sdcensus.model.cube.parts import region
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import number_text
from sdcensus.model.spec.headings import cell_heading, variable_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import said

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Discrepancies:
    """Totals and subtotals of a published table that differ from the sum of their parts.

    Attributes:
        spec: The table.
        cells: The number of each such total, the last axis running fastest.
        axes: The axis along which its parts lie.
        amounts: The total less the sum of its parts.
    """

    spec: TableSpec
    cells: Numbers
    axes: Int64
    amounts: Int64

    def __len__(self) -> int:
        return int(self.cells.size)

    def sentences(self, limit: int | None = None, language: str | None = None) -> tuple[str, ...]:
        """Each of them in words."""
        made = []
        for at in range(len(self))[: len(self) if limit is None else limit]:
            cell = cell_heading(self.spec, int(self.cells[at]), language)
            axis = self.spec.axes[int(self.axes[at])]
            amount = int(self.amounts[at])
            made.append(
                said(
                    f"findings.total_{'more' if amount > 0 else 'less'}",
                    language,
                    cell=cell,
                    amount=number_text(abs(amount), language),
                    variable=variable_heading(axis.variable, language),
                )
            )
        return tuple(made)


def margins_that_do_not_add_up(table: Table) -> Discrepancies:
    """Find every total that is not the sum of its parts directly below, along each axis.

    Totals with a withheld part, or withheld themselves, are not looked at.
    """
    spec = table.spec
    none = np.zeros(0, dtype=np.int64)
    cells, axes, amounts = [none.astype(np.uint64)], [none], [none]
    for axis_gaps in gaps(table).along:
        off = np.flatnonzero(axis_gaps.gap)
        totals = region(spec).at(
            axis_gaps.axis, axis_gaps.start, axis_gaps.start + axis_gaps.parts.size
        )
        cells.append(totals.numbers(spec.shape)[off])
        axes.append(np.full(off.size, axis_gaps.axis, dtype=np.int64))
        amounts.append(axis_gaps.gap.reshape(-1)[off])
    found = np.concatenate(cells), np.concatenate(axes), np.concatenate(amounts)
    order = np.lexsort((found[0], found[1]))
    return Discrepancies(spec, found[0][order], found[1][order], found[2][order])


def misprints(table: Table) -> Table | None:
    """The table with cells corrected that alone explain why it does not add up.

    A cell is taken for misprinted if at least two of its lines are off by the same amount, with
    the sign that an error of this cell would give. ``None`` if the table adds up, or if such
    corrections do not make it add up: then it was not a misprint that changed it.
    """
    if table.flags is not None or len(table.spec.axes) < 2 or adds_up(table.spec, table.published):
        return None
    # By how much each cell would have to change for each of its lines to add up.
    wanted: list[Int64] = []
    for total_lines in lines_of(table.spec, table.published):
        as_part, as_total = np.zeros((2, table.spec.cells), dtype=np.int64)
        as_part[total_lines.parts] = total_lines.amounts[total_lines.line]
        as_total[total_lines.totals] = -total_lines.amounts
        wanted += [as_part, as_total]
    changes = np.stack(wanted)
    ordered = np.sort(changes, axis=0)
    same = (ordered[1:] == ordered[:-1]) & (ordered[1:] != 0)
    change = np.where(same, ordered[1:], 0)
    largest = np.abs(change).argmax(axis=0)
    correction = change[largest, np.arange(table.spec.cells)].reshape(table.shape)
    corrected = table.published + correction
    if not correction.any() or not adds_up(table.spec, corrected) or (corrected < 0).any():
        return None
    return Table(table.spec, corrected, None, table.notes)


@dataclass(frozen=True, slots=True, eq=False)
class TotalLines:
    """Totals of one level along one axis, with their parts.

    Attributes:
        axis: The axis.
        totals: The number of each total.
        parts: The numbers of all parts, and ``line`` the total that each belongs to.
        line: See ``parts``.
        amounts: Totals less their parts; cells without a number count as 0.
        hidden: How many cells of each line have no number.
    """

    axis: int
    totals: Int64
    parts: Int64
    line: Int64
    amounts: Int64
    hidden: Int64


def lines_of(
    spec: TableSpec, values: Int64, flags: npt.NDArray[Any] | None = None
) -> Iterator[TotalLines]:
    """The totals of a table with the parts directly below them, along each axis."""
    flat = values.reshape(-1)
    unseen = np.zeros(flat.size, dtype=np.int64)
    if flags is not None:
        unseen = (flags.reshape(-1) != 0).astype(np.int64)
        flat = np.where(unseen > 0, 0, flat)
    for at, axis in enumerate(spec.axes):
        numbers = np.arange(spec.cells, dtype=np.int64).reshape(spec.shape)
        moved = np.moveaxis(numbers, at, -1).reshape(-1, spec.shape[at])
        for step in level_steps(axis.blocks):
            totals = moved[:, step.totals]
            parts = moved[:, step.parts].reshape(-1)
            line = np.arange(totals.size).reshape(totals.shape)[:, step.parent].reshape(-1)
            totals = totals.reshape(-1)
            amounts, hidden = flat[totals], unseen[totals]
            np.subtract.at(amounts, line, flat[parts])
            np.add.at(hidden, line, unseen[parts])
            yield TotalLines(at, totals, parts, line, amounts, hidden)
