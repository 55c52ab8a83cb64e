"""A small census in several linked files, for tests of loading: written, loaded, opened."""

from __future__ import annotations

from pathlib import Path

from sdcensus.documents.schema.document import read_schema
from sdcensus.ingest.load import LoadReport, load_census
from sdcensus.model.schema.file_problems import OnProblem
from sdcensus.model.secret import Secret
from sdcensus.store.census_store import CensusStore

SECRET_BYTES = bytes(range(32))

SCHEMA = """\
[census]
name = "Test census"
code = ["TT", "2011"]
languages = ["en", "es"]

[files.person]
path = "persons.csv"
entity = "person"

[files.household]
path = "households.csv"
entity = "household"

[files.dwelling]
path = "dwellings.csv"
entity = "dwelling"

[entity.person]
id = ["ed", "household_no", "person_no"]
within = "household"

[entity.family]
id = ["ed", "household_no", "family_no"]
within = "household"

[entity.household]
id = ["ed", "household_no"]
within = "dwelling"

[entity.dwelling]
id = ["ed", "dwelling_no"]

[[impossible]]
when = "age < 15 and marital == 2"
label = "Married children"

[variable.name]
file = "person"
role = "direct-identifier"

[variable.sex]
file = "person"
codes = { 1 = "Male", 2 = { en = "Female", es = "Mujer" } }

[variable.age]
file = "person"
range = [0, 99]
not_stated = [999]
[variable.age.levels]
broad = "0,15,65+"

[variable.marital]
file = "person"
codes = { 1 = "Single", 2 = "Married" }
not_stated = [9]
empty = "not_stated"

[variable.income]
file = "person"
continuous = true
decimals = 2
not_stated = ["-1"]
imputed = "income_flag"

[variable.family_type]
file = "person"
entity = "family"
codes = { 1 = "Couple", 2 = "Other" }
not_applicable = [8]

[variable.tenure]
file = "household"
codes = { o = "Owned", r = "Rented" }

[variable.weight]
file = "household"
role = "weight"
decimals = 6

[variable.ed]
file = "dwelling"
role = "geography"
codes = "areas.csv"
levels = ["parish"]

[variable.rooms]
file = "dwelling"
range = [1, 9]
"""

AREAS = """\
code,label,parent
0412,East,P2
0411,Town,P1
0413,West,P2
P1,North parish,
P2,South parish,
"""

DWELLINGS = """\
ed,dwelling_no,rooms
0412,1,3
0411,1,2
0413,1,4
0412,2,5
"""

HOUSEHOLDS = """\
ed,household_no,dwelling_no,tenure,weight
0412,0007,1,o,1.25
0411,0001,1,r,1
0412,0008,1,r,1.000001
0413,0001,1,o,2
"""

PERSONS = """\
ed,household_no,person_no,family_no,family_type,name,sex,age,marital,income,income_flag
0412,0007,01,1,1,Ana,2,34,2,1200.50,0
0412,0007,02,1,1,Ben,1,36,2,900,1
0412,0007,03,1,1,Cal,1,4,1,0,0
0411,0001,01,,8,Dee,2,70,,-1,0
0412,0008,01,,8,Eve,2,999,9,50.005,0
0413,0001,01,1,2,Fay,2,29,1,10.015,0
0413,0001,02,1,2,Gus,1,2,1,0,0
"""


def write_census(folder: Path, **files: str) -> Path:
    """Write the census; keyword arguments replace the text of single files (``persons=...``)."""
    texts = {
        "census.toml": SCHEMA,
        "areas.csv": AREAS,
        "dwellings.csv": DWELLINGS,
        "households.csv": HOUSEHOLDS,
        "persons.csv": PERSONS,
    }
    for name in texts:
        stem = name.partition(".")[0]
        text = files.get("schema" if stem == "census" else stem, texts[name])
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return folder / "census.toml"


def load_small(
    folder: Path, *, on_problem: OnProblem = OnProblem.REFUSE, **files: str
) -> tuple[CensusStore, LoadReport]:
    """Write, load and open the census."""
    schema = read_schema(write_census(folder, **files))
    out = folder / "census.store"
    report = load_census(schema, out, secret=Secret(SECRET_BYTES), on_problem=on_problem)
    return CensusStore.open(out), report
