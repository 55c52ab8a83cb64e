"""A linear program over withheld cells with one goal after another, and what its prices prove.

A solver works with floating-point numbers. What is taken from it is checked in whole numbers: a
table that it finds, rounded, against every row; a bound by the prices of the rows, which prove one
whatever they are.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from sdcensus.errors import MissingExtra
from sdcensus.solvers.audit.system import FREE, Int64, Unknowns
from sdcensus.solvers.or_tools import Glop
from sdcensus.solvers.program import Float64, LinearProgram, Status

#: Prices are fractions with small denominators; others are taken to the nearest of the last one.
_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 60, 1 << 20)
_NEAR = 1e-6


class Answer(NamedTuple):
    """What a solver says: how it ended, the cells, and the price of each row."""

    status: Status
    values: Float64
    prices: Float64


class Solver(Protocol):
    """Makes one goal after another as small as possible."""

    def __call__(self, cost: Float64) -> Answer:
        """The cells that make it smallest."""


def solver_of(unknowns: Unknowns, *, warm: bool = True) -> Solver:
    """GLOP where OR-tools is installed, which begins where it ended; else HiGHS from scratch.

    Args:
        unknowns: What the cells keep to.
        warm: Whether many goals will follow; one alone is no reason to load OR-tools.
    """
    program = program_of(unknowns)
    scratch = _highs(unknowns)
    if not warm:
        return scratch
    try:
        kept = Glop(program, far_apart=True)
    except MissingExtra:
        return scratch

    def solve(cost: Float64) -> Answer:
        solution = kept.solve(cost)
        if solution.optimal:
            return Answer(solution.status, solution.values, kept.prices())
        return scratch(cost)

    return solve


def program_of(unknowns: Unknowns) -> LinearProgram:
    """The program without a goal."""
    size = unknowns.size
    rows = unknowns.rows
    return LinearProgram(
        cost=np.zeros(size),
        lower=infinite(unknowns.lower),
        upper=infinite(unknowns.upper),
        integer=np.zeros(size, dtype=bool),
        rows=np.repeat(np.arange(unknowns.height, dtype=np.int64), np.diff(rows.starts)),
        columns=rows.columns,
        values=rows.values.astype(np.float64),
        row_lower=rows.lower.astype(np.float64),
        row_upper=rows.upper.astype(np.float64),
    )


def infinite(bounds: Int64) -> Float64:
    """Bounds for a solver, to which none is an infinite one."""
    numbers = bounds.astype(np.float64)
    numbers[bounds >= FREE] = np.inf
    numbers[bounds <= -FREE] = -np.inf
    return numbers


def _highs(unknowns: Unknowns) -> Solver:
    def solve(cost: Float64) -> Answer:
        from scipy.optimize import linprog

        rows, matrix = unknowns.rows, unknowns.matrix().astype(np.float64)
        equal = np.flatnonzero(rows.lower == rows.upper)
        ranged = np.flatnonzero(rows.lower != rows.upper)
        sides = [infinite(bounds) for bounds in (unknowns.lower, unknowns.upper)]
        result = linprog(
            cost,
            A_eq=matrix[equal] if equal.size else None,
            b_eq=rows.lower[equal] if equal.size else None,
            A_ub=_stacked(matrix[ranged]) if ranged.size else None,
            b_ub=np.append(rows.upper[ranged], -rows.lower[ranged]) if ranged.size else None,
            bounds=np.stack(sides, axis=1),
            method="highs",
        )
        status = {0: Status.OPTIMAL, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED}.get(
            result.status, Status.FAILED
        )
        if status is not Status.OPTIMAL:
            return Answer(status, np.zeros(0), np.zeros(0))
        prices = np.zeros(unknowns.height)
        prices[equal] = result.eqlin.marginals if equal.size else 0
        if ranged.size:
            above, below = np.split(result.ineqlin.marginals, 2)
            prices[ranged] = above - below
        return Answer(status, result.x, prices)

    return solve


def _stacked(matrix: object) -> object:
    from scipy.sparse import vstack

    return vstack([matrix, -matrix])  # type: ignore[operator]


class Proof(NamedTuple):
    """A bound that prices of rows prove, in whole numbers.

    ``denominator`` times the goal is at least ``numerator``: the rows, ``prices`` times each, and
    what is left of the goal times the bounds of the cells.
    """

    prices: Int64
    left: Int64
    numerator: int
    denominator: int

    @property
    def least(self) -> int:
        """The smallest whole number that the goal can be."""
        return -(-self.numerator // self.denominator)


def proof(unknowns: Unknowns, goal: Int64, prices: Float64) -> Proof | None:
    """The best bound of a goal that fractions near these prices prove; ``None`` if none does.

    Any prices prove a bound: rows lie within their bounds, and what prices leave of the goal lies
    within those of the cells. It is computed in whole numbers, so it holds whatever a solver did.
    """
    best: Proof | None = None
    for denominator in _DENOMINATORS:
        scaled = prices * denominator
        whole = np.rint(scaled)
        exact = denominator == _DENOMINATORS[-1]
        if not exact and np.abs(scaled - whole).max(initial=0) > _NEAR * denominator:
            continue
        found = proof_by(unknowns, goal * denominator, whole.astype(np.int64), denominator)
        if found is not None and (best is None or found.least > best.least):
            best = found
        if best is not None:
            break
    return best


def proof_by(unknowns: Unknowns, goal: Int64, prices: Int64, denominator: int) -> Proof | None:
    """The bound of a goal, times a denominator, by whole prices."""
    rows = unknowns.rows
    row = np.repeat(prices, np.diff(rows.starts))
    taken = np.zeros(unknowns.size, dtype=np.int64)
    np.add.at(taken, rows.columns, row * rows.values)
    left = goal - taken
    used, priced = np.flatnonzero(left), np.flatnonzero(prices)
    bounds = np.where(left > 0, unknowns.lower, unknowns.upper)[used]
    if (np.abs(bounds) >= FREE).any():
        return None
    sides = np.where(prices > 0, rows.lower, rows.upper)[priced]
    # Python's own whole numbers: products of prices and values may pass 2**63.
    numerator = sum(map(_product, zip(prices[priced].tolist(), sides.tolist(), strict=True)))
    numerator += sum(map(_product, zip(left[used].tolist(), bounds.tolist(), strict=True)))
    return Proof(prices, left, numerator, denominator)


def _product(pair: tuple[int, int]) -> int:
    return pair[0] * pair[1]


def least_failures(unknowns: Unknowns) -> dict[int, int]:
    """Rows that cannot all be kept, and by how much some of them fail at least, all in all.

    Several choices of rows may do; this one has the smallest sum of failures.
    """
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, hstack, vstack

    rows, size = unknowns.rows, unknowns.size
    ones = eye_array(unknowns.height, format="csr")
    # What a row lacks, and what it has too much.
    wide = hstack([unknowns.matrix().astype(np.float64), ones, -ones], format="csr")
    bounds = [
        *zip(infinite(unknowns.lower).tolist(), infinite(unknowns.upper).tolist(), strict=True),
        *[(0.0, np.inf)] * (2 * unknowns.height),
    ]
    result = linprog(
        np.append(np.zeros(size), np.ones(2 * unknowns.height)),
        A_ub=vstack([wide, -wide]),
        b_ub=np.append(rows.upper, -rows.lower).astype(np.float64),
        bounds=bounds,
        method="highs",
    )
    if result.status != 0:
        return {}
    lacks, exceeds = np.split(result.x[size:], 2)
    gaps = np.rint(exceeds - lacks).astype(np.int64)
    return {row: int(gaps[row]) for row in np.flatnonzero(gaps).tolist()}
