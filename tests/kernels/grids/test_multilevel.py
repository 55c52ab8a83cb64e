"""Multilevel grids against vectors worked by hand, against a slow twin, and by their properties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.grids.multilevel import SquareGroups, joined_tops, square_groups

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Nest:
    """Squares of several sizes over a lattice of finest ones, row by row from the south-west."""

    counts: Int64
    parents: list[Int64]
    places: tuple[Int64, Int64]

    def groups(self, threshold: int, *, quadtree: bool = False) -> SquareGroups:
        return square_groups(self.counts, self.parents, self.places, threshold, quadtree=quadtree)


def nest(rows: list[list[int]], *factors: int) -> Nest:
    """A lattice from its rows, the southernmost first; each factor makes a coarser size."""
    counts = np.array(rows, dtype=np.int64)
    y, x = (line.reshape(-1) for line in np.indices(counts.shape))
    parents = []
    for factor in factors:
        y_coarse, x_coarse = y // factor, x // factor
        wide = int(x_coarse.max()) + 1
        numbers, link = np.unique(y_coarse * wide + x_coarse, return_inverse=True)
        parents.append(link.reshape(-1).astype(np.int64))
        y, x = numbers // wide, numbers % wide
    return Nest(counts.reshape(-1), parents, (y, x))


def listed(groups: SquareGroups) -> list[list[int]]:
    """The finest squares of each group."""
    return [np.flatnonzero(groups.group == number).tolist() for number in range(groups.level.size)]


# ---------------------------------------------------------------- by hand


def test_the_vector_of_the_specification() -> None:
    # Children 12, 3, 9, 0 and 11 households: 3 with 12 would be 15, with 9 it is 12, which is
    # smaller and enough. The empty square is a group of its own.
    groups = nest([[12, 3], [9, 0]], 2).groups(11)
    assert listed(groups) == [[0], [1, 2], [3]]
    assert groups.level.tolist() == [0, 0, 0]
    assert groups.first.tolist() == [0, 1, 3]
    assert groups.members.tolist() == [1, 2, 1]


def test_the_same_as_a_quadtree_stays_whole() -> None:
    groups = nest([[12, 3], [9, 0]], 2).groups(11, quadtree=True)
    assert listed(groups) == [[0, 1, 2, 3]]
    assert (groups.level.tolist(), groups.members.tolist()) == ([1], [1])


def test_children_that_have_enough_are_kept() -> None:
    # 11 is enough; an empty child does not stand in the way.
    for quadtree in (False, True):
        groups = nest([[11, 0], [40, 12]], 2).groups(11, quadtree=quadtree)
        assert listed(groups) == [[0], [1], [2], [3]]


def test_a_parent_whose_children_cannot_be_merged_stays_whole() -> None:
    # 3 with 4 is 7, with 5 it is 8: no partner reaches 11. The parent has 12 and stays whole, with
    # its empty square.
    groups = nest([[3, 4], [5, 0]], 2).groups(11)
    assert listed(groups) == [[0, 1, 2, 3]]
    assert (groups.level.tolist(), groups.first.tolist()) == ([1], [0])


def test_children_that_all_become_one_group_are_their_parent() -> None:
    # 3 with 30 is 33, 4 with 33 is 37, 5 with 37 is 42: nothing is left beside it. The group is the
    # square of the coarser size, and has its code. With an empty child it is not.
    groups = nest([[3, 4], [5, 30]], 2).groups(11)
    assert listed(groups) == [[0, 1, 2, 3]]
    assert (groups.level.tolist(), groups.members.tolist()) == ([1], [1])
    groups = nest([[3, 4], [0, 30]], 2).groups(11)
    assert listed(groups) == [[0, 1, 3], [2]]
    assert (groups.level.tolist(), groups.members.tolist()) == ([0, 0], [3, 1])


def test_the_smallest_is_merged_first_and_with_the_smallest_that_is_enough() -> None:
    # 2 first: with 9 it is 11, enough and smaller than 22. Then 8: with 11 it is 19, with 20 28.
    groups = nest([[8, 9], [2, 20]], 2).groups(11)
    assert listed(groups) == [[0, 1, 2], [3]]


def test_ties_go_to_the_lower_code() -> None:
    # 5 and 5: the lower is merged first. Its partners with 6 and 6: the lower. Then 5 and 6.
    assert listed(nest([[5, 6], [6, 5]], 2).groups(11)) == [[0, 1], [2, 3]]
    # 3 with either 8: the lower one. The other 8 is then merged with 11, as 8 + 20 is more.
    assert listed(nest([[8, 8], [3, 20]], 2).groups(11)) == [[0, 1, 2], [3]]


def test_kept_children_are_split_in_turn_and_merged_ones_are_not() -> None:
    # Four squares of 2 x 2: south-west 11 + 12 + 0 + 13 is split to the finest; south-east has 4
    # and is merged with north-east (16, not 36 or 30), whose own children (8, 8) are not shown
    # any more; north-west 15 + 15 is split.
    squares = nest([[11, 12, 4, 0], [0, 13, 0, 0], [15, 15, 8, 8], [0, 0, 0, 0]], 2, 2)
    groups = squares.groups(11)
    assert listed(groups) == [
        [0],
        [1],
        [2, 3, 6, 7, 10, 11, 14, 15],
        [4],
        [5],
        [8],
        [9],
        [12],
        [13],
    ]
    assert groups.level.tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert groups.members.tolist() == [1, 1, 2, 1, 1, 1, 1, 1, 1]


def test_a_top_square_below_the_threshold_is_joined_to_its_nearest_neighbour() -> None:
    # Tops of one row: 30, empty, empty, 4, 25. The 4 is 1 from 25 and 3 from 30.
    tops = np.array([30, 0, 0, 4, 25])
    roots = joined_tops(tops, np.zeros(5, np.int64), np.arange(5), 11)
    assert roots.tolist() == [0, 1, 2, 3, 3]
    # As near on both sides: the lower code.
    roots = joined_tops(np.array([30, 4, 25]), np.zeros(3, np.int64), np.arange(3), 11)
    assert roots.tolist() == [0, 0, 2]
    # 2 is joined first, to 3; as 5 they go on to 9, which is nearer than 50.
    roots = joined_tops(np.array([50, 0, 0, 9, 3, 2]), np.zeros(6, np.int64), np.arange(6), 11)
    assert roots.tolist() == [0, 1, 2, 3, 3, 3]


def test_what_is_joined_is_split_as_one_square() -> None:
    # West 12 + 13, east 3: joined they are 28. 3 with 12 is 15, with 13 it is 16.
    groups = nest([[12, 0, 3, 0], [13, 0, 0, 0]], 2).groups(11)
    assert listed(groups) == [[0, 2], [1], [3], [4], [5], [6], [7]]
    # As a quadtree it stays whole: both squares of the coarser size.
    whole = nest([[12, 0, 3, 0], [13, 0, 0, 0]], 2).groups(11, quadtree=True)
    assert listed(whole) == [list(range(8))]
    assert (whole.level.tolist(), whole.members.tolist()) == ([1], [2])


def test_squares_of_one_size_are_joined_to_neighbours() -> None:
    groups = nest([[12, 3, 0, 40]]).groups(11)
    assert listed(groups) == [[0, 1], [2], [3]]


def test_fewer_units_than_the_threshold_are_one_group_and_empty_ones() -> None:
    groups = nest([[3, 0, 0, 0], [0, 0, 4, 0]], 2).groups(11)
    assert listed(groups) == [list(range(8))]


def test_nobody_at_all() -> None:
    groups = nest([[0, 0], [0, 0]], 2).groups(11)
    assert listed(groups) == [[0, 1, 2, 3]]


# ---------------------------------------------------------------- a slow twin


def slow(squares: Nest, threshold: int, *, quadtree: bool) -> list[list[int]]:
    """The same in plain Python, square by square."""
    levels = len(squares.parents)
    leaves: list[list[list[int]]] = [[[leaf] for leaf in range(squares.counts.size)]]
    for link in squares.parents:
        coarse: list[list[int]] = [[] for _ in range(int(link.max()) + 1)]
        for fine, parent in enumerate(link.tolist()):
            coarse[parent] += leaves[-1][fine]
        leaves.append(coarse)

    def units(at: int, members: list[int]) -> int:
        return sum(int(squares.counts[leaf]) for one in members for leaf in leaves[at][one])

    def all_leaves(at: int, members: list[int]) -> list[int]:
        return sorted(leaf for one in members for leaf in leaves[at][one])

    def split(at: int, members: list[int]) -> list[list[int]]:
        if at == 0 or units(at, members) < threshold:
            return [all_leaves(at, members)]
        link = squares.parents[at - 1].tolist()
        children = [child for child, parent in enumerate(link) if parent in members]
        filled = [[child] for child in children if units(at - 1, [child])]
        empty = [[child] for child in children if not units(at - 1, [child])]
        if quadtree and any(units(at - 1, one) < threshold for one in filled):
            return [all_leaves(at, members)]
        while any(units(at - 1, one) < threshold for one in filled):
            own = min(filled, key=lambda one: (units(at - 1, one), min(one)))
            partners = [
                one
                for one in filled
                if one is not own and units(at - 1, one) + units(at - 1, own) >= threshold
            ]
            if not partners:
                return [all_leaves(at, members)]
            best = min(partners, key=lambda one: (units(at - 1, one), min(one)))
            filled = [one for one in filled if one is not own and one is not best]
            filled.append(own + best)
        done = [all_leaves(at - 1, one) for one in empty]
        for one in filled:
            done += split(at - 1, one) if len(one) == 1 else [all_leaves(at - 1, one)]
        return done

    rows, columns = squares.places
    every = range(len(leaves[levels]))
    tops = [[top] for top in every if units(levels, [top])]
    while len(tops) > 1 and any(units(levels, one) < threshold for one in tops):
        own = min(tops, key=lambda one: (units(levels, one), min(one)))
        distances = [
            (
                int((rows[a] - rows[b]) ** 2 + (columns[a] - columns[b]) ** 2),
                b,
                number,
            )
            for number, other in enumerate(tops)
            if other is not own
            for a in own
            for b in other
        ]
        other = tops[min(distances)[2]]
        tops = [one for one in tops if one is not own and one is not other] + [own + other]
    groups = [all_leaves(levels, [top]) for top in every if not units(levels, [top])]
    for one in tops:
        groups += split(levels, one)
    return sorted(groups)


@st.composite
def nests(draw: st.DrawFn) -> Nest:
    factors = draw(st.lists(st.sampled_from([2, 3]), max_size=3))
    high, wide = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    counts = st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5, 6, 9, 12, 30])
    rows = draw(
        st.lists(st.lists(counts, min_size=wide, max_size=wide), min_size=high, max_size=high)
    )
    return nest(rows, *factors)


@given(nests(), st.integers(1, 14), st.booleans())
@settings(max_examples=300, deadline=None)
def test_equal_to_the_slow_twin(squares: Nest, threshold: int, quadtree: bool) -> None:
    groups = squares.groups(threshold, quadtree=quadtree)
    assert sorted(listed(groups)) == slow(squares, threshold, quadtree=quadtree)


@given(nests(), st.integers(1, 14), st.booleans())
@settings(deadline=None)
def test_every_group_has_enough_or_nobody_and_sums_are_exact(
    squares: Nest, threshold: int, quadtree: bool
) -> None:
    groups = squares.groups(threshold, quadtree=quadtree)
    sums = np.bincount(groups.group, weights=squares.counts).astype(np.int64)
    total = int(squares.counts.sum())
    assert all(n == 0 or n >= threshold or n == total for n in sums.tolist())
    assert sums.sum() == total
    # Groups are numbered by their lowest square, and none is without squares.
    _, lowest = np.unique(groups.group, return_index=True)
    assert lowest.tolist() == sorted(lowest.tolist())
    assert len(lowest) == groups.level.size


@given(nests(), st.integers(1, 14), st.booleans())
@settings(deadline=None)
def test_groups_are_whole_squares_and_nest(squares: Nest, threshold: int, quadtree: bool) -> None:
    groups = squares.groups(threshold, quadtree=quadtree)
    above = [np.arange(squares.counts.size)]
    for link in squares.parents:
        above.append(link[above[-1]])
    top = len(above) - 1
    for number in range(groups.level.size):
        leaves = groups.group == number
        level = int(groups.level[number])
        # It consists of whole squares of its size, the lowest of which is named.
        own = np.unique(above[level][leaves])
        assert (np.isin(above[level], own) == leaves).all()
        assert own.size == groups.members[number]
        assert own.min() == groups.first[number]
        # Inside one coarser square, unless coarsest squares were joined.
        tops = np.unique(above[top][leaves])
        if level < top and tops.size == 1:
            assert np.unique(above[level + 1][leaves]).size == 1


@pytest.mark.parametrize("quadtree", [False, True])
def test_larger_thresholds_never_make_more_groups_with_people(quadtree: bool) -> None:
    draw = np.random.default_rng(5)
    squares = nest(draw.poisson(2, (24, 24)).tolist(), 2, 3)
    filled = []
    for threshold in (2, 5, 11, 40, 400):
        groups = squares.groups(threshold, quadtree=quadtree)
        filled.append(int((np.bincount(groups.group, weights=squares.counts) > 0).sum()))
    assert filled == sorted(filled, reverse=True)
    assert filled[0] > filled[-1]
