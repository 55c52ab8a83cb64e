from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods import CellKey, ThresholdRounding
from sdcensus.methods.perturbation.schemes import SCHEMES, random_rounding, scheme
from sdcensus.methods.perturbation.sources import per_unit_deviations
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.risk.posterior import (
    VisibleSmall,
    perceived_disclosure,
    posterior,
    posterior_observed,
    posterior_observed_of,
    posterior_of,
    published_given_true,
    visible_small,
)
from sdcensus.testing.island import SECRET, island_cube

COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=50)


@given(COUNTS, st.sampled_from(SCHEMES))
def test_bayes_by_hand(counts: list[int], name: str) -> None:
    design = scheme(name)
    found = posterior(design, counts, published=(0, 1, 2, 3))
    for value in (0, 1, 2, 3):
        weight = dict.fromkeys(range(13), 0.0)
        for true in counts:
            chances = dict(zip(design.targets(true), design.probabilities(true), strict=True))
            weight[true] += chances.get(value, 0.0)
        whole = sum(weight.values())
        for true, share in weight.items():
            expected = share / whole if whole else None
            assert found.given_published(true, value) == pytest.approx(expected)


@given(COUNTS, st.sampled_from(SCHEMES))
def test_probabilities_of_true_counts_sum_to_one(counts: list[int], name: str) -> None:
    for row in posterior(scheme(name), counts).table():
        if row[0] is not None:
            assert sum(one or 0.0 for one in row) == pytest.approx(1)


def test_an_example_by_hand() -> None:
    """CP1, 60 empty cells, 30 ones, 10 twos: zeros are 60 true and 7.5 false ones."""
    found = posterior(scheme("CP1"), [0] * 60 + [1] * 30 + [2] * 10)
    assert found.given_published(0, 0) == pytest.approx(60 / 67.5)
    assert found.given_published(1, 0) == pytest.approx(7.5 / 67.5)
    assert found.is_what_it_seems(1) == pytest.approx(15 / (15 + 2.5))
    assert found.given_true(1, 1) == pytest.approx(0.5)
    assert found.given_true(0, 1) == pytest.approx(0.25)
    assert found.given_true(2, 5) is None  # no cell has that count


def test_how_often_counts_occur_decides_and_not_the_noise_alone() -> None:
    """The same noise, and a published 1 is nearly sure in one table and a coin in another."""
    many_ones = posterior(scheme("CP1"), [1] * 100 + [2])
    many_twos = posterior(scheme("CP1"), [1] * 50 + [2] * 100)
    assert many_ones.given_true(1, 1) == many_twos.given_true(1, 1)
    assert (many_ones.is_what_it_seems(1) or 0) > 0.99
    assert many_twos.is_what_it_seems(1) == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["RR3", "RR5", "CP3(1,2)"])
def test_blocked_counts_are_never_seen_so_nothing_follows_from_them(name: str) -> None:
    found = posterior(scheme(name), [0, 1, 1, 2, 3, 5, 8])
    assert found.is_what_it_seems(1) is None
    assert found.is_what_it_seems(2) is None
    assert found.given_true(1, 1) == 0


def test_counts_that_cannot_become_small_are_left_out() -> None:
    found = posterior(scheme("CP2"), [1, 4, 5, 1000, 10**9], published=[0, 2])
    assert found.true.tolist() == [0, 1, 2, 4]
    units = posterior(per_unit_deviations(2), [0, 1, 2, 40, 10**6], published=(0,))
    assert units.given_published(0, 0) == pytest.approx(1 / (1 + 2 / 3 + 4 / 9))


def test_as_it_came_out_is_near_what_was_expected_and_another_scheme_is_not() -> None:
    draw = np.random.default_rng(5)
    counts = draw.geometric(0.3, 40_000) - 1
    design = scheme("CP2")
    published = counts.copy()
    for count in range(counts.max() + 1):
        at = counts == count
        published[at] += draw.choice(
            design.deviations(count), int(at.sum()), p=design.probabilities(count)
        )
    seen = posterior_observed(counts, published)
    for name, near in (("CP2", True), ("CP4", False)):
        expected = posterior(scheme(name), counts)
        distances = []
        for value in (0, 1, 2, 3):
            one, other = seen.is_what_it_seems(value), expected.is_what_it_seems(value)
            assert one is not None
            assert other is not None
            cells = int((published == value).sum())
            distances.append(abs(one - other) / np.sqrt(other * (1 - other) / cells))
        assert (max(distances) < 4) == near


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40))
def test_observed_shares_by_counting(cells: list[tuple[int, int]]) -> None:
    true, published = [one for one, _ in cells], [one for _, one in cells]
    found = posterior_observed(true, published, published=(0, 1, 2))
    for value in (0, 1, 2):
        behind = [one for one, other in cells if other == value]
        for count in range(10):
            expected = behind.count(count) / len(behind) if behind else None
            assert found.given_published(count, value) == expected
        given_count = [other for one, other in cells if one == value]
        expected = given_count.count(value) / len(given_count) if given_count else None
        assert found.given_true(value, value) == expected


def test_withheld_cells_say_nothing() -> None:
    cube = island_cube("area", "sex", "age")
    table = ThresholdRounding(threshold=4, base=5, zeros="show").protect(cube).table
    found = posterior_observed_of(cube, table, published=(0, 1, 5))
    assert found.given_published(0, 0) == 1
    assert found.is_what_it_seems(1) is None
    assert found.given_true(5, 1) is None  # ones are all withheld, so none is looked at


