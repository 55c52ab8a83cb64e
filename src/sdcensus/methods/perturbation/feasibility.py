"""Which variances and stay probabilities a row can have at all, in exact arithmetic.

Every row that meets the wishes is a mixture of a few simple ones: all of it on one deviation, or,
where probabilities must not fall, spread evenly from one deviation up to the last of those. What
mixtures can reach is a linear programme in fractions, so bounds are exact and the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.kernels.perturbation.entropy import FLOOR

_FLOOR = Fraction(FLOOR)
_NONE, _ONE = Fraction(0), Fraction(1)
_QUICK_PIVOTS = 40

#: How far inside of what is possible a row must be, so that its probabilities can be computed.
MARGIN = Fraction(1, 10**9)
#: The smallest probabilities of 101 deviations, and what balances them, make less variance and
#: take less from the count itself.
_PLENTY = 0.01


@dataclass(frozen=True, slots=True)
class RowShape:
    """What a row may do, before anything is asked of its probabilities.

    Attributes:
        row: The count that it serves.
        deviations: Ascending.
        rising: So many first probabilities must not fall from one to the next.
    """

    row: int
    deviations: tuple[int, ...]
    rising: int

    @property
    def can_stay(self) -> bool:
        """Whether the count may be published as it is; blocked counts may not."""
        return 0 in self.deviations


@dataclass(frozen=True, slots=True)
class Corner:
    """A row at the edge of what is possible."""

    probabilities: tuple[Fraction, ...]
    stay: Fraction
    variance: Fraction


def row_shape(row: int, max_deviation: int, blocked: int, *, monotone: bool) -> RowShape:
    """The shape of a row.

    Args:
        row: The count.
        max_deviation: How far a count may move.
        blocked: Counts from 1 to this one never appear.
        monotone: Whether probabilities must not fall from the lowest result up to the count.

    Examples:
        >>> row_shape(2, 3, 2, monotone=True)
        RowShape(row=2, deviations=(-2, 1, 2, 3), rising=1)
    """
    results = range(max(0, row - max_deviation), row + max_deviation + 1)
    deviations = tuple(result - row for result in results if not 0 < result <= blocked)
    return RowShape(
        row, deviations, sum(deviation <= 0 for deviation in deviations) if monotone else 0
    )


def least_variance(shape: RowShape, stay: float | None = None) -> Corner | None:
    """The row with the smallest variance; None when the stay probability cannot be had."""
    return _corner(shape, _squares(shape, -1), stay=stay)


def largest_variance(shape: RowShape, stay: float | None = None) -> Corner | None:
    """The row with the largest variance; None when the stay probability cannot be had."""
    return _corner(shape, _squares(shape, 1), stay=stay)


def largest_stay(shape: RowShape, variance: float, *, equal: bool) -> Corner | None:
    """The row that stays most often with this variance, or at most this; None when none has it."""
    wanted = [_stays(support) for support in _mixed(shape)]
    return _corner(shape, wanted, variance=variance, equal=equal)


def variance_to_block(blocked: int) -> int:
    """Counts from 1 to this one are blocked without bias only with a variance above the answer.

    The count i becomes 0, or the first count that is not blocked: i(blocked + 1 - i), at least.

    Examples:
        >>> [variance_to_block(blocked) for blocked in (0, 1, 2, 3, 4)]
        [0, 1, 2, 4, 6]
    """
    return (blocked + 1) ** 2 // 4


def first_infeasible(
    shapes: Sequence[RowShape], variance: float, stays: Sequence[float | None]
) -> tuple[RowShape, bool] | None:
    """The row that is hardest to build and cannot be; whether its stay probability is the reason.

    A variance below the bound can always be had; this is about variances that are too small, and
    stay probabilities so near to 1 that other results have nothing left.
    """
    hardest: tuple[RowShape, bool] | None = None
    most = _NONE
    for shape, stay in zip(shapes, stays, strict=True):
        # Everything but the smallest probabilities, and what balances them, can be on the count.
        if shape.can_stay and variance >= _PLENTY and (stay is None or stay <= 1 - _PLENTY):
            continue
        alone = least_variance(shape)
        if alone is not None and alone.variance + MARGIN > Fraction(variance):
            if alone.variance > most:
                hardest, most = (shape, False), alone.variance
        elif most == 0 and stay is not None:
            with_stay = least_variance(shape, stay)
            if with_stay is None or with_stay.variance + MARGIN > Fraction(variance):
                hardest = hardest or (shape, True)
    return hardest


def _squares(shape: RowShape, sign: int) -> list[Fraction]:
    return [sign * _second(support) for support in _mixed(shape)]


#: A simple row: its deviations, each with the same share.
_Simple = tuple[int, ...]


def _mixed(shape: RowShape) -> list[_Simple]:
    """The simple rows of which all others are mixtures."""
    rising = [shape.deviations[start : shape.rising] for start in range(shape.rising)]
    return rising + [(deviation,) for deviation in shape.deviations[shape.rising :]]


def _first(simple: _Simple) -> Fraction:
    return Fraction(sum(simple), len(simple))


def _second(simple: _Simple) -> Fraction:
    return Fraction(sum(deviation * deviation for deviation in simple), len(simple))


def _stays(simple: _Simple) -> Fraction:
    return Fraction(simple.count(0), len(simple))


def _corner(
    shape: RowShape,
    wanted: Sequence[Fraction],
    *,
    stay: float | None = None,
    variance: float | None = None,
    equal: bool = False,
) -> Corner | None:
    """The row that has most of what is wanted."""
    simple = _mixed(shape)
    own = shape.deviations
    # Every deviation has the smallest probability already; only the rest is distributed.
    rows = [[_ONE] * len(simple), [_first(support) for support in simple]]
    right = [1 - len(own) * _FLOOR, -sum(own) * _FLOOR]
    slack: list[int] = []
    if stay is not None and shape.can_stay:
        rows.append([_stays(support) for support in simple])
        right.append(Fraction(stay) - _FLOOR)
        slack.append(-1)
    if variance is not None:
        rows.append([_second(support) for support in simple])
        right.append(Fraction(variance) - sum(deviation * deviation for deviation in own) * _FLOOR)
        slack.append(0 if equal else 1)
    for at, sign in enumerate(slack):
        for row in range(len(rows)):
            rows[row].append(Fraction(sign if row == at + 2 else 0))
    shares = _maximise([*wanted, *[_NONE] * len(slack)], rows, right)
    if shares is None:
        return None
    chances = dict.fromkeys(own, _FLOOR)
    for one, share in zip(simple, shares, strict=False):
        for value in one:
            chances[value] += share / len(one)
    second = sum((value * value * chance for value, chance in chances.items()), _NONE)
    return Corner(tuple(chances[value] for value in own), chances.get(0, _NONE), second)


def _maximise(
    wanted: Sequence[Fraction], rows: list[list[Fraction]], right: list[Fraction]
) -> list[Fraction] | None:
    """Shares of 0 or more with ``rows @ shares == right`` and the most of what is wanted.

    The simplex method. There are at most three rows and about a hundred columns.
    """
    size, count = len(wanted), len(rows)
    table = []
    for at, (row, value) in enumerate(zip(rows, right, strict=True)):
        sign = -1 if value < 0 else 1
        helpers = [_ONE if at == other else _NONE for other in range(count)]
        table.append([sign * fraction for fraction in row] + helpers + [sign * value])
    basis = [size + at for at in range(count)]
    # First down with the helpers, which stand for what is not met yet.
    table.append([sum(column, _NONE) for column in zip(*table, strict=True)])
    _climb(table, basis, size)
    if table.pop()[-1]:
        return None
    # A helper that is left with nothing gives its place to any column that can take it.
    for at in range(count):
        if basis[at] >= size:
            column = next((candidate for candidate in range(size) if table[at][candidate]), None)
            if column is not None:
                _pivot(table, basis, at, column)
    table.append([*wanted, *[_NONE] * (count + 1)])
    for at, column in enumerate(basis):
        if column < size:
            _clear(table, count, at, column)
    _climb(table, basis, size)
    shares = [_NONE] * size
    for at, column in enumerate(basis):
        if column < size:
            shares[column] = table[at][-1]
    return shares


def _climb(table: list[list[Fraction]], basis: list[int], columns: int) -> None:
    """Pivot until the last row, what each column would gain, has no gain left."""
    pivots = 0
    while True:
        useful = [column for column in range(columns) if table[-1][column] > 0]
        # The largest gain first is quick; the smallest index first cannot run in circles.
        if pivots < _QUICK_PIVOTS:
            useful.sort(key=lambda column: (-table[-1][column], column))
        if not useful:
            return
        entering = useful[0]
        leaving = [at for at in range(len(basis)) if table[at][entering] > 0]
        if not leaving:  # not with shares that sum to one
            return
        at = min(leaving, key=lambda row: (table[row][-1] / table[row][entering], basis[row]))
        _pivot(table, basis, at, entering)
        pivots += 1


def _pivot(table: list[list[Fraction]], basis: list[int], at: int, column: int) -> None:
    unit = table[at][column]
    table[at] = [fraction / unit for fraction in table[at]]
    for other in range(len(table)):
        if other != at:
            _clear(table, other, at, column)
    basis[at] = column


def _clear(table: list[list[Fraction]], row: int, at: int, column: int) -> None:
    """Take so much of one row from another that it has nothing left in a column."""
    share = table[row][column]
    if share:
        table[row] = [a - share * b for a, b in zip(table[row], table[at], strict=True)]
