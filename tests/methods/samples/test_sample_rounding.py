"""Estimates of a sample: rounded, withheld where little is behind them, marked by their error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.kernels.cells.replicates import REPLICATES
from sdcensus.methods.samples.sample_rounding import SampleRounding
from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure
from sdcensus.testing.island import island

ORIGIN = Origin(KeySpace())
INCOME = Variable(name="income", entity=Entity.PERSON, continuous=True, decimals=2, unit="XCD")


def lenient(base: int | None = None, *, minimum_cases: int = 3) -> SampleRounding:
    """No error is too large: what is left is rounding and the number of cases."""
    return SampleRounding(
        base, minimum_cases=minimum_cases, moderate_above=1, brackets_above=1, withheld_above=1
    )


def published(method: SampleRounding, cube: Cube) -> Table:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table


def island_sample(people: int = 1200, *by: str, **options: str) -> Cube:
    axes = by or ("area@parish+district", "sex", "age@class")
    measure = options.pop("measure", "weighted")
    census = island(people)
    return census.tabulate(*axes, measure=measure, replicates=True, **options).held_for("a test")  # type: ignore[arg-type]


def cells(
    counts: list[int],
    weights: list[int],
    *,
    decimals: int = 2,
    groups: list[list[int]] | None = None,
    sums: list[int] | None = None,
) -> Cube:
    """Cells in a row, with the first group as large as the cell unless groups are given."""
    spec = island(2).spec("age-total", measure="weighted")
    spec = replace(spec, weight_decimals=decimals)
    count = np.zeros(spec.shape, dtype=np.int64)
    weight = count.copy()
    count[: len(counts)], weight[: len(weights)] = counts, weights
    value = weight
    further: dict[str, object] = {}
    if sums is not None:
        value = np.zeros(spec.shape, dtype=np.int64)
        value[: len(sums)] = sums
        spec = replace(spec, measure=Measure.WEIGHTED_SUM, amount=INCOME)
        further["sums"] = (("income", value),)
        further["contributions"] = Contributions(
            amount=np.zeros((*spec.shape, 0), dtype=np.int64),
            contributors=np.where(value != 0, count, 0),
            contributor_key=np.zeros(spec.shape, dtype=np.uint32),
        )
    replicates = [np.zeros(spec.shape, dtype=np.int64) for _ in range(REPLICATES)]
    for number, group in enumerate(groups or []):
        replicates[number][: len(group)] = group
    if groups is None:
        replicates = [value // REPLICATES for _ in range(REPLICATES)]
        replicates[0] = value - (REPLICATES - 1) * (value // REPLICATES)
    keys = np.zeros(spec.shape, dtype=np.uint32)
    values = Accumulators(count, keys, weight, replicates=tuple(replicates), **further)  # type: ignore[arg-type]
    return Cube(spec, ORIGIN, values)


# ------------------------------------------------------------------------------------- rounding


def test_bounded_by_half_the_base() -> None:
    cube = island_sample()
    assert cube.weight is not None
    for base in (2, 7, 10, 100):
        table = published(lenient(base, minimum_cases=1), cube)
        shown = table.flags is None or table.flags == 0
        off = np.abs(100 * table.published - cube.weight)[shown]
        assert off.max() <= 50 * base
        assert not (table.published % base).any()
    assert (off > 0).any()


def test_half_goes_to_the_even_multiple_and_every_value_is_rounded_once() -> None:
    # 149.99 is 150 as a whole number, and would be 200 if it were rounded again.
    cube = cells([9] * 6, [1500, 2500, 2499, 14999, 15000, 15001])
    table = published(lenient(10), cube)
    assert table.published[:6].tolist() == [20, 20, 20, 150, 150, 150]
    table = published(lenient(100), cube)
    assert table.published[3:6].tolist() == [100, 200, 200]


def test_sums_are_rounded_in_their_unit_and_may_be_negative() -> None:
    cube = cells([9] * 4, [9000] * 4, sums=[123_456, -123_456, -50_000, -50_001])
    table = published(lenient(1000), cube)
    assert table.spec.decimals == 2
    assert table.published[:4].tolist() == [100_000, -100_000, 0, -100_000]


def test_zeros_kept() -> None:
    cube = island_sample(200, "area", "sex", "age", "married")
    assert (cube.count == 0).any()
    table = published(SampleRounding(), cube)
    assert table.flags is not None
    assert not table.flags[cube.count == 0].any()
    assert not table.published[cube.count == 0].any()


def test_withheld_zeros_look_like_few_cases() -> None:
    cube = island_sample(200, "area", "sex", "age", "married")
    table = published(SampleRounding(zeros="withhold"), cube)
    assert table.flags is not None
    assert (table.flags[cube.count < 3] == Mark.UNRELIABLE).all()


def test_consistent_in_every_table() -> None:
    census = island(1200)
    method = SampleRounding()
    fine = census.tabulate("area@district", "sex", measure="weighted", replicates=True)
    coarse = census.tabulate("sex", measure="weighted", replicates=True)
    one, two = method.protect(fine).table.whole(), method.protect(coarse).table.whole()
    assert one.published[-1].tolist() == two.published.tolist()
    assert one._beside()[-1].tolist() == two._beside().tolist()


def test_differencing_gives_a_weight_to_within_the_base() -> None:
    """Of somebody who is in one cell and not in the other no more is seen than his weight."""
    census = island(2_000)
    method = lenient()
    everybody = census.tabulate("sex", measure="weighted", replicates=True)
    for least in range(1, 10):
        universe = f"age >= {least}"
        some = census.tabulate("sex", measure="weighted", universe=universe, replicates=True)
        shown = method.protect(everybody).table.whole().published
        less = method.protect(some).table.whole().published
        assert everybody.values.weight is not None
        assert some.values.weight is not None
        weight = everybody.values.weight - some.values.weight
        assert (np.abs(100 * (shown - less) - weight) <= 100 * 10).all()


# ------------------------------------------------------------------------- what is not shown


def test_too_few_cases_have_a_sign_whatever_they_stand_for() -> None:
    cube = cells([1, 2, 3, 4], [100_000, 200_000, 300_000, 400_001])
    for least in (1, 3, 4):
        table = published(lenient(minimum_cases=least), cube)
        flags = [0] * 10 if table.flags is None else table.flags.tolist()
        assert [bool(flag) for flag in flags[:4]] == [count < least for count in (1, 2, 3, 4)]


def test_a_sum_to_which_nobody_adds_is_not_shown_as_zero() -> None:
    """It would say of everybody who was asked that he has no income."""
    cube = cells([9, 9], [9000, 9000], sums=[0, 100_000])
    table = published(lenient(1000), cube)
    assert table.flags is not None
    assert table.flags[:3].tolist() == [Mark.UNRELIABLE, Mark.NONE, Mark.NONE]


def test_records_that_stand_for_themselves_are_not_shown() -> None:
    """A part of the census in which everybody was asked is protected by no sample."""
    cube = cells([20, 20, 500], [2000, 2900, 500_000])
    table = published(lenient(), cube)
    assert table.flags is not None
    assert table.flags[:3].tolist() == [Mark.UNRELIABLE, Mark.UNRELIABLE, Mark.NONE]


@pytest.mark.parametrize("measure", ["count", "sum"])
def test_tables_of_records_are_refused(measure: str) -> None:
    cube = island(50).tabulate("sex").held_for("a test")
    if measure == "sum":
        spec = replace(cube.spec, measure=Measure.SUM, amount=INCOME)
        values = Accumulators(cube.count, cube.key, sums=(("income", cube.count),))
        cube = Cube(spec, cube.origin, values)
    with pytest.raises(Refused, match="for estimates of a weighted sample"):
        SampleRounding(10).protect(cube)


def test_a_full_count_is_refused() -> None:
    cube = cells([900, 800], [90_000, 81_000])
    with pytest.raises(Refused, match=r"stand for fewer than 1\.5 each"):
        SampleRounding().protect(cube)


def test_weights_that_are_all_the_same_need_twice_their_base() -> None:
    """A count of 37 records that all stand for 10 would be published as 370."""
    cube = cells([37, 51], [37_000, 51_000])
    with pytest.raises(Refused, match="all records have the same weight"):
        SampleRounding().protect(cube)
    with pytest.raises(Refused, match="all records have the same weight"):
        SampleRounding(19).protect(cube)
    SampleRounding(20).protect(cube)
    SampleRounding().protect(cells([37, 51], [37_000, 51_010]))


def test_what_is_missing_is_said() -> None:
    bare = island(900).tabulate("sex", measure="weighted")
    with pytest.raises(SpecError, match=r"replicates=method\.needs_replicates"):
        SampleRounding().protect(bare)
    with pytest.raises(SpecError, match=r"has to be said, in the unit of 'income' \(XCD\)"):
        SampleRounding().protect(cells([9], [9000], sums=[100]))


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"base": 0}, "The base of rounding is a whole number from 2"),
        ({"base": 1}, "The base of rounding is a whole number from 2"),
        ({"base": 2.5}, "The base of rounding is a whole number from 2"),
        ({"minimum_cases": 0}, "The smallest number of cases"),
        ({"brackets_above": 0.2}, "The limits of relative standard errors ascend"),
        ({"moderate_above": -0.1}, "moderate_above is between 0 and 1"),
        ({"zeros": "hide"}, "treatment of zeros"),
    ],
)
def test_bad_settings(said: dict[str, float], match: str) -> None:
    with pytest.raises(SpecError, match=match):
        SampleRounding(**said)  # type: ignore[arg-type]


def test_zero_weights_are_not_shown() -> None:
    table = published(lenient(), cells([9, 200], [0, 200_000]))
    assert table.flags is not None
    assert table.flags[0] == Mark.UNRELIABLE


def test_an_empty_table_is_all_zeros() -> None:
    table = published(SampleRounding(), cells([], []))
    assert not table.published.any()
    assert table.flags is None


# -------------------------------------------------------------------------------------- classes


def of_error(share: float, *, weight: int = 10_000) -> Cube:
    """A cell of 100,000 whose groups differ so that its relative standard error is a share.

    Half of the groups lie above their mean and half below it: with the deviation d the variance is
    G / (G - 1) * G * d**2. Of the 10,000 records none stands for itself alone.
    """
    value = 6_000_000
    deviation = share * value * (REPLICATES - 1) ** 0.5 / REPLICATES
    mean = value // REPLICATES
    above = round(deviation)
    groups = [[mean + (above if number % 2 else -above)] for number in range(REPLICATES)]
    return cells([weight], [value], decimals=0, groups=groups)


@pytest.mark.parametrize(
    ("share", "mark"),
    [
        (0.049, Mark.NONE),
        (0.051, Mark.MODERATE_ERROR),
        (0.099, Mark.MODERATE_ERROR),
        (0.101, Mark.LOW_RELIABILITY),
        (0.149, Mark.LOW_RELIABILITY),
        (0.151, Mark.UNRELIABLE),
        (0.9, Mark.UNRELIABLE),
    ],
)
def test_the_class_of_an_error_is_that_of_the_limits(share: float, mark: Mark) -> None:
    marks = published(SampleRounding(), of_error(share, weight=1_000)).marks
    assert (Mark.NONE if marks is None else Mark(int(marks[0]))) is mark


def test_a_sample_of_half_has_the_error_of_half_the_variance() -> None:
    # The variance is halved: 0.06 is 0.0424.
    assert published(SampleRounding(), of_error(0.06, weight=3_000_000)).marks is None
    marks = published(SampleRounding(), of_error(0.075, weight=3_000_000)).marks
    assert marks is not None
    assert marks[0] == Mark.MODERATE_ERROR


def test_an_exact_example_by_hand() -> None:
    """Groups of 30, 50 and 40 and nothing else: 120 of 57 empty groups and three.

    The mean is 2; the squares are 28² + 48² + 38² + 57 · 2² = 4,760, times 60/59 is 4,840.68. With
    12 of 120 in the sample nine tenths of it: 4,356.6, whose root is 66.005, which is 55.004 % of
    120.
    """
    cube = cells([12], [120], decimals=0, groups=[[30], [50], [40]])

    def mark(limit: float) -> int:
        limits = {"moderate_above": 0, "brackets_above": 0, "withheld_above": limit}
        table = published(SampleRounding(**limits), cube)  # type: ignore[arg-type]
        return int(table.marks[0])  # type: ignore[index]

    assert mark(0.55003) == Mark.UNRELIABLE
    assert mark(0.55005) == Mark.LOW_RELIABILITY


@given(
    shares=st.lists(st.integers(0, 10**6), min_size=3, max_size=200),
    largest=st.integers(1, 10**7),
)
def test_no_household_is_more_than_a_sixth_of_a_shown_sum(shares: list[int], largest: int) -> None:
    """Whoever is dominant makes the error large: of groups that add up no other case exists.

    A household with the share s of a sum of amounts that are not negative is in a group with at
    least that share. The variance is then at least ``(G / (G - 1))**2 (s - 1/G)**2`` of the square
    of the sum, less what the sample is of all.
    """
    households = np.array([largest, *shares], dtype=np.int64)
    total = int(households.sum())
    groups = [[int(households[number::REPLICATES].sum())] for number in range(REPLICATES)]
    count = households.size
    cube = cells([count], [1000 * count], groups=groups, sums=[total])
    table = published(SampleRounding(10), cube)
    share = int(households.max()) / total
    limit = 0.15 / 0.9**0.5 * (REPLICATES - 1) / REPLICATES + 1 / REPLICATES
    if share > limit + 1e-4:
        assert table.flags is not None
        assert table.flags[0] == Mark.UNRELIABLE


def test_marks_of_a_spec_survive_only_beside_numbers() -> None:
    spec: TableSpec = island(2).spec("sex-total")
    published = np.array([10, 0])
    flags = np.array([0, Mark.WITHHELD], dtype=np.uint8)
    beside = np.array([Mark.LOW_RELIABILITY] * 2, dtype=np.uint8)
    table = Table(spec, published, flags, beside=beside)
    assert table.marks is not None
    assert table.marks.tolist() == [Mark.LOW_RELIABILITY, Mark.WITHHELD]
    assert table.columns()["published"] == [10, None]
    assert table.columns()["flag"] == ["( )", "c"]
    with pytest.raises(SpecError, match="how far it can be relied on"):
        Table(spec, published, beside=np.array([0, Mark.WITHHELD], dtype=np.uint8))
