"""Nothing tells how records were changed: not the derived store, not what is published from it.

Parameters are numbers that occur nowhere else. They, and the digests of the records that were
changed, are looked for in every file that is not the office's own, and on both streams.
"""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

from sdcensus.store.owner_only import is_owner_only
from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet

#: The command of each family, and what it was told that nobody may learn.
FAMILIES = {
    "swap --risk-variables sex,age@broad --k 2 --rate 0.27191": "0.27191 27.191 age@broad",
    "swap --how random --rate 0.31373 --members sex --farther": "0.31373 31.373 members",
    "swap --how proportional --risk-variables sex,age@broad --rate 0.11173 --members sex": (
        "0.11173 11.173 risk_variables"
    ),
    (
        "swap --how attributes --attributes married --classes age@ten_year --missing-match"
        " --rate 0.11379"
    ): "0.11379 11.379 age@ten_year",
    "pram --variables tenure --stay 0.83137": "0.83137 83.137",
    "impute --blank tenure --rate 0.27191 --match ed": "0.27191 27.191 blank",
    "weigh --one-in 53 --level total --small-strata accept": "one_in one-in",
}
PLAN = """
store = "derived.store"
[[table]]
name = "people"
rows = ["ed"]
columns = ["sex"]
[protect]
method = "cell-key"
strength = "medium"
[output]
folder = "published"
formats = ["csv", "xlsx", "parquet", "json-stat"]
languages = ["en", "es"]
evaluation = true
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    census = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    census.load()
    return census


def contents(path: Path) -> bytes:
    """What is in a file, without its compression."""
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return b"".join(book.read(name) for name in book.namelist())
    return path.read_bytes()


def changed_records(office: Path) -> set[str]:
    with (office / "changed-records.csv").open(encoding="utf-8", newline="") as file:
        return {line["record"] for line in csv.DictReader(file)}


@pytest.mark.parametrize("line", list(FAMILIES), ids=lambda line: "-".join(line.split()[:3]))
def test_nobody_learns_how_records_were_changed(
    run: Run, hamlet: Hamlet, tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(hamlet.secret))
    hidden = FAMILIES[line].split()
    command, *options = line.split()
    derived = run(command, hamlet.store, *options, "--out", tmp_path / "derived.store", "-q")
    assert (derived.code, derived.out) == (0, ""), derived.err
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8", newline="")
    shown = run("publish", plan, "--accept-risk", "A", "--reason", "b")
    assert shown.code == 0, shown.err
    cell = ("--table", "people", "--cell", "ed=E1,sex=1")
    answer = run("claim", plan, *cell, "--out", tmp_path / "answers")
    assert answer.code == 0, answer.err

    office = tmp_path / "derived.store.office"
    own = [path for path in tmp_path.rglob("*") if ".office" in str(path.relative_to(tmp_path))]
    # The search must be able to find what it looks for.
    told = json.loads((office / "derivation.json").read_text(encoding="utf-8"))
    assert hidden[0] in json.dumps(told["parameters"])
    records = changed_records(office)
    assert records or command == "weigh"
    for path in own:
        assert is_owner_only(path), path
    public = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and path not in own and (path.suffix != ".bin")
    ]
    assert len(public) > 8
    said = (shown.out + shown.err + answer.out).encode()
    for name, content in [("console", said), *((str(path), contents(path)) for path in public)]:
        if Path(name) == plan or Path(name).parent.name == "columns":
            continue
        for text in (*hidden, *records):
            assert text.encode() not in content, (name, text)
