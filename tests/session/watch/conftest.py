from __future__ import annotations

import pytest

from sdcensus.demo import make_country
from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.schema_text import code_files, schema_text
from sdcensus.demo.land.maps import extent_of_grid, write_map
from sdcensus.documents.schema.document import read_schema
from sdcensus.model.schema.schema import Schema


@pytest.fixture(scope="session")
def demo_schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """The schema of the demo country with its real areas; the people are not needed."""
    folder = tmp_path_factory.mktemp("country")
    census = DemoCensus(make_country("small-island"), seed=1)
    (folder / "codes").mkdir()
    for name, text in code_files(census).items():
        (folder / "codes" / name).write_text(text, encoding="utf-8", newline="\n")
    with (folder / "codes" / "areas.geojson").open("w", encoding="utf-8", newline="\n") as file:
        write_map(file, census)
    schema = folder / "schema.toml"
    text = schema_text(census, "csv", extent_of_grid(census))
    schema.write_text(text, encoding="utf-8", newline="\n")
    return read_schema(schema)
