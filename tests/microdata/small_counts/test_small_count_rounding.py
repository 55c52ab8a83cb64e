"""A store without small counts: its tables are those of the method for tables, exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.one_kind import RecordsOfOneKind
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.derive.derivation import derive
from sdcensus.session.derive.step import Step, prepared
from sdcensus.session.protect.linked import count_linked
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import DIGEST_COLUMN, KEY_COLUMN
from sdcensus.testing.island import SECRET, island_store
from tests.microdata.swapping.villages import H, P, Village, write_units

METHOD = "small-count-rounding"
TABLES = ("ed@parish,sex,age", "ed,faith", "tenure,age")


def step_of(store: CensusStore, *tables: str, **said: Any) -> Step:
    return prepared(store, METHOD, {"tables": list(tables), "base": 4, **said}, secret=SECRET)


def published(
    store: CensusStore, *tables: str, where: str = "", of: str = "persons", **said: Any
) -> list[npt.NDArray[np.int64]]:
    """What the method for tables makes of the same list."""
    census = Census(store.schema, store)
    specs = [
        census.spec(*text.split(","), of=of, universe=where or None, measure="count")
        for text in tables
    ]
    method = SmallCountRounding(**{"base": 4, "secret": SECRET, **said})
    return [
        protected.table.published
        for protected in method.protect_together(count_linked(census, specs))
    ]


def counted(
    census: Census, *tables: str, where: str = "", of: str = "persons"
) -> list[npt.NDArray[np.int64]]:
    cubes = [census.tabulate(*text.split(","), of=of, universe=where or None) for text in tables]
    return [cube.held_for("a test").count for cube in cubes]


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    """Persons in households in dwellings, some in no household."""
    store = Village(6, households=150, lonely=0.05, grid=True)
    return store.write(tmp_path_factory.mktemp("village") / "a")


# ---------------------------------------------------------------- the same numbers


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"base": 7},
        {"threshold": 12},
        {"force": True},
        {"inner_check": "none"},
        {"where": "age == 2 or sex == 1"},
    ],
    ids=str,
)
def test_tables_of_the_list_are_what_the_method_for_tables_publishes(
    village: CensusStore, said: dict[str, Any]
) -> None:
    where = said.get("where", "")
    expected = published(village, *TABLES, **said)
    trial = step_of(village, *TABLES, **said).trial()
    for values, counts in zip(expected, counted(trial, *TABLES, where=where), strict=True):
        assert (values == counts).all()


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(
            ["ed", "ed@district", "sex", "age,faith", "ed,age", "tenure,sex", "tenure"]
        ),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    st.integers(1, 12),
)
def test_any_list_has_no_small_counts(village: CensusStore, tables: list[str], base: int) -> None:
    trial = step_of(village, *tables, base=base).trial()
    expected = published(village, *tables, base=base)
    for values, counts in zip(expected, counted(trial, *tables), strict=True):
        assert (values == counts).all()
        assert not ((counts > 0) & (counts < base)).any()


def test_households_are_rounded_as_well(village: CensusStore) -> None:
    tables = ("ed,tenure", "heating,size")
    trial = step_of(village, *tables, of="households").trial()
    expected = published(village, *tables, of="households")
    for values, counts in zip(expected, counted(trial, *tables, of="households"), strict=True):
        assert (values == counts).all()


def test_the_list_of_a_store_can_be_protected_again_and_nothing_changes(
    village: CensusStore,
) -> None:
    trial = step_of(village, *TABLES).trial()
    method = SmallCountRounding(4, secret=SECRET)
    cubes = count_linked(trial, [trial.spec(*text.split(",")) for text in TABLES])
    for protected, cube in zip(method.protect_together(cubes), cubes.cubes, strict=True):
        assert (protected.table.published == cube.count).all()


# ---------------------------------------------------------------- its records


def test_records_are_copied_and_left_out_and_no_other_is_touched(village: CensusStore) -> None:
    step = step_of(village, *TABLES)
    records = step.run()
    assert isinstance(records, RecordsOfOneKind)
    view = DerivedView(records, step.derivation)
    rows = records.order[P].astype(np.int64)
    before = village.digests(P)
    after = view.digests(P)
    first = np.append(True, rows[1:] != rows[:-1])
    assert (after[first] == before[rows[first]]).all()
    assert not np.isin(after[~first], before).any()
    assert np.unique(after).size == after.size
    assert (view.record_keys(P)[first] == village.record_keys(P)[rows[first]]).all()
    assert (view.record_keys(P) == (after >> np.uint64(32)).astype(np.uint32)).all()
    for name in ("ed", "sex", "age", "faith", "tenure"):
        variable = village.schema.variable(name)
        assert (view.raw(P, name) == village.column(P, variable)[rows]).all()
    copies = records.changes.files[0]
    assert copies.columns["copy"].tolist() == after[~first].tolist()
    gone = np.setdiff1d(np.arange(village.rows(P)), rows)
    assert records.changes.dropped[P].tolist() == gone.tolist()
    assert abs(after.size - before.size) <= 2


def test_only_one_kind_and_the_listed_variables_are_left(village: CensusStore) -> None:
    view = step_of(village, *TABLES).trial()
    schema = view.schema
    assert [spec.entity for spec in schema.entities] == [Entity.PERSON]
    assert sorted(variable.name for variable in schema.variables) == [
        "age", "ed", "faith", "sex", "tenure",
    ]  # fmt: skip
    assert all(variable.entity is P for variable in schema.variables)
    assert schema.geography is not None
    assert not schema.identities


def test_the_order_of_records_does_not_matter(tmp_path: Path) -> None:
    country = Village(6, households=120)
    units = country.units()
    plain = write_units(tmp_path / "a", country.schema(), units)
    order = np.random.default_rng(3).permutation(units[P].keys.size)
    turned = units | {P: units[P].__class__(**_permuted(units[P], order))}
    other = write_units(tmp_path / "b", country.schema(), turned)
    one, two = (_digests(step_of(store, *TABLES)) for store in (plain, other))
    assert sorted(one) == sorted(two)


def _digests(step: Step) -> list[int]:
    one_kind = step.run().changes.one_kind
    assert one_kind is not None
    return [int(digest) for digest in one_kind.digests]


def _permuted(units: Any, order: Any) -> dict[str, Any]:
    def turned(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value[order]
        if isinstance(value, dict):
            return {name: turned(part) for name, part in value.items()}
        return value

    return {name: turned(getattr(units, name)) for name in units.__dataclass_fields__}


def test_a_second_rounding_copies_nobody_under_a_known_name(tmp_path: Path) -> None:
    store = Village(6, households=120).write(tmp_path / "a")
    step = step_of(store, "ed,sex")
    first = DerivedView(step.run(), step.derivation)
    digests = _digests(step_of(first, "ed,sex", base=60))
    assert len(set(digests)) == len(digests)


# ---------------------------------------------------------------- on disk


def test_the_store_on_disk_is_that_of_the_trial(tmp_path: Path) -> None:
    island_store(tmp_path / "a.store", 200)
    report = derive(
        tmp_path / "a.store",
        tmp_path / "b.store",
        METHOD,
        {"tables": ["area,sex", "age@class+half,married"], "base": 5},
        secret=SECRET,
    )
    census = open_store(tmp_path / "b.store")
    step = prepared(
        tmp_path / "a.store",
        METHOD,
        {"tables": ["area,sex", "age@class+half,married"], "base": 5},
        secret=SECRET,
    )
    trial = DerivedView(step.run(), step.derivation)
    for column in (DIGEST_COLUMN, KEY_COLUMN, "area", "sex", "age", "married"):
        assert (census.store.raw(P, column) == trial.raw(P, column)).all()
    assert list(census.store.verify())
    assert report.rows[P] == census.store.rows(P)
    assert report.lineage.startswith("small-count-rounding 1 ")
    counts = census.tabulate("age@class+half", "married").held_for("a test").count
    assert not ((counts > 0) & (counts < 5)).any()


def test_an_empty_census_stays_empty(tmp_path: Path) -> None:
    store = island_store(tmp_path / "a", 0).store
    trial = step_of(store, "area,sex").trial()
    assert not trial.tabulate("area", "sex").held_for("a test").count.any()


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"tables": ["ed,sex", "sex,ed"]}, "listed twice"),
        ({"tables": ["nothing"]}, "nothing"),
        ({"tables": ["ed"], "base": 0}, "from 1 to 100"),
        ({"tables": ["ed"], "threshold": 2}, "at least the base"),
        ({"tables": ["rooms"], "of": "dwellings", "where": "sex == 1"}, "sex"),
        ({}, "needs --tables"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    village: CensusStore, said: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        prepared(village, METHOD, {"base": 4, **said}, secret=SECRET).run()


def test_a_census_of_weighted_counts_is_refused(tmp_path: Path) -> None:
    country = Village(6, households=40)
    store = country.write(tmp_path / "a")
    weighed = prepared(store, "systematic-sample", {"every": 3}, secret=SECRET)
    view = DerivedView(weighed.run(), weighed.derivation)
    with pytest.raises(SpecError, match="weighted counts"):
        step_of(view, "ed").run()


def test_changes_beside_a_store_of_one_kind_are_refused(village: CensusStore) -> None:
    changes = step_of(village, "ed").run().changes
    with pytest.raises(SpecError, match="left out or copied"):
        RecordsOfOneKind(village, replace(changes, imputed={"faith": np.zeros(1, dtype=np.int64)}))


def test_households_are_no_kind_of_an_unlisted_store(village: CensusStore) -> None:
    trial = step_of(village, "ed,sex").trial()
    with pytest.raises(SpecError, match="households"):
        trial.tabulate("ed", of="households")
    assert H not in trial.schema.top_down
