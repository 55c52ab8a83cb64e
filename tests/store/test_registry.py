from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdcensus.errors import OutputError, Refused, SpecError, StoreError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube import Cube
from sdcensus.model.provenance import Provenance
from sdcensus.model.publication import PublishedTable
from sdcensus.model.record_sets import cells_of
from sdcensus.model.table import Flag, SparseTable, Table
from sdcensus.store import registry as registry_module
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.registry import Registry
from sdcensus.testing.island import SECRET, island, island_cube

MADE = Provenance(
    method="cell-key",
    method_version="1",
    fingerprint="f" * 32,
    data_version="island",
    key_version=1,
    secret_id="s",
    package_version="0",
    spec_hash="",
)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.create(tmp_path / "registry")


def table(*by: str, universe: str | None = None, shift: int = 0) -> Table:
    cube = island(people=200).tabulate(*by, universe=universe)
    assert isinstance(cube, Cube)
    return Table(cube.spec, cube.count + shift)


def test_what_was_added_is_read_back(registry: Registry) -> None:
    first = table("area@parish+district", "sex")
    entry = registry.add(first, provenance=MADE, name="population")
    again = Registry.open(registry.path)
    assert again.entries() == (entry,)
    assert entry.name == "population"
    assert entry.provenance == MADE
    assert again.specs() == (first.spec,)
    assert list(again.tables()) == [first]
    assert again.table(entry).spec.hash() == first.spec.hash()


def test_a_publication_knows_its_name_and_making(registry: Registry) -> None:
    entry = registry.add(PublishedTable("sex.csv", table("sex"), MADE))
    assert (entry.name, entry.provenance) == ("sex.csv", MADE)
    assert registry.add(table("age")).name == "persons by age"


def test_adding_the_same_again_changes_nothing(registry: Registry) -> None:
    first = table("area@parish", "sex")
    entry = registry.add(first, provenance=MADE)
    files = sorted(registry.path.rglob("*"))
    assert registry.add(first, provenance=MADE) == entry
    # The same numbers in another order of axes, or by a newer package, are the same publication.
    turned = table("sex", "area@parish")
    assert registry.add(turned, provenance=replace(MADE, package_version="9")) == entry
    assert sorted(registry.path.rglob("*")) == files


def test_withheld_cells_stay_withheld(registry: Registry) -> None:
    flags = np.array([0, 1, 2], dtype=np.uint8)
    made = Table(table("sex").spec, np.array([5, 0, 0]), flags)
    registry.add(made)
    (back,) = registry.tables()
    assert back == made
    assert isinstance(back, Table)
    assert back.flags is not None
    assert back.flags.tolist() == [0, Flag.WITHHELD, Flag.BELOW_THRESHOLD]
    assert registry.value(made.spec, 0) == 5
    assert registry.value(made.spec, 1) is None
    registry.add(table("sex", "age@class"), allow_conflicts=True)
    elsewhere = registry.published_elsewhere(made)
    assert elsewhere.tolist() == [1, 2]  # the totals over age are the same records
    assert registry.published_elsewhere(table("sex")).size == 0


def test_sparse_tables_are_kept_as_they_are(registry: Registry) -> None:
    spec = table("area@parish", "sex").spec
    made = SparseTable(spec, np.array([3, 8], dtype=np.uint64), np.array([4, 9]))
    registry.add(made)
    (back,) = registry.tables()
    assert isinstance(back, SparseTable)
    assert back.numbers.tolist() == [3, 8]
    assert back.published.tolist() == [4, 9]
    assert registry.value(spec, 3) == 4
    assert registry.value(spec, 0) == 0  # not listed: published as 0
    assert registry.value(table("age").spec, 0) is None
    assert len(registry.conflicts(Table(spec, np.zeros(spec.shape, dtype=np.int64)))) == 1


def test_the_same_records_are_the_same_cell_however_they_are_asked_for(registry: Registry) -> None:
    registry.add(table("area@parish", "sex", "age"))
    for other in (
        table("sex"),
        table("area@district", universe="sex == '1'"),
        table("area@parish", universe="age in (3, 4)"),
    ):
        assert registry.conflicts(other) == ()
    for by, where in ((("sex",), None), (("area@parish",), "sex == '1'"), (("sex",), "age == 3")):
        other = table(*by, universe=where, shift=1)
        (found,) = registry.conflicts(other)
        assert len(found) == other.spec.cells
        assert (found.values == found.before + 1).all()
        assert registry.value(other.spec, 0) == other.published.reshape(-1)[0] - 1


def test_conflicts_are_refused_unless_they_are_meant(registry: Registry) -> None:
    registry.add(table("sex", "age"), name="first")
    changed = table("sex").published.copy()
    changed[0] += 1
    other = Table(table("sex").spec, changed)
    with pytest.raises(Refused, match=r"1 cell was published before .* 'first'"):
        registry.add(other)
    assert len(registry.entries()) == 1
    registry.add(other, allow_conflicts=True)
    assert registry.value(other.spec, 0) == changed[0]  # the last one
    assert len(registry.entries()) == 2


def test_a_cell_that_a_sparse_table_leaves_out_is_published_as_0(registry: Registry) -> None:
    registry.add(table("sex", "age"), name="first")
    flat = table("sex").published
    sparse = SparseTable(table("sex").spec, np.array([1, 2], dtype=np.uint64), flat[1:].copy())
    (found,) = registry.conflicts(sparse)
    assert (found.cells.tolist(), found.values.tolist()) == ([0], [0])
    assert found.before.tolist() == [flat[0]]


