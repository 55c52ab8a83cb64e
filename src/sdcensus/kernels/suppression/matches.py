"""How many records of a file each record could be, where missing keys match any value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]

#: Above so many comparisons of records, patterns of missing keys are joined instead.
_MOST_COMPARISONS = 20_000_000


@compiled
def needed(codes: Int32, masks: UInt32, first: int, second: int) -> int:
    """The keys that would have to be missing so that two records match; 0 if they do."""
    either = masks[first] | masks[second]
    missing = np.uint32(0)
    for key in range(codes.shape[1]):
        bit = np.uint32(1) << np.uint32(key)
        if (either & bit) == 0 and codes[first, key] != codes[second, key]:
            missing |= bit
    return int(missing)


@compiled
def matching(codes: Int32, masks: UInt32, first: int, second: int) -> bool:
    """Whether two records match on every key that both have."""
    either = masks[first] | masks[second]
    for key in range(codes.shape[1]):
        if (either >> np.uint32(key)) & np.uint32(1):
            continue
        if codes[first, key] != codes[second, key]:
            return False
    return True


@compiled
def _compared(codes: Int32, masks: UInt32, counts: Int64) -> None:
    for first in range(codes.shape[0]):
        for second in range(first):
            if matching(codes, masks, first, second):
                counts[first] += 1
                counts[second] += 1


def match_counts(codes: Int32, masks: UInt32) -> Int64:
    """For each record how many records match it, itself among them.

    Args:
        codes: The code of each record (rows) for each key; anything where it is missing.
        masks: For each record the keys that are missing, as bits.

    Examples:
        >>> codes = np.array([[0, 1], [0, 1], [0, 2], [1, 1]], dtype=np.int32)
        >>> match_counts(codes, np.array([0, 0, 2, 0], dtype=np.uint32))
        array([3, 3, 3, 1])
    """
    counts = np.ones(codes.shape[0], dtype=np.int64)
    patterns, number = np.unique(masks, return_inverse=True)
    if codes.shape[0] ** 2 <= _MOST_COMPARISONS:
        _compared(codes, masks, counts)
        return counts
    counts[:] = 0
    rows = [np.flatnonzero(number == at) for at in range(patterns.size)]
    for at, pattern in enumerate(patterns.tolist()):
        for other in range(at, patterns.size):
            keys = [
                key
                for key in range(codes.shape[1])
                if not (pattern | int(patterns[other])) >> key & 1
            ]
            if other == at:
                cells = projected(codes[rows[at]][:, keys])
                counts[rows[at]] += np.bincount(cells)[cells]
                continue
            both = np.concatenate([rows[at], rows[other]])
            cells = projected(codes[both][:, keys])
            mine, theirs = cells[: rows[at].size], cells[rows[at].size :]
            size = int(cells.max(initial=-1)) + 1
            counts[rows[at]] += np.bincount(theirs, minlength=size)[mine]
            counts[rows[other]] += np.bincount(mine, minlength=size)[theirs]
    return counts


def projected(codes: Integers) -> Int64:
    """The number of each row among the distinct rows, in the order of their codes."""
    cells = np.zeros(codes.shape[0], dtype=np.int64)
    size = 1
    for key in range(codes.shape[1]):
        column = codes[:, key].astype(np.int64)
        least = int(column.min(initial=0))
        width = int(column.max(initial=0)) - least + 1
        if size * width > 1 << 62:
            cells = np.unique(cells, return_inverse=True)[1].reshape(-1)
            size = int(cells.max(initial=0)) + 1
        cells = cells * width + (column - least)
        size *= width
    numbers: Int64 = np.unique(cells, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers
