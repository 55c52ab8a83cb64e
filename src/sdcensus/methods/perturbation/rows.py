"""One row of a perturbation: as it is asked for, and as it is relaxed where it cannot be so."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.entropy import FLOOR, maximum_entropy
from sdcensus.methods.perturbation.feasibility import (
    MARGIN,
    Corner,
    RowShape,
    largest_stay,
    largest_variance,
)
from sdcensus.model.perturbation.design import Relaxation
from sdcensus.model.vocabulary import Relax

#: The reference lowers the stay probability by this, and solves a row so often at most.
_STEP, _SOLUTIONS = Fraction(1, 20), 20
#: A wish counts as met up to this.
_MET = 1e-9
#: Stay probabilities that are searched for are multiples of this.
_GRID = 10**10
#: A function counts as 0 up to this.
_ROOT = 1e-13
#: So far from the largest stay probability that leaves something for other results.
_FROM_EDGE = 1e-6
#: No row that is solvable misses its wishes by more.
_LARGEST_RESIDUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of one row."""

    shape: RowShape
    variance: float
    stay: float | None
    equal: bool


@dataclass(frozen=True, slots=True)
class Row:
    """What a row has."""

    probabilities: tuple[float, ...]
    variance: float
    stay: float


def _solve(
    shape: RowShape,
    variance: float | None,
    stay: float | None,
    *,
    equal: bool = False,
    rising: int | None = None,
) -> Row:
    row = maximum_entropy(
        shape.deviations,
        variance=variance,
        equal=equal,
        stay=stay,
        rising=shape.rising if rising is None else rising,
    )
    if row.residual > _LARGEST_RESIDUAL:
        raise SpecError(
            f"Row {shape.row} could not be computed: what is asked for lies too near to what is"
            " impossible. Take a slightly larger variance or a slightly smaller stay probability."
        )
    return Row(row.probabilities, row.variance, _at_zero(shape, row.probabilities))


def _at_zero(shape: RowShape, probabilities: Sequence[float]) -> float:
    return probabilities[shape.deviations.index(0)] if shape.can_stay else 0.0


def _at_corner(shape: RowShape, corner: Corner) -> Row:
    probabilities = tuple(float(probability) for probability in corner.probabilities)
    return Row(probabilities, float(corner.variance), _at_zero(shape, probabilities))


def met(row: Row, wish: Wish) -> bool:
    """Whether a row has what is asked of it."""
    return row.variance >= wish.variance - _MET and row.stay >= (wish.stay or 0) - _MET


def as_asked(wish: Wish) -> Row:
    """The row with the stay probability that is asked for, whether it reaches the variance or not.

    Where the variance has to be met and cannot be, it is the one that comes nearest.
    """
    if not wish.equal:
        return _solve(wish.shape, wish.variance, wish.stay)
    natural = _solve(wish.shape, None, wish.stay)
    if natural.variance < wish.variance:
        edge = largest_variance(wish.shape, wish.stay)
        if edge is not None and Fraction(wish.variance) > edge.variance - MARGIN:
            return _at_corner(wish.shape, edge)
    return _solve(wish.shape, wish.variance, wish.stay, equal=True)


def as_reference(row: Row, wish: Wish) -> Row:
    """Lower the stay probability until the variance is right to three decimals.

    The reference compares the rounded variance with the one that was asked for as it stands, so
    one with four decimals never fits, and the stay probability is lost. Here both are rounded.
    """
    if wish.stay is None:
        return row
    for lowered in range(1, _SOLUTIONS):
        if not wish.equal and round(row.variance, 3) == round(wish.variance, 3):
            break
        stay = max(float(Fraction(wish.stay) - lowered * _STEP), FLOOR)
        row = as_asked(Wish(wish.shape, wish.variance, stay, wish.equal))
        # A row that stays more often than it must would not change any more.
        if row.stay > stay + _MET or met(row, Wish(wish.shape, wish.variance, None, wish.equal)):
            break
    return row


def with_largest_stay(row: Row, wish: Wish) -> Row:
    """The row that stays most often among those that reach the variance, or come nearest to it."""
    shape = wish.shape
    if wish.equal:
        edge = largest_stay(shape, wish.variance, equal=True) or largest_variance(shape)
        return row if edge is None else _at_corner(shape, edge)
    stay = _largest_natural_stay(shape, wish.variance)
    return row if stay is None else _solve(shape, wish.variance, stay)


RELAXED: dict[Relax, Callable[[Row, Wish], Row]] = {
    Relax.REFERENCE: as_reference,
    Relax.LARGEST_STAY: with_largest_stay,
}


def _largest_natural_stay(shape: RowShape, variance: float) -> float | None:
    """The largest stay probability with which the row of greatest entropy reaches a variance.

    The more often a count stays, the less variance the row has of itself; except at first, where
    the probability next to the count would be larger than that of the count and is held down to
    it. The variance is largest where that ends.
    """
    if not shape.can_stay:
        return None

    def spare(stay: float) -> float:
        return _solve(shape, None, stay).variance - variance

    def held_down(stay: float) -> float:
        zero = shape.deviations.index(0)
        return _solve(shape, None, stay, rising=zero).probabilities[zero - 1] - stay

    edge = largest_stay(shape, shape.deviations[-1] ** 2, equal=False)
    most = 1.0 if edge is None else float(edge.stay) - _FROM_EDGE
    peak = _solve(shape, None, None).stay
    if shape.rising and held_down(peak) > 0:
        peak = math.ceil(_last(held_down, peak, most) * _GRID) / _GRID
    if spare(peak) <= 0:
        return peak
    return math.floor(_last(spare, peak, most) * _GRID) / _GRID


def _last(function: Callable[[float], float], low: float, high: float) -> float:
    """The last point where a falling function that starts above 0 is not below it.

    By false position, with the side that stays put weighted down: the functions here are very
    nearly straight lines.
    """
    at_low, at_high = function(low), function(high)
    if at_high >= 0:
        return high
    side = 0
    while high - low > 0.1 / _GRID:
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        if not low < middle < high:
            break
        value = function(middle)
        if abs(value) < _ROOT:
            low = middle
            break
        if value > 0:
            low, at_low = middle, value
            at_high = at_high / 2 if side == 1 else at_high
            side = 1
        else:
            high, at_high = middle, value
            at_low = at_low / 2 if side == -1 else at_low
            side = -1
    return low


def relaxations(
    rows: Sequence[Row], relaxed: Sequence[Row], wishes: Sequence[Wish], way: Relax
) -> Iterator[Relaxation]:
    """What was asked of rows and is not met."""
    for asked, got, wish in zip(rows, relaxed, wishes, strict=True):
        row = wish.shape.row
        if wish.stay is not None and got.stay < wish.stay - _MET:
            why = f"with {wish.stay:.6g} its variance would be {asked.variance:.6g}"
            yield Relaxation(row, "stay", wish.stay, got.stay, why)
        if got.variance < wish.variance - _MET:
            if wish.equal:
                why = "there is no row with more"
            elif way is Relax.LARGEST_STAY and wish.shape.can_stay:
                why = "no stay probability gives it more"
            else:
                natural = _solve(wish.shape, None, None).variance
                held = abs(natural - got.variance) > _MET
                staying = " with this stay probability" if held else ""
                why = f"the least predictable row{staying} has no more"
            yield Relaxation(row, "variance", wish.variance, got.variance, why)
