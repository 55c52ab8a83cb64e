"""An audit holds all that another program needs: here, Python without sdcensus."""

from __future__ import annotations

import csv
import os
import stat
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import OutputError, Refused
from sdcensus.formats.perturbation import write_perturbation
from sdcensus.formats.write import write_table
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.schema import KeySpace
from sdcensus.session.office.confidential_output import write_audit
from sdcensus.testing.island import SECRET, island

DECIMAL = KeySpace(10**8)
DESIGN = design_perturbation(3, 1.5, stay=0.4)
AXES = ("area+district", "sex", "age@class")

Row = dict[str, str]


def audited(protected: Protected, folder: Path) -> list[Row]:
    path = write_audit(protected, folder / "audit.csv", confidential=True)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(path: Path, delimiter: str) -> list[Row]:
    with path.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def intervals(path: Path) -> dict[int, list[tuple[Fraction, int]]]:
    """The rows of a file for tau-ARGUS: bounds and what they add, in their order."""
    rows: dict[int, list[tuple[Fraction, int]]] = {}
    for line in lines(path, ";"):
        bound = (Fraction(Decimal(line["p_int_ub"])), int(line["v"]))
        rows.setdefault(int(line["i"]), []).append(bound)
    return rows


def cumulated(path: Path) -> dict[int, list[tuple[Fraction, int]]]:
    """The rows of a plain file: its probabilities added up in the order of deviations."""
    rows: dict[int, list[tuple[Fraction, int]]] = {}
    for line in lines(path, ","):
        row = rows.setdefault(int(line["count"]), [])
        before = row[-1][0] if row else Fraction(0)
        share = Fraction(Decimal(line["probability"]))
        row.append((before + share, int(line["deviation"])))
    return rows


def replayed(row: Row, rows: dict[int, list[tuple[Fraction, int]]], keys: int) -> int:
    """What is published for a cell: the first interval whose bound is above its key."""
    count = int(row["count"])
    if count == 0:
        return 0
    key = Fraction(int(row["effective_key"]), keys)
    return count + next(added for bound, added in rows[min(count, max(rows))] if key < bound)


@pytest.mark.parametrize("lookup", Lookup)
def test_every_number_can_be_replayed_without_sdcensus(tmp_path: Path, lookup: Lookup) -> None:
    census = island(key_space=DECIMAL)
    method = CellKey(DESIGN, secret=SECRET, lookup=lookup)
    rows = audited(method.protect(census.tabulate(*AXES)), tmp_path)
    if lookup.has_own_keys:
        table = cumulated(write_perturbation(DESIGN.table(), tmp_path / "table.csv", "plain"))
        keys = 1 << 32
    else:
        ordered = DESIGN.table(10**8)
        if lookup is Lookup.SCRAMBLED:
            ordered = scrambled(ordered, SECRET)
        table = intervals(write_perturbation(ordered, tmp_path / "table.csv", "argus"))
        keys = 10**8
    assert [replayed(row, table, keys) for row in rows] == [int(row["published"]) for row in rows]
    changed = sum(row["count"] != row["published"] for row in rows)
    assert changed > len(rows) / 4
    same_key = sum(row["cell_key"] == row["effective_key"] for row in rows)
    assert same_key == (0 if lookup.has_own_keys else len(rows))


def test_random_rounding_can_be_replayed_without_sdcensus(tmp_path: Path) -> None:
    census = island(key_space=DECIMAL)
    for row in audited(RandomRounding(5).protect(census.tabulate(*AXES)), tmp_path):
        count, key = int(row["count"]), int(row["effective_key"])
        rest = count % 5
        down = Fraction(key, 10**8) < 1 - Fraction(rest, 5)
        assert int(row["published"]) == count - rest + (0 if not rest or down else 5)


def test_weighted_counts_can_be_replayed_without_sdcensus(tmp_path: Path) -> None:
    census = island(key_space=DECIMAL)
    method = CellKey(DESIGN, lookup="ascending")
    cube = census.tabulate(*AXES, measure="weighted")
    table = intervals(write_perturbation(DESIGN.table(10**8), tmp_path / "table.csv", "argus"))
    for row in audited(method.protect(cube), tmp_path):
        count, weight = int(row["count"]), Fraction(Decimal(row["weight"]))
        perturbed = replayed(row, table, 10**8)
        exact = perturbed * weight / count if count else Fraction(0)
        assert int(row["published"]) == round(exact)  # Python rounds halves to even, too


def test_exempt_cells_are_marked(tmp_path: Path) -> None:
    census = island()
    method = CellKey(DESIGN, secret=SECRET, exempt=[census.spec("area@district")])
    rows = audited(method.protect(census.tabulate(*AXES)), tmp_path)
    marked = [row for row in rows if row["unchanged"] == "1"]
    # Three districts and everybody, at the totals of sex and age; one district is one parish.
    assert len(marked) == 3 + 1 + 1
    assert all(row["count"] == row["published"] for row in marked)
    assert {(row["sex"], row["age"]) for row in marked} == {("_T", "_T")}


