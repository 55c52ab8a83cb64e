"""A country for measuring: 420 areas in three levels, sex, age in three levels, two more variables.

Not the demo country: it must have exactly the axes that the figures speak of, and be there quickly.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

AREAS, AGES, FIRST, SECOND = 420, 101, 6, 5

FINEST = ("area-total", "sex-total", "age-total", "first-total", "second-total")
EVERY_MARGIN = ("area@area+district+region", "sex", "age@age+five_year+broad", "first", "second")

_SCHEMA = """\
[census]
name = "Benchmark"
code = "BENCH"

[files.person]
path = "{file}"
entity = "person"

[entity.person]
id = ["area", "household_no", "person_no"]

[variable.household_no]
role = "record-id"
width = 8

[variable.person_no]
role = "record-id"
width = 2

[variable.area]
role = "geography"
codes = "areas.csv"
levels = ["district", "region"]

[variable.sex]
codes = {{ 1 = "Male", 2 = "Female" }}

[variable.age]
range = [0, 100]
[variable.age.levels]
five_year = "{five}"
broad = "0,15,30,50,65,85+"

[variable.first]
codes = {{ 1 = "a", 2 = "b", 3 = "c", 4 = "d", 5 = "e", 6 = "f" }}

[variable.second]
codes = {{ 1 = "a", 2 = "b", 3 = "c", 4 = "d", 5 = "e" }}
"""


def write_people(folder: Path, persons: int) -> Path:
    """Write a census of that many persons as parquet, sorted by area; returns the schema."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = folder / f"people-{persons}.toml"
    file = folder / f"people-{persons}.parquet"
    if not file.exists():
        draw = np.random.default_rng(20260301)
        area = np.sort((AREAS * draw.random(persons) ** 1.4).astype(np.int64))
        number = np.arange(persons, dtype=np.int64)
        names = pa.array([f"A{at:03d}" for at in range(AREAS)])
        table = pa.table(
            {
                "area": pa.DictionaryArray.from_arrays(area.astype(np.int16), names),
                "household_no": number // 3,
                "person_no": (number % 3 + 1).astype(np.int16),
                "sex": draw.integers(1, 3, persons, dtype=np.int8),
                "age": (100 * draw.random(persons) ** 1.3).astype(np.int16),
                "first": (1 + FIRST * draw.random(persons) ** 2).astype(np.int8),
                "second": (1 + SECOND * draw.random(persons) ** 2).astype(np.int8),
            }
        )
        pq.write_table(table, file)
    areas = ["code,label,parent"]
    areas += [f"A{at:03d},Area {at},D{at // 10:02d}" for at in range(AREAS)]
    areas += [f"D{at:02d},District {at},R{at // 7}" for at in range(AREAS // 10)]
    areas += [f"R{at},Region {at}," for at in range(AREAS // 70)]
    (folder / "areas.csv").write_text("\n".join(areas) + "\n", encoding="utf-8")
    five = ",".join(str(at) for at in range(0, 100, 5)) + ",100+"
    text = _SCHEMA.format(file=file.name, five=five)
    schema.write_text(text, encoding="utf-8")
    return schema


def secret_file(folder: Path) -> Path:
    """A secret for measuring."""
    import sdcensus as sc

    path = folder / "bench.secret"
    if not path.exists():
        sc.census.new_secret(path)
    return path
