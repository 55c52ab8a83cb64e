from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods import CellKey, ThresholdRounding
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import assemble
from sdcensus.model.measure import MeasureContext
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.published.table import Table
from sdcensus.risk.composite import (
    WEIGHTS,
    CompositeRisk,
    CompositeRiskMeasure,
    composite_risk,
    composite_risk_of,
    composite_risk_protected,
)
from sdcensus.testing.island import SECRET, island_cube

Int64 = npt.NDArray[np.int64]


def value(risk: CompositeRisk) -> float:
    assert risk.value is not None
    return risk.value


# ---------------------------------------------------------------------------------------------
# Printed figures of the ECLAC study (2020), Tables 9, 10, A1 and A2: interior cells, population
# (mean cell size times cells of the two-way table), shares of empty cells and of ones and twos, R
# of the original where it has three digits, and R for each scheme in the order of SCHEMES.
PRINTED = {
    "Saint Kitts and Nevis, 3-way": (
        (1940, 47142, 0.454, 0.171, 0.169),
        (0.141, 0.125, 0.125, 0.109, 0.114, 0.106, 0.101, 0.074),
    ),
    "Saint Kitts and Nevis, 4-way": (
        (27160, 47142, 0.811, 0.089, 0.242),
        (0.228, 0.217, 0.217, 0.204, 0.210, 0.203, 0.198, 0.169),
    ),
    "Saint Kitts and Nevis, 5-way": (
        (162960, 47142, 0.950, 0.031, 0.301),
        (0.296, 0.292, 0.292, 0.285, 0.289, 0.286, 0.283, 0.265),
    ),
    "Belize, 3-way": (
        (2910, 303222, 0.100, 0.114, None),
        (0.053, 0.041, 0.041, 0.033, 0.034, 0.029, 0.027, 0.016),
    ),
    "Belize, 4-way": (
        (49470, 303222, 0.574, 0.195, None),
        (0.133, 0.121, 0.121, 0.108, 0.114, 0.108, 0.103, 0.083),
    ),
    "Belize, 5-way": (
        (346290, 303222, 0.875, 0.081, None),
        (0.221, 0.214, 0.214, 0.204, 0.210, 0.206, 0.201, 0.179),
    ),
    "Jamaica, 4-way": (
        (16296, 2214316, 0.336, 0.205, None),
        (0.094, 0.079, 0.079, 0.066, 0.071, 0.065, 0.060, 0.042),
    ),
    "Jamaica, 5-way": (
        (228144, 2214316, 0.755, 0.100, None),
        (0.189, 0.178, 0.178, 0.167, 0.171, 0.164, 0.161, 0.136),
    ),
}


def assumed(cells: int, people: int, zeros: float, small: float, middle: int) -> Int64:
    """Counts with the printed shares; the study does not print the rest of the distribution.

    Ones are twice as many as twos, cells of 3 to 6 become rarer in the same way, and all others
    are log-normal with a spread of 1. How many cells have 3 to 6 is the one number left open.
    """

    def falling(number: int, counts: list[int]) -> Int64:
        share = 1 / np.array(counts)
        ends = np.round(np.cumsum(share / share.sum()) * number).astype(int)
        return np.repeat(counts, np.diff(ends, prepend=0))

    empty, few = round(cells * zeros), round(cells * small)
    low, mid = falling(few, [1, 2]), falling(middle, [3, 4, 5, 6])
    many = cells - empty - few - middle
    size = np.exp(stats.norm.ppf((np.arange(many) + 0.5) / many))
    left = people - int(low.sum() + mid.sum()) - 7 * many
    tail = 7 + np.round(left * size / size.sum()).astype(int)
    return np.concatenate([np.zeros(empty, dtype=np.int64), low, mid, tail])


