"""The census of Puerto Claro, a country that does not exist: the files of the guide's first day.

Three files that link, as an office has them: ids of dwellings with zeros in one file and without in
the others, region 11 beside province 11, missing codes, households in which nobody was counted, and
a dictionary in Spanish as a workbook. Every number comes from one fixed seed, so that the page can
show what its commands answer. Without the tests: ``python -m tests.docs.puerto_claro FOLDER``.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import xlsxwriter

SEED = 20240421
DWELLINGS = 4_000
#: Of the households, every so many was listed and nobody in it was counted.
EMPTY_EVERY = 211

#: Region, province, commune and its share of the dwellings; official codes repeat across levels.
AREAS = (
    ("1", "11", "1101", "Puerto Claro", 26),
    ("1", "11", "1102", "Las Lomas", 9),
    ("1", "12", "1201", "Santa Inés", 8),
    ("1", "12", "1202", "Río Seco", 5),
    ("2", "21", "2101", "Ñandú", 13),
    ("2", "21", "2102", "El Peñón", 7),
    ("2", "22", "2201", "Aguas Buenas", 6),
    ("11", "111", "11101", "Aysén Chico", 12),
    ("11", "111", "11102", "La Unión", 8),
    ("11", "112", "11201", "Isla Sola", 6),
)
REGIONS = {"1": "Costa", "2": "Valle", "11": "Sur"}
PROVINCES = {
    "11": "Claro",
    "12": "Inés",
    "21": "Ñandú",
    "22": "Aguas",
    "111": "Aysén",
    "112": "Islas",
}

Codes = dict[str, str]
YES_NO: Codes = {"1": "Sí", "2": "No", "9": "Ignorado"}


@dataclass(frozen=True, slots=True)
class Variable:
    """A row of the dictionary, with its codes, or its range."""

    table: str
    name: str
    label: str
    codes: Codes = field(default_factory=dict)
    span: str = ""


VARIABLES = (
    Variable("viviendas", "ID_VIV", "Identificador de la vivienda"),
    Variable("viviendas", "REGION", "Región", REGIONS),
    Variable("viviendas", "PROVINCIA", "Provincia", PROVINCES),
    Variable("viviendas", "COMUNA", "Comuna", {code: name for _, _, code, name, _ in AREAS}),
    Variable("viviendas", "AREA", "Área de residencia", {"1": "Urbana", "2": "Rural"}),
    Variable(
        "viviendas",
        "TIPO_VIV",
        "Tipo de vivienda",
        {"1": "Casa", "2": "Departamento", "3": "Pieza", "4": "Mediagua o rancho", "5": "Otra"},
    ),
    Variable(
        "viviendas",
        "OCUPACION",
        "Ocupación de la vivienda",
        {"1": "Ocupada", "2": "Moradores ausentes", "3": "Desocupada"},
    ),
    Variable(
        "viviendas",
        "MURO",
        "Material de los muros",
        {"1": "Hormigón", "2": "Albañilería", "3": "Madera", "4": "Adobe", "99": "Ignorado"},
    ),
    Variable(
        "viviendas",
        "AGUA",
        "Origen del agua",
        {"1": "Red pública", "2": "Pozo", "3": "Camión aljibe", "4": "Río", "99": "Ignorado"},
    ),
    Variable("hogares", "ID_VIV", "Identificador de la vivienda"),
    Variable("hogares", "NHOGAR", "Número del hogar en la vivienda"),
    Variable(
        "hogares",
        "TENENCIA",
        "Tenencia de la vivienda",
        {"1": "Propia", "2": "Arrendada", "3": "Cedida", "4": "Otra", "9": "Ignorado"},
    ),
    Variable(
        "hogares",
        "COMBUSTIBLE",
        "Combustible para cocinar",
        {"1": "Gas", "2": "Leña", "3": "Electricidad", "4": "Otro", "9": "Ignorado"},
    ),
    Variable("hogares", "TELEFONO", "¿Tiene el hogar teléfono móvil?", YES_NO),
    Variable("hogares", "INTERNET", "¿Tiene el hogar acceso a internet?", YES_NO),
    Variable("personas", "ID_VIV", "Identificador de la vivienda"),
    Variable("personas", "NHOGAR", "Número del hogar en la vivienda"),
    Variable("personas", "NPER", "Número de la persona en el hogar"),
    Variable(
        "personas",
        "PARENTESCO",
        "Parentesco con el jefe de hogar",
        {"1": "Jefe o jefa", "2": "Cónyuge o pareja", "3": "Hijo o hija", "4": "Otro pariente"},
    ),
    Variable("personas", "SEXO", "Sexo", {"1": "Hombre", "2": "Mujer"}),
    Variable("personas", "EDAD", "Edad en años cumplidos", {"-99": "Ignorada"}, "0 a 104"),
    Variable(
        "personas",
        "ESTCIVIL",
        "Estado civil",
        {
            "1": "Soltero(a)",
            "2": "Casado(a)",
            "3": "Conviviente",
            "4": "Separado(a) o divorciado(a)",
            "5": "Viudo(a)",
            "98": "No aplica",
            "99": "Ignorado",
        },
    ),
    Variable(
        "personas",
        "NIVEL",
        "Nivel educacional más alto",
        {
            "0": "Ninguno",
            "1": "Básica",
            "2": "Media",
            "3": "Técnica superior",
            "4": "Universitaria",
            "98": "No aplica",
            "99": "Ignorado",
        },
    ),
    Variable("personas", "ASISTE", "¿Asiste a la educación formal?", {**YES_NO, "8": "No aplica"}),
    Variable(
        "personas",
        "ACTIVIDAD",
        "Situación en la actividad económica",
        {
            "1": "Ocupado(a)",
            "2": "Desocupado(a)",
            "3": "Estudiante",
            "4": "Quehaceres del hogar",
            "5": "Jubilado(a) o rentista",
            "6": "Otra",
            "98": "No aplica",
            "99": "Ignorado",
        },
    ),
    Variable("personas", "PUEBLO", "¿Pertenece a un pueblo originario?", YES_NO),
    Variable(
        "personas",
        "NACIO",
        "Lugar de nacimiento",
        {"1": "En esta comuna", "2": "En otra comuna", "3": "En otro país", "9": "Ignorado"},
    ),
    Variable("personas", "DISCAPACIDAD", "Dificultad permanente", YES_NO),
)

_WITH_MISSING = ("1", "2", "3", "4", "99")
_TABLES = ("viviendas", "hogares", "personas")


def columns(table: str) -> list[str]:
    """The columns of a file, in their order."""
    return [variable.name for variable in VARIABLES if variable.table == table]


class _Draws:
    """Draws that are the same on every machine: nothing but random numbers in [0, 1)."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def pick(self, *weights: float) -> int:
        """A place, from 0, by weight."""
        left = self._random() * sum(weights)
        for place, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return place
        return len(weights) - 1

    def code(self, codes: Sequence[str], *weights: float) -> str:
        """One of the codes, by weight."""
        return codes[self.pick(*weights)]

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self._random() * (high - low + 1))

    def chance(self, share: float) -> bool:
        """Whether something of this chance happens."""
        return self._random() < share


