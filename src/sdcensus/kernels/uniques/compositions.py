"""Households with members that do not state everything: which complete households they may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]


@compiled
def _common(first: Int64, second: Int64, out: Int64) -> int:
    at, size = 0, 0
    for value in first:
        while at < second.size and second[at] < value:
            at += 1
        if at == second.size:
            break
        if second[at] == value:
            out[size] = value
            size += 1
    return size


def common(first: Int64, second: Int64) -> Int64:
    """What two ascending arrays have in common.

    Examples:
        >>> common(np.array([1, 4, 6]), np.array([0, 4, 5, 6]))
        array([4, 6])
    """
    out = np.empty(first.size, dtype=np.int64)
    return out[: _common(first, second, out)]


@compiled
def _may_be(
    words: UInt64, stated: UInt64, hidden: UInt64, absent: UInt64, gap: int, kind: int
) -> bool:
    """Whether a member that does not state everything may be one that does."""
    if absent[kind] & hidden[gap]:
        return False
    for word in range(words.shape[1]):
        if (words[gap, word] ^ words[kind, word]) & stated[gap, word]:
            return False
    return True


@compiled
def _without(
    kinds: Int64, first: int, last: int, own: Int64, begin: int, end: int, rest: Int64
) -> int:
    """The members of a household that another one does not have; -1 if this lacks one of them.

    Both are sorted. ``own`` is from ``begin`` to ``end`` what the other states completely.
    """
    at, size = begin, 0
    for place in range(first, last):
        if at < end and kinds[place] == own[at]:
            at += 1
        else:
            rest[size] = kinds[place]
            size += 1
    return size if at == end else -1


@compiled
def _assigned(allowed: Integers, size: int, gap: int, seen: Integers, holder: Integers) -> bool:
    """Find a member for a gap; those who have one already may take another."""
    # Breadth first along alternating ways: no recursion, which compiled code would pay for.
    queue = np.empty(size, dtype=np.int64)
    parent = np.full(size, -1, dtype=np.int64)
    head, tail = 0, 1
    queue[0] = gap
    while head < tail:
        here = queue[head]
        head += 1
        for member in range(size):
            if not allowed[here, member] or seen[member]:
                continue
            seen[member] = 1
            parent[member] = here
            if holder[member] >= 0:
                queue[tail] = holder[member]
                tail += 1
                continue
            while True:
                giver = parent[member]
                former = -1
                for other in range(size):
                    if holder[other] == giver:
                        former = other
                        break
                holder[member] = giver
                if giver == gap:
                    return True
                member = former
    return False


@compiled
def _matches(allowed: Integers, size: int) -> bool:
    """Whether every gap can be another member."""
    holder = np.full(size, -1, dtype=np.int64)
    seen = np.zeros(size, dtype=np.int64)
    for gap in range(size):
        seen[:] = 0
        if not _assigned(allowed, size, gap, seen, holder):
            return False
    return True


@compiled
def fitting_households(
    words: UInt64,
    stated: UInt64,
    hidden: UInt64,
    absent: UInt64,
    kinds: Int64,
    starts: Int64,
    candidates: Int64,
    household: int,
    gaps: int,
    places: UInt64,
    out: Int64,
) -> int:
    """Households of candidates that one with missing values may be; how many are written.

    Args:
        words, stated, hidden, absent: By kind of member its codes, which bits of them are stated,
            and bits for the keys that are missing and not applicable.
        kinds: The kinds of members, household after household; those that state everything first,
            each part sorted.
        starts: Where each household begins.
        candidates: Complete households of the same size.
        household: The one with missing values.
        gaps: How many of its members do not state everything.
        places: By household what is known of itself: its words, bits stated, bits missing, bits
            not applicable, one after the other.
        out: Where they go; as long as ``candidates``.
    """
    size = starts[household + 1] - starts[household]
    own_first, own_last = starts[household], starts[household + 1] - gaps
    rest = np.empty(size, dtype=np.int64)
    allowed = np.zeros((gaps, gaps), dtype=np.int64)
    width = (places.shape[1] - 2) // 2
    count = 0
    for candidate in candidates:
        fits = not (places[candidate, 2 * width + 1] & places[household, 2 * width])
        for word in range(width):
            differs = places[candidate, word] ^ places[household, word]
            fits = fits and not (differs & places[household, width + word])
        if not fits:
            continue
        begin, end = starts[candidate], starts[candidate + 1]
        if _without(kinds, begin, end, kinds, own_first, own_last, rest) != gaps:
            continue
        for gap in range(gaps):
            for member in range(gaps):
                allowed[gap, member] = _may_be(
                    words, stated, hidden, absent, kinds[own_last + gap], rest[member]
                )
        if _matches(allowed, gaps):
            out[count] = candidate
            count += 1
    return count
