"""``--smallest-group`` of protect, assess and compare: it changes what is published."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_store
from tests.cli.conftest import Run

Store = tuple[Path, Path]


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("island")
    island_store(folder / "island.store")
    write_secret(SECRET, folder / "office.secret")
    return folder / "island.store", folder / "office.secret"


def cells(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["area"], row["age"]): (row["published"], row.get("flag", ""))
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_protect_hides_and_tells(run: Run, island: Store, tmp_path: Path, engine: str) -> None:
    store, secret = island
    noise = ("--method", "cell-key", "--scheme", "CP3", "--secret", secret)
    arguments = ("--by", "area,age@class", *noise)
    plain, ruled = tmp_path / "plain.csv", tmp_path / "ruled.csv"
    run("protect", store, *arguments, "--out", plain)
    answer = run(
        "protect", store, *arguments, "--smallest-group", 30, "--engine", engine, "--out", ruled
    )
    assert answer.code == 0, answer.err
    assert "Groups of fewer than 30 are not broken down further." in answer.out
    before, after = cells(plain), cells(ruled)
    hidden = [cell for cell, (_, flag) in after.items() if flag]
    assert 0 < len(hidden) < len(after)
    for cell, (value, flag) in after.items():
        assert value == ("" if flag else before[cell][0])


def test_assess_says_what_is_guaranteed_and_only_to_the_office(
    run: Run, island: Store, tmp_path: Path
) -> None:
    store, secret = island
    arguments = ("--by", "area,age@class", "--scheme", "CP3", "--secret", secret, "--no-compare")
    answer = run("assess", store, *arguments, "--smallest-group", 30, "--out", tmp_path / "check")
    assert answer.code == 0
    assert "No cell of 26 or fewer units is broken down" in answer.out
    pages = {path.name: path.read_bytes() for path in (tmp_path / "check").iterdir()}
    for name, content in pages.items():
        if ".public." in name:
            assert b"26 or fewer" not in content
            assert b"fewer than 30" in content
    assert "is broken down" not in run("assess", store, *arguments).out


def test_compare_measures_tables_with_the_rule(run: Run, island: Store, tmp_path: Path) -> None:
    store, _ = island
    arguments = ("--table", "area,age@class", "--schemes", "CP3", "--lookups", "ascending")
    plain = run("compare", store, *arguments, "--out", tmp_path / "plain")
    ruled = run("compare", store, *arguments, "--smallest-group", 60, "--out", tmp_path / "ruled")
    assert plain.code == ruled.code == 0
    assert plain.out.split("CP3")[1:] != ruled.out.split("CP3")[1:]


def test_methods_without_a_bound_are_refused(run: Run, island: Store) -> None:
    store, secret = island
    answer = run(
        "protect", store, "--by", "sex", "--method", "light-touch", "--secret", secret,
        "--smallest-group", 9,
    )  # fmt: skip
    assert answer.code != 0
    assert "far from the truth" in answer.err
