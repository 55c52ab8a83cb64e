"""Tables of every size: those too long to show, and those held as their non-empty cells."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sdcensus.cli.shared import tables
from sdcensus.cli.shared.console import Output
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.session.census.census import open_store
from sdcensus.session.office.confidential_output import write_confidential
from tests.cli.conftest import Run, Village

AXES = ("ed@parish+ed", "age@broad", "sex-total")


def cubes(village: Village, measure: str = "count") -> tuple[Cube, SparseCube]:
    """The same table as a grid and as its non-empty cells."""
    census = open_store(village.store)
    request = Tabulate(spec=census.spec(*AXES, measure=measure))
    dense = MemoryEngine(census.store).tabulate(request)
    sparse = MemoryEngine(census.store, largest_dense=1).tabulate(request)
    assert isinstance(dense, Cube)
    assert isinstance(sparse, SparseCube)
    return dense, sparse


@pytest.mark.parametrize("by", ["age", "ed,age", "ed,age,sex"])
def test_a_table_too_long_to_show_is_cut_off_and_says_so(
    run: Run, village: Village, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr(tables, "MOST_LINES", 20)
    answer = run("tabulate", village.store, "--by", by, "--show", "--confidential")
    assert answer.code == 0
    assert "The table goes on: only 20 lines are shown. See all with --out FILE." in answer.out
    assert len(answer.out.splitlines()) < 50


def test_a_sparse_table_shows_the_cells_with_records(
    village: Village, capsys: pytest.CaptureFixture[str]
) -> None:
    dense, sparse = cubes(village)
    tables.show_cube(Output(), sparse)
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["North", "0-14", "Female", "1"] in shown
    assert ["Total", "Total", "Female", "4"] in shown
    assert (
        sum(cell.count > 0 for cell in dense.cells()) == len([line for line in shown if line]) - 2
    )


def test_sparse_weighted_counts_are_shown(
    village: Village, capsys: pytest.CaptureFixture[str]
) -> None:
    _, sparse = cubes(village, "weighted")
    tables.show_cube(Output(), sparse, weight_decimals=2)
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["Total", "Total", "Female", "7.0"] in shown


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_sparse_table_is_written_like_a_dense_one_without_its_empty_cells(
    village: Village, tmp_path: Path, ending: str
) -> None:
    written = []
    cube: AnyCube
    for cube in cubes(village, "weighted"):
        path = tmp_path / f"{type(cube).__name__}.{ending}"
        write_confidential(cube, path, confidential=True, weight_decimals=2)
        if ending == "csv":
            with path.open(encoding="utf-8", newline="") as file:
                rows = [tuple(row.items()) for row in csv.DictReader(file)]
        else:
            table = pq.read_table(path)
            rows = [
                tuple((name, str(one)) for name, one in row.items()) for row in table.to_pylist()
            ]
        written.append({row for row in rows if dict(row)["count"] != "0"})
    dense, sparse = written
    assert dense == sparse
    assert len(dense) > 10
    columns = [name for name, _ in next(iter(dense))]
    assert columns == [
        *("ed", "age", "sex", "ed_label", "age_label", "sex_label"),
        *("count", "cell_key", "weight"),
    ]


def test_a_table_without_any_record_still_has_its_columns(village: Village, tmp_path: Path) -> None:
    census = open_store(village.store)
    nobody = census.spec(*AXES, universe="age == 99")
    sparse = MemoryEngine(census.store, largest_dense=1).tabulate(Tabulate(spec=nobody))
    path = write_confidential(sparse, tmp_path / "nobody.parquet", confidential=True)
    table = pq.read_table(path)
    assert table.num_rows == 0
    assert "cell_key" in table.column_names
