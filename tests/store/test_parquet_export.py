"""Exporting a store: whole or not at all, for its owner only, and opened with care."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import OutputError, SpecError, StoreError
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.parquet_census import ParquetCensus, is_exported
from sdcensus.store.parquet_export import export_parquet
from sdcensus.store.writer import writing
from sdcensus.testing.stores import Units, write_store

P, H = Entity.PERSON, Entity.HOUSEHOLD


@pytest.fixture
def store(tmp_path: Path) -> CensusStore:
    codes = tuple(Code(str(at)) for at in range(3))
    schema = Schema(
        census=CensusInfo(name="census", code=("X",)),
        entities=(
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",)),
        ),
        variables=(
            Variable(name="sex", entity=P, codes=codes),
            Variable(name="tenure", entity=H, codes=codes),
        ),
    )
    units = {
        P: Units(
            keys=np.arange(10),
            leaves={"sex": np.arange(10) % 3},
            parents={H: np.arange(10) // 3},
        ),
        H: Units(keys=np.arange(4), leaves={"tenure": np.arange(4) % 3}),
    }
    return write_store(tmp_path / "s", schema, units, secret_id="0123")


def test_an_export_says_what_it_is_and_holds_no_identity(store: CensusStore) -> None:
    out = store.path.with_name("p")
    stages: list[tuple[str, float]] = []
    made = export_parquet(
        store, out, rows_per_file=4, progress=lambda stage, done: stages.append((stage, done))
    )
    assert sorted(path.relative_to(out).as_posix() for path in out.rglob("*.*")) == [
        "household/part-00000.parquet",
        "manifest.json",
        "person/part-00000.parquet",
        "person/part-00001.parquet",
        "person/part-00002.parquet",
        "schema.json",
    ]
    assert made.origin == store.origin
    assert made.origin.secret_id == "0123"
    assert [file.rows for file in made.dataset(P).files] == [4, 4, 2]
    assert {column.name for column in made.dataset(P).columns()} == {
        *("_key", "_household", "_household_key", "sex", "tenure")
    }
    assert stages[-1][1] == 1.0
    assert is_owner_only(out)
    assert repr(made) == "<ParquetCensus 'p': confidential>"
    assert is_exported(out)
    assert not is_exported(store.path)


def test_the_same_store_gives_the_same_files(store: CensusStore) -> None:
    one = export_parquet(store, store.path.with_name("one"))
    two = export_parquet(store, store.path.with_name("two"))
    assert one.manifest == two.manifest


def test_it_replaces_an_export_and_nothing_else(store: CensusStore) -> None:
    out = store.path.with_name("p")
    export_parquet(store, out)
    with pytest.raises(OutputError, match="already exists"):
        export_parquet(store, out)
    export_parquet(store, out, replace=True)
    with pytest.raises(OutputError, match="not an exported census"):
        export_parquet(store, store.path, replace=True)
    with pytest.raises(OutputError, match="not a census store"), writing(out, replace=True):
        pass
    assert ParquetCensus.open(out).origin == CensusStore.open(store.path).origin
    assert sorted(path.name for path in store.path.parent.iterdir()) == ["p", "s"]


def test_nothing_is_left_when_it_is_interrupted(store: CensusStore) -> None:
    def interrupt(stage: str, done: float) -> None:
        if done == 1.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_parquet(store, store.path.with_name("p"), progress=interrupt)
    assert [path.name for path in store.path.parent.iterdir()] == ["s"]
    with pytest.raises(SpecError, match="at least one record"):
        export_parquet(store, store.path.with_name("p"), rows_per_file=0)


def _edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "manifest.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8", newline="\n")

    return spoil


def _grow(folder: Path) -> None:
    with (folder / "person" / "part-00000.parquet").open("ab") as file:
        file.write(b"x")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), r"has no manifest\.json"),
        (lambda folder: (folder / "schema.json").unlink(), r"has no schema\.json"),
        (
            lambda folder: (folder / "schema.json").write_text("{", encoding="utf-8", newline="\n"),
            "cannot be read",
        ),
        (lambda folder: (folder / "person" / "part-00000.parquet").unlink(), "is missing"),
        (_grow, "cut off or too long"),
        (_edit(lambda one: one.update(format="sdcensus-store")), "not an exported census"),
        (_edit(lambda one: one.update(version=2)), "newer sdcensus"),
        (_edit(lambda one: one.update(version="x")), "unknown version"),
        (_edit(lambda one: one.pop("entities")), "damaged"),
        (_edit(lambda one: one.update(schema_digest="x")), "not the schema"),
        (
            _edit(lambda one: one["entities"]["person"]["files"][0].update(name="../s/x")),
            "damaged",
        ),
        (_edit(lambda one: one["entities"]["person"]["key"].update(type="float")), "damaged"),
    ],
)
def test_a_damaged_export_is_refused(
    store: CensusStore, spoil: Callable[[Path], None], words: str
) -> None:
    out = store.path.with_name("p")
    export_parquet(store, out)
    spoil(out)
    with pytest.raises(StoreError, match=words):
        ParquetCensus.open(out)


def test_changed_bytes_are_found_when_asked_for(store: CensusStore) -> None:
    out = store.path.with_name("p")
    export_parquet(store, out)
    file = out / "person" / "part-00000.parquet"
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content)
    ParquetCensus.open(out)
    with pytest.raises(StoreError, match="has changed"):
        ParquetCensus.open(out, verify=True)


def test_other_places_are_refused(store: CensusStore) -> None:
    with pytest.raises(StoreError, match="is missing"):
        ParquetCensus.open(store.path.with_name("nowhere"))
    with pytest.raises(StoreError, match="is a file"):
        ParquetCensus.open(store.path / "manifest.json")
    with pytest.raises(StoreError, match="not an exported census"):
        ParquetCensus.open(store.path)
