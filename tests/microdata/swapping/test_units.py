"""Which units move, where they lie, and who stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.microdata.swapping.levels import area_levels, several_areas
from sdcensus.microdata.swapping.units import Exclusion, moving_kind, unit_table
from tests.microdata.swapping.villages import D, H, P, Village, write_units


@pytest.mark.parametrize(("holder", "kind"), [(H, H), (P, H), (D, D)])
def test_households_move_if_they_hold_the_geography_or_their_members_do(
    tmp_path: Path, holder: object, kind: object
) -> None:
    village = Village(1, holder=holder, lonely=0.1)  # type: ignore[arg-type]
    assert moving_kind(village.schema()) is kind
    units = unit_table(village.write(tmp_path / "a"))
    again = unit_table(village.write(tmp_path / "b", shuffled=5))
    assert (np.diff(units.digests.astype(object)) > 0).all()
    for name in ("digests", "leaf", "movable"):
        assert np.array_equal(getattr(units, name), getattr(again, name))
    assert np.array_equal(units.sizes(P), again.sizes(P))
    persons = units.store.rows(P)
    assert units.outside > 0
    assert units.sizes(P).sum() + units.outside == persons


def test_households_that_span_areas_are_refused_with_their_number(tmp_path: Path) -> None:
    village = Village(2, holder=P)
    units = village.units()
    household = units[P].parents[H]
    torn = np.flatnonzero(np.bincount(household) > 1)[:3]
    for number in torn:
        units[P].leaves["ed"][np.flatnonzero(household == number)[0]] ^= 1
    store = write_units(tmp_path / "a", village.schema(), units)
    with pytest.raises(SpecError, match=r"3 households have persons in different areas of 'ed'"):
        unit_table(store)


def test_units_in_no_area_and_imputed_ones_stay(tmp_path: Path) -> None:
    village = Village(3, nowhere=0.2)
    units = village.units()
    flags = np.zeros(units[P].keys.size, dtype=np.int64)
    flags[::7] = 1
    units[P] = replace(units[P], imputed={"faith": flags})
    table = unit_table(write_units(tmp_path / "a", village.schema(), units))
    nowhere = units[H].leaves["ed"] == village.leaves
    assert table.excluded == {Exclusion.NO_AREA: nowhere.sum()}
    assert table.settled == int(table.movable.sum()) == 60 - nowhere.sum()
    marked = np.isin(np.arange(60), units[P].parents[H][flags == 1])
    without = unit_table(table.store, leave_out_imputed=True)
    assert without.excluded[Exclusion.IMPUTED] == (marked & ~nowhere).sum() > 0
    assert set(without.digests[without.movable].tolist()) == set(
        (units[H].keys.astype(np.uint64) << np.uint64(32))[~marked & ~nowhere].tolist()
    )
    assert without.settled == table.settled


def test_levels_have_to_be_named_from_coarse_to_fine(tmp_path: Path) -> None:
    schema = Village(1, levels=4).schema()
    assert area_levels(schema).names == ("region", "district", "parish", "ed")
    assert area_levels(schema, ("district", "ed")).names == ("district", "ed")
    assert area_levels(schema, ("ed@district", "ed")).names == ("district", "ed")
    with pytest.raises(SpecError, match="from coarse to fine: region,parish,ed"):
        area_levels(schema, ("ed", "region", "parish"))
    with pytest.raises(SpecError, match="named twice"):
        area_levels(schema, ("ed", "ed"))
    with pytest.raises(SpecError, match="Did you mean 'parish'"):
        area_levels(schema, ("parich",))


def test_a_country_of_one_area_is_refused_with_an_alternative(tmp_path: Path) -> None:
    store = Village(1, levels=2, top=1, fan=1).write(tmp_path / "a")
    units = unit_table(store)
    with pytest.raises(SpecError, match="attribute-swap"):
        several_areas(area_levels(store.schema), units.leaf[units.movable], named=False)
    one = Village(1, levels=3, top=1).write(tmp_path / "b")
    units = unit_table(one)
    levels = several_areas(area_levels(one.schema), units.leaf, named=False)
    assert levels.names == ("parish", "ed")
    with pytest.raises(SpecError, match="'district' has one area"):
        several_areas(area_levels(one.schema, ("district", "ed")), units.leaf, named=True)
