"""A nation for measuring: every variable of the European census programme.

Not the demo country: it must be there quickly, and have the areas that the figures speak of: 4, 12,
40 and 352 areas at four levels. It is drawn so that tables are as empty as real ones: cities and
villages, few countries of birth that are common, occupations that go with industries.
``python -m benchmarks.nation FOLDER PERSONS`` writes it and loads it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.nation_draws import (
    EAST,
    HIGH,
    IN_ROW,
    LAU,
    NORTH,
    NUTS1,
    NUTS2,
    NUTS3,
    PARTS,
    WIDE,
    Draw,
    Lists,
    Places,
    dwellings,
    families,
    households,
    people,
    pieces,
)

#: Which variable shows which breakdown of the programme, by kind of unit.
PERSON = {
    "sex": "SEX",
    "age": "AGE.H",
    "marital_status": "LMS.H",
    "household_status": "HST.H",
    "family_status": "FST.H",
    "housing": "HAR",
    "locality": "LOC",
    "activity": "CAS.H",
    "occupation": "OCC",
    "industry": "IND.H",
    "employment": "SIE",
    "education": "EDU",
    "work_place": "LPW.L",
    "birthplace": "POB.H",
    "citizenship": "COC.H",
    "arrival": "YAE.H",
    "residence_before": "ROY",
}
HOUSEHOLD = {"household_type": "TPH.H", "household_size": "SPH", "tenure": "TSH"}
FAMILY = {"family_type": "TFN.H", "family_size": "SFN"}
DWELLING = {
    "occupancy": "OCS",
    "ownership": "OWS",
    "occupants": "NOC",
    "floor_space": "UFS",
    "density": "DFS",
    "water": "WSS",
    "toilet": "TOI",
    "bath": "BAT",
    "heating": "TOH",
    "building_type": "TOB",
    "construction": "POC",
    "quarters": "TLQ",
}
#: Codes that the programme has no need of: institutions among households, vacant dwellings.
_FURTHER = {
    "household_type": ("I", "Institution"),
    "household_size": ("I", "Institution"),
    "tenure": ("I", "Institution"),
    "quarters": ("V", "Vacant conventional dwelling"),
}
UNIVERSES = {
    "private_households": "household_type != 'I'",
    "conventional_dwellings": "quarters in ('1', 'V')",
    "occupied_conventional_dwellings": "quarters == '1'",
    "living_quarters": "quarters != 'V'",
}


def work_areas() -> list[str]:
    """The codes of the places of work inside the country: areas of the second level."""
    inside = NUTS2 // NUTS1
    return [f"N{at // inside + 1}{at % inside + 1}" for at in range(NUTS2)]


def code_lists() -> Lists:
    """The leaves of the finest breakdown behind each variable; ages as numbers."""
    from sdcensus.programmes.loading import load_programme

    programme = load_programme("eu-2021")
    codes: dict[str, tuple[str, ...]] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for variable, breakdown in {**PERSON, **HOUSEHOLD, **FAMILY, **DWELLING}.items():
        leaves = programme.breakdown(breakdown).leaves
        pairs = [(leaf.code, leaf.label.show("en") or leaf.code) for leaf in leaves]
        if variable == "work_place":
            pairs = [(area, area) for area in work_areas()] + pairs
        if variable in _FURTHER:
            pairs.append(_FURTHER[variable])
        codes[variable], labels[variable] = zip(*pairs, strict=True)
    return Lists(codes, labels)


def _area_file() -> str:
    second = work_areas()
    rows = [("code", "label", "parent")]
    rows += [(f"A{at:05d}", f"Part {at}", f"M{at // PARTS:03d}") for at in range(LAU * PARTS)]
    for at in range(LAU):
        rows.append((f"M{at:03d}", f"Municipality {at}", f"R{at * NUTS3 // LAU:02d}"))
    rows += [(f"R{at:02d}", f"Region {at}", second[at * NUTS2 // NUTS3]) for at in range(NUTS3)]
    rows += [(one, f"Province {one}", one[:2]) for one in second]
    rows += [(one, f"Quarter {one}", "") for one in dict.fromkeys(name[:2] for name in second)]
    return "\n".join(",".join(row) for row in rows) + "\n"


_SCHEMA = """\
[census]
name = "Nation"
code = "NATION"

[files.dwelling]
path = "{name}/dwellings.parquet"
entity = "dwelling"

[files.household]
path = "{name}/households.parquet"
entity = "household"

[files.family]
path = "{name}/families.parquet"
entity = "family"

[files.person]
path = "{name}/persons.parquet"
entity = "person"

[entity.dwelling]
id = ["dwelling_no"]

[entity.household]
id = ["household_no"]
within = "dwelling"

[entity.family]
id = ["household_no", "family_no"]
within = "household"

[entity.person]
id = ["household_no", "person_no"]
within = "household"

[variable.dwelling_no]
file = "dwelling"
role = "record-id"
width = 8

[variable.household_no]
file = "household"
role = "record-id"
width = 8

[variable.family_no]
file = "family"
role = "record-id"
width = 1

[variable.person_no]
file = "person"
role = "record-id"
width = 3

[variable.dwelling_of_household]
file = "household"
column = "dwelling_no"
role = "record-id"
width = 8

[variable.household_of_family]
file = "family"
column = "household_no"
role = "household-link"
width = 8

[variable.household_of_person]
file = "person"
column = "household_no"
role = "household-link"
width = 8

