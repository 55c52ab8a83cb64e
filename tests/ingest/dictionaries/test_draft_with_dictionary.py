"""A schema that is drafted with dictionaries: what enters it, and what is listed beside it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.check import DictionaryCheck
from sdcensus.ingest.draft import CHECK_FILE, DraftOptions, draft_schema
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import CodeKind, Entity
from tests.ingest.readers.cspro_database import Case, write_csdb
from tests.ingest.readers.test_cspro_database import DICTIONARY as CSPRO
from tests.ingest.readers.writers import write_sav

HEAD = "Variable,Etiqueta,Valor,Glosa\n"


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))
    return path


def draft(
    folder: Path, files: Sequence[Path], *dictionaries: str | Path, **options: Any
) -> tuple[Schema, DictionaryCheck]:
    """Draft with dictionaries that are paths or the text of csv files."""
    paths = []
    for number, dictionary in enumerate(dictionaries, start=1):
        path = dictionary if isinstance(dictionary, Path) else folder / f"d{number}.csv"
        if isinstance(dictionary, str):
            path.write_text(dictionary, encoding="utf-8", newline="\n")
        paths.append(path)
    drafted = draft_schema(
        files, folder / "draft", DraftOptions(dictionaries=tuple(paths), **options)
    )
    assert drafted.check is not None
    written = (folder / "draft" / CHECK_FILE).read_text(encoding="utf-8")
    assert written == drafted.check.text()
    return read_schema(folder / "draft" / "schema.toml"), drafted.check


def codes(schema: Schema, name: str) -> dict[str, str]:
    return {code.code: code.label.show() for code in schema.variable(name).codes}


def kinds(schema: Schema, name: str) -> dict[str, CodeKind]:
    return {code.code: code.kind for code in schema.variable(name).codes}


def persons(**columns: Sequence[Any]) -> dict[str, Sequence[Any]]:
    rows = len(next(iter(columns.values())))
    return {"person_no": range(1, rows + 1), **columns}


# ---------------------------------------------------------------- what enters the schema


def test_codes_are_compared_in_a_common_form_and_keep_the_form_of_the_file(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "persons.csv",
        persons(A=["01", "02"] * 30, B=["1", "2"] * 30, C=["1", "01"] * 30, D=["m", "f"] * 30),
    )
    rows = {"A": ("1", "2", "3"), "B": ("01", "02", "03"), "C": ("1", "2"), "D": ("M", "F")}
    text = HEAD + "".join(
        f"{name},Pregunta {name},{code},Categoría {code}\n"
        for name, listed in rows.items()
        for code in listed
    )
    schema, check = draft(tmp_path, [path], text)
    assert list(codes(schema, "a")) == ["01", "02", "03"]
    assert list(codes(schema, "b")) == ["1", "2", "3"]
    assert list(codes(schema, "c")) == ["1", "2"]
    assert codes(schema, "d") == {"m": "Categoría M", "f": "Categoría F"}
    assert check.not_in_dictionary == ()
    assert any("'C' writes one code in several ways" in doubt for doubt in check.doubts)
    assert {column.column: column.codes for column in check.never_used}.keys() == {"A", "B", "C"}


def test_names_match_whatever_their_case_spacing_and_accents(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "persons.csv", persons(**{"año_nacimiento": [1, 2] * 20, "SEXO": [1, 2] * 20})
    )
    text = HEAD + "Ano Nacimiento,Año,1,Uno\nAno Nacimiento,Año,2,Dos\nsexo,Sexo,1,Hombre\n"
    schema, check = draft(tmp_path, [path], text)
    assert codes(schema, "año_nacimiento") == {"1": "Uno", "2": "Dos"}
    assert schema.variable("sexo").label.show() == "Sexo"
    assert check.without_entry == (("persons", "person_no"),)


def test_a_label_decides_whether_a_nine_is_missing(tmp_path: Path) -> None:
    values = [1, 2, 3, 9] * 20
    path = write_csv(tmp_path / "persons.csv", persons(ROOMS=values, WALL=values, ROOF=values))
    rows = "".join(
        f"{name},Cosa {name},{code},{label}\n"
        for name, last in (("ROOMS", "Nueve o más"), ("WALL", "Ignorado"), ("ROOF", "NS/NR"))
        for code, label in ((1, "Uno"), (2, "Dos"), (3, "Tres"), (9, last))
    )
    schema, _ = draft(tmp_path, [path], HEAD + rows)
    assert kinds(schema, "rooms")["9"] is CodeKind.VALID
    assert kinds(schema, "wall")["9"] is kinds(schema, "roof")["9"] is CodeKind.NOT_STATED


def test_ranges_of_the_dictionary_are_those_of_the_schema(tmp_path: Path) -> None:
    ages = [*range(0, 90), 999, 999]
    path = write_csv(tmp_path / "persons.csv", persons(EDAD=ages, HORAS=[h % 60 for h in ages]))
    text = HEAD + "EDAD,Edad,0-120,\nEDAD,Edad,999,Ignorado\nHORAS,Horas,0-97,\n,,98,No aplica\n"
    schema, check = draft(tmp_path, [path], text)
    age = schema.variable("edad")
    assert [code.code for code in age.codes][:121] == [str(number) for number in range(121)]
    assert kinds(schema, "edad")["999"] is CodeKind.NOT_STATED
    assert len(schema.variable("horas").codes) == 99
    assert check.not_in_dictionary == ()


def test_values_outside_the_range_are_listed_and_can_be_loaded(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "persons.csv", persons(CUARTOS=[*range(1, 40), 45]))
    schema, check = draft(tmp_path, [path], HEAD + "CUARTOS,Cuartos,1 a 30,\n")
    assert [column.codes for column in check.not_in_dictionary] == [
        tuple(str(number) for number in (*range(31, 40), 45))
    ]
    assert schema.variable("cuartos").codes[-1].code == "45"


def test_labels_enter_in_all_their_languages(tmp_path: Path) -> None:
    many = [f"{number:02}" for number in range(20)]
    path = write_csv(tmp_path / "persons.csv", persons(S=[1, 2] * 20, N=many * 2))
    head = "Variable,Etiqueta,Label,Valor,Categoría,Category\n"
    rows = "S,Sexo,Sex,1,Hombre,Male\nS,Sexo,Sex,2,Mujer,Female\n"
    rows += "".join(f"N,Nivel,Level,{code},Nivel {code},Level {code}\n" for code in many)
    schema, _ = draft(tmp_path, [path], head + rows)
    assert schema.variable("s").label.show("en") == "Sex"
    assert [code.label.show("en") for code in schema.variable("s").codes] == ["Male", "Female"]
    assert schema.variable("n").codes[3].label.by_language == (
        ("es", "Nivel 03"),
        ("en", "Level 03"),
    )


def test_the_same_name_has_other_codes_in_another_table(tmp_path: Path) -> None:
    files = [
        write_csv(tmp_path / "personas.csv", persons(P01=[1, 2] * 20)),
        write_csv(tmp_path / "viviendas.csv", {"dwelling_no": range(20), "P01": [1, 2] * 10}),
    ]
    text = (
        "Tabla,Variable,Etiqueta,Valor,Glosa\nPersona,P01,Sexo,1,Hombre\n,,,2,Mujer\n"
        "Vivienda,P01,Pared,1,Adobe\n,,,2,Madera\n"
    )
    schema, check = draft(tmp_path, files, text)
    labels = {
        variable.entity: [code.label.show() for code in variable.codes]
        for variable in schema.variables
        if variable.source and variable.source.column == "P01"
    }
    assert labels == {Entity.PERSON: ["Hombre", "Mujer"], Entity.DWELLING: ["Adobe", "Madera"]}
    assert check.described == 2


def test_several_dictionaries_complete_each_other(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "persons.csv", persons(SEX=[1, 2] * 20, AGE=list(range(40))))
    sav = write_sav(
        tmp_path / "labels.sav", {"SEX": [1.0]}, value_labels={"SEX": {1.0: "Hombre", 2.0: "Otra"}}
    )
    text = HEAD + "SEX,Sexo de la persona,2,Mujer\nAGE,Edad de la persona,,\n"
    schema, check = draft(tmp_path, [path], text, sav)
    assert codes(schema, "sex") == {"2": "Mujer", "1": "Hombre"}
    assert [doubt for doubt in check.doubts if "'Otra', but 'Mujer' in d1.csv, row 2" in doubt]


def test_unlabelled_missing_codes_are_used_where_they_occur(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "person.csv", persons(Q1=[1, 2, -999999999] * 20, Q2=[1, 2, 1] * 20)
    )
    export = tmp_path / "export"
    export.mkdir()
    labels = "".join(
        f'label define {name} 1 "Yes" 2 "No"\nlabel values {name} {name}\n' for name in ("Q1", "Q2")
    )
    for name, text in (("person.do", labels), ("export__readme.txt", "x")):
        (export / name).write_text(text, encoding="utf-8", newline="\n")
    schema, check = draft(tmp_path, [path], export)
    assert kinds(schema, "q1")["-999999999"] is CodeKind.NOT_STATED
    assert list(kinds(schema, "q2")) == ["1", "2"]
    assert (check.not_in_dictionary, check.never_used) == ((), ())


def test_a_cspro_database_is_drafted_from_its_own_dictionary(tmp_path: Path) -> None:
    housing = {"rent": 1.5, "room(1)": 1, "room(2)": 2, "room(3)": None}
    cases: list[Case] = [
        (
            {"hh": number},
            {
                "housing": [housing],
                "person": [{"sex": 1 + number % 2, "age": number, "name": "x"}] * 2,
            },
        )
        for number in range(1, 60)
    ]
    path = write_csdb(tmp_path / "census.csdb", CSPRO, cases)
    schema, check = draft(tmp_path, [path])
    assert {file.entity: file.source.record for file in schema.files} == {
        Entity.DWELLING: "HOUSING",
        Entity.PERSON: "PERSON",
    }
    assert schema.variable("sex").label.show("en") == "Sex"
    assert codes(schema, "sex") == {"1": "Hombre", "2": "Mujer"}
    assert len(schema.variable("age").codes) == 122
    assert [column.column for column in check.never_used] == ["AGE"]


# ---------------------------------------------------------------- what is listed


@given(
    used=st.sets(st.integers(0, 40), min_size=2, max_size=12),
    listed=st.sets(st.integers(0, 40), min_size=2, max_size=12),
)
def test_both_differences_between_dictionary_and_file_are_listed(
    tmp_path_factory: pytest.TempPathFactory, used: set[int], listed: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("draft")
    path = write_csv(folder / "persons.csv", persons(Q=sorted(used) * 5))
    rows = "".join(f"Q,Pregunta,{code:02},Respuesta {code}\n" for code in sorted(listed))
    schema, check = draft(folder, [path], HEAD + rows)
    strange = {code for column in check.not_in_dictionary for code in column.codes}
    unused = {code for column in check.never_used for code in column.codes}
    assert {int(code) for code in strange} == used - listed
    assert {int(code) for code in unused} == listed - used
    assert {int(code) for code in codes(schema, "q")} >= used | listed


def test_the_check_names_codes_and_never_counts_or_names_of_persons(tmp_path: Path) -> None:
    values = ["A", "B"] * 30 + ["Zoraida Quispe", "C"]
    path = write_csv(tmp_path / "persons.csv", persons(Q=values))
    _, check = draft(tmp_path, [path], HEAD + "Q,Pregunta,A,Uno\nQ,Pregunta,B,Dos\n")
    everything = "".join(
        file.read_text(encoding="utf-8") for file in (tmp_path / "draft").rglob("*.*")
    )
    assert "Zoraida" not in everything
    assert check.not_in_dictionary[0].codes == ("C",)
    assert check.not_in_dictionary[0].hidden
    assert "30" not in check.text()


def test_columns_and_variables_without_the_other_are_listed(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "persons.csv", persons(Q=[1, 2] * 20, X=[1, 2] * 20))
    _, check = draft(tmp_path, [path], HEAD + "Q,Pregunta,1,Uno\nQ,Pregunta,2,Dos\nZ,Otra,1,No\n")
    assert check.without_entry == (("persons", "person_no"), ("persons", "X"))
    assert check.without_column == (("Z", "d1.csv, row 4"),)
    assert list(check.summary()) == [
        "Columns that the dictionary describes: 1 of 3.",
        "Columns without an entry: 2 (person_no, X).",
        "Variables of the dictionary without a column: 1 (Z).",
    ]


def test_a_dictionary_of_other_files_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "persons.csv", persons(Q=[1, 2] * 20))
    with pytest.raises(InputError, match="describes no column of these files"):
        draft(tmp_path, [path], HEAD + "H01,Pregunta,1,Uno\nH02,Pregunta,2,Dos\n")
    assert not (tmp_path / "draft").exists()
