"""True means beside protected counts give the counts away; published means do not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sdcensus.attack.means import PublishedMean, counts_that_fit
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.amounts import Summed, mean_of_amounts
from sdcensus.model.published.figures import Counted, FigureLimits
from sdcensus.model.published.table import Table
from sdcensus.testing.island import SECRET
from tests.methods.magnitude.incomes import by_hand, income_census

DEVIATION, DECIMALS = 2, 4
#: The arithmetic is attacked, not the limits that hide means of few.
NO_LIMITS = FigureLimits(low_below=1, none_below=1)


def mean_of(count: int, text: str) -> PublishedMean:
    return PublishedMean(count, Fraction(text), DECIMALS)


def test_the_example_of_the_handbook_has_one_solution() -> None:
    parts = [mean_of(9, "11.25"), mean_of(14, "7.9167")]
    assert counts_that_fit(parts, mean_of(19, "9.25"), DEVIATION) == [(8, 12, 20)]


def test_the_attack_finds_every_choice_that_brute_force_finds() -> None:
    parts = [PublishedMean(9, Fraction("11.5"), 1), PublishedMean(14, Fraction("7.5"), 1)]
    whole = PublishedMean(19, Fraction(9), 0)
    found = [
        (first, second, first + second)
        for first in range(7, 12)
        for second in range(12, 17)
        if abs(first + second - 19) <= 2
        and any(
            round(Fraction(one, first) * 10) == 115
            and round(Fraction(other, second) * 10) == 75
            and round(Fraction(one + other, first + second)) == 9
            for one in range(200)
            for other in range(200)
        )
    ]
    assert counts_that_fit(parts, whole, DEVIATION) == found
    assert len(found) > 1


def test_the_example_with_published_means_is_not_solved() -> None:
    """8 people with 90, 12 with 95: the same counts are published, and means of published sums."""
    first, second = [12, 11, 11, 11, 11, 11, 11, 12], [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]
    people = [first, second, [*first, *second]]
    assert [sum(each) for each in people] == [90, 95, 185]
    solved = 0
    for version in range(1, 21):
        cube = by_hand(people, [11, 22, 33])
        method = CellKeySums(secret=SECRET, noise_share=0.5, key_version=version)
        sums = method.protect(cube).table.whole().published[:3]
        counts = np.array([9, 14, 19])
        means = _published(sums, counts)
        solutions = counts_that_fit(means[:2], means[2], DEVIATION)
        solved += solutions == [(8, 12, 20)]
    assert solved == 0


def _published(sums: np.ndarray, counts: np.ndarray) -> list[PublishedMean]:
    figures = mean_of_amounts(Summed(sums), Counted(counts), decimals=DECIMALS, limits=NO_LIMITS)
    return [
        PublishedMean(int(count), Fraction(int(value), 10**DECIMALS), DECIMALS)
        for count, value in zip(counts, figures.values, strict=True)
    ]


@pytest.fixture(scope="module")
def groups() -> list[tuple[list[int], list[int], list[int], list[int]]]:
    """For many groups of two parts: true and published counts, true and published sums."""
    census = income_census(6_000)
    axes = ("area", "age", "married", "sex")
    noise = design_perturbation(max_deviation=DEVIATION, variance=1.0)
    counts = census.tabulate(*axes)
    sums = census.tabulate(*axes, measure="sum(income)")
    assert isinstance(counts, Cube)
    assert isinstance(sums, Cube)
    published = [
        CellKey(noise, secret=SECRET).protect(counts).table,
        CellKeySums(secret=SECRET).protect(sums).table,
    ]
    assert all(isinstance(table, Table) for table in published)
    arrays = [counts.count, published[0].whole().published]
    arrays += [sums.values.sum_of("income"), published[1].whole().published]
    lines = [array.reshape(-1, 3).tolist() for array in arrays]
    return [
        (true, shown, total, moved)
        for true, shown, total, moved in zip(*lines, strict=True)
        if min(true) > 2 and max(true) < 80 and min(shown) > 0
    ]


def test_true_means_give_counts_away_and_published_ones_do_not(
    groups: list[tuple[list[int], list[int], list[int], list[int]]],
) -> None:
    assert len(groups) > 40
    solved = {"true": 0, "published": 0}
    for true, shown, totals, moved in groups:
        exact = [
            PublishedMean(count, Fraction(round(Fraction(total, own) * 10**6), 10**6), 6)
            for count, total, own in zip(shown, totals, true, strict=True)
        ]
        ours = _published(np.array(moved), np.array(shown))
        for name, means in (("true", exact), ("published", ours)):
            solutions = counts_that_fit(means[:2], means[2], DEVIATION)
            solved[name] += solutions == [tuple(true)]
    # An attack that takes published means for true ones knows no more than before.
    assert solved["true"] > 0.9 * len(groups)
    assert solved["published"] < 0.05 * len(groups)
