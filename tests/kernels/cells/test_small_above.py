"""Small cells above others: axis by axis what going through all pairs of cells gives."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.tabulate import small_above


@given(st.data())
def test_it_equals_going_through_all_pairs(data: st.DataObject) -> None:
    sets, axes = [], []
    for _ in range(data.draw(st.integers(0, 3))):
        leaves = data.draw(st.integers(1, 4))
        own = [
            frozenset(data.draw(st.sets(st.integers(0, leaves - 1), min_size=1)))
            for _ in range(data.draw(st.integers(1, 4)))
        ]
        own.append(frozenset(range(leaves)))
        kept = data.draw(st.lists(st.sampled_from(range(len(own))), min_size=1, max_size=4))
        larger = [[at for at, one in enumerate(own) if one > own[place]] for place in kept]
        sets.append(own)
        axes.append(
            (
                np.array(kept, dtype=np.int64),
                np.cumsum([0, *map(len, larger)]).astype(np.int64),
                np.array([at for one in larger for at in one], dtype=np.int64),
            )
        )
    shape = tuple(len(own) for own in sets)
    seed = data.draw(st.integers(0, 2**32 - 1))
    small = np.asarray(np.random.default_rng(seed).random(shape) < 0.3)
    # Equal sets are the same cell, so they are small together.
    for place in itertools.product(*map(range, shape)):
        first = tuple(own.index(own[at]) for own, at in zip(sets, place, strict=True))
        small[place] = small[first]
    for itself in (False, True):
        found = small_above(small, axes, itself=itself)
        for place in itertools.product(*(range(axis[0].size) for axis in axes)):
            mine = [own[axis[0][at]] for own, axis, at in zip(sets, axes, place, strict=True)]
            expected = False
            for other in itertools.product(*map(range, shape)):
                theirs = [own[at] for own, at in zip(sets, other, strict=True)]
                holds = all(a <= b for a, b in zip(mine, theirs, strict=True))
                expected |= holds and (itself or mine != theirs) and bool(small[other])
            assert bool(found[place]) is expected
