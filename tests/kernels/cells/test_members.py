"""Which cells count which sets, against a walk over every combination of codes."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.members import TableCells, cells_of_sets


@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 3))
def test_every_combination_of_codes_is_counted_once(seed: int, sets: int, tables: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(1, 9))
    parts, expected = [], [set[int]() for _ in range(sets)]
    for _ in range(tables):
        axes = int(draw.integers(0, 4))
        shape = draw.integers(1, 4, axes).tolist()
        cells = draw.integers(-1, size, int(np.prod(shape, dtype=int)))
        groups = [draw.integers(0, 3, sets).astype(np.int32) for _ in range(axes)]
        codes = [draw.integers(0, width, (3, int(draw.integers(1, 4)))) for width in shape]
        strides = [int(np.prod(shape[at + 1 :], dtype=int)) for at in range(axes)]
        inside = draw.random(sets) < 0.7
        places = [code * stride for code, stride in zip(codes, strides, strict=True)]
        parts.append(TableCells(cells, inside, groups, places))
        for number in np.flatnonzero(inside):
            rows = [place[group[number]] for place, group in zip(places, groups, strict=True)]
            counted = {int(cells[sum(combination)]) for combination in itertools.product(*rows)}
            expected[number] |= counted - {-1}
    starts, members = cells_of_sets(parts, size, sets)
    listed = [members[starts[at] : starts[at + 1]].tolist() for at in range(sets)]
    assert listed == [sorted(counted) for counted in expected]
