"""A first schema from the files themselves."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import given, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import InputError, OutputError
from sdcensus.ingest.draft import DraftOptions, draft_schema
from sdcensus.ingest.draft_words import kind_of_label
from sdcensus.model.schema.id_forms import IdForm
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import CodeKind, EmptyField, Entity, Role, Variable
from tests.ingest.readers.writers import write_sav

Columns = Mapping[str, Sequence[Any]]


def write_csv(
    path: Path, columns: Columns, *, delimiter: str = ",", encoding: str = "utf-8"
) -> Path:
    with path.open("w", encoding=encoding, newline="") as stream:
        table = csv.writer(stream, delimiter=delimiter)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return path


def drafted(folder: Path, *paths: Path, **options: Any) -> Schema:
    draft_schema(paths, folder / "draft", DraftOptions(**options))
    return read_schema(folder / "draft" / "schema.toml")


def everything_in(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.*")))


def one_column(folder: Path, name: str, values: Sequence[Any]) -> Variable | None:
    """The variable that is drafted for a column."""
    columns = {name: values, "person_no": range(len(values))}
    schema = drafted(folder, write_csv(folder / "persons.csv", columns))
    return next(
        (
            variable
            for variable in schema.variables
            if variable.source and variable.source.column == name
        ),
        None,
    )


def codes(variable: Variable | None) -> dict[str, CodeKind]:
    assert variable is not None
    return {code.code: code.kind for code in variable.codes}


PERSONS: Columns = {
    "DISTRITO": [f"0{1 + number // 40}" for number in range(120)],
    "hogar_no": [1 + number // 4 for number in range(120)],
    "persona_no": [1 + number % 4 for number in range(120)],
    "Nombre": [f"Nadie Conocido {number}" for number in range(120)],
    "Teléfono": [5550000 + 7 * number for number in range(120)],
    "SEXO": [1 + number % 2 for number in range(120)],
    "EDAD": [999 if number == 7 else number % 90 for number in range(120)],
    "estado civil": ["" if number % 90 < 15 else 1 + number % 3 for number in range(120)],
    "ingreso": [f"{number * 13},{number % 10}5" for number in range(120)],
}
HOUSEHOLDS: Columns = {
    "DISTRITO": [f"0{1 + number // 10}" for number in range(30)],
    "hogar_no": range(1, 31),
    "tenencia": [(1, 2, 3, 9)[number % 4] for number in range(30)],
    "factor_expansion": ["1.25"] * 30,
}


# ---------------------------------------------------------------- files and units


def test_two_files_are_linked_by_what_they_share(tmp_path: Path) -> None:
    schema = drafted(
        tmp_path,
        write_csv(tmp_path / "personas.csv", PERSONS, delimiter=";", encoding="cp1252"),
        write_csv(tmp_path / "hogares.csv", HOUSEHOLDS),
    )
    person, household = (schema.entity(one) for one in (Entity.PERSON, Entity.HOUSEHOLD))
    assert household.id == ("hogar_no",)
    assert person.id == ("hogar_no", "persona_no")
    assert person.within is Entity.HOUSEHOLD
    source = schema.file("person").source
    assert (source.encoding, source.decimal) == ("cp1252", ",")
    assert source.paths[0].resolve() == (tmp_path / "personas.csv").resolve()
    roles = {
        variable.source.column: variable.role for variable in schema.variables if variable.source
    }
    assert roles["Nombre"] is Role.DIRECT_IDENTIFIER
    assert roles["Teléfono"] is Role.DIRECT_IDENTIFIER
    assert roles["SEXO"] is roles["EDAD"] is Role.KEY
    assert roles["factor_expansion"] is Role.WEIGHT
    geography = schema.geography
    assert geography is not None
    assert (geography.name, geography.entity) == ("distrito", Entity.HOUSEHOLD)
    assert [code.code for code in geography.codes] == ["01", "02", "03"]


def test_households_of_a_flat_file_are_derived(tmp_path: Path) -> None:
    schema = drafted(tmp_path, write_csv(tmp_path / "census.csv", PERSONS))
    assert schema.entity(Entity.PERSON).within is Entity.HOUSEHOLD
    assert schema.entity(Entity.HOUSEHOLD).id == ("hogar_no",)
    assert schema.entity(Entity.HOUSEHOLD).derived_from is Entity.PERSON


def test_files_with_the_same_columns_are_one(tmp_path: Path) -> None:
    half = {name: list(values)[:60] for name, values in PERSONS.items()}
    rest = {name: list(values)[60:] for name, values in PERSONS.items()}
    paths = [
        write_csv(tmp_path / "north.csv", half),
        write_csv(tmp_path / "south.csv", rest),
    ]
    schema = drafted(tmp_path, *paths)
    assert [path.name for path in schema.files[0].source.paths] == ["north.csv", "south.csv"]
    assert schema.entity(Entity.PERSON).id == ("hogar_no", "persona_no")


def test_records_without_an_id_are_known_by_their_content(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "persons.csv", {"sex": [1, 2] * 20, "age": [3, 3] * 20})
    schema = drafted(tmp_path, path)
    assert schema.entity(Entity.PERSON).from_content
    assert "id" in (tmp_path / "draft" / "schema.toml").read_text(encoding="utf-8")


def test_numbers_in_an_id_get_a_width(tmp_path: Path) -> None:
    table = pa.table({"person_id": list(range(1, 301)), "sex": [1, 2, 1] * 100})
    pq.write_table(table, tmp_path / "people.parquet")
    schema = drafted(tmp_path, tmp_path / "people.parquet")
    assert schema.variable("person_id").role is Role.RECORD_ID
    assert schema.entity(Entity.PERSON).form == IdForm((3,))


# ---------------------------------------------------------------- variables


def test_the_usual_universes_are_proposed_as_ready_lines(tmp_path: Path) -> None:
    count = 90
    path = write_sav(
        tmp_path / "persons.sav",
        {
            "PNO": list(range(1, count + 1)),
            "P05": list(range(count)),
            "KIND": [1 + number % 2 for number in range(count)],
        },
        labels={"P05": "Age in years"},
        value_labels={"KIND": {1: "Private household", 2: "Institution"}},
        missing={},
    )
    schema = drafted(tmp_path, path, language="fr")
    assert [
        (universe.name, universe.condition, universe.label.show("fr"))
        for universe in schema.universes
    ] == [
        ("aged_15_and_over", "p05 >= 15", "15 ans et plus"),
        ("aged_65_and_over", "p05 >= 65", "65 ans et plus"),
        ("private_households", "kind == '1'", "Ménages ordinaires"),
    ]
    sexes = write_csv(tmp_path / "others.csv", {"pno": range(9), "sexo": [1, 2, 1] * 3})
    assert drafted(tmp_path / "other", sexes).universes == ()


def test_labels_of_the_file_become_code_lists(tmp_path: Path) -> None:
    count = 60
    path = write_sav(
        tmp_path / "persons.sav",
        {
            "PNO": list(range(1, count + 1)),
            "P03": [1 + number % 2 for number in range(count)],
            "P04": [(1, 2, 8, 9)[number % 4] for number in range(count)],
            "P05": [999 if number == 3 else number for number in range(count)],
        },
        labels={"PNO": "Person number", "P03": "Sex", "P05": "Age in years"},
        value_labels={
            "P03": {1: "Male", 2: "Female", 3: "Other"},
            "P04": {1: "Yes", 2: "No", 8: "No aplica", 9: "NS/NR"},
            "P05": {0: "Less than one year", 999: "Not stated"},
        },
        missing={"P04": [9]},
    )
    schema = drafted(tmp_path, path)
    sex = schema.variable("p03")
    assert [code.label.show() for code in sex.codes] == ["Male", "Female", "Other"]
    assert sex.label.show() == "Sex"
    assert sex.role is Role.KEY
    assert codes(schema.variable("p04")) == {
        "1": CodeKind.VALID,
        "2": CodeKind.VALID,
        "8": CodeKind.NOT_APPLICABLE,
        "9": CodeKind.NOT_STATED,
    }
    age = schema.variable("p05")
    assert [code.code for code in age.codes] == [*map(str, range(121)), "999"]
    assert age.codes[-1].kind is CodeKind.NOT_STATED


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Not stated", CodeKind.NOT_STATED),
        ("No declarado", CodeKind.NOT_STATED),
        ("Ignorado", CodeKind.NOT_STATED),
        ("NS/NR", CodeKind.NOT_STATED),
        ("Non déclaré", CodeKind.NOT_STATED),
        ("Não sabe", CodeKind.NOT_STATED),
        ("Não sabe/não respondeu", CodeKind.NOT_STATED),
        ("Não determinado", CodeKind.NOT_STATED),
        ("Perdido", CodeKind.NOT_STATED),
        ("Valor perdido", CodeKind.NOT_STATED),
        ("Sin dato", CodeKind.NOT_STATED),
        ("No sabe/No responde", CodeKind.NOT_STATED),
        ("NSP", CodeKind.NOT_STATED),
        ("Ne sait pas / non réponse", CodeKind.NOT_STATED),
        ("En blanco", CodeKind.NOT_STATED),
        ("Perdido en combate", CodeKind.VALID),
        ("Pérdida de empleo", CodeKind.VALID),
        ("No sabe leer", CodeKind.VALID),
        ("Not applicable (under 15)", CodeKind.NOT_APPLICABLE),
        ("No corresponde", CodeKind.NOT_APPLICABLE),
        ("Sans objet", CodeKind.NOT_APPLICABLE),
        ("N/A", CodeKind.NOT_APPLICABLE),
        ("Ninguna", CodeKind.VALID),
        ("Male", CodeKind.VALID),
        ("Other", CodeKind.VALID),
    ],
)
def test_labels_that_say_there_is_no_value(label: str, kind: CodeKind) -> None:
    assert kind_of_label(label) is kind


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ([1, 2, 3, 9], {"9": CodeKind.NOT_STATED}),
        ([1, 2, 3, 98, 99], {"98": CodeKind.NOT_APPLICABLE, "99": CodeKind.NOT_STATED}),
        ([1, 2, 7, 8, 9], {}),
        ([1, 2, 3, 8], {}),
        ([0, 9], {}),
    ],
)
def test_nines_at_the_top_after_a_gap_are_missing_codes(
    tmp_path: Path, values: list[int], missing: dict[str, CodeKind]
) -> None:
    found = codes(one_column(tmp_path, "question", values * 20))
    assert {code: kind for code, kind in found.items() if kind is not CodeKind.VALID} == missing
    assert set(found) == set(map(str, values))


def test_ages_whose_missing_code_is_a_possible_age(tmp_path: Path) -> None:
    age = one_column(tmp_path, "age", [*range(90), 99, 99, 99])
    assert codes(age)["99"] is CodeKind.NOT_STATED
    assert list(codes(age))[:-1] == [str(number) for number in range(99)]


def test_many_numbers_are_amounts_and_their_values_are_not_written(tmp_path: Path) -> None:
    income = one_column(tmp_path, "income", [number * 7919 for number in range(300)])
    assert income is not None
    assert income.continuous
    assert str(299 * 7919) not in everything_in(tmp_path / "draft")


def test_numbers_of_the_same_length_with_gaps_are_a_classification(tmp_path: Path) -> None:
    values = [1111 + 37 * (number % 60) for number in range(400)]
    assert list(codes(one_column(tmp_path, "occupation", values))) == sorted(
        {str(value) for value in values}
    )
    assert (tmp_path / "draft" / "codes" / "occupation.csv").is_file()


def test_empty_fields_get_a_meaning(tmp_path: Path) -> None:
    few = one_column(tmp_path, "question", ["", *[1, 2] * 30])
    assert few is not None
    assert few.source is not None
    assert few.source.empty is EmptyField.NOT_STATED
    (tmp_path / "more").mkdir()
    many = one_column(tmp_path / "more", "question", [*[""] * 40, *[1, 2] * 30])
    assert many is not None
    assert many.source is not None
    assert many.source.empty is EmptyField.NOT_APPLICABLE


def test_every_guess_says_so(tmp_path: Path) -> None:
    text = draft_schema([write_csv(tmp_path / "persons.csv", PERSONS)], tmp_path / "draft").text
    assert text == (tmp_path / "draft" / "schema.toml").read_text(encoding="utf-8")
    assert text.count("guessed") >= 8


# ---------------------------------------------------------------- confidential values


@given(
    st.lists(
        st.text("abcdefghijklmnopqrstuvwxyzáéñ ", min_size=3, max_size=12).map(
            lambda name: f"Qz{name.strip()}q"
        ),
        min_size=1,
        max_size=80,
        unique=True,
    ),
    st.integers(1, 2),
    st.sampled_from(["notes", "question_12", "district", "other_specify", "code"]),
)
def test_texts_that_may_be_names_are_never_written(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], times: int, column: str
) -> None:
    folder = tmp_path_factory.mktemp("names")
    values = [*names * times, *["Yes", "No"] * 60]
    variable = one_column(folder, column, values)
    assert variable is not None
    written = everything_in(folder / "draft")
    assert not [name for name in names if name in written]


def test_long_numbers_of_their_own_are_never_written(tmp_path: Path) -> None:
    values = [80_000_000 + 7_919 * number for number in range(200)]
    variable = one_column(tmp_path, "question_3", values)
    assert variable is not None
    assert variable.role is Role.DIRECT_IDENTIFIER
    assert "8000" not in everything_in(tmp_path / "draft")


# ---------------------------------------------------------------- any file


NAMES = st.one_of(
    st.sampled_from(
        ["sex", "age", "district", "name", "weight", "total", "in", "1st", "person_no"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8),
)
CELLS = st.one_of(
    st.integers(-3, 12).map(str),
    st.sampled_from(
        ["", "9", "99", "999", "01", "02", "1.5", "2,5", "_T", "_U", "x", "Not stated"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=6),
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[str]]:
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique_by=str.strip))
    rows = draw(st.integers(1, 30))
    table = {}
    for name in names:
        few = draw(st.lists(CELLS, min_size=1, max_size=5))
        table[name] = draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows))
    return table


@given(tables(), st.sampled_from(list(FileFormat)[:2]))
def test_the_draft_of_any_file_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[str]], form: FileFormat
) -> None:
    folder = tmp_path_factory.mktemp("any")
    path = folder / f"data.{form}"
    if form is FileFormat.CSV:
        write_csv(path, table)
    else:
        pq.write_table(pa.table(table), path)
    try:
        schema = drafted(folder, path)
    except InputError:  # nothing but empty fields, or a header that is none
        assert not (folder / "draft").exists()
        return
    assert schema.variables
    for variable in schema.variables:
        assert variable.source is not None
        assert variable.source.column in {*table, *(name.strip() for name in table)}


# ---------------------------------------------------------------- refusals


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    values = [1111 + 37 * (number % 60) for number in range(400)]
    path = write_csv(tmp_path / "persons.csv", {"isco": values, "person_no": range(400)})
    draft_schema([path], tmp_path / "draft")
    before = everything_in(tmp_path / "draft")
    with pytest.raises(OutputError, match=r"schema\.toml exists already"):
        draft_schema([path], tmp_path / "draft")
    (tmp_path / "draft" / "schema.toml").unlink()
    with pytest.raises(OutputError, match=r"isco\.csv exists already"):
        draft_schema([path], tmp_path / "draft")
    assert not (tmp_path / "draft" / "schema.toml").exists()
    assert everything_in(tmp_path / "draft") in before


def test_a_folder_that_is_none_is_an_output_error(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "persons.csv", PERSONS)
    with pytest.raises(OutputError, match="cannot be written"):
        draft_schema([path], path)


def test_files_that_cannot_be_drafted_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No file was given"):
        draft_schema([], tmp_path / "draft")
    with pytest.raises(InputError):
        draft_schema([tmp_path / "none.csv"], tmp_path / "draft")
    with pytest.raises(InputError, match="does not tell the format"):
        draft_schema([tmp_path / "none.doc"], tmp_path / "draft")
    with pytest.raises(InputError, match="needs its dictionary"):
        draft_schema([write_csv(tmp_path / "a.dat", PERSONS)], tmp_path / "draft")
    only_header = tmp_path / "header.csv"
    only_header.write_text("sex,age\n", encoding="utf-8", newline="\n")
    with pytest.raises(InputError, match="has no records"):
        draft_schema([only_header], tmp_path / "draft")
    assert not (tmp_path / "draft").exists()


DICTIONARY = """[Dictionary]
Version=CSPro 7.7
Label=Census
Name=CENSUS
RecordTypeStart=1
RecordTypeLen=1
Positions=Absolute
ZeroFill=No
DecimalChar=Yes