def sparse_and_dense() -> tuple[SparseCube, Cube]:
    dense = island_cube("area+district", "sex", "age", people=60)
    inner = dense.count[:7, :2, :10]
    numbers = np.flatnonzero(inner).astype(np.uint64)
    keys = dense.key[:7, :2, :10].reshape(-1)[numbers.astype(np.int64)]
    sums = {"count": inner.reshape(-1)[numbers.astype(np.int64)], "key": keys.astype(np.uint64)}
    sparse = assemble(dense.spec, dense.origin, numbers, sums, largest_dense=1)
    assert isinstance(sparse, SparseCube)
    return sparse, dense


@pytest.mark.parametrize("part", TablePart)
def test_sparse_cubes_say_what_dense_ones_say(part: TablePart) -> None:
    sparse, dense = sparse_and_dense()
    method = CellKey(scheme("CP2"), secret=SECRET)
    of_sparse, of_dense = method.protect(sparse).table, method.protect(dense).table
    assert isinstance(of_sparse, SparseTable)
    expected = posterior_of(scheme("CP2"), dense, part=part)
    found = posterior_of(scheme("CP2"), sparse, part=part)
    assert found.table() == expected.table()
    seen = posterior_observed_of(sparse, of_sparse, part=part)
    assert seen.table() == posterior_observed_of(dense, of_dense, part=part).table()
    assert visible_small(of_sparse, part=part) == visible_small(of_dense, part=part)
    one = perceived_disclosure(sparse, of_sparse, part=part)
    other = perceived_disclosure(dense, of_dense, part=part)
    assert (one.seen, one.right, one.true) == (other.seen, other.right, other.true)


# ---------------------------------------------------------------------------------------------
# Perceived disclosure


def test_visible_ones_and_twos_by_counting() -> None:
    cube = island_cube("area", "sex", "age")
    table = CellKey(scheme("CP1"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    true, published = cube.count[:7, :2, :10], table.published[:7, :2, :10]
    found = perceived_disclosure(cube, table)
    ones, twos = int((published == 1).sum()), int((published == 2).sum())
    assert found.seen == VisibleSmall((1, 2), (ones, twos), int((published > 0).sum()))
    assert found.seen == visible_small(table)
    assert found.seen.share == pytest.approx((ones + twos) / (published > 0).sum())
    assert found.seen.share_of(2) == pytest.approx(twos / (published > 0).sum())
    right = [int(((published == value) & (true == value)).sum()) for value in (1, 2)]
    assert found.right == tuple(right)
    assert found.share_right == pytest.approx(sum(right) / (ones + twos))
    assert found.true == (int((true == 1).sum()), int((true == 2).sum()))


def test_rounding_leaves_no_ones_and_twos_to_see() -> None:
    cube = island_cube("area", "sex", "age")
    table = CellKey(random_rounding(3), secret=SECRET).protect(cube).table
    found = perceived_disclosure(cube, table)
    assert found.seen.share == 0
    assert found.share_right is None


def test_totals_are_looked_at_if_asked_for() -> None:
    cube = island_cube("area", "sex", people=6)
    table = CellKey(scheme("CP1"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    whole = visible_small(table, part=TablePart.ALL)
    assert whole.nonzero == np.count_nonzero(table.published)
    assert whole.nonzero > visible_small(table).nonzero


def test_tables_without_anything_in_them_have_no_shares() -> None:
    cube = island_cube("area", "sex", people=0)
    table = CellKey(scheme("CP1"), secret=SECRET).protect(cube).table
    found = perceived_disclosure(cube, table)
    assert (found.seen.share, found.seen.share_of(1), found.share_right) == (None, None, None)
    empty = posterior_of(scheme("CP1"), cube)
    assert empty.is_what_it_seems(0) == 1
    assert empty.is_what_it_seems(1) is None


# ---------------------------------------------------------------------------------------------
# What is refused


def test_what_was_not_asked_for_is_refused() -> None:
    found = posterior(scheme("CP1"), [0, 1])
    with pytest.raises(SpecError, match="Only these published values"):
        found.given_published(1, 77)
    with pytest.raises(SpecError, match="whole numbers from 0"):
        posterior(scheme("CP1"), [0, 1], published=(-1,))
    with pytest.raises(SpecError, match="whole numbers from 0"):
        posterior(scheme("CP1"), [0, 1], published=())
    table = CellKey(scheme("CP1"), secret=SECRET).protect(island_cube("sex")).table
    with pytest.raises(SpecError, match="whole numbers from 1"):
        visible_small(table, values=(0, 1))
    with pytest.raises(SpecError, match="Only these values"):
        visible_small(table).share_of(3)


def test_counts_that_are_none_are_refused() -> None:
    with pytest.raises(SpecError, match="below 0"):
        posterior(scheme("CP1"), [-1, 2])
    with pytest.raises(SpecError, match="one shape"):
        posterior_observed([1, 2], [1])
    with pytest.raises(SpecError, match="0 or more"):
        published_given_true(scheme("CP1"), [-1], [0])


def test_nothing_is_shown_of_the_results() -> None:
    assert f"{posterior(scheme('CP1'), [0, 1])!r}" == "<Posterior: confidential>"
    cube = island_cube("sex")
    table = CellKey(scheme("CP1"), secret=SECRET).protect(cube).table
    assert f"{perceived_disclosure(cube, table)}" == "<PerceivedDisclosure: confidential>"
    assert "visible=" in repr(visible_small(table))  # public
