from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sdcensus.errors import OutputError, Refused, SpecError, StoreError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Mark, PublishedTable, SparseTable, Table
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.document import spec_to_json
from sdcensus.model.spec.record_sets import cells_of
from sdcensus.model.spec.shared_cells import shared_cells
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store import registry_files as batch_module
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
    assert back.flags.tolist() == [0, Mark.WITHHELD, Mark.BELOW_THRESHOLD]
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
    found = {int(cell) for conflict in registry.conflicts(second) for cell in conflict.cells}
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
    # Values stand in the order of the cells; no hash, no count and no key beside them.
    assert columns.column_names == ["value"]
    assert columns.column("value").to_numpy().tolist() == protected.table.published.ravel().tolist()
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

    monkeypatch.setattr(batch_module, "write_owner_only", interrupted)
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
        ('{"format": "sdcensus-registry", "version": 3}', "newer sdcensus"),
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
        {"spec": {**content["spec"], "code_lists": ["0" * 32]}},
        {"id": "0" * 32},
    )
    for change in changes:
        made = json.dumps({**content, **change})
        description.write_text(made, encoding="utf-8", newline="\n")
        with pytest.raises(StoreError, match="damaged"):
            registry.entries()
    newer = json.dumps({**content, "version": batch_module.CLOSING_VERSION + 1})
    description.write_text(newer, encoding="utf-8", newline="\n")
    with pytest.raises(StoreError, match="newer sdcensus"):
        registry.entries()


def test_cells_that_do_not_exist_are_refused(registry: Registry) -> None:
    with pytest.raises(SpecError, match="from 0 to 2"):
        registry.value(table("sex").spec, 3)


def test_a_batch_exists_whole_or_not_at_all(registry: Registry) -> None:
    batch = registry.batch()
    for by in ("sex", "age", "married"):
        batch.add(table(by), provenance=MADE, name=by)
        assert Registry.open(registry.path).entries() == ()
    batch.commit("first")
    entries = Registry.open(registry.path).entries()
    assert [entry.name for entry in entries] == ["sex", "age", "married"]
    assert [entry.order for entry in entries] == [0, 1, 2]
    assert {entry.publication for entry in entries} == {"first"}
    assert registry.batch().commit("nothing") == ()
    assert len(registry.entries()) == 3


def test_a_killed_batch_is_taken_up_or_forgotten(registry: Registry) -> None:
    killed = registry.batch()
    kept, lost = killed.add(table("sex")), killed.add(table("age"))
    batch = registry.batch()
    batch.take(kept)
    batch.forget_others()
    assert not list(registry.path.rglob(f"{lost}*"))
    batch.commit("second run")
    assert list(registry.tables()) == [table("sex")]
    with pytest.raises(StoreError, match="Begin the run anew"):
        batch.take(lost)


def test_the_last_publication_of_a_table_counts(registry: Registry) -> None:
    first, second = table("sex", "age"), table("sex", "age", shift=1)
    registry.add_many([PublishedTable("t", first, MADE)], publication="2026")
    registry.add_many([PublishedTable("t", second, MADE)], publication="2027")
    assert [one.publication for one in registry.latest()] == ["2027"]
    assert registry.value(table("sex").spec, 0) == int(second.published[0, -1])
    assert registry.conflicts(second) == ()
    assert len(registry.conflicts(first)) == 1
    # Back to the first numbers: they are the last ones again.
    registry.add_many([PublishedTable("t", first, MADE)], publication="2028")
    assert registry.conflicts(first) == ()
    assert [entry.publication for entry in registry.entries()] == ["2026", "2027", "2028"]


def test_what_is_made_in_the_same_way_needs_no_comparison(registry: Registry) -> None:
    registry.add(table("sex", "age"), provenance=MADE, consistent=True)
    other = table("sex", shift=1)
    assert len(registry.conflicts(other)) == 1
    assert registry.conflicts(other, provenance=MADE, consistent=True) == ()
    for made in (replace(MADE, key_version=2), replace(MADE, data_version="x"), None):
        assert len(registry.conflicts(other, provenance=made, consistent=True)) == 1
    assert len(registry.conflicts(other, provenance=MADE)) == 1


