"""A made-up national census in Spanish: three linked csv files and the dictionary of the office.

Nothing of it is prepared for this program: the names are those of a questionnaire, one id has two
widths, the same name has other codes in another file, and the workbook has title rows, merged
cells, ranges, special codes and columns that nobody needs.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import xlsxwriter

YES_NO = {"1": "Sí", "2": "No", "9": "Ignorado"}
COMUNAS = {f"{number:04}": f"Comuna {number}" for number in range(101, 117)}


@dataclass(frozen=True)
class Question:
    """A variable: its name, its question, its codes or its range."""

    name: str
    label: str
    codes: Mapping[str, str] | None = None
    range: tuple[int, int] | None = None


def _yes_no(name: str, label: str) -> Question:
    return Question(name, label, YES_NO)


PERSONS = [
    Question("ID_VIVIENDA", "Identificador de la vivienda"),
    Question("NUM_HOGAR", "Número del hogar"),
    Question("NUM_PERSONA", "Número de la persona"),
    Question(
        "P01",
        "Relación de parentesco con el jefe o jefa",
        {"1": "Jefe o jefa", "2": "Cónyuge", "3": "Hijo o hija", "4": "Otro pariente"},
    ),
    Question("P02", "Sexo", {"1": "Hombre", "2": "Mujer"}),
    Question("P03", "Edad en años cumplidos", {"999": "Ignorada"}, (0, 120)),
    Question(
        "P04",
        "Estado civil",
        {"1": "Soltero", "2": "Casado", "3": "Viudo", "8": "No corresponde", "9": "No declarado"},
    ),
    Question(
        "P05",
        "Pueblo originario",
        {"1": "Ninguno", "2": "Aymara", "3": "Mapuche", "-99": "No responde"},
    ),
    Question("P06", "Lugar de nacimiento", {**COMUNAS, "9999": "Ignorado"}),
    Question(
        "P07",
        "Último nivel aprobado",
        {
            **{f"{number:02}": f"Nivel {number}" for number in range(16)},
            "98": "No aplica",
            "99": "NS/NR",
        },
    ),
    Question(
        "P08", "Horas trabajadas en la semana", {"98": "No corresponde", "99": "No sabe"}, (0, 97)
    ),
    *[_yes_no(f"P{number:02}", f"Pregunta {number} de la persona") for number in range(9, 30)],
    Question(
        "P30",
        "Hijos nacidos vivos",
        {**{str(number): str(number) for number in range(9)}, "9": "Nueve o más"},
    ),
]
HOUSEHOLDS = [
    Question("ID_VIVIENDA", "Identificador de la vivienda"),
    Question("NUM_HOGAR", "Número del hogar"),
    Question("P01", "Tenencia de la vivienda", {"1": "Propia", "2": "Arrendada", "9": "Ignorado"}),
    Question("H02", "Personas en el hogar", None, (1, 30)),
    *[_yes_no(f"H{number:02}", f"Tiene el hogar el bien {number}") for number in range(3, 15)],
]
DWELLINGS = [
    Question("COMUNA", "Comuna", COMUNAS),
    Question("ID_VIVIENDA", "Identificador de la vivienda"),
    Question("AREA", "Área urbana o rural", {"1": "Urbano", "2": "Rural"}),
    Question("V01", "Tipo de vivienda", {"1": "Casa", "2": "Departamento", "3": "Otra"}),
    Question(
        "V02",
        "Material de las paredes",
        {"1": "Hormigón", "2": "Madera", "3": "Adobe", "99": "Ignorado"},
    ),
    Question("V03", "Número de piezas", {"99": "Ignorado"}, (1, 20)),
    *[
        _yes_no(f"V{number:02}", f"Dispone la vivienda del servicio {number}")
        for number in range(4, 11)
    ],
]
TABLES = {"Personas": PERSONS, "Hogares": HOUSEHOLDS, "Viviendas": DWELLINGS}


def _answer(question: Question, draw: random.Random) -> str:
    codes = list(question.codes or {})
    if question.range is not None and draw.random() < 0.98:
        low, high = question.range
        return str(draw.randint(low, high))
    return draw.choice(codes) if codes else "1"


def write_files(folder: Path, *, dwellings: int = 150, seed: int = 1) -> list[Path]:
    """The three files; code 4 of V01 occurs and is in no dictionary, and zeros are lost."""
    draw = random.Random(seed)
    rows: dict[str, list[dict[str, str]]] = {name: [] for name in TABLES}
    for number in range(1, dwellings + 1):
        dwelling = {question.name: _answer(question, draw) for question in DWELLINGS}
        dwelling |= {"ID_VIVIENDA": f"{number:06}"}
        if number % 50 == 0:
            dwelling["V01"] = "4"
        rows["Viviendas"].append(dwelling)
        for household in range(1, 1 + draw.choice([1, 1, 2])):
            answers = {question.name: _answer(question, draw) for question in HOUSEHOLDS}
            answers |= {"ID_VIVIENDA": f"{number:06}", "NUM_HOGAR": str(household)}
            rows["Hogares"].append(answers)
            for person in range(1, 1 + draw.randint(1, 5)):
                said = {question.name: _answer(question, draw) for question in PERSONS}
                said |= {
                    "ID_VIVIENDA": f"{number:06}",
                    "NUM_HOGAR": str(household),
                    "NUM_PERSONA": str(person),
                }
                said["P07"] = str(int(said["P07"]))  # 01 in the dictionary, 1 in the file
                rows["Personas"].append(said)
    paths = []
    for name, records in rows.items():
        path = folder / f"{name.lower()}.csv"
        with path.open("w", encoding="cp1252", newline="") as stream:
            table = csv.DictWriter(stream, list(records[0]), delimiter=";")
            table.writeheader()
            table.writerows(records)
        paths.append(path)
    return paths


def write_dictionary(path: Path) -> Path:
    """The workbook of the office: a cover, and a sheet for each table with merged cells."""
    book = xlsxwriter.Workbook(str(path))
    cover = book.add_worksheet("Portada")
    cover.write(0, 0, "Instituto de Estadística")
    cover.write(3, 0, "Diccionario de datos del censo")
    for name, questions in TABLES.items():
        sheet = book.add_worksheet(name)
        sheet.write(0, 0, f"Diccionario de la base de {name.lower()}")
        headings = ["N°", "Nombre del campo", "Tipo", "Descripción", "Código", "Glosa"]
        for column, heading in enumerate(headings):
            sheet.write(2, column, heading)
        row = 3
        for number, question in enumerate(questions, start=1):
            values = _values(question)
            first = [number, question.name, "Numérico", question.label]
            for column, text in enumerate(first):
                if len(values) > 1:
                    sheet.merge_range(row, column, row + len(values) - 1, column, text)
                else:
                    sheet.write(row, column, text)
            for code, label in values:
                sheet.write(row, 4, code)
                sheet.write(row, 5, label)
                row += 1
    book.close()
    return path


def _values(question: Question) -> Sequence[tuple[str, str]]:
    values = list((question.codes or {}).items())
    if question.range is not None:
        low, high = question.range
        values.insert(0, (f"{low} a {high}", "Valor"))
    return values or [("", "")]
