"""The whole road of groups of squares: made, looked at, published square by square."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.gridland import Gridland, gridland
from tests.microdata.test_multilevel_grid import GRID, village


@pytest.fixture(scope="module")
def land(tmp_path_factory: pytest.TempPathFactory) -> Gridland:
    points, sizes = village()
    land = gridland(tmp_path_factory.mktemp("land"), points, GRID, sizes=sizes)
    land.load()
    return land


def test_groups_are_made_and_published_square_by_square(
    run: Run, land: Gridland, tmp_path: Path
) -> None:
    said = ("--variable", "ed_grid", "--at-least", "11", "--secret", land.secret)
    plan = run("grid", land.store, *said, "--plan")
    assert plan.code == 0, plan.err
    assert ["200", "m", "0", "2", "0"] in [line.split() for line in plan.out.splitlines()]
    store = tmp_path / "g.store"
    made = run("grid", land.store, *said, "--out", store)
    assert made.code == 0, made.err
    assert "squares-and-groups.csv" in made.out
    table, squares = tmp_path / "t.csv", tmp_path / "s.csv"
    answer = run(
        *["protect", store, "--by", "ed_grid@groups,sex", "--method", "random-rounding"],
        *["--secret", land.secret, "--out", table, "--squares", squares],
    )
    assert answer.code == 0, answer.err
    published = {
        (row["ed_grid"], row["sex"]): row["published"]
        for row in csv.DictReader(io.StringIO(table.read_text(encoding="utf-8")))
    }
    rows = list(csv.DictReader(io.StringIO(squares.read_text(encoding="utf-8"))))
    assert list(rows[0]) == ["square", "group", "shared", "sex", "published"]
    assert len({row["square"] for row in rows}) == 32
    assert len(rows) == 32 * 3
    sizes = Counter(row["group"] for row in rows if row["sex"] == "1")
    for row in rows:
        assert row["published"] == published[row["group"], row["sex"]]
        assert row["shared"] == str(int(sizes[row["group"]] > 1))
    assert {row["shared"] for row in rows} == {"0", "1"}


@pytest.mark.parametrize(
    ("by", "more", "words"),
    [
        ("sex", ("--out", "t.csv"), "a table with one grid"),
        ("ed_grid@200m+400m", ("--out", "t.csv"), "several levels of squares"),
        ("ed_grid@200m", (), "--squares goes with the published table"),
    ],
)
def test_squares_need_a_table_by_one_level_of_a_grid(
    run: Run, land: Gridland, tmp_path: Path, by: str, more: tuple[str, ...], words: str
) -> None:
    told = [str(tmp_path / one) if one.endswith(".csv") else one for one in more]
    answer = run(
        *["protect", land.store, "--by", by, "--method", "random-rounding", "--yes"],
        *["--secret", land.secret, *told, "--squares", tmp_path / "s.csv"],
    )
    assert answer.code != 0
    assert words in " ".join(answer.err.split())
    assert not list(tmp_path.iterdir())
