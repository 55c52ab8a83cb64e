from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, strategies as st
from scipy.optimize import minimize, nnls

from sdcensus.kernels.perturbation import entropy
from sdcensus.kernels.perturbation.entropy import FLOOR, EntropyRow, maximum_entropy


class Case(NamedTuple):
    deviations: Sequence[int]
    variance: float | None = None
    stay: float | None = None
    rising: int = 0
    equal: bool = False

    def solved(self) -> EntropyRow:
        return maximum_entropy(
            self.deviations,
            variance=self.variance,
            equal=self.equal,
            stay=self.stay,
            rising=self.rising,
        )

    def is_met_by(self, chances: npt.NDArray[np.float64]) -> bool:
        values = np.array(self.deviations)
        return bool(
            (chances >= FLOOR).all()
            and (self.stay is None or chances[values == 0] >= self.stay)
            and (self.variance is None or chances @ values**2 <= self.variance + 1e-15)
            and (np.diff(chances[: self.rising]) >= 0).all()
        )


def entropy_of(probabilities: Sequence[float] | npt.NDArray[np.float64]) -> float:
    return -math.fsum(float(probability) * math.log(probability) for probability in probabilities)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    low, high = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    share = draw(st.none() | st.floats(0.02, 0.6))
    return Case(
        range(-low, high + 1),
        variance=None if share is None else share * low * high,
        stay=draw(st.none() | st.floats(0.01, 0.9)),
        rising=draw(st.sampled_from([0, low + 1])),
    )


def left_unbalanced(case: Case, row: EntropyRow) -> float:
    """How far the gradient is from what multipliers of the right signs can balance.

    The conditions of Karush, Kuhn and Tucker, checked without the solver: the problem is convex,
    so a row that meets its wishes and these is the best one.
    """
    chances, values = np.array(row.probabilities), np.array(case.deviations, dtype=float)
    size = len(values)
    unit = np.eye(size)
    columns = [np.ones(size), -np.ones(size), values, -values]
    if row.bound:
        columns += [values**2, -(values**2)] if case.equal else [values**2]
    for at in range(case.rising - 1):
        if chances[at] == chances[at + 1]:
            columns.append(unit[at] - unit[at + 1])
    for at, value in enumerate(case.deviations):
        staying = case.stay if case.stay is not None and value == 0 else FLOOR
        if chances[at] <= staying * (1 + 1e-12):
            columns.append(-unit[at])
    matrix = np.column_stack([column / np.abs(column).max() for column in columns])
    return float(nnls(matrix, -np.log(chances) - 1, maxiter=10_000)[1])


@given(cases())
@example(Case((-2, 1, 2, 3), 2.01, rising=1))
@example(Case((-1, 2, 3), 2.01, rising=1))
@example(Case((-3, 0, 1, 2, 3), 2.01, 1 / 3, 2))
@example(Case(range(-1, 4), 1.5, 0.45, 2, equal=True))
@example(Case(range(-5, 6), 12.0, equal=True))
@example(Case(range(-20, 21), 1.0, 0.2, 21))
@example(Case((-6, *range(11)), 9.007186568745182, 0.687, 2))
def test_no_row_that_meets_the_wishes_has_more_entropy(case: Case) -> None:
    row = case.solved()
    assert row.residual < 1e-30
    assert left_unbalanced(case, row) < 1e-7


@given(cases())
@example(Case([-1, 0, 1], 0.5, 0.5, 2))
def test_a_row_meets_its_wishes(case: Case) -> None:
    row = case.solved()
    chances = row.probabilities
    pairs = list(zip(case.deviations, chances, strict=True))
    assert math.fsum(chances) == pytest.approx(1, abs=1e-15)
    assert math.fsum(v * p for v, p in pairs) == pytest.approx(0, abs=1e-14)
    second = math.fsum(v * v * p for v, p in pairs)
    assert second == pytest.approx(row.variance, abs=1e-12)
    if case.variance is not None:
        assert second <= case.variance + 1e-12
        assert not row.bound or second == pytest.approx(case.variance, abs=1e-12)
    if case.stay is not None:
        assert dict(pairs)[0] >= case.stay
    assert min(chances) >= FLOOR
    assert all(a <= b for a, b in itertools.pairwise(chances[: case.rising]))


@given(cases(), st.integers(0, 2**32))
def test_moving_away_from_a_row_costs_entropy(case: Case, seed: int) -> None:
    chances = np.array(case.solved().probabilities)
    generator = np.random.default_rng(seed)
    moments = np.vander(np.array(case.deviations), 3).T.astype(float)
    # Directions that keep sum, mean and variance.
    directions = np.linalg.svd(moments)[2][3:]
    for _ in range(20):
        change = generator.normal(size=len(directions)) @ directions
        for size in (1e-2, -1e-2, 1e-4, -1e-4):
            other = chances + size * change
            if case.is_met_by(other):
                assert entropy_of(other) <= entropy_of(chances) + 1e-14