def test_empty_cells_have_keys_of_their_own_where_they_are_perturbed(tmp_path: Path) -> None:
    census = island(60)
    design = DESIGN.with_perturbed_zeros({1: 0.25})
    method = CellKey(design, secret=SECRET, zeros="perturb", schema=census.schema)
    rows = audited(method.protect(census.tabulate("area", "age", "married")), tmp_path)
    table = cumulated(write_perturbation(design.table(), tmp_path / "table.csv", "plain"))
    empty = [row for row in rows if row["count"] == "0"]
    for row in empty:
        key = Fraction(int(row["empty_key"]), 1 << 32)
        grown = next(added for bound, added in table[0] if key < bound)
        assert int(row["published"]) == (0 if row["unchanged"] == "1" else grown)
    assert {row["published"] for row in empty} == {"0", "1"}
    assert "1" in {row["unchanged"] for row in empty}
    assert {row["empty_key"] for row in rows if row["count"] != "0"} == {""}


@pytest.mark.parametrize("method", [ConventionalRounding(5), ThresholdRounding(10, 5)])
def test_methods_that_draw_nothing_have_no_keys(tmp_path: Path, method: Method) -> None:
    rows = audited(method.protect(island().tabulate(*AXES)), tmp_path)
    assert "effective_key" not in rows[0]
    assert any(row["published"] != row["count"] for row in rows)
    if isinstance(method, ThresholdRounding):
        assert {row["flag"] for row in rows} == {"", ".."}
        assert all((row["published"] == "") == (row["flag"] == "..") for row in rows)


def test_steps_before_the_last_have_a_column_each(tmp_path: Path) -> None:
    cube = island(60).tabulate(*AXES)
    first = CellKey(DESIGN, secret=SECRET)
    method = Pipeline(first, WithholdSparse(mean_cell_size=5, below=4))
    rows = audited(method.protect(cube), tmp_path)
    alone = first.protect(cube).table.published.reshape(-1).tolist()
    assert [int(row["after_cell_key"]) for row in rows] == alone
    assert "c" in {row["flag"] for row in rows}
    assert all(row["published"] == row["after_cell_key"] for row in rows if not row["flag"])


def test_a_sparse_audit_holds_the_cells_with_records(tmp_path: Path) -> None:
    census = island(60)
    request = Tabulate(spec=census.spec(*AXES))
    assert census._store is not None
    sparse = MemoryEngine(census._store, largest_dense=1).tabulate(request)
    assert isinstance(sparse, SparseCube)
    method = CellKey(DESIGN, secret=SECRET)
    dense = audited(method.protect(census.tabulate(*AXES)), tmp_path)
    (tmp_path / "audit.csv").unlink()
    found = audited(method.protect(sparse), tmp_path)
    columns = ("area", "sex", "age", "count", "effective_key", "published")

    def content(rows: list[Row]) -> set[tuple[str, ...]]:
        return {tuple(row[name] for name in columns) for row in rows if row["count"] != "0"}

    assert content(found) == content(dense)
    # A cell with records that is published as 0 is in the audit, though not in the table.
    assert "0" in {row["published"] for row in found}


def test_an_audit_is_for_its_owner_and_on_demand_only(tmp_path: Path) -> None:
    protected = CellKey(DESIGN, secret=SECRET).protect(island().tabulate("sex"))
    with pytest.raises(Refused, match="An audit holds true counts"):
        write_audit(protected, tmp_path / "audit.csv")
    assert list(tmp_path.iterdir()) == []
    path = write_audit(protected, tmp_path / "audit.parquet", confidential=True)
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = pq.read_table(path).to_pydict()
    assert found["published"] == protected.table.published.tolist()
    assert np.array_equal(found["count"], island().tabulate("sex").values.count)
    with pytest.raises(OutputError, match="already exists"):
        write_audit(protected, path, confidential=True)
    with pytest.raises(OutputError, match=r"write an audit as \.csv or \.parquet"):
        write_audit(protected, tmp_path / "audit.xlsx", confidential=True)


def test_the_audit_of_suppression_says_why_each_cell_is_closed(tmp_path: Path) -> None:
    """Primary with its rules, or secondary: in the office's file, and in nothing that is public."""
    method = Suppression(3, group=0, width=0)
    protected = method.protect(island(90, seed=0).tabulate("area", "married", "age@class"))
    rows = audited(protected, tmp_path)
    closed = [row for row in rows if row["flag"]]
    assert {row["closed"] for row in rows if not row["flag"]} == {""}
    assert all(row["closed"] for row in closed)
    small = [row for row in rows if 0 < int(row["count"]) < 3]
    assert all("primary: small counts" in row["closed"].split("; ") for row in small)
    groups = [row for row in closed if "whole groups" in row["closed"]]
    assert any(row["count"] == "0" for row in groups)
    secondary = [row for row in closed if row["closed"] == "secondary"]
    assert secondary
    assert all(int(row["count"]) >= 3 for row in secondary)


@pytest.mark.parametrize("ending", ["csv", "xlsx", "json", "parquet"])
def test_nothing_public_says_why_a_cell_is_closed(tmp_path: Path, ending: str) -> None:
    protected = Suppression(3, group=0, width=0).protect(island(60).tabulate("area", "age@class"))
    table = protected.table
    flags = table.held_for("a test").flags
    assert flags is not None
    assert set(flags.reshape(-1).tolist()) == {0, Mark.WITHHELD}
    write_table(table, tmp_path / f"table.{ending}", provenance=protected.provenance)
    for path in sorted(tmp_path.rglob("*")):
        data = path.read_bytes()
        if path.suffix == ".xlsx":
            with ZipFile(path) as parts:
                data = b"".join(parts.read(name) for name in parts.namelist())
        for word in (b"primary", b"secondary", b"small counts", b"whole groups"):
            assert word not in data, path.name
    assert "primary" not in repr(protected) + repr(table) + repr(protected.audit)