[variable.area]
file = "dwelling"
role = "geography"
codes = "nation-areas.csv"
levels = ["lau", "nuts3", "nuts2", "nuts1"]

[variable.area.grid]
x = "easting"
y = "northing"
epsg = 3035
cell = 1000
extent = [{west}, {south}, {east}, {north}]
"""


def _schema(name: str, lists: Lists) -> str:
    text = _SCHEMA.format(
        name=name,
        west=EAST,
        south=NORTH,
        east=EAST + 1000 * WIDE * IN_ROW,
        north=NORTH + 1000 * HIGH * (LAU // IN_ROW),
    )
    kinds = {"person": PERSON, "household": HOUSEHOLD, "family": FAMILY, "dwelling": DWELLING}
    for kind, variables in kinds.items():
        for name in variables:
            text += f'\n[variable.{name}]\nfile = "{kind}"\n'
            if name == "age":
                text += "range = [0, 100]\n"
                continue
            pairs = zip(lists.codes[name], lists.labels[name], strict=True)
            codes = ", ".join(f"{json.dumps(code)} = {json.dumps(label)}" for code, label in pairs)
            text += f"codes = {{ {codes} }}\n"
    return text


def nation_name(persons: int, varied: float = 0.0) -> str:
    """How the files of a nation are called."""
    return f"nation-{persons}" + (f"-varied-{varied:g}" if varied else "")


def write_nation(folder: Path, persons: int, varied: float = 0.0) -> Path:
    """Write the nation as parquet, with its schema; returns the schema.

    Args:
        folder: Where to.
        persons: How many people.
        varied: The share of values about origin, moves and housing that are drawn from all codes
            alike: tables by these have far more cells that are not empty.
    """
    name = nation_name(persons, varied)
    schema, files = folder / f"{name}.toml", folder / name
    if schema.exists():
        return schema
    files.mkdir(parents=True, exist_ok=True)
    lists = code_lists()
    writers: dict[str, pq.ParquetWriter] = {}

    def write(name: str, ids: Mapping[str, Places], places: Mapping[str, Places]) -> None:
        columns: dict[str, Any] = dict(ids)
        for variable, at in places.items():
            if variable == "age":
                columns[variable] = at.astype(np.uint8)
                continue
            codes = lists.codes.get(variable) or [f"A{one:05d}" for one in range(LAU * PARTS)]
            narrow = at.astype(np.int16)
            columns[variable] = pa.DictionaryArray.from_arrays(narrow, pa.array(codes))
        table = pa.table(columns)
        if name not in writers:
            writers[name] = pq.ParquetWriter(files / f"{name}.parquet", table.schema)
        writers[name].write_table(table)

    before_homes = before_dwellings = 0
    for at, (area, kind, size) in enumerate(pieces(persons)):
        draw = Draw([20260302, persons, at])
        number = before_homes + np.arange(kind.size)
        dwelling = before_dwellings + np.arange(kind.size)
        made, where, coordinates = dwellings(lists, draw, kind, size, area)
        ids = {"dwelling_no": before_dwellings + np.arange(where.size)}
        write("dwellings", {**ids, **coordinates}, {"area": where, **made})
        ids = {"household_no": number, "dwelling_no": dwelling}
        write("households", ids, households(lists, draw, kind, size))
        made, household, family = families(lists, draw, kind, size)
        write("families", {"household_no": number[household], "family_no": family}, made)
        made, household, person = people(lists, draw, kind, size, area // PARTS, varied)
        write("persons", {"household_no": number[household], "person_no": person + 1}, made)
        before_homes += kind.size
        before_dwellings += where.size
    for writer in writers.values():
        writer.close()
    (folder / "nation-areas.csv").write_text(_area_file(), encoding="utf-8", newline="\n")
    schema.write_text(_schema(name, lists), encoding="utf-8", newline="\n")
    return schema


_MAPPING = """\
programme = "eu-2021"
country = "NX"

[geography]
variable = "area"
nuts1 = "nuts1"
nuts2 = "nuts2"
nuts3 = "nuts3"
lau = "lau"

[grid]
variable = "area_grid"

[units.families]
of = "families"
"""


def write_mapping(folder: Path) -> Path:
    """Write how the nation has what the programme asks for."""
    text = _MAPPING
    for unit, condition in UNIVERSES.items():
        text += f"\n[units.{unit}]\ncondition = {json.dumps(condition)}\n"
    for variable, breakdown in {**PERSON, **HOUSEHOLD, **FAMILY, **DWELLING}.items():
        text += f'\n[breakdown.{breakdown}]\nvariable = "{variable}"\n'
        if variable in _FURTHER:
            codes = {one: one for one in code_lists().codes[variable]}
            codes[_FURTHER[variable][0]] = ""
            pairs = ", ".join(f"{json.dumps(one)} = {json.dumps(to)}" for one, to in codes.items())
            text += f"codes = {{ {pairs} }}\n"
        elif variable == "age":
            text += 'codes = { "0..99" = "1.1.1..6.3.5", "100" = "6.4" }\n'
    path = folder / "nation-mapping.toml"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def nation_store(folder: Path, persons: int, varied: float = 0.0) -> Path:
    """The loaded nation; made if it is not there yet."""
    import sdcensus as sc
    from benchmarks.people import secret_file

    store = folder / f"{nation_name(persons, varied)}.store"
    if not store.exists():
        schema = write_nation(folder, persons, varied)
        sc.load(schema, store, secret=secret_file(folder))
    return store


if __name__ == "__main__":
    nation_store(Path(sys.argv[1]), int(sys.argv[2]))
