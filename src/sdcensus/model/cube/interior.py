"""Interior cells of a table, and its totals as sums of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import Combine
from sdcensus.model.cube.layout import Layout
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]


def interior(spec: TableSpec) -> tuple[slice, ...]:
    """The part of a table from which everything else adds up: the finest level of every axis.

    Refuses a table that shows levels of which none is the finest.
    """
    for axis in spec.axes:
        if not axis.base_is_shown:
            levels = ", ".join(level.name for level in axis.levels)
            raise SpecError(
                f"Axis {axis.name!r}: the levels {levels} do not nest in each other, so the table"
                " has no cells of which all others are sums. Ask for one table with each level, or"
                f" show the codes of {axis.variable.name!r} themselves as well."
            )
    return tuple(slice(0, axis.base_size) for axis in spec.axes)


def is_interior(spec: TableSpec) -> npt.NDArray[np.bool_]:
    """For each cell of a table, whether it is an interior one."""
    inside = np.zeros(spec.shape, dtype=bool)
    inside[interior(spec)] = True
    return inside


def with_totals(spec: TableSpec, inner: Int64) -> Int64:
    """A whole table from its interior cells: every subtotal and total is the sum of its cells."""
    corner: Any = interior(spec)
    layout = Layout(spec)
    cells = np.zeros(layout.size, dtype=np.int64)
    cells.reshape(layout.shape)[corner] = inner
    layout.add_margins(cells, Combine.SUM)
    # The shape again: a table of one cell would become an array of one axis.
    return np.ascontiguousarray(layout.shown(cells)).reshape(spec.shape)


def adds_up(spec: TableSpec, values: Int64) -> bool:
    """Whether every subtotal and total is the sum of the interior cells in it."""
    return bool((with_totals(spec, values[interior(spec)]) == values).all())
