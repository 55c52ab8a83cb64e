"""Products of two 64-bit numbers and their quotients, exactly: the noise of a sum has no floats.

A float would round differently on another machine or in another compiler, and a published number
must not. Everything here is for use inside other compiled kernels; numbers are ``uint64``.
"""

from __future__ import annotations

import numpy as np

from sdcensus.kernels._compile import compiled

_0, _1, _32 = np.uint64(0), np.uint64(1), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_BASE = np.uint64(1 << 32)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
#: What stands for everything that is too large: beyond the range of signed numbers.
TOO_LARGE = np.uint64(1 << 63)


@compiled
def product(first: np.uint64, second: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The upper and the lower half of a product of 128 bits."""
    low_1, high_1 = first & _LOW, first >> _32
    low_2, high_2 = second & _LOW, second >> _32
    low = low_1 * low_2
    middle = high_1 * low_2 + (low >> _32)
    other = low_1 * high_2 + (middle & _LOW)
    high = high_1 * high_2 + (middle >> _32) + (other >> _32)
    return high, (other << _32) | (low & _LOW)


@compiled
def _leading_zeros(number: np.uint64) -> np.uint64:
    zeros, width = _0, _32
    while width > _0:
        if number >> (np.uint64(64) - width) == _0:
            zeros += width
            number = number << width
        width = width >> _1
    return zeros


@compiled
def quotient(high: np.uint64, low: np.uint64, divisor: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Whole quotient and remainder of a number of 128 bits; ``high`` is below the divisor.

    Long division by two digits of 32 bits each (Knuth, algorithm D).
    """
    if high == _0:
        return low // divisor, low % divisor
    shift = _leading_zeros(divisor)
    divisor = divisor << shift
    if shift > _0:
        high = (high << shift) | (low >> (np.uint64(64) - shift))
        low = low << shift
    upper, lower = divisor >> _32, divisor & _LOW
    digits = _0
    rest = high
    for place in range(2):
        following = (low >> _32) if place == 0 else (low & _LOW)
        digit, left = rest // upper, rest % upper
        while digit >= _BASE or digit * lower > ((left << _32) | following):
            digit -= _1
            left += upper
            if left >= _BASE:
                break
        # Differences wrap around 2**64, and come back.
        rest = (rest << _32) + following - digit * divisor
        digits = (digits << _32) + digit
    return digits, rest >> shift


@compiled
def scaled(value: np.uint64, factor: np.uint64, divisor: np.uint64) -> np.uint64:
    """``value * factor / divisor``, rounded half up; ``TOO_LARGE`` where it is 2**63 or more."""
    high, low = product(value, factor)
    if high >= divisor:
        return TOO_LARGE
    whole, rest = quotient(high, low, divisor)
    if rest >= divisor - rest:
        if whole == _ALL:
            return TOO_LARGE
        whole += _1
    return min(whole, TOO_LARGE)


@compiled
def rounded_by(
    value: np.uint64, factor: np.uint64, divisor: np.uint64, draw: np.uint64
) -> np.uint64:
    """``value * factor / divisor``, rounded up with the chance of its fraction.

    Args:
        value, factor, divisor: The divisor is not 0.
        draw: A number below 2**32, uniform over keys: the mean over all of them is the quotient
            to within a part in 2**32.
    """
    high, low = product(value, factor)
    if high >= divisor:
        return TOO_LARGE
    whole, rest = quotient(high, low, divisor)
    if whole >= TOO_LARGE:
        return TOO_LARGE
    drawn_high, drawn_low = product(divisor, draw)
    # Whether draw / 2**32 is below rest / divisor.
    rest_high, rest_low = rest >> _32, rest << _32
    if drawn_high < rest_high or (drawn_high == rest_high and drawn_low < rest_low):
        whole += _1
    return whole


@compiled
def less(first: np.uint64, second: np.uint64, third: np.uint64, fourth: np.uint64) -> bool:
    """Whether ``first * second < third * fourth``."""
    high_1, low_1 = product(first, second)
    high_2, low_2 = product(third, fourth)
    return bool(high_1 < high_2 or (high_1 == high_2 and low_1 < low_2))
