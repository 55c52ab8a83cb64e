"""``sdcensus attack`` at the prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdcensus.formats.tables import write_table
from sdcensus.testing.island import island_store
from tests.attack.made import cell_key, publish
from tests.cli.conftest import Run

TABLES = (("area+district", "age", "sex"), ("area", "age@class", "married", "sex"))


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, and what was published from it."""
    root = tmp_path_factory.mktemp("office")
    census = island_store(root / "census.store")
    (root / "published").mkdir()
    for at, one in enumerate(publish(census, cell_key("CP1"), *TABLES)):
        assert one.provenance is not None
        path = root / "published" / f"t{at}.csv"
        write_table(one.table, path, provenance=one.provenance)
    return root


def test_what_an_intruder_learns_is_told(run: Run, office: Path) -> None:
    answer = run("attack", office / "published", "--max-deviation", "1")
    assert answer.code == 0
    assert "2 published tables" in answer.out
    assert "An intruder who knows that no count was changed by more than 1" in answer.out
    assert "certain*" in answer.out
    assert "truth" not in answer.out
    assert "may find more" in answer.out


def test_scores_need_the_word(run: Run, office: Path, tmp_path: Path) -> None:
    published, store = office / "published", office / "census.store"
    refused = run("attack", published, "--score", store)
    assert refused.code == 4
    assert "--confidential" in refused.err
    out = tmp_path / "scores.csv"
    answer = run(
        *("attack", published, "--max-deviation", "1", "--score", store),
        *("--confidential", "--score-out", out),
    )
    assert answer.code == 0
    assert "Beside the truth (confidential)" in answer.out
    assert out.exists()
    assert run("attack", published, "--score-out", out).code == 2


def test_the_report_is_written(run: Run, office: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    answer = run("attack", office / "published", "--attacks", "gaps,averaging", "--out", out)
    assert answer.code == 0
    document = json.loads(out.read_text(encoding="utf-8"))
    assert [one["attack"] for one in document["attacks"]] == ["gaps", "averaging"]
    again = run("attack", office / "published", "--out", out)
    assert again.code == 8


def test_bad_folders_and_options_are_refused(run: Run, office: Path, tmp_path: Path) -> None:
    published = office / "published"
    for arguments, code, said in [
        ((tmp_path / "nowhere",), 5, "does not exist"),
        ((tmp_path,), 5, "no published table"),
        ((published, "--attacks", "magic"), 2, "no attack 'magic'"),
        ((published, "--attacks", ","), 2, "needs names"),
        ((published, "--limit", "2"), 2, "probability"),
        ((published, "--max-deviation", "-1"), 2, "0 or more"),
        ((published, "--variance", "nan"), 2, "variance"),
        ((published, "--score", tmp_path / "no.store", "--confidential"), 6, "no.store"),
    ]:
        answer = run("attack", *arguments)
        assert answer.code == code, answer.err
        assert said in answer.err


def test_unreadable_files_are_left_out_when_asked(run: Run, office: Path, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    folder.mkdir()
    for one in (office / "published").iterdir():
        (folder / one.name).write_bytes(one.read_bytes())
    (folder / "words.csv").write_text("a,b\nx,y\n", encoding="utf-8", newline="\n")
    assert run("attack", folder).code == 5
    answer = run("attack", folder, "--skip-unreadable", "--attacks", "gaps")
    assert answer.code == 0
    assert "words.csv" in answer.err
