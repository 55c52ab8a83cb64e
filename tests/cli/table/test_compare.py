from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcensus.session.perturbation import SCHEMES
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_store
from tests.cli.conftest import Run, Village

Store = tuple[Path, Path]


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of an island, and the file of its secret."""
    folder = tmp_path_factory.mktemp("island")
    island_store(folder / "island.store")
    write_secret(SECRET, folder / "office.secret")
    return folder / "island.store", folder / "office.secret"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_study_is_written(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    out = tmp_path / "study"
    answer = run("compare", store, "--by", "area,sex,age", "--out", out, "--secret", secret)
    assert (answer.code, answer.err) == (0, "")
    assert "2 tables, 8 methods" in answer.out
    assert "Each table is taken alone" in answer.out
    assert f"Wrote {out / 'study.html'}" in answer.out
    assert is_owner_only(out)
    found = rows(out / "all_results.csv")
    assert {row["scheme"] for row in found} == set(SCHEMES)
    assert {row["draw"] for row in found} == {"ascending", "independent", "hashed"}
    assert {row["table"] for row in found} == {"two-way", "three-way"}


def test_schemes_tables_and_draws_are_chosen(run: Run, island: Store, tmp_path: Path) -> None:
    store, _ = island
    out = tmp_path / "study"
    file = tmp_path / "tables.txt"
    file.write_text("age@class\n", encoding="utf-8", newline="\n")
    answer = run(
        *("compare", store, "--table", "area@district,sex", "--tables", file, "--out", out),
        *("--schemes", "cp1, CP3(1,2)", "--lookups", "ascending", "--where", "age > 4"),
    )
    assert (answer.code, answer.err) == (0, "")
    found = rows(out / "all_results.csv")
    assert [row["scheme"] for row in found] == ["CP1", "CP3(1,2)"] * 2
    assert [row["axes"] for row in rows(out / "tables.csv")] == ["area@district, sex", "age@class"]


def test_without_the_secret_the_hashed_look_up_is_left_out(
    run: Run, island: Store, tmp_path: Path
) -> None:
    out = tmp_path / "study"
    answer = run("compare", island[0], "--by", "sex,age@class", "--schemes", "CP1", "--out", out)
    assert answer.code == 0
    assert "hashed was left out" in answer.err
    assert {row["draw"] for row in rows(out / "all_results.csv")} == {"ascending", "independent"}


def test_axes_that_no_table_has_are_named(run: Run, island: Store, tmp_path: Path) -> None:
    answer = run(
        *("compare", island[0], "--by", "sex,area,age,married", "--ways", "2", "--schemes", "CP1"),
        *("--out", tmp_path / "study"),
    )
    assert answer.code == 0
    assert "note: no table has age, married." in answer.err


def test_quiet_says_nothing(run: Run, island: Store, tmp_path: Path) -> None:
    out = tmp_path / "study"
    answer = run("compare", island[0], "--by", "sex", "--out", out, "--schemes", "RR3", "-q")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert (out / "study.html").is_file()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--by", "sex,nothing"], 2, "There is no variable 'nothing'"),
        (["--by", "sex,age", "--ways", "3"], 2, "Ask for 1 to 2"),
        (["--by", "sex,age", "--ways", "two"], 2, "--ways takes whole numbers"),
        (["--by", "sex", "--schemes", "CP9"], 2, "There is no scheme 'CP9'"),
        (["--by", "sex", "--lookups", "fresh"], 2, "There is no look-up of a study 'fresh'"),
        (["--by", "sex", "--lookups", "hashed"], 7, "The office secret is needed"),
        (["--by", "sex", "--table", "age"], 2, "Give one of the two"),
        (["--table", "age", "--ways", "2"], 2, "Give one of the two"),
        (["--tables", "none.txt"], 5, "cannot be read"),
        ([], 2, "Name the tables of the study"),
        (["--by", "sex", "--where", "age >"], 2, "age >"),
        (["--by", "sex", "--language", "xx"], 2, "xx"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(
    run: Run, island: Store, tmp_path: Path, options: list[str], code: int, said: str
) -> None:
    answer = run("compare", island[0], "--out", tmp_path / "study", *options)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_refused_before_anything_is_counted(
    run: Run, village: Village, tmp_path: Path
) -> None:
    answer = run("compare", tmp_path / "no.store", "--by", "sex", "--out", tmp_path)
    assert answer.code == 8
    assert "already exists" in answer.err


def test_another_secret_is_refused(
    run: Run, island: Store, village: Village, tmp_path: Path
) -> None:
    out = tmp_path / "study"
    answer = run("compare", island[0], "--by", "sex", "--out", out, "--secret", village.secret)
    assert answer.code == 7
    assert "were made with the secret" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_grid_over_changed_records(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    out = tmp_path / "study"
    answer = run(
        *("compare", store, "--by", "area,age", "--out", out, "--secret", secret),
        *("--method", "drop-records where='age > 7' | cell-key"),
        *("--grid", "max_deviation=2,3,4 variance=1,2 blocked=0,2"),
    )
    assert answer.code == 0
    assert "12 points of the grid, 1 changes of records." in answer.err
    measures = rows(out / "further_measures.csv")
    left_out = rows(out / "left_out.csv")
    assert len(measures) + len(left_out) == 12
    assert left_out
    assert all("blocked=2" in row["scheme"] and row["reason"] for row in left_out)
    best = [row for row in measures if row["on_the_frontier"] == "1"]
    assert best
    for row in best:
        risk, change = float(row["R"]), float(row["mean_absolute_distance"])
        assert not any(
            float(other["R"]) < risk and float(other["mean_absolute_distance"]) < change
            for other in measures
        )
    assert {row["before"] for row in measures} == {"drop-records 'where=age > 7'"}
    assert "12 points" in answer.err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--grid", "variance=" + ",".join(map(str, range(1, 102)))], 2, "101 points"),
        (["--grid", "nothing=1"], 2, "parameter of the grid"),
        (["--method", "drop-records where='age > 7'"], 7, "office secret is needed"),
        (["--study", "ons"], 2, "--table AXES"),
        (["--study", "other"], 2, "ons"),
    ],
)
def test_mistakes_of_grids_and_presets(
    run: Run, island: Store, tmp_path: Path, options: list[str], code: int, said: str
) -> None:
    by = [] if "--study" in options else ["--by", "area,age"]
    answer = run("compare", island[0], "--out", tmp_path / "study", *by, *options)
    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []
