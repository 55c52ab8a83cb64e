"""Top contributors: each moves the same way everywhere, by its own key."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.magnitude.contributor_noise import TopNoise, publish_top, scale_table
from sdcensus.kernels.perturbation.lookup import frozen
from sdcensus.methods.magnitude.abs_top import AbsTopContributors
from sdcensus.methods.magnitude.contributor_method import ContributorMethod
from sdcensus.methods.magnitude.layered import ExperimentalLayered
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.testing.island import SECRET
from tests.methods.magnitude.incomes import by_hand, income_census, income_cube

Int64 = npt.NDArray[np.int64]
BY = ("area@parish+district", "sex", "age@class")
PLAIN = AbsTopContributors(secret=SECRET)
#: What both methods claim is tested with both.
METHODS: list[ContributorMethod] = [PLAIN, ExperimentalLayered(secret=SECRET)]
UP, DOWN = 0x100, 0x000


def published(method: ContributorMethod, cube: Cube) -> Int64:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table.published


@pytest.mark.parametrize("method", METHODS)
def test_every_claim_has_a_test_of_its_name(method: ContributorMethod) -> None:
    tests = re.findall(r"def (test_\w+)", Path(__file__).read_text(encoding="utf-8"))
    for claim in set(method.claims().names()) - {"for_publication"}:
        assert [name for name in tests if claim in name], claim


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_zeros_kept_and_signs_too(method: ContributorMethod, signed: bool) -> None:
    cube = income_cube(*BY, people=60, signed=signed)
    before, after = cube.values.sum_of("income"), published(method, cube)
    assert not after[before == 0].any()
    assert (np.sign(after) * np.sign(before) >= 0).all()
    assert (after != before)[before != 0].mean() > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_consistent_between_tables(method: ContributorMethod) -> None:
    census = income_census(150)
    large = census.tabulate(*BY, measure="sum(income)")
    small = census.tabulate("area@district", measure="sum(income)")
    assert isinstance(large, Cube)
    assert isinstance(small, Cube)
    whole, districts = method.protect(large).table, method.protect(small).table
    assert isinstance(whole, Table)
    assert isinstance(districts, Table)
    for district in ("D0", "D1", "D2", "_T"):
        assert whole.value(area=district) == districts.value(area=district)


@pytest.mark.parametrize("method", METHODS)
def test_takes_sparse(method: ContributorMethod) -> None:
    dense = income_cube(*BY, people=150)
    base = income_cube("area-total", "sex-total", "age@class-total", people=150)
    filled = base.count.ravel() > 0
    arrays = {
        name: array.reshape(base.spec.cells, *array.shape[3:])[filled]
        for name, array, _ in base.values.parts(base.origin.key_space)
    }
    numbers = np.flatnonzero(filled).astype(np.uint64)
    sparse = assemble(dense.spec, dense.origin, numbers, arrays, largest_dense=1)
    assert isinstance(sparse, SparseCube)
    table = method.protect(sparse).table
    assert isinstance(table, SparseTable)
    spread = np.zeros(dense.shape, dtype=np.int64)
    spread[tuple(table.positions())] = table.published
    assert (spread == published(method, dense)).all()


@pytest.mark.parametrize("method", METHODS)
def test_what_is_needed_of_contributions_is_enough(method: ContributorMethod) -> None:
    needs = method.needs_contributions
    assert needs == ContributionNeeds(
        largest=method.largest, keys=True, waivers=False, spread=False, absolute=False
    )
    cube = income_census(100).tabulate(*BY, measure="sum(income)", contributions=needs)
    assert isinstance(cube, Cube)
    assert (published(method, cube) == published(method, income_cube(*BY, people=100))).all()
    keyless = replace(needs, keys=False)
    bare = income_census(100).tabulate(*BY, measure="sum(income)", contributions=keyless)
    with pytest.raises(SpecError, match="without its record keys"):
        method.protect(bare)


def test_an_example_worked_by_hand() -> None:
    """Magnitudes .6, .4, .2 with scales of 1: 1,000 up, 500 down, 100 up, 50 as it is."""
    scales = frozen(np.full((256, 40), 10**9, dtype=np.uint64))
    noise = TopNoise(frozen(np.array([6, 4, 2], dtype=np.uint64) * np.uint64(10**8)), scales)
    sizes = np.array([[1_000, 500, 100, 50, 0, 0], [1_000, -500, 100, 50, 0, 0]])
    own = np.array([[UP, DOWN, UP, DOWN, 0, 0]] * 2, dtype=np.uint32)
    key = np.array([5, 5], dtype=np.uint32)
    result = publish_top(sizes.sum(axis=1), sizes, own, np.array([4, 4]), key, noise)
    assert result.tolist() == [1_650 + 600 - 200 + 20, 650 + 600 + 200 + 20]


def test_rows_and_columns_of_the_table_of_scales() -> None:
    """The low 8 bits of the record key; the number of contributors, or 5 bits of the cell key."""
    scales = np.full((256, 34), 10**9, dtype=np.uint64)
    scales[7, 32] = 2 * 10**9  # one contributor
    scales[7, 5] = 3 * 10**9  # many, and a cell key that ends in 5
    noise = TopNoise(frozen(np.array([10**8], dtype=np.uint64)), frozen(scales))
    sizes = np.array([[1_000], [1_000], [1_000]])
    own = np.array([[UP | 7]] * 3, dtype=np.uint32)
    key = np.array([5, 0x20 | 5, 6], dtype=np.uint32)
    numbers = np.array([1, 3, 3])
    result = publish_top(np.array([1_000] * 3), sizes, own, numbers, key, noise)
    assert result.tolist() == [1_200, 1_300, 1_100]


def test_scales_are_uniform_around_one_within_their_spread() -> None:
    scales = (
        scale_table(bytes(range(16)), few=8, small_spread=300_000_000, large_spread=700_000_000)
        / 10**9
    )
    large, small = scales[:, :32], scales[:, 32:]
    assert scales.shape == (256, 40)
    assert 0.3 <= large.min() < 0.301
    assert 1.699 < large.max() <= 1.7
    assert 0.7 <= small.min() < 0.701
    assert 1.299 < small.max() <= 1.3
    for part, spread in ((large, 0.7), (small, 0.3)):
        error = spread / 3**0.5 / part.size**0.5
        assert abs(part.mean() - 1) < 4 * error
        assert part.var() == pytest.approx(spread**2 / 3, rel=0.05)
        assert abs(part.mean() - 1 - 0.1 * spread) > 4 * error


@given(
    st.lists(st.integers(-(10**9), 10**9).filter(bool), min_size=1, max_size=8),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)
def test_a_change_is_bounded_by_the_magnitudes(cell: list[int], key: int, own: int) -> None:
    keys = [(own * (at + 1)) % 2**32 for at in range(len(cell))]
    cube = by_hand([cell], [key], record_keys=[keys])
    result, total = int(published(PLAIN, cube)[0]), sum(cell)
    ranked = sorted(map(abs, cell), reverse=True)
    bound = sum(size * share * 1.7 for size, share in zip(ranked, (0.6, 0.4, 0.2), strict=False))
    assert abs(result - total) <= bound + 3
    assert np.sign(result) in (0, np.sign(total))


def test_a_contributor_moves_the_same_way_in_every_cell() -> None:
    """One who stands alone in a cell shows the direction in which he moves in a larger one."""
    for record in (UP | 9, DOWN | 9):
        cells = [[9_000], [9_000, 30, 20], [9_000, 40] + [1] * 30]
        keys = [[record], [record, UP, DOWN], [record, DOWN] + [UP] * 4]
        cube = by_hand(cells, [1, 2, 3], record_keys=keys)
        changes = published(PLAIN, cube)[:3] - cube.values.sum_of("income")[:3]
        assert len(set(np.sign(changes).tolist())) == 1


def test_directions_average_out_over_record_keys() -> None:
    draw = np.random.default_rng(4)
    cells = 100_000
    own = draw.integers(0, 2**32, (cells, 1), dtype=np.uint64).astype(np.uint32)
    scales = scale_table(bytes(16), few=8, small_spread=300_000_000, large_spread=700_000_000)
    noise = TopNoise(frozen(np.array([6 * 10**8], dtype=np.uint64)), scales)
    sizes = np.full((cells, 1), 10**6)
    ones, key = np.ones(cells, dtype=np.int64), np.zeros(cells, dtype=np.uint32)
    changes = publish_top(sizes[:, 0], sizes, own, ones, key, noise) / 10**6 - 1
    assert abs(changes.mean()) < 4 * 0.6 / cells**0.5 * 1.1
    assert np.abs(changes).mean() == pytest.approx(0.6, rel=0.02)


def test_versions_of_keys_and_parameters_are_told_apart() -> None:
    cube = income_cube(*BY)
    others = [
        replace(PLAIN, key_version=2),
        replace(PLAIN, magnitudes=(Fraction(3, 5), Fraction(2, 5))),
        replace(PLAIN, few_contributors=2),
        replace(PLAIN, large_spread=0.5),
    ]
    prints = {method.provenance(cube).fingerprint for method in (PLAIN, *others)}
    assert len(prints) == 5
    for other in others:
        assert (published(other, cube) != published(PLAIN, cube)).any()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"magnitudes": "0.4, 0.6"}, "none larger than the one before"),
        ({"magnitudes": "0"}, "above 0"),
        ({"magnitudes": (0.5,) * 7}, "1 to 6 shares"),
        ({"few_contributors": 256}, "0 to 255"),
        ({"small_spread": 1.1}, "between 0 and 1"),
        ({"few_contributors": 0, "small_spread": 0.2}, "small_spread has no effect"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        AbsTopContributors(secret=SECRET, **settings)


def test_keys_without_a_ninth_bit_and_no_secret_are_refused() -> None:
    for space in (KeySpace(256), KeySpace.from_decimals(6)):
        cube = by_hand([[5]], [3], key_space=space)
        with pytest.raises(SpecError, match="ninth bit"):
            PLAIN.protect(cube)
    with pytest.raises(SecretError, match="needs the office secret"):
        AbsTopContributors()


def test_sums_beyond_the_fixed_point_are_refused() -> None:
    huge = int(np.iinfo(np.int64).max) // 4
    with pytest.raises(SpecError, match="beyond 64 bits"):
        PLAIN.protect(by_hand([[huge]], [3]))
