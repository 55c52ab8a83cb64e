"""Over-imputation: against a slow direct search, under edit rules, and what is told about it."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as given_settings, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.imputation.over_imputation import OverImputation
from sdcensus.microdata.imputation.selection import DONORS
from sdcensus.microdata.method import Changes, Draws
from sdcensus.model.progress import no_progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.schema import Impossible, Schema
from sdcensus.model.schema.variable import Code, Hierarchy, Level, Variable
from sdcensus.session.census.census import open_store
from sdcensus.session.derive import derive, prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.store.manifest import imputed_column
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.hamlet import SCHEMA, write_hamlet
from tests.microdata.settlement import (
    H,
    P,
    by_identity,
    codes,
    settlement,
    settlement_schema,
    settlement_units,
)

STEP = Derivation(parent="0", method="toy", method_version="1", fingerprint="f", secret_id="s")
BASE = OverImputation(blank=("sex",), rate=0.2, match=("age", "tenure"))
Record = dict[str, int]


def draws(number: int = 1) -> Draws:
    return Draws(number.to_bytes(16, "little"))


def town(path: Path, seed: int, *, imputed: bool = False) -> CensusStore:
    """The settlement with ages that are numbers, areas at two levels, and more rules."""
    schema, units = settlement_schema(), settlement_units(seed)
    by_name = {variable.name: variable for variable in schema.variables}
    ages = (*(Code(str(at), lower=at, upper=at) for at in range(9)), codes(0)[0])
    by_name["age"] = replace(by_name["age"], codes=ages)
    upper = Level("region", (*codes(2),), (0, 0, 0, 1, 1, 2))
    by_name["area"] = replace(by_name["area"], hierarchies=(Hierarchy("h", (upper,)),))
    by_name["sex"] = replace(by_name["sex"], imputed=imputed)
    rules = (
        *schema.impossible,
        Impossible("sex == 1 and age == 3"),
        Impossible("kind == 2 and sex == 0"),
    )
    schema = replace(schema, variables=tuple(by_name.values()), impossible=rules)
    return write_store(path, schema, units, secret_id=SECRET.id)


def view(store: CensusStore, changes: Changes) -> CensusStore:
    return DerivedView(DerivedRecords(store, changes), STEP)


def donors_of(changes: Changes) -> dict[int, int]:
    """Who gave to whom, by digest."""
    (file,) = changes.files
    pairs = zip(file.columns["record"].tolist(), file.columns["donor"].tolist(), strict=True)
    return dict(pairs)


def broken(store: CensusStore) -> set[tuple[str, int]]:
    """The records that break a rule, by rule and digest."""
    return {
        (rule.text, int(digest))
        for rule, rows in impossible_rows(store)
        for digest in store.digests(rule.entity)[rows]
    }


def slow_donors(store: CensusStore, method: OverImputation, chosen: set[int]) -> dict[int, int]:
    """The same search by its definition: every step, every record, every donor.

    Which record breaks a rule is found out by putting the values into a copy of the store.
    """
    schema = store.schema
    unit = schema.variable(method.blank[0]).entity
    digests = store.digests(unit)
    words = dict(zip(digests.tolist(), draws().words(digests, DONORS, 0).tolist(), strict=True))
    rows = {digest: row for row, digest in enumerate(digests.tolist())}
    size = store.rows(unit)

    def column(name: str) -> Any:
        return store.column(unit, schema.variable(name))[slice(0, size)].astype(int)

    match = [column(name) for name in method.match]
    area = column("area")
    region = schema.variable("area").level("region").group_array[area]
    places = [area, region, np.zeros(size)]
    known = broken(store)

    def fits(record: int, donor: int) -> bool:
        from sdcensus.microdata.method import NewValues

        new = {
            name: NewValues(np.array([rows[record]]), store.raw(unit, name)[[rows[donor]]])
            for name in method.blank
        }
        return broken(view(store, Changes(codes=new))) <= known

    left = {digest: method.uses for digest in rows if digest not in chosen}
    waiting = sorted(chosen, key=lambda digest: (words[digest], digest))
    pairs: dict[int, int] = {}
    for agreeing in range(len(match), method.agree - 1, -1):
        for place in places:
            for record in [digest for digest in waiting if digest not in pairs]:
                at = rows[record]
                near = []
                for donor, uses in left.items():
                    to = rows[donor]
                    same = all(values[at] == values[to] for values in match[:agreeing])
                    if not uses or not same or place[at] != place[to]:
                        continue
                    ordered = agreeing < len(match) and method.match[agreeing] == "age"
                    distance = abs(match[agreeing][at] - match[agreeing][to]) if ordered else 0
                    around = (words[donor] - words[record]) % (1 << 64)
                    near.append((distance, around, donor))
                for _, _, donor in sorted(near):
                    if fits(record, donor):
                        pairs[record] = donor
                        left[donor] -= 1
                        break
    return pairs


@given_settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rate=st.sampled_from([0.05, 0.3, 0.7]),
    uses=st.sampled_from([1, 2]),
    agree=st.sampled_from([0, 1, 2]),
    shape=st.sampled_from(
        [
            (("sex",), ("age", "tenure")),
            (("sex",), ("tenure", "age")),
            (("tenure",), ("size", "rooms")),
        ]
    ),
)
def test_donors_are_those_of_a_slow_search(
    seed: int, rate: float, uses: int, agree: int, shape: Any
) -> None:
    with TemporaryDirectory() as folder:
        store = town(Path(folder) / "a", seed)
        blank, match = shape
        method = OverImputation(blank=blank, rate=rate, match=match, uses=uses, agree=agree)
        changes = method.derive(store, draws(), no_progress)
        unit = store.schema.variable(blank[0]).entity
        chosen = set(
            store.digests(unit)[
                method._prepared(store, draws(), no_progress).selection.rows
            ].tolist()
        )
        pairs = donors_of(changes)
        assert pairs == slow_donors(store, method, chosen)
        assert not chosen & set(pairs.values())
        assert max(np.unique(list(pairs.values()), return_counts=True)[1], default=0) <= uses
        before, after = by_identity(store), by_identity(view(store, changes))
        for (kind, digest), record in after.items():
            expected = dict(before[kind, digest])
            if kind is unit and digest in pairs:
                expected |= {name: before[kind, pairs[digest]][name] for name in blank}
            assert record == expected
        assert broken(view(store, changes)) <= broken(store)
        told = {fact.name: fact for fact in changes.facts}
        failed = len(chosen) - len(pairs)
        lines = told["imputation-failures"].rows if failed else ()
        assert sum(int(line[2]) for line in lines) == failed  # type: ignore[arg-type, misc]
        assert changes.figures["left as they were"] == failed
        steps = told["imputation-donors-found"].rows
        assert sum(int(line[3]) for line in steps) == len(pairs)  # type: ignore[arg-type, misc]


def test_the_order_of_records_does_not_matter(tmp_path: Path) -> None:
    stores = [settlement(tmp_path / name, 5, shuffled=s) for name, s in (("a", None), ("b", 9))]
    results = [by_identity(view(each, BASE.derive(each, draws(), no_progress))) for each in stores]
    assert results[0] == results[1] != by_identity(stores[0])


def test_every_setting_changes_the_result(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 3)
    base = donors_of(BASE.derive(store, draws(), no_progress))
    for other in (
        {"rate": 0.3},
        {"match": ("tenure", "age")},
        {"where": "age > 4"},
        {"risk": ("age", "rooms")},
        {"risk": ("age", "rooms"), "k": 30},
        {"donor_areas": ("total",)},
        {"donor_areas": ("region", "total")},
        {"agree": 0, "match": ("rooms", "age", "tenure", "kind")},
        {"blank": ("sex", "age"), "match": ("tenure",)},
        {"uses": 3, "match": ("rooms", "age", "tenure", "kind")},
    ):
        changed = donors_of(replace(BASE, **other).derive(store, draws(), no_progress))
        assert changed != base, other
    assert donors_of(BASE.derive(store, draws(2), no_progress)) != base


def test_rare_combinations_go_first(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 3)
    method = replace(BASE, risk=("age", "rooms", "area"), k=3)
    selection = method._prepared(store, draws(), no_progress).selection
    columns = [
        store.column(P, store.schema.variable(name))[slice(0, store.rows(P))]
        for name in ("age", "rooms", "area")
    ]
    together = list(zip(*(column.tolist() for column in columns), strict=True))
    alike = np.array([together.count(each) for each in together])
    assert selection.at_risk == (alike < 3).sum() > selection.rows.size
    left = np.delete(alike, selection.rows)
    assert alike[selection.rows].max() <= left.min()
    everybody = replace(method, k=10**6)._prepared(store, draws(), no_progress).selection
    assert everybody.at_risk == store.rows(P)


def test_flags_of_the_schema_are_set_and_can_exclude_donors(tmp_path: Path) -> None:
    flagged = SCHEMA.replace(
        '[variable.married]\nfile = "person"',
        '[variable.married]\nfile = "person"\nimputed = "flag"',
    )
    hamlet = write_hamlet(tmp_path / "h", schema=flagged, persons=_flagged())
    hamlet.load()
    said = {"blank": "married", "rate": 0.2, "match": "age@ten_year,sex"}
    report = derive(hamlet.store, tmp_path / "a", "over-imputation", said, secret=SECRET)
    before, after = CensusStore.open(hamlet.store), CensusStore.open(tmp_path / "a")
    column = imputed_column("married")
    old = dict(zip(before.digests(P).tolist(), before.raw(P, column).tolist(), strict=True))
    new = dict(zip(after.digests(P).tolist(), after.raw(P, column).tolist(), strict=True))
    with (tmp_path / "a.office" / "donors.csv").open(encoding="utf-8") as file:
        imputed = {int(line["record"], 16) for line in csv.DictReader(file)}
    assert len(imputed) == report.figures["imputed anew"] > 100
    assert new == {digest: int(flag or digest in imputed) for digest, flag in old.items()}
    with (tmp_path / "a.office" / "changed-records.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["change"] == "imputed"]
    assert {int(line["record"], 16) for line in lines} == imputed
    # Who was imputed before gives nothing, if the office says so.
    skipping = derive(
        hamlet.store,
        tmp_path / "b",
        "over-imputation",
        {**said, "skip_imputed": True},
        secret=SECRET,
    )
    with (tmp_path / "b.office" / "donors.csv").open(encoding="utf-8") as file:
        gave = {int(line["donor"], 16) for line in csv.DictReader(file)}
    assert skipping.figures["imputed anew"] > 100
    assert not any(old[digest] for digest in gave)
    assert open_store(tmp_path / "b").schema == open_store(hamlet.store).schema


def _flagged() -> list[dict[str, str]]:
    from tests.hamlet import rows

    persons, _ = rows()
    return [{**row, "flag": str(int(at % 4 == 0))} for at, row in enumerate(persons)]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rate": 0}, "blanks no record"),
        ({"rate": 1}, "Nobody is left to give"),
        ({"rate": 2}, "between 0 and 1"),
        ({"blank": "income"}, "continuous"),
        ({"blank": "size"}, "counts the persons"),
        ({"blank": "area"}, "by swapping"),
        ({"blank": "sex,tenure"}, "one kind of unit at a time"),
        ({"blank": "sex,sex"}, "twice"),
        ({"match": "sex"}, "is blanked"),
        ({"match": "income"}, "continuous"),
        ({"blank": "tenure", "match": "age"}, "may have several"),
        ({"where": "sex == 0", "blank": "tenure", "match": "rooms"}, "may have several"),
        ({"where": "age == 99 and sex == 0"}, "Change the condition"),
        ({"agree": 3}, "at most 1"),
        ({"k": 5}, "needs --risk"),
        ({"uses": 0}, "at least 1"),
        ({"risk": "income"}, "--risk"),
        ({"skip_imputed": True}, "imputed ="),
        ({"match": None}, "needs --match"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    store = settlement(tmp_path / "a", 1)
    said = {"blank": "sex", "rate": 0.1, "match": "age", **settings}
    said = {name: value for name, value in said.items() if value is not None}
    with pytest.raises(SpecError, match=words):
        prepared(store, "over-imputation", said, secret=SECRET).run()


def test_unknown_names_are_said_with_those_that_there_are(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 1)
    for wrong in ({"blank": "sexx"}, {"match": "agee"}, {"match": "age@x"}, {"donor_areas": "x"}):
        said = {"blank": "sex", "rate": 0.1, "match": "age", **wrong}
        with pytest.raises(UnknownName):
            prepared(store, "over-imputation", said, secret=SECRET).run()


def test_a_census_without_areas_has_one_place(tmp_path: Path) -> None:
    schema, units = settlement_schema(), settlement_units(2)
    plain = tuple(
        replace(variable, role=None) if variable.name == "area" else variable
        for variable in schema.variables
    )
    store = write_store(
        tmp_path / "a", replace(schema, variables=plain), units, secret_id=SECRET.id
    )
    changes = BASE.derive(store, draws(), no_progress)
    assert donors_of(changes)
    assert {str(line[2]) for line in changes.facts[1].rows} == {"the whole country"}
    with pytest.raises(SpecError, match="--donor-areas total"):
        replace(BASE, donor_areas=("district",)).derive(store, draws(), no_progress)


def test_what_is_foreseen_holds(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 3)
    selected, donors = BASE.foresee(store, draws(), no_progress)
    changes = BASE.derive(store, draws(), no_progress)
    assert selected.rows == changes.facts[0].rows
    # Without a limit on uses and without rules, a step finds at most all who have a donor there.
    for foreseen, found in zip(donors.rows, changes.facts[1].rows, strict=False):
        assert int(found[3]) <= int(foreseen[3])  # type: ignore[arg-type]
    blanked = next(int(row[1]) for row in selected.rows if row[0] == "chosen")  # type: ignore[arg-type]
    assert int(donors.rows[-1][3]) <= blanked  # type: ignore[arg-type]


def test_households_are_imputed_with_rules_about_their_persons(tmp_path: Path) -> None:
    """No household with small children becomes one of tenure 2, by the rule about persons."""
    store = town(tmp_path / "a", 6)
    method = OverImputation(blank=("tenure",), rate=0.4, match=("rooms",), uses=5)
    changes = method.derive(store, draws(), no_progress)
    after = view(store, changes)
    assert changes.codes["tenure"].rows.size
    assert broken(after) <= broken(store)
    # Without the rule, there are such households: the test would see it if rules were not read.
    schema: Schema = replace(store.schema, impossible=())
    free = CensusStore(store.path, store.manifest, schema)
    assert not broken(view(store, method.derive(free, draws(), no_progress))) <= broken(store)
    assert after.rows(H) == store.rows(H)
    assert isinstance(store.schema.variable("tenure"), Variable)
