"""Some cells of a table too large to be held: as they are counted, and as they are published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.expand import digits
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.published.delivery import DeliveredAxis

Int64 = npt.NDArray[np.int64]
Integers = npt.NDArray[Any]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamedCells(Confidential):
    """Some non-empty cells of a table, margins among them.

    Attributes:
        shape: How many codes each axis is delivered with.
        numbers: The cells in mixed radix over the delivered places, ascending, the last axis
            running fastest.
        values: Their accumulators.
    """

    shape: tuple[int, ...]
    numbers: Numbers
    values: Accumulators

    def __repr__(self) -> str:
        return f"<StreamedCells {'×'.join(map(str, self.shape)) or 'one cell'}: confidential>"

    @property
    def places(self) -> tuple[Integers, ...]:
        """For each axis the delivered place of each cell."""
        return places_of(self.shape, self.numbers)


@dataclass(frozen=True, slots=True, eq=False)
class PublishedCells:
    """Some cells of a table as they are published. Public: no counts, no keys, no zeros.

    Attributes:
        places: For each axis the delivered place of each cell, in small integers.
        published: What is published for each; never 0.
    """

    places: tuple[Integers, ...]
    published: Int64

    def __post_init__(self) -> None:
        if any(place.shape != self.published.shape for place in self.places):
            raise SpecError("Every published cell has a place on every axis.")
        if not self.published.all():
            raise SpecError("Cells that are published as 0 are not listed.")

    def __len__(self) -> int:
        return self.published.size


def places_of(shape: Sequence[int], numbers: Numbers) -> tuple[Integers, ...]:
    """The place on each axis of cells by their numbers, in small integers; best if ascending."""
    places = []
    for size, weight in zip(shape, mixed_radix(shape), strict=True):
        out = np.empty(numbers.size, dtype=np.min_scalar_type(max(size - 1, 0)))
        digits(numbers, np.uint64(weight), np.uint64(size), out)
        places.append(out)
    return tuple(places)


def delivered_numbers(
    numbers: Numbers, shape: Sequence[int], axes: Sequence[DeliveredAxis]
) -> Numbers:
    """Cells by their numbers in a table, as numbers over delivered places; others are left out.

    Args:
        numbers: Cells in mixed radix over the positions of the table.
        shape: How many positions each axis of the table has.
        axes: How its axes are delivered.
    """
    delivered_number = np.zeros(numbers.size, dtype=np.uint64)
    inside = np.ones(numbers.size, dtype=bool)
    weights = zip(shape, mixed_radix(shape), mixed_radix([len(axis) for axis in axes]), strict=True)
    for axis, (size, weight, delivered) in zip(axes, weights, strict=True):
        place = np.full(size, -1, dtype=np.int64)
        place[axis.positions] = np.arange(len(axis))
        at = place[(numbers // np.uint64(weight) % np.uint64(size)).astype(np.int64)]
        inside &= at >= 0
        delivered_number += at.astype(np.uint64) * np.uint64(delivered)
    return np.sort(delivered_number[inside])
