"""What a draft makes of values: missing texts, questions about identifiers, labelled nines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.ingest.draft import draft_schema
from sdcensus.ingest.draft_words import MISSING_TEXTS, kind_of_label
from sdcensus.ingest.load import load_census
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import CodeKind, Role, Variable
from sdcensus.model.secret import Secret
from sdcensus.model.vocabulary import Measure
from tests.ingest.readers.writers import write_sav
from tests.ingest.test_draft import codes, drafted, everything_in, one_column, write_csv

SECRET = Secret(bytes(range(32)))
VALID, STATED, APPLICABLE = CodeKind.VALID, CodeKind.NOT_STATED, CodeKind.NOT_APPLICABLE


def checked_load(folder: Path) -> Schema:
    """The schema that was drafted, after it was loaded without a problem."""
    schema = read_schema(folder / "draft" / "schema.toml")
    report = load_census(schema, folder / "store", secret=SECRET)
    assert not report.problems
    return schema


def labelled(folder: Path, values: Sequence[int], labels: Mapping[int, str]) -> dict[str, CodeKind]:
    """The codes that are drafted for a column with labels."""
    path = write_sav(
        folder / "persons.sav",
        {"PNO": list(range(1, len(values) + 1)), "Q1": list(values)},
        labels={},
        value_labels={"Q1": dict(labels)},
        missing={},
    )
    draft_schema([path], folder / "draft")
    return codes(checked_load(folder).variable("q1"))


# ---------------------------------------------------------------- missing texts


@given(
    texts=st.lists(
        st.sampled_from(["NA", "Missing", "N/A", ".", "#N/A", "NULL", "nan", "-", "", "  "]),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    name=st.sampled_from(["ingreso", "edad", "question_4", "id_jefe", "telefonos"]),
    spread=st.sampled_from([1, 7, 919, 10_007]),
)
def test_numbers_with_missing_texts_are_numbers(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], name: str, spread: int
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    values: list[Any] = [spread * (at % 110) for at in range(330)]
    for at, text in enumerate(texts * 5):
        values[3 * at] = text
    variable = one_column(folder, name, values)
    assert variable is not None
    assert variable.role is not Role.DIRECT_IDENTIFIER
    assert variable.continuous or variable.codes
    written = {text for text in texts if text.strip()}
    missing = {code.code: code.kind for code in variable.codes if code.is_missing}
    assert written <= set(missing)
    assert missing.get("NA", STATED) is STATED
    assert missing.get("N/A", APPLICABLE) is APPLICABLE
    checked_load(folder)


def test_codes_with_missing_texts_have_missing_codes(tmp_path: Path) -> None:
    numbers = one_column(tmp_path, "question", [1, 2, "NA", 3, "No aplica"] * 20)
    assert codes(numbers) == {
        "1": VALID,
        "2": VALID,
        "3": VALID,
        "No aplica": APPLICABLE,
        "NA": STATED,
    }
    checked_load(tmp_path)
    (tmp_path / "texts").mkdir()
    texts = one_column(tmp_path / "texts", "question", ["owned", "rented", "NULL", "-"] * 20)
    assert codes(texts) == {"owned": VALID, "rented": VALID, "-": STATED, "NULL": STATED}
    checked_load(tmp_path / "texts")


def test_codes_that_a_data_frame_wrote_as_decimals_are_codes(tmp_path: Path) -> None:
    variable = one_column(tmp_path, "question", ["1.0", "2.0", ""] * 30)
    assert set(codes(variable)) == {"1", "2", "_U"} or set(codes(variable)) == {"1", "2", "_Z"}
    checked_load(tmp_path)


def test_a_column_of_countries_has_namibia(tmp_path: Path) -> None:
    letters = [f"{one}{two}" for one in "ABNXZ" for two in "ABCDEFG"]
    variable = one_column(tmp_path, "nationality", [*letters, "NA"] * 9)
    assert codes(variable)["NA"] is VALID


def test_the_words_for_missing_values_are_small_letters() -> None:
    assert all(text == text.lower().strip() for text in MISSING_TEXTS)


# ---------------------------------------------------------------- identifiers


QUESTIONS: dict[str, list[Any]] = {
    "p14_telefono": [1, 2, 9],
    "Tiene teléfono": ["Sí", "No"],
    "has e-mail": ["Yes", "No", "NA"],
    "téléphone": ["oui", "NON"],
    "tipo de correo": ["personal", "laboral", "ninguno"],
    "tem_telefone_celular": ["Sim", "Não"],
    "surname known": ["yes", "no"],
    "número de hijos": [0, 1, 2, 3],
    "street lighting": ["good", "bad"],
    "nombre de la localidad": ["San Juan", "Los Andes", "El Carmen"],
    "relación con el jefe del hogar": [1, 2, 3, 4, 9],
    "parentesco": ["Jefe", "Cónyuge", "Hijo"],
    "lien de parenté avec le chef de ménage": [1, 2, 3],
    "mobile phone": [1, 2],
    "uso de celular": ["diario", "semanal", "nunca"],
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_about_an_identifier_is_none(tmp_path: Path, name: str) -> None:
    variable = one_column(tmp_path, name, QUESTIONS[name] * 40)
    assert variable is not None
    assert variable.role in (None, Role.GEOGRAPHY)
    assert {str(value) for value in QUESTIONS[name]} <= set(codes(variable))
    checked_load(tmp_path)


IDENTIFIERS: dict[str, list[Any]] = {
    "teléfono": [900_000_000 + 77_777 * number for number in range(120)],
    "telefono": [f"9-{number:04d}-22" for number in range(120)],
    "has phone": [f"+56 9 {number:05d}" for number in range(120)],
    "tipo de correo": [f"qqx{number}@example.org" for number in range(120)],
    "nombre": ["Anaqq", "Juanqq", "Evaqq"] * 40,
    "nombre de la persona": [f"Qqname {number}" for number in range(120)],
    "surname known": [f"Qqsmith{number}" for number in range(120)],
    "dirección": [f"Calle Qqx {number}" for number in range(120)],
    "address": ["Qqx street", "Qqy street"] * 60,
    "dni": [10_000_000 + 31 * number for number in range(120)],
    "tiene nombre": ["Anaqq", *["no"] * 119],
}


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_an_identifier_stays_one_and_its_values_are_never_written(
    tmp_path: Path, name: str
) -> None:
    values = IDENTIFIERS[name]
    variable = one_column(tmp_path, name, values)
    assert variable is not None
    assert variable.role is Role.DIRECT_IDENTIFIER
    written = everything_in(tmp_path / "draft")
    assert not [value for value in values if len(str(value)) > 3 and str(value) in written]


def test_a_label_for_no_telephone_does_not_make_numbers_an_amount(tmp_path: Path) -> None:
    numbers = [900_000_000 + 77_777 * number for number in range(60)]
    path = write_sav(
        tmp_path / "persons.sav",
        {"PNO": list(range(60)), "TELEFONO": [0, 0, *numbers[2:]]},
        labels={},
        value_labels={"TELEFONO": {0: "No tiene"}},
        missing={},
    )
    draft_schema([path], tmp_path / "draft")
    schema = read_schema(tmp_path / "draft" / "schema.toml")
    assert schema.variable("telefono").role is Role.DIRECT_IDENTIFIER


# ---------------------------------------------------------------- labels


def test_a_code_is_what_its_label_says(tmp_path: Path) -> None:
    numbers = {number: str(number) for number in range(1, 6)}
    cases: list[tuple[dict[int, str], CodeKind]] = [
        ({**numbers, 9: "Nueve y más"}, VALID),
        ({**numbers, 9: "Ignorado"}, STATED),
        ({**numbers, 9: "No sabe leer"}, VALID),
        ({**numbers, 9: "Menores de 15 años"}, VALID),
        ({1: "Soltero", 2: "Casado", 3: "Viudo", 9: "Menores de 15 años"}, APPLICABLE),
        ({1: "Católica", 2: "Otra", 9: "Otra religión no especificada"}, VALID),
        (numbers, STATED),
    ]
    for at, (labels, kind) in enumerate(cases):
        folder = tmp_path / str(at)
        folder.mkdir()
        values = [1, 2, 9] * 20
        assert labelled(folder, values, labels)["9"] is kind, labels
    guess = (tmp_path / str(len(cases) - 1) / "draft" / "schema.toml").read_text(encoding="utf-8")
    assert "guessed: 9, apart and without a label" in guess


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("No sabe", STATED),
        ("No sabe / No responde", STATED),
        ("No respuesta", STATED),
        ("Valor suprimido por anonimización", STATED),
        ("Ne sait pas lire", VALID),
        ("Não sabe ler", VALID),
        ("Refuse collection", VALID),
        ("Refused", STATED),
        ("Christian, unspecified", STATED),
        ("Other, not specified", VALID),
        ("Menor de 1 año", VALID),
        ("Under 5", VALID),
    ],
)
def test_labels_that_look_like_no_value(label: str, kind: CodeKind) -> None:
    assert kind_of_label(label) is kind


def test_negative_codes_below_all_others_are_missing(tmp_path: Path) -> None:
    assert codes(one_column(tmp_path, "question", [1, 2, 3, -99, -88, -66] * 10)) == {
        "1": VALID,
        "2": VALID,
        "3": VALID,
        "-99": STATED,
        "-88": STATED,
        "-66": STATED,
    }
    checked_load(tmp_path)


def test_the_oldest_are_no_missing_code(tmp_path: Path) -> None:
    ages = [*[at % 90 for at in range(300)], 93, 94, 94, 99]
    variable = one_column(tmp_path, "edad", ages)
    assert isinstance(variable, Variable)
    assert codes(variable)["99"] is VALID


def test_geography_is_where_people_live(tmp_path: Path) -> None:
    columns = {
        "person_no": range(90),
        "comuna_nacimiento": [1101 + at % 9 for at in range(90)],
        "comuna_trabajo": [1101 + at % 7 for at in range(90)],
        "comuna": [1101 + at % 3 for at in range(90)],
        "sexo": [1, 2, 1] * 30,
    }
    draft_schema([write_csv(tmp_path / "personas.csv", columns)], tmp_path / "draft")
    geography = checked_load(tmp_path).geography
    assert geography is not None
    assert geography.name == "comuna"


# ------------------------------------------------------------------------------- weights


@pytest.mark.parametrize(
    "name",
    [
        "hhweight",
        "HHWGT",
        "weight",
        "factor_expansion",
        "Factor Expansión",
        "popwt",
        "poids",
        "fexp",
    ],
)
@pytest.mark.parametrize(("mean", "sample"), [(1, False), (40, True)])
def test_a_weight_that_stands_for_many_makes_a_sample(
    tmp_path: Path, name: str, mean: int, sample: bool
) -> None:
    rows = range(60)
    columns = {
        "pno": [str(row) for row in rows],
        "sexo": [str(row % 2 + 1) for row in rows],
        name: [f"{mean * (0.9 + 0.01 * (row % 20)):.3f}" for row in rows],
        "other_weight": [str(1 + row % 3) for row in rows],
    }
    schema = drafted(tmp_path, write_csv(tmp_path / "persons.csv", columns))
    weights = [variable for variable in schema.variables if variable.role is Role.WEIGHT]
    assert [variable.source.column for variable in weights if variable.source] == [name]
    assert schema.census.measure is (Measure.WEIGHTED if sample else None)


@pytest.mark.parametrize("name", ["birthweight", "sobrepeso", "height"])
def test_what_people_weigh_is_no_weight_of_records(tmp_path: Path, name: str) -> None:
    columns = {
        "pno": [str(row) for row in range(40)],
        name: [f"{2 + row / 30:.2f}" for row in range(40)],
    }
    schema = drafted(tmp_path, write_csv(tmp_path / "persons.csv", columns))
    assert schema.weighted == ()
    assert schema.census.measure is None
