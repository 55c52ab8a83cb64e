"""Targeted swapping keeps what it promises, whatever the country."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st

from sdcensus.errors import InputError, SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import Changes, Draws
from sdcensus.microdata.swapping.earlier import SwapPairs, joined, pairs_file
from sdcensus.microdata.swapping.levels import ANYWHERE
from sdcensus.microdata.swapping.search import SwapDesign, search_pairs
from sdcensus.microdata.swapping.targeted import TargetedSwap
from sdcensus.microdata.swapping.units import unit_table
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.session.derive import derive
from sdcensus.session.derive.office_files import write_office_file
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.microdata.settlement import by_identity
from tests.microdata.swapping.villages import D, H, P, Village, write_units
from tests.microdata.test_derived_store import STEP

DRAWS = Draws(SECRET.sub_key(Purpose.SWAP, 1))


def changes_of(store: CensusStore, **said: Any) -> Changes:
    return TargetedSwap(**said).derive(store, DRAWS, no_progress)


def swapped(store: CensusStore, changes: Changes) -> DerivedView:
    return DerivedView(DerivedRecords(store, changes), STEP)


def pairs_of(changes: Changes) -> list[tuple[Any, ...]]:
    columns = changes.files[0].columns.values()
    return list(zip(*(column.tolist() for column in columns), strict=True))


def areas(store: CensusStore, kind: Entity) -> Counter[tuple[int, ...]]:
    """How many units have each tuple of codes, at every level."""
    geography = store.schema.geography
    assert geography is not None
    leaf = unit_table(store, kind).leaf
    levels = [level.group_array[leaf].tolist() for level in geography.levels()]
    return Counter(zip(*levels, strict=True))


SAID = st.fixed_dictionaries(
    {
        "risk_variables": st.sampled_from([("sex", "age"), ("age", "tenure"), ("faith",)]),
        "k": st.integers(0, 4),
        "rate": st.sampled_from([0.05, 0.2, 0.4]),
        "profiles": st.sampled_from(
            [("persons",), ("persons,heating", "persons"), ("persons", "persons~1")]
        ),
        "farther": st.booleans(),
        "carry": st.sampled_from([(), ("heating",)]),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    levels=st.integers(2, 5),
    holder=st.sampled_from([H, P]),
    lonely=st.sampled_from([0.0, 0.1]),
    said=SAID,
)
def test_what_swapping_promises(
    seed: int, levels: int, holder: Entity, lonely: float, said: dict[str, Any]
) -> None:
    village = Village(
        seed, levels=levels, holder=holder, lonely=lonely, nowhere=0.03, grid=seed % 2 == 0
    )
    with TemporaryDirectory() as folder:
        store = village.write(Path(folder) / "a")
        try:
            changes = changes_of(store, **said)
        except SpecError as error:
            assert "cannot be reached" in str(error) or "larger than any" in str(error)  # noqa: PT017
            reject()
        after = swapped(store, changes)
        again = village.write(Path(folder) / "b", shuffled=seed)
        assert pairs_of(changes_of(again, **said)) == pairs_of(changes)
        assert areas(after, H) == areas(store, H)
        records, old = by_identity(after), by_identity(store)
        moving = {"ed", "ed_grid", *said["carry"]}
        for one, record in old.items():
            kept = {name: value for name, value in record.items() if name not in moving}
            assert kept == {name: records[one][name] for name in kept}
        for name in said["carry"]:
            before, now = (Counter(store.raw(H, name).tolist()) for store in (store, after))
            assert before == now
        _check_pairs(store, after, changes, said)


def _check_pairs(
    store: CensusStore, after: CensusStore, changes: Changes, said: dict[str, Any]
) -> None:
    geography = store.schema.geography
    assert geography is not None
    units, moved = unit_table(store), unit_table(after)
    leaf = dict(zip(units.digests.tolist(), units.leaf.tolist(), strict=True))
    new = dict(zip(moved.digests.tolist(), moved.leaf.tolist(), strict=True))
    pairs = pairs_of(changes)
    touched = [unit for pair in pairs for unit in pair[:2]]
    assert len(set(touched)) == len(touched)
    names = [level.name for level in geography.levels()]  # fine to coarse
    for first, second, level, _, region in pairs:
        assert (new[first], new[second]) == (leaf[second], leaf[first])
        group = geography.level(level).group_array
        assert group[leaf[first]] != group[leaf[second]]
        above = names[names.index(level) + 1] if level != names[-1] else ANYWHERE
        assert region == above or said["farther"]
        if region != ANYWHERE:
            inside = geography.level(region).group_array
            assert inside[leaf[first]] == inside[leaf[second]]
    assert {unit for unit in leaf if leaf[unit] != new[unit]} == set(touched)
    if "persons~1" not in said["profiles"]:
        counts = [
            np.bincount(table.leaf, table.sizes(P), minlength=len(geography.codes))
            for table in (units, moved)
        ]
        assert (counts[0] == counts[1]).all()


def test_dwellings_move_with_everything_in_them(tmp_path: Path) -> None:
    store = Village(8, holder=D, households=200).write(tmp_path / "a")
    after = swapped(store, changes_of(store, k=1, rate=0.2, profiles=("rooms",)))
    assert areas(after, D) == areas(store, D)
    assert sum(by_identity(after)[one] != record for one, record in by_identity(store).items())
    links = after.raw(H, "_dwelling")
    assert (after.raw(H, "ed") == after.raw(D, "ed")[links]).all()


def test_exactly_the_rate_is_touched(tmp_path: Path) -> None:
    """Section 8.1 of the specification: n = 10000, s = .05, k = 1 gives 500 households."""
    store = Village(1, households=10_000).write(tmp_path / "a")
    for said in ({}, {"risk_variables": ("sex", "age")}):
        assert 2 * len(pairs_of(changes_of(store, k=1, rate=0.05, **said))) == 500


def test_a_rate_that_cannot_be_reached_names_one_that_can(tmp_path: Path) -> None:
    store = Village(4, households=90, levels=2).write(tmp_path / "a")
    said: dict[str, Any] = {"k": 1, "profiles": ("persons,heating,tenure",)}
    with pytest.raises(SpecError, match="largest possible rate is") as caught:
        changes_of(store, rate=1.0, **said)
    rate = float(str(caught.value).partition("possible rate is ")[2].partition(". ")[0])
    assert 0 < rate < 1
    assert pairs_of(changes_of(store, rate=rate, **said))


def plain_search(design: SwapDesign) -> set[tuple[int, int, str, int, str]]:
    """Pseudo-code B4 for those at risk, donor by donor; regions from small to large."""
    units, risk = design.units, design.risk
    assert risk.rarity is not None
    leaf, used, failed = units.leaf, set[int](), set[int]()
    pairs: set[tuple[int, int, str, int, str]] = set()
    wait = design.waits.tolist()
    rarity = risk.rarity.tolist()
    for at, level in enumerate(design.levels.levels):
        area = level.group_array[leaf].tolist()
        donors = sorted(
            np.flatnonzero(units.movable).tolist(),
            key=lambda unit: (
                wait[unit] * rarity[at][unit] if rarity[at][unit] < 2**31 - 1 else 2**64,
                unit,
            ),
        )
        risky = [unit for unit in donors if risk.level[unit] == at and unit not in used]
        for region in design.reach.regions[at]:
            inside = [0] * len(units) if region is None else region.group_array[leaf].tolist()
            still = []
            for unit in sorted(risky, key=area.__getitem__):
                if unit in used:
                    continue
                choice = next(
                    (
                        (other, number)
                        for number, profile in enumerate(design.profiles)
                        for other in donors
                        if other not in used
                        and area[other] != area[unit]
                        and inside[other] == inside[unit]
                        and profile.similar(np.array([unit]), np.array([other]))[0]
                    ),
                    None,
                )
                if choice is None:
                    still.append(unit)
                    continue
                used |= {unit, choice[0]}
                name = ANYWHERE if region is None else region.name
                pairs.add((unit, choice[0], level.name, choice[1], name))
            risky = still
        failed |= set(risky)
    return pairs


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), levels=st.integers(2, 4), farther=st.booleans())
def test_pairs_are_those_of_the_pseudo_code(seed: int, levels: int, farther: bool) -> None:
    with TemporaryDirectory() as folder:
        store = Village(seed, levels=levels, households=40, nowhere=0.05).write(Path(folder) / "a")
        method = TargetedSwap(
            risk_variables=("sex", "age"), k=3, profiles=("persons", "persons~1"), farther=farther
        )
        design = method._design(store, DRAWS, no_progress)
        outcome = search_pairs(design, 0, joined([]), no_progress)
        pairs = outcome.pairs
        columns = (pairs.initiators, pairs.partners, pairs.levels, pairs.profiles, pairs.regions)
        assert set(zip(*(each.tolist() for each in columns), strict=True)) == plain_search(design)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_correction_changes_no_pair_but_its_own(seed: int) -> None:
    village = Village(seed, households=80)
    said: dict[str, Any] = {
        "risk_variables": ("sex", "age"),
        "rate": 0.2,
        "profiles": ("size,tenure", "size"),
        "farther": True,
    }
    with TemporaryDirectory() as folder:
        store = village.write(Path(folder) / "a")
        try:
            changes = changes_of(store, **said)
        except SpecError:
            reject()
        write_office_file(changes.files[0], Path(folder))
        earlier = Path(folder) / "pairs.csv"
        again = changes_of(store, **said, earlier=earlier)
        assert pairs_of(again) == pairs_of(changes)
        assert np.array_equal(
            swapped(store, again).raw(H, "ed"), swapped(store, changes).raw(H, "ed")
        )
        units = village.units()
        corrected = seed % 80
        for name, limit in (("size", 9), ("tenure", 2)):
            units[H].leaves[name][corrected] = (units[H].leaves[name][corrected] + 1) % limit
        other = write_units(Path(folder) / "c", village.schema(), units)
        digest = int(units[H].keys[corrected]) << 32
        kept = {pair for pair in pairs_of(changes) if digest not in pair[:2]}
        try:
            after = set(pairs_of(changes_of(other, **said, earlier=earlier)))
        except SpecError as error:
            assert "cannot be reached" in str(error)  # noqa: PT017
            reject()
        assert kept <= after
        assert len(after - kept) <= 2
        units = village.units()
        units[P].leaves["age"][seed % units[P].keys.size] = 5
        other = write_units(Path(folder) / "d", village.schema(), units)
        # Others may be at risk now; whoever was exchanged stays exchanged with the same one.
        assert set(pairs_of(changes)) <= set(pairs_of(changes_of(other, **said, earlier=earlier)))


def test_earlier_pairs_are_dropped_where_they_no_longer_qualify(tmp_path: Path) -> None:
    store = Village(5, households=100).write(tmp_path / "a")
    changes = changes_of(store, k=1, rate=0.3)
    write_office_file(changes.files[0], tmp_path)
    other = changes_of(
        store,
        k=1,
        rate=0.3,
        profiles=("persons,heating", "persons"),
        earlier=tmp_path / "pairs.csv",
    )
    assert any("no longer qualify" in note for note in other.notes)
    for pair in pairs_of(other):
        assert pair[3] in (1, 2)
    with pytest.raises(InputError, match="there is no file"):
        derive(
            tmp_path / "a",
            tmp_path / "b",
            "targeted-swap",
            {"k": 1, "earlier": "nowhere.csv"},
            secret=SECRET,
        )
    (tmp_path / "bad.csv").write_text("initiator,partner,level,profile,region\nx,y,ed,1,parish\n")
    with pytest.raises(InputError, match=r"bad.csv, row 2: 'x' is no digest"):
        changes_of(store, k=1, earlier=tmp_path / "bad.csv")


def test_given_risks_take_the_place_of_counts(tmp_path: Path) -> None:
    store = Village(7, households=120).write(tmp_path / "a")
    units = unit_table(store)
    number = units.number_of(P)
    largest = np.zeros(len(units), dtype=np.int64)
    held = number >= 0
    np.maximum.at(largest, number[held], store.raw(P, "risk.value")[held])
    for threshold in (0.9, 0.97):
        changes = changes_of(store, risks=("risk",), risk_above=threshold, rate=0.0, farther=True)
        risky = set(units.digests[largest > threshold * 1000].tolist())
        begun = {pair[0] for pair in pairs_of(changes)}
        assert begun <= risky
        assert begun | {pair[1] for pair in pairs_of(changes)} >= risky
    with pytest.raises(SpecError, match="2 variables of risk are named for 3 levels"):
        changes_of(store, risks=("risk", "risk"), risk_above=0.9)
    with pytest.raises(SpecError, match="is no amount"):
        changes_of(store, risks=("sex",), risk_above=0.9)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"rate": 0.0, "k": 1}, "nothing to do"),
        ({}, "Nothing says who is at risk"),
        ({"risk_variables": ("sex",), "k": 10**6}, "The largest useful k is"),
        ({"risk_variables": ("ed",)}, "is the geography"),
        ({"risk_variables": ("rent",)}, "no variable with codes"),
        ({"k": 1, "levels": ("ed", "parish")}, "coarse to fine: parish,ed"),
        ({"k": 1, "reach": ("parish:ed",)}, "Name a larger region: district, anywhere"),
        ({"k": 1, "reach": ("ed",)}, "is no rule"),
        ({"k": 1, "within": "ed"}, "No level is finer than 'ed'"),
        ({"k": 1, "max_distance": 100}, "Add a map of 'ed'"),
        ({"k": 1, "carry": ("rooms",)}, "it is households that move"),
        ({"k": 1, "carry": ("sex",)}, "differs between the persons"),
        ({"k": 1, "profiles": ("rent",)}, "amount"),
    ],
)
def test_mistakes_are_told_with_a_remedy(
    tmp_path: Path, said: dict[str, Any], message: str
) -> None:
    store = Village(7).write(tmp_path / "a")
    with pytest.raises(SpecError, match=message):
        changes_of(store, **said)


def test_what_is_foreseen_is_what_happens(tmp_path: Path) -> None:
    store = Village(9, households=150, nowhere=0.05, lonely=0.05).write(tmp_path / "a")
    method = TargetedSwap(risk_variables=("sex", "age", "faith"), profiles=("persons,heating",))
    before = {table.name: table for table in method.foresee(store, DRAWS, no_progress)}
    changes = method.derive(store, DRAWS, no_progress)
    after = {table.name: table for table in changes.facts}
    by_level = {row[0]: row[3] for row in before["swap-donors"].rows}
    assert by_level == {row[0]: row[2] for row in after["swap-by-level"].rows[:-1]}
    alone: Counter[Any] = Counter()
    for level, _, count in before["swap-without-partner"].rows:
        alone[level] += int(count or 0)
    failed: Counter[Any] = Counter()
    for level, _, _, count in after["swap-failures"].rows:
        failed[level] += int(count or 0)
    assert alone
    assert all(failed[level] >= 0 for level in alone)
    assert sum(failed.values()) == changes.figures["households at risk without a partner"]
    assert {row[0]: row[5] for row in after["swap-by-level"].rows[:-1]} == {
        level: failed[level] for level in by_level
    }


def test_the_pairs_file_names_both_units_and_the_rule(tmp_path: Path) -> None:
    store = Village(2).write(tmp_path / "a")
    units = unit_table(store)
    nothing = np.zeros(0, dtype=np.int64)
    names = np.zeros(0, dtype=object)
    file = pairs_file(units, SwapPairs(nothing, nothing, names, nothing, names))
    assert list(file.columns) == ["initiator", "partner", "level", "profile", "region"]
