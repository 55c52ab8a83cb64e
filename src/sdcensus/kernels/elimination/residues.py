"""Numbers modulo two primes at once: what is 0 in both is taken to be 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]

#: The largest primes below 2**31, two by two. Products of residues stay within 63 bits. Where the
#: first two disagree on whether a number is 0, one of them divides it by accident, and the next
#: two are taken; that all of them do has never been seen.
PAIRS: tuple[tuple[int, int], ...] = (
    (2147483647, 2147483629),
    (2147483587, 2147483579),
    (2147483563, 2147483549),
    (2147483543, 2147483497),
)


@compiled
def inverse(value: int, prime: int) -> int:
    """The inverse of a residue that is not 0, by a power."""
    result, base, power = 1, value, prime - 2
    while power:
        if power & 1:
            result = result * base % prime
        base = base * base % prime
        power >>= 1
    return result


@compiled
def push(heap: Int64, size: int, value: int) -> int:
    """Put a number into a heap whose smallest stands first; its new size."""
    at = size
    heap[at] = value
    while at > 0:
        above = (at - 1) // 2
        if heap[above] <= heap[at]:
            break
        heap[above], heap[at] = heap[at], heap[above]
        at = above
    return size + 1


@compiled
def pop(heap: Int64, size: int) -> int:
    """Take the smallest number from a heap, which is one shorter afterwards."""
    smallest = heap[0]
    size -= 1
    heap[0] = heap[size]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[at] <= heap[below]:
            break
        heap[below], heap[at] = heap[at], heap[below]
        at = below
    return int(smallest)


def combined(first: Int64, second: Int64, pair: tuple[int, int]) -> list[int]:
    """The whole numbers nearest to 0 that have these two residues.

    Examples:
        >>> pair = PAIRS[0]
        >>> combined(np.array([pair[0] - 3]), np.array([pair[1] - 3]), pair)
        [-3]
    """
    modulus = pair[0] * pair[1]
    lift = pair[0] * pow(pair[0], -1, pair[1])
    numbers = []
    for low, high in zip(first.tolist(), second.tolist(), strict=True):
        number = (low + (high - low) * lift) % modulus
        numbers.append(number - modulus if number > modulus // 2 else number)
    return numbers


def rational(number: int, pair: tuple[int, int]) -> tuple[int, int] | None:
    """The fraction with small parts that a residue stands for; ``None`` where there is none.

    Examples:
        >>> pair = PAIRS[0]
        >>> modulus = pair[0] * pair[1]
        >>> rational(-3 * pow(2, -1, modulus) % modulus, pair)
        (-3, 2)
    """
    modulus = pair[0] * pair[1]
    largest = 1 << 30
    before, after = (modulus, 0), (number % modulus, 1)
    while abs(after[0]) > largest:
        times = before[0] // after[0]
        before, after = after, (before[0] - times * after[0], before[1] - times * after[1])
    numerator, denominator = after
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    return (numerator, denominator) if 0 < denominator <= largest else None
