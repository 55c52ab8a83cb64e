"""What is given away by sums of interior cells alone, as the founding study seems to have counted.

Its printed shares of disclosed cells agree with an intruder who compares interior cells with the
totals over one axis, and does not go on to compare these totals with those above them. That is an
inference from the figures: the study does not say it. All sums together give away more.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED, Knowledge
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.study.results import InteriorSums
from sdcensus.risk.feasibility import SMALL


def interior_sums(cube: Cube, table: Table, knowledge: Knowledge) -> InteriorSums:
    """Narrow interior cells and one-axis totals by each other; other totals stay as published."""
    lower, upper = knowledge.bounds(table)
    looked_at = totals_of(cube.spec) <= 1
    intervals = shuttle(
        cube.spec, np.where(looked_at, lower, 0), np.where(looked_at, upper, UNBOUNDED)
    )
    low = np.where(looked_at, intervals.lower, lower)
    high = np.where(looked_at, intervals.upper, upper)
    known = (low == high) | ((low == 0) & (high == 1))
    there = cube.count > 0
    small = there & (cube.count <= SMALL)
    return InteriorSums(_share(known, there), _share(known, small))


def totals_of(spec: TableSpec) -> npt.NDArray[np.int64]:
    """For each cell, on how many axes it stands at a total or a coarser level."""
    totals = np.zeros(spec.shape, dtype=np.int64)
    for at, axis in enumerate(spec.axes):
        place = [1] * len(spec.shape)
        place[at] = -1
        outside = np.arange(len(axis.codes)) >= axis.blocks[0].size
        totals += outside.astype(np.int64).reshape(place)
    return totals


def _share(known: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> float | None:
    cells = int(of.sum())
    return int((known & of).sum()) / cells if cells else None
