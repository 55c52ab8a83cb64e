"""Coarser tables of a cube and of its published table: on some of the axes, summed over others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.pairs import (
    check_match,
    check_published,
    hidden_cells,
    published_values,
    true_values,
)
from sdcensus.model.cube.parts import Int64, Mask
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.utility.bases import Source

Cells = npt.NDArray[np.int64]


def whole_table(cube: AnyCube, table: AnyTable) -> tuple[Int64, Int64, Mask | None]:
    """True and published values of every cell, and which cells are withheld."""
    check_match(cube, table)
    if isinstance(cube, SparseCube):
        raise SpecError(
            f"{cube.spec.title}: the table is too large to be added up as a whole. Take"
            " cube.rollup(...) to fewer or coarser axes."
        )
    published = published_values(table)
    check_published(published, cube.spec)
    return true_values(cube), published, hidden_cells(table)


def on_axes(spec: TableSpec, values: Cells, axes: Sequence[int], source: Source) -> Cells:
    """A table on some of its axes, at their finest levels, in the order in which they are named.

    Refuses published totals where another axis shows none.
    """
    others = tuple(at for at in range(len(spec.axes)) if at not in axes)
    if source is Source.SUMMED:
        sums = values[interior(spec)].sum(axis=others)
    else:
        for at in others:
            if not spec.axes[at].total:
                raise SpecError(
                    f"{spec.title}: {spec.axes[at].name!r} shows no total, so no total over it was"
                    " published. Take source='summed', or tabulate with the total."
                )
        # The total is the last position of an axis.
        sums = values[tuple(-1 if at in others else slice(0, one.stop) for at, one in _inner(spec))]
    kept = sorted(axes)
    return np.transpose(sums, [kept.index(at) for at in axes])


def _inner(spec: TableSpec) -> enumerate[slice]:
    return enumerate(interior(spec))
