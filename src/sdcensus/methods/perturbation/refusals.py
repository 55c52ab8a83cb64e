"""Why a design is refused: the row, the reason, and the nearest values that work."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

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
from sdcensus.methods.perturbation.rows import Row, Wish, as_asked, met, with_largest_stay


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
        stays = [largest_stay(one, variance, equal=False) for one in free]
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
    fewer = [one for one in range(blocked) if _can_block(one, deviation, variance)]
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
    nearest = [f"variance={one:.6g}" for one in _nearest_variance(rows, wishes)]
    nearest += [f"stay={one:.6g}" for one in _nearest_stay(wishes)]
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
