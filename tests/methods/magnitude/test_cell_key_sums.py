"""The cell key method for sums: what it claims, its settings, and what it refuses."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import Refused, SecretError, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.magnitude.magnitude_functions import SmallSeparation
from sdcensus.methods.magnitude.numeric_tables import NumericTable, design_numeric_table
from sdcensus.methods.perturbation.schemes import strength
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube, assemble
from sdcensus.model.perturbation.design import DesignRow
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.testing.island import SECRET, island_cube
from tests.methods.magnitude.incomes import by_hand, income_census, income_cube

PLAIN = CellKeySums(secret=SECRET)
TABLE = design_numeric_table(3, 1.0, 4)
METHODS = {
    "plain": PLAIN,
    "three contributions": CellKeySums(contribution_shares=(1, 0.5, 0.3), secret=SECRET),
    "flexible": CellKeySums(noise_share=0.2, large_share=0.03, flex_point=500, secret=SECRET),
    "mean": CellKeySums(measured_by="mean", secret=SECRET),
    "range": CellKeySums(measured_by="range", secret=SECRET),
    "sum": CellKeySums(measured_by="sum", secret=SECRET),
    "small values apart": CellKeySums(small_values=True, secret=SECRET),
    "parity": CellKeySums(odd_variance=2, secret=SECRET),
    "extra noise": CellKeySums(
        extra_noise=1, sensitive_below=3, sensitive_remainder=10, secret=SECRET
    ),
    "the key of the count": CellKeySums(same_key=True, secret=SECRET),
    "zeros in the key": CellKeySums(zeros_in_key=True, secret=SECRET),
    "hashed": CellKeySums(key_derivation="hashed", secret=SECRET),
}
CASES = [pytest.param(method, id=name) for name, method in METHODS.items()]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
BY = ("area@parish+district", "sex", "age@class")


def published(method: CellKeySums, cube: AnyCube) -> Int64:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table.published


def true(cube: Cube) -> Int64:
    return cube.values.sum_of("income")


def deviations(method: CellKeySums, contributions: list[int], cells: int = 200_000) -> Float64:
    """What is added to many cells of the same contributions, as shares of the largest."""
    cube = by_hand([contributions], [0])
    at = np.zeros(cells, dtype=np.int64)
    values = cube.values.map(lambda array: array[at])
    keys = np.random.default_rng(5).integers(0, 2**32, cells, dtype=np.uint64).astype(np.uint32)
    known = values.contributions
    assert known is not None
    values = replace(values, key=keys, contributions=replace(known, contributor_key=keys))
    # Cells of many keys have no places in a table, and so no definitions.
    hashed = replace(method, key_derivation="hashed")
    outcome = hashed.publish(values, cube.spec, cube.origin)
    return (outcome.published - sum(contributions)) / max(map(abs, contributions))


# --------------------------------------------------------------------------------------- claims


@pytest.mark.parametrize("method", CASES)
def test_every_claim_has_a_test_of_its_name(method: CellKeySums) -> None:
    tests = re.findall(r"def (test_\w+)", Path(__file__).read_text(encoding="utf-8"))
    for claim in set(method.claims().names()) - {"for_publication"}:
        assert [name for name in tests if claim in name], claim


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("method", CASES)
def test_zeros_kept_and_signs_too(method: CellKeySums, signed: bool) -> None:
    cube = income_cube(*BY, people=60, signed=signed)
    before, after = true(cube), published(method, cube)
    assert (before == 0).any()
    assert not after[before == 0].any()
    assert (np.sign(after) * np.sign(before) >= 0).all()
    assert (after != before).any()


@pytest.mark.parametrize("method", CASES)
def test_consistent_between_tables_filters_and_orders_of_axes(method: CellKeySums) -> None:
    census = income_census(150)
    large = census.tabulate(*BY, measure="sum(income)")
    turned = census.tabulate(*reversed(BY), measure="sum(income)")
    small = census.tabulate("area@district", measure="sum(income)")
    filtered = census.tabulate(
        "age@class", universe="sex == 1 and area@district == 'D2'", measure="sum(income)"
    )
    for cube in (large, turned, small, filtered):
        assert isinstance(cube, Cube)
    whole = method.protect(large).table
    assert isinstance(whole, Table)
    assert (whole.published == published(method, turned).transpose(2, 1, 0)).all()
    districts, part = method.protect(small).table, method.protect(filtered).table
    assert isinstance(districts, Table)
    assert isinstance(part, Table)
    for district in ("D0", "D1", "D2", "_T"):
        assert whole.value(area=district) == districts.value(area=district)
    for age in ("c0", "c1", "c2", "_T"):
        assert part.value(age=age) == whole.value(area="D2", sex="1", age=age)


def test_by_definition_two_questions_about_the_same_people_have_noise_of_their_own() -> None:
    """Parish 6 is the whole of district 2; only set keys publish one number for both."""
    cube = income_cube("area@parish+district", "sex", "age@class")
    parish, district = cube.spec.axis("area").position("P6"), cube.spec.axis("area").position("D2")
    assert (true(cube)[parish] == true(cube)[district]).all()
    own = published(PLAIN, cube)
    assert (own[parish] == own[district]).all()  # the same leaves are the same question
    rents = income_cube(*BY, measure="sum(rent)")
    changes = own - true(cube), published(PLAIN, rents) - rents.values.sum_of("rent")
    agree = np.corrcoef([np.sign(change).ravel() for change in changes])[0, 1]
    assert abs(agree) < 0.35
    set_keys = METHODS["hashed"]
    changes = (
        published(set_keys, cube) - true(cube),
        published(set_keys, rents) - rents.values.sum_of("rent"),
    )
    assert np.corrcoef([np.sign(change).ravel() for change in changes])[0, 1] > 0.9


@pytest.mark.parametrize(
    ("method", "contributions"),
    [
        (PLAIN, [1_000_000, 400_000, 100_000]),
        (PLAIN, [3]),
        (METHODS["three contributions"], [900_001, -300_000, 7]),
        (METHODS["small values apart"], [2, 1]),
        (METHODS["sum"], [77, 13]),
    ],
)
def test_unbiased(method: CellKeySums, contributions: list[int]) -> None:
    """Also where amounts are so small that rounding would add up, and where signs differ."""
    shares = deviations(method, contributions)
    error = shares.std() / np.sqrt(shares.size)
    assert abs(shares.mean()) < 4 * error
    assert abs((shares + 8 * error).mean()) > 4 * error  # a near miss would be noticed


def test_distribution_is_that_of_the_table_times_the_share() -> None:
    shares = deviations(PLAIN, [10**8] * 10) * 10  # a tenth of the largest, above every anchor
    deviations_of_row, widths = TABLE.widths()[-1]
    values = np.array(deviations_of_row) / TABLE.step
    expected = np.array(widths) / 2**32 * shares.size
    half = 0.5 / TABLE.step  # deviations are spread over their step of the grid
    observed = np.array([(np.abs(shares - value) < half).sum() for value in values])
    assert observed.sum() >= shares.size - 2
    within = (shares * TABLE.step + 0.5) % 1
    spread = np.histogram(within, bins=20, range=(0, 1))[0]
    assert ((spread - shares.size / 20) ** 2 / (shares.size / 20)).sum() < 60
    assert ((observed - expected) ** 2 / expected).sum() < 60  # of 24 degrees of freedom
    near_miss = design_numeric_table(3, 1.05, 4).widths()[-1][1]
    wrong = np.array(near_miss) / 2**32 * shares.size
    assert ((observed - wrong) ** 2 / wrong).sum() > 120
    variance = float(TABLE.last_variance) + 1 / (12 * TABLE.step**2)
    assert shares.var() == pytest.approx(variance, rel=0.01)


def test_distribution_of_several_contributions_has_the_sum_of_their_variances() -> None:
    method = METHODS["three contributions"]
    shares = deviations(method, [10**8] * 10)
    assert shares.var() == pytest.approx(0.01 * 1.34, rel=0.02)  # E = 1 + .25 + .09


def test_takes_sparse() -> None:
    dense = income_cube(*BY, people=150)
    base = income_cube("area-total", "sex-total", "age@class-total", people=150)
    cells = base.spec.cells
    filled = base.count.ravel() > 0
    arrays = {
        name: array.reshape(cells, *array.shape[3:])[filled]
        for name, array, _ in base.values.parts(base.origin.key_space)
    }
    numbers = np.flatnonzero(filled).astype(np.uint64)
    sparse = assemble(dense.spec, dense.origin, numbers, arrays, largest_dense=1)
    assert isinstance(sparse, SparseCube)
    for name in ("plain", "three contributions", "extra noise", "range"):
        table = METHODS[name].protect(sparse).table
        assert isinstance(table, SparseTable)
        spread = np.zeros(dense.shape, dtype=np.int64)
        spread[tuple(table.positions())] = table.published
        assert (spread == published(METHODS[name], dense)).all()


# ------------------------------------------------------------------------------ what it publishes


def test_the_example_of_the_handbook() -> None:
    rows = [DesignRow((0,), (1.0,)), DesignRow((-1, 0, 1), (0.1, 0.8, 0.1)),
            DesignRow((-1, 0, 1), (0.3, 0.4, 0.3))]  # fmt: skip
    fictional = NumericTable((1, 2, 3), tuple(rows))
    cube = by_hand([[200, 60, 40]], [8], key_space=KeySpace.from_decimals(1))
    for share, expected in ((0.5, 400), (0.6, 360)):
        method = CellKeySums(
            noise_share=share, table=fictional, key_derivation="rotated", same_key=True
        )
        assert published(method, cube)[0] == expected


def test_a_sum_that_is_moved_below_zero_stops_there() -> None:
    """Extra noise can take more than there is: the sign is kept."""
    method = CellKeySums(extra_noise=50, sensitive_below=3, secret=SECRET)
    cube = by_hand([[1_000]] * 10, list(range(10)))
    values = published(method, cube)
    assert values.min() == 0
    assert values.max() >= 2_000


def test_extra_noise_moves_sensitive_cells_and_no_others() -> None:
    cube = by_hand([[1_000, 900, 5], [1_000, 900, 800, 700]], [7, 7])
    rules: list[dict[str, Any]] = [
        {"sensitive_below": 4},
        {"sensitive_remainder": 10},
        {"sensitive_dominance": "2, 85"},
    ]
    for rule in rules:
        with_extra = CellKeySums(extra_noise=1, **rule, secret=SECRET)
        assert abs(published(with_extra, cube)[0] - 1_905) >= 100
        assert published(with_extra, cube)[1] == published(PLAIN, cube)[1]


def test_small_values_are_apart_below_the_size_where_both_kinds_of_noise_are_alike() -> None:
    """With shares 1, .5 and .3 the sum of squares is 1.34; the bound is 1 / (.2 sqrt(1.34))."""
    shares = tuple(int(part * 10**9) for part in (1, Fraction(1, 2), Fraction(3, 10)))
    small = SmallSeparation(design_numeric_table(3, 1.0))
    ready = small.ready(2, 200_000_000, shares)
    bound = 100 * float(small.table.last_variance) ** 0.5 / (0.2 * 1.34**0.5)
    assert int(ready.below) == np.ceil(bound)
    assert [int(one) for one in ready.restart_below] == [
        np.ceil(bound * 0.2 * share) for share in (1, 0.5, 0.3)
    ]
    # One unit is 100 last decimals, whatever the contribution.
    method = CellKeySums(noise_share=0.2, small_values=True, secret=SECRET)
    cube = by_hand([[499], [350, 2], [120]], [1, 2, 3], decimals=2)
    assert {int(change) % 100 for change in published(method, cube)[:3] - true(cube)[:3]} == {0}


def test_parity_gives_odd_numbers_of_contributors_another_table() -> None:
    odd, even = [400] * 3, [400] * 4
    method = CellKeySums(odd_variance=4, secret=SECRET)
    assert deviations(method, odd).var() > 2 * deviations(method, even).var()


def test_noise_by_mean_range_and_sum() -> None:
    contributions = [10_000_000, 4_000_000, 1_000_000]
    spread = {
        name: deviations(METHODS[name], contributions).std() * 10_000_000
        for name in ("mean", "range", "sum")
    }
    assert spread["mean"] == pytest.approx(0.1 * 5_000_000, rel=0.02)
    assert spread["range"] == pytest.approx(0.1 * 9_000_000, rel=0.02)
    assert spread["sum"] == pytest.approx(0.1 * 15_000_000, rel=0.02)
    alike = deviations(METHODS["range"], [10_000_000] * 3)
    assert alike.std() == pytest.approx(0.1, rel=0.02)  # the largest takes the place of no range


def test_the_key_of_the_count_is_looked_up_for_the_largest_contribution() -> None:
    cube = income_cube("area", "sex")
    counts = income_census().tabulate("area", "sex")
    same = METHODS["the key of the count"]
    numbers = np.arange(cube.spec.cells, dtype=np.uint64)
    of_counts = CellKey(strength("medium"), SECRET, "definition").protect(counts).audit
    of_sums = replace(same, zeros_in_key=True).protect(cube).audit
    assert of_counts.effective_keys is not None
    assert of_sums.effective_keys is not None
    key = cube.key.ravel()
    assert (of_sums.effective_keys(key, numbers) == of_counts.effective_keys(key, numbers)).all()
    own = PLAIN.protect(cube).audit
    assert own.keys_of_contributors
    assert own.effective_keys is not None
    assert (own.effective_keys(key, numbers) != of_counts.effective_keys(key, numbers)).all()


def test_records_of_nothing_take_part_in_the_key_only_if_asked() -> None:
    first, second = by_hand([[50, 3]], [9]), by_hand([[50, 3]], [9])
    another = replace(second, values=replace(second.values, key=second.values.key + np.uint32(5)))
    assert published(PLAIN, first)[0] == published(PLAIN, another)[0]
    drawn = METHODS["zeros in the key"]
    pairs = [
        published(drawn, by_hand([[5_000, 3]], [key]))[0]
        != published(
            drawn,
            replace(
                (cube := by_hand([[5_000, 3]], [key])),
                values=replace(cube.values, key=cube.values.key + np.uint32(5)),
            ),
        )[0]
        for key in range(8)
    ]
    assert any(pairs)


def residues(method: CellKeySums, modulus: int, **options: Any) -> Int64:
    """What published sums are more than round numbers, where all amounts are round ones."""
    draw = np.random.default_rng(8)
    cells = [(draw.integers(40, 900, 12) * modulus).tolist() for _ in range(9)]
    rests = []
    for _ in range(60):
        cube = by_hand(cells, draw.integers(0, 10**6, 9).tolist(), **options)
        rests.append(published(method, cube)[:9] % modulus)
    return np.concatenate(rests)


def test_last_digits_of_sums_of_round_amounts_tell_no_noise() -> None:
    """Amounts are multiples of 1,000, and noise a multiple of a fortieth of the largest.

    On the grid of the table, as other programs draw it, that leaves multiples of 25: what is left
    over tells the deviation times the largest amount. Spread over its step nothing is left of
    that, and rounded sums have no such digits.
    """
    on_grid = CellKeySums(key_derivation="rotated")
    decimal = KeySpace.from_decimals(6)
    assert not (residues(on_grid, 1_000, key_space=decimal) % 25).any()
    digits = np.histogram(residues(PLAIN, 1_000), bins=10, range=(0, 1_000))[0]
    assert ((digits - 54) ** 2 / 54).sum() < 35
    rounded = replace(PLAIN, rounded_to=1_000)
    assert not residues(rounded, 1_000).any()


@pytest.mark.parametrize("base", [7, 1_000])
def test_unbiased_when_rounded(base: int) -> None:
    method = CellKeySums(rounded_to=base, secret=SECRET)
    shares = deviations(method, [2_000, 1_500, 300])
    assert abs(shares.mean()) < 4 * shares.std() / np.sqrt(shares.size)
    cube = by_hand([[2_000, 1_500, 300], [], [5]], [1, 2, 3], decimals=1)
    values = published(method, cube)
    assert not (values % (base * 10)).any()
    assert values[1] == 0


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"rounded_to": 2.5}, "rounded to is 2.5, and the amount has no decimals"),
        ({"small_values": True, "small_unit": 0.5}, "unit of small values is 0.5"),
        ({"large_share": 0.05, "flex_point": 99.5}, "flex point is 99.5"),
    ],
    ids=str,
)
def test_sizes_of_more_decimals_than_the_amount_are_refused(
    settings: dict[str, Any], reason: str
) -> None:
    method = CellKeySums(secret=SECRET, **settings)
    with pytest.raises(SpecError, match=reason):
        method.protect(by_hand([[50, 3]], [9]))
    method.protect(by_hand([[50, 3]], [9], decimals=1))


def test_a_plain_and_a_weighted_sum_have_noise_of_their_own() -> None:
    """With one for both, who knows two weights takes it off and has what the second one gives.

    The weights of two contributors are 2 and 5: the weighted sum less twice the plain one is three
    times what the second has, exactly, if the noise of both is one draw.
    """
    plain = income_cube(*BY)
    weighted = income_cube(*BY, measure="weighted-sum(income)")
    shares = []
    for cube in (plain, weighted):
        known = cube.values.contributions
        assert known is not None
        largest = np.maximum(np.abs(known.amount[..., 0]), 1)
        shares.append(((published(PLAIN, cube) - true(cube)) / largest)[known.contributors > 0])
    plain_share, weighted_share = shares
    together = plain_share @ weighted_share
    assert (
        abs(together) < 0.3 * (plain_share @ plain_share * (weighted_share @ weighted_share)) ** 0.5
    )
    hashed = METHODS["hashed"]
    cells = [by_hand([[amount * 2, 500 * factor]], [7]) for amount, factor in ((900, 1), (1800, 5))]
    first, second = (int(published(hashed, cell)[0]) for cell in cells)
    assert abs(second - 2 * first - 3 * 500) <= 3  # what set keys let him have


def test_weighted_sums() -> None:
    cube = income_cube(*BY, measure="weighted-sum(income)")
    before, after = true(cube), published(PLAIN, cube)
    known = cube.values.contributions
    assert known is not None
    largest = np.abs(known.amount[..., 0])
    # The largest deviation is 3, spread over a step of a quarter.
    assert (np.abs(after - before) <= 0.1 * 3.125 * largest + 1).all()
    assert (after != before).any()


def test_another_version_of_keys_is_another_series() -> None:
    cube = income_cube(*BY)
    assert (published(PLAIN, cube) != published(replace(PLAIN, key_version=2), cube)).any()
    space = KeySpace.from_decimals(6)
    census = income_census(key_space=space)
    decimal = census.tabulate(*BY, measure="sum(income)")
    assert isinstance(decimal, Cube)
    rotated = CellKeySums(key_derivation="rotated", secret=SECRET)
    again = replace(rotated, key_version=2)
    assert (published(rotated, decimal) != published(again, decimal)).any()


def test_the_fingerprint_tells_parameters_apart_and_shows_none() -> None:
    cube = income_cube("sex")
    prints = {name: method.provenance(cube).fingerprint for name, method in METHODS.items()}
    assert len(set(prints.values())) == len(METHODS)
    assert "0.1" not in repr(PLAIN)
    assert "confidential" in repr(PLAIN)


def test_needs_of_contributions() -> None:
    assert PLAIN.needs_contributions == ContributionNeeds(
        largest=1, keys=False, waivers=False, spread=False, absolute=False
    )
    for method in METHODS.values():
        cube = income_census(100).tabulate(
            *BY, measure="sum(income)", contributions=method.needs_contributions
        )
        everything = income_cube(*BY, people=100)
        assert isinstance(cube, Cube)
        assert (published(method, cube) == published(method, everything)).all()


# --------------------------------------------------------------------------------------- refusals


def test_counts_and_methods_of_counts_are_told_apart() -> None:
    with pytest.raises(SpecError, match="is for sums of amounts"):
        PLAIN.protect(island_cube("sex"))
    with pytest.raises(Refused, match="'cell-key-sums'"):
        CellKey(strength("medium"), SECRET).protect(income_cube("sex"))


@pytest.mark.parametrize(
    ("method", "lacking", "reason"),
    [
        (PLAIN, {"largest": 0}, "1 largest"),
        (METHODS["three contributions"], {"largest": 2}, "3 largest"),
        (METHODS["range"], {"spread": False}, "smallest and largest"),
        (METHODS["mean"], {"absolute": False}, "without their signs"),
        (METHODS["extra noise"], {"absolute": False}, "without their signs"),
    ],
)
def test_a_table_without_its_contributions_is_refused(
    method: CellKeySums, lacking: dict[str, Any], reason: str
) -> None:
    """Fewer contributions than a method looks at would be read beyond their list."""
    needs = replace(ContributionNeeds(), **lacking)
    cube = income_census(50).tabulate("sex", measure="sum(income)", contributions=needs)
    with pytest.raises(SpecError, match=f"without its .*{reason}"):
        method.protect(cube)
    whole = income_cube("sex")
    bare = replace(whole, values=replace(whole.values, contributions=None))
    with pytest.raises(SpecError, match="without its contributions"):
        method.protect(bare)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"contribution_shares": (1, 0.5, 0.6)}, "none larger than the one before"),
        ({"contribution_shares": "1, , 2"}, "numbers with commas"),
        ({"contribution_shares": (0.5,)}, "largest contribution is 1"),
        ({"contribution_shares": (1,) * 7}, "1 to 6 numbers"),
        ({"contribution_shares": (1, 0.5), "measured_by": "mean"}, "Several contributions"),
        ({"contribution_shares": (1, 0.5), "odd_variance": 2}, "one contribution counts"),
        ({"noise_share": 0}, "above 0"),
        ({"noise_share": 0.12345678901}, "nine decimals"),
        ({"large_share": 0.03}, "flex point"),
        ({"large_share": 0.2, "flex_point": 5}, "not above that of small ones"),
        ({"large_share": 0.03, "flex_point": 0}, "The flex point is above 0"),
        ({"large_share": 0.03, "flex_point": 5, "power": 1}, "rises to that share plus twice"),
        ({"anchors": "1, two"}, "whole numbers with commas"),
        ({"anchors": (1, 2)}, "from 1 to the largest deviation, 3"),
        ({"step": 17}, "the step is 16 at most"),
        ({"extra_noise": 1}, "belong together"),
        ({"sensitive_below": 3}, "belong together"),
        ({"extra_noise": 1, "sensitive_below": 1}, "2 or more"),
        ({"extra_noise": 1, "sensitive_remainder": 101}, "100 at most"),
        ({"extra_noise": 1, "sensitive_dominance": "2"}, "a number and a percentage"),
        ({"extra_noise": 1, "sensitive_dominance": "2, 100"}, "to below 100"),
        ({"extra_noise": 1, "sensitive_dominance": "7, 85"}, "1 to 6 of the largest"),
        ({"small_values": True, "small_unit": 0}, "above 0"),
        ({"measured_by": "median"}, "measure of noise"),
        ({"measured_by": None}, "measure of noise"),
        ({"rounded_to": 0}, "above 0"),
        ({"rounded_to": "1e999999999"}, "is a number, not"),  # which would fill the memory
        ({"flex_point": "1e-999999999", "large_share": 0.1}, "is a number, not"),
        ({"table_variance": -1}, "above 0 and below 9, .* not -1"),
        ({"table_variance": "x"}, "a number, not 'x'"),
        ({"small_values": True, "small_variance": 9}, "below 9"),
        ({"same_key": "yes"}, "True or False"),
        ({"table": 5}, "NumericTable"),
        ({"max_deviation": 1, "table_variance": 1}, "below 1, the square"),
        ({"odd_variance": 1.0}, "odd_variance has no effect"),
        ({"power": 3}, "power has no effect without flex_point"),
        ({"small_unit": 10}, "small_unit has no effect without small_values"),
        ({"small_variance": 2}, "small_variance has no effect"),
        ({"small_deviation": 2}, "small_deviation has no effect"),
        ({"small_table": TABLE}, "small_table has no effect"),
        ({"table": TABLE, "step": 2}, "step has no effect beside table"),
        ({"table": TABLE, "table_variance": 2}, "table_variance has no effect beside table"),
        ({"odd_table": TABLE, "odd_variance": 2}, "odd_variance has no effect beside odd_table"),
        ({"small_values": 1}, "True or False"),
        ({"same_key": "no"}, "True or False"),
    ],
)
def test_settings_that_do_not_fit_or_have_no_effect_are_refused(
    settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(SpecError, match=reason):
        CellKeySums(secret=SECRET, **settings)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"large_share": 0.05, "flex_point": 1e300}, "The flex point is larger than any amount"),
        ({"small_values": True, "small_unit": 1e30}, "larger than any amount"),
        ({"rounded_to": 1e300}, "larger than any amount"),
        ({"rounded_to": 0.0015}, "rounded to is 0.0015, and the amount has 2 decimals"),
    ],
)
def test_sizes_that_no_amount_has_are_refused(settings: dict[str, Any], reason: str) -> None:
    """Only with a table it is known how many decimals its amounts have."""
    with pytest.raises(SpecError, match=reason):
        CellKeySums(secret=SECRET, **settings).protect(income_cube("sex"))


def test_a_secret_and_decimal_keys_where_they_are_needed() -> None:
    with pytest.raises(SecretError, match="office secret"):
        CellKeySums()
    with pytest.raises(SecretError, match="Version 2 of the keys"):
        CellKeySums(key_derivation="rotated", key_version=2)
    with pytest.raises(SpecError, match="Only decimal keys can be rotated"):
        CellKeySums(key_derivation="rotated").protect(income_cube("sex"))
