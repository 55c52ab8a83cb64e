"""Systematic selection in whole numbers: exactly so many units, each with its own probability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Shares are whole numbers of these parts; sums over 2**23 units, and products with a number of
#: units, stay below 2**63.
PARTS = 1 << 30
#: Survival is kept finer than shares, so that many factors do not wear it out.
_FINE = 1 << 40
#: Counts above this are as safe as this: 2**40 times it still fits 64 bits.
_LARGEST_COUNT = 1 << 22


@compiled
def _survive(unit: Int64, count: Int64, left: Int64) -> None:
    for at in range(unit.size):
        left[unit[at]] = left[unit[at]] * (count[at] - 1) // count[at]


def shared_risk(unit: Int64, count: Int64, units: int) -> Int64:
    """The risk of units with members: 1 less the product of 1 - 1/count over their members.

    Members are taken in the order of their counts, so that the order of records is no matter. A
    unit without members has no risk.

    Args:
        unit: For each member the number of its unit.
        count: For each member how many have its combination, at least 1.
        units: How many units there are.

    Returns:
        For each unit its risk, in ``PARTS``.

    Examples:
        >>> risk = shared_risk(np.array([0, 0, 0, 2]), np.array([2, 4, 10, 1]), 3)
        >>> (risk / PARTS).round(4).tolist()
        [0.6625, 0.0, 1.0]
    """
    capped = np.minimum(count, _LARGEST_COUNT).astype(np.int64)
    order = np.argsort(capped, kind="stable")
    left = np.full(units, _FINE, dtype=np.int64)
    _survive(unit[order].astype(np.int64), capped[order], left)
    return (_FINE - left) // (_FINE // PARTS)


def certain(share: Int64, number: int) -> Mask:
    """Which units are selected for certain when ``number`` are selected in proportion to shares.

    Those whose probability would be 1 or more; then, of the others, those that would be so among
    what is left; and so on.

    Examples:
        >>> certain(np.array([8, 4, 2, 1, 1]), 2).tolist()
        [True, False, False, False, False]
    """
    if number >= int((share > 0).sum()):
        return share > 0
    sure = np.zeros(share.size, dtype=bool)
    while True:
        left = number - int(sure.sum())
        total = int(share[~sure].sum())
        more = ~sure & (share > 0) & (share * left >= total)
        if left <= 0 or not more.any():
            return sure
        sure |= more


@compiled
def _select(share: Int64, total: int, number: int, start: int, chosen: Mask) -> None:
    rest = start
    for at in range(share.size):
        rest += share[at] * number
        if rest >= total:
            rest -= total
            chosen[at] = True


def select_in_proportion(share: Int64, number: int, draw: int) -> Mask:
    """Select exactly ``number`` units, each with a probability in proportion to its share.

    Systematically: units lie behind each other in the order given, each as long as its share, and
    are selected where marks at equal distances from a drawn start fall. Units as long as the
    distance or longer are selected for certain, and the rest among the others.

    Args:
        share: For each unit its share, at most ``PARTS``; those with 0 are never selected.
        number: How many; all that have a share if there are not so many.
        draw: 64 random bits, which give the start.

    Examples:
        >>> select_in_proportion(np.array([1, 1, 1, 1]), 2, 0).tolist()
        [False, True, False, True]
    """
    chosen = certain(share, number)
    left = number - int(chosen.sum())
    rest = np.where(chosen, 0, share)
    total = int(rest.sum())
    if left > 0 and total > 0:
        _select(rest, total, left, (draw * total) >> 64, chosen)
    return chosen


def shared_out(share: Int64, number: int, most: Int64, draw: int) -> Int64:
    """Share ``number`` out among groups in proportion, none above its most.

    Each gets its part rounded down or up, up with the probability of what is left over, and the sum
    is exact. What a full group cannot take goes to the others, in proportion again; if none of
    these has a share, nobody takes it.

    Examples:
        >>> shared_out(np.array([5, 3, 2]), 4, np.array([1, 9, 9]), 0).tolist()
        [1, 1, 2]
    """
    given = np.zeros(share.size, dtype=np.int64)
    full = (most <= 0) | (share <= 0)
    while True:
        left = number - int(given[full].sum())
        total = int(share[~full].sum())
        if total == 0 or left <= 0:
            return given
        over = ~full & (share * left >= most * total)
        if not over.any():
            break
        given[over] = most[over]
        full |= over
    rest = np.where(full, 0, share)
    ends = np.cumsum(rest * left) + ((draw * total) >> 64)
    parts = ends // total
    given += np.where(full, 0, np.diff(parts, prepend=0))
    return given
