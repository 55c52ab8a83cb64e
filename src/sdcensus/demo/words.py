"""Draws for the demo country: raw words of a counter-based generator, and integers only.

Every draw is a function of four numbers: the seed of the country, what the draw is for, the
enumeration district of the unit, and the number of the unit in it. So the same number gives the
same country on every machine and with every version of numpy, however the work is cut into
pieces or spread over threads, and a new variable leaves all others as they are.

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
as 1, 2, 3", 2011). A word below an upper bound picks a category; the bounds come from whole
weights, so no floating-point number is on the way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Ints: TypeAlias = npt.NDArray[np.int32]
Bools: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = npt.NDArray[np.uint32]

MILLION = 1_000_000

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_STEP_0 = np.uint64(0x9E3779B9)
_STEP_1 = np.uint64(0xBB67AE85)


@compiled
def philox(
    c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Four 32-bit words from a counter of four and a key of two (Philox4x32-10)."""
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * c0
        product_1 = _MULTIPLIER_1 * c2
        c0 = (product_1 >> _HALF) ^ c1 ^ k0
        c1 = product_1 & _LOW
        c2 = (product_0 >> _HALF) ^ c3 ^ k1
        c3 = product_0 & _LOW
        k0 = (k0 + _STEP_0) & _LOW
        k1 = (k1 + _STEP_1) & _LOW
    return c0, c1, c2, c3


@compiled
def _fill_words(key: npt.NDArray[np.uint64], ed: Ints, number: Ints, out: Words) -> None:
    for i in range(out.size):
        out[i] = philox(
            np.uint64(number[i]), np.uint64(ed[i]), key[2], np.uint64(0), key[0], key[1]
        )[0]


@compiled
def _fill_choices(
    key: npt.NDArray[np.uint64],
    ed: Ints,
    number: Ints,
    row: npt.NDArray[np.int64],
    bounds: npt.NDArray[np.uint64],
    out: Ints,
) -> None:
    """For each unit, the first category of its row whose bound is above the unit's word."""
    for i in range(out.size):
        word = philox(np.uint64(number[i]), np.uint64(ed[i]), key[2], np.uint64(0), key[0], key[1])[
            0
        ]
        upper = bounds[row[i] if row.size > 1 else 0]
        low, high = 0, upper.size - 1
        while low < high:
            middle = (low + high) // 2
            if word < upper[middle]:
                high = middle
            else:
                low = middle + 1
        out[i] = low


@dataclass(frozen=True, slots=True)
class DemoUnits:
    """The units that draws are for: the district of each, and its number in the district."""

    ed: Ints
    number: Ints

    def __len__(self) -> int:
        return self.ed.size

    def take(self, where: npt.NDArray[np.bool_] | npt.NDArray[np.integer]) -> DemoUnits:
        """Some of the units."""
        return DemoUnits(self.ed[where], self.number[where])

    @classmethod
    def counted(cls, ed: Ints, counts: npt.NDArray[np.integer]) -> DemoUnits:
        """``counts`` units in each district of ``ed``, numbered from 0 in each."""
        return cls(np.repeat(ed, counts).astype(np.int32), runs(counts))


def runs(counts: npt.NDArray[np.integer]) -> Ints:
    """The numbers 0, 1, ... of the members of groups with ``counts`` members.

    Examples:
        >>> runs(np.array([2, 0, 3]))
        array([0, 1, 0, 1, 2], dtype=int32)
    """
    counts = np.asarray(counts, dtype=np.int64)
    starts = np.cumsum(counts) - counts
    numbers: Ints = (np.arange(counts.sum()) - np.repeat(starts, counts)).astype(np.int32)
    return numbers


class Shares:
    """How often each category occurs: whole weights, for one or more conditions.

    The last axis of ``weights`` are the categories, the others are the conditions.
    """

    def __init__(self, weights: npt.ArrayLike) -> None:
        table = np.asarray(weights, dtype=np.int64)
        if (table < 0).any() or (table.sum(axis=-1) <= 0).any():
            raise ValueError("Weights must not be negative, and every row needs one above 0.")
        self.given = table.shape[:-1]
        rows = table.reshape(-1, table.shape[-1])
        # Division in whole numbers: the bounds are the same on every machine.
        running = np.cumsum(rows, axis=1)
        self.bounds = ((running << 32) // running[:, -1:]).astype(np.uint64)

    @property
    def categories(self) -> int:
        """How many categories there are."""
        return int(self.bounds.shape[1])

    def rows(self, conditions: tuple[npt.ArrayLike, ...]) -> npt.NDArray[np.int64]:
        """The number of the row that belongs to each unit's conditions."""
        if len(conditions) != len(self.given):
            raise ValueError(f"{len(self.given)} conditions are needed.")
        row = np.zeros(1, dtype=np.int64)
        for size, condition in zip(self.given, conditions, strict=True):
            position = np.asarray(condition, dtype=np.int64)
            if position.size and (position.min() < 0 or position.max() >= size):
                raise ValueError("A condition is outside the table.")
            row = row * size + position
        return np.atleast_1d(row)


@cache
def _stream(purpose: str) -> int:
    return int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=4).digest(), "little")


@dataclass(frozen=True, slots=True)
class Draws:
    """All draws of one country."""

    seed: int

    def _key(self, purpose: str) -> npt.NDArray[np.uint64]:
        low, high = self.seed & 0xFFFFFFFF, self.seed >> 32 & 0xFFFFFFFF
        return np.array([low, high, _stream(purpose)], dtype=np.uint64)

    def words(self, purpose: str, units: DemoUnits) -> Words:
        """One word of 32 bits for each unit."""
        out = np.empty(len(units), dtype=np.uint32)
        _fill_words(self._key(purpose), units.ed, units.number, out)
        return out

    def choose(self, purpose: str, units: DemoUnits, shares: Shares, *given: npt.ArrayLike) -> Ints:
        """The position of a category for each unit, by the shares under its conditions."""
        out = np.empty(len(units), dtype=np.int32)
        row = shares.rows(given)
        if row.size == 1 and out.size > 1 and shares.given:
            row = np.broadcast_to(row, out.shape).copy()
        _fill_choices(self._key(purpose), units.ed, units.number, row, shares.bounds, out)
        return out

    def below(self, purpose: str, units: DemoUnits, size: int | npt.NDArray[np.integer]) -> Ints:
        """A whole number from 0 to ``size`` - 1 for each unit."""
        product = self.words(purpose, units).astype(np.int64) * size
        return (product >> 32).astype(np.int32)

    def happens(self, purpose: str, units: DemoUnits, per_million: npt.ArrayLike) -> Bools:
        """Whether something happens that happens to ``per_million`` units in a million."""
        word: Bools = self.below(purpose, units, MILLION) < np.asarray(per_million)
        return word


def share_out(total: int, weights: npt.ArrayLike, *, least: int = 0) -> npt.NDArray[np.int64]:
    """Whole numbers in proportion to ``weights`` that add up to ``total`` (largest remainders).

    Examples:
        >>> share_out(10, [1, 1, 1])
        array([4, 3, 3])
    """
    weight = np.asarray(weights, dtype=np.int64)
    rest = total - least * weight.size
    if rest < 0 or weight.sum() <= 0:
        raise ValueError("There is not enough to share out.")
    scaled = weight * rest
    shares = scaled // weight.sum()
    remainders = scaled - shares * weight.sum()
    most = np.argsort(-remainders, kind="stable")[: rest - shares.sum()]
    shares[most] += 1
    return np.asarray(shares + least, dtype=np.int64)
