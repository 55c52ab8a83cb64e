"""Rows of greatest entropy: among all distributions that meet the wishes, the least predictable.

The row is found through its multipliers. Whatever the number of deviations, there are only three:
for the sum, for the mean and for the variance. Given those, the best probabilities are known in
closed form, and minimising the dual function over them is a damped Newton method in three unknowns.

First it runs in binary floating point, which is fast; then in decimal arithmetic with forty
digits, whose results are defined to the last digit, exponential function included. So a row does
not depend on the processor, the operating system, or the mathematics library of the machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Any

#: No admissible deviation is rarer than this.
FLOOR = 1e-8

_DIGITS = 40
#: The natural variance may exceed the bound by so much before the bound is imposed.
_SLACK = Decimal("1e-15")
#: Rough arithmetic decides whether there is a doubt about that.
_NATURAL = 1e-6
_ITERATIONS = 300
#: A step changes no logarithm of a probability by more than this.
_LONGEST_STEP = 12

# Either kind of number; one text of the method serves both.
Number = Any
Multipliers = tuple[Number, Number, Number]


@dataclass(frozen=True, slots=True)
class _Accuracy:
    """What one kind of number can do.

    Attributes:
        near: How near to the wishes a row must come.
        ridge: Added to the diagonal, relative to it: in very short rows, some wishes follow from
            others.
        blur: Smaller differences of the dual function say nothing.
    """

    near: Number
    ridge: Number
    blur: Number


_ROUGH = _Accuracy(1e-11, 1e-13, 1e-14)
_EXACT = _Accuracy(Decimal("1e-32"), Decimal("1e-30"), Decimal("1e-37"))


@dataclass(frozen=True, slots=True)
class EntropyRow:
    """A row of greatest entropy.

    Attributes:
        probabilities: Of each deviation.
        variance: What the row has.
        bound: Whether the variance had to be imposed.
        residual: By how much the row missed its wishes before it was rounded to binary numbers;
            above 1e-10 there is no such row.
    """

    probabilities: tuple[float, ...]
    variance: float
    bound: bool
    residual: float


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What is asked of a row, in one kind of number.

    Attributes:
        deviations: Ascending.
        rising: So many first probabilities must not fall from one to the next.
        zero: Where the deviation 0 stands, or -1.
        stay: The smallest probability of the deviation 0.
        floor: The smallest probability of any deviation.
        variance: To be met, or None.
    """

    deviations: tuple[Number, ...]
    rising: int
    zero: int
    stay: Number
    floor: Number
    variance: Number | None
    exp: Callable[[Number], Number]
    ln: Callable[[Number], Number]


@dataclass(frozen=True, slots=True)
class _Point:
    """The best probabilities for given multipliers, and how the wishes respond to them."""

    logs: list[Number]
    probabilities: list[Number]
    value: Number
    residuals: tuple[Number, ...]
    curvature: list[list[Number]]

    @property
    def miss(self) -> Number:
        return max(abs(residual) for residual in self.residuals)


def maximum_entropy(
    deviations: Sequence[int],
    *,
    variance: float | None = None,
    equal: bool = False,
    stay: float | None = None,
    rising: int = 0,
    floor: float = FLOOR,
) -> EntropyRow:
    """The distribution with mean 0 and the greatest entropy that meets the wishes.

    Args:
        deviations: Ascending, on both sides of 0.
        variance: The largest variance; none when left out.
        equal: Whether the variance has to be met, not only kept.
        stay: The smallest probability of the deviation 0.
        rising: So many first probabilities must not fall from one to the next.
        floor: The smallest probability of any deviation.

    Examples:
        >>> maximum_entropy([-1, 0, 1], variance=0.5).probabilities
        (0.25, 0.5, 0.25)
    """
    wishes = _Asked(tuple(deviations), variance, stay, rising, floor)
    if variance is not None and not equal:
        natural = replace(wishes, variance=None)
        rough = _roughly(natural)
        if rough.variance <= variance + _NATURAL:
            exact = _exactly(natural, rough)
            if exact.variance <= Decimal(variance) + _SLACK:
                return _finished(exact, bound=False)
    return _finished(_exactly(wishes, _roughly(wishes)), bound=variance is not None)


