"""Looks at sums: the bound holds for least squares with the noise of sums, and is reached."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Variable
from sdcensus.risk.looks.budget import looks_at
from sdcensus.risk.looks.sums import SumBudget, noise_left, tables_of

SIZES = (2, 3, 2)
DEVIATION = 0.1


def variable(name: str, size: int, *, level: bool = False) -> Variable:
    codes = tuple(Code(str(at)) for at in range(size))
    above = Hierarchy("h", (Level("half", codes[:2], tuple(at % 2 for at in range(size))),))
    return Variable(
        name=name, entity=Entity.PERSON, codes=codes, hierarchies=(above,) if level else ()
    )


def menu(dimensions: int, *, level: bool = False) -> Menu:
    variables = [variable(f"v{at}", size, level=level) for at, size in enumerate(SIZES)]
    return Menu(
        Entity.PERSON,
        tuple(MenuVariable(each, tuple(each.levels())) for each in variables),
        dimensions,
    )


def least_deviation(largest: np.ndarray, dimensions: int, target: tuple[int | None, ...]) -> float:
    """Of the best linear estimate of a sum from all tables, where the noise is that of sums.

    Args:
        largest: The largest contribution of each finest cell; every sum is unknown.
        dimensions: The most variables of a table.
        target: The codes of the cell that is estimated, ``None`` for all.
    """
    rows, deviations = [], []
    for size in range(dimensions + 1):
        for chosen in itertools.combinations(range(len(SIZES)), size):
            for codes in itertools.product(*(range(SIZES[at]) for at in chosen)):
                inside = np.zeros(SIZES, dtype=bool)
                index: list[int | slice] = [slice(None)] * len(SIZES)
                for at, code in zip(chosen, codes, strict=True):
                    index[at] = code
                inside[tuple(index)] = True
                rows.append(inside.ravel())
                deviations.append(DEVIATION * largest[inside].max())
    seen = np.array(rows, dtype=float) / np.array(deviations)[:, None]
    wanted = np.zeros(SIZES)
    wanted[tuple(slice(None) if code is None else code for code in target)] = 1
    weights, *_ = np.linalg.lstsq(seen.T, wanted.ravel(), rcond=None)
    assert np.allclose(seen.T @ weights, wanted.ravel(), atol=1e-6)
    return float(np.linalg.norm(weights))


def test_a_contribution_far_above_all_others_is_seen_once_in_every_table() -> None:
    largest = np.full(SIZES, 1e-4)
    largest[0, 0, 0] = 1.0
    tables = tables_of(menu(3))
    assert tables == 8
    found = least_deviation(largest, 3, (0, None, None))
    assert found == pytest.approx(noise_left(DEVIATION, tables), rel=1e-3)


def test_where_all_contribute_alike_looks_are_those_at_counts() -> None:
    found = least_deviation(np.ones(SIZES), 2, (0, None, None))
    looks = looks_at(menu(2), {"v0": "v0"}).looks
    assert found == pytest.approx(DEVIATION / math.sqrt(looks), rel=1e-9)
    assert found > noise_left(DEVIATION, tables_of(menu(2)))


@pytest.mark.parametrize("seed", range(20))
def test_no_linear_estimate_is_better_than_the_bound(seed: int) -> None:
    draw = np.random.default_rng(seed)
    largest = draw.lognormal(0, draw.choice([0.5, 2, 4]), SIZES)
    for dimensions, target in itertools.product((2, 3), ((0, None, None), (1, 2, None))):
        inside = largest[tuple(slice(None) if code is None else code for code in target)]
        left = noise_left(DEVIATION, tables_of(menu(dimensions))) * inside.max()
        assert least_deviation(largest, dimensions, target) >= left * (1 - 1e-9)


def test_averages_of_drawn_noise_have_the_deviation_that_is_left() -> None:
    """One contributor whose neighbours are known, with the noise that a server draws."""
    from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
    from sdcensus.methods.magnitude.numeric_tables import design_numeric_table
    from sdcensus.testing.island import SECRET

    method = CellKeySums(secret=SECRET)
    deviation = method.least_deviation
    assert deviation is not None
    assert deviation == pytest.approx(0.1 * math.sqrt(0.7772), rel=1e-3)
    table = design_numeric_table(3, 1.0, 4)
    row = table.rows[0]
    draw = np.random.default_rng(1)
    tables = 14
    drawn = draw.choice(
        np.array(row.deviations) / table.step, (20_000, tables), p=row.probabilities
    )
    averages = 1 + 0.1 * drawn.mean(axis=1)
    assert averages.std() == pytest.approx(noise_left(deviation, tables), rel=0.02)
    assert averages.mean() == pytest.approx(1, abs=0.001)


def test_levels_are_tables_of_their_own_and_forbidden_ones_are_left_out() -> None:
    plain, levels = menu(2), menu(2, level=True)
    assert tables_of(plain) == 1 + 3 + 3
    # Halves of two codes tell apart what the codes do: only the second variable has two levels.
    assert tables_of(levels) == 1 + (1 + 2 + 1) + (2 + 1 + 2)
    forbidden = Menu(Entity.PERSON, plain.variables, 2, never_together=((("v0", ""), ("v1", "")),))
    assert tables_of(forbidden) == 1 + 3 + 2


def test_a_budget_says_what_would_do() -> None:
    budget = SumBudget(amount="income", tables=100, deviation=0.1, limit=0.02)
    assert not budget.met
    assert budget.left == pytest.approx(0.01)
    assert budget.needed == pytest.approx(0.2)
    assert budget.most_tables == 25
    assert SumBudget(amount="income", tables=25, deviation=0.1, limit=0.02).met
    assert SumBudget(amount="income", tables=100, deviation=budget.needed, limit=0.02).met
    with pytest.raises(SpecError, match="above 0"):
        noise_left(0, 3)
