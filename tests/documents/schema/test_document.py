"""The reader of ``schema.toml``: what it builds, and what it says about mistakes."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.schema.document import read_schema, schema_from_document
from sdcensus.documents.toml.lines import TomlDocument, parse_toml
from sdcensus.errors import DocumentError, InputError, Mistake, SdcensusError
from sdcensus.model.schema.edit_rules import rule_text
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import (
    Combine,
    HouseholdKey,
    KeyColumn,
    KeyScope,
    KeySpace,
    Schema,
)
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import CodeKind, EmptyField, Entity, EntitySpec, Role
from sdcensus.model.text import Text

EXAMPLE = Path(__file__).parent / "example"

#: A sound schema to which the tests add mistakes.
HEAD = """
[census]
name = "Census"
code = "C"
languages = ["en", "es"]
[files.person]
path = "persons.csv"
entity = "person"
[files.household]
path = "households.csv"
entity = "household"
[entity.person]
id = ["ed", "hh", "no"]
within = "household"
[entity.household]
id = ["ed", "hh"]
[variable.sex]
file = "person"
codes = { 1 = "Male", 2 = "Female" }
[variable.age]
file = "person"
range = [0, 99]
[variable.rooms]
file = "household"
range = [1, 9]
"""


def read(folder: Path, text: str) -> Schema:
    path = folder / "schema.toml"
    path.write_text(text, encoding="utf-8", newline="\n")
    return read_schema(path)


def mistakes_in(folder: Path, text: str) -> tuple[Mistake, ...]:
    with pytest.raises(DocumentError) as caught:
        read(folder, text)
    return caught.value.mistakes


@pytest.fixture(scope="module")
def example() -> Schema:
    return read_schema(EXAMPLE / "schema.toml")


# ---------------------------------------------------------------- what it builds


def test_census_and_keys(example: Schema) -> None:
    assert example.census.code == ("IP", "2021")
    assert example.census.reference_date == "2021-04-01"
    assert example.census.languages == ("en", "es")
    assert example.keys.scope is KeyScope.CENSUS
    assert example.keys.household is HouseholdKey.REFERENCE_PERSON
    assert example.keys.space == KeySpace(4096, Combine.XOR)
    assert example.keys.column_of(Entity.PERSON) == KeyColumn("rkey")


def test_files(example: Schema) -> None:
    person = example.file("person").source
    assert (person.format, person.encoding, person.delimiter, person.decimal) == (
        FileFormat.CSV,
        "latin-1",
        ";",
        ",",
    )
    assert person.paths == (EXAMPLE / "persons.csv",)
    household = example.file("household")
    assert household.entity is Entity.HOUSEHOLD
    assert household.source.format is FileFormat.PARQUET
    assert [path.name for path in household.source.paths] == [
        "households-north.parquet",
        "households-south.parquet",
    ]


def test_entities_and_what_they_are_derived_from(example: Schema) -> None:
    assert example.entities == (
        EntitySpec(
            entity=Entity.PERSON,
            id=("ed", "household_no", "person_no"),
            within=Entity.HOUSEHOLD,
            link=("ed", "household_no"),
        ),
        EntitySpec(
            entity=Entity.HOUSEHOLD,
            id=("ed", "household_no"),
            within=Entity.DWELLING,
            link=("ed", "dwelling_no"),
            optional=True,
        ),
        EntitySpec(
            entity=Entity.FAMILY,
            id=("ed", "household_no", "family_no"),
            within=Entity.HOUSEHOLD,
            link=("ed", "household_no"),
            derived_from=Entity.PERSON,
        ),
        EntitySpec(
            entity=Entity.DWELLING,
            id=("ed", "dwelling_no"),
            derived_from=Entity.HOUSEHOLD,
        ),
    )
    assert example.variable("family_type").entity is Entity.FAMILY


def test_in_a_flat_file_everything_is_derived_from_its_rows(tmp_path: Path) -> None:
    schema = read(
        tmp_path,
        """
        [census]
        name = "Census"
        reference_date = "2021-04-01"
        [files.all]
        path = "all.csv"
        entity = "person"
        [entity.person]
        id = ["b", "d", "h", "p"]
        within = "household"
        [entity.household]
        id = ["b", "d", "h"]
        within = "dwelling"
        [entity.dwelling]
        id = ["b", "d"]
        within = "building"
        [entity.building]
        id = "b"
        [variable.floors]
        entity = "building"
        range = [1, 50]
        [variable.sex]
        codes = { 1 = "Male", 2 = "Female" }
        """,
    )
    assert {entity.entity: entity.derived_from for entity in schema.entities} == {
        Entity.PERSON: None,
        Entity.HOUSEHOLD: Entity.PERSON,
        Entity.DWELLING: Entity.PERSON,
        Entity.BUILDING: Entity.PERSON,
    }
    assert schema.census.code == ("2021-04-01",)
    assert schema.variable("floors").entity is Entity.BUILDING
    source = schema.variable("sex").source
    assert source is not None
    assert (source.file, source.column) == ("all", "sex")


def test_codes_are_text_and_missing_codes_come_last(example: Schema) -> None:
    sex = example.variable("sex")
    assert [(code.code, code.kind) for code in sex.codes] == [
        ("1", CodeKind.VALID),
        ("2", CodeKind.VALID),
        ("9", CodeKind.NOT_STATED),
    ]
    assert sex.codes[0].label == Text((("en", "Male"), ("es", "Hombre")))
    assert sex.codes[2].label == Text((("en", "Not stated"), ("es", "No declarado")))
    assert sex.label.show("es") == "Sexo"
    assert sex.topic.show("en") == "Basics"
    marital = example.variable("marital_status")
    assert [code.code for code in marital.codes] == ["1", "2", "3", "8", "9"]
    assert marital.codes[3].kind is CodeKind.NOT_APPLICABLE
    religion = example.variable("religion")
    assert religion.codes[-1].label.show("es") == "Sin respuesta"
    assert religion.codes[-1].kind is CodeKind.NOT_STATED


def test_levels_of_trees(example: Schema) -> None:
    occupation = example.variable("occupation")
    assert occupation.leaf_level == "unit"
    assert occupation.level("unit").codes == occupation.codes
    assert [code.code for code in occupation.level("major").codes] == ["1", "0", "9998", "9999"]
    area = example.variable("ed")
    assert [hierarchy.name for hierarchy in area.hierarchies] == ["ed", "constituency", "health"]
    assert area.level("constituency").group == (0, 1, 1)
    assert area.level("constituency").codes[1].label.show() == "Hills"
    assert area.level("hospital").group == (0, 0, 0)
    assert example.geography == area


def test_levels_of_numbers(example: Schema) -> None:
    age = example.variable("age")
    assert [[level.name for level in hierarchy.levels] for hierarchy in age.hierarchies] == [
        ["five_year", "broad"],
        ["school"],
    ]
    assert [code.code for code in age.level("school").codes] == [
        "0-5",
        "6-11",
        "12-17",
        "18+",
        "999",
    ]
    assert len(age.level("five_year").codes) == 19


def test_continuous_variables(example: Schema) -> None:
    income = example.variable("income")
    assert income.continuous
    assert income.decimals == 2
    assert income.imputed
    assert [code.code for code in income.codes] == [
        "0-999",
        "1000-1499",
        "1500-4999",
        "5000-19999",
        "20000+",
        "_U",
    ]
    assert [code.code for code in income.level("bracket").codes] == [
        "0-999",
        "1000-4999",
        "5000+",
        "_U",
    ]
    rent = example.variable("rent")
    assert rent.continuous
    assert [(code.code, code.kind) for code in rent.codes] == [
        ("stated", CodeKind.VALID),
        ("99999", CodeKind.NOT_STATED),
    ]
    weight = example.variable("weight")
    assert (weight.role, weight.continuous, weight.decimals, weight.codes) == (
        Role.WEIGHT,
        True,
        6,
        (),
    )


def test_sources_of_variables(example: Schema) -> None:
    sources = {variable.name: variable.source for variable in example.variables}
    sex, number, income = sources["sex"], sources["person_no"], sources["income"]
    assert sex is not None
    assert number is not None
    assert income is not None
    assert (sex.file, sex.column, sex.empty) == ("person", "P03", EmptyField.PROBLEM)
    assert number.width == 2
    assert (income.imputed, income.empty) == ("income_flag", EmptyField.NOT_STATED)


def test_a_grid_is_a_variable_of_its_own(example: Schema) -> None:
    grid = example.variable("ed_grid")
    assert grid.entity is Entity.HOUSEHOLD
    assert len(grid.codes) == 7
    assert example.grids[0].variable == "ed_grid"
    assert grid.source is not None
    assert (grid.source.file, grid.source.column) == ("household", "easting")


def test_patterns_find_all_files(tmp_path: Path) -> None:
    for name in ("persons-2.csv", "persons-1.csv", "persons[1].csv", "other.csv"):
        (tmp_path / name).touch()
    schema = read(tmp_path, HEAD.replace("persons.csv", "persons-*.csv"))
    assert schema.file("person").source.paths == (
        tmp_path / "persons-1.csv",
        tmp_path / "persons-2.csv",
    )
    absolute = (tmp_path / "persons-?.csv").as_posix()
    assert len(read(tmp_path, HEAD.replace("persons.csv", absolute)).files[0].source.paths) == 2
    literal = read(tmp_path, HEAD.replace("persons.csv", "persons[1].csv"))
    assert literal.files[0].source.paths == (tmp_path / "persons[1].csv",)


def test_the_extent_of_a_grid_is_that_of_its_cells(tmp_path: Path) -> None:
    grid = 'grid = { x = "e", y = "n", epsg = 1, cell = 100, extent = [-50, 20, 250, 200] }'
    text = HEAD + variable('role = "geography"', "range = [0, 9]", grid, name="area")
    schema = read(tmp_path, text)
    assert schema.grids[0].extent == (-100, 0, 300, 200)
    assert len(schema.variable("area_grid").codes) == 4 * 2 + 1


def test_a_grid_may_have_several_sizes(tmp_path: Path) -> None:
    grid = (
        'grid = { x = "e", y = "n", epsg = 3035, cells = [1000, 100, 500],'
        " extent = [450, 0, 1150, 100] }"
    )
    text = HEAD + variable('role = "geography"', "range = [0, 9]", grid, name="area")
    schema = read(tmp_path, text)
    squares = schema.variable("area_grid")
    assert schema.grids[0].sizes == (100, 500, 1000)
    assert schema.grids[0].extent == (400, 0, 1200, 100)
    assert [level.name for level in squares.levels()] == ["100m", "500m", "1km"]
    assert squares.level().name == "100m"
    assert squares.level_label("1km").show("en") == "Grid cell of 1 km"
    assert squares.label.show("en") == "Grid cell of 100 m, 500 m, 1 km"


def test_one_size_in_a_list_is_a_grid_of_that_size(tmp_path: Path) -> None:
    grid = 'grid = {{ x = "e", y = "n", epsg = 3035, {}, extent = [0, 0, 900, 900] }}'
    single, listed = (
        read(
            tmp_path,
            HEAD + variable('role = "geography"', "range = [0, 9]", grid.format(size), name="area"),
        )
        for size in ("cell = 300", "cells = [300]")
    )
    assert single.variable("area_grid") == listed.variable("area_grid")
    assert single.grids == listed.grids


def test_records_without_an_id_are_known_by_their_content(tmp_path: Path) -> None:
    text = HEAD.replace('id = ["ed", "hh", "no"]', "from_content = true")
    spec = read(tmp_path, text).entity(Entity.PERSON)
    assert (spec.from_content, spec.id) == (True, ())
    (mistake,) = mistakes_in(tmp_path, HEAD.replace('id = ["ed", "hh"]', "from_content = true"))
    assert "persons lie within a household" in mistake.text


def test_a_rule_may_be_about_two_records_of_a_unit(tmp_path: Path) -> None:
    text = """
