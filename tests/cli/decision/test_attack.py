"""``sdcensus attack`` at the prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdcensus.formats.write import write_table
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_store
from tests.attack.made import cell_key, combined, publish, questionnaire
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


def test_groups_of_few_are_told_with_what_was_read_off(
    run: Run, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    folder = tmp_path_factory.mktemp("groups")
    census = questionnaire(150, areas=20, answers=6, codes=4)
    for at, one in enumerate(publish(census, cell_key("CP4"), *combined(census, 3, "area"))):
        assert one.provenance is not None
        write_table(one.table, folder / f"t{at}.csv", provenance=one.provenance)
    out = tmp_path / "found.json"
    answer = run("attack", folder, "--attacks", "patterns,twins", "--out", out)
    assert answer.code == 0
    assert "groups of 1 to 3" in answer.out
    assert "1 person" in answer.out
    document = json.loads(out.read_text(encoding="utf-8"))
    patterns = document["attacks"][0]
    assert patterns["groups_claimed"] == len(patterns["groups"]) > 0
    assert patterns["groups"][0]["attributes"]
    table = tmp_path / "found.csv"
    assert run("attack", folder, "--attacks", "patterns", "--out", table).code == 0
    first, *rest = table.read_text(encoding="utf-8").splitlines()
    assert "attributes" in first
    assert len(rest) == patterns["groups_claimed"]


def test_the_menu_of_a_policy_is_walked_through(run: Run, office: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'name = "Test"\n[limits]\ndimensions = 2\ncells = 1000\n[online]\nrecovery = 0.99\n',
        encoding="utf-8",
        newline="\n",
    )
    secret = tmp_path / "office.secret"
    write_secret(SECRET, secret)
    store = office / "census.store"
    answer = run(
        *("attack", store, "--policy", policy, "--secret", secret),
        *("--areas", "country,parish", "--attacks", "patterns,twins", "--tables", "3"),
        *("--score", store, "--confidential"),
    )
    assert answer.code == 0, answer.err
    assert "Attacks on 3 published tables in the menu of 'Test'" in answer.out
    assert "found of" in answer.out
    assert "further tables" in answer.err


def test_sources_that_make_no_sense_are_refused(run: Run, office: Path, tmp_path: Path) -> None:
    published, policy = office / "published", tmp_path / "policy.toml"
    for arguments, said in [
        (("http://127.0.0.1:9", "--policy", policy), "policy of its own"),
        ((published, "--plan", policy), "--plan goes with --policy"),
        ((published, "--keep", tmp_path / "kept"), "--keep is for"),
        ((published, "--group-limit", "1"), "probability"),
    ]:
        answer = run("attack", *arguments)
        assert answer.code == 2, answer.err
        assert said in answer.err
    assert run("attack", "http://127.0.0.1:9").code != 0