@dataclass(frozen=True, slots=True)
class _Asked:
    deviations: tuple[int, ...]
    variance: float | None
    stay: float | None
    rising: int
    floor: float

    def in_numbers(self, number: Callable[[Any], Number], exp: Any, ln: Any) -> _Wishes:
        """The same in one kind of number."""
        zero = self.deviations.index(0) if self.stay is not None and 0 in self.deviations else -1
        return _Wishes(
            tuple(number(deviation) for deviation in self.deviations),
            self.rising,
            zero,
            max(number(self.stay or 0), number(self.floor)),
            number(self.floor),
            None if self.variance is None else number(self.variance),
            exp,
            ln,
        )


@dataclass(frozen=True, slots=True)
class _Solution:
    multipliers: Multipliers
    point: _Point
    variance: Number


def _roughly(asked: _Asked) -> _Solution:
    wishes = asked.in_numbers(float, math.exp, math.log)
    return _solved(wishes, _start(wishes), _ROUGH)


def _exactly(asked: _Asked, rough: _Solution) -> _Solution:
    context = Context(_DIGITS, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, 1, 0, [], [])
    with localcontext(context):
        wishes = asked.in_numbers(Decimal, Decimal.exp, Decimal.ln)
        # Rounded, so that both arithmetics part where every machine is at the same place.
        first, second, third = (
            Decimal(format(multiplier, ".11f")) for multiplier in rough.multipliers
        )
        return _solved(wishes, (first, second, third), _EXACT)


def _solved(wishes: _Wishes, start: Multipliers, accuracy: _Accuracy) -> _Solution:
    multipliers, point = _minimised(wishes, start, accuracy)
    pairs = zip(wishes.deviations, point.probabilities, strict=True)
    second = sum(value * value * chance for value, chance in pairs)
    return _Solution(multipliers, point, second)


def _finished(solution: _Solution, *, bound: bool) -> EntropyRow:
    return EntropyRow(
        tuple(float(probability) for probability in solution.point.probabilities),
        float(solution.variance),
        bound,
        float(solution.point.miss),
    )


def _start(wishes: _Wishes) -> Multipliers:
    """A bell of about the right variance, summing to one."""
    second = 0.0
    if wishes.variance is not None:
        # Where the variance is small, nearly all of it comes from the neighbours of 0.
        second = min(0.5 / wishes.variance, math.log1p(2 / wishes.variance))
    logs = [-second * value * value for value in wishes.deviations]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs)), 0.0, second


def _minimised(
    wishes: _Wishes, start: Multipliers, accuracy: _Accuracy
) -> tuple[Multipliers, _Point]:
    """Newton steps down the dual function, which is convex, until the wishes are met."""
    at = start
    point = _best(wishes, at)
    for _ in range(_ITERATIONS):
        if point.miss <= accuracy.near:
            break
        step = _limited(wishes, point, _step(point, accuracy.ridge))
        falls = sum(a * b for a, b in zip(point.residuals, step, strict=False))
        following = None
        # Halves of the full step, until the function falls by a fair part of what it promised; at
        # the very end that is too little to see, and the wishes themselves decide.
        for halvings in range(60):
            part = (falls * 0 + 1) / 2**halvings
            there = tuple(a + part * b for a, b in zip(at, step, strict=True))
            trial = _best(wishes, there)
            change = trial.value - point.value
            unseen = abs(change) <= accuracy.blur * (1 + abs(point.value))
            if change <= -part * falls / 10000 or (unseen and trial.miss < point.miss / 2):
                following = trial
                break
        if following is None:
            break
        at, point = there, following
    return at, point


