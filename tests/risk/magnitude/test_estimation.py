"""Estimates of the largest contributor: against every sum that could be published, and by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.quantities import share_text
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.magnitude.attackers import Attacker, success_of
from sdcensus.risk.magnitude.estimation import SIZES, largest_risk
from sdcensus.testing.island import SECRET, island_cube
from tests.methods.magnitude.incomes import by_hand, income_cube

CELLS = [
    [100],
    [100, 90],
    [100, 10],
    [100, 99, 98, 97],
    [50, 50, 50],
    [200, 30, 20, 10, 5, 1, 1],
    [-100, -40, -3],
    [-80, 60, 10],
    [7, -7, 3],
]
METHOD = CellKeySums(secret=SECRET)


def estimate(attacker: Attacker, published: int, cell: list[int], members: int) -> Fraction | None:
    """What an attacker thinks the largest contribution is, as he would reckon it."""
    cell = sorted(cell, key=abs, reverse=True)
    number = len(cell)
    if attacker is Attacker.OUTSIDER:
        return (
            Fraction(published, 1)
            if number == 1
            else Fraction(published * (number + 1), 2 * number)
        )
    if number < 2:
        return None
    if attacker is Attacker.SECOND:
        return Fraction(published - cell[1])
    if attacker is Attacker.COALITION:
        return Fraction(published - sum(cell[1 : members + 1]))
    own, sign = cell[1], 1 if cell[0] >= 0 else -1
    if len({value > 0 for value in cell}) == 2:
        return Fraction(published - own)
    own, published = own * sign, published * sign
    # The others have between nothing and as much as he has; the largest not less than he.
    least, most = max(own, published - (number - 1) * own), max(own, published - own)
    return sign * Fraction(least + most, 2)


@pytest.mark.parametrize("within", [1, 10, 33.3, 100])
@pytest.mark.parametrize("members", [1, 2, 5])
@pytest.mark.parametrize("attacker", Attacker)
def test_success_is_decided_as_by_every_published_sum(
    attacker: Attacker, within: float, members: int
) -> None:
    cube = by_hand(CELLS, [0] * len(CELLS))
    success = success_of(attacker, cube, within=within, members=members)
    for at, cell in enumerate(CELLS):
        largest = max(cell, key=abs)
        # Whole units: what lies between two of them is not within.
        near = int(abs(largest) * Fraction(str(within)) / 100)
        low, high = int(success.lower[at]), int(success.upper[at])
        for published in range(-450, 451):
            guess = estimate(attacker, published, cell, members)
            hit = guess is not None and abs(guess - largest) <= near
            inside = bool(success.asked[at]) and low <= published <= high
            assert inside == hit, (cell, published)


def published_as(cube: Cube, values: list[int], flags: list[int] | None = None) -> Table:
    missing = cube.spec.cells - len(values)
    marks = None
    if flags is not None:
        marks = np.array([*flags, *[0] * missing], dtype=np.uint8)
    return Table(cube.spec, np.array([*values, *[0] * missing], dtype=np.int64), flags=marks)


def test_figures_by_hand() -> None:
    cube = by_hand(
        [[100], [100, 90], [100, 50, 40], [100] * 7],
        [0] * 4,
        record_keys=[[1], [1, 2], [3, 4, 5], [6]],
    )
    # Off by 5, by 11 and by 50; the last one is true.
    table = published_as(cube, [105, 201, 240, 700])
    risk = largest_risk(cube, table)
    assert risk.cells == (1, 1, 1, 1)
    outsider, second = risk.of(Attacker.OUTSIDER), risk.of(Attacker.SECOND)
    # Of the second, the middle of 201 * 3/4 is 151, and of the third 240 * 4/6 is 160.
    assert (outsider.whole.cells, outsider.whole.before, outsider.whole.after) == (4, 1, 1)
    # 201 less 90 is 111: one too many. 240 less 50 is 190.
    assert (second.whole.cells, second.whole.before, second.whole.after) == (3, 1, 0)
    assert [size.cells for size in second.by_size] == [0, 1, 1, 1]
    assert (outsider.people, outsider.people_found) == (3, 1)
    assert second.whole.expected is None
    wider = largest_risk(cube, table, within=11)
    assert wider.of(Attacker.SECOND).whole.after == 1


def test_a_withheld_cell_tells_nothing() -> None:
    cube = by_hand([[100, 90]], [0])
    shown, hidden = published_as(cube, [190]), published_as(cube, [0], [Mark.WITHHELD])
    assert largest_risk(cube, shown).of(Attacker.SECOND).whole.after == 1
    figures = largest_risk(cube, hidden, chances=lambda lower, upper: np.ones(lower.shape)).of(
        Attacker.SECOND
    )
    assert (figures.whole.cells, figures.whole.before, figures.whole.after) == (1, 1, 0)
    assert figures.whole.expected == 0


def test_a_coalition_knows_more_the_larger_it_is() -> None:
    cube = by_hand([[100, 30, 30, 30, 30]], [0])
    table = published_as(cube, [220])
    found = [
        largest_risk(cube, table, members=members).of(Attacker.COALITION).whole.after
        for members in range(1, 6)
    ]
    assert found == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("signed", [False, True])
def test_expected_and_realised_shares_agree_over_series(signed: bool) -> None:
    cube = income_cube("area", "sex", people=120, signed=signed)
    realised = []
    for version in range(1, 41):
        method = replace(METHOD, key_version=version)
        table = method.protect(cube).table
        assert isinstance(table, Table)
        realised.append(largest_risk(cube, table).of(Attacker.SECOND).whole.after)
    table = METHOD.protect(cube).table
    assert isinstance(table, Table)

    def expected(method: CellKeySums) -> float:
        figures = largest_risk(
            cube, table, chances=lambda low, high: method.chances_between(cube, low, high)
        )
        number = figures.of(Attacker.SECOND).whole.expected
        assert number is not None
        return number

    error = np.std(realised) / len(realised) ** 0.5
    assert abs(np.mean(realised) - expected(METHOD)) < 4 * error
    assert abs(np.mean(realised) - expected(replace(METHOD, noise_share=0.2))) > 4 * error


def test_classes_of_sizes_hold_every_cell_once() -> None:
    cube = income_cube("area@parish+district", "sex", people=200)
    table = METHOD.protect(cube).table
    assert isinstance(table, Table)
    risk = largest_risk(cube, table)
    known = cube.values.contributions
    assert known is not None
    assert sum(risk.cells) == (known.contributors > 0).sum()
    assert len(risk.cells) == len(SIZES)
    for figures in risk.attackers:
        for field in ("cells", "before", "after"):
            parts = sum(getattr(size, field) for size in figures.by_size)
            assert parts == getattr(figures.whole, field)


def test_amounts_near_the_end_of_64_bits() -> None:
    huge = 1 << 60
    cube = by_hand([[huge, huge // 2, 3]], [0])
    table = published_as(cube, [huge + huge // 2 + 3])
    for attacker in (Attacker.SECOND, Attacker.COALITION):
        assert largest_risk(cube, table).of(attacker).whole.after == 1


@pytest.mark.parametrize("within", [0, -1, 100.5, True, "10", 0.00001])
def test_a_percentage_that_is_none_is_refused(within: object) -> None:
    cube = by_hand([[1]], [0])
    with pytest.raises(SpecError, match="within"):
        success_of(Attacker.SECOND, cube, within=within)  # type: ignore[arg-type]


@pytest.mark.parametrize("members", [0, 6, 1.5])
def test_a_coalition_of_more_than_are_kept_is_refused(members: object) -> None:
    cube = by_hand([[1]], [0])
    with pytest.raises(SpecError, match="1 to 5 can put together"):
        largest_risk(cube, published_as(cube, [1]), members=members)  # type: ignore[arg-type]


def test_a_table_of_counts_is_refused() -> None:
    cube = island_cube("area")
    table = Table(cube.spec, cube.count)
    assert isinstance(cube.spec, TableSpec)
    with pytest.raises(SpecError, match="two largest contributions"):
        largest_risk(cube, table)


@pytest.mark.parametrize(
    ("settings", "percent", "knowing", "factor"),
    [
        ({"noise_share": 0.05}, "95.3 %", "95.3 %", 1.00),
        ({}, "67.7 %", "68.1 %", 1.01),
        ({"noise_share": 0.2}, "37.8 %", "38.6 %", 1.03),
        ({"extra_noise": 1, "sensitive_remainder": 10}, "< 0.1 %", "49.3 %", 1.22),
    ],
    ids=str,
)
def test_figures_of_the_documentation(
    settings: dict[str, float], percent: str, knowing: str, factor: float
) -> None:
    method = CellKeySums(secret=SECRET, **settings)  # type: ignore[arg-type]
    # Whatever the second has: his own part is taken off.
    cube = by_hand([[100_000, 60_000], [100_000, 95_000]], [1, 2])
    table = method.protect(cube).table
    assert isinstance(table, Table)
    risk = largest_risk(
        cube, table, chances=lambda low, high: method.chances_between(cube, low, high)
    )
    expected = risk.of(Attacker.SECOND).whole.expected
    assert expected is not None
    assert share_text(expected / 2) == percent
    # Who knows the noise divides what is left by the factor that serves him best.
    bounds = (
        np.full(cube.shape, round(90_000 * factor)),
        np.full(cube.shape, round(110_000 * factor)),
    )
    best = method.chances_between(cube, bounds[0] + 60_000, bounds[1] + 60_000).reshape(-1)[0]
    assert share_text(best) == knowing
    page = Path(__file__).parents[3] / "docs" / "risk" / "largest-contributors.md"
    assert f"| {percent} | {knowing} |" in page.read_text(encoding="utf-8")