@pytest.mark.parametrize(
    "case",
    [
        Case(range(-3, 4), 1.5, 0.4, 4),
        Case(range(-2, 4), 1.5, 0.4, 3),
        Case(range(-1, 4), 1.5, None, 2),
        Case(range(-1, 4), 1.5, 0.45, 2, equal=True),
        Case((-3, 0, 1, 2, 3), 2.01, 1 / 3, 2),
        Case((-2, 1, 2, 3), 2.4, None, 1, equal=True),
        Case(range(-5, 6), 12.0, equal=True),
    ],
)
def test_another_solver_finds_the_same_row(case: Case) -> None:
    values = np.array(case.deviations, dtype=float)
    size = len(values)
    # It gets the moments as one matrix, and never leaves the bounds.
    constraints: list[dict[str, Any]] = [
        {"type": "eq", "fun": lambda p: np.array([p.sum() - 1, p @ values])},
        {"type": "eq" if case.equal else "ineq", "fun": lambda p: case.variance - p @ values**2},
    ]
    if case.rising > 1:
        constraints.append({"type": "ineq", "fun": lambda p: np.diff(p[: case.rising])})
    other = minimize(
        lambda p: (p * np.log(p)).sum(),
        np.full(size, 1 / size),
        jac=lambda p: np.log(p) + 1,
        bounds=[(case.stay if case.stay and v == 0 else FLOOR, 1.0) for v in values],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    row = case.solved()
    assert row.probabilities == pytest.approx(other.x, abs=1e-6)
    assert entropy_of(row.probabilities) >= -other.fun - 1e-9


@pytest.mark.parametrize("variance", [0.3, 1.0, 1.9])
def test_without_side_constraints_a_row_is_a_discrete_bell(variance: float) -> None:
    logs = np.log(maximum_entropy(range(-3, 4), variance=variance).probabilities)
    # The logarithms are a parabola, whose second differences are all the same.
    assert np.ptp(np.diff(logs, 2)) < 1e-12


def test_a_binding_stay_probability_only_rescales_the_others() -> None:
    row = maximum_entropy(range(-3, 4), variance=1.5, stay=0.4)
    assert row.probabilities[3] == 0.4
    others, logs = [-3, -2, -1, 1, 2, 3], np.delete(np.log(row.probabilities), 3)
    parabola = np.polyfit(others, logs, 2)
    assert np.polyval(parabola, others) == pytest.approx(logs, abs=1e-12)


def test_a_binding_rule_pools_neighbours() -> None:
    row = maximum_entropy(range(-1, 4), rising=2)
    assert row.probabilities[0] == row.probabilities[1]
    # They share the mean of the logarithms that a geometric row has there.
    slope = math.log(row.probabilities[3] / row.probabilities[2])
    assert math.log(row.probabilities[2] / row.probabilities[1]) == pytest.approx(1.5 * slope)


@pytest.mark.parametrize("low", [1, 2, 17, 50])
def test_the_longest_rows_are_solved(low: int) -> None:
    for variance in (0.5, 20.0, 700.0):
        row = maximum_entropy(range(-low, 51), variance=variance, stay=0.2, rising=low + 1)
        assert row.residual < 1e-30


def test_a_row_that_cannot_be_is_told_by_its_residual() -> None:
    assert maximum_entropy((-2, 1, 2, 3), variance=1.9, rising=1).residual > 1e-3


def test_symmetric_rows_are_symmetric_to_the_last_bit() -> None:
    for high in (1, 2, 3, 4, 7, 20):
        row = maximum_entropy(range(-high, high + 1), variance=high / 2, stay=0.3, rising=high + 1)
        assert row.probabilities == row.probabilities[::-1]


def test_a_row_is_the_same_to_the_last_bit_on_every_machine() -> None:
    row = maximum_entropy(range(-2, 4), variance=1.5, stay=0.4, rising=3)
    assert [probability.hex() for probability in row.probabilities] == [
        "0x1.f83e61484d4b4p-4",
        "0x1.8a98c4a01354ap-3",
        "0x1.999999999999ap-2",
        "0x1.4d99e43c6ff24p-3",
        "0x1.68673070efe64p-4",
        "0x1.111d6c4eabb48p-5",
    ]


def test_a_row_does_not_depend_on_the_decimal_context_of_the_caller() -> None:
    case = Case(range(-2, 4), 1.5, 0.4, 3)
    here = case.solved()
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP)):
        there = case.solved()
    assert here == there


@given(cases(), st.tuples(*[st.floats(-1e-7, 1e-7)] * 3))
def test_a_row_does_not_depend_on_the_accuracy_of_binary_arithmetic(
    case: Case, shift: tuple[float, float, float]
) -> None:
    """Errors far larger than those of any mathematics library change no bit of the result."""
    variance = case.variance if case.solved().bound else None
    asked = entropy._Asked(tuple(case.deviations), variance, case.stay, case.rising, FLOOR)
    rough = entropy._roughly(asked)
    first, second, third = (a + b for a, b in zip(rough.multipliers, shift, strict=True))
    moved = first, second, 0.0 if variance is None else third
    here = entropy._exactly(asked, rough)
    there = entropy._exactly(asked, entropy._Solution(moved, rough.point, rough.variance))
    assert [float(probability) for probability in here.point.probabilities] == [
        float(probability) for probability in there.point.probabilities
    ]