def test_other_units_are_other_cells(registry: Registry) -> None:
    people = table("sex")
    registry.add(people)
    weighted = island(people=200).tabulate("sex", measure="weighted")
    assert registry.conflicts(Table(weighted.spec, people.published + 7)) == ()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_conflicts_are_those_of_looking_at_every_cell(tmp_path: Path, data: st.DataObject) -> None:
    folder = tmp_path / f"r{len(list(tmp_path.iterdir()))}"
    registry = Registry.create(folder)
    choice = st.sampled_from(["sex", "age@class", "age@half", "married", "area@district"])
    by = data.draw(st.lists(choice, min_size=1, max_size=2, unique_by=lambda one: one[:3]))
    other = data.draw(st.lists(choice, min_size=1, max_size=2, unique_by=lambda one: one[:3]))
    first, second = table(*by), table(*other)
    noise = data.draw(st.lists(st.integers(0, 1), min_size=second.spec.cells))
    values = second.published + np.resize(noise, second.spec.shape)
    second = Table(second.spec, values)
    registry.add(first)
    found = {int(cell) for one in registry.conflicts(second) for cell in one.cells}
    # The same records, cell by cell, in the finest table of all.
    shared = {int(one) for one in cells_of(second.spec, first.spec)}
    changed = set(np.flatnonzero(np.resize(noise, second.spec.cells)).tolist())
    assert found == shared & changed


def test_the_registry_holds_no_counts_and_no_keys(tmp_path: Path) -> None:
    cube = island_cube("area@parish", "sex", "age", people=400)
    protected = CellKey(scheme("CP3"), SECRET).protect(cube)
    registry = Registry.create(tmp_path / "r")
    registry.add(protected.table, provenance=protected.provenance)
    (values,) = registry.path.rglob("*.parquet")
    columns = pq.read_table(values)
    assert columns.column_names == [
        "spec",
        "cell",
        "number",
        "value",
        "flag",
        "method",
        "key_version",
    ]
    assert columns.column("value").to_numpy().tolist() == protected.table.published.ravel().tolist()
    assert columns.column("cell").type.byte_width == 16
    with pytest.raises(SpecError, match="never true counts"):
        registry.add(cube)  # type: ignore[arg-type]


def test_everything_is_for_its_owner_only(registry: Registry) -> None:
    registry.add(table("sex"))
    for path in (registry.path, *registry.path.rglob("*")):
        assert is_owner_only(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_modes_are_private(registry: Registry) -> None:
    registry.add(table("sex"))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in registry.path.rglob("*.*")}
    assert modes == {0o600}


def test_an_interrupted_addition_leaves_the_registry_readable(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.add(table("sex"))

    def interrupted(path: Path, data: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry_module, "write_owner_only", interrupted)
    with pytest.raises(KeyboardInterrupt):
        registry.add(table("age"))
    monkeypatch.undo()
    again = Registry.open(registry.path)
    assert len(again.entries()) == 1
    again.add(table("age"))
    assert len(again.entries()) == 2


def test_a_registry_is_never_overwritten(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="registry already"):
        Registry.create(registry.path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("x", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match="not empty"):
        Registry.create(other)


def test_what_is_no_registry_or_a_newer_one_is_refused(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8", newline="\n")
    for name in ("nothing", "file"):
        with pytest.raises(StoreError, match="is not a registry"):
            Registry.open(tmp_path / name)
    registry.add(table("sex"))
    about = registry.path / "registry.json"
    for text, match in (
        ('{"format": "sdcensus-registry", "version": 2}', "newer sdcensus"),
        ('{"format": "sdcensus-registry", "version": "x"}', "unknown registry version"),
        ('{"format": "other", "version": 1}', "not a registry of published"),
        ("[]", "damaged"),
        ("{", "damaged"),
    ):
        about.write_text(text, encoding="utf-8", newline="\n")
        with pytest.raises(StoreError, match=match):
            Registry.open(registry.path)


def test_damaged_publications_are_refused(registry: Registry) -> None:
    entry = registry.add(table("area@parish", "sex", "age"))
    values = registry.path / "published" / f"{entry.id}.parquet"
    whole = values.read_bytes()
    for data in (b"", whole[: len(whole) // 2], b"x" * len(whole)):
        values.write_bytes(data)
        with pytest.raises(StoreError, match="damaged"):
            list(registry.tables())
        with pytest.raises(StoreError, match="damaged"):
            registry.conflicts(table("sex"))
    values.unlink()
    with pytest.raises(StoreError, match="damaged"):
        registry.value(table("sex").spec, 0)
    description = registry.path / "published" / f"{entry.id}.json"
    text = description.read_text(encoding="utf-8")
    content = json.loads(text)
    changes: tuple[dict[str, object], ...] = (
        {"spec_hash": "0" * 32},
        {"spec": {}},
        {"provenance": {"method": 1}},
        {"order": "first"},
        {"id": "0" * 32},
    )
    for change in changes:
        made = json.dumps({**content, **change})
        description.write_text(made, encoding="utf-8", newline="\n")
        with pytest.raises(StoreError, match="damaged"):
            registry.entries()
    newer = json.dumps({**content, "version": 2})
    description.write_text(newer, encoding="utf-8", newline="\n")
    with pytest.raises(StoreError, match="newer sdcensus"):
        registry.entries()


def test_cells_that_do_not_exist_are_refused(registry: Registry) -> None:
    with pytest.raises(SpecError, match="from 0 to 2"):
        registry.value(table("sex").spec, 3)
