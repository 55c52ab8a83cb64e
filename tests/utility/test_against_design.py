"""Changes against the rows of the perturbation that was to make them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.pairs import Pair, pair_of_values
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import Table
from sdcensus.testing.island import SECRET, island_cube
from sdcensus.utility.against_design import (
    chi_square,
    chi_square_of_pair,
    signed_rank,
    signed_rank_of_pair,
    stay_tests,
    stay_tests_of_pair,
)
from sdcensus.utility.deviations import (
    deviation_distribution,
    deviation_distribution_of_pair,
    worst_cells,
)
from tests.utility.made import sparse, two_way

Int64 = npt.NDArray[np.int64]
SCHEMES = ("CP1", "CP2", "CP3(EU)", "CP3", "CP4", "CP3(1,2)", "RR3", "RR5")


def drawn(rows: Perturbation, counts: Int64, seed: int) -> Pair:
    """Counts with changes drawn from the rows."""
    draw = np.random.default_rng(seed)
    published = counts.copy()
    for count in np.unique(counts[counts > 0]).tolist():
        here = counts == count
        chances = rows.probabilities(count)
        published[here] += draw.choice(
            rows.deviations(count), int(here.sum()), p=chances / chances.sum()
        )
    return pair_of_values(counts, published)


def mixed_counts(cells: int, seed: int) -> Int64:
    draw = np.random.default_rng(seed)
    return draw.poisson(draw.gamma(0.5, 12, cells)).astype(np.int64)


@pytest.mark.parametrize("name", SCHEMES)
def test_changes_from_the_rows_are_accepted(name: str) -> None:
    """The p-values of many draws are those of chance."""
    rows = scheme(name)
    values = []
    for seed in range(20):
        made = chi_square_of_pair(drawn(rows, mixed_counts(3000, seed), seed + 100), rows)
        assert made.p_value is not None
        assert made.reason == ""
        values.append(made.p_value)
    assert stats.kstest(values, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(("name", "near"), [("CP3", "CP4"), ("CP4", "CP3"), ("CP2", "CP3(EU)")])
def test_changes_from_rows_nearby_are_rejected(name: str, near: str) -> None:
    made = drawn(scheme(name), mixed_counts(30_000, 1), 2)
    found = chi_square_of_pair(made, scheme(near))
    assert found.p_value is not None
    assert found.p_value < 1e-6
    own = chi_square_of_pair(made, scheme(name)).p_value
    assert own is not None
    assert own > 0.01


def test_a_change_that_the_row_does_not_know_is_rejected_outright() -> None:
    made = chi_square_of_pair(pair_of_values([50] * 100, [52] + [50] * 99), scheme("CP1"))
    assert (made.outside, made.p_value, made.statistic) == (1, 0, None)
    assert "does not know" in made.reason


def test_rare_classes_are_put_together() -> None:
    """Ten cells of 1/4, 1/2, 1/4 are expected 2.5, 5, 2.5 times: two classes of 5."""
    published = [49] * 2 + [50] * 6 + [51] * 2
    made = chi_square_of_pair(pair_of_values([50] * 10, published), scheme("CP1"))
    assert (made.degrees, made.rows) == (1, 1)
    assert made.statistic == pytest.approx(1 / 5 + 1 / 5)
    assert made.p_value == pytest.approx(float(stats.chi2.sf(0.4, 1)))
    few = chi_square_of_pair(pair_of_values([50] * 8, [50] * 8), scheme("CP1"))
    assert (few.statistic, few.p_value, few.degrees) == (None, None, 0)
    assert few.reason == "no row has cells enough and several outcomes"
    empty = chi_square_of_pair(pair_of_values([0, 0], [0, 0]), scheme("CP1"))
    assert empty.reason == "no cell is non-empty"


def test_a_published_table_follows_its_scheme() -> None:
    cube = island_cube("area", "sex", "age", "married", people=6000)
    for name in ("CP3", "RR3"):
        protected = CellKey(scheme(name), secret=SECRET).protect(cube)
        made = chi_square(cube, protected.table, scheme(name))
        assert made.cells <= cube.spec.base_cells
        assert made.p_value is not None
        assert made.p_value > 0.001
        stay = stay_tests(cube, protected.table, scheme(name)).p_value
        assert stay is not None
        assert stay > 0.001
    small = island_cube("area", "sex", "age", people=400)
    rounded = CellKey(scheme("RR3"), secret=SECRET).protect(small).table
    wrong = stay_tests(small, rounded, scheme("CP3")).p_value
    assert wrong is not None
    assert wrong < 1e-6


def test_the_share_of_unchanged_cells_is_a_binomial_test_of_each_row() -> None:
    rows = scheme("CP3")
    published = [50] * 15 + [51] * 5 + [1] * 4
    made = stay_tests_of_pair(pair_of_values([50] * 20 + [1] * 4, published), rows)
    first, last = made.tests
    assert (first.row, first.cells, first.unchanged) == (1, 4, 4)
    assert first.expected == pytest.approx(0.37967089, abs=1e-7)  # ECLAC 2020, Diagram 1 A
    assert (last.row, last.cells, last.unchanged) == (3, 20, 15)
    assert last.p_value == pytest.approx(float(stats.binomtest(15, 20, 0.4).pvalue), rel=1e-6)
    assert made.p_value == pytest.approx(2 * min(first.p_value, last.p_value))
    none = stay_tests_of_pair(pair_of_values([0], [0]), rows)
    assert (none.p_value, none.reason) == (None, "no cell is non-empty")


def test_signed_ranks_against_scipy() -> None:
    draw = np.random.default_rng(5)
    true = np.full(200, 100)
    published = true + draw.integers(-3, 5, 200)
    made = signed_rank_of_pair(pair_of_values(true, published))
    wanted = stats.wilcoxon(
        (published - true)[published != true], correction=False, method="asymptotic"
    )
    assert made.p_value == pytest.approx(float(wanted.pvalue))
    assert made.statistic == pytest.approx(float(wanted.statistic))
    few = signed_rank_of_pair(pair_of_values([10] * 6, [11, 12, 13, 14, 15, 16]))
    assert few.p_value == pytest.approx(2 / 2**6)
    none = signed_rank_of_pair(pair_of_values([1, 2], [1, 2]))
    assert (none.p_value, none.reason) == (None, "no cell changed")
    cube = island_cube("area", "sex")
    assert signed_rank(cube, Table(cube.spec, cube.count + 1)).changed == 14


def test_weighted_tables_and_other_things_are_refused() -> None:
    cube = island_cube("area", "sex", measure="weighted")
    table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
    with pytest.raises(SpecError, match="table of counts"):
        chi_square(cube, table, scheme("CP3"))
    with pytest.raises(SpecError, match="against a perturbation"):
        chi_square_of_pair(pair_of_values([1], [1]), "CP3")  # type: ignore[arg-type]


def test_the_distribution_of_changes() -> None:
    made = deviation_distribution_of_pair(pair_of_values([0, 0, 3, 4, 5], [0, 0, 1, 4, 5]))
    assert made.deviation.tolist() == [-2, -1, 0]
    assert made.cells.tolist() == [1, 0, 2]
    assert made.share == pytest.approx((1 / 3, 0, 2 / 3))
    every = deviation_distribution_of_pair(pair_of_values([0, 0, 3], [0, 0, 1]), "all")
    assert every.cells.tolist() == [1, 0, 2]
    none = deviation_distribution_of_pair(pair_of_values([0], [0]))
    assert (none.deviation.size, none.share) == (0, ())
    with pytest.raises(SpecError, match="too far apart"):
        deviation_distribution_of_pair(pair_of_values([1], [10**9]))


def test_the_distribution_of_a_sparse_table_counts_the_cells_that_it_does_not_hold() -> None:
    cube = two_way([[0, 5], [0, 0]])
    table = Table(cube.spec, np.maximum(cube.count - 1, 0))
    whole = deviation_distribution(cube, table, base="all")
    held = deviation_distribution(*sparse(cube, table), base="all")
    assert held.deviation.tolist() == whole.deviation.tolist() == [-1, 0]
    assert held.cells.tolist() == whole.cells.tolist() == [4, 5]


def test_the_worst_cells_by_size_and_relative_to_the_count() -> None:
    cube = two_way([[1, 50], [10, 0]])
    values = cube.count.copy()
    values[0, 0], values[0, 1], values[1, 0], values[1, 1] = 2, 53, 13, 1
    table = Table(cube.spec, values)
    absolute = worst_cells(cube, table, 3)
    assert absolute.numbers.tolist() == [3, 1, 4]  # three up from 10, then from 50, then one from 0
    assert absolute.true.tolist() == [10, 50, 0]
    assert absolute.published.tolist() == [13, 53, 1]
    relative = worst_cells(cube, table, by="relative")
    assert relative.numbers.tolist() == [4, 0, 3, 1]
    root = worst_cells(cube, table, by="root")
    assert root.numbers.tolist() == [4, 3, 0, 1]  # 0 to 1, 10 to 13, 1 to 2, 50 to 53
    assert worst_cells(cube, table, 1, by="root").numbers.tolist() == [4]
    assert worst_cells(cube, table, 0, by="root").numbers.size == 0
    assert worst_cells(cube, table, part="margins").numbers.size == 0
    held = worst_cells(*sparse(cube, table), by="relative")
    assert held.numbers.tolist() == relative.numbers.tolist()
    assert "13" not in repr(relative)
    with pytest.raises(SpecError, match="whole number"):
        worst_cells(cube, table, -1)
    with pytest.raises(SpecError, match="order of worst cells"):
        worst_cells(cube, table, by="size")
