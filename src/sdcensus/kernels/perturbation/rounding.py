"""Rounding counts to multiples of a base, in whole numbers: by key, to the nearest, to a total."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.kernels.perturbation.lookup import (
    PIECE,
    PLAIN,
    effective_keys,
    flat_definition,
    frozen,
    in_pieces,
)
from sdcensus.kernels.perturbation.quantise import quantise

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

_EVERY_COUNT = np.iinfo(np.int64).max


@lru_cache(maxsize=64)
def first_keys_up(base: int, modulus: int) -> tuple[int, ...]:
    """For each remainder, the first key with which a count is rounded up; the smaller ones go down.

    A remainder ``r`` goes up with the probability ``r / base``, to the nearest whole number of
    keys. Multiples never move, so remainder 0 has no such key: the modulus stands for it.

    Examples:
        >>> first_keys_up(5, 1000)
        (1000, 800, 600, 400, 200)
        >>> first_keys_up(3, 256)
        (256, 171, 85)
    """
    shares = [
        quantise(
            (Fraction(base - rest, base), Fraction(rest, base)), (-rest, base - rest), modulus
        )[0]
        for rest in range(1, base)
    ]
    return (modulus, *shares)


def round_by_key(
    count: Int64,
    key: UInt32,
    base: int,
    modulus: int,
    *,
    below: int | None = None,
    rule: int = PLAIN,
    hash_key: bytes | None = None,
    definition: UInt64 | None = None,
    threads: int | None = None,
) -> Int64:
    """Each count as the multiple of the base below or above it, as its key says.

    Args:
        count: True counts, of any shape.
        key: Keys, of the same shape.
        base: What results are multiples of.
        modulus: How many keys there are; after ``rule``, that is.
        below: Only counts below this are rounded; all by default.
        rule: How a cell key becomes the key that decides, as in ``lookup.publish``.
        hash_key: 16 bytes, for hashed keys.
        definition: The definition of each cell, where keys are hashed with it.
        threads: How many threads share the work.

    Examples:
        >>> round_by_key(np.array([7, 7, 6]), np.array([0, 999, 999], dtype=np.uint32), 3, 1000)
        array([6, 9, 6])
    """
    firsts = np.array(first_keys_up(base, modulus), dtype=np.uint64)
    limit = _EVERY_COUNT if below is None else below
    out = np.empty(count.shape, dtype=np.int64)
    counts, keys = np.ascontiguousarray(count).reshape(-1), np.ascontiguousarray(key).reshape(-1)
    flat = out.reshape(-1)
    meanings = flat_definition(rule, count.shape, definition)

    def work(begin: int) -> None:
        piece = slice(begin, begin + PIECE)
        used = effective_keys(keys[piece], rule=rule, hash_key=hash_key, definition=meanings[piece])
        _by_key(frozen(counts[piece]), frozen(used), firsts, base, limit, flat[piece])

    in_pieces(work, flat.size, threads)
    return out


def round_to_nearest(count: Int64, base: int, *, ties_up: bool = False) -> Int64:
    """Each count as the nearest multiple of the base.

    A count in the middle between two multiples (the base is even then) becomes the one that is
    an even number of times the base, so that as many go up as down; or always the upper one.

    Examples:
        >>> round_to_nearest(np.array([1, 2, 3, 5, 6, 7]), 4)
        array([0, 0, 4, 4, 8, 8])
        >>> round_to_nearest(np.array([1, 2, 3, 5, 6, 7]), 4, ties_up=True)
        array([0, 4, 4, 4, 8, 8])
    """
    out = np.empty(count.shape, dtype=np.int64)
    counts, flat = np.ascontiguousarray(count).reshape(-1), out.reshape(-1)

    def work(begin: int) -> None:
        piece = slice(begin, begin + PIECE)
        _nearest(frozen(counts[piece]), base, ties_up, flat[piece])

    in_pieces(work, flat.size)
    return out


def nearest_multiples(values: Int64, unit: int) -> Int64:
    """How many times a unit each value is, to the nearest; of two equally near, the even one.

    Values may be below 0.

    Examples:
        >>> nearest_multiples(np.array([14, 15, 16, 25, -14, -15, -25]), 10)
        array([ 1,  2,  2,  2, -1, -2, -2])
    """
    whole, rest = np.divmod(values, np.int64(unit))
    up = (2 * rest > unit) | ((2 * rest == unit) & (whole % 2 == 1))
    return np.asarray(whole + up, dtype=np.int64)


def round_to_totals(
    count: Int64, key: UInt32, total: Int64, draw: UInt64, base: int, hash_key: bytes
) -> Int64:
    """Counts as multiples below or above them whose sum in every group is a given one.

    In each group the cells that are no multiple stand in the order of the hash of their keys
    (cells with the same hash in the order given), and cells to round up are selected
    systematically: each has a length in proportion to its remainder, and is selected when one of
    the marks, which lie at equal distances from a drawn start, falls into it. That selects as
    many cells as are needed, whatever the start, and each with exactly its probability. Cells
    whose length would exceed the distance of the marks are selected for certain, and what is
    needed besides is shared out among the others.

    Args:
        count: True counts, one row for each group.
        key: Cell keys, of the same shape.
        total: For each group the multiple of the base to which its results sum. The multiple
            below or above the sum of the counts can always be reached; a total that cannot is
            replaced by the nearest one that can.
        draw: A random number for each group, which gives its start.
        base: What results are multiples of.
        hash_key: 16 bytes under which keys are hashed.
    """
    rest = count % base
    out = count - rest
    flat, groups, cells = rest.reshape(-1), count.shape[0], count.shape[1]
    at = np.flatnonzero(flat)
    group = at // max(cells, 1)
    hashes = siphash24(hash_key, key.reshape(-1)[at].astype(np.uint64).reshape(-1, 1))
    order = np.lexsort((hashes, group))
    at = at[order]
    bounds = np.searchsorted(group, np.arange(groups + 1))
    needed = np.clip((total - out.sum(axis=1)) // base, 0, np.diff(bounds))
    up = np.zeros(at.size, dtype=np.bool_)
    _select(flat[at], bounds, needed, draw, base, up)
    out.reshape(-1)[at[up]] += base
    return out


@compiled
def _by_key(count: Int64, key: UInt32, firsts: UInt64, base: int, below: int, out: Int64) -> None:
    # Counts are 0 or more: dividing unsigned numbers is faster. There is no branch on the remainder
    # or the key, which no processor could foresee; multiples have no key that rounds them up.
    divisor = np.uint64(base)
    for cell in range(count.size):
        here = count[cell]
        if here >= below:
            out[cell] = here
            continue
        rest = np.uint64(here) % divisor
        up = np.int64(key[cell] >= firsts[rest])
        out[cell] = here - np.int64(rest) + base * up


@compiled
def _nearest(count: Int64, base: int, ties_up: bool, out: Int64) -> None:
    divisor = np.uint64(base)
    for cell in range(count.size):
        here = np.uint64(count[cell])
        times = here // divisor
        twice = np.int64(here - times * divisor) * 2
        odd = (times & np.uint64(1)) != 0
        up = (twice > base) | ((twice == base) & (ties_up | odd))
        out[cell] = (np.int64(times) + np.int64(up)) * base


@compiled
def _select(
    rest: Int64,
    bounds: Int64,
    needed: Int64,
    draw: UInt64,
    base: int,
    up: npt.NDArray[np.bool_],
) -> None:
    often = np.empty(base, dtype=np.int64)
    for group in range(needed.size):
        first, last = bounds[group], bounds[group + 1]
        often[:] = 0
        length = np.int64(0)
        for cell in range(first, last):
            often[rest[cell]] += 1
            length += rest[cell]
        marks = needed[group]
        # A cell has the length rest * marks, and the marks lie the sum of remainders apart. Where a
        # remainder is certain to be selected, so are all larger ones.
        certain = base
        while certain > 1:
            larger = certain - 1
            if often[larger] > 0:
                if larger * marks <= length:
                    break
                marks -= often[larger]
                length -= larger * often[larger]
            certain = larger
        if length == 0:  # every cell is selected, or there is none
            up[first:last] = True
            continue
        divisor = _greatest_common_divisor(marks, length)
        step, apart = marks // divisor, length // divisor
        passed = np.int64(draw[group] % np.uint64(apart))
        for cell in range(first, last):
            if rest[cell] >= certain:
                up[cell] = True
                continue
            passed += rest[cell] * step
            if passed >= apart:
                passed -= apart
                up[cell] = True


@compiled
def _greatest_common_divisor(one: np.int64, other: np.int64) -> np.int64:
    while other:
        one, other = other, one % other
    return one
