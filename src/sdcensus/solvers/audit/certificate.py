"""Why a bound of a withheld cell holds: the published cells from which anybody can compute it.

The prices of a linear program say how often each equation is used. Added up, they write the cell
as a sum of published cells and of withheld ones that are known to lie within bounds. Of all such
proofs one is sought that uses few published cells, near to the cell; it is checked in fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from sdcensus.solvers.audit.linear import Proof, proof
from sdcensus.solvers.audit.system import FREE, AuditSystem, Int64, Unknowns
from sdcensus.solvers.program import Float64

#: How many steps from equation to equation are tried, before all equations are.
_RADII = (1, 2, 3, 5, 8)
#: What a withheld cell costs in a proof, beside 1 for a published one.
_WITHHELD = 0.25
#: How far a proof of fractions may stay below the best one, which rounding makes good.
_SLACK = 1e-6


class Side(StrEnum):
    """Which bound of a cell is meant."""

    LOWER = "lower"
    UPPER = "upper"

    @property
    def sign(self) -> int:
        """A lower bound is the least of the value, an upper one of the value turned round."""
        return 1 if self is Side.LOWER else -1


Term = tuple[int, Fraction]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A bound of a withheld cell with its proof. Public if the published cells are.

    The cell equals the published cells, each times its factor, plus the withheld cells times
    theirs. These lie within the bounds that are known of them from the start, which bounds the
    cell by ``value``; a whole number then by ``bound``.

    Attributes:
        cell: The withheld cell.
        side: Which of its bounds.
        bound: The bound, rounded inwards.
        value: The bound itself.
        published: The published cells that prove it, with their factors.
        withheld: Withheld cells of which only bounds are used.
        equations: How often each equation is used.
    """

    cell: int
    side: Side
    bound: int
    value: Fraction
    published: tuple[Term, ...]
    withheld: tuple[Term, ...]
    equations: tuple[Term, ...]

    @property
    def is_sum(self) -> bool:
        """Whether the cell is a sum of published cells, which needs no bounds of others."""
        return not self.withheld

    def holds(self, system: AuditSystem) -> bool:
        """Check the whole proof from the equations on, in fractions."""
        left: dict[int, Fraction] = {self.cell: Fraction(1)}
        for row, factor in self.equations:
            equation = system.equation(row)
            for cell, times in zip(equation.cells, equation.factors, strict=True):
                left[cell] = left.get(cell, Fraction(0)) - factor * times
        told = dict(self.published) | dict(self.withheld)
        if {cell: factor for cell, factor in left.items() if factor} != told:
            return False
        if any(system.hidden[cell] for cell, _ in self.published):
            return False
        value = sum(
            (factor * int(system.values[cell]) for cell, factor in self.published), Fraction(0)
        )
        value -= self.side.sign * system.tolerance * sum(abs(times) for _, times in self.equations)
        for cell, factor in self.withheld:
            bounds = system.lower if self.side.sign * factor > 0 else system.upper
            if abs(int(bounds[cell])) >= FREE:
                return False
            value += factor * int(bounds[cell])
        rounded = ceil(value) if self.side is Side.LOWER else floor(value)
        return value == self.value and rounded == self.bound


def certificate(
    system: AuditSystem, unknowns: Unknowns, cell: int, side: Side, bound: int
) -> Certificate | None:
    """A short proof of a bound; ``None`` if linear programs do not prove it.

    Args:
        system: The cells.
        unknowns: ``system.unknowns()``, with the bounds from before anything was narrowed.
        cell: The withheld cell, by its number in the system.
        side: Which bound.
        bound: What an audit found.
    """
    if abs(bound) >= FREE:
        return None
    at = int(np.searchsorted(unknowns.cells, cell))
    if bound == int((unknowns.lower if side is Side.LOWER else unknowns.upper)[at]):
        # Nothing is needed: it was known from the start.
        known = ((cell, Fraction(1)),)
        return Certificate(cell, side, bound, Fraction(bound), (), known, ())
    for rows in _neighbourhoods(unknowns, at):
        part = _with_rows(unknowns, rows, at)
        for with_bounds in (False, True):
            found = _sparse_proof(part, system, cell, side, bound, with_bounds=with_bounds)
            if found is not None:
                return _told(system, part, found, cell, side, bound)
    return None


def _neighbourhoods(unknowns: Unknowns, cell: int) -> Iterator[Int64]:
    """Rows that are so many steps from a cell; the last ones are all that hang together with it."""
    rows = unknowns.rows
    reached_rows = np.zeros(unknowns.height, dtype=bool)
    reached_cells = np.zeros(unknowns.size, dtype=bool)
    reached_cells[cell] = True
    row_of = np.repeat(np.arange(unknowns.height), np.diff(rows.starts))
    step, size = 0, -1
    while int(reached_rows.sum()) != size:
        size = int(reached_rows.sum())
        reached_rows[row_of[reached_cells[rows.columns]]] = True
        reached_cells[rows.columns[reached_rows[row_of]]] = True
        step += 1
        if step in _RADII and int(reached_rows.sum()) != size:
            yield np.flatnonzero(reached_rows)
    if step - 1 not in _RADII:
        yield np.flatnonzero(reached_rows)


