"""Entries of lists of the largest contributions, each in one integer.

An entry is a contribution, signed, with further numbers that are not negative. Where its size, its
sign and these fit 63 bits together, one number above 0 says all of it, and is larger where the
entry is: lists of such numbers take the least room, and comparing two entries is comparing two
numbers. A contribution of 0 is the number 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.ranked import amounts_of_ranks

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

_BITS = 63


@compiled
def _sizes(amounts: Integers, signed: bool, packed: Int64) -> None:
    for i in range(amounts.size):
        amount = np.int64(amounts[i])
        packed[i] = (abs(amount) << 1) | np.int64(amount > 0) if signed else amount


@compiled
def _append(packed: Int64, column: Integers, bits: int) -> None:
    for i in range(packed.size):
        if packed[i] != 0:
            packed[i] = (packed[i] << bits) | np.int64(column[i])


@compiled
def _take(packed: Int64, bits: int, column: Integers) -> None:
    mask = (np.int64(1) << bits) - 1
    for i in range(packed.size):
        column[i] = packed[i] & mask
        packed[i] >>= bits


@dataclass(frozen=True, slots=True)
class Packing:
    """How entries become numbers.

    Attributes:
        signed: Whether contributions may be below 0.
        bits: How many bits each of the further numbers takes, in their order.
    """

    signed: bool
    bits: tuple[int, ...]

    @classmethod
    def build(cls, largest: int, signed: bool, further: Sequence[int]) -> Packing | None:
        """How entries become numbers; nothing where they do not fit.

        Args:
            largest: The largest contribution that can come, without its sign.
            signed: Whether contributions may be below 0.
            further: The largest of each of the further numbers.

        Examples:
            >>> Packing.build(10**9, signed=True, further=[2**32 - 1])
            Packing(signed=True, bits=(32,))
            >>> Packing.build(10**10, signed=True, further=[2**32 - 1]) is None
            True
        """
        bits = tuple(max(number.bit_length(), 1) for number in further)
        fits = largest.bit_length() + signed + sum(bits) <= _BITS
        return cls(signed, bits) if fits else None

    def pack(self, amounts: Integers, further: Sequence[Integers]) -> Int64:
        """Entries as numbers.

        Examples:
            >>> amounts, keys = np.array([3, 0, -3]), np.array([5, 5, 7])
            >>> packing = Packing.build(3, signed=True, further=[7])
            >>> packing.pack(amounts, [keys]).tolist()
            [61, 0, 55]
        """
        packed = np.empty(amounts.size, dtype=np.int64)
        _sizes(amounts, self.signed, packed)
        for column, bits in zip(further, self.bits, strict=True):
            _append(packed, column, bits)
        return packed

    def unpack(self, lists: Int64, *further: Integers) -> None:
        """Turn numbers back: lists hold contributions then, and ``further`` is filled."""
        flat = lists.reshape(-1)
        for column, bits in reversed(tuple(zip(further, self.bits, strict=True))):
            _take(flat, bits, column.reshape(-1))
        if self.signed:
            amounts_of_ranks(lists)
