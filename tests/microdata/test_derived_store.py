"""What a derived store keeps and what it changes, whatever a method answers with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError, StoreError
from sdcensus.microdata.derived_store import DerivedRecords, write_derived
from sdcensus.microdata.method import Changes, Draws, NewValues, left_empty
from sdcensus.model.progress import no_progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.secret import Purpose
from sdcensus.session.census.census import Census, open_store
from sdcensus.store.census_store import CensusStore
from sdcensus.store.writer import writing
from sdcensus.testing.island import SECRET
from tests.microdata.settlement import (
    D,
    F,
    H,
    P,
    by_identity,
    dense,
    settlement,
)

STEP = Derivation(parent="0", method="toy", method_version="1", fingerprint="f", secret_id="s")
DRAWS = Draws(SECRET.sub_key(Purpose.SWAP, 1))


def derived_from(store: CensusStore, out: Path, changes: Changes) -> CensusStore:
    with writing(out) as writer:
        write_derived(DerivedRecords(store, changes), writer, STEP, no_progress)
    return CensusStore.open(out)


def new(rows: Any, values: Any) -> NewValues:
    return NewValues(np.asarray(rows, dtype=np.int64), np.asarray(values))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.1, 0.5]))
def test_what_holds_a_record_goes_with_it_and_everything_else_stays(
    seed: int, share: float
) -> None:
    with TemporaryDirectory() as folder:
        store = settlement(Path(folder) / "a", seed)
        draw = np.random.default_rng(seed)
        dropped = {
            entity: np.flatnonzero(draw.random(store.rows(entity)) < share)
            for entity in (D, H, F, P)
            if draw.random() < 0.7
        }
        out = derived_from(store, Path(folder) / "b", Changes(dropped=dropped))
        before, after = by_identity(store), by_identity(out)
        chosen = {
            (entity, int(store.digests(entity)[row]))
            for entity, rows in dropped.items()
            for row in rows.tolist()
        }
        assert set(after) == {one for one in before if not _goes(one, before, chosen)}
        assert all(before[one] == record for one, record in after.items())
        assert out.sorted_geography(P) == "area"


def _goes(
    one: tuple[Entity, int],
    records: Mapping[tuple[Entity, int], Mapping[str, int]],
    chosen: set[tuple[Entity, int]],
) -> bool:
    """By the definition: it was chosen, or something goes that holds it."""
    if one in chosen:
        return True
    above = {parent: records[one].get(f"_{parent}", -1) for parent in (F, H, D)}
    return any(
        digest != -1 and _goes((parent, digest), records, chosen)
        for parent, digest in above.items()
    )


def test_units_that_lose_all_they_held_stay_and_are_counted(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 1)
    families = store.raw(P, "_family")
    changes = Changes(dropped={P: np.flatnonzero(families == 0)})
    derived = DerivedRecords(store, changes)
    out = derived_from(store, tmp_path / "b", changes)
    assert out.rows(F) == store.rows(F)
    links = out.raw(P, "_family")
    held = set(families[families != 0xFFFFFFFF].tolist())
    still = set(links[links != 0xFFFFFFFF].tolist())
    assert left_empty(store, derived.gone)[F] == len(held - still) > 0


class SwapDwellings:
    """Pairs of dwellings in different areas exchange their place, drawn by identity."""

    def changes(self, store: CensusStore) -> Changes:
        order = np.argsort(DRAWS.words(store.digests(D), 7), kind="stable")
        area = store.raw(D, "area")
        first, second = order[:10], order[10:20]
        rows = np.concatenate([first, second])
        values = np.concatenate([area[second], area[first]])
        at = np.argsort(rows)
        return Changes(codes={"area": new(rows[at], values[at])})


def test_units_move_whole_and_the_store_stays_in_order_of_areas(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 3)
    out = derived_from(store, tmp_path / "b", SwapDwellings().changes(store))
    assert all(out.sorted_geography(entity) == "area" for entity in (D, H, F, P))
    before, after = by_identity(store), by_identity(out)
    assert set(before) == set(after)
    moved = {one for one in before if before[one]["area"] != after[one]["area"]}
    assert any(entity is P for entity, _ in moved)
    for one, record in after.items():
        assert {**record, "area": 0} == {**before[one], "area": 0}
    areas = [Counter(r["area"] for (e, _), r in each.items() if e is D) for each in (before, after)]
    assert areas[0] == areas[1]
    _same_on_every_engine(open_store(tmp_path / "b"))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_households_that_exchange_dwellings_have_the_place_of_their_new_dwelling(seed: int) -> None:
    with TemporaryDirectory() as folder:
        store = settlement(Path(folder) / "a", seed)
        order = np.argsort(DRAWS.words(store.digests(H), 7), kind="stable")
        first, second = order[:15], order[15:30]
        rows, dwellings = np.concatenate([first, second]), store.raw(H, "_dwelling")
        at = np.argsort(rows)
        values = dwellings[np.concatenate([second, first])][at]
        changes = Changes(links={(H, D): new(rows[at], values)})
        out = derived_from(store, Path(folder) / "b", changes)
        assert all(out.sorted_geography(entity) == "area" for entity in (D, H, F, P))
        before, after = by_identity(store), by_identity(out)
        partner = dict(zip(rows.tolist(), [*second.tolist(), *first.tolist()], strict=True))
        digests = store.digests(H).tolist()
        for row, digest in enumerate(digests):
            place = before[H, digests[partner.get(row, row)]]
            moved = {name: place[name] for name in ("_dwelling", "area")}
            assert after[H, digest] == {**before[H, digest], **moved}
        for (entity, digest), record in after.items():
            if entity is D:
                assert record == before[entity, digest]
            elif (holder := record.get("_household", -1)) != -1:
                assert record["area"] == after[H, holder]["area"]
                assert {**record, "area": 0} == {**before[entity, digest], "area": 0}
        _same_on_every_engine(open_store(Path(folder) / "b"))


def _same_on_every_engine(census: Census) -> None:
    for of in ("persons", "families", "households", "dwellings"):
        memory, duckdb = (
            dense(census.tabulate("area", "rooms", of=of, engine=engine))
            for engine in ("memory", "duckdb")
        )
        assert (memory.count == duckdb.count).all()
        assert (memory.key == duckdb.key).all()


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_draws_and_results_do_not_depend_on_the_order_of_records(seed: int) -> None:
    with TemporaryDirectory() as folder:
        made = []
        for at, shuffled in enumerate((None, seed)):
            store = settlement(Path(folder) / f"a{at}", 5, shuffled=shuffled)
            changes = SwapDwellings().changes(store)
            made.append(by_identity(derived_from(store, Path(folder) / f"b{at}", changes)))
        assert made[0] == made[1]


def test_draws_are_siphash_of_digest_and_counters_under_the_key_of_their_purpose() -> None:
    draws = Draws(SECRET.sub_key(Purpose.LOOKUP, 1))
    digests = np.array([0, 1888058353, 4294967295], dtype=np.uint64)
    # The vector of methods.md, 1.4.
    assert (draws.words(digests) >> np.uint64(32)).tolist() == [3771097146, 2909567951, 3572026319]
    assert (draws.words(digests, 1) != draws.words(digests, 2)).all()
    assert (draws.words(digests) != DRAWS.words(digests)).all()
    assert "".join(map(str, (draws, [draws]))).count("confidential") == 2


def test_amounts_change_and_variables_are_added(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 4)
    weight = Variable(name="weight", entity=H, role=Role.WEIGHT, continuous=True, decimals=2)
    weights = np.where(np.arange(store.rows(H)) % 7 == 0, 300, 100)
    rows = np.arange(0, store.rows(P), 3)
    changes = Changes(
        amounts={"income": new(rows, np.full(rows.size, 12345))}, added=((weight, weights),)
    )
    out = derived_from(store, tmp_path / "b", changes)
    assert (out.raw(P, "income.value")[rows] == 12345).all()
    census = open_store(tmp_path / "b")
    for engine in ("memory", "duckdb"):
        cube = dense(census.tabulate("tenure", of="households", weights=True, engine=engine))
        assert cube.weight is not None
        assert int(cube.weight.max()) == int(weights.sum())
    assert store.schema.weight(H) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (Changes(codes={"sex": new([0], [3])}), "A new code of 'sex' is not in its list"),
        (Changes(amounts={"sex": new([0], [2])}), "no column 'sex.value'"),
    ],
)
def test_changes_that_do_not_fit_the_store_are_refused(
    tmp_path: Path, changes: Changes, words: str
) -> None:
    store = settlement(tmp_path / "a", 5)
    with pytest.raises(SpecError, match=words):
        derived_from(store, tmp_path / "b", changes)
    assert not (tmp_path / "b").exists()
    assert "confidential" in repr(changes) + repr(new([0], [1]))


def test_a_column_that_was_damaged_does_not_get_a_digest_that_fits(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 3)
    file = store.path / P.value / "sex.bin"
    file.write_bytes(bytes(file.stat().st_size))
    out = derived_from(CensusStore.open(store.path), tmp_path / "b", Changes())
    with pytest.raises(StoreError, match="has changed"):
        list(out.verify())
