"""``sdcensus map``: a smoothed picture of a published grid."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.formats.write import write_table
from sdcensus.testing.grid_island import grid_island
from tests.cli.conftest import Run
from tests.session.answer.services import METHOD


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """A published grid."""
    protected = METHOD.protect(grid_island(8, 6, 500).tabulate("square"))
    target = tmp_path / "grid.parquet"
    return write_table(protected.table, target, provenance=protected.provenance)


def test_a_picture_is_written_and_says_that_it_is_one(run: Run, grid: Path) -> None:
    out = grid.with_suffix(".svg")
    answer = run("map", grid, "--smooth", 2_000, "--out", out, "--language", "nl")
    assert answer.code == 0
    assert "Een plaatje, geen gegevens" in answer.out
    assert "2.000 m" in out.read_text(encoding="utf-8")
    pixels = grid.with_suffix(".png")
    assert run("map", grid, "--smooth", 2_000, "--out", pixels).code == 0
    assert pixels.read_bytes().startswith(b"\x89PNG")
    again = run("map", grid, "--smooth", 2_000, "--out", out)
    assert again.code != 0
    assert "already exists" in again.err


def test_other_endings_and_widths_are_refused(run: Run, grid: Path) -> None:
    answer = run("map", grid, "--smooth", 2_000, "--out", grid.with_suffix(".jpg"))
    assert answer.code != 0
    assert "ends in .svg or .png" in answer.err
    answer = run("map", grid, "--smooth", 10, "--out", grid.with_suffix(".svg"))
    assert answer.code != 0
    assert "between 1,000 and 100,000 m" in " ".join(answer.err.split())
    assert not grid.with_suffix(".svg").exists()
