"""Files of a made-up country, as an office might have them, and the draft of their schema."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from sdcensus.session.census.schema_draft import draft

NAMES = [f"Zacarías{number} Quispe{number * 7}" for number in range(60)]
#: More codes than one page of the table shows.
OCCUPATIONS = [f"{1000 + 3 * number}" for number in range(60)]


def write(path: Path, rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def make_draft(folder: Path, *, language: str = "es", more: int = 0) -> Path:
    """Two linked files and what ``schema draft`` makes of them; ``more`` columns beside the usual.

    Returns:
        The schema.
    """
    households = [(1 + number % 3, 100 + number, 1 + number % 4) for number in range(60)]
    write(folder / "hogares.csv", [("REGION", "NUM_HOGAR", "TENENCIA"), *households])
    head = ("NUM_HOGAR", "NUM_PERSONA", "NOMBRE", "SEXO", "EDAD", "ESTADO_CIVIL", "OCUPACION")
    columns = [f"P{number:02d}" for number in range(more)]
    persons: list[Iterable[object]] = [(*head, "INGRESO", *columns)]
    for number in range(120):
        persons.append(
            (
                100 + number // 2,
                1 + number % 2,
                NAMES[number % 60] + str(number),
                1 + number % 2,
                999 if number % 40 == 7 else number % 97,
                (1, 2, 3, 4, 9)[number % 5],
                OCCUPATIONS[number % 60],
                "" if number % 3 else f"{number * 12.5:.2f}",
                *(1 + (number + at) % 3 for at in range(more)),
            )
        )
    write(folder / "personas.csv", persons)
    paths = [folder / "personas.csv", folder / "hogares.csv"]
    return draft(paths, folder, language=language).path
