"""Small tables of sums from raw contributions, and an attack on what is published of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island_schema
from tests.methods.magnitude.incomes import income

Int64 = npt.NDArray[np.int64]
#: The contributions to each cell of three districts by three classes of age.
Cells = Sequence[Sequence[Sequence[int]]]


@dataclass(frozen=True)
class RawSums:
    """A table of three by three with both totals, by who contributes to each cell."""

    cube: Cube
    cells: list[list[list[int]]]

    def total(self, row: int, column: int) -> int:
        return sum(self.cells[row][column])


def with_margins(cells: Cells) -> list[list[list[int]]]:
    rows = [[list(cell) for cell in row] for row in cells]
    rows = [[*row, [amount for cell in row for amount in cell]] for row in rows]
    return [*rows, [[amount for row in rows for amount in row[at]] for at in range(len(rows[0]))]]


def sums_of(cells: Cells, *, decimals: int = 0, waived: Sequence[int] = ()) -> RawSums:
    """The table; whoever contributes an amount that is named agreed to be shown."""
    schema = island_schema(None)
    schema = replace(schema, variables=(*schema.variables, income(decimals)))
    spec = TableSpec.build(schema, ["area@district", "age@class"], measure="sum(income)")
    every = with_margins(cells)

    def array(function: Any) -> Int64:
        return np.array([[function(cell) for cell in row] for row in every], dtype=np.int64)

    def largest(cell: list[int]) -> list[int]:
        return (sorted(cell, key=abs, reverse=True) + [0] * 6)[:6]

    counts, keys = array(len), np.zeros(spec.shape, dtype=np.uint32)
    listed = array(largest)
    contributions = Contributions(
        amount=listed,
        contributors=counts,
        contributor_key=keys,
        waived=np.isin(listed, list(waived)) if waived else None,
        lowest=array(lambda cell: min(cell, default=0)),
        highest=array(lambda cell: max(cell, default=0)),
        absolute=array(lambda cell: sum(abs(amount) for amount in cell)),
    )
    values = Accumulators(
        count=counts.copy(), key=keys, sums=(("income", array(sum)),), contributions=contributions
    )
    return RawSums(Cube(spec, Origin(KeySpace(), "", "by hand"), values), every)


def attacked(
    raw: RawSums,
    table: Table,
    target: tuple[int, int],
    *,
    knows: Sequence[tuple[int, int]] = (),
) -> tuple[float, float]:
    """The least and the most that a closed sum can be, for whoever knows some closed sums.

    A linear program over all sums: those that are shown are what they are, totals are totals, and
    no sum is below 0 to which nobody contributes less. Truth is taken off first, so that large sums
    are as exact as small ones.
    """
    from scipy.optimize import linprog

    shape = table.shape
    flags = np.zeros(shape, dtype=np.uint8) if table.flags is None else table.flags
    bounds: list[tuple[float | None, float | None]] = []
    for row in range(shape[0]):
        for column in range(shape[1]):
            cell = raw.cells[row][column]
            if not flags[row, column] or (row, column) in knows:
                bounds.append((0.0, 0.0))
            else:
                bounds.append((None if min(cell, default=0) < 0 else -float(sum(cell)), None))
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    lines = [*number, *number.T]
    sums = np.zeros((len(lines), number.size))
    for at, line in enumerate(lines):
        sums[at, line[:-1]], sums[at, line[-1]] = 1, -1
    ends = []
    for sign in (1, -1):
        goal = np.zeros(number.size)
        goal[number[target]] = sign
        solved: Any = linprog(goal, A_eq=sums, b_eq=np.zeros(len(lines)), bounds=bounds)
        unbounded = solved.status == 3
        assert unbounded or solved.status == 0, solved.message
        ends.append(sign * (-np.inf if unbounded else solved.fun))
    truth = raw.total(*target)
    return truth + ends[0], truth + ends[1]