def test_a_table_without_kept_values_is_known_and_not_compared(registry: Registry) -> None:
    batch = registry.batch()
    batch.add_digest(table("sex").spec, "d" * 32, provenance=MADE, name="large")
    batch.commit("p")
    (entry,) = registry.entries()
    assert (entry.has_values, entry.digest) == (False, "d" * 32)
    assert list(registry.tables()) == []
    assert registry.conflicts(table("sex", shift=1)) == ()
    assert registry.value(table("sex").spec, 0) is None
    assert registry.specs() == (table("sex").spec,)
    with pytest.raises(SpecError, match="streamed"):
        registry.table(entry)


def test_code_lists_are_kept_once(registry: Registry) -> None:
    for by in (("sex", "age"), ("age", "area@parish"), ("area@parish", "sex")):
        registry.add(table(*by))
    assert len(list((registry.path / "lists").iterdir())) == 3


def test_a_registry_of_the_first_version_is_brought_up(registry: Registry) -> None:
    folder = registry.path / "published"
    for order, by in enumerate(("sex", "age")):
        made = table(by)
        identity = f"{order:032x}"
        flags = np.zeros(made.spec.cells, dtype=np.uint8)
        columns = {
            "number": np.arange(made.spec.cells, dtype=np.uint64)[::-1],
            "value": made.published[::-1],
            "flag": flags,
        }
        pq.write_table(pa.table(columns), folder / f"{identity}.parquet")
        description = {
            "version": 1,
            "id": identity,
            "order": order,
            "name": by,
            "spec_hash": made.spec.hash(),
            "spec": spec_to_json(made.spec),
            "provenance": MADE.to_json(),
            "sparse": False,
            "rows": made.spec.cells,
        }
        text = json.dumps(description)
        (folder / f"{identity}.json").write_text(text, encoding="utf-8", newline="\n")
    about = '{"format": "sdcensus-registry", "version": 1}'
    (registry.path / "registry.json").write_text(about, encoding="utf-8", newline="\n")
    (registry.path / "publications").rmdir()
    opened = Registry.open(registry.path)
    assert [entry.name for entry in opened.entries()] == ["sex", "age"]
    assert list(opened.tables()) == [table("sex"), table("age")]
    opened.add(table("married"))
    assert len(Registry.open(registry.path).entries()) == 3


def test_a_damaged_publication_or_code_list_is_refused(registry: Registry) -> None:
    registry.add(table("sex"))
    (event,) = (registry.path / "publications").iterdir()
    whole = event.read_bytes()
    for data, match in ((b"{}", "damaged"), (b"[", "damaged"), (b"[]", "damaged")):
        event.write_bytes(data)
        with pytest.raises(StoreError, match=match):
            Registry.open(registry.path).entries()
    event.write_bytes(whole.replace(b'"version": 2', b'"version": 3'))
    with pytest.raises(StoreError, match="newer sdcensus"):
        Registry.open(registry.path).entries()
    event.write_bytes(whole)
    (codes,) = (registry.path / "lists").iterdir()
    codes.write_bytes(codes.read_bytes().replace(b"sex", b"xes"))
    with pytest.raises(StoreError, match="damaged"):
        Registry.open(registry.path).entries()
    codes.unlink()
    with pytest.raises(StoreError, match="damaged"):
        Registry.open(registry.path).entries()


@given(st.data())
def test_shared_cells_are_those_with_equal_hashes(data: st.DataObject) -> None:
    census = island(people=5)
    axes = ["sex", "age@class+half", "age@half-total", "married-total", "area@parish+district"]
    conditions = [None, "sex == 1", "age >= 5", "sex == 1 or age >= 5", "married == 0"]

    def drawn() -> TableSpec:
        by = data.draw(st.lists(st.sampled_from(axes), max_size=3, unique_by=lambda one: one[:3]))
        return census.spec(*by, universe=data.draw(st.sampled_from(conditions)))

    spec, other = drawn(), drawn()
    mine, theirs = cell_hashes(spec), {tuple(one) for one in cell_hashes(other).tolist()}
    wanted = {at for at, one in enumerate(mine.tolist()) if any(one) and tuple(one) in theirs}
    shared = shared_cells(spec, other)
    if shared is None:
        assert not wanted
        return
    numbers, places = shared.all()
    assert set(numbers.tolist()) == wanted
    assert (cell_hashes(spec, cells=numbers) == cell_hashes(other, cells=places)).all()
    every = np.arange(spec.cells, dtype=np.uint64)
    kept, again = shared.of(every)
    assert (every[kept] == numbers).all()
    assert (again == places).all()
