"""Opening a store: what is damaged, newer or something else is said to be so."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import OutputError, Refused, SdcensusError, StoreError, UnknownName
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Role, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.store.census_store import CensusStore, rows_of
from sdcensus.store.manifest import (
    FORMAT_VERSION,
    MANIFEST_FILE,
    SCHEMA_FILE,
    ColumnInfo,
    column_file,
)
from sdcensus.store.writer import writing
from sdcensus.testing.stores import Units, write_store

P, H = Entity.PERSON, Entity.HOUSEHOLD
SCHEMA = Schema(
    census=CensusInfo(name="census", code=("X",)),
    entities=(
        EntitySpec(entity=P, id=("no",), within=H, link=("hh",), optional=True),
        EntitySpec(entity=H, id=("hh",)),
    ),
    variables=(
        Variable(
            name="tenure",
            entity=H,
            codes=(Code("own"), Code("rent"), Code("none", kind=CodeKind.NOT_APPLICABLE)),
        ),
        Variable(name="sex", entity=P, codes=(Code("m"), Code("f"))),
        Variable(
            name="rent",
            entity=H,
            continuous=True,
            codes=(Code("stated", lower=0), Code("not", kind=CodeKind.NOT_STATED)),
        ),
        Variable(name="w", entity=H, role=Role.WEIGHT, continuous=True, decimals=2),
    ),
)
#: Records of seven-digit sizes would be seen; these are rows of a very small census.
UNITS = {
    H: Units(
        keys=np.array([7, 8]),
        leaves={"tenure": np.array([1, 0]), "rent": np.array([0, 0])},
        values={"rent": np.array([500, 0]), "w": np.array([150, 250])},
    ),
    P: Units(
        keys=np.array([1, 2, 3]),
        leaves={"sex": np.array([0, 1, 1])},
        parents={H: np.array([1, -1, 0])},
    ),
}


@pytest.fixture
def store(tmp_path: Path) -> CensusStore:
    return write_store(tmp_path / "census.store", SCHEMA, UNITS, secret_id="b7a551f2cc2b4dff")


def damage(store: CensusStore, entity: Entity, column: str, content: Any) -> None:
    column_file(store.path, entity, column).write_bytes(np.asarray(content).tobytes())


def test_what_was_written_is_read(store: CensusStore) -> None:
    assert store.rows(P) == 3
    assert store.rows(H) == 2
    assert store.record_keys(P).tolist() == [1, 2, 3]
    assert store.digests(P).dtype == np.uint64
    assert store.origin.secret_id == "b7a551f2cc2b4dff"
    assert store.origin.data_version == store.manifest.data_version
    assert not store.record_keys(P).flags.writeable
    with pytest.raises(UnknownName, match="There is no kind of unit 'dwellings'"):
        store.rows(Entity.DWELLING)
    with pytest.raises(StoreError, match="no column 'age'"):
        store.raw(P, "age")


def test_columns_of_parents_are_inherited(store: CensusStore) -> None:
    tenure = store.schema.variable("tenure")
    assert store.column(P, tenure)[0:3].tolist() == [0, 2, 1]  # the second has no household
    assert store.column(P, tenure)[1:2].tolist() == [2]
    assert store.column(H, tenure).whole is not None
    assert store.column(P, tenure).whole is None
    assert store.values(P, store.schema.variable("w"))[0:3].tolist() == [250, 100, 150]
    rent = store.values(P, store.schema.variable("rent"))[0:3].tolist()
    assert rent == [0, -(1 << 63), 500]
    assert store.household_rows(P)[0:3].tolist() == [1, int(NO_ROW), 0]
    assert store.household_rows(H)[0:2].tolist() == [0, 1]
    with pytest.raises(StoreError, match="households do not have 'sex'"):
        store.column(H, store.schema.variable("sex"))


def test_the_rows_of_a_universe_are_found(store: CensusStore) -> None:
    def rows(condition: str | None) -> list[int]:
        found = rows_of(universe_of(condition, store.schema), store, P)
        return [row for block in found for row in block.tolist()]

    assert rows("tenure == 'own'") == [0]
    assert rows("sex == 'f' or tenure == 'own'") == [0, 1, 2]
    assert rows("sex == 'f' and sex == 'm'") == []
    assert rows(None) == [0, 1, 2]


def test_a_store_shows_nothing_and_cannot_be_pickled(store: CensusStore) -> None:
    for shown in (repr(store), str(store), f"{store}", f"{store:>50}"):
        assert shown.strip() == "<CensusStore 'census.store': confidential>"
    for refused in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(Refused, match="confidential"):
            refused(store)


def test_data_versions_tell_data_apart(tmp_path: Path) -> None:
    one = write_store(tmp_path / "a", SCHEMA, UNITS)
    same = write_store(tmp_path / "b", SCHEMA, UNITS)
    assert one.manifest.data_version == same.manifest.data_version
    changed = Units(
        keys=UNITS[H].keys,
        leaves=UNITS[H].leaves,
        values={"rent": np.array([501, 0]), "w": np.array([150, 250])},
    )
    other = write_store(tmp_path / "c", SCHEMA, {**UNITS, H: changed})
    assert one.manifest.data_version != other.manifest.data_version


def test_verifying_reads_every_column(store: CensusStore) -> None:
    assert sorted(store.verify()) == sorted(
        [
            *(f"household/{name}" for name in ("_digest", "_key", "tenure", "rent")),
            *(f"household/{name}" for name in ("rent.value", "w.value")),
            *(f"person/{name}" for name in ("_digest", "_key", "_household", "sex")),
        ]
    )
    damage(store, P, "sex", np.array([0, 0, 1], dtype=np.uint8))
    with pytest.raises(StoreError, match=r"sex\.bin has changed since the census was loaded"):
        list(store.verify())


# --- what is no store, or no more -----------------------------------------------------------------


def manifest_with(**changes: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        file = path / MANIFEST_FILE
        content = json.loads(file.read_text(encoding="utf-8")) | changes
        file.write_text(json.dumps(content), encoding="utf-8")

    return change


def write(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda path: _replace(path / name, content)


def _replace(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def remove(name: str) -> Callable[[Path], None]:
    return lambda path: (path / name).unlink()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (shutil.rmtree, "There is no store"),
        (remove(MANIFEST_FILE), "is not a census store: it has no manifest"),
        (write(MANIFEST_FILE, b""), "cannot be read"),
        (write(MANIFEST_FILE, b"\xff\xfe"), "cannot be read"),
        (write(MANIFEST_FILE, b"[]"), "is not a census store"),
        (write(MANIFEST_FILE, b"{}"), "is not a census store"),
        (manifest_with(format="other"), "is not a census store"),
        (manifest_with(version=FORMAT_VERSION + 1), "made by a newer sdcensus"),
        (manifest_with(version="1"), "unknown store version"),
        (manifest_with(version=None), "unknown store version"),
        (manifest_with(entities=[]), "damaged"),
        (manifest_with(entities={"dog": {}}), "damaged"),
        (manifest_with(data_version="0" * 32), "damaged"),
        (manifest_with(key_space={"modulus": 1, "combine": "sum"}), "damaged"),
        (manifest_with(schema_digest="0" * 32), "not the schema this store was made with"),
        (remove(SCHEMA_FILE), "cannot be read"),
        (write(SCHEMA_FILE, b"{"), "cannot be read"),
        (remove("person/sex.bin"), r"sex\.bin is missing"),
        (write(SCHEMA_FILE, b"[" * 100_000), "cannot be read"),
        (write(SCHEMA_FILE, b'{"census":' * 900 + b"1" + b"}" * 900), "cannot be read|damaged"),
        (write(MANIFEST_FILE, b'{"a":' * 100_000), "cannot be read"),
        (write("person/sex.bin", b"\0\0"), "cut off or too long"),
        (write("person/sex.bin", b"\0\0\0\0"), "cut off or too long"),
        (write("person/_key.bin", b""), "cut off or too long"),
    ],
)
def test_what_is_no_store_is_refused_in_plain_words(
    store: CensusStore, change: Callable[[Path], None], words: str
) -> None:
    change(store.path)
    with pytest.raises(StoreError, match=words):
        CensusStore.open(store.path)


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello", encoding="utf-8")
    with pytest.raises(StoreError, match="a census store is a folder"):
        CensusStore.open(tmp_path / "x")


def test_an_unknown_type_of_column_is_damage(store: CensusStore) -> None:
    file = store.path / MANIFEST_FILE
    text = file.read_text(encoding="utf-8")
    content = json.loads(text)
    content["entities"]["person"]["columns"]["sex"]["type"] = "object"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(StoreError, match=r"damaged|unknown type"):
        CensusStore.open(store.path)


def test_codes_beyond_the_code_list_are_damage_and_no_crash(store: CensusStore) -> None:
    damage(store, P, "sex", np.array([0, 1, 200], dtype=np.uint8))
    spec = TableSpec.build(store.schema, ["sex"])
    with pytest.raises(StoreError, match=r"sex\.bin is damaged"):
        MemoryEngine(CensusStore.open(store.path)).tabulate(Tabulate(spec=spec))


@pytest.mark.parametrize("request_of", ["tenure", "households"])
def test_links_beyond_the_parents_are_damage_and_no_crash(
    store: CensusStore, request_of: str
) -> None:
    damage(store, P, "_household", np.array([0, 1, 2], dtype=np.uint32))
    spec = TableSpec.build(store.schema, ["tenure"] if request_of == "tenure" else [])
    with pytest.raises(StoreError, match="the links of persons do not lead to the households"):
        MemoryEngine(CensusStore.open(store.path)).tabulate(
            Tabulate(spec=spec, households=request_of == "households")
        )


@pytest.mark.parametrize(
    ("column", "content"),
    [
        ("_household", np.array([-1, -5, 0], dtype=np.int64)),
        ("sex", np.array([-1, 0, 1], dtype=np.int64)),
        ("_key", np.array([1, 2, 3], dtype=np.uint64)),
    ],
)
def test_a_forged_type_is_damage_and_no_crash(
    store: CensusStore, column: str, content: np.ndarray
) -> None:
    """Rows and codes below 0 would be read before the beginning of a column."""
    damage(store, P, column, content)
    infos = dict(store.manifest.columns[P])
    infos[column] = ColumnInfo(content.dtype.name, infos[column].digest)
    forged = replace(store.manifest, columns={**store.manifest.columns, P: infos})
    (store.path / MANIFEST_FILE).write_text(forged.to_json(), encoding="utf-8")
    with pytest.raises(StoreError, match=rf"{column}\.bin has an unknown type"):
        CensusStore.open(store.path)


def test_links_to_units_of_another_area_are_forged(tmp_path: Path) -> None:
    area = Variable(name="area", entity=H, codes=(Code("a"), Code("b")), role=Role.GEOGRAPHY)
    always = (EntitySpec(entity=P, id=("no",), within=H, link=("hh",)), SCHEMA.entities[1])
    schema = replace(SCHEMA, variables=(*SCHEMA.variables, area), entities=always)
    homes = replace(UNITS[H], leaves={**UNITS[H].leaves, "area": np.array([0, 1])})
    people = replace(UNITS[P], parents={H: np.array([0, 1, 1])})
    made = write_store(tmp_path / "s", schema, {H: homes, P: people})
    spec = TableSpec.build(schema, ["tenure"])
    MemoryEngine(made).tabulate(Tabulate(spec=spec))
    damage(made, P, "_household", np.array([1, 1, 1], dtype=np.uint32))
    with pytest.raises(StoreError, match="do not lead to the households that hold them"):
        MemoryEngine(CensusStore.open(made.path)).tabulate(Tabulate(spec=spec))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("sound") / "s", SCHEMA, UNITS).path


@given(data=st.data(), name=st.sampled_from([MANIFEST_FILE, SCHEMA_FILE]))
def test_damaged_documents_never_crash(sound: Path, data: st.DataObject, name: str) -> None:
    file = sound / name
    whole = file.read_bytes()
    try:
        at = data.draw(st.integers(0, len(whole) - 1))
        end = data.draw(st.integers(at, min(len(whole), at + 40)))
        file.write_bytes(whole[:at] + data.draw(st.binary(max_size=6)) + whole[end:])
        try:
            opened = CensusStore.open(sound)
        except SdcensusError as error:
            assert isinstance(error, StoreError)  # noqa: PT017
        else:
            assert opened.rows(P) == 3
    finally:
        file.write_bytes(whole)


# --- writing --------------------------------------------------------------------------------------


def test_a_store_that_is_there_is_not_overwritten(store: CensusStore) -> None:
    with pytest.raises(OutputError, match="already exists"):
        write_store(store.path, SCHEMA, UNITS)


def test_a_load_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def half_a_store() -> None:
        with writing(tmp_path / "s") as writer:
            writer.add_entity(P, 3)
            writer.write(P, "_key", [np.zeros(2, dtype=np.uint32)])

    with pytest.raises(ValueError, match="another length"):
        half_a_store()
    assert not list(tmp_path.iterdir())


def test_a_store_replaces_a_store_and_nothing_else(tmp_path: Path, store: CensusStore) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(OutputError, match="is not a census store, so it is not replaced"):
        writing(folder, replace=True).__enter__()
    with writing(store.path, replace=True) as writer:
        for entity in (P, H):
            writer.add_entity(entity, 0)
        writer.describe(SCHEMA, secret_id="", on_problem="refuse")
    assert CensusStore.open(store.path).rows(P) == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["census.store", "documents"]
