"""Weights of units: how many records they hold, and a weight for each by thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]

#: No unit holds so many records of a kind that its number would not fit.
_NO_ROW = np.uint32(0xFFFFFFFF)


def held_counts(links: Integers, units: int) -> Integers:
    """How many records each unit holds, by the row of the unit of each; none has no unit.

    Examples:
        >>> held_counts(np.array([0, 2, 2, 0xFFFFFFFF], dtype=np.uint32), 3)
        array([1, 0, 2], dtype=uint32)
    """
    counts = np.zeros(units, dtype=np.uint32)
    _count(_read_only(links.astype(np.uint32, copy=False)), counts)
    return counts


def drawn_weights(words: UInt64, stratum: Integers, unit: UInt64, parts: Integers) -> Integers:
    """A weight for each record, by where its random word lies.

    Words below ``parts[0]·unit`` weigh 0, the next ``parts[1]·unit`` of them 2, the next
    ``parts[2]·unit`` weigh 3, all others 1. Whole numbers of one unit keep the mean at exactly 1
    where ``parts[0] = parts[1] + 2·parts[2]``, whatever the unit.

    Args:
        words: 64 random bits for each record.
        stratum: Its stratum.
        unit: For each stratum the width of one part; all parts together stay below 2**64.
        parts: How many parts weigh 0, 2 and 3.

    Examples:
        >>> words = np.array([0, 3, 4, 5], dtype=np.uint64)
        >>> unit = np.array([1], dtype=np.uint64)
        >>> drawn_weights(words, np.zeros(4, dtype=np.uint32), unit, np.array([3, 1, 1]))
        array([0, 2, 3, 1], dtype=uint8)
    """
    weights = np.empty(words.size, dtype=np.uint8)
    limits = np.cumsum(parts).astype(np.uint64)[None, :] * unit[:, None]
    _draw(words, _read_only(stratum.astype(np.uint32, copy=False)), limits, weights)
    return weights


def _read_only(array: Integers) -> Integers:
    view = array.view()
    view.flags.writeable = False  # one compiled version for read-only and other arrays
    return view


@compiled
def _count(links: Integers, counts: Integers) -> None:
    for link in links:
        if link != _NO_ROW:
            counts[link] += np.uint32(1)


@compiled
def _draw(words: UInt64, stratum: Integers, limits: UInt64, weights: Integers) -> None:
    for row in range(words.size):
        word, of = words[row], stratum[row]
        if word >= limits[of, 2]:
            weights[row] = 1
        elif word < limits[of, 0]:
            weights[row] = 0
        elif word < limits[of, 1]:
            weights[row] = 2
        else:
            weights[row] = 3
