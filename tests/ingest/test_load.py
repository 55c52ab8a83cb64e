from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import DataProblems, InputError, OutputError, StoreError
from sdcensus.ingest.load import load_census
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.file_problems import OnProblem, ProblemKind
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from tests.ingest.small_census import (
    DWELLINGS,
    HOUSEHOLDS,
    PERSONS,
    SCHEMA,
    SECRET_BYTES,
    load_small,
    write_census,
)

PERSON, FAMILY, HOUSEHOLD, DWELLING = (
    Entity.PERSON,
    Entity.FAMILY,
    Entity.HOUSEHOLD,
    Entity.DWELLING,
)


def digest(text: str, tag: str) -> int:
    person = f"rkey1{tag}".encode()
    made = hashlib.blake2b(text.encode(), key=SECRET_BYTES, person=person, digest_size=8)
    return int.from_bytes(made.digest(), "big")


def count(store: CensusStore, *by: str, of: str = "persons", universe: str | None = None) -> Cube:
    spec = TableSpec.build(store.schema, by, of=of, universe=universe)
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec))
    assert isinstance(cube, Cube)
    return cube


def test_every_kind_of_unit_is_loaded(tmp_path: Path) -> None:
    store, report = load_small(tmp_path)
    assert dict(report.rows) == {PERSON: 7, FAMILY: 2, HOUSEHOLD: 4, DWELLING: 4}
    assert [store.rows(kind) for kind in (PERSON, FAMILY, HOUSEHOLD, DWELLING)] == [7, 2, 4, 4]
    assert report.problems == ()


def test_record_keys_are_those_of_the_specification(tmp_path: Path) -> None:
    """methods.md 1.4: secret bytes 0..31, ids TT|2011|0412|0007|01..03 and the household."""
    store, _ = load_small(tmp_path)
    keys = set(store.record_keys(PERSON).tolist())
    assert {4201352281, 1746783945, 234889423} <= keys
    assert 378859623 in store.record_keys(HOUSEHOLD).tolist()
    cube = count(store, "ed", universe="age <= 36 and ed == '0412'")
    assert cube.select(ed="0412").count == 3
    assert cube.select(ed="0412").key == 1888058353


