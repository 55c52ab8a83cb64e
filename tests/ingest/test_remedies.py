"""What a message proposes helps: the test does what it says, to the letter, and loads again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
import xlsxwriter
from pyarrow import parquet

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DataProblems, InputError, SdcensusError
from sdcensus.ingest.load import load_census
from sdcensus.model.schema.file_problems import FATAL, ProblemKind
from sdcensus.model.secret import Secret
from tests.ingest.small_census import SECRET_BYTES

HEAD = """\
[census]
name = "Remedies"
code = "RM"
[files.person]
path = "persons.csv"
entity = "person"
"""
FLAT = f"""{HEAD}[entity.person]
id = ["pn"]
[variable.sex]
codes = {{ 1 = "Male", 2 = "Female" }}
"""
LINKED = f"""{HEAD}[files.household]
path = "households.csv"
entity = "household"
[entity.person]
id = ["hh", "pn"]
within = "household"
[entity.household]
id = ["hh"]
[variable.sex]
file = "person"
codes = {{ 1 = "Male", 2 = "Female" }}
[variable.area]
file = "household"
role = "geography"
codes = {{ A = "Anse", B = "Bay" }}
"""
HOUSEHOLDS = "hh,area\n1,A\n2,B\n"
DERIVED = f"""{HEAD}[entity.person]
id = ["hh", "pn"]
within = "household"
[entity.household]
id = ["hh"]
[variable.sex]
codes = {{ 1 = "Male", 2 = "Female" }}
[variable.tenure]
entity = "household"
codes = {{ 1 = "Owned", 2 = "Rented" }}
"""
INCOME = f"{FLAT}[variable.income]\ncontinuous = true\ndecimals = 2\n"
AGE = f"{FLAT}[variable.age]\nrange = [0, 99]\n"
WEIGHT = f'{FLAT}[variable.weight]\nrole = "weight"\ndecimals = 2\n'
NAMED = f'{FLAT}[variable.town]\ncodes = {{ "León" = "León", "Jaén" = "Jaén" }}\n'
GRID = f"""{FLAT}[variable.area]
role = "geography"
codes = {{ A = "Anse" }}
grid = {{ x = "x", y = "y", epsg = 3035, cell = 1000, extent = [0, 0, 2000, 2000] }}
"""

#: A setting with its section, as messages write it.
SETTING = re.compile(r'(\w+) = (\[[^\]]*\]|"(?:[^"\\]|\\.)*"|[\w.]+) in \[([\w.]+)\]')
#: A setting that is named after the section, as the second way out.
SECOND = re.compile(r'(?:or|else)[^:;=]*:? (\w+) = (\[[^\]]*\]|"[^"]*")')


def with_setting(schema: str, name: str, value: str, section: str) -> str:
    """The schema with a setting in a section, in the place of an older one."""
    before, head, after = schema.partition(f"[{section}]\n")
    assert head, f"the message names [{section}], which the schema does not have"
    body, bracket, rest = after.partition("\n[")
    body = re.sub(rf"^{name} = .*\n?", "", body + "\n", flags=re.MULTILINE)
    return f"{before}{head}{name} = {value}\n{body.rstrip()}{bracket or chr(10)}{rest}"


def as_said(schema: str, message: str) -> str:
    """The schema after the first thing that a message proposes, all of it."""
    for name, value, section in SETTING.findall(message):
        schema = with_setting(schema, name, value, section)
        if not message.startswith("The file may"):
            break
    return schema


@dataclass
class Case:
    """Files that do not fit, what is said, and how somebody follows it by hand, if not by text."""

    name: str
    schema: str
    persons: str | bytes
    says: str
    households: str = ""
    edit: Callable[[str, str], tuple[str, str]] | None = None
    kind: ProblemKind | None = None


def in_schema(old: str, new: str) -> Callable[[str, str], tuple[str, str]]:
    return lambda schema, persons: (schema.replace(old, new, 1), persons)


def in_persons(old: str, new: str) -> Callable[[str, str], tuple[str, str]]:
    return lambda schema, persons: (schema, persons.replace(old, new, 1))


K = ProblemKind
BY_REFERENCE = 'household = "reference-person"\nreference_person = "sex == 1"\n'
REFERENCE = f"{DERIVED}[keys]\n{BY_REFERENCE}"
CASES = [
    Case("comma", INCOME, "pn;sex;income\n1;1;12,5\n2;2;3\n", 'decimal = ","', kind=K.NOT_A_NUMBER),
    Case(
        "very many commas",
        INCOME,
        "pn;sex;income\n" + "".join(f"{at};1;{at},{at % 100:02d}\n" for at in range(1, 400)),
        'decimal = ","',
    ),
    Case(
        "point",
        INCOME.replace('entity = "person"\n', 'entity = "person"\ndecimal = ","\n', 1),
        "pn;sex;income\n1;1;12.5\n2;2;3\n",
        'decimal = "."',
        kind=K.NOT_A_NUMBER,
    ),
    Case("words", INCOME, "pn,sex,income\n1,1,NA\n2,2,Missing\n", 'not_stated = ["NA", "Missing"]'),
    Case(
        "words besides codes",
        f'{INCOME}not_stated = ["-1"]\n',
        "pn,sex,income\n1,1,NA\n2,2,-1\n",
        'not_stated = ["-1", "NA"]',
    ),
    Case("words in a code list", FLAT, "pn,sex\n1,1\n2,N/A\n", 'not_stated = ["N/A"]'),
    Case("wider", AGE, "pn,sex,age\n1,1,104\n2,2,30\n", "range = [0, 104]", kind=K.OUT_OF_RANGE),
    Case("nines", AGE, "pn,sex,age\n1,1,999\n2,2,30\n", 'not_stated = ["999"] in [variable.age]'),
    Case("below nothing", AGE, "pn,sex,age\n1,1,-1\n2,2,30\n", 'not_stated = ["-1"]'),
    Case(
        "a new code",
        FLAT,
        "pn,sex\n1,1\n2,7\n",
        "add the codes to the code list of [variable.sex]",
        edit=in_schema('2 = "Female"', '2 = "Female", 7 = "Other"'),
        kind=K.UNKNOWN_CODE,
    ),
    Case("empty", FLAT, "pn,sex\n1,1\n2,\n", 'empty = "not_stated" in', kind=K.EMPTY_FIELD),
    Case("empty amount", INCOME, "pn,sex,income\n1,1,\n2,2,3\n", 'empty = "not_stated" in'),
    Case(
        "no owner",
        f'{INCOME}owner = "holder"\n',
        "pn,sex,income,holder\n1,1,5,\n2,2,3,x\n",
        'owner_empty = "itself" in',
        kind=K.EMPTY_OWNER,
    ),
    Case("small weight", WEIGHT, "pn,sex,weight\n1,1,0.0004\n2,2,1\n", "decimals = 4 in"),
    Case("comma weight", WEIGHT, "pn;sex;weight\n1;1;1,5\n2;2;1\n", 'decimal = ","'),
    Case(
        "no weight",
        WEIGHT,
        "pn,sex,weight\n1,1,0\n2,2,1\n",
        "leave records that stand for nobody out of the file",
        edit=in_persons("1,1,0\n", ""),
        kind=K.ZERO_WEIGHT,
    ),
    Case(
        "a word as weight",
        WEIGHT,
        "pn,sex,weight\n1,1,many\n2,2,1\n",
        "a weight is a number above 0",
        edit=in_persons("many", "2"),
        kind=K.BAD_WEIGHT,
    ),
    Case(
        "a weight below 0",
        WEIGHT,
        "pn,sex,weight\n1,1,-2\n2,2,1\n",
        "correct the file: a weight is a number above 0",
        edit=in_persons("-2", "2"),
        kind=K.NEGATIVE_WEIGHT,
    ),
    Case(
        "an empty weight",
        WEIGHT,
        "pn,sex,weight\n1,1,\n2,2,1\n",
        "fill it; a weight is needed in every record",
        edit=in_persons("1,1,\n", "1,1,1\n"),
        kind=K.EMPTY_WEIGHT,
    ),
    Case(
        "a large weight",
        WEIGHT,
        "pn,sex,weight\n1,1,100000000000000\n2,2,1\n",
        "keep fewer decimals with decimals",
        edit=in_schema("decimals = 2", "decimals = 1"),
        kind=K.LARGE_WEIGHT,
    ),
    Case(
        "capital letters",
        FLAT.replace("1 =", "m =").replace("2 =", "f ="),
        "pn,sex\n1,M\n2,f\n",
        "differ in capital letters only",
        edit=in_persons("M", "m"),
    ),
    Case(
        "another encoding",
        NAMED.replace('entity = "person"\n', 'entity = "person"\nencoding = "cp1252"\n', 1),
        "pn,sex,town\n1,1,León\n2,2,Jaén\n".encode(),
        'encoding = "utf-8"',
    ),
    Case(
        "not in utf-8",
        NAMED,
        "pn,sex,town\n1,1,León\n2,2,Jaén\n".encode("cp1252"),
        'Try encoding = "cp1252"',
        edit=in_schema('entity = "person"\n', 'entity = "person"\nencoding = "cp1252"\n'),
    ),
    Case(
        "not even in its header",
        f'{FLAT}[variable.year]\ncolumn = "año"\ncodes = {{ 1 = "One" }}\n',
        "pn,sex,año\n1,1,1\n".encode("cp1252"),
        'encoding = "cp1252"',
        edit=in_schema('entity = "person"\n', 'entity = "person"\nencoding = "cp1252"\n'),
    ),
    Case(
        "utf-16",
        FLAT,
        "pn,sex\n1,1\n".encode("utf-16"),
        'encoding = "utf-16"',
        edit=in_schema('entity = "person"\n', 'entity = "person"\nencoding = "utf-16"\n'),
    ),
    Case("thousands", INCOME, "pn;sex;income\n1;1;1.234,50\n", "without marks between thousands",
         edit=in_persons("1.234,50", "1234.50")),
    Case("colons", FLAT, "pn:sex\n1:1\n2:2\n", 'delimiter = ":" in [files.person]'),
    Case(
        "a wrong delimiter",
        FLAT.replace('entity = "person"\n', 'entity = "person"\ndelimiter = ","\n', 1),
        "pn;sex\n1;1\n",
        'delimiter = ";" in [files.person]',
    ),
    Case("another name", FLAT, "pn,SEX\n1,1\n", 'column = "SEX" in [variable.sex]'),
    Case("an id with another name", FLAT, "P_N,sex\n1,1\n", 'id = ["P_N"] in [entity.person]'),
    Case(
        "a link with another name",
        LINKED.replace('id = ["hh", "pn"]', 'id = ["pn"]'),
        "pn,HH,sex\n1,1,1\n2,2,2\n",
        'link = ["HH"] in [entity.person]',
        HOUSEHOLDS,
    ),
    Case(
        "an empty link",
        LINKED.replace('id = ["hh", "pn"]', 'id = ["pn"]'),
        "pn,hh,sex\n1,1,1\n2,,2\n",
        "optional = true in [entity.person]; then give area a code for them",
        HOUSEHOLDS,
        kind=K.EMPTY_LINK,
        edit=lambda schema, persons: (
            with_setting(
                with_setting(schema, "optional", "true", "entity.person"),
                "not_applicable",
                '["_Z"]',
                "variable.area",
            ),
            persons,
        ),
    ),
    Case(
        "an orphan",
        LINKED,
        "pn,hh,sex\n1,1,1\n2,3,2\n",
        "add the households that hh names, or correct it in the file",
        HOUSEHOLDS,
        edit=in_persons("2,3,2", "2,2,2"),
        kind=K.ORPHAN,
    ),
    Case(
        "a link with other zeros",
        LINKED,
        "pn,hh,sex\n1,01,1\n2,002,2\n3,2,1\n",
        "with id_width = 3 in [entity.household] 2 of them are found",
        HOUSEHOLDS,
    ),
    Case(
        "a link with capital letters",
        LINKED,
        "pn,hh,sex\n1,a1,1\n2,B2,2\n",
        "with id_any_case = true in [entity.household] 1 of them are found",
        "hh,area\nA1,A\nB2,B\n",
    ),
    Case(
        "one id in two spellings",
        LINKED.replace('id = ["hh"]', 'id = ["hh"]\nid_width = 2'),
        "pn,hh,sex\n1,1,1\n",
        "if they are different units, leave id_width and id_any_case out",
        "hh,area\n1,A\n01,B\n",
        edit=in_schema("id_width = 2\n", ""),
        kind=K.SAME_ID,
    ),
    Case(
        "an empty id",
        FLAT,
        "pn,sex\n1,1\n,2\n",
        "from_content = true instead of id",
        edit=in_schema('id = ["pn"]', "from_content = true"),
        kind=K.EMPTY_ID,
    ),
    Case(
        "an id twice",
        FLAT,
        "pn,sex,no\n1,1,1\n1,2,2\n",
        "add to id the column that tells the records apart",
        edit=in_schema('["pn"]', '["pn", "no"]'),
        kind=K.DUPLICATE_ID,
    ),
    Case(
        "an id with a bar",
        FLAT,
        "pn,sex\n1|1,1\n2,2\n",
        "an id must not contain '|'",
        edit=in_persons("1|1", "11"),
        kind=K.BAD_ID,
    ),
    Case(
        "two values in one household",
        DERIVED,
        "hh,pn,sex,tenure\n1,1,1,1\n1,2,2,2\n",
        "make it a variable of these records with entity",
        edit=in_schema('entity = "household"\ncodes', 'entity = "person"\ncodes'),
        kind=K.NOT_CONSTANT,
    ),
    Case(
        "an impossible combination",
        f'{FLAT}[variable.born]\ncodes = {{ 0 = "No", 1 = "Yes" }}\n'
        '[[impossible]]\nwhen = "sex == 1 and born == 1"\n',
        "pn,sex,born\n1,1,1\n2,2,1\n",
        "the rule under [[impossible]]",
        edit=in_schema("sex == 1 and born == 1", "sex == 1 and born == 0"),
        kind=K.IMPOSSIBLE,
    ),
    Case(
        "no reference person",
        REFERENCE,
        "hh,pn,sex,tenure\n1,1,2,1\n",
        'household = "own"',
        edit=in_schema(BY_REFERENCE, 'household = "own"\n'),
        kind=K.REFERENCE_PERSON,
    ),
    Case(
        "a key that is none",
        f'{FLAT}[keys.columns]\nperson = {{ column = "key" }}\n',
        "pn,sex,key\n1,1,x\n",
        "without the entry in [keys.columns] keys come from ids",
        edit=in_schema('[keys.columns]\nperson = { column = "key" }\n', ""),
        kind=K.BAD_KEY,
    ),
    Case(
        "below the classes",
        f'{INCOME}levels = {{ class = "0,100+" }}\n',
        "pn,sex,income\n1,1,-250.5\n2,2,50\n",
        "begin the levels of [variable.income] lower",
        edit=in_schema('"0,100+"', '"-1000,0,100+"'),
        kind=K.OUT_OF_RANGE,
    ),
    Case(
        "no answer below the classes",
        f'{INCOME}levels = {{ class = "0,100+" }}\n',
        "pn,sex,income\n1,1,-9\n2,2,50\n",
        'not_stated = ["-9"] in [variable.income]',
    ),
    Case(
        "too many decimals for a large amount",
        INCOME,
        "pn,sex,income\n1,1,900719925474099.25\n2,2,50\n",
        "decimals = 1 in [variable.income]",
    ),
    Case(
        "an amount too large to be summed",
        INCOME,
        "pn,sex,income\n1,1,9300000000000000000\n2,2,50\n",
        "in a larger unit",
        edit=in_persons("9300000000000000000", "93000000"),
        kind=K.OUT_OF_RANGE,
    ),
    Case(
        "no coordinate",
        GRID,
        "pn,sex,area,x,y\n1,1,A,none,7\n",
        "leave the field empty",
        edit=in_persons("none", ""),
        kind=K.NOT_A_NUMBER,
    ),
    Case("comma coordinates", GRID, "pn;sex;area;x;y\n1;1;A;1,5;7\n", 'decimal = ","'),
    Case(
        "outside the grid",
        GRID,
        "pn,sex,area,x,y\n1,1,A,2500,7\n",
        "widen extent of the grid of area_grid",
        edit=in_schema("2000, 2000]", "3000, 2000]"),
    ),
]  # fmt: skip


def load(folder: Path, schema: str, case: Case, persons: str | bytes) -> None:
    (folder / "census.toml").write_text(schema, encoding="utf-8", newline="\n")
    raw = persons if isinstance(persons, bytes) else persons.encode()
    (folder / "persons.csv").write_bytes(raw)
    (folder / "households.csv").write_text(case.households, encoding="utf-8", newline="\n")
    load_census(
        read_schema(folder / "census.toml"),
        folder / "census.store",
        secret=Secret(SECRET_BYTES),
        replace=True,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_remedy_that_is_followed_to_the_letter_helps(tmp_path: Path, case: Case) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, case.schema, case, case.persons)
    message = str(caught.value)
    assert case.says in message
    if case.kind is not None:
        assert isinstance(caught.value, DataProblems)
        assert [getattr(problem, "kind", None) for problem in caught.value.problems] == [case.kind]
    schema, persons = case.schema, case.persons
    if case.edit is None:
        lines = [line for line in message.splitlines() if SETTING.search(line)]
        for line in lines:
            schema = as_said(schema, line)
        assert schema != case.schema
    elif isinstance(persons, bytes):
        schema, _ = case.edit(schema, "")
    else:
        schema, persons = case.edit(schema, persons)
    load(tmp_path, schema, case, persons)


TWO_WAYS = {"wider", "nines", "below nothing", "a new code", "empty", "empty amount"}


@pytest.mark.parametrize("name", sorted(TWO_WAYS))
def test_the_second_way_out_helps_as_well(tmp_path: Path, name: str) -> None:
    """Where a message says "or" or "else", what stands behind it is a way out too."""
    case = next(case for case in CASES if case.name == name)
    with pytest.raises(InputError) as caught:
        load(tmp_path, case.schema, case, case.persons)
    message = str(caught.value)
    *_, (setting, value) = SECOND.findall(message)
    section = re.search(r"\[(variable\.\w+)\]", message)
    assert section is not None
    load(tmp_path, with_setting(case.schema, setting, value, section[1]), case, case.persons)


def test_every_kind_of_problem_is_tried() -> None:
    assert {case.kind for case in CASES} - {None} == set(ProblemKind)
    assert set(ProblemKind) > FATAL


def test_optional_is_not_proposed_for_a_link_that_is_filled(tmp_path: Path) -> None:
    """It does not help there: the record names a household, which is missing."""
    orphan = next(case for case in CASES if case.name == "an orphan")
    with pytest.raises(DataProblems) as caught:
        load(tmp_path, orphan.schema, orphan, orphan.persons)
    assert "optional" not in str(caught.value)
    schema = with_setting(orphan.schema, "optional", "true", "entity.person")
    schema = with_setting(schema, "not_applicable", '["_Z"]', "variable.area")
    with pytest.raises(DataProblems, match="no parent record"):
        load(tmp_path, schema, orphan, orphan.persons)


def test_a_wide_number_as_an_id_needs_its_width(tmp_path: Path) -> None:
    schema = f'{FLAT}[variable.pn]\nrole = "record-id"\nwidth = 2\n'
    schema = schema.replace("persons.csv", "persons.parquet")
    parquet.write_table(pa.table({"pn": [7, 1234], "sex": [1, 2]}), tmp_path / "persons.parquet")
    case = Case("", "", "", "")
    with pytest.raises(DataProblems, match="raise width"):
        load(tmp_path, schema, case, "")
    load(tmp_path, schema.replace("width = 2", "width = 4"), case, "")


def test_numbers_that_are_text_in_a_typed_file_are_to_be_numbers(tmp_path: Path) -> None:
    """Such files have no setting for a decimal mark, so none is proposed."""
    schema = INCOME.replace("persons.csv", "persons.parquet")
    people = {"pn": ["1", "2"], "sex": ["1", "2"], "income": ["12,5", "3"]}
    parquet.write_table(pa.table(people), tmp_path / "persons.parquet")
    case = Case("", "", "", "")
    with pytest.raises(DataProblems, match="store the column as numbers"):
        load(tmp_path, schema, case, "")
    parquet.write_table(pa.table(people | {"income": [12.5, 3.0]}), tmp_path / "persons.parquet")
    load(tmp_path, schema, case, "")


def test_a_file_of_another_format_is_read_as_what_it_is(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"pn": ["1"], "sex": ["1"]}), tmp_path / "people.csv")
    schema = FLAT.replace("persons.csv", "people.csv")
    case = Case("", "", "", "")
    with pytest.raises(InputError, match='Set format = "parquet"'):
        load(tmp_path, schema, case, "")
    load(tmp_path, with_setting(schema, "format", '"parquet"', "files.person"), case, "")


def test_two_files_of_one_kind_are_named_in_one(tmp_path: Path) -> None:
    more = '[files.more]\npath = "more.csv"\nentity = "person"\n'
    (tmp_path / "more.csv").write_text("pn,sex\n2,2\n", encoding="utf-8", newline="\n")
    case, persons = Case("", "", "", ""), "pn,sex\n1,1\n"
    two = with_setting(
        FLAT.replace("[entity", f"{more}[entity", 1), "file", '"person"', "variable.sex"
    )
    with pytest.raises(SdcensusError, match="one entry with a list of paths"):
        load(tmp_path, two, case, persons)
    load(tmp_path, FLAT.replace('"persons.csv"', '["persons.csv", "more.csv"]'), case, persons)


def test_the_sheet_that_has_the_columns_is_named(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "persons.xlsx") as book:
        book.add_worksheet("About").write_row(0, 0, ["This is a census"])
        sheet = book.add_worksheet("Persons 2021")
        sheet.write_row(0, 0, ["pn", "sex"])
        sheet.write_row(1, 0, ["1", "1"])
    schema = FLAT.replace("persons.csv", "persons.xlsx")
    case = Case("", "", "", "")
    with pytest.raises(InputError) as caught:
        load(tmp_path, schema, case, "")
    assert 'sheet = "Persons 2021" in [files.person]' in str(caught.value)
    load(tmp_path, as_said(schema, str(caught.value)), case, "")


def test_values_are_looked_at_and_not_shown(tmp_path: Path) -> None:
    persons = "pn,sex\n1,Zyxomma\n2,Petiolatum Smith\n"
    with pytest.raises(DataProblems) as caught:
        load(tmp_path, FLAT, Case("", "", "", ""), persons)
    assert "Zyxomma" not in str(caught.value) + repr(caught.value.problems)
    assert "Smith" not in str(caught.value) + repr(caught.value.problems)
