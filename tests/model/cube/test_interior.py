"""Interior cells, and totals as sums of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import adds_up, interior, is_interior, with_totals
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.nearly_additive import spec_of, specs, variable


def held(axis: Axis, position: int) -> list[int]:
    """The base groups of one position, by looking at all of them."""
    for block in axis.blocks:
        if block.start <= position < block.start + block.size:
            code = position - block.start
            return [at for at, group in enumerate(block.group.tolist()) if group == code]
    raise AssertionError(position)


@given(specs(most_codes=3), st.integers(0, 1 << 32))
def test_every_cell_is_the_sum_of_the_interior_cells_in_it(spec: TableSpec, seed: int) -> None:
    inner = np.random.default_rng(seed).integers(0, 50, spec.base_shape)
    whole = with_totals(spec, inner)
    assert whole.shape == spec.shape
    for cell in itertools.product(*(range(size) for size in spec.shape)):
        parts = [held(axis, at) for axis, at in zip(spec.axes, cell, strict=True)]
        assert whole[cell] == sum(int(inner[one]) for one in itertools.product(*parts))


@given(specs(), st.integers(0, 1 << 32))
def test_interior_cells_come_first_and_are_kept(spec: TableSpec, seed: int) -> None:
    inner = np.random.default_rng(seed).integers(0, 50, spec.base_shape)
    whole = with_totals(spec, inner)
    assert (whole[interior(spec)] == inner).all()
    assert is_interior(spec).sum() == spec.base_cells
    assert adds_up(spec, whole)


def test_a_total_that_is_off_by_one_is_noticed() -> None:
    spec = spec_of(
        [variable("area", 3, (0, 0, 1)), variable("sex", 2)], ["area@area+area_0", "sex"]
    )
    whole = with_totals(spec, np.arange(6).reshape(3, 2))
    for cell in np.argwhere(~is_interior(spec)):
        changed = whole.copy()
        changed[tuple(cell)] += 1
        assert not adds_up(spec, changed)


def test_levels_that_do_not_nest_are_refused_with_a_remedy() -> None:
    area = variable("area", 4, (0, 0, 1, 1), (0, 1, 0, 1))
    with pytest.raises(SpecError, match="show the codes of 'area' themselves"):
        interior(spec_of([area], ["area@area_0+area_1"]))
    interior(spec_of([area], ["area@area+area_0+area_1"]))
