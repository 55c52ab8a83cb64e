"""Programs of tests: the demo country, and mistakes with the place where they are."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import pytest

from sdcensus.demo import make_country
from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.schema_text import code_files, schema_text
from sdcensus.demo.land.maps import extent_of_grid
from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import QuestionError
from sdcensus.model.schema.schema import Schema
from sdcensus.session.commands import compile_program, place_of, pointer

#: Stands in a program before the character at which a mistake is expected.
HERE = "¶"


@functools.cache
def demo_schema() -> Schema:
    """The schema of the demo country, without any of its people."""
    census = DemoCensus(make_country(30_000), seed=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "codes").mkdir()
        for file, text in code_files(census).items():
            (folder / "codes" / file).write_text(text, encoding="utf-8", newline="\n")
        (folder / "codes" / "areas.geojson").write_text("{}", encoding="utf-8", newline="\n")
        schema = folder / "schema.toml"
        text = schema_text(census, "csv", extent_of_grid(census))
        schema.write_text(text, encoding="utf-8", newline="\n")
        return read_schema(schema)


def mistake(marked: str, schema: Schema | None = None) -> str:
    """What is said about a program, after a look at where it is said to be wrong."""
    at = marked.index(HERE)
    source = marked.replace(HERE, "", 1)
    with pytest.raises(QuestionError) as caught:
        compile_program(source, schema or demo_schema())
    error = caught.value
    assert error.at == at, f"{error}\n{pointer(source, error.at or 0)}"
    assert error.place == place_of(source, at)
    return str(error).removeprefix(f"{error.place}: ")
