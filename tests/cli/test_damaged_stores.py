"""A store of which a byte is another one than when it was made: no command makes numbers of it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sdcensus.census import open_parquet
from sdcensus.errors import DocumentError, StoreError
from tests.cli.conftest import Run, Village
from tests.session.licence.handed import prepare

#: What a damaged store is refused with.
DAMAGED = 6

PLAN = """\
store = "census.store"

[[table]]
name = "people"
rows = ["sex"]

[protect]
method = "cell-key"
scheme = "CP3"

[output]
folder = "published"
"""

POLICY = """\
name = "Village builder"
[limits]
dimensions = 2
[online]
recovery = 0.9
smallest_group = 12
"""

STORE = "census.store"
COMMANDS = {
    "publish": "publish plan.toml --secret office.secret --accept-risk A --reason test",
    "protect": f"protect {STORE} --by sex --method cell-key --scheme CP3 --secret office.secret"
    " --out new.csv",
    "serve": f"serve {STORE} --policy policy.toml --check --scheme CP3 --secret office.secret",
    "tabulate": f"tabulate {STORE} --by sex --out new.csv --confidential",
    "duckdb": f"tabulate {STORE} --by sex --engine duckdb --out new.csv --confidential",
    "assess": f"assess {STORE} --by sex --secret office.secret --out new",
    "compare": f"compare {STORE} --by sex --secret office.secret --out new",
    "plan draft": f"plan draft {STORE} --out new.toml",
    "recommend": f"recommend {STORE} --out new",
    "describe": f"describe {STORE}",
    "export": f"export {STORE} --out new",
    "swap": f"swap {STORE} --out new.store --rate 0.5 --k 1 --secret office.secret",
    "pram": f"pram {STORE} --out new.store --variables sex --stay 0.8 --similar equal"
    " --secret office.secret",
    "weigh": f"weigh {STORE} --out new.store --how sample --secret office.secret",
    "impute": f"impute {STORE} --out new.store --blank sex --rate 0.05 --match age@broad"
    " --secret office.secret",
    "safe": f"safe {STORE} --out new.store --variables sex,married --secret office.secret",
    "derive": f"derive drop-records {STORE} --out new.store --where sex==9 --secret office.secret",
}


@pytest.fixture
def office(
    village: Village, town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A folder with a store, and documents."""
    shutil.copytree(town, tmp_path / STORE)
    shutil.copy(village.secret, tmp_path / "office.secret")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    os.chdir(tmp_path.parent)


def flip(path: Path, at: int = 0) -> None:
    content = bytearray(path.read_bytes())
    # One code for another: nothing that a list of codes would notice.
    content[at] ^= 1
    path.write_bytes(content)


def typed(command: str) -> list[str]:
    return COMMANDS[command].split()


