"""Noise of sums by the keys of their contributors: each of the largest moves its own way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import key_words, siphash_words
from sdcensus.kernels.magnitude.numeric_rows import BILLION
from sdcensus.kernels.magnitude.wide import TOO_LARGE, scaled
from sdcensus.kernels.perturbation.lookup import PIECE, frozen, in_pieces

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]

#: Columns of a table of scales for cells of many contributors; the others are for cells of few.
LARGE_COLUMNS = 32
#: Rows of a table of scales: the low 8 bits of a record key.
SCALE_ROWS = 256

_0, _1, _8, _32 = (np.uint64(number) for number in (0, 1, 8, 32))
_ROW, _COLUMN = np.uint64(SCALE_ROWS - 1), np.uint64(LARGE_COLUMNS - 1)
_BILLION = np.uint64(BILLION)


class TopNoise(NamedTuple):
    """How the largest contributors move; shares in billionths.

    Attributes:
        magnitudes: The share of each of the largest, by rank.
        scales: For the low 8 bits of a record key, and for a column, what the share is multiplied
            by. A cell of up to so many contributors as there are columns behind the first 32 has
            the column of their number; others have one by the low 5 bits of the cell key.
    """

    magnitudes: UInt64
    scales: UInt64


class LayerNoise(NamedTuple):
    """How layers of the largest contributors move; shares in billionths.

    Attributes:
        shares: The share of each layer.
        spread: How far the scale of a layer is from 1 at most.
        modulus: How many keys there are.
        xor: Whether keys are combined by exclusive or.
        first, second: The key of the hash.
    """

    shares: UInt64
    spread: np.uint64
    modulus: np.uint64
    xor: bool
    first: np.uint64
    second: np.uint64

    @classmethod
    def build(
        cls, shares: UInt64, spread: int, modulus: int, *, xor: bool, hash_key: bytes
    ) -> LayerNoise:
        """Take a hash key of 16 bytes."""
        words = key_words(hash_key)
        return cls(frozen(shares), np.uint64(spread), np.uint64(modulus), xor, *words)


def publish_top(
    total: Int64, sizes: Int64, own: UInt32, contributors: Int64, key: UInt32, noise: TopNoise
) -> Int64:
    """The published value of each sum, its largest contributors moved by their own keys.

    Args:
        total: True sums, of any shape.
        sizes: The largest contributions, one more axis, the largest first.
        own: The record key of each.
        contributors: How many contribute.
        key: Cell keys.
        noise: The parameters.
    """
    return _published(_top, noise, total, sizes, own, contributors, key)


def publish_layers(
    total: Int64, sizes: Int64, own: UInt32, contributors: Int64, noise: LayerNoise
) -> Int64:
    """The published value of each sum, its largest contributors moved in layers.

    Args:
        total: True sums, of any shape.
        sizes: The largest contributions, one more axis, the largest first.
        own: The record key of each.
        contributors: How many contribute.
        noise: The parameters.
    """
    return _published(_layers, noise, total, sizes, own, contributors)


def scale_table(hash_key: bytes, *, few: int, small_spread: int, large_spread: int) -> UInt64:
    """A table of scales, uniform around 1, drawn by a hash of row and column.

    Args:
        hash_key: 16 bytes.
        few: Up to how many contributors a cell has a column of its own.
        small_spread, large_spread: How far scales are from 1 at most, for cells of few and of many
            contributors; in billionths.
    """
    table = np.empty((SCALE_ROWS, LARGE_COLUMNS + few), dtype=np.uint64)
    _fill(*key_words(hash_key), np.uint64(small_spread), np.uint64(large_spread), table)
    return frozen(table)


def _published(
    kernel: Callable[..., bool], noise: TopNoise | LayerNoise, total: Int64, *others: Integers
) -> Int64:
    """What a kernel makes of arrays over cells, of any shape, in pieces."""
    out = np.empty(total.shape, dtype=np.int64)
    flat = out.reshape(-1)
    rows = [
        frozen(np.ascontiguousarray(array).reshape(total.size, *array.shape[total.ndim :]))
        for array in (total, *others)
    ]

    def work(begin: int) -> None:
        piece = slice(begin, begin + PIECE)
        if not kernel(*(array[piece] for array in rows), noise, flat[piece]):
            raise SpecError(
                "The noise of a sum is beyond 64 bits. Publish the amount in a larger unit, or with"
                " fewer decimals."
            )

    in_pieces(work, out.size)
    return out


@compiled
def uniform(first: np.uint64, second: np.uint64, words: UInt64, spread: np.uint64) -> np.uint64:
    """A scale around 1 in billionths: one of the whole numbers up to ``spread`` away from it."""
    draw = siphash_words(first, second, words) >> _32
    # Below 2**31 numbers times 2**32 draws.
    return _BILLION - spread + ((draw * (spread + spread + _1)) >> _32)


@compiled
def _fill(
    first: np.uint64,
    second: np.uint64,
    small_spread: np.uint64,
    large_spread: np.uint64,
    table: UInt64,
) -> None:
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            spread = large_spread if column < LARGE_COLUMNS else small_spread
            words = (np.uint64(row), np.uint64(column), _0, _1)
            table[row, column] = uniform(first, second, words, spread)  # type: ignore[arg-type]


@compiled
def _with_sign(total: np.int64, change: np.int64) -> np.int64:
    """A sum that has moved, but not beyond 0."""
    moved = total + change
    if (total > 0 and moved < 0) or (total < 0 and moved > 0):
        return np.int64(0)
    return moved


@compiled
def _too_large(size: np.uint64, total: np.int64) -> bool:
    # Six changes, each up to the size of a contribution times four, and the sum.
    return bool(size > TOO_LARGE >> _8 or np.uint64(abs(total)) > TOO_LARGE >> _1)


@compiled
def _top(
    total: Int64,
    sizes: Int64,
    own: UInt32,
    contributors: Int64,
    key: UInt32,
    noise: TopNoise,
    out: Int64,
) -> bool:
    few = noise.scales.shape[1] - LARGE_COLUMNS
    for cell in range(total.size):
        change = np.int64(0)
        number = contributors[cell]
        column = np.int64(np.uint64(key[cell]) & _COLUMN)
        if number <= few:
            column = LARGE_COLUMNS + number - 1
        for place in range(min(noise.magnitudes.size, number)):
            size, record = np.uint64(abs(sizes[cell, place])), np.uint64(own[cell, place])
            if _too_large(size, total[cell]):
                return False
            scale = noise.scales[np.int64(record & _ROW), column]
            factor = scaled(noise.magnitudes[place], scale, _BILLION)
            moved = np.int64(scaled(size, factor, _BILLION))
            # The ninth bit of the record key says where its contribution moves, everywhere.
            upwards = (record >> _8) & _1 == _1
            change += moved if upwards == (sizes[cell, place] > 0) else -moved
        out[cell] = _with_sign(total[cell], change) if total[cell] != 0 else 0
    return True


@compiled
def _layers(
    total: Int64,
    sizes: Int64,
    own: UInt32,
    contributors: Int64,
    noise: LayerNoise,
    out: Int64,
) -> bool:
    for cell in range(total.size):
        change = np.int64(0)
        known = min(contributors[cell], sizes.shape[1])
        for layer in range(noise.shares.size):
            begin, end = (1 << layer) - 1, min((2 << layer) - 1, known)
            members = _0
            for place in range(begin, end):
                record = np.uint64(own[cell, place])
                members = members ^ record if noise.xor else (members + record) % noise.modulus
            words = (members, np.uint64(layer + 1), np.uint64(max(end - begin, 0)), _0)
            scale = uniform(noise.first, noise.second, words, noise.spread)  # type: ignore[arg-type]
            factor = scaled(noise.shares[layer], scale, _BILLION)
            for place in range(begin, end):
                size = np.uint64(abs(sizes[cell, place]))
                if _too_large(size, total[cell]):
                    return False
                moved = np.int64(scaled(size, factor, _BILLION))
                word = (np.uint64(own[cell, place]), _0, _0, _1)
                drawn = siphash_words(noise.first, noise.second, word)  # type: ignore[arg-type]
                upwards = drawn >> _32 & _1 == _1
                change += moved if upwards == (sizes[cell, place] > 0) else -moved
        out[cell] = _with_sign(total[cell], change) if total[cell] != 0 else 0
    return True