def perturbed(design: PerturbationDesign, counts: Int64) -> Int64:
    """Noise as even as it can be: in each row, deviations in proportion to their probabilities."""
    found, place = np.unique(counts, return_inverse=True)
    row = np.array([design.tail.row(count) for count in found.tolist()])[place]
    published = counts.copy()
    draw = np.random.default_rng(2020)
    for one in np.unique(row).tolist():
        cells = draw.permutation(np.flatnonzero(row == one))
        deviations, chances = zip(*design.distribution(one), strict=True)
        ends = np.round(np.cumsum([float(chance) for chance in chances]) * cells.size)
        published[cells] += np.repeat(deviations, np.diff(ends, prepend=0).astype(int))
    return published


def calibrated(name: str) -> Int64:
    """The assumed counts whose R is the printed one of the original; else the one under CP1."""
    (cells, people, zeros, small, original), printed = PRINTED[name]

    def too_high(middle: int) -> bool:
        counts = assumed(cells, people, zeros, small, middle)
        if original is not None:
            return value(composite_risk(counts)) > original
        published = perturbed(scheme("CP1"), counts)
        return value(composite_risk_protected(counts, published)) > printed[0]

    # The more cells of 3 to 6, the more evenly do records spread over small cells.
    least, most = 1, cells - round(cells * zeros) - round(cells * small) - 50
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if too_high(middle) else (least, middle)
    return assumed(cells, people, zeros, small, most)


@pytest.mark.parametrize("name", PRINTED)
def test_printed_risks_come_out_within_two_thousandths(name: str) -> None:
    counts = calibrated(name)
    (_, _, _, _, original), printed = PRINTED[name]
    if original is not None:
        assert value(composite_risk(counts)) == pytest.approx(original, abs=0.0005)
    for one, expected in zip(SCHEMES, printed, strict=True):
        found = composite_risk_protected(counts, perturbed(scheme(one), counts))
        assert found.value == pytest.approx(expected, abs=0.002), one


def test_the_nominal_variance_does_not_give_the_printed_risk() -> None:
    """Saint Kitts, CP1: the variance of the scheme gives 0.127; the printed value is 0.141."""
    counts = calibrated("Saint Kitts and Nevis, 3-way")
    found = composite_risk_protected(counts, perturbed(scheme("CP1"), counts))
    nominal = found.zeros + (found.small + found.large) / found.discount / 1.5 + found.population
    assert nominal == pytest.approx(0.127, abs=0.002)
    assert abs(nominal - 0.141) > 0.01


@pytest.mark.parametrize("people", [250, 400])
def test_schemes_stand_in_the_printed_order_on_a_sparse_cube(people: int) -> None:
    cube = island_cube("area", "sex", "age", "married", people=people)
    assert (cube.count[:7, :2, :10, :2] == 0).mean() > 0.4
    mean = {}
    for name in SCHEMES:
        of_each = []
        for version in range(1, 13):  # one draw of so small a table says little
            method = CellKey(scheme(name), secret=SECRET, key_version=version, lookup="hashed")
            table = method.protect(cube).table
            of_each.append(value(composite_risk_of(cube, table)))
        mean[name] = np.mean(of_each)
    assert mean["CP2"] == pytest.approx(mean["CP3(EU)"], abs=0.003)
    for more, less in [
        ("CP1", "CP2"),
        ("CP2", "CP3"),
        ("CP3", "RR3"),
        ("CP3", "CP4"),
        ("RR3", "CP3(1,2)"),
        ("CP4", "CP3(1,2)"),
        ("CP3(1,2)", "RR5"),
    ]:
        assert mean[more] > mean[less] - 0.001, (more, less)
    assert value(composite_risk_of(cube)) > mean["CP1"]


# ---------------------------------------------------------------------------------------------
# The definition