def names(folder: Path) -> list[str]:
    """What stands in a folder; where a plan may put its office folder is nobody's output."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("office"))


@pytest.mark.parametrize("command", list(COMMANDS))
def test_a_flipped_byte_is_refused_by_name_and_nothing_is_written(
    run: Run, office: Path, command: str
) -> None:
    column = office / STORE / "person" / "sex.bin"
    flip(column)
    before = names(office)
    answer = run(*typed(command))
    assert answer.code == DAMAGED, answer.err
    text = " ".join(answer.err.split())
    assert str(Path(STORE, "person", "sex.bin")) in text
    assert f"The store {STORE} is damaged. Restore it from a backup, or load" in text
    assert answer.out == ""
    assert names(office) == before


def test_what_the_commands_do_when_nothing_is_damaged(run: Run, office: Path) -> None:
    """Otherwise every refusal above could be one of something else."""
    for command in ("publish", "protect", "tabulate", "pram", "export", "serve"):
        answer = run(*typed(command))
        assert answer.code == 0, (command, answer.err)
        for made in ("new.csv", "new.store", "new", "new.store.office"):
            path = office / made
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.mark.parametrize("column", ["_key", "_household", "ed"])
def test_keys_links_and_areas_are_verified_as_codes_are(
    run: Run, office: Path, column: str
) -> None:
    flip(office / STORE / "person" / f"{column}.bin")
    asked = ("tabulate", STORE, "--by", "ed@parish,tenure", "--out", "new.csv", "--confidential")
    answer = run(*asked)
    assert answer.code == DAMAGED
    assert f"{column}.bin has changed" in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "cut off or too long"),
        (lambda path: path.write_bytes(path.read_bytes() + b"\0"), "cut off or too long"),
        (Path.unlink, "is missing"),
    ],
    ids=["cut off", "grown", "gone"],
)
@pytest.mark.parametrize("command", ["publish", "protect", "serve", "swap"])
def test_files_that_are_no_columns_any_more(
    run: Run, office: Path, command: str, change: Callable[[Path], None], words: str
) -> None:
    change(office / STORE / "person" / "sex.bin")
    answer = run(*typed(command))
    assert answer.code in (DAMAGED, DocumentError.exit_code)  # the plan names it in a line
    assert answer.out == ""
    assert words in " ".join(answer.err.split())


def test_a_column_that_no_table_uses(run: Run, office: Path) -> None:
    """One table reads its own columns; what makes a whole publication compares the whole store."""
    flip(office / STORE / "person" / "married.bin")
    assert run(*typed("protect")).code == 0
    for command in ("publish", "serve", "swap"):
        answer = run(*typed(command))
        assert answer.code == DAMAGED
        assert "married.bin" in answer.err


@pytest.mark.parametrize("entry", ["secret_id", "key_version", "key_space"])
def test_a_manifest_of_which_a_byte_is_another(run: Run, office: Path, entry: str) -> None:
    file = office / STORE / "manifest.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    other = {"secret_id": "0" * 16, "key_version": 3, "key_space": {"modulus": 256}}
    if entry == "key_space":
        content[entry] |= other[entry]
    else:
        content[entry] = other[entry]
    file.write_text(json.dumps(content), encoding="utf-8")
    answer = run(*typed("protect"))
    assert answer.code == DAMAGED
    assert "manifest.json is damaged" in answer.err


def test_a_manifest_of_another_store(run: Run, village: Village, office: Path) -> None:
    shutil.copy(village.store / "manifest.json", office / STORE / "manifest.json")
    answer = run(*typed("protect"))
    assert answer.code == DAMAGED
    assert not (office / "new.csv").exists()


def test_a_store_of_an_older_version_still_opens(run: Run, office: Path) -> None:
    file = office / STORE / "manifest.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    del content["settings_digest"]
    file.write_text(json.dumps(content), encoding="utf-8")
    assert run(*typed("protect")).code == 0


def test_a_derived_store_says_that_it_is_derived_again(run: Run, office: Path) -> None:
    assert run(*typed("pram")).code == 0
    flip(office / "new.store" / "person" / "sex.bin")
    answer = run("tabulate", "new.store", "--by", "sex", "--out", "new.csv", "--confidential")
    assert answer.code == DAMAGED
    text = " ".join(answer.err.split())
    assert "has changed since the store was derived" in text
    assert "or derive it again from its store." in text


def test_a_damaged_export_is_not_counted(run: Run, office: Path) -> None:
    assert run(*typed("export")).code == 0
    flip(office / "new" / "person" / "part-00000.parquet", at=20)
    counting = ("tabulate", "new", "--engine", "duckdb", "-q")
    answer = run(*counting, "--by", "sex", "--out", "new.csv", "--confidential")
    assert answer.code == DAMAGED
    assert "has changed since it was exported" in " ".join(answer.err.split())
    assert not (office / "new.csv").exists()
    # Files of a kind that no table asks for are not read.
    assert run(*counting, "--of", "household", "--by", "tenure").code == 0
    served = run(
        "serve",
        "new",
        "--policy",
        "policy.toml",
        "--check",
        "--scheme",
        "CP3",
        "--secret",
        "office.secret",
    )
    assert served.code == DAMAGED
    published = run(*typed("publish"), "--parquet", "new")
    assert published.code == DAMAGED
    with pytest.raises(StoreError, match="has changed"):
        open_parquet(office / "new", verify=True)


@pytest.mark.parametrize("what", ["make", "assess"])
def test_files_for_researchers_are_not_made_of_a_damaged_store(
    run: Run, tmp_path: Path, what: str
) -> None:
    prepare(tmp_path, dwellings=400)
    flip(tmp_path / STORE / "person" / "sex.bin")
    given = ("release", what, tmp_path / "release.toml", "--secret", tmp_path / "office.secret")
    answer = run(*given, "--out", tmp_path / "new")
    assert answer.code == DAMAGED
    assert "sex.bin has changed" in " ".join(answer.err.split())
    assert not (tmp_path / "new").exists()
