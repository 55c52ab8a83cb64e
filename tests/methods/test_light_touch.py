"""Light touch: interior cells change a little, totals are sums."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.constraints import adds_up, interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.testing.island import SECRET, island, island_cube


def protect(cube: Cube, method: LightTouch | CellKey) -> Table:
    table = method.protect(cube).table
    assert isinstance(table, Table)
    return table


def test_additive_with_the_interior_of_the_cell_key_method() -> None:
    cube = island_cube("area@parish+district", "sex", "age@class")
    table = protect(cube, LightTouch())
    assert adds_up(table.spec, table.published)
    inside = interior(cube.spec)
    by_key = protect(cube, CellKey(scheme("CP1")))
    assert (table.published[inside] == by_key.published[inside]).all()
    assert not (table.published == by_key.published).all()


def test_zeros_kept_and_never_negative_and_interior_cells_move_by_one() -> None:
    cube = island_cube("area@parish+district", "sex", "age", people=150)
    table = protect(cube, LightTouch())
    assert not table.published[cube.count == 0].any()
    assert table.published.min() >= 0
    inside = interior(cube.spec)
    assert set(np.unique(table.published[inside] - cube.count[inside])) == {-1, 0, 1}


def test_unbiased_exactly_from_the_table_and_not_claimed_otherwise() -> None:
    table = scheme("CP1").table()
    assert LightTouch().claims().unbiased
    assert [table.bias(count) for count in (1, 2, 1_000)] == [0, 0, 0]
    # The mean over many totals, each a sum of many interior cells.
    gaps = []
    for seed in range(60):
        cube = island_cube("area", "sex", "age", people=400, seed=seed)
        gaps.append(int(protect(cube, LightTouch()).published[-1, -1, -1]) - 400)
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(len(gaps))
    assert np.std(gaps) > 3


def test_totals_differ_between_tables_which_is_why_consistent_is_not_claimed() -> None:
    census = island(2_000)
    fine, coarse = census.tabulate("area", "age"), census.tabulate("area", "sex")
    assert isinstance(fine, Cube)
    assert isinstance(coarse, Cube)
    method = LightTouch()
    assert not method.claims().consistent
    totals = {protect(cube, method).value(area=area) for cube in (fine, coarse) for area in ("P0",)}
    assert len(totals) == 2


def test_a_large_perturbation_is_no_light_touch() -> None:
    method = LightTouch(scheme("CP3"), secret=SECRET)
    assert any("not light" in caution for caution in method.claims().cautions)
    assert adds_up((cube := island_cube("area", "sex")).spec, protect(cube, method).published)


def test_blocked_counts_never_appear_in_cells_nor_totals() -> None:
    method = LightTouch(scheme("CP3(1,2)"), secret=SECRET)
    assert method.claims().blocked_counts_never_appear
    assert not LightTouch().claims().blocked_counts_never_appear
    cube = island_cube("area@parish+district", "sex", "age", people=150)
    assert not np.isin(protect(cube, method).published, [1, 2]).any()


def test_what_is_refused() -> None:
    with pytest.raises(SecretError, match="'definition' needs the office secret"):
        LightTouch(scheme("CP3"))
    with pytest.raises(SpecError, match="needs a perturbation"):
        LightTouch("CP1")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="do not nest"):
        LightTouch().protect(island_cube("age@class+half"))


def test_it_shows_no_parameter() -> None:
    assert repr(LightTouch()) == "<LightTouch: confidential parameters>"
