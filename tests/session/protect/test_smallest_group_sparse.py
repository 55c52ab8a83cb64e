"""The smallest group in tables too large to be held: what dense ones show, and how it is read."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.attack.targets import targets_of
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import InputError, Refused, SpecError
from sdcensus.formats import write
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import write_table
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import CellMethod, Method
from sdcensus.methods.notes import find_example
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.cube.pairs import pair_of
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import Tail
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Mark, PublishedTable, SparseTable, Table
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.held_cells import HeldCells
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registry_values import Values
from sdcensus.testing.conformance import small_store
from sdcensus.testing.island import SECRET, island_store
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import TableRequest, censuses_with_tables
from tests.examples import at_least

Mask = npt.NDArray[np.bool_]

#: Ones and twos can become 0, so that groups are published as 0 that are not empty.
THREE = PerturbationDesign(
    rows=(
        DesignRow((0,), (1.0,)),
        DesignRow((-1, 0, 3), (0.6, 0.2, 0.2)),
        DesignRow((-2, 0, 2), (0.25, 0.5, 0.25)),
        DesignRow((-3, 0, 3), (0.25, 0.5, 0.25)),
    ),
    tail=Tail(3),
)
METHODS: tuple[CellMethod, ...] = (
    CellKey(THREE, secret=Secret(bytes(range(32)))),
    CellKey(THREE, lookup="ascending"),
    RandomRounding(3),
)
SIZES = st.integers(2, 8)


def protect(
    store: CensusStore, spec: TableSpec, method: Method, smallest: int, largest: int
) -> Protected:
    """The table, where tables of more than so many cells are not held whole."""
    engine = MemoryEngine(store, threads=1, largest_dense=largest)
    return GroupRule(smallest).protect(
        spec, method, lambda one: engine.tabulate(Tabulate(spec=one))
    )


def dense(made: Protected) -> Table:
    assert isinstance(made.table, Table)
    return made.table


def sparse(made: Protected) -> SparseTable:
    assert isinstance(made.table, SparseTable)
    return made.table


def hidden(table: Table) -> Mask:
    if table.flags is None:
        return np.zeros(table.shape, dtype=bool)
    return np.asarray(table.flags == Mark.NOT_BROKEN_DOWN)


@contextmanager
def stored(drawn: tuple[SmallCensus, TableRequest]) -> Iterator[tuple[CensusStore, TableSpec]]:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        where = table.where.text if table.where else None
        yield store, TableSpec.build(store.schema, table.by, of=table.of, universe=where)
        del store  # Windows removes no file that is mapped


@given(censuses_with_tables(most_units=40), st.sampled_from(METHODS), SIZES)
@settings(max_examples=at_least(40))
def test_a_sparse_table_shows_what_the_dense_one_shows(
    drawn: tuple[SmallCensus, TableRequest], method: CellMethod, smallest: int
) -> None:
    with stored(drawn) as (store, spec):
        again = protect(store, spec, method, smallest, 50_000_000)
        expected = dense(again)
        made = protect(store, spec, method, smallest, 0)
        table = sparse(made)
        whole = table.whole()
        np.testing.assert_array_equal(whole.published, expected.published)
        np.testing.assert_array_equal(hidden(whole), hidden(expected))
        assert made.provenance == again.provenance
        # One cell at a time, in any order, is the same.
        cells = np.arange(spec.cells, dtype=np.uint64)[::-1].copy()
        np.testing.assert_array_equal(table.flags_at(cells)[::-1], hidden(whole).reshape(-1) * 7)


@given(censuses_with_tables(most_units=40), st.sampled_from(METHODS), SIZES)
@settings(max_examples=8)
def test_only_the_ancestors_may_be_too_many(
    drawn: tuple[SmallCensus, TableRequest], method: CellMethod, smallest: int
) -> None:
    """A table that is held itself is exactly that of the dense rule."""
    with stored(drawn) as (store, spec):
        expected = protect(store, spec, method, smallest, 50_000_000)
        engine = MemoryEngine(store, threads=1, largest_dense=0)
        held = MemoryEngine(store, threads=1)
        made = GroupRule(smallest).protect(
            spec,
            method,
            lambda one: (held if one is spec else engine).tabulate(Tabulate(spec=one)),
        )
        assert dense(made) == dense(expected)
        assert made.provenance == expected.provenance


@given(censuses_with_tables(most_units=40), st.sampled_from(METHODS), SIZES)
@settings(max_examples=8)
@pytest.mark.usefixtures("too_large")
def test_files_give_back_what_is_shown_hidden_and_zero(
    drawn: tuple[SmallCensus, TableRequest], method: CellMethod, smallest: int
) -> None:
    with stored(drawn) as (store, spec), tempfile.TemporaryDirectory() as folder:
        made = protect(store, spec, method, smallest, 0)
        table = sparse(made)
        for name in ("table.csv", "table.parquet"):
            path = write_table(table, Path(folder) / name, provenance=made.provenance)
            read = read_published(path)
            assert isinstance(read.table, SparseTable)
            assert read.table.small == table.small
            assert read.table.whole() == table.whole()
            assert read.provenance == made.provenance


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sparse table is one that cannot be held."""
    monkeypatch.setattr(write, "LARGEST_DENSE_GRID", 0)


