"""The evaluation of a table as it is delivered: each code once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, delivered_cells
from sdcensus.model.published.table import Table
from sdcensus.utility.evaluation import (
    UNSAFE as UNSAFE_UP_TO,
    EvaluationRow,
    Stage,
    StageFigures,
    Tally,
    tallied_row,
)

Int64 = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
_NO_FLAGS: Flags = np.zeros(0, dtype=np.uint8)


def delivered_evaluation(
    name: str,
    cube: Cube,
    table: Table,
    axes: Sequence[DeliveredAxis],
    *,
    number: int = 0,
    unsafe: int = UNSAFE_UP_TO,
    swapped: Cube | None = None,
) -> EvaluationRow:
    """The row of a table on the evaluation sheet, about the cells that are delivered.

    Args:
        name: What the table is called.
        cube: True values; before records were changed, if they were.
        table: What is published.
        axes: How its axes are delivered.
        number: Its number on the sheet.
        unsafe: Counts from 1 to this are unsafe.
        swapped: The values after records were changed, if they were.
    """
    original = delivered_cells(true_values(cube), axes).reshape(-1)
    inner: Mask = np.ones((1,) * len(axes), dtype=bool)
    for at, axis in enumerate(axes):
        shape = [-1 if other == at else 1 for other in range(len(axes))]
        inner = inner & _leaves(axis).reshape(shape)
    inner = inner.reshape(-1)
    steps: list[tuple[Stage, Int64, Flags]] = [(Stage.ORIGINAL, original, _NO_FLAGS)]
    if swapped is not None:
        changed = delivered_cells(true_values(swapped), axes).reshape(-1)
        steps.append((Stage.SWAPPED, changed, _NO_FLAGS))
    flags = _NO_FLAGS if table.flags is None else delivered_cells(table.flags, axes).reshape(-1)
    steps.append((Stage.PUBLISHED, delivered_cells(table.published, axes).reshape(-1), flags))
    stages: list[StageFigures] = []
    for stage, values, missing in steps:
        stages += _figures(stage, values, original, missing, inner, unsafe)
    return replace(tallied_row(name, cube.spec, stages, unsafe=unsafe), number=number)


def _leaves(axis: DeliveredAxis) -> Mask:
    """Codes that no other delivered code lies in."""
    leaves = np.ones(len(axis), dtype=bool)
    leaves[[parent for parent in axis.parents if parent != NO_PARENT]] = False
    if axis.total is not None and len(axis) > 1:
        leaves[axis.total] = False
    return leaves


def _figures(
    stage: Stage, values: Int64, original: Int64, flags: Flags, inner: Mask, unsafe: int
) -> Iterator[StageFigures]:
    """The figures of a stage with margins and without."""
    for margins in (True, False):
        chosen = np.ones(values.size, dtype=bool) if margins else inner
        shown = chosen & (flags == 0) if flags.size else chosen
        cells = int(shown.sum())
        everything = cells == values.size
        mine, true = (values, original) if everything else (values[shown], original[shown])
        before, after = Tally.of(true, mine).figures(cells=cells, margins=margins, unsafe=unsafe)
        figures = before if stage is Stage.ORIGINAL else replace(after, stage=stage)
        yield replace(figures, withheld=int(chosen.sum()) - cells)
