"""Nothing confidential is in a publication: not in any file, not in what the program says.

The true counts of a census of four million people are seven-digit primes. They, the cell keys, the
secret, and everything that is said about the method are looked for in every published file, on
both streams, and in every refusal.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

from sdcensus.cli.shared.run import run as run_command
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.schemes import strength
from sdcensus.model.cube.cube import Cube, Origin, finish
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.secrets import write_secret
from sdcensus.testing.stores import Units, write_store
from tests.formats.write.delivered_made import FOR_ANY_TABLE

SECRET = Secret(bytes(range(7, 39)))
STRENGTH = "no-ones-and-twos"
#: Records of each sex in each of two areas.
COUNTS = np.array([[1_004_987, 1_009_133], [1_013_053, 1_017_437]], dtype=np.int64)
PLAN = f"""
store = "census.store"
[[table]]
name = "people"
rows = ["area"]
columns = ["sex"]
[[table]]
name = "women"
rows = ["area"]
measure = "share(sex == '2')"
[[indicator]]
name = "ratio"
kind = "sex-ratio"
by = ["area"]
[protect]
method = "cell-key"
strength = "{STRENGTH}"
[office]
name = {{ en = "Office", es = "Oficina" }}
[output]
folder = "published"
formats = {json.dumps(FOR_ANY_TABLE)}
languages = ["en", "es"]
evaluation = true
"""


def schema() -> Schema:
    def variable(name: str, codes: str, role: Role) -> Variable:
        made = tuple(Code(code, Text.of(f"{name} {code}")) for code in codes)
        return Variable(name=name, entity=Entity.PERSON, codes=made, role=role)

    return Schema(
        census=CensusInfo(name="Canary", languages=("en", "es")),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(variable("area", "NS", Role.GEOGRAPHY), variable("sex", "12", Role.KEY)),
    )


SPEC = TableSpec.build(schema(), ["area", "sex"])


def people(keys: npt.NDArray[np.uint64]) -> Units:
    """The records; the first of each of the four groups gets a key that is given."""
    drawn = np.random.default_rng(5).integers(0, 1 << 32, int(COUNTS.sum()), dtype=np.uint64)
    cell = np.repeat(np.arange(4), COUNTS.reshape(-1))
    drawn[np.searchsorted(cell, np.arange(4))] = keys
    return Units(keys=drawn.astype(np.uint32), leaves={"area": cell // 2, "sex": cell % 2})


def sums_of(units: Units) -> npt.NDArray[np.uint64]:
    """The keys of the four groups, added up."""
    cell = units.leaves["area"] * 2 + units.leaves["sex"]
    found = [units.keys[cell == at].sum(dtype=np.uint64) for at in range(4)]
    return np.array(found, dtype=np.uint64)


def cube_of(counts: npt.NDArray[np.int64], sums: npt.NDArray[np.uint64]) -> Cube:
    parts = {"count": counts.reshape(2, 2), "key": (sums % np.uint64(1 << 32)).reshape(2, 2)}
    return finish(SPEC, Origin(KeySpace(), SECRET.id, "canary"), parts)


def method() -> Method:
    return CellKey(strength(STRENGTH), secret=SECRET)


def all_changed(cube: Cube) -> bool:
    """Whether neither a published number nor a sum of them, as notes tell it, is a true one."""
    shown = method().protect(cube).table.published
    sums = [shown[:2].sum(axis=0), shown[:, :2].sum(axis=1), shown[:2, :2].sum()]
    told = {*shown.reshape(-1).tolist(), *np.hstack(sums).tolist()}
    return not told & set(cube.count.reshape(-1).tolist())


@dataclass(frozen=True)
class Canary:
    """A publication of which no number is the true one, what it must not tell, what was said."""

    folder: Path
    units: Units
    cube: Cube
    hidden: frozenset[int]
    said: str

    @property
    def published(self) -> Path:
        return self.folder / "published"


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Canary:
    folder = tmp_path_factory.mktemp("canary")
    draws = np.random.default_rng(1)
    others = sums_of(people(np.zeros(4, dtype=np.uint64)))
    while True:
        keys = draws.integers(0, 1 << 32, 4, dtype=np.uint64)
        cube = cube_of(COUNTS, others + keys)
        if all_changed(cube):
            break
    units = people(keys)
    write_store(folder / "census.store", schema(), {Entity.PERSON: units}, secret_id=SECRET.id)
    write_secret(SECRET, folder / "office.secret")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8", newline="")
    said = publish(folder)
    hidden = {*cube.count.reshape(-1).tolist(), *cube.key.reshape(-1).tolist()}
    return Canary(folder, units, cube, frozenset(hidden), said)


def publish(folder: Path, *options: str, code: int = 0) -> str:
    """What the command says on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        answer = run_command(
            [
                *("publish", str(folder / "plan.toml")),
                *("--secret", str(folder / "office.secret"), *options),
            ]
        )
    said = out.getvalue() + err.getvalue()
    assert answer == code, said
    return said


def contents(path: Path) -> Iterator[bytes]:
    """What is in a file, without its compression."""
    yield path.read_bytes()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                yield archive.read(member)
    elif path.suffix == ".parquet":
        table = pq.read_table(path)
        yield repr(table.to_pydict()).encode()
        yield repr(table.schema.metadata).encode()
        yield repr(pq.read_metadata(path).to_dict()).encode()