def _best(wishes: _Wishes, multipliers: Multipliers) -> _Point:
    """The probabilities that are best for given multipliers, and the dual function there."""
    first, second, third = multipliers
    logs = [-(first + value * (second + value * third)) for value in wishes.deviations]
    blocks = _pooled(logs, wishes.rising)
    fixed: list[tuple[int, int, Number]] = []
    if wishes.zero >= 0:
        start, stop = next(pair for pair in blocks if pair[0] <= wishes.zero < pair[1])
        if wishes.exp(_mean(logs, start, stop)) < wishes.stay:
            blocks, fixed = _staying(wishes, logs, blocks)
    probabilities = [wishes.floor] * len(logs)
    nil = wishes.floor * 0
    value, curvature = nil, [[nil] * 3 for _ in range(3)]
    for start, stop in blocks:
        log = _mean(logs, start, stop)
        chance = wishes.exp(log)
        if chance <= wishes.floor:
            fixed.append((start, stop, wishes.floor))
            continue
        width = stop - start
        own = wishes.deviations[start:stop]
        slopes = (width + nil, sum(own) + nil, sum(one * one for one in own) + nil)
        for row in range(3):
            weight = chance * slopes[row] / width
            for column in range(row, 3):
                curvature[row][column] += weight * slopes[column]
        probabilities[start:stop] = [chance] * width
        value += width * chance * (1 - log)
    for row, column in ((1, 0), (2, 0), (2, 1)):
        curvature[row][column] = curvature[column][row]
    for start, stop, chance in fixed:
        probabilities[start:stop] = [chance] * (stop - start)
        value += (stop - start) * chance * (1 - wishes.ln(chance))
    pairs = list(zip(wishes.deviations, probabilities, strict=True))
    residuals = [sum(probabilities) - 1, sum(value * chance for value, chance in pairs)]
    if wishes.variance is not None:
        second_moment = sum(value * value * chance for value, chance in pairs)
        residuals.append(second_moment - wishes.variance)
    value -= sum(a * b for a, b in zip(multipliers, residuals, strict=False))
    return _Point(logs, probabilities, value, tuple(residuals), curvature)


def _pooled(logs: list[Number], rising: int) -> list[tuple[int, int]]:
    """Neighbours that would fall where they must not share one value, the mean logarithm."""
    blocks: list[tuple[int, int]] = []
    for at in range(len(logs)):
        blocks.append((at, at + 1))
        while len(blocks) > 1 and at < rising:
            (start, middle), (_, stop) = blocks[-2:]
            if _mean(logs, start, middle) <= _mean(logs, middle, stop):
                break
            blocks[-2:] = [(start, stop)]
    return blocks


def _staying(
    wishes: _Wishes, logs: list[Number], blocks: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int, Number]]]:
    """The deviation 0 has its smallest probability, and none before it that must rise has more."""
    zero = wishes.zero
    if zero >= wishes.rising:
        return [pair for pair in blocks if pair[0] != zero], [(zero, zero + 1, wishes.stay)]
    before = _pooled(logs[:zero], zero)
    most = wishes.ln(wishes.stay)
    free = [pair for pair in before if _mean(logs, *pair) < most]
    capped = [(*pair, wishes.stay) for pair in before if _mean(logs, *pair) >= most]
    after = [pair for pair in blocks if pair[0] > zero]
    return free + after, [*capped, (zero, zero + 1, wishes.stay)]


def _mean(values: list[Number], start: int, stop: int) -> Number:
    return sum(values[start:stop]) / (stop - start)


def _step(point: _Point, ridge: Number) -> list[Number]:
    """The Newton step: a linear system of two or three equations, solved by elimination."""
    size = len(point.residuals)
    system = [[*point.curvature[row][:size], point.residuals[row]] for row in range(size)]
    for at in range(size):
        system[at][at] += ridge * (1 + system[at][at])
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(system[row][at]))
        system[at], system[pivot] = system[pivot], system[at]
        for row in range(at + 1, size):
            share = system[row][at] / system[at][at]
            for column in range(at, size + 1):
                system[row][column] -= share * system[at][column]
    step = [point.residuals[0] * 0] * 3
    for at in reversed(range(size)):
        known = sum(system[at][column] * step[column] for column in range(at + 1, size))
        step[at] = (system[at][size] - known) / system[at][at]
    return step


def _limited(wishes: _Wishes, point: _Point, step: list[Number]) -> list[Number]:
    """A step that changes no probability too much: the function is only locally what it seems.

    What is at the floor may fall as far as it likes, and rise up to the floor.
    """
    first, second, third = step
    bottom = wishes.ln(wishes.floor)
    part = wishes.floor * 0 + 1
    for value, log in zip(wishes.deviations, point.logs, strict=True):
        change = -(first + value * (second + value * third))
        if change < 0 and log <= bottom:
            continue
        allowed = _LONGEST_STEP + max(bottom - log, 0)
        if abs(change) * part > allowed:
            part = allowed / abs(change)
    return [one * part for one in step]
