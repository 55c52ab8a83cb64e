"""``sdcensus derive small-count-rounding``: the whole road, and what is said at each step."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    return made


def values(path: Path) -> list[int]:
    with path.open(encoding="utf-8", newline="") as file:
        return [int(line["published"]) for line in csv.DictReader(file)]


def test_the_whole_road(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    out, secret = tmp_path / "rounded.store", ["--secret", hamlet.secret]
    listed = ["--tables", "ed,sex,age@broad", "--tables", "ed@parish,tenure", "--base", "5"]
    foreseen = run("derive", "small-count-rounding", hamlet.store, *listed, "--plan", *secret)
    assert foreseen.code == 0
    assert "largest change" in foreseen.out
    made = run("derive", "small-count-rounding", hamlet.store, *listed, "--out", out, *secret)
    assert made.code == 0
    assert "The store holds persons alone, with age, ed, sex, tenure" in made.err
    copies = tmp_path / "rounded.store.office" / "copies.csv"
    assert copies.read_text("utf-8").startswith("record,copy\n")
    assert "small-count-rounding" in run("describe", out).out

    method = ["--method", "small-count-rounding", "--base", "5", *secret]
    for by, told in (("ed,sex,age@broad", False), ("ed@parish,tenure", False), ("ed,tenure", True)):
        counted = run("tabulate", out, "--by", by)
        table = tmp_path / f"{by.replace(',', '-')}.csv"
        protected = run("protect", out, "--by", by, *method, "--out", table)
        assert counted.code == protected.code == 0
        for answer in (counted, protected):
            assert ("small counts may appear" in answer.err) is told
        assert not [value for value in values(table) if 0 < value < 5]


def test_the_method_is_offered_for_tables_too(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    asked = ["--by", "ed,sex,age@ten_year", "--method", "small-count-rounding", "--base", "4"]
    answer = run("protect", hamlet.store, *asked, "--secret", hamlet.secret, "--out", table)
    assert answer.code == 0
    assert "every total is the sum of its parts" in answer.out
    assert not [value for value in values(table) if 0 < value < 4]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--base", "0"], "--base should be a number from 1 to 100"),
        (["--base", "5", "--threshold", "3"], "at least the base (5)"),
        (["--inner-check", "much"], "'much'"),
    ],
)
def test_what_cannot_be_meant_is_told(
    run: Run, hamlet: Hamlet, options: list[str], words: str
) -> None:
    method = ["--method", "small-count-rounding", *options, "--secret", hamlet.secret]
    answer = run("protect", hamlet.store, "--by", "ed,sex", *method)
    assert answer.code != 0
    assert words in answer.err
