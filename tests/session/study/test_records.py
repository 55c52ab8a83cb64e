"""Who is still where he was, counted record by record."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import Changes, NewValues
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.study.records import imputed_records, untouched_by_cell, weight_changed
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET, island_store
from tests.microdata.settlement import AREAS, by_identity, settlement

STEP = Derivation(parent="", method="toy", method_version="1", fingerprint="", secret_id="")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return settlement(tmp_path_factory.mktemp("settlement") / "s.store", 7)


def view(store: CensusStore, changes: Changes) -> DerivedView:
    return DerivedView(DerivedRecords(store, changes), STEP)


@given(st.integers(0, 1 << 30))
@settings(max_examples=20, deadline=None)
def test_records_are_untouched_if_they_stay_in_their_cell(store: CensusStore, seed: int) -> None:
    """Dwellings move, ages change, persons go; some persons live nowhere. By plain Python."""
    draw = np.random.default_rng(seed)
    moved = np.sort(draw.choice(store.rows(Entity.DWELLING), 8, replace=False))
    aged = np.sort(draw.choice(store.rows(Entity.PERSON), 15, replace=False))
    gone = np.sort(draw.choice(store.rows(Entity.PERSON), 5, replace=False))
    changes = Changes(
        dropped={Entity.PERSON: gone},
        codes={
            "area": NewValues(moved, draw.integers(0, AREAS, moved.size)),
            "age": NewValues(aged, draw.integers(0, 9, aged.size)),
        },
    )
    derived = view(store, changes)
    spec = Census(store.schema, store).spec("area", "sex")
    before, after = by_identity(store), by_identity(derived)
    wanted: Counter[tuple[int, int]] = Counter()
    for key, said in before.items():
        if key[0] is Entity.PERSON:
            cell = said["area"], said["sex"]
            now = after.get(key)
            wanted[cell] += now is not None and (now["area"], now["sex"]) == cell
    untouched = untouched_by_cell(store, spec, derived)
    assert {cell: int(untouched[cell]) for cell in wanted} == dict(wanted)
    # A change that the table does not show is none.
    assert (untouched_by_cell(store, spec, store) == untouched_by_cell(store, spec)).all()
    whole = Census(store.schema, store).spec("sex")
    kept = untouched_by_cell(store, whole, derived).sum()
    assert kept == store.rows(Entity.PERSON) - gone.size


def test_other_weights_are_told(tmp_path: Path) -> None:
    store = island_store(tmp_path / "i.store").store
    rows = np.array([1, 4, 9])
    own = store.values(Entity.PERSON, store.schema.variable("weight"))[0:10]
    derived = view(store, Changes(amounts={"weight": NewValues(rows, own[rows] * 2)}))
    assert np.flatnonzero(weight_changed(store, derived, Entity.PERSON)).tolist() == [1, 4, 9]
    assert not weight_changed(store, store, Entity.PERSON).any()


SCHEMA = """\
[census]
name = "Flags"
code = "F1"
measure = "count"

[files.person]
path = "persons.csv"
entity = "person"

[files.household]
path = "households.csv"
entity = "household"

[entity.household]
id = ["house"]

[entity.person]
id = ["house", "number"]
within = "household"

[variable.ed]
file = "household"
role = "geography"
codes = { A = "A", B = "B" }

[variable.tenure]
file = "household"
imputed = "tenure_flag"
codes = { 1 = "own", 2 = "rent" }

[variable.sex]
file = "person"
imputed = "sex_flag"
codes = { 1 = "male", 2 = "female" }
"""


def test_imputed_values_of_the_table_count_and_others_do_not(tmp_path: Path) -> None:
    """Of three persons one has an imputed sex, and one lives in a house with an imputed tenure."""
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "households.csv").write_text(
        "house,ed,tenure,tenure_flag\n1,A,1,0\n2,B,2,1\n", encoding="utf-8"
    )
    (tmp_path / "persons.csv").write_text(
        "house,number,sex,sex_flag\n1,1,1,1\n1,2,2,0\n2,1,2,0\n", encoding="utf-8"
    )
    load(tmp_path / "schema.toml", tmp_path / "flags.store", secret=SECRET)
    census = open_store(tmp_path / "flags.store")
    store = census.store
    by_sex, by_tenure = census.spec("ed", "sex"), census.spec("ed", "tenure")
    assert imputed_records(store, by_sex).sum() == 1
    assert imputed_records(store, by_tenure).sum() == 1
    assert imputed_records(store, census.spec("ed")).sum() == 0
    assert untouched_by_cell(store, by_sex).tolist() == [[0, 1], [0, 1]]
    assert untouched_by_cell(store, by_tenure).tolist() == [[2, 0], [0, 0]]
    assert untouched_by_cell(store, census.spec("ed", "sex", universe="tenure == 1")).sum() == 1
    both = untouched_by_cell(store, census.spec("ed", "sex", universe="tenure == 2"))
    assert both.sum() == 0
