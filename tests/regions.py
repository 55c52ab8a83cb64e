"""A small country whose levels share their codes, and whose people live, work and were born there.

11 is a region and a province of another region, 12 is a region, a province and a commune, and the
province 121 is one commune of the same code. Three geographies share one gazetteer and one map.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from sdcensus.session.census.census import Census, load, open_store
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET

#: Region, province and commune of each commune.
COMMUNES = (
    ("1", "11", "1101"),
    ("1", "11", "1107"),
    ("1", "12", "1201"),
    ("2", "21", "2101"),
    ("2", "21", "12"),
    ("11", "111", "11101"),
    ("11", "111", "11102"),
    ("11", "112", "11201"),
    ("12", "121", "121"),
)
LEVELS = ("region", "province", "commune")

_SCHEMA = """
[census]
name = "Regions"
languages = ["en"]
reference_date = "2024-04-01"

[entity.household]
id = ["hid"]

[entity.person]
id = ["pid"]
within = "household"

[files.household]
path = "households.csv"
entity = "household"

[files.person]
path = "persons.csv"
entity = "person"

[variable.born]
file = "person"
role = "geography"
codes = "places.csv"
map = "places.geojson"
label = "Place of birth"

[variable.work]
file = "person"
role = "geography"
codes = "places.csv"
map = "places.geojson"
label = "Place of work"
empty = "not_applicable"

[variable.home]
file = "household"
role = "geography"
codes = "places.csv"
map = "places.geojson"
label = "Residence"

[variable.sex]
file = "person"
codes = { 1 = "Male", 2 = "Female" }

[variable.age]
file = "person"
range = [0, 99]
levels = { broad = "0,15,65+" }
"""


def area(at: int, level: str, *, unique: bool) -> str:
    """The code of a commune, or of the province or region that it lies in."""
    code = COMMUNES[at][LEVELS.index(level)]
    return f"{level[0]}{code}" if unique else code


_DWELLINGS = """
[entity.dwelling]
id = ["did"]

[files.dwelling]
path = "dwellings.csv"
entity = "dwelling"

[variable.site]
file = "dwelling"
role = "geography"
codes = "places.csv"

[variable.walls]
file = "dwelling"
codes = { 1 = "Wood", 2 = "Stone" }
"""


def write_regions(
    folder: Path, *, unique: bool = False, people: int = 2_000, dwellings: int = 0
) -> Path:
    """Write schema, gazetteer, map and files of the country.

    Args:
        folder: An existing folder.
        unique: Whether codes get the letter of their level in front, so that none repeats.
        people: How many persons there are.
        dwellings: How many dwellings there are, which nobody is linked to.
    """
    gazetteer = [
        [word for level in LEVELS for word in (area(at, level, unique=unique), _name(at, level))]
        for at in range(len(COMMUNES))
    ]
    header = [column for level in LEVELS for column in (level, f"{level}_label")]
    _write(folder / "places.csv", header, gazetteer)
    features = [
        {
            "type": "Feature",
            "properties": {"code": area(at, "commune", unique=unique)},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[at, 0], [at + 1, 0], [at + 1, 1], [at, 1], [at, 0]]],
            },
        }
        for at in range(len(COMMUNES))
    ]
    document = {"type": "FeatureCollection", "features": features}
    (folder / "places.geojson").write_text(json.dumps(document), encoding="utf-8")
    draw = np.random.default_rng(3)
    count = len(COMMUNES)
    share = np.arange(1, count + 1) / np.arange(1, count + 1).sum()
    homes = draw.choice(count, people // 2, p=share)
    households = [[f"h{at}", area(home, "commune", unique=unique)] for at, home in enumerate(homes)]
    _write(folder / "households.csv", ["hid", "home"], households)
    persons = []
    for at in range(people):
        living = int(homes[at // 2])
        work, born = (
            living if draw.random() < 0.7 else int(draw.integers(count)) for _ in range(2)
        )
        age = int(draw.integers(0, 100))
        place = area(work, "commune", unique=unique) if 15 <= age < 70 else ""
        birth = area(born, "commune", unique=unique)
        persons.append([f"p{at}", f"h{at // 2}", 1 + int(draw.integers(2)), age, place, birth])
    _write(folder / "persons.csv", ["pid", "hid", "sex", "age", "work", "born"], persons)
    if dwellings:
        rows = [
            [f"d{at}", area(int(draw.integers(count)), "commune", unique=unique), 1 + at % 2]
            for at in range(dwellings)
        ]
        _write(folder / "dwellings.csv", ["did", "site", "walls"], rows)
    text = _SCHEMA + _DWELLINGS * bool(dwellings)
    (folder / "census.toml").write_text(text, encoding="utf-8")
    return folder / "census.toml"


def regions(
    folder: Path,
    *,
    unique: bool = False,
    people: int = 2_000,
    dwellings: int = 0,
    homes_on_map: bool = True,
) -> Census:
    """The country, loaded; a folder that does not exist is made."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = write_regions(folder, unique=unique, people=people, dwellings=dwellings)
    if not homes_on_map:
        before, name, after = schema.read_text(encoding="utf-8").partition("[variable.home]")
        after = after.replace('map = "places.geojson"\n', "", 1)
        schema.write_text(f"{before}{name}{after}", encoding="utf-8")
    secret = folder / "office.secret"
    write_secret(SECRET, secret)
    load(schema, folder / "census.store", secret=secret)
    return open_store(folder / "census.store")


def _name(at: int, level: str) -> str:
    return f"{level.capitalize()} {COMMUNES[at][LEVELS.index(level)]}"


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
