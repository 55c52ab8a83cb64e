"""Real public data through the whole road, compared with counts made by other means."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from sdcensus.documents.schema.document import read_schema
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.ingest.load import load_census
from sdcensus.model.cube.cube import Cube
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore

SAN_DIEGO = """\
[census]
name = "Persons in households in 87 zones"
code = "SD"

[files.person]
path = "{folder}/asim_sandag_persons.parquet"
entity = "person"

[files.household]
path = "{folder}/asim_sandag_households.parquet"
entity = "household"

[entity.person]
id = ["PERID"]
within = "household"
link = ["household_id"]

[entity.household]
id = ["HHID"]

[variable.perid]
file = "person"
column = "PERID"
role = "record-id"
width = 9

[variable.household_id]
file = "person"
role = "household-link"
width = 9

[variable.hhid]
file = "household"
column = "HHID"
role = "record-id"
width = 9

[variable.zone]
file = "household"
column = "TAZ"
role = "geography"
codes = "zones.csv"
levels = ["group"]

[variable.size]
file = "household"
column = "PERSONS"
range = [1, 30]

[variable.sex]
file = "person"
codes = {{ 1 = "Male", 2 = "Female" }}

[variable.age]
file = "person"
range = [0, 120]
[variable.age.levels]
broad = "0,18,65+"
"""


def test_persons_in_households_of_san_diego(real_data: Path, tmp_path: Path) -> None:
    persons = pq.read_table(real_data / "asim_sandag_persons.parquet").to_pylist()
    households = {
        row["HHID"]: row
        for row in pq.read_table(real_data / "asim_sandag_households.parquet").to_pylist()
    }
    zones = sorted({row["TAZ"] for row in households.values()})
    lines = [f"{zone},Zone {zone},G{zone % 3}" for zone in zones]
    lines += [f"G{at},Group {at}," for at in range(3)]
    (tmp_path / "zones.csv").write_text("\n".join(["code,label,parent", *lines]), encoding="utf-8")
    path = tmp_path / "census.toml"
    path.write_text(SAN_DIEGO.format(folder=real_data.as_posix()), encoding="utf-8")
    schema = read_schema(path)
    secret = Secret(bytes(range(32)))
    load_census(schema, tmp_path / "census.store", secret=secret)
    store = CensusStore.open(tmp_path / "census.store")

    expected = Counter(
        (
            str(households[row["household_id"]]["TAZ"]),
            str(row["sex"]),
            "0-17" if row["age"] < 18 else "18-64" if row["age"] < 65 else "65+",
            str(households[row["household_id"]]["PERSONS"]),
        )
        for row in persons
    )
    spec = TableSpec.build(
        store.schema, ["zone-total", "sex-total", "age@broad-total", "size-total"]
    )
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec))
    assert isinstance(cube, Cube)
    found = Counter({cell.codes: cell.count for cell in cube.cells() if cell.count})
    assert found == expected

    files = DuckdbEngine.over_files(schema, secret)
    for engine in (DuckdbEngine.over_store(store), files):
        other = engine.tabulate(Tabulate(spec=spec))
        assert isinstance(other, Cube)
        assert (other.count == cube.count).all()
        assert (other.key == cube.key).all()
