"""Dictionaries that are tables: whatever the columns are called and however rows are laid out."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import given, strategies as st

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.entries import (
    Collector,
    Dictionary,
    DictionaryRange,
    DictionaryVariable,
    Place,
)
from sdcensus.ingest.dictionaries.opening import (
    DictionaryOptions,
    columns_named,
    open_dictionary,
)
from sdcensus.ingest.dictionaries.sheets import Row, Sheet
from sdcensus.ingest.dictionaries.tables import TableReading, tables_dictionary
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text

WORDS = tomllib.loads(
    (files("sdcensus.ingest.dictionaries") / "words.toml").read_text(encoding="utf-8")
)
LANGUAGES = ("en", "es", "fr", "pt", "nl")
ROLES = ("variable", "label", "value", "value_label")
FILES = CensusColumns({"personas": ("P01", "P02", "EDAD"), "viviendas": ("V01", "P01")})


def read(folder: Path, text: str, *, columns: str = "", language: str | None = None) -> Dictionary:
    path = folder / "diccionario.csv"
    path.write_text(text, encoding="utf-8", newline="\n")
    options = DictionaryOptions(columns_named([columns]), language, None, FILES)
    return open_dictionary(path, options)


def entry(dictionary: Dictionary, name: str, table: str | None = None) -> DictionaryVariable:
    return next(
        variable
        for variable in dictionary.variables
        if variable.name == name and table in (None, variable.table)
    )


def codes(variable: DictionaryVariable) -> dict[str, str]:
    return {code.code: code.label.show() for code in variable.codes}


# ---------------------------------------------------------------- any order, any words, any layout

LABELS = st.lists(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9), min_size=2, max_size=4
).map(lambda words: " ".join(words).capitalize())
Question = tuple[str, str, dict[str, str]]


@st.composite
def questions(draw: st.DrawFn) -> list[Question]:
    """Variables with labels and codes; some have no codes."""
    numbers = draw(st.lists(st.integers(1, 99), min_size=3, max_size=6, unique=True))
    answers = st.dictionaries(st.integers(-99, 400).map(str), LABELS, min_size=2, max_size=5)
    drawn = [(f"P{number:02}", draw(LABELS), draw(answers)) for number in numbers]
    return [*drawn, ("NOTA", draw(LABELS), {})]


@st.composite
def sheets(draw: st.DrawFn) -> tuple[list[Question], str, Sheet]:
    """The same questions in a layout that an office may have chosen."""
    drawn = draw(questions())
    language = draw(st.sampled_from(LANGUAGES))
    headings = {role: draw(st.sampled_from(WORDS[role]["strong"][language])) for role in ROLES}
    layout = draw(st.sampled_from(["every row", "first row", "row above"]))
    order = draw(st.permutations([*ROLES, "number", "type"]))
    rows: list[dict[str, str]] = []
    for number, (name, label, answers) in enumerate(drawn, start=1):
        head = {"variable": name, "label": label, "number": str(number), "type": "Num"}
        if layout == "row above" or not answers:
            rows.append(head)
        for at, (code, meaning) in enumerate(answers.items()):
            repeated = layout == "every row" or (layout == "first row" and at == 0)
            rows.append({**(head if repeated else {}), "value": code, "value_label": meaning})
    other = {"number": WORDS["other"]["strong"][language][-1], "type": "Format"}
    cells = [[{**headings, **other}[role].capitalize() for role in order]]
    cells += [[row.get(role, "") for role in order] for row in rows]
    if draw(st.booleans()):
        cells = [["Diccionario del censo", "", "", "", "", ""], *cells]
    numbered = [Row(number, tuple(row)) for number, row in enumerate(cells, start=1) if any(row)]
    return drawn, language, Sheet("", tuple(numbered))


def expected(drawn: Sequence[Question], language: str) -> tuple[DictionaryVariable, ...]:
    collector = Collector()
    for name, label, answers in drawn:
        collector.variable(name, "", Text.of(label, language=language), Place(""))
        for code, meaning in answers.items():
            collector.code(name, "", code, Text.of(meaning, language=language), Place(""))
    return collector.dictionary(language).variables


@given(sheets())
def test_any_order_of_columns_and_any_words_give_the_same_dictionary(
    drawn: tuple[list[Question], str, Sheet],
) -> None:
    wanted, language, sheet = drawn
    known = CensusColumns({"personas": tuple(name for name, _, _ in wanted)})
    reading = TableReading(known, (), language)
    dictionary = tables_dictionary("d.csv", "d", [sheet], reading)
    assert dictionary.variables == expected(wanted, language)
    assert dictionary.doubts == ()


@given(sheets(), st.permutations(["foo", "bar", "baz", "qux", "quux", "corge"]))
def test_headings_that_say_nothing_do_no_harm_where_contents_tell(
    drawn: tuple[list[Question], str, Sheet], names: list[str]
) -> None:
    """By the names of the census files, by codes and by what repeats."""
    wanted, language, sheet = drawn
    titled = sheet.rows[0].cells[1] == ""
    rows = sheet.rows[1 + titled :]
    plain = Sheet("", (Row(1, tuple(names)), *rows))
    known = CensusColumns({"personas": tuple(name for name, _, _ in wanted)})
    dictionary = tables_dictionary("d.csv", "d", [plain], TableReading(known, (), language))
    truth = {variable.name: variable.codes for variable in expected(wanted, language)}
    assert {variable.name: variable.codes for variable in dictionary.variables} == truth


# ---------------------------------------------------------------- layouts


def test_codes_may_stand_below_their_variable_in_the_same_column(tmp_path: Path) -> None:
    text = "Nombre;Descripción\nP01;Sexo\n1;Hombre\n2;Mujer\nEDAD;Edad\n999;Ignorado\n"
    dictionary = read(tmp_path, text)
    assert entry(dictionary, "P01").label.show() == "Sexo"
    assert codes(entry(dictionary, "P01")) == {"1": "Hombre", "2": "Mujer"}
    assert entry(dictionary, "EDAD").codes[0].kind is CodeKind.NOT_STATED


def test_codes_may_stand_together_in_one_cell(tmp_path: Path) -> None:
    text = (
        "Campo,Pregunta,Categorías,Tipo\n"
        'P01,Sexo,1=Hombre; 2=Mujer,N\nP02,Civil,"1. Soltero\n2. Casado\n9. Ignorado",N\n'
        'EDAD,Edad,"0: Menos de un año, 98: Noventa y ocho o más",N\n'
    )
    dictionary = read(tmp_path, text)
    assert codes(entry(dictionary, "P01")) == {"1": "Hombre", "2": "Mujer"}
    assert codes(entry(dictionary, "P02")) == {"1": "Soltero", "2": "Casado", "9": "Ignorado"}
    assert codes(entry(dictionary, "EDAD")) == {
        "0": "Menos de un año",
        "98": "Noventa y ocho o más",
    }


def test_one_column_may_hold_the_labels_of_variables_and_of_codes(tmp_path: Path) -> None:
    text = "Variable,Código,Descripción\nP01,,Sexo\n,1,Hombre\n,2,Mujer\nP02,,Civil\n,1,Soltero\n"
    dictionary = read(tmp_path, text)
    assert [variable.label.show() for variable in dictionary.variables] == ["Sexo", "Civil"]
    assert codes(entry(dictionary, "P01")) == {"1": "Hombre", "2": "Mujer"}


def test_ranges_are_written_in_many_ways(tmp_path: Path) -> None:
    spans = ["0-120", "0:120", "0 a 120", "0 – 120 años", "de 0 a 120", "0..120", "[0-120]"]
    for span in spans:
        text = f"Variable,Etiqueta,Valor,Glosa\nEDAD,Edad,{span},Años\nEDAD,Edad,999,Ignorado\n"
        variable = entry(read(tmp_path, text), "EDAD")
        assert [(one.low, one.high) for one in variable.ranges] == [(0, 120)], span
        assert codes(variable) == {"999": "Ignorado"}
    columns = 'Variable,Etiqueta,Mínimo,Máximo,Valores perdidos\nEDAD,Edad,0,120,"998,999"\n'
    variable = entry(read(tmp_path, columns), "EDAD")
    assert variable.ranges == (DictionaryRange(0, 120),)
    assert {code.code: code.kind for code in variable.codes} == {
        "998": CodeKind.NOT_STATED,
        "999": CodeKind.NOT_STATED,
    }


def test_special_codes_are_what_their_labels_say(tmp_path: Path) -> None:
    labels = {
        "-99": "NS/NR",
        "98": "No corresponde",
        "99": "Ignorado",
        ".a": "No sabe",
        "9": "Nueve o más piezas",
        "8": "8",
    }
    rows = "".join(f"P02,Piezas,{code},{label}\n" for code, label in labels.items())
    variable = entry(read(tmp_path, f"Variable,Etiqueta,Valor,Glosa\n{rows}"), "P02")
    kinds = {code.code: code.kind for code in variable.codes}
    assert kinds == {
        "-99": CodeKind.NOT_STATED,
        "98": CodeKind.NOT_APPLICABLE,
        "99": CodeKind.NOT_STATED,
        ".a": CodeKind.NOT_STATED,
        "9": CodeKind.VALID,
        "8": CodeKind.VALID,
    }


@pytest.mark.parametrize(
    "headings",
    [
        "variable,label_es,label_en,value,value_label_es,value_label_en",
        "variable,label:es,label:en,value,value_label:es,value_label:en",
        "Variable,Etiqueta,Label,Código,Categoría,Category",
        "Variable,Label (Spanish),Label (English),Code,Value label (Spanish),Value label (English)",
        "Variable,Etiqueta [español],Etiqueta [inglés],Valor,Etiqueta de valor [español],"
        "Etiqueta de valor [inglés]",
        "name,label::Español (es),label::English (en),value,value label::Español (es),"
        "value label::English (en)",
    ],
)
def test_labels_in_several_languages(tmp_path: Path, headings: str) -> None:
    text = f"{headings}\nP01,Sexo,Sex,1,Hombre,Male\n,,,2,Mujer,Female\n"
    dictionary = read(tmp_path, text)
    assert dictionary.languages == ("es", "en")
    variable = entry(dictionary, "P01")
    assert variable.label == Text.of({"es": "Sexo", "en": "Sex"})
    assert [code.label.show("en") for code in variable.codes] == ["Male", "Female"]
    assert [code.label.show("es") for code in variable.codes] == ["Hombre", "Mujer"]


def test_csv_files_of_any_delimiter_and_encoding(tmp_path: Path) -> None:
    rows = [
        ["Variable", "Descripción", "Código", "Glosa"],
        ["P01", "Años; o más", "1", "Niñez"],
        ["P01", "Años; o más", "2", "Adultez"],
    ]
    for delimiter in ",;\t|":
        for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16"):
            stream = io.StringIO(newline="")
            csv.writer(stream, delimiter=delimiter).writerows(rows)
            path = tmp_path / "d.csv"
            path.write_bytes(stream.getvalue().encode(encoding))
            variable = entry(open_dictionary(path, DictionaryOptions(files=FILES)), "P01")
            assert variable.label.show() == "Años; o más"
            assert codes(variable) == {"1": "Niñez", "2": "Adultez"}


# ---------------------------------------------------------------- workbooks


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Dictionary:
    book = xlsxwriter.Workbook(str(path))
    for title, rows in sheets.items():
        sheet = book.add_worksheet(title)
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
    book.close()
    return open_dictionary(path, DictionaryOptions(files=FILES))


def test_one_sheet_of_variables_and_another_of_codes(tmp_path: Path) -> None:
    dictionary = workbook(
        tmp_path / "d.xlsx",
        {
            "Léame": [["Censo 2024"], ["Versión preliminar"]],
            "Variables": [
                ["Variable", "Etiqueta", "Tipo"],
                ["P01", "Sexo", "N"],
                ["EDAD", "Edad", "N"],
            ],
            "Valores": [
                ["Variable", "Valor", "Etiqueta"],
                ["P01", 1, "Hombre"],
                ["P01", 2, "Mujer"],
                ["EDAD", 999, "Ignorado"],
            ],
        },
    )
    assert entry(dictionary, "P01").label.show() == "Sexo"
    assert codes(entry(dictionary, "P01")) == {"1": "Hombre", "2": "Mujer"}
    assert [text for text in dictionary.doubts if "passed over" in text]
    assert len(dictionary.variables) == 2


def test_a_sheet_for_each_table_with_other_codes_for_the_same_name(tmp_path: Path) -> None:
    heading: list[object] = ["Variable", "Etiqueta", "Valor", "Glosa"]
    dictionary = workbook(
        tmp_path / "d.xlsx",
        {
            "PERSONA": [heading, ["P01", "Sexo", 1, "Hombre"], ["P01", "Sexo", 2, "Mujer"]],
            "VIVIENDA": [heading, ["P01", "Pared", 1, "Adobe"], ["P01", "Pared", 2, "Madera"]],
        },
    )
    assert codes(entry(dictionary, "P01", "personas")) == {"1": "Hombre", "2": "Mujer"}
    assert codes(entry(dictionary, "P01", "viviendas")) == {"1": "Adobe", "2": "Madera"}


def test_one_sheet_for_all_tables_with_a_column_for_the_table(tmp_path: Path) -> None:
    text = (
        "Tabla,Variable,Etiqueta,Valor,Glosa\nPersonas,P01,Sexo,1,Hombre\n,,,2,Mujer\n"
        "Viviendas,P01,Pared,1,Adobe\n,,,2,Madera\n"
    )
    dictionary = read(tmp_path, text)
    assert codes(entry(dictionary, "P01", "personas")) == {"1": "Hombre", "2": "Mujer"}
    assert codes(entry(dictionary, "P01", "viviendas")) == {"1": "Adobe", "2": "Madera"}


def test_lists_of_codes_that_several_variables_share(tmp_path: Path) -> None:
    dictionary = workbook(
        tmp_path / "d.xlsx",
        {
            "Campos": [
                ["Campo", "Descripción", "Catálogo"],
                ["P01", "Agua", "sino"],
                ["P02", "Luz", "sino"],
            ],
            "Catálogos": [["Catálogo", "Código", "Glosa"], ["sino", 1, "Sí"], ["sino", 2, "No"]],
        },
    )
    assert (
        codes(entry(dictionary, "P01"))
        == codes(entry(dictionary, "P02"))
        == {
            "1": "Sí",
            "2": "No",
        }
    )


def test_forms_in_the_notation_of_xlsform(tmp_path: Path) -> None:
    dictionary = workbook(
        tmp_path / "d.xlsx",
        {
            "survey": [
                ["type", "name", "label::Español (es)", "label::English (en)"],
                ["select_one sexo", "P01", "Sexo", "Sex"],
                ["integer", "EDAD", "Edad", "Age"],
            ],
            "choices": [
                ["list_name", "name", "label::Español (es)", "label::English (en)"],
                ["sexo", 1, "Hombre", "Male"],
                ["sexo", 2, "Mujer", "Female"],
            ],
        },
    )
    assert codes(entry(dictionary, "P01")) == {"1": "Hombre", "2": "Mujer"}
    assert entry(dictionary, "EDAD").label == Text.of({"es": "Edad", "en": "Age"})


# ---------------------------------------------------------------- doubts and mistakes


def test_double_and_contradicting_entries_are_reported_with_their_places(tmp_path: Path) -> None:
    text = (
        "Variable,Etiqueta,Valor,Glosa\nP01,Sexo,1,Hombre\nP01,Sexo,2,Mujer\nP01,Sexo,2,Varón\n"
        "P01,Sexo,1,Hombre\nP02,Civil,1,Soltero\nP02,Estado,2,Casado\n"
    )
    dictionary = read(tmp_path, text)
    contradiction, double, label = dictionary.doubts
    assert contradiction.startswith("diccionario.csv, row 4: the code '2' of 'P01' is 'Varón'")
    assert "'Mujer' in diccionario.csv, row 3" in contradiction
    assert double.startswith("diccionario.csv, row 5: the code '1' of 'P01' stands in")
    assert label.startswith("diccionario.csv, row 7: the label of 'P02' is 'Estado'")
    assert codes(entry(dictionary, "P01")) == {"1": "Hombre", "2": "Mujer"}


def test_a_table_that_is_not_understood_says_what_was_recognised_and_what_helps(
    tmp_path: Path,
) -> None:
    text = "Aaa,Bbb,Ccc\nx 1,10,uno\nx 2,20,dos\n"
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    message = str(refused.value)
    assert "'Aaa' (A), 'Bbb' (B), 'Ccc' (C)" in message
    assert "Not recognised: names of variables" in message
    assert "--dictionary-columns" in message
    dictionary = read(tmp_path, text, columns="variable=Aaa,value=Bbb,value_label:es=C")
    assert codes(entry(dictionary, "x 1")) == {"10": "uno"}


@pytest.mark.parametrize("text", ["campo", "variabel=campo", "label:es", "value="])
def test_roles_that_do_not_exist_are_named(text: str) -> None:
    with pytest.raises(InputError, match="The roles are variable, label"):
        columns_named([text])


def test_an_empty_file_and_an_unknown_kind_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        read(tmp_path, "\n\n")
    for name in ("d.pdf", "d.dic", "d.rxdb"):
        (tmp_path / name).write_bytes(b"\x01\x02")
        with pytest.raises(InputError) as refused:
            open_dictionary(tmp_path / name, DictionaryOptions())
        assert ("REDATAM" in str(refused.value)) == (name != "d.pdf")
