"""Microdata files that are hard to write: awkward names, codes, labels and missing values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.release_file import (
    ColumnKind,
    ReleaseColumn,
    ReleaseFile,
    ReleaseTable,
)
from sdcensus.model.schema.variable import Code, CodeKind, Entity
from sdcensus.model.text import Text

LANGUAGES = ("en", "es")
LONG_LABEL = "Ñandúes y cigüeñas " * 20


def label(english: str, spanish: str = "") -> Text:
    return Text.of({"en": english, "es": spanish or f"{english} (es)"})


def code(word: str, english: str = "", kind: CodeKind = CodeKind.VALID) -> Code:
    return Code(word, label(english) if english else Text(), kind)


NOT_STATED = code("99", "Not stated", CodeKind.NOT_STATED)
SEX = (code("1", "Man"), code("2", "Woman"))
AGE = (*(code(str(age)) for age in range(101)), code("999", "Not stated", CodeKind.NOT_STATED))
PARISH = (code("01", "North"), code("02", "South, by the sea"), code("", "Unknown place"))
WORK = (
    code("A-farming", "=1+1"),
    code("B-fishing", LONG_LABEL),
    code("C", LONG_LABEL + "too"),
    code("NA", "Not applicable", CodeKind.NOT_APPLICABLE),
    code("NS", "Not stated", CodeKind.NOT_STATED),
)
RELATION = (code("1", "Head"), code("2", "Other"), code("3", "Other"), NOT_STATED)
SINGLE = (code("only", "The only one"),)
FLAG = (code("0", "As reported"), code("1", "Imputed"))


def codes_column(
    name: str, codes: Sequence[Code], values: np.ndarray, english: str = ""
) -> ReleaseColumn:
    return ReleaseColumn(
        name=name,
        kind=ColumnKind.CODES,
        label=label(english or name),
        codes=tuple(codes),
        values=values % len(codes),
        universe=label("All persons"),
    )


def number_column(name: str, values: np.ndarray) -> ReleaseColumn:
    return ReleaseColumn(
        name=name, kind=ColumnKind.NUMBER_OF_UNIT, label=label(f"Number: {name}"), values=values
    )


def weight_column(values: np.ndarray) -> ReleaseColumn:
    return ReleaseColumn(
        name="weight", kind=ColumnKind.WEIGHT, label=label("Weight"), values=values, decimals=6
    )


def example(
    households: int = 40, persons: int = 100, licence: LicenceClass = LicenceClass.PUBLIC_USE
) -> ReleaseFile:
    """Households 1 to n, each with somebody in it, and persons with every kind of column."""
    numbers = np.arange(1, households + 1)
    rows = np.arange(persons)
    home = numbers[rows % households] if households else np.zeros(persons, dtype=np.int64)
    income = rows * 98_765_432_123 - 50
    tables = [
        ReleaseTable(
            entity=Entity.PERSON,
            columns=(
                number_column("person", rows + 1),
                number_column("household", home),
                codes_column("sex", SEX, rows, "Sex"),
                codes_column("age", AGE, rows * 7, "Age in years"),
                codes_column("if", WORK, rows * 3, LONG_LABEL),
                codes_column("WITH", RELATION, rows, "Relation to the head"),
                codes_column("a_name_of_more_than_thirty_two_signs_1", SINGLE, rows),
                codes_column("a_name_of_more_than_thirty_two_signs_2", FLAG, rows // 3),
                ReleaseColumn(
                    name="income",
                    kind=ColumnKind.AMOUNT,
                    label=label("Income", "Ingreso"),
                    values=income,
                    decimals=2,
                    absent=rows % 5 == 3,
                    unit="XCD",
                ),
                weight_column(10_000_000 + rows % 3 * 333_333),
            ),
        )
    ]
    if households:
        tables.insert(
            0,
            ReleaseTable(
                entity=Entity.HOUSEHOLD,
                columns=(
                    number_column("household", numbers),
                    codes_column("ed@parish", PARISH, numbers, "Parish"),
                    weight_column(10_000_000 + numbers % 2),
                ),
            ),
        )
    return ReleaseFile(
        name="puf",
        title=label("Census of the hamlet <&> 2021", "Censo de la aldea"),
        tables=tuple(tables),
        licence=licence,
        languages=LANGUAGES,
        census=label("Census 2021"),
        country=label("Hamletia", "Aldealandia"),
        reference_date="2021-05-12",
        abstract=label("One in ten households."),
        producer=label("Statistical office"),
        contact="data@example.org",
        sampling=label("Systematic sample of one in ten."),
        notes=(label("Some values were changed."),),
        removed=(("name", label("Name"), label("It names a person.")),),
        citation=label("Statistical office: Census 2021."),
    )
