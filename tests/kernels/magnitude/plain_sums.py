"""The cell key method for sums as its specification writes it, in exact fractions, one cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import floor

#: From a table, the place of a contribution and a row to what is added.
LookUp = Callable[[str, int, int], Fraction]
#: From the place of a contribution to a draw between 0 and 1.
Draw = Callable[[int], Fraction]


@dataclass(frozen=True)
class PlainSettings:
    """Parameters by the letters of the specification; ``small_square`` is the square of z_s."""

    share: Fraction
    large_share: Fraction | None = None
    flex_point: int = 0
    power: int = 2
    epsilon: tuple[Fraction, ...] = (Fraction(1),)
    anchors: tuple[int, ...] = (1, 2, 3)
    small_anchors: tuple[int, ...] = (1, 2, 3)
    small_square: Fraction = Fraction(0)
    extra: Fraction = Fraction(0)
    half_step: Fraction = Fraction(1, 8)


def magnitude(size: Fraction, settings: PlainSettings) -> Fraction:
    """The relative size of noise, by the published formula."""
    if settings.large_share is None or size < settings.flex_point:
        return settings.share
    large, flex = settings.large_share, Fraction(settings.flex_point)
    falling = (2 * flex / (size + flex)) ** settings.power
    return large * (1 + (settings.share * size - large * flex) / (large * flex) * falling)


def published(
    total: int,
    contributions: Sequence[int],
    settings: PlainSettings,
    look_up: LookUp,
    *,
    sensitive: bool = False,
    odd: bool = False,
    spread: Draw | None = None,
) -> tuple[Fraction, Fraction]:
    """The published sum, every change rounded half up to a whole amount, and a bound of changes.

    With ``spread`` each deviation is anywhere in its step, and never takes away more than there is.
    """
    sum_now, bound = Fraction(total), Fraction(0)
    if total == 0:
        return sum_now, bound
    for place, (epsilon, size) in enumerate(zip(settings.epsilon, contributions, strict=False)):
        own = Fraction(abs(size))
        if not own or not sum_now:
            break
        small = own * own < settings.small_square
        delta = Fraction(1) if small else own * epsilon * magnitude(own, settings)
        if abs(sum_now) < delta:
            delta = abs(sum_now)
            own = delta / (epsilon * settings.share)
            small = own * own < settings.small_square
            if small and place > 0:
                break
            if small:
                delta = Fraction(1)
        table = "small" if small else ("odd" if odd else "plain")
        anchors = settings.small_anchors if small else settings.anchors
        height = abs(sum_now) / delta
        deviation = _interpolated(height, anchors, partial(look_up, table, place))
        if spread is not None and not small:
            deviation += (2 * spread(place) - 1) * min(settings.half_step, height + deviation)
        extra = settings.extra if place == 0 and sensitive and not small else Fraction(0)
        sign = -1 if deviation < 0 else 1
        size_of_change = floor(delta * (extra + abs(deviation)) + Fraction(1, 2))
        change = Fraction((1 if total > 0 else -1) * sign * size_of_change)
        bound += delta * (extra + anchors[-1] + settings.half_step)
        if deviation < 0:
            change = max(change, -sum_now) if total > 0 else min(change, -sum_now)
        sum_now += change
    return sum_now, bound


def _interpolated(
    height: Fraction, anchors: Sequence[int], at: Callable[[int], Fraction]
) -> Fraction:
    if height >= anchors[-1]:
        return at(anchors[-1])
    below = max([0, *(anchor for anchor in anchors if anchor <= height)])
    above = min(anchor for anchor in anchors if anchor > height)
    if height == below:
        return at(below)
    share = (height - below) / (above - below)
    lower = at(below) if below else Fraction(0)
    return (1 - share) * lower + share * at(above)