def numbers_in(data: bytes, hidden: frozenset[int]) -> list[int]:
    """Hidden numbers as text, however they are grouped, or as bytes."""
    text = data.decode("latin-1")
    for sign in (",", ".", " ", "_", "\xa0", "\xc2\xa0", "\u202f".encode().decode("latin-1")):
        text = text.replace(sign, "")
    found = [one for one in hidden if str(one) in text]
    for one in hidden:
        found += [one for size in (4, 8) if one.to_bytes(size, "little") in data]
    return found


def public_files(canary: Canary) -> list[Path]:
    return sorted(canary.published.iterdir())


# ------------------------------------------------------------------------------- numbers


def test_the_search_finds_what_it_looks_for(canary: Canary) -> None:
    """Published numbers are found by the same search in every format."""
    table = method().protect(canary.cube).table
    shown = frozenset(table.published.reshape(-1).tolist())
    endings = (".csv", ".parquet", ".en.xlsx", ".en.json", ".px", ".sdmx.csv")
    for ending in endings:
        parts = list(contents(canary.published / f"people{ending}"))
        assert {one for part in parts for one in numbers_in(part, shown)} == shown, ending
    assert not shown & canary.hidden


def test_no_file_holds_a_true_count_or_a_key(canary: Canary) -> None:
    assert len(public_files(canary)) > 20
    for path in public_files(canary):
        for part in contents(path):
            assert numbers_in(part, canary.hidden) == [], path


def test_registry_and_lock_hold_neither(canary: Canary) -> None:
    office = canary.folder / "published.office"
    paths = [office / "publication.lock", *(office / "registry").rglob("*.*")]
    for path in paths:
        for part in contents(path):
            assert numbers_in(part, canary.hidden) == [], path


def test_the_program_says_no_number(canary: Canary) -> None:
    assert numbers_in(canary.said.encode(), canary.hidden) == []
    assert "Published 3 tables" in canary.said


# ------------------------------------------------------------------------------- words


def forbidden(canary: Canary) -> Iterator[str]:
    """Words about the method, the secret and the office's own files."""
    yield from (STRENGTH, "ones-and-twos", "CP3", "hashed", "ascending", "strength", "lookup")
    yield from ("perturbation", "deviation", "variance", str(canary.folder), "census.store")
    material = bytes(range(7, 39))
    yield from (material.hex(), base64.b64encode(material).decode(), "office.secret")
    plan = (canary.folder / "plan.toml").read_bytes()
    for name in ("sha256", "sha1", "md5", "blake2b", "blake2s"):
        yield hashlib.new(name, plan).hexdigest()
    for size in (8, 16, 20, 32):
        yield hashlib.blake2b(plan, digest_size=size).hexdigest()
    text = json.dumps(dict(method().parameters()), sort_keys=True, separators=(",", ":"))
    for size in (8, 16, 32):
        yield hashlib.blake2b(text.encode(), digest_size=size).hexdigest()
    for one in (canary.folder / "published.office").rglob("published.json"):
        content = json.loads(one.read_text(encoding="utf-8"))
        yield from (str(value) for value in content["identity"].values() if len(str(value)) > 9)


def test_no_file_tells_how_numbers_were_changed(canary: Canary) -> None:
    words = [one.encode() for one in forbidden(canary)]
    assert len(words) > 20
    for path in public_files(canary):
        for part in contents(path):
            found = [word for word in words if word.lower() in part.lower()]
            assert found == [], path


def test_the_office_knows_what_the_public_does_not(canary: Canary) -> None:
    """The search for words would find them where they are."""
    kept = canary.folder / "published.office" / "plan" / "published.json"
    data = kept.read_bytes()
    assert sum(one.encode() in data for one in forbidden(canary)) >= 5
    for path in (canary.folder / "published.office").rglob("*"):
        assert is_owner_only(path), path


# ------------------------------------------------------------------------------- refusals


@pytest.mark.slow
def test_refusals_of_the_guard_tell_no_count(canary: Canary, tmp_path: Path) -> None:
    """Another census of as many people: neither its counts nor those of the first are told."""
    folder = tmp_path / "second"
    shutil.copytree(canary.folder, folder, ignore=shutil.ignore_patterns("census.store"))
    leaves = dict(canary.units.leaves)
    sex = leaves["sex"].copy()
    sex[:3] = 1  # three people in the north are corrected
    other = replace(canary.units, leaves={**leaves, "sex": sex})
    write_store(folder / "census.store", schema(), {Entity.PERSON: other}, secret_id=SECRET.id)
    counts = np.bincount(leaves["area"] * 2 + sex, minlength=4).astype(np.int64)
    cube = cube_of(counts, sums_of(other))
    new = {*cube.count.reshape(-1).tolist(), *cube.key.reshape(-1).tolist()}
    hidden = canary.hidden | new
    before = {path.name: path.read_bytes() for path in (folder / "published").iterdir()}
    refused = publish(folder, code=4)
    assert "would change" in refused
    few = publish(
        folder,
        *("--revision", "r", "--old-store", str(canary.folder / "census.store")),
        code=4,
    )
    assert "would show who was corrected" in few
    for said in (refused, few):
        assert numbers_in(said.encode(), frozenset(hidden)) == []
        assert not [one for one in forbidden(canary) if one in said and one != "census.store"]
    assert {path.name: path.read_bytes() for path in (folder / "published").iterdir()} == before