[Level]
Label=Questionnaire
Name=QUEST

[IdItems]

[Item]
Label=Household number
Name=HH_NO
Start=2
Len=3

[Record]
Label=Housing
Name=HOUSING
RecordTypeValue='H'
RecordLen=10

[Item]
Label=Rooms
Name=H01_ROOMS
Start=5
Len=1

[Record]
Label=Person
Name=PERSON
RecordTypeValue='P'
RecordLen=10

[Item]
Label=Line number
Name=P01_LINE
Start=5
Len=1

[Item]
Label=Sex
Name=P02
Start=6
Len=1

[ValueSet]
Label=Sex
Name=P02_VS1
Value=1;Male
Value=2;Female
Value=9;Not stated
"""


def test_each_record_type_of_cspro_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "census.dcf").write_text(DICTIONARY, encoding="utf-8", newline="\n")
    lines = []
    for household in range(1, 41):
        lines.append(f"H{household:3}{1 + household % 6}")
        lines += [f"P{household:3}{person}{1 + person % 2}" for person in range(1, 4)]
    (tmp_path / "census.dat").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    schema = drafted(tmp_path, tmp_path / "census.dat")
    assert {file.entity: file.source.record for file in schema.files} == {
        Entity.DWELLING: "HOUSING",
        Entity.PERSON: "PERSON",
    }
    assert schema.entity(Entity.PERSON).id == ("HH_NO", "P01_LINE")
    assert schema.entity(Entity.PERSON).within is Entity.DWELLING
    sex = schema.variable("p02")
    assert [code.label.show() for code in sex.codes] == ["Male", "Female", "Not stated"]
    assert sex.codes[-1].kind is CodeKind.NOT_STATED


def test_sheets_that_speak_of_units_are_files(tmp_path: Path) -> None:
    path = tmp_path / "recensement.xlsx"
    with xlsxwriter.Workbook(path) as book:
        households, persons = book.add_worksheet("Ménages"), book.add_worksheet("Individus")
        households.write_row(0, 0, ["Numéro ménage", "Type de logement"])
        persons.write_row(0, 0, ["Numéro ménage", "N° ordre", "Sexe", "Âge"])
        for at in range(60):
            households.write_row(at + 1, 0, [at + 1, "Case" if at % 2 else "Maison"])
            persons.write_row(at + 1, 0, [at + 1, 1, "Masculin" if at % 2 else "Féminin", at])
        book.add_worksheet("Notes").write(0, 0, "Fait par l'office")
    schema = drafted(tmp_path, path, language="fr")
    assert [file.entity for file in schema.files] == [Entity.HOUSEHOLD, Entity.PERSON]
    assert schema.entity(Entity.PERSON).within is Entity.HOUSEHOLD
    # A name that is written as words is what readers see.
    assert schema.variable("type_de_logement").label.show("fr") == "Type de logement"
    assert dict(schema.roles) == {"age": "âge", "sex": "sexe"}


def test_a_code_without_a_label_says_so_in_the_language_of_the_draft(tmp_path: Path) -> None:
    census = write_csv(tmp_path / "personas.csv", {"id": range(40), "P08": [1, 2] * 19 + [1, 7]})
    dictionary = tmp_path / "diccionario.csv"
    rows = "variable,descripción,código,significado\nP08,Sexo,1,Hombre\nP08,Sexo,2,Mujer\n"
    dictionary.write_text(rows, encoding="utf-8")
    schema = drafted(tmp_path, census, dictionaries=(dictionary,), language="es")
    labels = {code.code: code.label.show("es") for code in schema.variable("p08").codes}
    assert labels["7"] == "(sin etiqueta en el archivo)"


def test_a_code_that_hardly_any_record_has_is_a_mistake_and_no_category(tmp_path: Path) -> None:
    rows = 3000
    sex, age = [1, 2] * (rows // 2), [at % 90 for at in range(rows)]
    sex[7], age[9] = 7, 130
    children = [9 if at == 5 else at % 4 for at in range(rows)]
    columns = {"id": range(rows), "P08": sex, "P09": age, "P19": children}
    census = write_csv(tmp_path / "personas.csv", columns)
    dictionary = tmp_path / "diccionario.csv"
    entries = "variable,descripción,código,significado\nP08,Sexo,1,Hombre\nP08,Sexo,2,Mujer\n"
    entries += "P09,Edad,0-100,Años\nP19,Hijos,0-23,Hijos\nP19,Hijos,98,No aplica\n"
    dictionary.write_text(entries, encoding="utf-8")
    schema = drafted(tmp_path, census, dictionaries=(dictionary,), language="es")
    assert codes(schema.variable("p08"))["7"] is CodeKind.NOT_STATED
    kinds = codes(schema.variable("p09"))
    assert kinds["130"] is CodeKind.NOT_STATED
    assert kinds["100"] is CodeKind.VALID
    assert "101" not in kinds
    # A number that is rare and possible is none.
    assert codes(schema.variable("p19"))["9"] is CodeKind.VALID
    text = (tmp_path / "draft" / "schema.toml").read_text(encoding="utf-8")
    assert text.count("is a mistake: not stated") == 2