def _ages(draws: _Draws, persons: int) -> Iterator[tuple[str, int]]:
    """Relationship and age of the persons of a household."""
    head = min(104, 20 + draws.between(0, 35) + draws.between(0, 35))
    yield "1", head
    for _ in range(1, persons):
        relation = draws.code("234", 30, 55, 15)
        if relation == "2":
            yield relation, max(16, head + draws.between(-6, 6))
        elif relation == "3":
            yield relation, max(0, head - draws.between(18, 40))
        else:
            yield relation, draws.between(0, 85)


def _person(draws: _Draws, relation: str, age: int) -> list[str]:
    """What a person answers, in the order of the file, after the ids."""
    adult, pupil = age >= 15, age >= 5
    married = draws.code("12345", 8, 45, 25, 12, 10) if age > 24 else draws.code("13", 85, 15)
    level = draws.code("01234", 4, 26, 40, 14, 16) if age > 17 else draws.code("01", 20, 80)
    attends = draws.code("12", 95, 5) if age < 18 else draws.code("12", 8, 92)
    if age >= 65:
        activity = draws.code("1456", 15, 20, 60, 5)
    elif age < 20:
        activity = draws.code("1236", 12, 3, 80, 5)
    else:
        activity = draws.code("12346", 66, 7, 5, 18, 4)
    return [
        relation,
        draws.code("12", 49, 51),
        "-99" if draws.chance(0.004) else str(age),
        ("99" if draws.chance(0.01) else married) if adult else "98",
        ("99" if draws.chance(0.015) else level) if pupil else "98",
        ("9" if draws.chance(0.01) else attends) if pupil else "8",
        ("99" if draws.chance(0.01) else activity) if adult else "98",
        draws.code("129", 11, 88, 1),
        draws.code("1239", 62, 31, 6, 1),
        draws.code("129", 4 + age / 5, 95, 1),
    ]


