"""How sparse and how large a table is, said before and after it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import Unconfirmed
from sdcensus.formats.write import write_table
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.session.protect.detail import (
    MOST_CELLS,
    check_size,
    expected_bytes,
    sparse_figures,
)
from sdcensus.testing.island import SECRET, island


def test_figures_are_those_of_the_finest_cells() -> None:
    census = island(60)
    cube = census.tabulate("area", "age", "sex", "married")
    figures = sparse_figures(cube)
    assert figures is not None
    finest = census.tabulate("area-total", "age-total", "sex-total", "married-total")
    counts = finest.held_for("a test").count
    assert (figures.cells, figures.total) == (counts.size, 60)
    assert figures.empty == int((counts == 0).sum())
    assert figures.small == int(((counts > 0) & (counts < 3)).sum())
    assert figures.is_sparse
    assert "\n" not in figures.sentence
    assert "60" not in repr(figures)
    full = sparse_figures(island(5_000).tabulate("area", "sex"))
    assert full is not None
    assert not full.is_sparse


@pytest.mark.parametrize("format", ["csv", "json-stat", "px", "parquet", "xlsx"])
def test_expected_sizes_are_near(format: str, tmp_path: Path) -> None:
    census = island(5_000)
    spec = census.spec("area", "age", "sex", "married")
    protected = CellKey(scheme("CP4"), SECRET).protect(census.tabulate(spec))
    ending = {"json-stat": "json"}.get(format, format)
    path = write_table(protected.table, tmp_path / f"t.{ending}", provenance=protected.provenance)
    expected = expected_bytes(spec, [format], records=5_000, labels=True, languages=("en",))
    # Small files are mostly what stands around the numbers.
    assert expected < 3 * path.stat().st_size
    if format == "csv":
        assert expected > path.stat().st_size / 3


def test_very_many_cells_are_asked_about() -> None:
    census = island(50)
    small = census.spec("area", "sex")
    check_size(small, ["csv"], records=50)
    many = census.spec("area@parish+district", "age@age+class+half", "sex", "married")
    check_size(many, [], records=50)
    assert many.cells <= MOST_CELLS
    large = _Large(many.axes * 3)
    with pytest.raises(Unconfirmed, match=r"cells, about .* as csv.*--yes"):
        check_size(large, ["csv"], records=50)  # type: ignore[arg-type]
    # Of a table that is too large to be held, only cells that hold anybody are listed.
    listed = expected_bytes(large, ["csv"], records=50)  # type: ignore[arg-type]
    assert listed < expected_bytes(large, ["csv"], records=None)  # type: ignore[arg-type]


class _Large:
    """A table with every axis twice: only its size counts here."""

    def __init__(self, axes: tuple[object, ...]) -> None:
        self.axes = axes
        self.title = "a large table"

    @property
    def cells(self) -> int:
        size = 1
        for axis in self.axes:
            size *= len(axis.codes)  # type: ignore[attr-defined]
        return size
