"""Geographic PRAM moves units whole, keeps expected totals, and says where nobody can move."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SdcensusError, SpecError, UnknownName
from sdcensus.microdata.method import FactTable
from sdcensus.microdata.pram.areas import MoveTable, draw_move, geographic_matrix, moves_of
from sdcensus.microdata.pram.expectation_ratios import expectation_ratios
from sdcensus.microdata.pram.geographic import GeographicPram
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import open_store
from sdcensus.session.derive import derive, prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.testing.island import SECRET
from tests.microdata.pram.town import DRAWS, PARISH, REGION, D, H, P, changes_of, town, town_schema
from tests.microdata.settlement import by_identity, dense


def moved(store: CensusStore, out: Path, *moves: str, **more: Any) -> CensusStore:
    derive(store.path, out, "geographic-pram", {"move": list(moves), **more}, secret=SECRET)
    return CensusStore.open(out)


def areas_by_identity(store: CensusStore, entity: Entity) -> dict[int, int]:
    return {
        unit[1]: record["ed"] for unit, record in by_identity(store).items() if unit[0] is entity
    }


def test_the_matrix_of_the_abs() -> None:
    # Source: ABS 2005 (A05), vector "abs_pram": x = 50, 80, 120, 200 and p = 0.06.
    sizes, share = [50, 80, 120, 200], Fraction("0.06")
    matrix = geographic_matrix(sizes, share)
    assert [float(entry) for entry in matrix[1]] == [0.0125, 0.9625, 0.0125, 0.0125]
    assert all(sum(row) == 1 for row in matrix)
    columns = zip(*matrix, strict=True)
    assert [sum(x * p for x, p in zip(sizes, column, strict=True)) for column in columns] == sizes
    ratios = expectation_ratios(np.array(matrix, dtype=float), np.array(sizes))
    assert ratios.round(1).tolist() == [15.7, 25.7, 39.0, 65.7]


@given(
    sizes=st.lists(st.integers(1, 10**6), min_size=1, max_size=12),
    share=st.fractions(0, 1, max_denominator=1000),
)
def test_totals_stay_and_rows_sum_to_one_exactly(sizes: list[int], share: Fraction) -> None:
    matrix = geographic_matrix(sizes, share)
    assert all(sum(row) == 1 and min(row) >= 0 for row in matrix)
    after = [
        sum(x * p for x, p in zip(sizes, column, strict=True))
        for column in zip(*matrix, strict=True)
    ]
    assert after == sizes


def test_moves_have_the_probabilities_of_the_matrix_and_of_no_near_miss() -> None:
    geography = town_schema(H).variable("ed")
    (move,) = moves_of(geography, ["ed=0.6"])
    sizes = np.array([9000, 12000, 30000, 7000, 0, 21000, 5000, 5000, 40000, 0, 0])
    places = np.repeat(np.arange(11), sizes)
    digests = (np.arange(places.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) + np.uint64(
        1
    )
    after = draw_move(MoveTable.of(move, sizes), sizes, digests, places, DRAWS, "ed")
    parish = np.array([*PARISH, 4])
    assert (parish[after] == parish[places]).all()
    assert not np.isin(after, [4, 9]).any()  # areas without units get none
    assert (after[places == 8] == 8).all()  # nobody leaves an area without another one

    def distance(share: Fraction) -> float:
        total = 0.0
        for members in ([0, 1, 2], [3, 5], [6, 7]):
            matrix = geographic_matrix([int(sizes[area]) for area in members], share)
            for start, row in zip(members, matrix, strict=True):
                for end, entry in zip(members, row, strict=True):
                    expected = float(entry) * sizes[start]
                    drawn = int(((places == start) & (after == end)).sum())
                    total += (drawn - expected) ** 2 / expected
        return total

    # Ten degrees of freedom: above 36 once in 10,000 times.
    assert distance(Fraction("0.6")) < 36
    assert distance(Fraction("0.63")) > 72


def test_two_levels_keep_the_totals_of_every_area_in_expectation() -> None:
    geography = town_schema(H).variable("ed")
    moves = moves_of(geography, ["parish=0.5", "ed=0.6"])
    assert [(move.level.name, move.within_name) for move in moves] == [
        ("ed", "parish"),
        ("parish", "region"),
    ]
    sizes = np.array([9000, 12000, 30000, 7000, 8000, 21000, 5000, 5000, 40000, 9000, 0])
    places = np.repeat(np.arange(11), sizes)
    digests = np.random.default_rng(4).integers(0, 1 << 63, places.size).astype(np.uint64)
    after = places
    for move in moves:
        after = draw_move(MoveTable.of(move, sizes), sizes, digests, after, DRAWS, "ed")
    region = np.array([*REGION, 2])
    assert (region[after] == region[places]).all()
    parish = np.array([*PARISH, 4])
    assert (parish[after] != parish[places]).mean() > 0.05
    now = np.bincount(after, minlength=11)
    left = np.bincount(places[after != places], minlength=11)
    # As many come as go: the difference is within five standard deviations of both.
    assert (abs(now - sizes) <= 5 * np.sqrt(2 * left) + 1).all()


@settings(max_examples=9, deadline=None)
@given(seed=st.integers(0, 10**6), holder=st.sampled_from([P, H, D]))
def test_units_move_whole_whoever_holds_the_geography_in_any_order(
    seed: int, holder: Entity
) -> None:
    with TemporaryDirectory() as folder:
        results = []
        for name, shuffled in (("a", None), ("b", seed)):
            store = town(Path(folder) / name, 300, holder=holder, shuffled=shuffled)
            out = moved(store, Path(folder) / f"{name}.out", "ed=0.9", "parish=0.5")
            results.append((by_identity(store), by_identity(out)))
    (before, first), (_, second) = results
    assert first == second
    assert set(first) == set(before)
    changed = {
        name
        for unit, record in first.items()
        for name in record
        if record[name] != before[unit][name]
    }
    assert changed == {"ed"}
    for (entity, _), record in first.items():
        if entity is P and record["_household"] != -1:
            home = first[H, record["_household"]]
            dwelling = first[D, home["_dwelling"]]
            own = home.get("ed", dwelling.get("ed", record["ed"]))
            assert record["ed"] == own
    if holder is P:
        homes: dict[int, set[int]] = {}
        for (entity, _), record in first.items():
            if entity is P and record["_household"] != -1:
                homes.setdefault(record["_household"], set()).add(record["ed"])
        assert all(len(places) == 1 for places in homes.values())


def test_the_moved_store_is_in_order_and_counted_alike(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 900)
    out = moved(store, tmp_path / "b", "ed=0.9")
    assert out.sorted_geography(H) == out.sorted_geography(P) == "ed"
    census = open_store(tmp_path / "b")
    for of in ("households", "persons"):
        first, second = (
            dense(census.tabulate("ed", "tenure", of=of, engine=engine))
            for engine in ("memory", "duckdb")
        )
        assert (first.count == second.count).all()
        assert (first.key == second.key).all()
    # A missing area is nobody's destination, and nobody leaves it.
    before, after = areas_by_identity(store, H), areas_by_identity(out, H)
    assert {unit for unit, area in before.items() if area == 10} == {
        unit for unit, area in after.items() if area == 10
    }


def test_the_office_sees_moves_before_and_after(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 900)
    method = GeographicPram(move=("ed=0.5", "parish=0.6"))
    (expected,) = method.foresee(store, DRAWS, no_progress)
    sizes = np.bincount(store.raw(H, "ed"), minlength=11)[:10]
    groups = [sizes[np.array(PARISH) == parish] for parish in range(4)]
    by_hand = sum(0.5 * group.min() * group.size for group in groups)
    assert expected.rows[0][4] == round(by_hand, 1)
    assert expected.rows[0][6] == 1.0  # x / (p x1) - 1 in the smallest area of a parish
    changes = changes_of(method, store)
    drawn: FactTable = changes.facts[0]
    assert drawn.rows[0][2] == expected.rows[0][4]
    new = changes.codes["ed"]
    assert changes.figures == {"households moved": new.rows.size}
    assert any("parish" in note and "smaller" in note for note in changes.notes)
    assert "confidential" in f"{method!r}{changes!r}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"move": ["ed=0.5"]}, {"move": ["ed=0.6"]}),
        ({"move": ["ed=0.5"]}, {"move": ["ed=0.5", "parish=0.2"]}),
        ({"move": ["ed=0.5"]}, {"move": ["ed/region=0.5"]}),
        ({"move": ["parish=0.5"]}, {"move": ["region=0.5"]}),
    ],
)
def test_every_setting_changes_the_result(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    store = town(tmp_path / "a", 900)
    rows = [
        prepared(store, "geographic-pram", said, secret=SECRET).run().changes.codes["ed"]
        for said in (first, second)
    ]
    assert (rows[0].rows.tolist(), rows[0].values.tolist()) != (
        rows[1].rows.tolist(),
        rows[1].values.tolist(),
    )


@pytest.mark.parametrize("holder", [H, P])
def test_units_that_would_break_a_rule_elsewhere_stay_whole(tmp_path: Path, holder: Entity) -> None:
    rule = "ed == 'e2' and age == 5"
    store = town(tmp_path / "a", 900, holder=holder, rules=(rule,))
    broken = {
        int(digest)
        for rule, rows in impossible_rows(store)
        for digest in store.digests(rule.entity)[rows]
    }
    report = derive(
        store.path, tmp_path / "b", "geographic-pram", {"move": ["ed=0.9"]}, secret=SECRET
    )
    assert report.figures["households kept by edit rules"] > 0
    out = CensusStore.open(tmp_path / "b")
    for broken_rule, rows in impossible_rows(out):
        entity = broken_rule.entity
        assert {int(digest) for digest in out.digests(entity)[rows]} <= broken
    if holder is P:
        homes: dict[int, set[int]] = {}
        for (entity, _), record in by_identity(out).items():
            if entity is P and record["_household"] != -1:
                homes.setdefault(record["_household"], set()).add(record["ed"])
        assert all(len(places) == 1 for places in homes.values())
    refusing = {"move": ["ed=0.9"], "edit_rules": "refuse"}
    with pytest.raises(SpecError, match="declares impossible"):
        derive(store.path, tmp_path / "c", "geographic-pram", refusing, secret=SECRET)


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (["parish/ed=0.1"], "is not a larger area"),
        (["ed=1.5"], "between 0 and 1"),
        (["ed=-0.1"], "between 0 and 1"),
        (["ed=x"], "'x' is not a number"),
        (["0.1"], "--move ed=0.06"),
        (["ed/=0.1"], "--move ed=0.06"),
        (["eds=0.1"], "Did you mean 'ed'"),
        (["ed=0.1", "ed=0.2"], "twice"),
    ],
)
def test_mistakes(tmp_path: Path, moves: list[str], words: str) -> None:
    store = town(tmp_path / "a", 60)
    with pytest.raises((SpecError, UnknownName), match=words):
        moved(store, tmp_path / "b", *moves)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("areas", "moves", "words"),
    [
        ((3,), ["ed=0.5"], "All units are in one area.*sdcensus pram.*--how attributes"),
        ((0, 3, 6, 8), ["ed=0.5"], "no larger area has two areas.*--move ed/LARGER=SHARE"),
    ],
)
def test_where_nobody_can_move_it_is_said_with_what_helps(
    tmp_path: Path, areas: tuple[int, ...], moves: list[str], words: str
) -> None:
    store = town(tmp_path / "a", 120, areas=areas)
    with pytest.raises(SpecError, match=words):
        moved(store, tmp_path / "b", *moves)
    if len(areas) > 1:
        moved(store, tmp_path / "b", "ed/region=0.5")
        moved(store, tmp_path / "c", "ed=0.5", "parish=0.5")


def test_households_that_span_areas_are_refused(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 300, holder=P, spanning=True)
    with pytest.raises(SdcensusError, match=r"Some households span areas.*load again"):
        moved(store, tmp_path / "b", "ed=0.5")


@pytest.mark.parametrize("share", ["0", "1"])
def test_shares_of_zero_and_one(tmp_path: Path, share: str) -> None:
    store = town(tmp_path / "a", 600)
    before = store.raw(H, "ed")
    changes = changes_of(GeographicPram(move=(f"ed/region={share}",)), store)
    new = changes.codes["ed"]
    assert ("No value of ed has changed." in changes.notes) == (share == "0")
    if share == "0":
        assert not new.rows.size
    else:
        sizes = np.bincount(before, minlength=11)
        for region in range(2):
            own = np.flatnonzero(np.array(REGION) == region)
            smallest = own[sizes[own].argmin()]
            assert np.isin(np.flatnonzero(before == smallest), new.rows).all()
