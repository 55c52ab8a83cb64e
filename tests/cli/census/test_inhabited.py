"""Where only inhabited squares are listed, that decision is named wherever the squares are."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.gridland import gridland

GRID = "epsg = 3035, cells = [100, 1000], extent = [0, 0, 900000, 1000000]"
WORDS = "which squares are inhabited is published as such"


def test_the_decision_is_named(run: Run, tmp_path: Path) -> None:
    land = gridland(tmp_path, [(50, 50), (899_950, 50)], f"{GRID}, inhabited = true")
    loaded = run("load", land.schema, "--out", land.store, "--secret", land.secret)
    assert loaded.code == 0, loaded.err
    assert WORDS in " ".join((loaded.out + loaded.err).split())
    assert WORDS in " ".join(run("describe", land.store).out.split())
    for axis, named in (("ed_grid@1km", True), ("sex", False)):
        out = tmp_path / f"{axis}.json"
        made = run(
            *["protect", land.store, "--by", axis, "--method", "random-rounding"],
            *["--secret", land.secret, "--out", out],
        )
        assert made.code == 0, made.err
        text = " ".join(path.read_text(encoding="utf-8") for path in tmp_path.glob(f"{axis}*"))
        assert (WORDS in text) is named


def test_too_many_squares_without_the_decision_are_refused(run: Run, tmp_path: Path) -> None:
    land = gridland(tmp_path, [(50, 50)], GRID)
    refused = run("load", land.schema, "--out", land.store, "--secret", land.secret)
    assert refused.code != 0
    words = " ".join(refused.err.split())
    assert "90,000,000 cells; at most 2,000,000" in words
    assert "inhabited = true" in words
    assert not land.store.exists()


PLAN = """\
store = "census.store"

[[table]]
name = "squares"
rows = ["ed_grid@1km"]

[protect]
method = "cell-key"
strength = "strong"
"""


def test_the_notes_of_a_publication_name_the_decision(run: Run, tmp_path: Path) -> None:
    land = gridland(tmp_path, [(50, 50), (899_950, 50)] * 30, f"{GRID}, inhabited = true")
    land.load()
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    out = tmp_path / "published"
    made = run("publish", plan, "--out", out, "--secret", land.secret)
    assert made.code == 0, made.err
    pages = [path.read_text(encoding="utf-8") for path in out.rglob("notes*.html")]
    assert pages
    assert all(WORDS in " ".join(page.split()) for page in pages)
