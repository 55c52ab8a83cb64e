"""International codes beside national ones."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sdcensus.documents.mapping.harmonisation import read_harmonisation
from sdcensus.errors import DocumentError, SpecError
from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.publication import published
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile
from sdcensus.model.schema.variable import Entity
from sdcensus.session.release.make.harmonisation import harmonised
from sdcensus.store.census_store import CensusStore
from tests.session.release.file_records import (
    file_records,
    release_plan,
    settlement_design,
    settlement_store,
)

TENURE = """\
coding = "IPUMS"

[breakdown.tenure_int]
variable = "tenure"
label = "Ownership (international)"
targets = { 10 = "Owned", 20 = "Rented", 00 = "Not in universe" }
not_applicable = ["00"]
codes = { 0 = "10", "1..2" = "20", 99 = "" }
"""
AGE = """\
[breakdown.age_int]
variable = "age"
targets = "ages.csv"
not_stated = ["99"]
codes = { "0..1" = "11", "2..3" = "12", "4..8" = "20", 99 = "99" }
"""
AGES = "code,label,parent\n10,Young,\n11,Infants,10\n12,Children,10\n20,Adults,\n99,Unknown,\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return settlement_store(tmp_path_factory.mktemp("settlement") / "census.store", 60)


def file_of(store: CensusStore, *recoded: str) -> tuple[ReleaseFile, FileDesign]:
    design = settlement_design(store, Fraction(1, 2), recoded=recoded)
    records = file_records(store, design)
    return published(records, release_plan(design), Draws(bytes(16))), design


def mapping(folder: Path, text: str, ages: str = AGES) -> Path:
    (folder / "ages.csv").write_text(ages, encoding="utf-8")
    path = folder / "international.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_each_national_code_has_one_international_code_beside_it(
    store: CensusStore, tmp_path: Path
) -> None:
    file, design = file_of(store)
    read = read_harmonisation(mapping(tmp_path, TENURE + AGE), store.schema)
    both = harmonised(file, read, design)
    households = both.table(Entity.HOUSEHOLD)
    names = [column.name for column in households.columns]
    assert names.index("tenure_int") == names.index("tenure") + 1
    national, international = households.column("tenure"), households.column("tenure_int")
    assert international.kind is ColumnKind.HARMONISED
    assert (str(international.label), str(international.description)) == (
        "Ownership (international)",
        "IPUMS",
    )
    goes = {"0": "10", "1": "20", "2": "20", "99": "00"}
    for own, other in zip(national.values.tolist(), international.values.tolist(), strict=True):
        assert goes[national.codes[own].code] == international.codes[other].code
    assert [code.code for code in both.table(Entity.PERSON).column("age_int").codes] == [
        "10",
        "11",
        "12",
        "20",
        "99",
    ]
    assert file.table(Entity.HOUSEHOLD).columns[0] is households.columns[0]


def test_a_coarser_code_of_the_file_gets_the_code_above_or_the_declared_rest(
    store: CensusStore, tmp_path: Path
) -> None:
    file, design = file_of(store, "age")  # pairs 0-1, 2-3, 4-5, 6-7, 8
    fitting = read_harmonisation(mapping(tmp_path, AGE), store.schema)
    column = harmonised(file, fitting, design).table(Entity.PERSON).column("age_int")
    assert {column.codes[at].code for at in column.values.tolist()} <= {"11", "12", "20", "99"}
    text = AGE.replace('"0..1" = "11", "2..3"', '0 = "11", "1..3"')
    spanning = read_harmonisation(mapping(tmp_path, text), store.schema)
    column = harmonised(file, spanning, design).table(Entity.PERSON).column("age_int")
    assert "10" in {column.codes[at].code for at in column.values.tolist()}
    flat = AGES.replace(",10\n", ",\n")
    without = read_harmonisation(mapping(tmp_path, text, flat), store.schema)
    with pytest.raises(SpecError, match=r"code 'g0' of 'age' .* 11, 12\. .*\(rest = "):
        harmonised(file, without, design)
    rest = text.replace("codes =", 'rest = "99"\ncodes =')
    resting = read_harmonisation(mapping(tmp_path, rest, flat), store.schema)
    column = harmonised(file, resting, design).table(Entity.PERSON).column("age_int")
    assert "99" in {column.codes[at].code for at in column.values.tolist()}


def test_a_variable_that_the_file_does_not_hold_gets_no_column(
    store: CensusStore, tmp_path: Path
) -> None:
    design = settlement_design(store, Fraction(1, 2), drop="tenure")
    file = published(file_records(store, design), release_plan(design), Draws(bytes(16)))
    read = read_harmonisation(mapping(tmp_path, TENURE), store.schema)
    names = {
        column.name for table in harmonised(file, read, design).tables for column in table.columns
    }
    assert "tenure_int" not in names


def test_a_name_that_is_taken_is_refused(store: CensusStore, tmp_path: Path) -> None:
    file, design = file_of(store)
    read = read_harmonisation(
        mapping(tmp_path, TENURE.replace("tenure_int", "Rooms")), store.schema
    )
    with pytest.raises(SpecError, match="a column 'Rooms' already"):
        harmonised(file, read, design)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"1..2" = "20"', '1 = "20"', "'2' of 'tenure' is not mapped"),
        ('"1..2" = "20"', '"1..2" = "30"', "30"),
        ('"1..2" = "20"', '"0..2" = "20"', "mapped before"),
        ('variable = "tenure"', 'variable = "tenur"', "tenure"),
        ('variable = "tenure"', 'variable = "income"', "no codes"),
        ("coding =", "codeing =", "coding"),
        ('not_applicable = ["00"]', 'not_applicable = ["01"]', "01"),
        ('not_applicable = ["00"]', 'rest = "7"', "7"),
        ('10 = "Owned"', "10 = 5", "label"),
        ('{ 10 = "Owned", 20 = "Rented", 00 = "Not in universe" }', '"no.csv"', "no.csv"),
        ("tenure_int", '"a b"', "name of a column"),
    ],
)
def test_mistakes_are_told_with_their_line(
    store: CensusStore, tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(DocumentError, match=said):
        read_harmonisation(mapping(tmp_path, TENURE.replace(old, new)), store.schema)


def test_records_outside_need_a_code_for_it(store: CensusStore, tmp_path: Path) -> None:
    text = TENURE.replace('not_applicable = ["00"]\n', "")
    file, design = file_of(store)
    read = read_harmonisation(mapping(tmp_path, text), store.schema)
    with pytest.raises(SpecError, match=r"'99' of 'tenure' .* not_applicable = "):
        harmonised(file, read, design)