def by_definition(counts: list[int]) -> float:
    def uneven(cells: list[int]) -> float:
        people = sum(cells)
        if len(cells) <= 1 or not people:
            return 0.0
        spread = people * math.log(people) - sum(cell * math.log(cell) for cell in cells if cell)
        return 1 - spread / (people * math.log(len(cells)))

    people = sum(counts)
    last = -math.log(1 / (math.e * math.sqrt(people))) / math.sqrt(people) if people else 0.0
    return (
        0.1 * counts.count(0) / len(counts)
        + 0.7 * uneven([count for count in counts if count <= 6])
        + 0.1 * uneven([count for count in counts if count > 6])
        + 0.1 * last
    )


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_the_value_is_that_of_the_definition(counts: list[int]) -> None:
    assert value(composite_risk(counts)) == pytest.approx(by_definition(counts), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=30))
def test_the_protected_value_is_that_of_the_definition(cells: list[tuple[int, int]]) -> None:
    true, published = np.array(cells).T
    found = composite_risk_protected(true, published)
    whole = composite_risk(true)
    empty, gone = set(np.flatnonzero(true == 0)), set(np.flatnonzero(published == 0))
    expected = 0.0
    if empty & gone:
        expected = 0.1 * (len(empty) / len(cells)) ** (len(empty | gone) / len(empty & gone))
    assert found.zeros == pytest.approx(expected)
    discount = 1 / (1 + float(np.var(published - true)))
    assert found.small == pytest.approx(whole.small * discount)
    assert found.large == pytest.approx(whole.large * discount)
    assert found.population == whole.population
    assert 0 <= value(found) <= 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_the_entropy_reading_is_the_information_that_is_left(cells: list[tuple[int, int]]) -> None:
    def entropy(values: list[object]) -> float:
        shares = [values.count(value) / len(values) for value in set(values)]
        return -sum(share * math.log(share) for share in shares)

    true, published = [one for one, _ in cells], [one for _, one in cells]
    found = composite_risk_protected(true, published, reading="entropy")
    before = entropy(list(true))
    after = entropy(list(cells)) - entropy(list(published))
    expected = 1 - after / before if before else 1.0
    assert found.discount == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_a_table_without_noise_has_the_risk_of_the_original(counts: list[int]) -> None:
    for reading in ("variance", "entropy"):
        found = composite_risk_protected(counts, counts, reading=reading)
        assert found.value == pytest.approx(composite_risk(counts).value)


def test_published_values_that_say_nothing_leave_nothing_of_the_entropy_terms() -> None:
    found = composite_risk_protected([0, 1, 5, 9, 30], [3, 3, 3, 3, 3], reading="entropy")
    assert (found.discount, found.small, found.large) == (0, 0, 0)


def test_order_and_shape_do_not_matter() -> None:
    draw = np.random.default_rng(1)
    true = draw.poisson(2, (6, 7))
    published = draw.poisson(2, (6, 7))
    order = draw.permutation(42)
    for reading in ("variance", "entropy"):
        one = composite_risk_protected(true, published, reading=reading)
        other = composite_risk_protected(
            true.reshape(-1)[order], published.reshape(-1)[order], reading=reading
        )
        assert one.value == pytest.approx(other.value)


# ---------------------------------------------------------------------------------------------
# Tables that are hardly any


def test_an_empty_table_has_the_risk_of_its_zeros() -> None:
    found = composite_risk(np.zeros((3, 4), dtype=np.int64))
    assert (found.zeros, found.small, found.large, found.population) == (0.1, 0, 0, 0)
    assert "no records" in " ".join(found.warnings)
    protected = composite_risk_protected(np.zeros(12), np.zeros(12))
    assert protected.value == 0.1


def test_a_table_of_one_cell_is_measured() -> None:
    assert composite_risk([0]).value == pytest.approx(0.1)
    assert composite_risk([1]).value == pytest.approx(0.1)  # a population of one
    assert composite_risk(np.array(9)).small == 0
    assert composite_risk_of(island_cube(people=30)).cells == 1