def records() -> dict[str, list[list[str]]]:
    """The rows of the three files."""
    draws = _Draws(SEED)
    rows: dict[str, list[list[str]]] = {table: [] for table in _TABLES}
    weights = [share for *_, share in AREAS]
    for number in range(1, DWELLINGS + 1):
        region, province, commune, _, _ = AREAS[draws.pick(*weights)]
        rural = draws.chance(0.1 if commune.endswith("01") else 0.45)
        occupied = draws.code("123", 88, 4, 8)
        rows["viviendas"].append(
            [
                f"{number:08d}",
                region,
                province,
                commune,
                "2" if rural else "1",
                draws.code("12345", *((40, 2, 4, 10, 2) if rural else (62, 26, 4, 4, 1))),
                occupied,
                draws.code(_WITH_MISSING, 22, 30, 35, 10, 1),
                draws.code(_WITH_MISSING, *((25, 50, 15, 9, 1) if rural else (96, 2, 1, 0, 1))),
            ]
        )
        for household in range(1, (draws.code("12", 96, 4) == "2") + 2 if occupied == "1" else 1):
            rows["hogares"].append(
                [
                    str(number),
                    str(household),
                    draws.code("12349", 58, 26, 12, 3, 1),
                    draws.code("12349", *((40, 52, 6, 1, 1) if rural else (84, 6, 8, 1, 1))),
                    draws.code("129", 90, 9, 1),
                    draws.code("129", 35 if rural else 70, 40, 1),
                ]
            )
            if len(rows["hogares"]) % EMPTY_EVERY == 0:
                continue
            persons = 1 + draws.pick(20, 26, 22, 17, 9, 4, 2)
            for place, (relation, age) in enumerate(_ages(draws, persons), start=1):
                answers = _person(draws, relation, age)
                rows["personas"].append([str(number), str(household), str(place), *answers])
    return rows


def write_dictionary(path: Path) -> None:
    """The dictionary of the office: a row for each code, under the first row of its variable."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Diccionario")
        row = 0
        sheet.write_row(row, 0, ["Tabla", "Variable", "Descripción", "Código", "Glosa"])
        for variable in VARIABLES:
            lines = [(variable.span, "Años")] if variable.span else []
            lines += list(variable.codes.items())
            for place, (code, label) in enumerate(lines or [("", "")]):
                row += 1
                if place == 0:
                    sheet.write_row(row, 0, [variable.table, variable.name, variable.label])
                sheet.write_row(row, 3, [code, label])


def write(folder: Path) -> Path:
    """Write the three files and the dictionary into a new folder."""
    folder.mkdir(parents=True)
    for table, rows in records().items():
        with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=";", lineterminator="\n")
            writer.writerow(columns(table))
            writer.writerows(rows)
    write_dictionary(folder / "diccionario.xlsx")
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[1]))
