"""Probabilities as whole numbers of keys: rows sum exactly to the modulus, without bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def quantise(
    probabilities: Sequence[float | Fraction],
    deviations: Sequence[int],
    modulus: int,
    *,
    unbiased: bool = True,
) -> tuple[int, ...]:
    """How many of the ``modulus`` keys each deviation gets.

    Every deviation gets the whole part of its share, and the largest remainders get what is left.
    Then keys move between deviations that differ by one until the mean deviation is 0: there the
    fewest probabilities change, and each by less than ``(D(D+1)+1) / modulus``.

    Args:
        probabilities: Sum to one.
        deviations: In ascending order.
        modulus: How many keys there are.
        unbiased: Whether the mean deviation shall be 0. Where no whole numbers give that (the
            greatest common divisor of the differences does not divide it), the smallest one left
            is below that divisor, divided by the modulus.

    Examples:
        >>> quantise([0.25, 0.5, 0.25], [-1, 0, 1], 256)
        (64, 128, 64)
        >>> quantise([Fraction(2, 3), Fraction(1, 3)], [-1, 2], 256)
        (171, 85)
    """
    shares = [Fraction(probability) * modulus for probability in probabilities]
    keys = [math.floor(share) for share in shares]
    left = modulus - sum(keys)
    order = sorted(range(len(shares)), key=lambda at: (keys[at] - shares[at], at))
    # A sum that is off by a rounding error can leave more, or less, than one key for each.
    while left:
        step = 1 if left > 0 else -1
        for at in order if left > 0 else reversed(order):
            if left and keys[at] + step >= 0:
                keys[at] += step
                left -= step
    return tuple(_balanced(keys, list(deviations)) if unbiased else keys)


def _balanced(keys: list[int], deviations: list[int]) -> list[int]:
    """Move keys between neighbouring deviations until their mean is 0, or nearest to it.

    Of two pairs with as many keys (a symmetric row has them) the upper one gives and takes.
    """
    pairs = range(len(deviations) - 1)
    gaps = [deviations[at + 1] - deviations[at] for at in pairs]
    total = sum(value * share for value, share in zip(deviations, keys, strict=True))
    while total:
        # Against the sign of the mean: from the higher deviation to the lower, or back.
        source = 1 if total > 0 else 0
        useful = [at for at in pairs if gaps[at] <= abs(total) and keys[at + source] > 0]
        if not useful:
            break
        nearest = min(gaps[at] for at in useful)
        pair = max(
            (at for at in useful if gaps[at] == nearest),
            key=lambda at: (keys[at] + keys[at + 1], at),
        )
        moved = min(abs(total) // gaps[pair], keys[pair + source])
        keys[pair + source] -= moved
        keys[pair + 1 - source] += moved
        total -= moved * gaps[pair] * (1 if total > 0 else -1)
    step = math.gcd(*gaps)
    return keys if abs(total) < max(step, 1) else _rearranged(keys, deviations, total, step)


def _rearranged(keys: list[int], deviations: list[int], total: int, step: int) -> list[int]:
    """Bring what is left of the mean nearer to 0 by the fewest single keys that change places.

    Neighbours that are 2 and 3 apart have no pair that moves the mean by 1, but two moves do.
    """
    places = range(len(deviations))
    span = 2 * (deviations[-1] - deviations[0])
    # From each total that can be reached, the keys there.
    reached = {total: keys}
    waiting = [total]
    for here in waiting:
        for source, goal in ((a, b) for a in places for b in places if a != b):
            there = here + deviations[goal] - deviations[source]
            if reached[here][source] == 0 or there in reached or abs(there) > span:
                continue
            moved = list(reached[here])
            moved[source] -= 1
            moved[goal] += 1
            if abs(there) < step:
                return moved
            reached[there] = moved
            waiting.append(there)
    return keys