def test_zeros_that_nobody_can_see_carry_no_risk() -> None:
    """No cell is empty and published as 0, whatever is published as 0 otherwise."""
    assert composite_risk_protected([1, 2, 3], [0, 2, 3]).zeros == 0
    assert composite_risk_protected([0, 2, 3], [1, 0, 3]).zeros == 0
    assert composite_risk_protected([0, 0], [3, 3]).zeros == 0


def test_false_zeros_lower_the_risk_of_zeros() -> None:
    few = composite_risk_protected([0, 0, 1, 1, 9], [0, 0, 1, 1, 9])
    more = composite_risk_protected([0, 0, 1, 1, 9], [0, 0, 0, 1, 9])
    assert few.zeros == pytest.approx(0.1 * 0.4)
    assert more.zeros == pytest.approx(0.1 * 0.4 ** (3 / 2))


def test_few_small_cells_are_warned_of() -> None:
    assert "erratic" in " ".join(composite_risk([1, 2, 50, 60, 70]).warnings)
    assert composite_risk([1, 2, 3, 4] * 10).warnings == ()


def test_cells_that_are_not_listed_are_empty() -> None:
    assert composite_risk([3, 9, 1], cells=10).value == composite_risk([3, 9, 1] + 7 * [0]).value
    for reading in ("variance", "entropy"):
        found = composite_risk_protected([3, 9, 0], [2, 9, 1], cells=10, reading=reading)
        whole = composite_risk_protected([3, 9, 0] + 7 * [0], [2, 9, 1] + 7 * [0], reading=reading)
        assert found.value == pytest.approx(whole.value)
    with pytest.raises(SpecError, match="fewer cells"):
        composite_risk([1, 2], cells=1)


def test_withheld_cells_are_left_out_and_that_is_said() -> None:
    true, published = np.array([0, 1, 2, 8, 9]), np.array([0, 0, 0, 10, 10])
    shown = np.array([True, False, False, True, True])
    found = composite_risk_protected(true, published, shown=shown)
    assert found.cells == 3
    assert found.value == composite_risk_protected([0, 8, 9], [0, 10, 10]).value
    assert "withheld" in found.warnings[0]
    nothing = composite_risk_protected(true, published, shown=np.zeros(5, dtype=bool))
    assert nothing.value is None
    assert "nothing is measured" in nothing.warnings[-1]
    cube = island_cube("area", "sex", "age", people=90)
    table = ThresholdRounding(threshold=10, base=5).protect(cube).table
    assert composite_risk_of(cube, table).value is None


