"""How many pairs make a rate, and how they are spread over areas."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.swapping.order import waiting_times
from sdcensus.microdata.method import Draws

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Counters that tell the draws of this module from others.
_ROUNDING, _SPREADING = 11, 12


def pairs_for(rate: float, units: int, draws: Draws) -> int:
    """How many pairs touch this share of the units.

    A pair touches two. What is left over is one more pair with as much probability; one draw of the
    office secret decides, so that a higher rate never means fewer pairs.
    """
    exact = Fraction(str(rate)) * units / 2
    pairs = exact.numerator // exact.denominator
    word = int(draws.words(np.zeros(1, dtype=np.uint64), _ROUNDING)[0])
    chance = exact - pairs
    if word * chance.denominator < chance.numerator << 64 and 2 * (pairs + 1) <= units:
        pairs += 1
    return pairs


def area_digests(codes: Sequence[str]) -> UInt64:
    """A number for each area by its code, which draws take: the same in every store."""
    digests = [
        hashlib.blake2b(code.encode(), digest_size=8, person=b"area").digest() for code in codes
    ]
    return np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)


def spread(total: int, sizes: Int64, digests: UInt64, draws: Draws) -> Int64:
    """Whole numbers that add up to ``total``, in proportion to sizes.

    Each area gets its share without the fraction. What is left goes to different areas, which are
    drawn with probabilities that grow with their fractions. None gets more than its share rounded
    up.
    """
    whole = int(sizes.sum())
    if not whole:
        return np.zeros(sizes.size, dtype=np.int64)
    shares = [divmod(total * size, whole) for size in sizes.tolist()]
    counts = np.array([count for count, _ in shares], dtype=np.int64)
    waits = waiting_times(draws.words(digests, _SPREADING)).tolist()
    late = [
        (Fraction(wait, rest), at)
        for at, (wait, (_, rest)) in enumerate(zip(waits, shares, strict=True))
        if rest
    ]
    for _, at in sorted(late)[: total - int(counts.sum())]:
        counts[at] += 1
    return counts
