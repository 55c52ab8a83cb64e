"""Designing a perturbation: rows of greatest entropy that meet what the office asks for.

Each row is the least predictable distribution without bias that keeps to the largest deviation,
the variance, the stay probability and the blocked counts. Small counts cannot meet everything.
What a row could not meet is reported with it, and ``strict`` refuses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from numbers import Integral, Real
from typing import TypeVar

import numpy as np

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.perturbation.entropy import FLOOR
from sdcensus.methods.perturbation.feasibility import (
    MARGIN,
    RowShape,
    first_infeasible,
    largest_stay,
    least_variance,
    row_shape,
    variance_to_block,
)
from sdcensus.methods.perturbation.rows import (
    RELAXED,
    Row,
    Wish,
    as_asked,
    met,
    relaxations,
    with_largest_stay,
)
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import Tail
from sdcensus.model.vocabulary import Relax

LARGEST_DEVIATION = 50


class VarianceMode(StrEnum):
    """Whether the variance of a row is a bound, or has to be met."""

    AT_MOST = "at_most"
    EQUAL = "equal"


def design_perturbation(
    max_deviation: int,
    variance: float,
    blocked: int = 0,
    stay: float | Sequence[float | None] | None = None,
    monotone: bool | Sequence[bool] = True,
    variance_mode: VarianceMode | str = "at_most",
    strict: bool = False,
    relax: Relax | str = "reference",
) -> PerturbationDesign:
    """Design the rows of a perturbation.

    Args:
        max_deviation: How far a count may move, 1 to 50.
        variance: Of the deviation; above 0, below the square of ``max_deviation``.
        blocked: Counts from 1 to this one never appear; less than ``max_deviation``.
        stay: The smallest probability that a count is published as it is; one for all rows or
            one for each from row 1 on.
        monotone: Whether, up to the count itself, a nearer result is never less probable than a
            farther one; one for all rows or one for each.
        variance_mode: ``"at_most"``: less variance is taken where that is less predictable.
            ``"equal"``: the variance is met wherever that is possible.
        strict: Refuse what ``relax`` would change.
        relax: What happens to rows that do not reach the variance: ``"reference"`` or
            ``"largest-stay"``.

    Raises:
        SpecError: Where there is no such design. The message names the row, the reason and the
            nearest values that work.

    Examples:
        >>> design = design_perturbation(3, 1.5, stay=0.4)
        >>> design.targets(2)
        array([0, 1, 2, 3, 4, 5])
        >>> design.probabilities(3).round(4)
        array([0.0237, 0.0869, 0.1895, 0.4   , 0.1895, 0.0869, 0.0237])
        >>> [(one.row, one.what, round(one.got, 4)) for one in design.relaxed]
        [(1, 'stay', 0.3797), (1, 'variance', 1.1073)]
    """
    deviation = _whole("max_deviation", max_deviation, 1, LARGEST_DEVIATION)
    block = _whole("blocked", blocked, 0, LARGEST_DEVIATION - 1)
    spread = _between("variance", variance, 0, deviation**2)
    mode = _chosen("variance mode", VarianceMode, variance_mode)
    way = _chosen("way to relax", Relax, relax)
    _flag("strict", strict)
    if block >= deviation:
        raise SpecError(too_short(deviation, block))
    count = deviation if block == 0 else deviation + block + 1
    stays = _each("stay", stay, count, _stay_probability)
    flags = _each("monotone", monotone, count, _flag)
    shapes = [
        row_shape(row, deviation, block, monotone=flag)
        for row, flag in zip(range(1, count + 1), flags, strict=True)
    ]
    wishes = [
        Wish(shape, spread, stay if shape.can_stay else None, mode is VarianceMode.EQUAL)
        for shape, stay in zip(shapes, stays, strict=True)
    ]
    impossible = first_infeasible(shapes, spread, [wish.stay for wish in wishes])
    if impossible is not None:
        raise SpecError(infeasible(*impossible, deviation, block, wishes))
    rows = [as_asked(wish) for wish in wishes]
    if strict and not all(met(row, wish) for row, wish in zip(rows, wishes, strict=True)):
        raise SpecError(unmet(rows, wishes))
    relaxed = [
        row if met(row, wish) else RELAXED[way](row, wish)
        for row, wish in zip(rows, wishes, strict=True)
    ]
    return PerturbationDesign(
        rows=(
            DesignRow((0,), (1.0,)),
            *(
                DesignRow(shape.deviations, row.probabilities)
                for shape, row in zip(shapes, relaxed, strict=True)
            ),
        ),
        tail=Tail(count),
        blocked_up_to=block,
        relaxed=tuple(relaxations(rows, relaxed, wishes, way)),
        parameters=(
            ("max_deviation", deviation),
            ("variance", spread),
            ("blocked", block),
            ("stay", _told(stays)),
            ("monotone", _told(flags)),
            ("variance_mode", str(mode)),
            ("relax", str(way)),
        ),
    )


Option = TypeVar("Option", VarianceMode, Relax)
Value = TypeVar("Value")


def _whole(name: str, value: object, low: int, high: int) -> int:
    number = int(value) if isinstance(value, Integral) else None
    if number is None or isinstance(value, bool) or not low <= number <= high:
        raise SpecError(f"{name} is a whole number from {low} to {high}, not {value!r}.")
    return number


def _between(name: str, value: object, low: int, high: int) -> float:
    """A number strictly between two others."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise SpecError(f"{name} is a number above {low} and below {high}, not {value!r}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not low < number < high:
        raise SpecError(f"{name} is above {low} and below {high} here, not {value!r}.")
    return number