[[impossible]]
when = "sex == 1 and age < 15"
beside = "sex == 2"
[[impossible]]
when = "sex == 1"
beside = "sex == 2 and rooms == 1"
within = "households"
gap = "age"
less_than = 12
more_than = -60
label = "Parents"
"""
    first, second = read(tmp_path, HEAD + text).impossible
    assert first.relation == Relation(beside="sex == 2")
    assert second.relation == Relation(
        beside="sex == 2 and rooms == 1",
        within=Entity.HOUSEHOLD,
        gap="age",
        less_than=12,
        more_than=-60,
    )
    assert rule_text(first) == "sex == 1 and age < 15, beside sex == 2"
    assert rule_text(second) == "Parents"


def test_decimal_keys_fix_the_modulus(tmp_path: Path) -> None:
    text = '[keys.columns]\nperson = { column = "k", digits = 8 }\n'
    assert read(tmp_path, HEAD + text).keys.space == KeySpace(10**8)


# ---------------------------------------------------------------- mistakes


def variable(*settings: str, name: str = "x") -> str:
    """One more variable, of the file of persons."""
    return "\n".join([f"[variable.{name}]", 'file = "person"', *settings])


def dwellings(*settings: str) -> str:
    """One more file."""
    return "\n".join(
        ["[entity.dwelling]", 'id = "d"', "[files.x]", 'entity = "dwelling"', *settings]
    )


def lines(*texts: str) -> str:
    """Any other lines."""
    return "\n".join(texts)


OTHER = 'beside = "sex == 2"'


def two(*settings: str) -> str:
    """A rule about two persons."""
    return lines("[[impossible]]", 'when = "sex == 1"', *settings)


#: A mistake, and words that the message has. The line that ends in ``#!`` is the one to be named.
MISTAKES = [
    # settings and words
    (variable('roel = "key" #!', "range = [0, 1]"), r"Did you mean 'role'"),
    (variable('role = "keey" #!', "range = [0, 1]"), r"no role 'keey'.*'key'"),
    (variable("range = [0, 1.5] #!"), r"two whole numbers"),
    (variable("range = [0, 1]", 'width = "2" #!'), r"'width' should be a whole"),
    (variable("continuous = 1 #!"), r"true or false"),
    (lines("variables = 1 #!"), r"no table 'variables'. Did you mean 'variable'"),
    (lines("[keys]", "[keys.colums] #!"), r"Did you mean 'columns'"),
    (lines("[entity.persn] #!", "id = 'a'"), r"no kind of unit 'persn'. Did you mean 'person'"),
    (lines("[entity.dwelling] #!", "optional = true #!"), r"'id' is missing"),
    (lines("[[impossible]] #!", "label = 'x'"), r"the setting 'when' is missing"),
    (lines("[impossible] #!", "when = 'x'"), r"\[\[impossible\]\]"),
    # names that cannot be files of a store everywhere
    (lines("[variable._key] #!", 'file = "person"', "range = [0, 1]"), r"no underscore in front"),
    (lines("[variable.con] #!", 'file = "person"', "range = [0, 1]"), r"file on Windows"),
    (lines("[variable.Sex] #!", 'file = "person"', "range = [0, 1]"), r"only in capital letters"),
    # files
    (dwellings('path = "no-*.csv" #!'), r"no file matches"),
    (dwellings('path = "a.doc" #!'), r"does not tell"),
    (
        lines("[files.x]", 'entity = "person" #!', 'path = "a.csv"'),
        r"'person' holds persons already",
    ),
    (
        lines(
            "[files.x] #!", 'entity = "dwelling"', 'path = "a.dat"', "[entity.dwelling]", 'id = "d"'
        ),
        r"'dictionary'",
    ),
    (dwellings('path = "a.csv"', 'encoding = "latin-99" #!'), r"no encoding"),
    (lines("[files.x]", 'entity = "dwelling" #!', 'path = "a.csv"'), r"\[entity.dwelling\]"),
    # entities
    (lines("[entity.family]", 'id = "f"', 'within = "building" #!'), r"no entity 'building'"),
    (
        lines("[entity.family]", 'id = "f"', 'within = "household"', 'link = ["ed"] #!'),
        r"1 columns cannot name a household",
    ),
    (lines("[entity.family]", 'id = "f"', 'link = ["ed"] #!'), r"'link' needs 'within'"),
    (lines("[entity.dwelling]", 'id = "d"', 'within = "household" #!'), r"cannot lie within"),
    (lines("[entity.family]", 'id = ["f", "f"] #!'), r"'f' stands twice"),
    (lines("[entity.family]", "from_content = true #!"), r"no file of their own"),
    (lines("[entity.family]", "from_content = true #!", 'id = "f"'), r"not both"),
    # variables: files and entities
    (
        lines("[variable.x]", 'file = "persons" #!', "range = [0, 1]"),
        r"no file 'persons'. Did you mean 'person'",
    ),
    (lines("[variable.x] #!", "range = [0, 1]"), r"'file' is missing.*person, household"),
    (
        lines("[variable.x]", 'file = "household"', 'entity = "person" #!', "range = [0, 1]"),
        r"persons have a file of their own",
    ),
    (variable('entity = "dwelling" #!', "range = [0, 1]"), r"no entity 'dwelling'"),
    (
        lines(
            "[entity.family]",
            'id = "f"',
            'within = "household"',
            "[variable.x]",
            'file = "household"',
            'entity = "family" #!',
            "range = [0, 1]",
        ),
        r"the families do not come from the rows of 'household'",
    ),
    # variables: names
    (lines('[variable."my var"] #!', 'file = "person"', "range = [0, 1]"), r"such as 'my_var'"),
    (lines("[variable.1st] #!", 'file = "person"', "range = [0, 1]"), r"no digit in front"),
    (lines("[variable.total] #!", 'file = "person"', "range = [0, 1]"), r"a word of the language"),
    (lines("[variable.in] #!", 'file = "person"', "range = [0, 1]"), r"a word of the language"),
    # variables: roles
    (lines("[variable.x] #!", 'file = "person"'), r"its codes are missing"),
    (variable("range = [0, 1] #!", 'codes = { 1 = "a" }'), r"not both"),
    (variable('role = "record-id"', 'codes = { 1 = "a" } #!'), r"never stored"),
    (variable('role = "direct-identifier"', 'imputed = "f" #!'), r"never stored"),
    (variable('role = "weight"', "decimals = -1 #!"), r"at least 0"),
    (variable('role = "weight"', "not_stated = [9] #!"), r"a weight is a number"),
    (variable("continuous = true", "range = [0, 9] #!"), r"is continuous"),
    (variable("range = [0, 9]", "decimals = 1 #!"), r"only a continuous"),
    (variable("range = [0, 9]", 'map = "m" #!'), r'role "geography"'),
    (variable("range = [0, 9]", 'role = "geography"', 'map = "m.geojson" #!'), r"does not exist"),
    (
        lines(
            "[variable.x]",
            'file = "person"',
            "range = [0, 9]",
            'role = "geography"',
            "main = true",
            "[variable.y]",
            'file = "person"',
            "range = [0, 9]",
            'role = "geography"',
            "main = true #!",
        ),
        r"'x' is the main geography already",
    ),
    # codes
    (variable('codes = "no.csv" #!'), r"does not exist"),
    (variable("codes = { 1 = 2 } #!"), r"code '1': should be a text"),
    (variable('codes = { 1 = { fr = "un" } } #!'), r"no language 'fr'"),
    (variable('codes = { _T = "all" } #!'), r"kept for totals"),
    (variable('codes = { 1 = "a" }', 'levels = ["up"] #!'), r"no level above"),
    (variable('codes = { 9 = "a" } #!', "not_stated = [9]"), r"all codes are missing"),
    (variable('codes = { 01 = "a", 09 = "b" }', "not_stated = [9] #!"), r"Write it in quotes"),
    (
        variable('codes = { 1 = "a" }', "not_stated = [9] #!", "not_applicable = [9]"),
        r"both not_stated and not_app",
    ),
    (variable("range = [0, 99]", "not_stated = [99] #!"), r"lies in the range"),
    (variable("range = [9, 0] #!"), r"goes down"),
    # levels
    (variable("range = [0, 9]", 'levels = ["a"] #!'), r"table of lower bounds"),
    (
        variable("range = [0, 9]", "[variable.x.levels]", 'a = "0,5+"', 'b = "1,5+" #!'),
        r"first bound is 1",
    ),
    (
        variable("range = [0, 9]", "[variable.x.levels]", 'x = "0,5+" #!'),
        r"two levels are called 'x'",
    ),
    (variable("range = [0, 9]", "[variable.x.levels]", '"a b" = "0,5+" #!'), r"such as 'a_b'"),
    (variable("continuous = true", "[variable.x.levels]", 'a = "0,5" #!'), r'write "5\+"'),
    # labels of levels
    (
        variable("range = [0, 9]", 'levels = { a = "0,5+" }', 'level_labels = { b = "B" } #!'),
        r"no level 'b'",
    ),
    (variable("range = [0, 9]", "level_labels = { x = 1 } #!"), r"should be a text"),
    (
        variable("range = [0, 9]", 'level_labels = { x = { fr = "seuls" } } #!'),
        r"no language 'fr'",
    ),
    (variable('role = "weight"', 'level_labels = { x = "X" } #!'), r"cannot be given"),
    # grids
    (
        variable(
            'role = "geography"',
            "range = [0, 9]",
            'grid = { x = "e", y = "n", epsg = 1, cell = 9 } #!',
        ),
        r"'extent' is missing",
    ),
    (
        variable(
            'role = "geography"',
            "range = [0, 9]",
            'grid = { x = "e", y = "n", epsg = 1, cell = 9, extent = [0, 0, 0, 0] } #!',
        ),
        r"extent is empty",
    ),
    (
        variable(
            'role = "geography"',
            "range = [0, 9]",
            'grid = { x = "e", y = "e", epsg = 1, cell = 9, extent = [0, 0, 9, 9] } #!',
        ),
        r"same column, 'e'",
    ),
    (
        variable(
            'role = "geography"',
            "range = [0, 9]",
            'grid = { x = "e", y = "n", epsg = 4326, cell = 9, extent = [0, 0, 9, 9] } #!',
        ),
        r"EPSG 4326 is in degrees.*epsg_of_coordinates = 4326",
    ),
    *(
        (
            variable(
                'role = "geography"',
                "range = [0, 9]",
                f'grid = {{ x = "e", y = "n", epsg = 1,{size} extent = [0, 0, 900, 900] }} #!',
            ),
            words,
        )
        for size, words in (
            ("", r"'cell' is missing: .* or cells = \[100, 1000\]"),
            (" cells = [],", r"'cell' is missing"),
            (" cell = 100, cells = [100, 200],", r"either 'cell' or 'cells', not both"),
            (" cells = [100, 300, 100],", r"100 stands there twice"),
            (" cells = [100, 250],", r"250 m do not consist of whole squares of 100 m"),
            (" cells = [0, 250],", r"should be at least 1"),
            (' cells = ["1km"],', r"should be a whole number"),
            (" cells = 100,", r"should be a list"),
        )
    ),
    # keys
    (
        lines("[keys]", 'household = "reference-person" #!'),
        r"condition that finds the reference person is missing",
    ),
    (
        lines("[keys]", 'household = "reference-person"', 'reference_person = "rooms == 1" #!'),
        r"describes households",
    ),
    (lines("[keys]", 'reference_person = "age == 1" #!'), r"used only with"),
    (lines("[keys]", "modulus = 1000", 'combine = "xor" #!'), r"power of two"),
    (lines("[keys]", "modulus = 4294967297 #!"), r"at most 4294967296"),
    (lines("[keys.columns]", 'person = { column = "k", digits = 10 } #!'), r"first 9 digits"),
    (lines("[keys.columns]", 'family = { column = "k" } #!'), r"no entity 'family'"),
    (
        lines("[keys.columns]", 'family = { column = "k" } #!', "[entity.family]", "id = 'f'"),
        r"families have no file of their own",
    ),
    (
        lines(
            "[keys]", "modulus = 100 #!", "[keys.columns]", 'person = { column = "k", digits = 3 }'
        ),
        r"modulus 1000; leave 'modulus' out",
    ),
    # conditions
    (lines("[[impossible]]", 'when = "age <" #!'), r"expected a code or number"),
    (lines("[[impossible]]", 'when = "agee < 3" #!'), r"Did you mean 'age'"),
    (lines("[[impossible]]", 'when = "sex == 3" #!'), r"no code '3'"),
    (lines("[[impossible]]", 'when = "sex == 1 or sex != 1" #!'), r"true for every record"),
    # rules about two records
    (two('beside = "agee < 15" #!'), r"Did you mean 'age'"),
    (two('within = "household" #!'), r"which the other one is, such as beside ="),
    (two("less_than = 12 #!"), r"which the other one is, such as beside ="),
    (two(OTHER, 'within = "family" #!'), r"persons do not lie in a family.*household\."),
    (two(OTHER, 'within = "famly" #!'), r"no kind of unit 'famly'"),
    (two(OTHER, 'gap = "age" #!'), r"say how large the gap is"),
    (two(OTHER, "more_than = 60 #!"), r"say of which numbers"),
    (two(OTHER, 'gap = "aged" #!', "less_than = 12"), r"Did you mean 'age'"),
    (two(OTHER, 'gap = "rooms" #!', "less_than = 12"), r"describes households, and the rule is ab"),
    (two(OTHER, 'gap = "age"', 'less_than = "12" #!'), r"'less_than' should be a whole number"),
    (two('besides = "sex == 1" #!'), r"no setting 'besides'. Did you mean 'beside'"),
    (
        lines("[[impossible]]", 'when = "rooms == 1"', 'beside = "rooms == 2" #!'),
        r"households do not lie in any unit. Nothing holds them",
    ),
    (
        variable('codes = { a = "A", b = "B" }', "[[impossible]]", 'when = "sex == 1"')
        + lines("", OTHER, 'gap = "x" #!', "less_than = 1"),
        r"the codes of 'x' are not numbers",
    ),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES)
def test_every_mistake_is_named_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    whole = text + HEAD if text.startswith("variables") else HEAD + text
    found = mistakes_in(tmp_path, whole)
    marked = [at for at, line in enumerate(whole.split("\n"), start=1) if line.endswith("#!")]
    assert [mistake.line for mistake in found] == marked
    assert any(re.search(words, mistake.text) for mistake in found)


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    text = """
[census]
naam = "x" #!
name = "Census"
code = ["a|b"] #!
languages = ["en", "english"] #!
[files.person]
path = "p-*.csv" #!
entity = "person"
delimiter = ",," #!
[entity.person]
id = ["ed", 7] #!
[keys]
scope = "cens" #!
modulus = 1000
combine = "xor" #!
[[impossible]]
when = "ag < 3" #!
[[impossible]]
when = "broken == 1"
[variable.total] #!
codes = "no.csv" #!
[variable.broken]
codes = {
1 = "x", 2 = { en = 7 }, #!
}
not_stated = [true] #!
[variable.age]
range = [0, 120]
not_stated = 99 #!
[variable.age.levels]
five = "0,5,3" #!
"1st" = "0,10+" #!
"""
    # A table in braces stands on one line in TOML 1.0.
    text = text.replace("{\n1", "{ 1").replace(", #!\n}", "} #!")
    found = mistakes_in(tmp_path, text)
    marked = [at for at, line in enumerate(text.split("\n"), start=1) if line.endswith("#!")]
    assert [mistake.line for mistake in found] == marked


def test_a_document_without_its_tables_says_which(tmp_path: Path) -> None:
    found = mistakes_in(tmp_path, "# nothing but a comment\n")
    assert [mistake.line for mistake in found] == [0] * 4
    assert "'census'" in found[0].text
    assert "[files.person]" in found[1].text


def test_a_mistake_in_a_variable_is_not_repeated_by_conditions_about_it(tmp_path: Path) -> None:
    text = HEAD.replace("[0, 99]", "[99, 0]") + "[[impossible]]\nwhen = 'age < 15 and sex == 1'"
    (mistake,) = mistakes_in(tmp_path, text)
    assert "goes down" in mistake.text


def test_entities_in_a_circle_are_named(tmp_path: Path) -> None:
    text = HEAD.replace('id = ["ed", "hh"]', 'id = ["ed", "hh"]\nwithin = "person"')
    (mistake,) = mistakes_in(tmp_path, text)
    assert "household > person > household" in mistake.text


def test_an_entity_without_any_file_is_a_mistake(tmp_path: Path) -> None:
    text = HEAD.replace(
        'path = "persons.csv"\nentity = "person"', 'path = "p.csv"\nentity = "family"'
    )
    text = text.replace('"person"', '"family"').replace("entity.person", "entity.family")
    text = text.replace("files.person", "files.family") + '[entity.person]\nid = "p"\n'
    (mistake,) = mistakes_in(tmp_path, text)
    assert "no file holds persons" in mistake.text


def test_keys_of_a_census_need_something_that_names_it(tmp_path: Path) -> None:
    (mistake,) = mistakes_in(tmp_path, HEAD.replace('code = "C"\n', ""))
    assert "'code' or 'reference_date'" in mistake.text
    permanent = HEAD.replace('code = "C"\n', "") + '[keys]\nscope = "person-number"\n'
    assert read(tmp_path, permanent).census.code == ()


def test_reference_persons_need_persons_in_households(tmp_path: Path) -> None:
    keys = '[keys]\nhousehold = "reference-person"\nreference_person = "sex == 1"\n'
    (mistake,) = mistakes_in(tmp_path, HEAD.replace('within = "household"\n', "") + keys)
    assert "persons that lie within a household" in mistake.text
    assert read(tmp_path, HEAD + keys).keys.reference_person == "sex == 1"


# ---------------------------------------------------------------- code list files


def with_area(folder: Path, table: str, *more: str) -> str:
    (folder / "areas.csv").write_text(table, encoding="utf-8", newline="\n")
    return HEAD + variable('codes = "areas.csv"', *more, name="area")


def test_mistakes_of_code_list_files_name_file_and_line(tmp_path: Path) -> None:
    text = with_area(tmp_path, "code,label,parent\na,A,X\nb,B,b\n,,\nc,C,\nc,C,\n")
    (tmp_path / "other.csv").write_bytes(b"code\n\xff\n")
    found = mistakes_in(tmp_path, text + "\n" + variable('codes = "other.csv"', name="other"))
    assert [mistake.text for mistake in found] == [
        "variable.area: areas.csv, line 6: The code 'c' stands on line 5 already. If two levels"
        " share their codes, say in a column 'level' which row is of which.",
        "variable.other: other.csv, line 2: There is a character here that is not UTF-8."
        " Save the file as csv UTF-8.",
    ]


def test_mistakes_of_trees_name_file_and_line(tmp_path: Path) -> None:
    text = with_area(tmp_path, "code,label,parent\na,A,X\nb,B,Y\nXX,C,\n")
    found = mistakes_in(tmp_path, text)
    assert ["line 2" in found[0].text, "line 3" in found[1].text] == [True, True]
    assert "Did you mean 'XX'" in found[0].text


def test_level_names_of_files_must_be_usable_in_axes(tmp_path: Path) -> None:
    text = with_area(tmp_path, "code,label,parent,level\nP,P,,My parish\na,A,P,ed\n")
    (mistake,) = mistakes_in(tmp_path, text)
    assert "such as 'My_parish'" in mistake.text


def test_another_hierarchy_must_have_the_same_leaves_and_other_levels(tmp_path: Path) -> None:
    areas = "code,label,parent\nP,P,\na,A,P\nb,B,P\n"
    (tmp_path / "vote.csv").write_text("code,parent\nV,\na,V\nc,V\n", encoding="utf-8", newline="")
    (tmp_path / "law.csv").write_text("code,parent\nV,\na,V\nb,V\n", encoding="utf-8", newline="")
    more = [
        'levels = ["parish"]',
        "[[variable.area.hierarchy]]",
        'name = "vote"',
        'codes = "vote.csv"',
        "[[variable.area.hierarchy]]",
        'name = "law"',
        'codes = "law.csv"',
        'levels = ["parish"]',
    ]
    first, second = mistakes_in(tmp_path, with_area(tmp_path, areas, *more))
    assert second.line == first.line + 4
    assert "does not have the codes 'b'. It has leaves that are no codes of" in first.text
    assert "two levels are called 'parish'" in second.text


def test_missing_codes_may_have_a_parent_but_no_children(tmp_path: Path) -> None:
    areas = "code,label,parent\nP,P,\na,A,P\n99,?,P\n"
    schema = read(tmp_path, with_area(tmp_path, areas, "not_stated = [99]"))
    assert schema.variable("area").level("level_1").group == (0, 0)
    (mistake,) = mistakes_in(tmp_path, with_area(tmp_path, areas, 'not_stated = ["P"]'))
    assert "'P' has codes below it" in mistake.text


# ---------------------------------------------------------------- bad input


def test_what_is_no_file_is_an_input_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(InputError):
            read_schema(path)


EXAMPLE_TEXT = (EXAMPLE / "schema.toml").read_text(encoding="utf-8")
PIECES = ["", "=", '"', "[", "]", "{", "}", "#", "\n", "'", ",", "1", "-", ".", "\\", "é", "true"]


@given(st.data())
def test_a_mutated_schema_is_read_or_refused_with_lines(data: st.DataObject) -> None:
    text = EXAMPLE_TEXT
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.one_of(st.just(0), st.integers(0, 30)))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    path = EXAMPLE / "schema.toml"
    try:
        schema = schema_from_document(parse_toml(path, text))
    except DocumentError as error:
        lines_of_text = text.count("\n") + 1
        assert_lines(error, lines_of_text)
        return
    assert schema.entities


def assert_lines(error: DocumentError, most: int) -> None:
    assert error.mistakes
    for mistake in error.mistakes:
        assert 0 <= mistake.line <= most
        assert mistake.text


VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-3, 2**65),
        st.floats(),
        st.text(max_size=4),
        st.dates(),
        st.datetimes(),
        st.times(),
        st.sampled_from(["person", "key", "weight", "geography", "codes/areas.csv", "0,5+", ".."]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)
DOCUMENT = parse_toml(EXAMPLE / "schema.toml", EXAMPLE_TEXT)
PLACES = sorted(DOCUMENT.lines, key=repr)


@given(st.data())
def test_any_value_in_any_place_is_read_or_refused(data: st.DataObject) -> None:
    values = copy.deepcopy(DOCUMENT.data)
    place = data.draw(st.sampled_from(PLACES))
    inner: Any = values
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = data.draw(VALUES)
    document = TomlDocument(DOCUMENT.path, values, DOCUMENT.lines)
    try:
        schema = schema_from_document(document)
    except DocumentError as error:
        assert_lines(error, EXAMPLE_TEXT.count("\n") + 1)
        return
    assert schema.entities


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "random.toml"
    path.write_bytes(content)
    with pytest.raises(SdcensusError):
        read_schema(path)
