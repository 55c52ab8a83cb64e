"""What is added up in every cell: counts and keys always, the rest when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import Combine
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.key_space import Combine as KeyCombine, KeySpace

Integers = npt.NDArray[Any]

#: Names of accumulators. A sum of a continuous variable is called ``sum:`` and its name.
COUNT, KEY, WEIGHT = "count", "key", "weight"
FIRST_HOUSEHOLD, LAST_HOUSEHOLD = "first_household", "last_household"
SUM_OF = "sum:"

#: The type in which each accumulator is combined, before keys are reduced.
SUM_TYPE: Mapping[str, npt.DTypeLike] = {
    COUNT: np.int64,
    KEY: np.uint64,
    WEIGHT: np.int64,
    FIRST_HOUSEHOLD: np.uint32,
    LAST_HOUSEHOLD: np.uint32,
}


def sum_type(name: str) -> npt.DTypeLike:
    """The integer type in which an accumulator is combined."""
    return SUM_TYPE.get(name, np.int64)


def packs(space: KeySpace, rows: int) -> bool:
    """Whether count and key sum of so many records fit one 64-bit integer without a loss."""
    power_of_two = space.modulus & (space.modulus - 1) == 0
    return space.combine is KeyCombine.SUM and power_of_two and rows < 1 << 32


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Accumulators(Confidential):
    """Arrays of one shape, one value for each cell.

    Attributes:
        count: Records.
        key: Record keys, combined in the key space.
        weight: Weights in fixed point.
        first_household, last_household: Smallest and largest row of the households behind the
            cell; equal where one household is all there is.
        sums: Sums of continuous variables in fixed point, by name.
    """

    count: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint32]
    weight: npt.NDArray[np.int64] | None = None
    first_household: npt.NDArray[np.uint32] | None = None
    last_household: npt.NDArray[np.uint32] | None = None
    sums: tuple[tuple[str, npt.NDArray[np.int64]], ...] = ()

    def __post_init__(self) -> None:
        for _, array in self.items():
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<Accumulators {', '.join(name for name, _ in self.items())}: confidential>"

    def items(self) -> Iterator[tuple[str, Integers]]:
        """Name and array of each accumulator that there is."""
        for name in SUM_TYPE:
            array = getattr(self, name)
            if array is not None:
                yield name, array
        for variable, array in self.sums:
            yield f"{SUM_OF}{variable}", array

    @staticmethod
    def combine_of(name: str, space: KeySpace) -> Combine:
        """How the cells of an accumulator become one."""
        if name == KEY and space.combine is KeyCombine.XOR:
            return Combine.XOR
        if name == FIRST_HOUSEHOLD:
            return Combine.LOW
        return Combine.HIGH if name == LAST_HOUSEHOLD else Combine.SUM

    def parts(self, space: KeySpace) -> Iterator[tuple[str, Integers, Combine]]:
        """Each accumulator in the type in which it can be combined further, and how."""
        for name, array in self.items():
            wide = array.astype(sum_type(name), copy=False)
            yield name, wide, self.combine_of(name, space)

    def map(self, change: Callable[[Integers], Integers]) -> Accumulators:
        """The same accumulators with every array changed alike."""
        return _assemble({name: change(array) for name, array in self.items()})

    @staticmethod
    def from_sums(sums: Mapping[str, Integers], space: KeySpace) -> Accumulators:
        """Make accumulators from combined values; keys are reduced here, once."""
        arrays = dict(sums)
        if arrays[KEY].dtype != np.uint32:
            # A single cell would come back as a number, not as an array.
            arrays[KEY] = np.asarray(space.reduce(arrays[KEY]))
        return _assemble(arrays)


def _assemble(arrays: Mapping[str, Integers]) -> Accumulators:
    named = {name: arrays[name] for name in SUM_TYPE if name in arrays}
    sums = tuple(
        (name.removeprefix(SUM_OF), array)
        for name, array in arrays.items()
        if name.startswith(SUM_OF)
    )
    return Accumulators(**named, sums=sums)