def _stay_probability(name: str, value: object) -> float | None:
    return None if value is None else _between(name, value, 0, 1)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise SpecError(f"{name} is True or False, not {value!r}.")
    return bool(value)


def _each(
    name: str, value: object, count: int, check: Callable[[str, object], Value]
) -> tuple[Value, ...]:
    """One value for each row, whether one was given for all or one for each."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return (check(name, value),) * count
    if len(value) != count:
        raise SpecError(
            f"{name} has {len(value)} values, and there are {count} rows: from 1 to {count}. Give"
            " one value for each, or one for all."
        )
    return tuple(check(f"{name} of row {row}", wish) for row, wish in enumerate(value, start=1))


def _chosen(kind: str, options: type[Option], value: object) -> Option:
    for option in options:
        if value == option:
            return option
    raise UnknownName(kind, str(value), known=[str(option) for option in options])


def _told(values: Sequence[float | bool | None]) -> float | bool | str | None:
    """One value if all rows have the same, else a list."""
    if len(set(values)) == 1:
        return values[0]
    return ", ".join("none" if value is None else repr(value) for value in values)


def too_short(deviation: int, blocked: int) -> str:
    """Counts are blocked that the largest deviation cannot get over."""
    needed = variance_to_block(blocked)
    text = (
        f"Row {blocked + 1} cannot be built: blocked={blocked} needs a max_deviation of at least"
        f" {blocked + 1}, since the count {blocked + 1} can only fall to 0. It also needs a"
        f" variance above {needed}; {_above(Fraction(needed)):.6g} works."
    )
    return f"{text} With max_deviation={deviation}, blocked is {deviation - 1} at most."


def infeasible(
    shape: RowShape, by_stay: bool, deviation: int, blocked: int, wishes: Sequence[Wish]
) -> str:
    """A row that no probabilities fit; ``by_stay`` because of its stay probability."""
    variance = wishes[0].variance
    head = f"Row {shape.row} cannot be built"
    if by_stay:
        free = [wish.shape for wish in wishes if wish.shape.can_stay]
        stays = [largest_stay(row, variance, equal=False) for row in free]
        most = min((stay.stay for stay in stays if stay is not None), default=Fraction(0))
        return (
            f"{head}: every result has a probability of at least {FLOOR:g}, which leaves too"
            " little for this stay probability. The nearest that works for all rows is"
            f" stay={_below(most - MARGIN):.6g}."
        )
    corners = [least_variance(wish.shape) for wish in wishes]
    needed = max(corner.variance for corner in corners if corner is not None)
    works = _above(needed + MARGIN)
    if shape.can_stay:
        return (
            f"{head}: every result has a probability of at least {FLOOR:g}, which alone makes more"
            f" variance than {variance:.6g}. The nearest that works is variance={works:.6g}."
        )
    fewer = [count for count in range(blocked) if _can_block(count, deviation, variance)]
    instead = f", or blocked={fewer[-1]} with the same variance" if fewer else ""
    exact = shape.row * (blocked + 1 - shape.row)
    return (
        f"{head}: counts up to {blocked} are blocked, so the count {shape.row} becomes 0 or at"
        f" least {blocked + 1}. Without bias that takes a variance of {exact}, and more if every"
        f" result is to be possible; {variance:.6g} was asked for. The nearest that works is"
        f" variance={works:.6g}{instead}."
    )


def _can_block(blocked: int, deviation: int, variance: float) -> bool:
    count = deviation if blocked == 0 else deviation + blocked + 1
    shapes = [row_shape(row, deviation, blocked, monotone=True) for row in range(1, count + 1)]
    return first_infeasible(shapes, variance, [None] * count) is None


def unmet(rows: Sequence[Row], wishes: Sequence[Wish]) -> str:
    """Rows that do not reach the variance, and nothing may be relaxed."""
    short = [(r, w) for r, w in zip(rows, wishes, strict=True) if not met(r, w)]
    asked = wishes[0].variance
    text = "; ".join(f"row {wish.shape.row} has {row.variance:.6g}" for row, wish in short)
    stays = {wish.stay for _, wish in short} - {None}
    together = f" with its stay probability {stays.pop():.6g}" if len(stays) == 1 else ""
    nearest = [f"variance={value:.6g}" for value in _nearest_variance(rows, wishes)]
    nearest += [f"stay={value:.6g}" for value in _nearest_stay(wishes)]
    works = f" What works for all rows: {' or '.join(nearest)}." if nearest else ""
    return (
        f"Not every row reaches the variance {asked:.6g}{together}: {text}.{works} Without strict,"
        " such rows are relaxed and reported."
    )


def _nearest_variance(rows: Sequence[Row], wishes: Sequence[Wish]) -> Iterator[float]:
    """The largest variance that all rows have, if there is one."""
    variance = _below(Fraction(min(row.variance for row in rows)) - MARGIN)
    shapes, stays = [wish.shape for wish in wishes], [wish.stay for wish in wishes]
    if variance > 0 and first_infeasible(shapes, variance, stays) is None:
        again = [Wish(wish.shape, variance, wish.stay, wish.equal) for wish in wishes]
        if all(met(as_asked(wish), wish) for wish in again):
            yield variance


def _nearest_stay(wishes: Sequence[Wish]) -> Iterator[float]:
    """The largest stay probability with which all rows have the variance, if there is one."""
    most = []
    for wish in wishes:
        row = with_largest_stay(as_asked(wish), wish)
        if not met(row, replace(wish, stay=None)):
            return  # no stay probability helps this row
        if wish.shape.can_stay:
            most.append(row.stay if wish.stay is None else min(row.stay, wish.stay))
    stay = _below(Fraction(min(most, default=0.0)) - MARGIN)
    again = [
        Wish(wish.shape, wish.variance, stay if wish.shape.can_stay else None, wish.equal)
        for wish in wishes
    ]
    if stay > 0 and all(met(as_asked(wish), wish) for wish in again):
        yield stay


def _above(value: Fraction) -> float:
    """The next number above with two decimals; with two digits where it is small."""
    places = _places(value)
    return float(Fraction(math.floor(value * 10**places) + 1, 10**places))


def _below(value: Fraction) -> float:
    """The next number below with four decimals."""
    places = max(4, _places(value))
    return float(Fraction(math.floor(value * 10**places), 10**places))


def _places(value: Fraction) -> int:
    return 2 if value <= 0 or value >= 1 else 1 - math.floor(math.log10(value))