def test_digests_come_from_identity_with_a_tag_for_each_kind(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    assert digest("TT|2011|0413|0001|02", "P") in store.digests(PERSON).tolist()
    assert digest("TT|2011|0413|0001|1", "F") in store.digests(FAMILY).tolist()
    assert digest("TT|2011|0412|2", "D") in store.digests(DWELLING).tolist()


def test_records_are_sorted_by_finest_area_in_the_order_of_the_code_list(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    geography = store.schema.geography
    assert geography is not None
    for kind in (PERSON, HOUSEHOLD, DWELLING):
        area = store.raw(kind, "ed")
        assert (np.diff(area.astype(int)) >= 0).all()
    # The code list begins with 0412, so its records come first.
    assert store.raw(PERSON, "ed").tolist() == [0, 0, 0, 0, 1, 2, 2]


def test_variables_of_households_and_dwellings_are_inherited(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    tenure = count(store, "tenure-total", "ed@parish-total")
    assert tenure.count.tolist() == [[0, 5], [1, 1]]
    rooms = count(store, "rooms")
    assert rooms.select(rooms="3").count == 4
    assert rooms.select(rooms="4").count == 2


def test_persons_without_a_family_are_not_applicable(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    cube = count(store, "family_type")
    assert [cell.count for cell in cube.cells()] == [3, 2, 2, 7]
    families = count(store, "family_type", of="families")
    assert [cell.count for cell in families.cells()] == [1, 1, 0, 2]


def test_vacant_dwellings_are_counted_as_dwellings(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    assert count(store, "ed@parish", of="dwellings").count.tolist() == [1, 3, 4]


def test_numbers_are_fixed_point_and_rounded_as_written(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    income = store.raw(PERSON, "income.value").tolist()
    # 50.005 and 10.015 are ties in decimal notation: half to even.
    assert sorted(income) == sorted([120050, 90000, 0, NO_VALUE, 5000, 1002, 0])
    assert sorted(store.raw(PERSON, "income.imputed").tolist()) == [0, 0, 0, 0, 0, 0, 1]
    assert sorted(store.raw(HOUSEHOLD, "weight.value").tolist()) == [
        1_000_000,
        1_000_001,
        1_250_000,
        2_000_000,
    ]
    spec = TableSpec.build(store.schema, ["sex"])
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec, weights=True, sums=("income",)))
    assert isinstance(cube, Cube)
    assert cube.weight is not None
    assert cube.weight.tolist() == [
        1_250_000 * 2 + 2_000_000,
        1_250_000 + 1_000_000 + 1_000_001 + 2_000_000,
        1_250_000 * 3 + 1_000_000 + 1_000_001 + 2 * 2_000_000,
    ]
    assert dict(cube.values.sums)["income"].tolist() == [90000, 126052, 216052]


def test_direct_identifiers_never_enter_the_store(tmp_path: Path) -> None:
    persons = PERSONS.replace("Ana", "Zyxomma Petiolatum")
    store, _ = load_small(tmp_path, persons=persons)
    for file in store.path.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert b"Zyxomma" not in content
            assert SECRET_BYTES not in content
            assert SECRET_BYTES.hex().encode() not in content
    assert "Zyxomma" not in repr(store)


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    header, *rows = PERSONS.strip().splitlines()
    first, _ = load_small(tmp_path / "a")
    second, _ = load_small(tmp_path / "b", persons="\n".join([header, *reversed(rows)]) + "\n")
    one, two = count(first, "ed", "sex", "age"), count(second, "ed", "sex", "age")
    assert (one.count == two.count).all()
    assert (one.key == two.key).all()


def test_all_problems_are_reported_at_once_with_rows(tmp_path: Path) -> None:
    persons = (
        PERSONS.replace("Dee,2,70", "Dee,7,70")
        .replace("Eve,2,999", "Eve,,130")
        .replace("0413,0001,02,1,2,Gus,1,2", "0413,0009,02,1,2,Gus,1,two")
    )
    with pytest.raises(DataProblems) as caught:
        load_small(tmp_path, persons=persons)
    text = str(caught.value)
    assert "persons.csv: sex: unknown code in 1 record (row 5); such as '7'" in text
    assert "persons.csv: sex: empty field in 1 record (row 6)" in text
    assert "persons.csv: age: out of range in 1 record (row 6)" in text
    assert "persons.csv: age: not a number in 1 record (row 8)" in text
    assert "no parent record in 1 record (row 8)" in text
    assert "two" not in text
    assert "0009" not in text
    assert not any(tmp_path.glob("census.store*"))


def test_on_problem_missing_counts_them_as_not_stated(tmp_path: Path) -> None:
    persons = PERSONS.replace("Dee,2,70", "Dee,7,70").replace(
        "0413,0001,02,1,2,Gus", "0413,0009,02,,8,Gus"
    )
    store, report = load_small(tmp_path, on_problem=OnProblem.MISSING, persons=persons)
    assert {problem.kind for problem in report.problems} == {
        ProblemKind.UNKNOWN_CODE,
        ProblemKind.ORPHAN,
    }
    assert [cell.count for cell in count(store, "sex").cells()] == [3, 3, 1, 7]
    orphan = count(store, "tenure", "ed@parish")
    assert orphan.select(tenure="_U", ed="_T").count == 1
    assert orphan.select(tenure="_U", ed="_U").count == 1


def test_duplicate_ids_are_an_error_whatever_the_option(tmp_path: Path) -> None:
    persons = PERSONS + PERSONS.strip().splitlines()[1] + "\n"
    with pytest.raises(DataProblems, match=r"duplicate id in 1 record \(row 9\)"):
        load_small(tmp_path, on_problem=OnProblem.MISSING, persons=persons)


def test_an_empty_id_is_an_error_whatever_the_option(tmp_path: Path) -> None:
    persons = PERSONS.replace("0411,0001,01", "0411,0001,")
    with pytest.raises(DataProblems, match=r"empty id in 1 record \(row 5\)"):
        load_small(tmp_path, on_problem=OnProblem.MISSING, persons=persons)


def test_a_bar_in_an_id_is_refused(tmp_path: Path) -> None:
    persons = PERSONS.replace("0411,0001,01", "0411,0001,0|1")
    with pytest.raises(DataProblems, match="id that cannot be used"):
        load_small(tmp_path, persons=persons)


def test_impossible_combinations_are_reported_by_row_and_rule(tmp_path: Path) -> None:
    persons = PERSONS.replace("Cal,1,4,1", "Cal,1,4,2")
    with pytest.raises(DataProblems, match=r"Married children: impossible.*\(row 4\)"):
        load_small(tmp_path, persons=persons)


def test_rules_about_two_records_are_reported_by_row_and_rule(tmp_path: Path) -> None:
    parents = """
[[impossible]]
when = "marital == 1 and age < 20"
beside = "marital == 2 or age > 28"
within = "family"
gap = "age"
less_than = 28
label = "Young parents"
"""
    with pytest.raises(DataProblems, match=r"Young parents: impossible.*\(row 8\)") as caught:
        load_small(tmp_path, schema=SCHEMA + parents)
    assert "persons.csv" in str(caught.value)
    assert not (tmp_path / "census.store").exists()
    store, _ = load_small(tmp_path, schema=SCHEMA + parents.replace("28\nlabel", "27\nlabel"))
    assert store.schema.impossible[-1].relation is not None


def test_variables_of_a_derived_unit_must_be_constant_in_it(tmp_path: Path) -> None:
    persons = PERSONS.replace("0412,0007,03,1,1", "0412,0007,03,1,2")
    with pytest.raises(DataProblems, match=r"family_type: differs within the unit.*\(row 4\)"):
        load_small(tmp_path, persons=persons)


def test_a_missing_column_is_named_with_the_nearest(tmp_path: Path) -> None:
    persons = PERSONS.replace("marital,income,", "maritale,income,")
    with pytest.raises(InputError, match=r"no column 'marital'\. Did you mean 'maritale'"):
        load_small(tmp_path, persons=persons)


def test_a_store_is_never_overwritten_unless_asked(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    before = store.manifest.data_version
    schema = read_schema(tmp_path / "census.toml")
    with pytest.raises(OutputError, match="already exists"):
        load_census(schema, store.path, secret=Secret(SECRET_BYTES))
    other = Secret(bytes(range(1, 33)))
    load_census(schema, store.path, secret=other, replace=True)
    assert CensusStore.open(store.path).manifest.data_version != before
    assert CensusStore.open(store.path).manifest.secret_id == other.id
    assert [path.name for path in tmp_path.glob("census.store*")] == ["census.store"]


def test_replace_does_not_touch_what_is_not_a_store(tmp_path: Path) -> None:
    schema = read_schema(write_census(tmp_path))
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(OutputError, match="not a census store"):
        load_census(schema, folder, secret=Secret(SECRET_BYTES), replace=True)
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_household_can_take_the_key_of_its_reference_person(tmp_path: Path) -> None:
    schema = SCHEMA + '\n[keys]\nhousehold = "reference-person"\nreference_person = "head == 1"\n'
    schema += '\n[variable.head]\nfile = "person"\ncodes = { 0 = "No", 1 = "Yes" }\n'
    lines = PERSONS.strip().splitlines()
    heads = [f"{lines[0]},head"] + [
        f"{line},{1 if line.split(',')[2] == '01' else 0}" for line in lines[1:]
    ]
    store, _ = load_small(tmp_path, schema=schema, persons="\n".join(heads) + "\n")
    for by in (["ed"], ["tenure", "rooms"]):
        persons = count(store, *by, universe="head == 1")
        households = count(store, *by, of="households")
        assert (persons.count == households.count).all()
        assert (persons.key == households.key).all()
    (tmp_path / "two").mkdir()
    two = [f"{line[:-1]}1" for line in heads[1:]]
    with pytest.raises(DataProblems, match="not exactly one reference person in 2 records"):
        load_small(tmp_path / "two", schema=schema, persons="\n".join([heads[0], *two]) + "\n")


def test_existing_keys_can_come_from_a_column(tmp_path: Path) -> None:
    schema = SCHEMA + '\n[keys.columns]\nperson = { column = "rkey", digits = 2 }\n'
    lines = PERSONS.strip().splitlines()
    keys = ["0.10", "0.20", "0.70", "1", "0.5", "0.25", "0.99"]
    rows = [
        f"{lines[0]},rkey",
        *(f"{line},{key}" for line, key in zip(lines[1:], keys, strict=True)),
    ]
    store, _ = load_small(tmp_path, schema=schema, persons="\n".join(rows) + "\n")
    assert store.manifest.key_space.modulus == 100
    cube = count(store, "ed", "sex")
    # methods.md 1.3: 0.1 + 0.2 + 0.7 is exactly 0 in integers, in any order.
    assert count(store, "ed", universe="age <= 36").select(ed="0412").key == 0
    assert cube.select(sex="_T", ed="_T").key == (10 + 20 + 70 + 0 + 50 + 25 + 99) % 100
    (tmp_path / "bad").mkdir()
    bad = "\n".join(rows).replace(",0.25", ",0.255")
    with pytest.raises(DataProblems, match=r"rkey: key that cannot be used in 1 record \(row 7\)"):
        load_small(tmp_path / "bad", schema=schema, persons=bad + "\n")


def test_a_person_number_keeps_the_key_over_the_years(tmp_path: Path) -> None:
    stores = []
    for year in ("2011", "2021"):
        folder = tmp_path / year
        folder.mkdir()
        schema = SCHEMA.replace('"2011"', f'"{year}"') + '\n[keys]\nscope = "person-number"\n'
        stores.append(load_small(folder, schema=schema)[0])
    first, second = stores
    assert first.record_keys(PERSON).tolist() == second.record_keys(PERSON).tolist()
    assert first.record_keys(HOUSEHOLD).tolist() != second.record_keys(HOUSEHOLD).tolist()


@pytest.mark.parametrize("file", ["persons", "households", "dwellings"])
def test_a_file_with_only_a_header_is_refused(tmp_path: Path, file: str) -> None:
    texts = {"persons": PERSONS, "households": HOUSEHOLDS, "dwellings": DWELLINGS}
    header = texts[file].splitlines()[0] + "\n"
    with pytest.raises(InputError, match=rf"{file}\.csv: there are no records"):
        load_small(tmp_path, on_problem=OnProblem.MISSING, **{file: header})
    assert not any(tmp_path.glob("census.store*"))


def test_columns_have_the_smallest_width(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    types = {name: info.type for name, info in store.manifest.columns[PERSON].items()}
    assert types["sex"] == types["age"] == types["ed"] == "uint8"
    assert types["_key"] == "uint32"
    assert types["_digest"] == "uint64"


@pytest.mark.parametrize("file", ["person/sex.bin", "schema.json", "manifest.json"])
def test_a_damaged_store_is_refused(tmp_path: Path, file: str) -> None:
    store, _ = load_small(tmp_path)
    path = store.path / file
    content = bytearray(path.read_bytes())
    if file == "person/sex.bin":
        content[0] = 200  # no such code: a kernel must never see it
        path.write_bytes(content)
        damaged = CensusStore.open(store.path)
        with pytest.raises(StoreError, match="damaged"):
            count(damaged, "sex")
        with pytest.raises(StoreError, match="changed"):
            list(damaged.verify())
    else:
        path.write_bytes(content[: len(content) // 2])
        with pytest.raises(StoreError):
            CensusStore.open(store.path)


def test_a_cut_column_is_refused(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    path = store.path / "person" / "age.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError, match="cut off"):
        CensusStore.open(store.path)


def test_a_store_of_a_newer_version_says_so(tmp_path: Path) -> None:
    store, _ = load_small(tmp_path)
    path = store.path / "manifest.json"
    text = path.read_text(encoding="utf-8").replace('"version": 1', '"version": 2')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match="newer sdcensus"):
        CensusStore.open(store.path)


CONTENT_SCHEMA = """\
[census]
name = "No ids"
code = "NO"

[files.person]
path = "persons.csv"
entity = "person"

[entity.person]
from_content = true

[variable.sex]
codes = { 1 = "Male", 2 = "Female" }

[variable.age]
range = [0, 99]
"""


def load_content(folder: Path, persons: str) -> CensusStore:
    folder.mkdir()
    (folder / "census.toml").write_text(CONTENT_SCHEMA, encoding="utf-8")
    (folder / "persons.csv").write_text(persons, encoding="utf-8")
    schema = read_schema(folder / "census.toml")
    load_census(schema, folder / "census.store", secret=Secret(SECRET_BYTES))
    return CensusStore.open(folder / "census.store")


def test_without_an_id_content_and_rank_take_its_place(tmp_path: Path) -> None:
    """methods.md 1.4 (c): edits change the keys of the edited records only."""
    rows = ["1,30", "2,30", "1,30", "1,30", "2,41"]
    first = load_content(tmp_path / "a", "\n".join(["sex,age", *rows]) + "\n")
    again = load_content(tmp_path / "b", "\n".join(["sex,age", *reversed(rows)]) + "\n")
    edited = load_content(tmp_path / "c", "\n".join(["sex,age", *rows[:-1], "2,42"]) + "\n")
    keys = [set(store.record_keys(PERSON).tolist()) for store in (first, again, edited)]
    assert len(keys[0]) == 5
    assert keys[0] == keys[1]
    assert len(keys[0] & keys[2]) == 4
