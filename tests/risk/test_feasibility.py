"""What can be worked out of one published table, compared with the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SpecError
from sdcensus.methods import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.constraints import is_interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.axis import Axis
from sdcensus.risk.feasibility import Feasibility, How, feasibility
from sdcensus.testing.island import SECRET, island_cube
from tests.methods.nearly_additive import spec_of, variable
from tests.utility.made import cube_of, cubes_with_tables, sparse, two_way

BY = ("area@parish+district", "sex", "age", "married")


def of_scheme(cube: Cube, name: str, lookup: str, *, zeros_known: bool = True) -> Feasibility:
    table = CellKey(scheme(name), SECRET, lookup=lookup).protect(cube).table
    knowledge = Knowledge(max_deviation=scheme(name).max_deviation, zeros_known=zeros_known)
    return feasibility(cube, table, knowledge)


def test_the_row_of_the_stace_guidelines_is_disclosed() -> None:
    # S24: 1 and 1 with a total of 2, published with a total of 0.
    spec = spec_of([variable("a", 2)], ["a"])
    cube = cube_of(spec, [1, 1])
    table = Table(spec, np.array([1, 1, 0]))
    found = feasibility(cube, table, Knowledge(max_deviation=2))
    assert found.intervals.lower.tolist() == found.intervals.upper.tolist() == [1, 1, 2]
    assert (found.disclosed, found.cells, found.share) == (3, 3, 1.0)
    assert (found.small_disclosed, found.small_cells, found.small_share) == (3, 3, 1.0)
    inner = feasibility(cube, table, Knowledge(max_deviation=2), margins=False)
    assert (inner.disclosed, inner.cells) == (2, 2)


def test_light_noise_falls_on_a_sparse_table_and_wider_noise_holds() -> None:
    # E20, Table 12, four-way: CP1 11.4 % with independent noise and 6.3 % with coupled keys, CP2
    # below 1 %, CP3(EU) and CP4 none.
    cube = island_cube(*BY, people=500)
    shares: dict[tuple[str, str], float] = {}
    for name in ("CP1", "CP2", "CP3(EU)", "CP4"):
        for lookup in ("ascending", "hashed"):
            found = of_scheme(cube, name, lookup, zeros_known=False)
            assert found.share is not None
            shares[name, lookup] = found.share
    assert shares["CP1", "hashed"] > 0.1
    assert 0.3 < shares["CP1", "ascending"] / shares["CP1", "hashed"] < 0.8
    for lookup in ("ascending", "hashed"):
        assert shares["CP2", lookup] < 0.01
        assert shares["CP3(EU)", lookup] == shares["CP4", lookup] == 0


def test_knowing_that_zeros_are_kept_discloses_more() -> None:
    cube = island_cube(*BY, people=500)
    more, less = (of_scheme(cube, "CP1", "hashed", zeros_known=one) for one in (True, False))
    assert more.disclosed > less.disclosed
    assert more.small_disclosed > less.small_disclosed


@given(cubes_with_tables(false_nonzeros=False), st.sampled_from(list(How)))
def test_figures_are_counts_of_non_empty_cells_whose_interval_is_narrow(
    case: tuple[Cube, Table], how: How
) -> None:
    cube, table = case
    found = feasibility(cube, table, Knowledge(max_deviation=2), how=how.value)
    intervals = found.intervals
    assert intervals.holds(cube.count)
    narrow = (intervals.lower == intervals.upper) | (
        (intervals.lower == 0) & (intervals.upper == 1)
    )
    assert found.cells == (cube.count > 0).sum()
    assert found.disclosed == (narrow & (cube.count > 0)).sum()
    small = (cube.count == 1) | (cube.count == 2)
    assert (found.small_cells, found.small_disclosed) == (small.sum(), (narrow & small).sum())
    assert (found.share is None) == (not (cube.count > 0).any())
    assert (found.small_share is None) == (not small.any())


@given(cubes_with_tables(false_nonzeros=False))
def test_a_sparse_table_gives_the_same_figures(case: tuple[Cube, Table]) -> None:
    cube, table = case
    dense = feasibility(cube, table, Knowledge(max_deviation=2))
    thin_cube, thin_table = sparse(cube, table)
    knowledge = Knowledge(max_deviation=2)
    for found in (
        feasibility(thin_cube, thin_table, knowledge),
        feasibility(cube, thin_table, knowledge),
        feasibility(thin_cube, table, knowledge),
    ):
        assert (found.disclosed, found.cells) == (dense.disclosed, dense.cells)
        assert (found.intervals.lower == dense.intervals.lower).all()


def test_slower_ways_disclose_at_least_as_much() -> None:
    cube = island_cube("area", "sex", "age@class", people=60)
    table = CellKey(scheme("CP1"), SECRET, lookup="hashed").protect(cube).table
    ways = [feasibility(cube, table, Knowledge(max_deviation=1), how=one) for one in How]
    assert ways[0].disclosed <= ways[1].disclosed <= ways[2].disclosed
    assert ways[0].disclosed > 0


def test_only_cells_that_are_named_are_counted() -> None:
    cube = island_cube("area", "sex", people=60)
    table = CellKey(scheme("CP1"), SECRET, lookup="hashed").protect(cube).table
    knowledge = Knowledge(max_deviation=1)
    inside = is_interior(cube.spec)
    for how in ("shuttle", "linear"):
        inner = feasibility(cube, table, knowledge, cells=inside, how=how)
        assert inner.cells == (cube.count[inside] > 0).sum()
        same = feasibility(cube, table, knowledge, margins=False, how=how)
        assert (same.cells, same.disclosed) == (inner.cells, inner.disclosed)
        one = feasibility(cube, table, knowledge, cells=np.array([0]), how=how)
        assert one.cells == int(cube.count.reshape(-1)[0] > 0)


def test_exact_totals_disclose_more() -> None:
    cube = two_way([[1, 2, 0], [3, 1, 1]])
    table = Table(cube.spec, np.maximum(cube.count - (cube.count > 1), 0))
    knowledge = Knowledge(max_deviation=1)
    total = np.array([cube.spec.cells - 1])
    published = table.published.copy()
    published[-1, -1] = cube.count[-1, -1]
    exact = feasibility(cube, Table(cube.spec, published), knowledge, exact=total)
    assert exact.intervals.lower[-1, -1] == exact.intervals.upper[-1, -1] == 8
    assert exact.disclosed > feasibility(cube, table, knowledge).disclosed
    # The total was changed: who takes it for exact is wrong, and is told.
    with pytest.raises(SpecError, match="does not fit"):
        feasibility(cube, table, knowledge, exact=total)


def test_withheld_cells_can_still_be_disclosed() -> None:
    cube = two_way([[1, 4], [5, 9]])
    flags = np.zeros(cube.shape, dtype=np.uint8)
    flags[0, 0] = Mark.WITHHELD
    table = Table(cube.spec, np.where(flags, 0, cube.count), flags)
    found = feasibility(cube, table, Knowledge(max_deviation=0))
    assert found.disclosed == found.cells == 9


@pytest.mark.parametrize("how", list(How))
def test_a_table_that_was_changed_by_more_is_refused_without_a_number(how: How) -> None:
    cube = two_way([[41, 0], [5, 9]])
    for at, value in (((0, 0), 47), ((0, 1), 1)):
        published = cube.count.copy()
        published[at] = value
        with pytest.raises(SpecError, match="does not fit") as refused:
            feasibility(cube, Table(cube.spec, published), Knowledge(max_deviation=2), how=how)
        assert not any(character.isdigit() for character in str(refused.value))


def test_values_that_are_said_to_be_blocked_are_refused() -> None:
    cube = two_way([[4, 4], [5, 9]])
    published = cube.count.copy()
    published[0, 0] = 2
    with pytest.raises(SpecError, match="blocked"):
        feasibility(cube, Table(cube.spec, published), Knowledge(max_deviation=3, blocked=2))


def test_empty_tables_and_tables_of_one_cell() -> None:
    empty = two_way([[0, 0], [0, 0]])
    found = feasibility(empty, Table(empty.spec, empty.count.copy()), Knowledge(max_deviation=1))
    assert (found.cells, found.share, found.small_share) == (0, None, None)
    assert "nothing to disclose" in found.sentence()
    spec = spec_of([], [])
    one = cube_of(spec, 7)
    single = feasibility(one, Table(spec, np.array(8)), Knowledge(max_deviation=3))
    assert (single.cells, single.disclosed, single.share, single.small_share) == (1, 0, 0.0, None)
    assert "No cell counts 1 or 2" in single.sentence()


def test_a_sentence_names_the_table_and_what_is_known() -> None:
    cube = island_cube("area", "sex", people=60)
    sentence = of_scheme(cube, "CP1", "hashed").sentence()
    assert "from this table alone" in sentence
    assert "no count was changed by more than 1" in sentence
    assert "safe" not in sentence


def test_other_tables_and_other_words_are_refused() -> None:
    cube = island_cube("area", "sex", people=60)
    other = island_cube("sex", "area", people=60)
    knowledge = Knowledge(max_deviation=1)
    with pytest.raises(SpecError, match="order"):
        feasibility(cube, Table(other.spec, other.count.copy()), knowledge)
    smaller = island_cube("area", people=60)
    with pytest.raises(SpecError, match="do not show the same cells"):
        feasibility(cube, Table(smaller.spec, smaller.count.copy()), knowledge)
    table = Table(cube.spec, cube.count.copy())
    with pytest.raises(SpecError, match="shuttle"):
        feasibility(cube, table, knowledge, how="shutle")
    weighted = island_cube("area", people=60, measure="weighted")
    with pytest.raises(SpecError, match="weight"):
        feasibility(weighted, Table(weighted.spec, weighted.count.copy()), knowledge)


def test_a_result_shows_no_figures_and_cannot_be_pickled() -> None:
    import pickle

    found = of_scheme(island_cube("area", "sex", people=60), "CP1", "hashed")
    assert "confidential" in repr(found)
    assert str(found.cells) not in repr(found)
    with pytest.raises(Refused):
        pickle.dumps(found)


def test_a_table_too_large_to_hold_is_refused() -> None:
    def long(name: str) -> Axis:
        return spec_of([variable(name, 8000)], [name]).axes[0]

    spec = spec_of([], []).with_axes([long("a"), long("b")])
    from sdcensus.model.cube.cube import Accumulators
    from sdcensus.model.cube.sparse_cube import SparseCube
    from sdcensus.model.published.table import SparseTable
    from tests.utility.made import ORIGIN

    none = np.zeros(0, dtype=np.uint64)
    cube = SparseCube(
        spec, ORIGIN, none, Accumulators(none.astype(np.int64), none.astype(np.uint32))
    )
    with pytest.raises(SpecError, match="too many to be looked at together"):
        feasibility(
            cube, SparseTable(spec, none, none.astype(np.int64)), Knowledge(max_deviation=1)
        )
