from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, Village


def test_a_draft_can_be_checked_and_loaded(run: Run, village: Village, tmp_path: Path) -> None:
    files = village.schema.parent
    out = tmp_path / "draft"
    answer = run("schema", "draft", files / "persons.csv", "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert f"Wrote {out / 'schema.toml'}" in answer.out
    assert "Never stored, because they identify records: house, number, full_name" in answer.out
    assert "guessed" in answer.out
    assert run("schema", "check", out / "schema.toml").code == 0
    store = tmp_path / "draft.store"
    arguments = ("--out", store, "--secret", village.secret)
    loaded = run("load", out / "schema.toml", *arguments)
    assert (loaded.code, loaded.err) == (0, "")
    shown = run("tabulate", store, "--by", "sex", "--show", "--confidential")
    assert ["Total", "7"] in [line.split() for line in shown.out.splitlines()]


def test_a_draft_never_overwrites(run: Run, village: Village, tmp_path: Path) -> None:
    persons = village.schema.parent / "persons.csv"
    schema = tmp_path / "schema.toml"
    schema.write_text("precious", encoding="utf-8", newline="\n")
    answer = run("schema", "draft", persons, "--out", tmp_path)
    assert answer.code == 8
    assert answer.err.startswith("error: ")
    assert schema.read_text(encoding="utf-8") == "precious"
    assert [one.name for one in tmp_path.iterdir()] == ["schema.toml"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["none.csv"], 5),
        (["persons.csv", "--decimal", "point"], 5),
        (["."], 5),
        (["persons.csv", "--format", "papyrus"], 2),
        (["persons.csv", "--encoding", "klingon"], 5),
        ([], 2),
    ],
)
def test_a_draft_of_what_cannot_be_read_is_an_error(
    run: Run,
    village: Village,
    tmp_path: Path,
    arguments: list[str],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(village.schema.parent)
    answer = run("schema", "draft", *arguments, "--out", tmp_path / "draft")
    assert answer.code == code
    assert answer.err.startswith("error: ")
    assert not (tmp_path / "draft").exists()


def test_a_file_that_is_not_there_is_told_before_its_format(run: Run, tmp_path: Path) -> None:
    answer = run("schema", "draft", tmp_path / "none", "--out", tmp_path / "draft")
    assert answer.code == 5
    assert "does not exist" in answer.err


def test_quiet_prints_nothing(run: Run, village: Village, tmp_path: Path) -> None:
    persons = village.schema.parent / "persons.csv"
    answer = run("schema", "draft", persons, "--out", tmp_path / "draft", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    answer = run("schema", "check", tmp_path / "draft" / "schema.toml", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