def test_interior_cells_of_cubes_and_tables_are_measured() -> None:
    cube = island_cube("area+district", "sex", "age+class")
    table = CellKey(scheme("CP2"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    inner = np.s_[:7, :2, :10]
    assert composite_risk_of(cube).value == composite_risk(cube.count[inner]).value
    assert (
        composite_risk_of(cube, table, reading="entropy").value
        == composite_risk_protected(
            cube.count[inner], table.published[inner], reading="entropy"
        ).value
    )


def test_sparse_cubes_have_the_risk_of_dense_ones() -> None:
    dense = island_cube("area+district", "sex", "age", people=60)
    inner = dense.count[:7, :2, :10]
    numbers = np.flatnonzero(inner).astype(np.uint64)
    keys = dense.key[:7, :2, :10].reshape(-1)[numbers.astype(np.int64)]
    sums = {"count": inner.reshape(-1)[numbers.astype(np.int64)], "key": keys.astype(np.uint64)}
    sparse = assemble(dense.spec, dense.origin, numbers, sums, largest_dense=1)
    assert not isinstance(sparse, Cube)
    assert composite_risk_of(sparse).value == pytest.approx(composite_risk_of(dense).value)
    method = CellKey(scheme("CP3"), secret=SECRET)
    table, whole = method.protect(sparse).table, method.protect(dense).table
    for reading in ("variance", "entropy"):
        expected = composite_risk_of(dense, whole, reading=reading).value
        for a, b in ((sparse, table), (dense, table), (sparse, whole)):
            assert composite_risk_of(a, b, reading=reading).value == pytest.approx(expected)


# ---------------------------------------------------------------------------------------------
# What is refused


@pytest.mark.parametrize(
    "weights",
    [(0.1, 0.7, 0.2), (0.1, 0.7, 0.1, 0.2), (-0.1, 0.8, 0.2, 0.1), (math.nan, 1, 0, 0), "abcd"],
)
def test_weights_that_are_none_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(SpecError, match="four weights"):
        composite_risk([1, 2], weights)
    with pytest.raises(SpecError, match="four weights"):
        composite_risk_protected([1, 2], [1, 2], weights=weights)


def test_other_weights_weigh_the_terms() -> None:
    counts = [0, 1, 4, 9, 30]
    assert composite_risk(counts, (1, 0, 0, 0)).value == pytest.approx(0.2)
    of_each = [composite_risk(counts, np.eye(4)[at]) for at in range(4)]
    mean = sum(value(one) * weight for one, weight in zip(of_each, WEIGHTS, strict=True))
    assert value(composite_risk(counts)) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ([1, -1], "below 0"),
        ([1.5, 2], "fractions"),
        ([math.nan, 2], "fractions"),
        ([math.inf, 2], "no numbers"),
        ([1 << 31, 2], "2\\*\\*31"),
        (["a"], "whole numbers"),
        ([True, False], "whole numbers"),
        ([None, 1], "whole numbers"),
    ],
)
def test_what_is_no_count_is_refused(counts: list[float], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        composite_risk(counts)
    with pytest.raises(SpecError, match=why):
        composite_risk_protected([1, 2][: len(counts)], counts)


def test_tables_that_do_not_match_are_refused() -> None:
    with pytest.raises(SpecError, match="one shape"):
        composite_risk_protected([1, 2], [1, 2, 3])
    with pytest.raises(SpecError, match="mask"):
        composite_risk_protected([1, 2], [1, 2], shown=[1, 0])
    cube = island_cube("area", "sex")
    other = CellKey(scheme("CP1"), secret=SECRET).protect(island_cube("area", "age")).table
    with pytest.raises(SpecError, match="do not show the same cells"):
        composite_risk_of(cube, other)
    turned = CellKey(scheme("CP1"), secret=SECRET).protect(island_cube("sex", "area")).table
    with pytest.raises(SpecError, match="another order"):
        composite_risk_of(cube, turned)
    with pytest.raises(SpecError, match="weighted"):
        composite_risk_of(island_cube("sex", measure="weighted"))


def test_unknown_readings_are_refused() -> None:
    with pytest.raises(UnknownName, match="'variance'"):
        composite_risk_protected([1], [1], reading="variances")


def test_nothing_is_shown_of_the_result() -> None:
    assert f"{composite_risk([1, 2, 3])}" == "<CompositeRisk: confidential>"


def test_its_row_tells_the_risk_before_and_after() -> None:
    cube = island_cube("area", "age")
    table = CellKey(scheme("CP4"), SECRET).protect(cube).table
    assert isinstance(table, Table)
    context = MeasureContext(cube=cube, table=table)
    measure = CompositeRiskMeasure()
    (row,) = measure.rows(measure.measure(context), context)
    before, after = value(composite_risk_of(cube)), value(composite_risk_of(cube, table))
    assert after < before
    assert row.value == f"{before:.3f} → {after:.3f}"
    assert row.figures == (("risk R before", before), ("risk R after", after))


def test_what_to_know_of_both_risks_is_told_once() -> None:
    cube = island_cube("area", "sex")
    context = MeasureContext(cube=cube, table=Table(cube.spec, cube.count.copy()))
    measure = CompositeRiskMeasure()
    result = measure.measure(context)
    assert result.before.warnings
    assert measure.cautions(result) == result.before.warnings
