"""Which cells of a table are meant, where not all of them are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.layout import positions_on
from sdcensus.model.cube.streamed_cells import places_of
from sdcensus.model.published.delivery import DeliveredAxis
from sdcensus.model.spec.table_spec import TableSpec

Integers = npt.NDArray[Any]
Numbers = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


def mask_of(numbers: Numbers, spec: TableSpec) -> Mask:
    """Cells of a table by their numbers, as a mask in its shape."""
    held = np.bincount(numbers.astype(np.int64), minlength=spec.cells)
    return held.astype(bool).reshape(spec.shape)


@dataclass(frozen=True, slots=True, eq=False)
class ListedCells:
    """Some cells of a table by their numbers, the last axis running fastest.

    Attributes:
        numbers: The cells, over the delivered places of axes or over all positions of the table.
        axes: How the axes are delivered; ``None`` where numbers count all positions.
    """

    numbers: Numbers
    axes: Sequence[DeliveredAxis] | None = None

    def positions(self, spec: TableSpec) -> tuple[Integers, ...]:
        """Where the cells stand on each axis of their table."""
        if self.axes is None:
            return tuple(positions_on(spec.shape, at, self.numbers) for at in range(len(spec.axes)))
        places = places_of([len(axis) for axis in self.axes], self.numbers)
        return tuple(axis.positions[place] for axis, place in zip(self.axes, places, strict=True))
