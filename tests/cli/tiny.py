"""A census of a village, small enough to be counted by hand."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

SCHEMA = """\
[census]
name = "Village census"
country = "Nowhere"
code = "NW1"
languages = ["en", "es"]
measure = "count"

[files.person]
path = "persons.csv"
entity = "person"

[files.household]
path = "households.csv"
entity = "household"

[entity.person]
id = ["ed", "house", "number"]
within = "household"

[entity.household]
id = ["ed", "house"]

[[impossible]]
when = "age < 15 and married == 1"

[variable.full_name]
file = "person"
role = "direct-identifier"

[variable.sex]
file = "person"
role = "key"
label = { en = "Sex", es = "Sexo" }
codes = { 1 = { en = "Male", es = "Hombre" }, 2 = { en = "Female", es = "Mujer" } }
not_stated = [9]

[variable.age]
file = "person"
role = "key"
label = { en = "Age", es = "Edad" }
range = [0, 99]
not_stated = [999]

[variable.age.levels]
broad = "0,15,65+"

[variable.married]
file = "person"
label = "Married"
codes = { 0 = "No", 1 = "Yes" }

[variable.income]
file = "person"
label = "Income [monthly]"
continuous = true
decimals = 2
empty = "not_stated"
not_stated = [-1]
not_applicable = [-2]

[variable.ed]
file = "household"
role = "geography"
label = "Area"
codes = "areas.csv"
levels = ["parish"]

[variable.tenure]
file = "household"
label = "Tenure"
codes = { O = "Owned", R = "Rented – “by the month”" }

[variable.weight]
file = "household"
role = "weight"
decimals = 2
"""

AREAS = """\
code,label,label_es,parent
E1,Hill,Colina,P1
E2,Shore,Orilla,P1
E3,Rivière,Río,P2
P1,North,Norte,
P2,South,Sur,
"""

HOUSEHOLDS = [
    # ed, house, tenure, weight
    ("E1", "1", "O", "1.50"),
    ("E1", "2", "R", "1.00"),
    ("E2", "1", "O", "2.25"),
    ("E3", "1", "R", "1.00"),
]

PERSONS = [
    # ed, house, number, name, sex, age, married, income
    ("E1", "1", "1", "Ana Secret", 2, 40, 1, "100.50"),
    ("E1", "1", "2", "Ben Secret", 1, 42, 1, "90"),
    ("E1", "1", "3", "Cid Secret", 1, 3, 0, "-2"),
    ("E1", "2", "1", "Dot Secret", 2, 70, 0, ""),
    ("E2", "1", "1", "Eva Secret", 2, 33, 0, "10"),
    ("E2", "1", "2", "Flo Secret", 2, 8, 0, "-2"),
    ("E3", "1", "1", "Gus Secret", 9, 999, 0, "-1"),
]


def write_village(folder: Path, *, persons: Sequence[Sequence[object]] | None = None) -> Path:
    """Write the files of the census into a folder; the path of the schema."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = folder / "schema.toml"
    schema.write_text(SCHEMA, encoding="utf-8", newline="\n")
    (folder / "areas.csv").write_text(AREAS, encoding="utf-8", newline="\n")
    _write_csv(folder / "households.csv", ["ed", "house", "tenure", "weight"], HOUSEHOLDS)
    columns = ["ed", "house", "number", "full_name", "sex", "age", "married", "income"]
    _write_csv(folder / "persons.csv", columns, PERSONS if persons is None else persons)
    return schema


def _write_csv(path: Path, columns: list[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
