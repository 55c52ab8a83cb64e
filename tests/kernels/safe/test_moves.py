"""What a move costs is what changes when it is made, and the way back leads back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.kernels.safe.moves import change_of_cost, choose, may_go, move
from sdcensus.kernels.safe.problem import LARGEST_LISTED, Layout, State, below
from sdcensus.kernels.safe.search import descend, go_back, search_worst
from sdcensus.kernels.safe.worst import pick_worst, set_level, tree_of


def layout_of(
    fed: Sequence[Sequence[int]], homes: Sequence[int], allowed: Any = None, classes: Any = None
) -> Layout:
    """One block, everybody free unless a test says otherwise; an order for each layer."""
    index = np.array(fed, dtype=np.uint16)
    cells, layers = index.shape
    sizes = index.max(axis=0).astype(np.int64) + 1
    members, starts = [], [0]
    for layer in range(layers):
        for cell in range(sizes[layer]):
            own = np.flatnonzero(index[:, layer] == cell)
            members.append(own)
            starts.append(starts[-1] + own.size)
    orders = np.stack([np.lexsort((index[:, layer],)) for layer in range(layers)]).astype(np.int32)
    places = np.argsort(orders, axis=1).astype(np.int32)
    return Layout(
        fed=index,
        starts=np.append(0, np.cumsum(sizes)),
        scales=np.ones(layers, dtype=np.int64),
        costs=np.zeros(layers, dtype=np.int64),
        layers=np.repeat(np.arange(layers), sizes).astype(np.int32),
        member_starts=np.array(starts),
        members=np.concatenate(members).astype(np.int32),
        blocks=np.zeros(cells, dtype=np.int32),
        block_starts=np.array([0, cells]),
        orders=orders,
        places=places,
        layer_orders=np.stack([np.full(4, layer) for layer in range(layers)]).astype(np.int32),
        homes=np.array(homes, dtype=np.int32),
        classes=np.zeros(len(homes), dtype=np.int32)
        if classes is None
        else np.array(classes, dtype=np.int32),
        profiles=np.zeros(cells, dtype=np.int32)
        if allowed is None
        else np.arange(cells, dtype=np.int32),
        allowed=np.ones((1, 1), dtype=np.uint8)
        if allowed is None
        else np.array(allowed, dtype=np.uint8),
        ruled=np.array([0 if allowed is None else 1]),
        least=np.array([3]),
    )


def state_of(layout: Layout, cells: Sequence[int]) -> State:
    number = layout.blocks.size
    state = State(
        counts=np.zeros(number, dtype=np.int64),
        deviations=np.zeros(layout.layers.size, dtype=np.int32),
        levels=np.zeros(0, dtype=np.int64),
        ties=np.zeros(0, dtype=np.int64),
        squares=np.zeros(1, dtype=np.int64),
        cells=np.array(cells, dtype=np.int32),
        firsts=np.full(number, -1, dtype=np.int32),
        following=np.full(len(cells), -1, dtype=np.int32),
        preceding=np.full(len(cells), -1, dtype=np.int32),
        frozen=np.zeros(len(cells), dtype=np.uint8),
        stream=np.array([1, 2, 0], dtype=np.uint64),
    )
    for unit, cell in enumerate(cells):
        state.counts[cell] += 1
        before = state.firsts[cell]
        state.following[unit] = before
        if before >= 0:
            state.preceding[before] = unit
        state.firsts[cell] = unit
    change = state.counts - np.bincount(layout.homes, minlength=number)
    for layer in range(layout.fed.shape[1]):
        np.add.at(state.deviations, layout.starts[layer] + layout.fed[:, layer], change)
    state.squares[0] = np.square(state.deviations.astype(np.int64)).sum()
    levels, ties = tree_of(np.abs(state.deviations))
    return state._replace(levels=levels, ties=ties)


def costs(power: int = 2) -> Any:
    return np.array([[size**power for size in range(LARGEST_LISTED)]], dtype=np.int64)


def whole_cost(state: State, power: int) -> int:
    return int((np.abs(state.deviations.astype(np.int64)) ** power).sum())


@st.composite
def places(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    cells = draw(st.integers(2, 8))
    fed = [[draw(st.integers(0, 3)) for _ in range(3)] for _ in range(cells)]
    units = draw(st.lists(st.integers(0, cells - 1), min_size=3, max_size=40))
    return fed, units


def assert_consistent(layout: Layout, state: State) -> None:
    again = state_of(layout, state.cells.tolist())
    assert state.counts.tolist() == again.counts.tolist()
    assert state.deviations.tolist() == again.deviations.tolist()
    assert state.squares[0] == again.squares[0]
    assert state.levels.tolist() == again.levels.tolist()
    assert state.ties.tolist() == again.ties.tolist()
    for cell in range(state.counts.size):
        listed, unit = [], state.firsts[cell]
        while unit >= 0:
            listed.append(int(unit))
            unit = state.following[unit]
        assert sorted(listed) == np.flatnonzero(state.cells == cell).tolist()


@settings(max_examples=60, deadline=None)
@given(place=places(), data=st.data())
def test_the_cost_of_a_move_is_what_it_changes(place: Any, data: st.DataObject) -> None:
    fed, units = place
    layout = layout_of(fed, units)
    state = state_of(layout, units)
    chosen = np.zeros(50, dtype=np.int64)
    for power in (2, 4):
        giver = data.draw(st.sampled_from(np.flatnonzero(state.counts).tolist()))
        taker = data.draw(st.sampled_from([cell for cell in range(len(fed)) if cell != giver]))
        number = data.draw(st.integers(1, int(state.counts[giver])))
        foretold = change_of_cost(layout, state, costs(power), giver, taker, number)
        before = whole_cost(state, power)
        assert choose(layout, state, giver, taker, number, chosen)
        move(layout, state, giver, taker, number, chosen)
        assert whole_cost(state, power) - before == foretold
        assert_consistent(layout, state)


@settings(max_examples=25, deadline=None)
@given(place=places())
def test_searches_leave_every_combination_without_or_with_enough_and_find_back(place: Any) -> None:
    fed, units = place
    layout = layout_of(fed, units)
    best = int(np.bincount(units).argmax())
    state = state_of(layout, [best] * len(units))  # somewhere safe, and far off
    record = np.array([state.levels[1], state.ties[1], state.squares[0], 0])
    diary = np.zeros((400, 2), dtype=np.int32)
    tabu = np.zeros((len(fed), 2), dtype=np.int64)
    work = np.zeros(1, dtype=np.int64)
    first = tuple(record[:3].tolist())
    descend(layout, state, costs(4), np.arange(len(fed)), record, diary, work, 2_000)
    search_worst(layout, state, costs(4), record, diary, tabu, work, 4_000)
    assert_consistent(layout, state)
    assert tuple(record[:3].tolist()) <= first
    go_back(layout, state, diary)
    assert_consistent(layout, state)
    assert (state.levels[1], state.ties[1], state.squares[0]) == tuple(record[:3].tolist())
    assert all(count == 0 or count >= 3 for count in state.counts)


def test_who_may_not_go_is_not_chosen_and_everybody_may_go_home() -> None:
    fed = [[0], [1], [2]]
    # Units of class 1 may come to combination 1 only.
    allowed = [[1, 0], [1, 1], [1, 0]]
    layout = layout_of(fed, [0, 0, 2, 2], allowed, [0, 1, 1, 1])
    state = state_of(layout, [0, 0, 0, 1])
    chosen = np.zeros(4, dtype=np.int64)
    assert not may_go(layout, state, 1, 2)
    assert may_go(layout, state, 2, 2)  # home
    assert choose(layout, state, 0, 2, 2, chosen)
    assert chosen[:2].tolist() == [2, 0]  # who goes home first, then who may
    assert not choose(layout, state, 0, 2, 3, chosen)
    state.frozen[2] = 1
    assert not choose(layout, state, 0, 2, 2, chosen)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.data())
def test_the_tree_knows_the_worst(levels: list[int], data: st.DataObject) -> None:
    worst, ties = tree_of(np.array(levels))
    stream = np.array([3, 4, 0], dtype=np.uint64)
    for _ in range(5):
        cell = data.draw(st.integers(0, len(levels) - 1))
        levels[cell] = data.draw(st.integers(0, 9))
        set_level(worst, ties, cell, levels[cell])
        assert worst[1] == max(levels)
        assert ties[1] == levels.count(max(levels))
        assert levels[pick_worst(worst, ties, stream)] == max(levels)


def test_every_worst_cell_is_picked_now_and_then() -> None:
    worst, ties = tree_of(np.array([2, 5, 5, 1, 5]))
    stream = np.array([3, 4, 0], dtype=np.uint64)
    picked = {int(pick_worst(worst, ties, stream)) for _ in range(200)}
    assert picked == {1, 2, 4}


@pytest.mark.parametrize("limit", [1, 7, 1 << 32])
def test_drawn_numbers_are_hashes_of_how_many_were_drawn(limit: int) -> None:
    stream = np.array([5, 6, 0], dtype=np.uint64)
    drawn = [int(below(stream, limit)) for _ in range(10)]
    key = np.array([5, 6], dtype="<u8").tobytes()
    words = siphash24(key, np.arange(10, dtype=np.uint64)[:, None])
    assert drawn == [(int(word) >> 32) * limit >> 32 for word in words]
    assert stream[2] == 10
