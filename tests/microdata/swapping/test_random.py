"""Random swapping: who exchanges places, how many, with whom, and what stays as it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import Changes, Draws
from sdcensus.microdata.swapping.criteria.small_cells import in_small_cells
from sdcensus.microdata.swapping.earlier import PAIRS_FILE
from sdcensus.microdata.swapping.random import RandomSwap
from sdcensus.microdata.swapping.units import unit_table
from sdcensus.model.progress import no_progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.microdata.settlement import by_identity, settlement
from tests.microdata.swapping.township import H, P, township
from tests.microdata.swapping.villages import Village

DRAWS = Draws(SECRET.sub_key(Purpose.SWAP, 1))
STEP = Derivation(parent="0", method="toy", method_version="1", fingerprint="f", secret_id="s")
MEMBERS = ("sex", "age:3:12")


def view(store: CensusStore, changes: Changes) -> DerivedView:
    """The derived store, unwritten."""
    return DerivedView(DerivedRecords(store, changes), STEP)


def pairs_of(changes: Changes) -> list[tuple[int, int]]:
    (file,) = [file for file in changes.files if file.name == PAIRS_FILE]
    return list(
        zip(file.columns["initiator"].tolist(), file.columns["partner"].tolist(), strict=True)
    )


def swapped(store: CensusStore, **parameters: Any) -> Changes:
    given: dict[str, Any] = {"members": MEMBERS, "rate": 0.1, "within": "anywhere"} | parameters
    return RandomSwap(**given).derive(store, DRAWS, no_progress)


def households(store: CensusStore) -> dict[int, tuple[str, Counter[tuple[int, int]], int, int]]:
    """By digest: the code of the ward, members by sex and age group, index and tenure."""
    codes = store.schema.variable("area").codes
    whom: list[Counter[tuple[int, int]]] = [Counter() for _ in range(store.rows(H))]
    sexes, ages = store.raw(P, "sex").tolist(), store.raw(P, "age").tolist()
    for household, sex, age in zip(store.raw(P, "_household").tolist(), sexes, ages, strict=True):
        if household < store.rows(H):
            whom[household][sex, (age >= 3) + (age >= 12)] += 1
    columns = [store.raw(H, name).tolist() for name in ("area", "index", "tenure")]
    return {
        digest: (codes[area].code, members, index, tenure)
        for digest, members, area, index, tenure in zip(
            store.digests(H).tolist(), whom, *columns, strict=True
        )
    }


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    within=st.sampled_from(["region", "district", "anywhere"]),
    stratum=st.sampled_from([(), ("index",)]),
)
def test_pairs_are_alike_live_in_one_large_area_and_in_different_small_ones(
    seed: int, within: str, stratum: tuple[str, ...]
) -> None:
    with TemporaryDirectory() as folder:
        store = township(Path(folder) / "a", seed)
        changes = swapped(store, rate=0.04, within=within, stratum=stratum)
        after = view(store, changes)
        before, now = households(store), households(after)
        pairs = pairs_of(changes)
        touched = [digest for pair in pairs for digest in pair]
        assert len(set(touched)) == len(touched)
        assert len(touched) in (8, 10)  # 240 households, 4 %
        length = {"region": 1, "district": 2, "anywhere": 0}[within]
        for one, other in pairs:
            assert before[one][0][:length] == before[other][0][:length]
            assert before[one][0] != before[other][0]
            assert before[one][1] == before[other][1]
            assert not stratum or before[one][2] == before[other][2]
            assert now[one][0] == before[other][0]
            assert now[other][0] == before[one][0]
        assert all(now[each] == before[each] for each in before if each not in touched)
        _nothing_else_changed(store, after, {"area"})


def _nothing_else_changed(before: CensusStore, after: CensusStore, names: set[str]) -> None:
    """After matching by digest only these variables differ."""
    old, new = by_identity(before), by_identity(after)
    assert set(old) == set(new)
    for record, said in old.items():
        rest = {name: value for name, value in said.items() if name not in names}
        assert rest == {n: value for n, value in new[record].items() if n not in names}


def test_persons_of_areas_by_sex_and_age_group_do_not_change(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 5, households=600)
    after = view(store, swapped(store, rate=0.2))

    def table(records: CensusStore) -> Counter[tuple[int, ...]]:
        ages = records.raw(P, "age").astype(int)
        columns = (records.raw(P, "area"), records.raw(P, "sex"), (ages >= 3) + (ages >= 12))
        return Counter(zip(*(column.tolist() for column in columns), strict=True))

    assert table(store) == table(after)
    assert sorted(store.raw(H, "area").tolist()) == sorted(after.raw(H, "area").tolist())
    moved = np.count_nonzero(
        [now[0] != households(store)[digest][0] for digest, now in households(after).items()]
    )
    assert moved == 120


@pytest.mark.parametrize("control", ["flagged", "anybody"])
def test_households_in_small_cells_are_swapped_first(tmp_path: Path, control: str) -> None:
    store = township(tmp_path / "a", 7, households=400)
    tables, small = ("religion,age@broad,area@district",), 2
    units = unit_table(store)
    flagged = set(units.digests[in_small_cells(units, tables, small)].tolist())
    assert 20 < len(flagged) < 200
    changes = swapped(store, rate=0.3, tables=tables, small=small, control=control)
    pairs = pairs_of(changes)
    assert len(pairs) == 60
    if control == "flagged":
        assert all((one in flagged) == (other in flagged) for one, other in pairs)
    # Others begin only when nobody who is flagged is left with a partner.
    assert {one for one, _ in pairs} - flagged
    alone = flagged - {each for pair in pairs for each in pair}
    said = households(store)
    if control == "flagged":
        fits = [
            (one, other)
            for one in alone
            for other in alone
            if said[one][0] != said[other][0] and said[one][1] == said[other][1]
        ]
        assert not fits
    else:
        assert len(alone) < len(flagged) / 2
    few = pairs_of(swapped(store, rate=0.02, tables=tables, small=small, control=control))
    assert all(one in flagged for one, _ in few)


def test_small_areas_begin_more_swaps_by_size_and_risk(tmp_path: Path) -> None:
    """One over the size: an area of half the size begins about twice as many swaps."""
    store = township(tmp_path / "a", 9, households=900)
    tables = ("households: tenure",)  # nobody is in a small cell: the size alone decides
    options: dict[str, Any] = {"rate": 0.1, "members": ("sex",), "tables": tables}
    area = dict(zip(store.digests(H).tolist(), store.raw(H, "area").tolist(), strict=True))
    sizes = np.bincount(store.raw(H, "area"))
    began = {}
    for allocation in ("even", "size-and-risk"):
        pairs = pairs_of(swapped(store, allocation=allocation, **options))
        began[allocation] = np.bincount([area[one] for one, _ in pairs], minlength=sizes.size)
        assert began[allocation].sum() == 45
    even = 45 * sizes / sizes.sum()
    by_size = 45 * (1 / sizes) / (1 / sizes).sum()
    assert (np.abs(began["even"] - even) < 1.01).all()
    assert (np.abs(began["size-and-risk"] - by_size) < 1.01).all()


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.integers(0, 100))
def test_the_order_of_records_does_not_matter(seed: int, order: int) -> None:
    with TemporaryDirectory() as folder:
        store = township(Path(folder) / "a", seed)
        mixed = township(Path(folder) / "b", seed, shuffled=order)
        options: dict[str, Any] = {"tables": ("religion,area",), "rederive": ("work",)}
        assert pairs_of(swapped(store, **options)) == pairs_of(swapped(mixed, **options))
        one, other = (view(each, swapped(each, **options)) for each in (store, mixed))
        assert by_identity(one) == by_identity(other)


def test_earlier_pairs_are_kept_where_both_still_qualify(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 11, households=400)
    first = swapped(store)
    file = tmp_path / PAIRS_FILE
    (kept,) = first.files
    lines = [",".join(kept.columns)]
    for row in zip(*(column.tolist() for column in kept.columns.values()), strict=True):
        lines.append(",".join([*(f"{digest:016x}" for digest in row[:2]), *map(str, row[2:])]))
    file.write_text("\n".join(lines), encoding="utf-8")
    again = pairs_of(swapped(store, rate=0.2, earlier=file))
    assert set(pairs_of(first)) <= set(again)
    assert len(again) == 40
    assert set(pairs_of(swapped(store, rate=0.2))) != set(again)
    # By another match the pairs no longer qualify.
    other = swapped(store, rate=0.1, earlier=file, stratum=("index", "tenure"))
    assert set(pairs_of(first)) - set(pairs_of(other))
    assert any("earlier pairs no longer qualify" in note for note in other.notes)


@pytest.mark.parametrize("holder", [Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING])
@pytest.mark.parametrize("levels", [2, 5])
def test_any_country_can_be_swapped(tmp_path: Path, holder: Entity, levels: int) -> None:
    village = Village(3, levels=levels, holder=holder, households=300, lonely=0.05, nowhere=0.02)
    if holder is P:
        village = replace(village, lonely=0.0)
    store = village.write(tmp_path / "a")
    changes = swapped(store, rate=0.05, members=("sex",))
    after = view(store, changes)
    before = Counter(store.raw(holder, "ed").tolist())
    if holder is not P:
        assert before == Counter(after.raw(holder, "ed").tolist())
    assert Counter(store.raw(P, "ed").tolist()) == Counter(after.raw(P, "ed").tolist())
    assert len(pairs_of(changes)) > 3
    assert RandomSwap(rate=0.05, members=("sex",)).foresee(store, DRAWS, no_progress)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"within": "ward"}, "No level is finer than 'ward'"),
        ({"within": "wrad"}, "wrad"),
        ({"members": ("sex", "aeg")}, "--members sex,age:15:65"),
        ({"members": ("tenure",)}, None),
        ({"stratum": ("religion",)}, "describes persons"),
        ({"stratum": ("income",)}, "amount"),
        ({"rate": 0.0}, "No households would be exchanged"),
        ({"rate": 1.0}, "cannot be reached.*The largest possible rate is"),
        ({"tables": ("nothing",)}, "nothing"),
        ({"rederive": ("sex",)}, "no second geography"),
        ({"carry": ("work",), "rederive": ("work",)}, "not both"),
        ({"earlier": "nowhere.csv"}, "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_refused(
    tmp_path: Path, parameters: dict[str, Any], problem: str | None
) -> None:
    store = township(tmp_path / "a", 1)
    if problem is None:
        assert pairs_of(swapped(store, **parameters))
        return
    with pytest.raises(SdcensusError, match=problem):
        swapped(store, **parameters)


def test_the_rate_that_is_offered_can_be_reached(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 1)
    with pytest.raises(SpecError) as refused:
        swapped(store, rate=1.0)
    offered = float(str(refused.value).split("largest possible rate is ")[1].split(". ")[0])
    assert 0.2 < offered < 1
    assert len(pairs_of(swapped(store, rate=offered))) * 2 / 240 == pytest.approx(offered, abs=0.01)


def test_a_country_of_one_area_is_refused_with_an_alternative(tmp_path: Path) -> None:
    store = Village(1, levels=1, top=1).write(tmp_path / "a")
    with pytest.raises(SpecError, match="--how attributes"):
        swapped(store, members=("sex",))
    assert settlement(tmp_path / "b", 1).schema.geography is not None


def test_every_parameter_is_declared_with_its_default() -> None:
    declared = {parameter.name: parameter.default for parameter in RandomSwap.takes}
    for each in fields(RandomSwap):
        assert each.name in declared
        if declared[each.name] is not None:
            assert declared[each.name] == each.default
    assert "confidential" in repr(RandomSwap(rate=0.123))
    assert "0.123" not in repr(RandomSwap(rate=0.123))
