"""A demo country goes through the same door as anybody's census."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.session.census.census import load


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_a_demo_country_loads_without_a_problem(tmp_path: Path, file_format: str) -> None:
    made = write_country(
        tmp_path / "country", country=make_country(3_000), seed=4, file_format=file_format
    )
    report = load(made.schema, tmp_path / "census.store", secret=Secret(bytes(range(32))))
    assert report.problems == ()
    assert report.rows == {Entity(name): count for name, count in made.records.items()}
