"""Layers of control tables over combinations: which control cell each combination feeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.imputation.variables import mixed_classes
from sdcensus.microdata.safe.combinations import Combinations
from sdcensus.microdata.safe.controls import Controls, LayerKey, level_of
from sdcensus.microdata.safe.variables import ListedVariables
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Combinations times layers that are held in memory at most: 6 bytes each.
_LARGEST_INDEX = 1 << 28


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Layers(Confidential):
    """The layers that can deviate: those that show a free variable.

    Attributes:
        keys: What each layer shows.
        index: For each combination and layer, which of the layer's control cells it feeds. Only
            control cells with units are counted: nothing else can get any.
        sizes: How many control cells each layer has.
        weights: By what deviations of each layer are divided.
        multiple: By what they are multiplied before, so that whole numbers come out.
    """

    keys: tuple[LayerKey, ...]
    index: Integers
    sizes: Int64
    weights: Int64
    multiple: int

    def __repr__(self) -> str:
        return "<Layers: confidential>"

    @property
    def starts(self) -> Int64:
        """The number of the first control cell of each layer, and how many there are."""
        return np.append(0, np.cumsum(self.sizes)).astype(np.int64)

    @property
    def scales(self) -> Int64:
        """By what deviations of each layer are multiplied so that they can be compared."""
        return np.asarray(self.multiple // self.weights, dtype=np.int64)

    def totals(self, counts: Int64) -> Int64:
        """The units of every control cell, from those of every combination."""
        return np.concatenate(
            [
                np.zeros(0, dtype=np.int64),
                *(
                    _summed(self.index[:, at], counts, int(size))
                    for at, size in enumerate(self.sizes)
                ),
            ]
        )

    def levels(self, deviations: Int64) -> Int64:
        """How bad each control cell is: its deviation, divided by its weight, as whole numbers."""
        return np.abs(deviations) * np.repeat(self.scales, self.sizes)


def _summed(cells: Integers, counts: Int64, size: int) -> Int64:
    # Sums of whole numbers below 2**53 are exact as floating-point numbers.
    return np.bincount(cells, weights=counts, minlength=size).astype(np.int64)


def layers_of(found: Combinations, controls: Controls) -> Layers:
    """Number the control cells of every layer that can deviate.

    Raises:
        SpecError: There are too many.
    """
    free = {each.variable.name for each in found.listed.free}
    keys = tuple(
        key for key in sorted(controls.weights) if any(variable in free for variable, _ in key)
    )
    combinations = found.counts.size
    if combinations * len(keys) > _LARGEST_INDEX:
        raise SpecError(
            f"{len(keys):,} control tables (counted at each of their levels) are too many for a"
            " census of this size. Name the tables that matter: --control-table AXES. Or list fewer"
            " variables, or coarser levels."
        )
    index = np.zeros((combinations, len(keys)), dtype=np.uint16)
    sizes = np.zeros(len(keys), dtype=np.int64)
    for at, key in enumerate(keys):
        cells, size = numbered_cells(found, key)
        if size > 1 << 16 and index.dtype == np.uint16:
            index = index.astype(np.uint32)
        index[:, at], sizes[at] = cells, size
    weights = np.array([controls.weights[key] for key in keys], dtype=np.int64)
    return Layers(keys, index, sizes, weights, controls.multiple)


def numbered_cells(found: Combinations, key: LayerKey) -> tuple[Int64, int]:
    """For each combination the number of its cell in a layer, without gaps, and how many."""
    columns = []
    for name, level in key:
        groups, size = coarser_codes(found.listed, name, level)
        at = [each.variable.name for each in found.listed.all].index(name)
        columns.append((groups[found.codes[:, at]], size))
    numbers = mixed_classes(columns, found.counts.size)
    largest = int(numbers.max(initial=0)) + 1
    if largest > 4 * numbers.size + (1 << 16):
        _, cells = np.unique(numbers, return_inverse=True)
        return cells.reshape(-1).astype(np.int64), int(cells.max(initial=-1)) + 1
    occurs = np.zeros(largest, dtype=bool)
    occurs[numbers] = True
    ranks = np.cumsum(occurs) - 1
    return ranks[numbers].astype(np.int64), int(occurs.sum())


def coarser_codes(listed: ListedVariables, name: str, level: str) -> tuple[Int64, int]:
    """For each listed code of a variable its code at a level, and how many codes that has."""
    own, coarse = listed.named(name), level_of(listed, name, level)
    assert own is not None
    codes = np.zeros(len(own.level.codes), dtype=np.int64)
    codes[own.level.group_array] = coarse.group_array
    return codes, len(coarse.codes)
