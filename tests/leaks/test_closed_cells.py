"""No true count of a closed cell is in anything that is written or said: published or refused.

Open cells of a table that closes others have their true counts, so those of closed cells are six
digits that occur nowhere else.
"""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sdcensus.cli.shared.run import run as run_command
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.model.text import Text
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.secrets import write_secret
from sdcensus.testing.close_small import install_close_small
from sdcensus.testing.stores import Units, write_store
from tests.formats.write.delivered_made import FOR_ANY_TABLE
from tests.leaks.test_publication import SECRET, contents, numbers_in

#: Records of each sex in each of three areas: four cells are below the minimum.
COUNTS = np.array(
    [[100_043, 100_049, 300_007], [100_057, 100_069, 310_019], [320_009, 330_017, 340_033]]
)
HIDDEN = frozenset({100_043, 100_049, 100_057, 100_069})
MINIMUM = 150_000
PLAN = f"""
store = "census.store"
[[table]]
name = "legal"
rows = ["area"]
columns = ["sex"]
protect = {{ method = "close-small", minimum = {MINIMUM} }}
[[table]]
name = "married"
rows = ["married"]
[protect]
method = "cell-key"
[output]
folder = "published"
formats = {json.dumps(FOR_ANY_TABLE)}
"""


def schema() -> Schema:
    def variable(name: str, codes: str, role: Role) -> Variable:
        made = tuple(Code(code, Text.of(f"{name} {code}")) for code in codes)
        return Variable(name=name, entity=Entity.PERSON, codes=made, role=role)

    return Schema(
        census=CensusInfo(name="Canary"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(
            variable("area", "ABC", Role.GEOGRAPHY),
            variable("sex", "123", Role.KEY),
            variable("married", "01", Role.KEY),
        ),
    )


@dataclass(frozen=True)
class Canary:
    """An office that has published, and what its commands said."""

    folder: Path
    said: str

    def command(self, *arguments: object, code: int = 0) -> str:
        """What a command says on both streams."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            answer = run_command([str(argument) for argument in arguments])
        said = out.getvalue() + err.getvalue()
        assert answer == code, said
        return said


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Canary:
    folder = tmp_path_factory.mktemp("closed")
    cell = np.repeat(np.arange(9), COUNTS.reshape(-1))
    draws = np.random.default_rng(3)
    units = Units(
        keys=draws.integers(0, 1 << 32, cell.size, dtype=np.uint64).astype(np.uint32),
        leaves={"area": cell // 3, "sex": cell % 3, "married": draws.integers(0, 2, cell.size)},
    )
    write_store(folder / "census.store", schema(), {Entity.PERSON: units}, secret_id=SECRET.id)
    write_secret(SECRET, folder / "office.secret")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8", newline="")
    made = Canary(folder, "")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(install_close_small(folder / "packages"))
        secret = ("--secret", folder / "office.secret")
        said = [made.command("publish", folder / "plan.toml", *secret)]
        second = PLAN.replace('name = "legal"', 'name = "all"').replace(
            f'protect = {{ method = "close-small", minimum = {MINIMUM} }}\n', ""
        )
        second = second.replace(
            'folder = "published"', 'folder = "second"\noffice_folder = "published.office"'
        )
        (folder / "second.toml").write_text(second, encoding="utf-8", newline="")
        said.append(made.command("publish", folder / "second.toml", *secret, code=4))
        store = folder / "census.store"
        legal = ("protect", store, "--by", "area,sex", "--method", "close-small")
        minimum = ("--set", f"minimum={MINIMUM}")
        files = ("--out", folder / "one.csv", "--registry", folder / "registry")
        said.append(made.command(*legal, *minimum, *files, "--show"))
        said.append(
            made.command(
                *("protect", store, "--by", "sex,area,married", "--method", "cell-key", *secret),
                *("--out", folder / "two.csv", "--registry", folder / "registry"),
                code=4,
            )
        )
        said.append(made.command(*legal, *minimum, "--smallest-group", "9", code=2))
        said.append(made.command("plan", "check", folder / "plan.toml"))
    return Canary(folder, "\n".join(said))


def test_the_cells_are_closed(canary: Canary) -> None:
    text = (canary.folder / "published" / "legal.csv").read_text(encoding="utf-8")
    assert sum(line.endswith(",c") for line in text.splitlines()) >= 4
    assert "300007" in text
    assert "Cells that one product closes" in canary.said


def test_no_public_file_holds_a_closed_count(canary: Canary) -> None:
    paths = [*(canary.folder / "published").rglob("*"), canary.folder / "one.csv"]
    assert len(paths) > 10
    for path in paths:
        for part in contents(path):
            assert numbers_in(part, HIDDEN) == [], path


def test_registry_lock_and_notes_hold_none_either(canary: Canary) -> None:
    for folder in ("published.office", "registry"):
        paths = [path for path in (canary.folder / folder).rglob("*") if path.is_file()]
        assert paths
        for path in paths:
            assert is_owner_only(path)
            for part in contents(path):
                assert numbers_in(part, HIDDEN) == [], path


def test_no_command_says_one(canary: Canary) -> None:
    assert numbers_in(canary.said.encode(), HIDDEN) == []
