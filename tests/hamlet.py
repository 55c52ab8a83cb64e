"""A census with everything that is odd, written as files: for tests that go the whole road.

Areas of which one is the only child of its parish, a variable of which one code is valid, one that
nobody was asked, amounts with classes and without, weights, households of one person and of many.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.session.census.census import Census, load, open_store
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET

SCHEMA = """\
[census]
name = "Census of the hamlet"
code = "HM1"
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

[variable.sex]
file = "person"
label = "Sex"
codes = { 1 = "Male", 2 = "Female" }
not_stated = [9]

[variable.age]
file = "person"
label = "Age"
range = [0, 99]
not_stated = [999]

[variable.age.levels]
ten_year = "0,10,...,90+"
broad = "0,15,65+"

[variable.married]
file = "person"
label = "Married"
codes = { 0 = "No", 1 = "Yes" }

[variable.only]
file = "person"
label = "Of one kind"
codes = { 1 = "The one" }
not_stated = [8]
not_applicable = [9]

[variable.unasked]
file = "person"
label = "Nobody was asked"
codes = { 1 = "Yes", 2 = "No" }
not_stated = [9]

[variable.income]
file = "person"
label = "Income"
continuous = true
decimals = 2
empty = "not_applicable"
not_stated = [99999]

[variable.income.levels]
bracket = "0,1000,2500+"

[variable.ed]
file = "household"
role = "geography"
label = "Area"
codes = "areas.csv"
levels = ["parish"]

[variable.tenure]
file = "household"
label = "Tenure"
codes = { 1 = "Owned", 2 = "Rented" }

[variable.rent]
file = "household"
label = "Rent"
continuous = true
decimals = 2
empty = "not_applicable"
not_stated = [99999]

[variable.weight]
file = "household"
role = "weight"
decimals = 2
"""
AREAS = """\
code,label,parent
E1,Hill,P1
E2,Shore,P1
E3,River,P2
E4,Wood,P2
E5,Rock,P3
P1,North,
P2,South,
P3,Islet,
"""
Row = dict[str, str]


@dataclass(frozen=True)
class Hamlet:
    """A folder with the files of the census, its secret, and its store once it is loaded."""

    folder: Path
    persons: Sequence[Row]
    households: Sequence[Row]

    @property
    def schema(self) -> Path:
        return self.folder / "schema.toml"

    @property
    def secret(self) -> Path:
        return self.folder / "office.secret"

    @property
    def store(self) -> Path:
        return self.folder / "census.store"

    def census(self) -> Census:
        return open_store(self.store)

    def load(self, **options: str) -> Census:
        load(self.schema, self.store, secret=self.secret, replace=True, **options)  # type: ignore[arg-type]
        return self.census()

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return path


def rows(houses: int = 260, seed: int = 3) -> tuple[list[Row], list[Row]]:
    """Persons and households."""
    draw = random.Random(seed)
    persons: list[Row] = []
    households: list[Row] = []
    for house in range(houses):
        ed = draw.choices(["E1", "E2", "E3", "E4", "E5"], [8, 5, 4, 2, 1])[0]
        rented = draw.random() < 0.4
        place = {"ed": ed, "house": str(house)}
        rent = "99999" if draw.random() < 0.2 else f"{draw.randrange(100, 900)}.50"
        households.append(
            {
                **place,
                "tenure": "2" if rented else "1",
                "rent": rent if rented else "",
                "weight": f"{draw.randrange(80, 300) / 100}",
            }
        )
        for number in range(draw.choice([1, 1, 2, 2, 3, 4, 6])):
            age = draw.randrange(100)
            income = "99999" if draw.random() < 0.1 else f"{draw.randrange(0, 4000)}"
            persons.append(
                {
                    **place,
                    "number": str(number),
                    "sex": draw.choices(["1", "2", "9"], [10, 10, 1])[0],
                    "age": "999" if draw.random() < 0.03 else str(age),
                    "married": draw.choice("01") if age >= 15 else "0",
                    "only": draw.choices(["1", "8", "9"], [6, 1, 3])[0],
                    "unasked": "9",
                    "income": "" if age < 15 else income,
                }
            )
    return persons, households


def write_hamlet(
    folder: Path,
    *,
    schema: str = SCHEMA,
    persons: Sequence[Row] | None = None,
    households: Sequence[Row] | None = None,
    files: Mapping[str, str] | None = None,
) -> Hamlet:
    """Write the census into a folder: its files, its schema, its secret."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = rows()
    made = Hamlet(folder, persons or drawn[0], households or drawn[1])
    made.write("schema.toml", schema)
    made.write("areas.csv", AREAS)
    write_csv(folder / "persons.csv", made.persons)
    write_csv(folder / "households.csv", made.households)
    for name, text in (files or {}).items():
        made.write(name, text)
    if not made.secret.exists():
        write_secret(SECRET, made.secret)
    return made


def write_csv(path: Path, records: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