def _with_rows(unknowns: Unknowns, rows: Int64, cell: int) -> Unknowns:
    """Some rows with all cells in them."""
    row = np.repeat(np.arange(unknowns.height), np.diff(unknowns.rows.starts))
    used = np.zeros(unknowns.size, dtype=bool)
    used[unknowns.rows.columns[np.isin(row, rows)]] = True
    used[cell] = True
    return unknowns.part(np.flatnonzero(used), rows)


def _sparse_proof(
    part: Unknowns,
    system: AuditSystem,
    cell: int,
    side: Side,
    bound: int,
    *,
    with_bounds: bool,
) -> Proof | None:
    """The proof whose factors are smallest, which is nearly the one with the fewest cells."""
    from scipy.sparse import eye_array, hstack

    goal = np.zeros(part.size, dtype=np.int64)
    goal[np.searchsorted(part.cells, cell)] = side.sign
    turned = part.matrix().T.astype(np.float64)
    weights, ones = _weights(system, part), eye_array(part.size, format="csc")
    below = np.flatnonzero((np.abs(part.lower) < FREE) & with_bounds)
    above = np.flatnonzero((np.abs(part.upper) < FREE) & with_bounds)
    # Prices up and down, then how much of the bounds of cells is used: together they are the goal.
    columns = hstack([turned, -turned, ones[:, below], -ones[:, above]], format="csr")
    cost = np.concatenate([weights, weights, np.full(below.size + above.size, _WITHHELD)])
    rows = part.rows
    gain = np.concatenate([rows.lower, -rows.upper, part.lower[below], -part.upper[above]])
    needed = side.sign * bound
    answer = _least(cost, columns, goal, gain, float(needed))
    if answer is None:
        # Fractions prove a little less than the whole number to which it is rounded.
        best = _least(-gain.astype(np.float64), columns, goal, gain, needed - 1 + _SLACK)
        if best is None:
            return None
        reached = float(gain @ best)
        answer = _least(cost, columns, goal, gain, reached - _SLACK * max(1.0, abs(reached) * 1e-6))
    if answer is None:
        return None
    prices = answer[: part.height] - answer[part.height : 2 * part.height]
    found = proof(part, goal, prices)
    return found if found is not None and found.least >= needed else None


def _least(cost: Float64, columns: Any, goal: Int64, gain: Int64, least: float) -> Float64 | None:
    """Numbers from 0 on that make up the goal, gain at least so much, and cost little."""
    from scipy.optimize import linprog

    result = linprog(
        cost,
        A_ub=-gain[None, :].astype(np.float64),
        b_ub=[-least],
        A_eq=columns,
        b_eq=goal.astype(np.float64),
        method="highs",
    )
    return np.asarray(result.x) if result.status == 0 else None


def _weights(system: AuditSystem, part: Unknowns) -> Float64:
    """What each row costs: one, and one for each published cell in it."""
    matrix = system.equations
    lengths = np.diff(matrix.starts)[part.equations]
    unknown = np.diff(part.rows.starts)
    return np.asarray(1.0 + lengths - unknown)


def _told(
    system: AuditSystem, part: Unknowns, found: Proof, cell: int, side: Side, bound: int
) -> Certificate:
    """A proof in the words of cells."""
    matrix, sign = system.equations, side.sign
    used: dict[int, int] = {}
    for row in np.flatnonzero(found.prices).tolist():
        span = slice(*matrix.starts[part.equations[row] : part.equations[row] + 2].tolist())
        cells, values = matrix.columns[span].tolist(), matrix.values[span].tolist()
        for other, value in zip(cells, values, strict=True):
            if not system.hidden[other]:
                used[other] = used.get(other, 0) - int(found.prices[row]) * value
    published = [
        (other, Fraction(sign * factor, found.denominator))
        for other, factor in sorted(used.items())
        if factor
    ]
    withheld = [
        (int(part.cells[at]), Fraction(sign * int(found.left[at]), found.denominator))
        for at in np.flatnonzero(found.left).tolist()
    ]
    value = Fraction(sign * found.numerator, found.denominator)
    equations = [
        (int(part.equations[row]), Fraction(sign * int(found.prices[row]), found.denominator))
        for row in np.flatnonzero(found.prices).tolist()
    ]
    return Certificate(
        cell, side, bound, value, tuple(published), tuple(withheld), tuple(equations)
    )
