"""Which units move, where they lie, and who stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.swapping.exchange import exchanged_places, moving_variables
from sdcensus.microdata.swapping.levels import area_levels, several_areas
from sdcensus.microdata.swapping.targeted import TargetedSwap
from sdcensus.microdata.swapping.units import Exclusion, moving_kind, unit_table
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.variable import Variable
from tests.microdata.swapping.test_targeted import DRAWS
from tests.microdata.swapping.villages import D, H, P, Village, numbers, write_units
from tests.microdata.test_derived_store import STEP


@pytest.mark.parametrize(("holder", "kind"), [(H, H), (P, H), (D, H)])
def test_households_move_whoever_holds_the_geography(
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
    with pytest.raises(SpecError, match="--how attributes"):
        several_areas(area_levels(store.schema), units.leaf[units.movable], named=False)
    one = Village(1, levels=3, top=1).write(tmp_path / "b")
    units = unit_table(one)
    levels = several_areas(area_levels(one.schema), units.leaf, named=False)
    assert levels.names == ("parish", "ed")
    with pytest.raises(SpecError, match="'district' has one area"):
        several_areas(area_levels(one.schema, ("district", "ed")), units.leaf, named=True)


def test_the_office_may_name_larger_units_that_move_and_no_smaller_ones(tmp_path: Path) -> None:
    schema = Village(1, holder=D).schema()
    assert moving_kind(schema, "dwellings") is D
    assert moving_kind(schema, "households") is H
    with pytest.raises(SpecError, match="would leave the households in which they live"):
        moving_kind(schema, "persons")
    with pytest.raises(SpecError, match=r"no kind of unit .families."):
        moving_kind(schema, "families")
    assert unit_table(Village(1, holder=D).write(tmp_path / "a"), of="dwellings").entity is D


def test_households_exchange_what_holds_them_where_it_has_the_geography(tmp_path: Path) -> None:
    store = Village(5, holder=D).write(tmp_path / "a")
    units = unit_table(store)
    (holders,) = exchanged_places(units, np.array([0, 1]), np.array([2, 3])).items()
    (kind, holder), new = holders
    assert (kind, holder) == (H, D)
    before = store.raw(H, "_dwelling")
    partner = {units.rows[a]: units.rows[b] for a, b in ((0, 2), (1, 3), (2, 0), (3, 1))}
    assert dict(zip(new.rows, new.values, strict=True)) == {
        row: before[other] for row, other in partner.items()
    }
    assert moving_variables(units) == ()
    assert (
        exchanged_places(unit_table(Village(5).write(tmp_path / "b")), *[np.array([0])] * 2) == {}
    )


def test_places_that_count_their_persons_are_told_where_partners_differ_in_size(
    tmp_path: Path,
) -> None:
    village = Village(7, holder=D, households=150)
    counting = Variable(name="occupants", entity=D, codes=numbers(12), counts=P)
    schema = village.schema()
    schema = replace(schema, variables=(*schema.variables, counting))
    units = village.units()
    dwellings = units[H].parents[D][units[P].parents[H]]
    persons = np.bincount(dwellings, minlength=units[D].keys.size)
    leaves = {**units[D].leaves, "occupants": np.minimum(persons, 11)}
    units[D] = replace(units[D], leaves=leaves)
    store = write_units(tmp_path / "a", schema, units)
    for profile, warned in (("persons", False), ("persons~1", True)):
        swap = TargetedSwap(k=1, rate=0.4, profiles=(profile,), farther=True)
        changes = swap.derive(store, DRAWS, no_progress)
        after = DerivedView(DerivedRecords(store, changes), STEP)
        holder = after.raw(H, "_dwelling")[after.raw(P, "_household")]
        now = np.bincount(holder, minlength=after.rows(D))
        assert bool((now != after.raw(D, "occupants")).any()) == warned
        assert any("occupants" in note for note in changes.notes) == warned