@pytest.fixture(scope="module")
def island_table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Protected, Table]:
    """A table without totals whose areas and ages lie in groups that it does not show."""
    census = island_store(tmp_path_factory.mktemp("island") / "island.store")
    spec = census.spec("area-total", "age-total", "sex")
    method = CellKey(THREE, secret=SECRET)
    made = protect(census.store, spec, method, 5, 0)
    return made, dense(protect(census.store, spec, method, 5, 50_000_000))


def test_attacks_do_not_take_what_is_not_shown_for_zero(
    island_table: tuple[Protected, Table],
) -> None:
    made, expected = island_table
    assert hidden(expected).any()
    assert (~hidden(expected) & (expected.published == 0)).any()
    table = sparse(made)
    assert table.small is not None
    assert table.small.cells.size
    (target,), _ = targets_of([PublishedTable("ages", table, made.provenance)])
    assert target.table == expected
    pair = pair_of(made.audit.cube, table)
    dense_pair = pair_of(made.audit.cube, expected)
    assert (
        np.sort(pair.hidden).tolist() == np.sort(dense_pair.hidden[dense_pair.hidden > 0]).tolist()
    )
    for refused in (HeldCells.of, Values.of):
        with pytest.raises(SpecError, match="small groups are not broken down"):
            refused(table)


def test_notes_never_add_up_what_is_not_shown(tmp_path: Path) -> None:
    """An example of parts that do not add up has numbers that readers can see."""
    census = island_store(tmp_path / "island.store")
    spec = census.spec("area@parish+district")
    method = CellKey(THREE, secret=SECRET)
    examples = 0
    for smallest in (5, 50, 200, 400, 600, 800, 1000):
        table = sparse(protect(census.store, spec, method, smallest, 0))
        example = find_example(table)
        if example is not None:
            examples += 1
            for code, value in example.parts:
                cell = [len(axis.codes) - 1 for axis in spec.axes]
                cell[spec.position(example.axis.variable.name)] = example.axis.codes.index(code)
                number = np.array([np.ravel_multi_index(cell, spec.shape)], dtype=np.uint64)
                assert not table.flags_at(number)[0]
                assert table.at(number)[0] == value
    assert examples


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("lost", ["groups_not_broken_down", "cells_not_listed", "mark", "size"])
def test_a_file_that_lost_what_is_not_shown_is_refused(
    island_table: tuple[Protected, Table], tmp_path: Path, lost: str
) -> None:
    """Else cells that are not shown would be read as 0."""
    made, _ = island_table
    path = write_table(made.table, tmp_path / "table.csv", provenance=made.provenance)
    beside = tmp_path / "table.about.json"
    about = json.loads(beside.read_text(encoding="utf-8"))
    assert any("unless they are part of a group" in note["en"] for note in about["notes"])
    if lost == "groups_not_broken_down":
        del about[lost]
    elif lost == "cells_not_listed":
        about[lost] = "published as 0"
    elif lost == "size":
        about["groups_not_broken_down"]["smallest_group"] = 2
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
        at = next(number for number, line in enumerate(lines) if line.split(",")[-2] == "1")
        *words, _, published = lines[at].split(",")
        lines[at] = ",".join([*words, "0", published])
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside.write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(InputError, match=r"not[ _]broken[ _]down"):
        read_published(path)


def test_what_cannot_be_judged_cell_by_cell_stays_refused(tmp_path: Path) -> None:
    census = island_store(tmp_path / "island.store")
    spec = census.spec("area", "sex")
    method = Pipeline(CellKey(THREE, secret=SECRET), Additivity())
    with pytest.raises(Refused, match="fewer variables or coarser areas"):
        protect(census.store, spec, method, 5, 0)
