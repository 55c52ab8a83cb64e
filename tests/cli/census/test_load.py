from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, Village
from tests.cli.tiny import PERSONS, write_village

FIRST = PERSONS[0]


def test_a_load_says_what_it_made(run: Run, village: Village, tmp_path: Path) -> None:
    store = tmp_path / "a.store"
    answer = run("load", village.schema, "--out", store, "--secret", village.secret)
    assert answer.code == 0
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["persons", "7"] in lines
    assert ["households", "4"] in lines
    assert f"sdcensus describe {store}" in answer.out
    assert answer.err == ""


def test_the_next_command_can_be_copied(run: Run, village: Village, tmp_path: Path) -> None:
    store = tmp_path / "census of 2021.store"
    answer = run("load", village.schema, "--out", store, "--secret", village.secret)
    assert f'sdcensus describe "{store}"' in answer.out


def test_quiet_prints_nothing(run: Run, village: Village, tmp_path: Path) -> None:
    arguments = ("--out", tmp_path / "a.store", "--secret", village.secret, "--quiet")
    answer = run("load", village.schema, *arguments)
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_the_secret_may_be_named_by_the_environment(
    run: Run, village: Village, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run("load", village.schema, "--out", tmp_path / "a.store")
    assert answer.code == 7
    assert "--secret" in answer.err
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(village.secret))
    assert run("load", village.schema, "--out", tmp_path / "a.store").code == 0


def test_problems_are_listed_without_values_of_identifiers_and_no_store_is_written(
    run: Run, village: Village, tmp_path: Path
) -> None:
    persons = [*PERSONS, ("E3", "1", "2", "Hal Secret", 7, 20, 0, "1"), FIRST]
    schema = write_village(tmp_path / "files", persons=persons)
    before = sorted(tmp_path.iterdir())
    arguments = ("--out", tmp_path / "a.store", "--secret", village.secret)
    answer = run("load", schema, *arguments)
    assert answer.code == 5
    assert answer.err.startswith("error: The files do not fit the schema")
    assert "sex: unknown code in 1 record (row 9)" in answer.err
    assert "duplicate id" in answer.err
    assert "Secret" not in answer.out + answer.err
    assert answer.out == ""
    lists = [tmp_path / f"a.store.problems{ending}" for ending in (".html", ".txt")]
    assert sorted(tmp_path.iterdir()) == sorted([*before, *lists])
    assert not any("Secret" in path.read_text(encoding="utf-8") for path in lists)


def test_problems_can_become_missing_values(run: Run, village: Village, tmp_path: Path) -> None:
    persons = [*PERSONS, ("E3", "1", "2", "Hal Secret", 7, 20, 0, "1")]
    schema = write_village(tmp_path / "files", persons=persons)
    store = tmp_path / "a.store"
    arguments = ("--out", store, "--secret", village.secret, "--on-problem", "missing")
    answer = run("load", schema, *arguments)
    assert answer.code == 0
    assert "sex: unknown code in 1 record" in answer.err
    shown = run("tabulate", store, "--by", "sex", "--show", "--confidential").out
    assert ["Not", "stated", "2"] in [line.split() for line in shown.splitlines()]


def test_every_mistake_of_the_schema_is_listed_with_its_line(
    run: Run, village: Village, tmp_path: Path
) -> None:
    schema = write_village(tmp_path / "files")
    text = schema.read_text(encoding="utf-8")
    text = text.replace('role = "geography"', 'role = "geografy"').replace(
        "range = [0, 99]", "range = [99, 0]"
    )
    schema.write_text(text, encoding="utf-8", newline="\n")
    numbers = {line: number for number, line in enumerate(text.splitlines(), start=1)}
    wrong = [numbers["range = [99, 0]"], numbers['role = "geografy"']]
    for command in (
        ("schema", "check", schema),
        ("load", schema, "--out", tmp_path / "a.store", "--secret", village.secret),
    ):
        answer = run(*command)
        assert answer.code == 3
        assert all(f"line {number}:" in answer.err for number in wrong)
    assert not (tmp_path / "a.store").exists()


def test_schema_check_says_what_the_schema_holds(run: Run, village: Village) -> None:
    answer = run("schema", "check", village.schema)
    assert answer.code == 0
    assert "Village census, Nowhere" in answer.out
    assert "ed + house + number" in answer.out
    assert "full_name" in answer.out
    assert answer.err == ""


def test_schema_check_notes_files_that_are_not_there_yet(run: Run, tmp_path: Path) -> None:
    schema = write_village(tmp_path / "files")
    (schema.parent / "persons.csv").unlink()
    answer = run("schema", "check", schema)
    assert answer.code == 0
    assert "persons.csv does not exist yet" in answer.err


@pytest.mark.parametrize("name", ["no.toml", "."])
def test_a_schema_that_cannot_be_read_is_an_error(
    run: Run, village: Village, tmp_path: Path, name: str
) -> None:
    arguments = ("--out", tmp_path / "a.store", "--secret", village.secret)
    answer = run("load", tmp_path / name, *arguments)
    assert answer.code == 5
    assert answer.err.startswith("error: ")
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_replaced_only_when_asked(run: Run, village: Village, tmp_path: Path) -> None:
    store = tmp_path / "a.store"
    arguments = ("load", village.schema, "--out", store, "--secret", village.secret)
    assert run(*arguments).code == 0
    answer = run(*arguments)
    assert answer.code == 8
    assert "--replace" in answer.err
    assert run(*arguments, "--replace").code == 0
    names = ["a.store", "a.store.report.html", "a.store.report.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_what_is_no_store_is_never_replaced(run: Run, village: Village, tmp_path: Path) -> None:
    precious = tmp_path / "folder"
    precious.mkdir()
    (precious / "thesis.txt").write_text("x", encoding="utf-8", newline="\n")
    arguments = ("--out", precious, "--secret", village.secret, "--replace")
    answer = run("load", village.schema, *arguments)
    assert answer.code == 8
    assert [one.name for one in precious.iterdir()] == ["thesis.txt"]


def test_a_terminal_shows_what_is_conspicuous_and_where_the_report_stands(
    run: Run, village: Village, tmp_path: Path
) -> None:
    """Besides what a load always says, there are findings and one sentence."""
    persons = [person for person in PERSONS if person[0] != "E3"]
    schema = write_village(tmp_path / "files", persons=persons)
    store = tmp_path / "a.store"
    answer = run("load", schema, "--out", store, "--secret", village.secret, "-l", "es")
    assert answer.code == 0
    made, *lines = answer.out.splitlines()
    assert made.startswith(f"Se creó {store} en ")
    assert [" ".join(line.split()) for line in lines] == [
        "hogares 4",
        "personas 6",
        "Hogares de personas: 6 coinciden tal como están escritos",
        "- Hogares sin personas: 1",
        "- Mucho es «no declarado» en income",
        "- Áreas de ed sin personas: 1",
        f"El informe completo, solo para la oficina: {store}.report.html, {store}.report.txt",
        f"Véalo con: sdcensus describe {store}",
    ]


def test_what_became_of_values_is_said_as_it_is(run: Run, village: Village, tmp_path: Path) -> None:
    persons = [*PERSONS, ("E3", "7", "1", "Hal Secret", 7, 20, 0, "1")]
    schema = write_village(tmp_path / "files", persons=persons)
    arguments = ("--out", tmp_path / "a.store", "--secret", village.secret)
    answer = run("load", schema, *arguments, "--on-problem", "missing", "--no-report")
    assert "sex: unknown code in 1 record (row 9); such as '7'. Now \"" in answer.err
    assert 'without households; what they would have from them is "not stated"' in answer.err
    assert "report" not in answer.out
    shown = run("tabulate", tmp_path / "a.store", "--by", "tenure", "--show", "--confidential").out
    assert ["Not", "stated", "1"] in [line.split() for line in shown.splitlines()]


def test_identities_are_looked_for_only_where_that_is_asked_for(
    run: Run, village: Village, tmp_path: Path
) -> None:
    """Sixty households, each with one married person and one who is not."""
    persons = [
        ("E1", house, number, "Secret", 9, 20 + house % 50, number - 1, "1")
        for house in range(1, 61)
        for number in (1, 2)
    ]
    schema = write_village(tmp_path / "files", persons=persons)
    with (schema.parent / "households.csv").open("w", encoding="utf-8", newline="") as file:
        file.write("ed,house,tenure,weight\n")
        file.writelines(f"E1,{house},O,1.00\n" for house in range(1, 61))
    store = tmp_path / "a.store"
    given = ("load", schema, "--out", store, "--secret", village.secret, "--replace")
    report = store.with_name("a.store.report.txt")
    plain = run(*given)
    assert (plain.code, plain.err) == (0, "")
    assert "[[identity]]" not in report.read_text(encoding="utf-8")
    assert "--propose" in report.read_text(encoding="utf-8")
    asked = run(*given, "--propose")
    assert asked.code == 0
    for text in (asked.err, report.read_text(encoding="utf-8")):
        assert text.count("[[identity]]") >= 2
        assert "married == '1'" in text
    assert "--propose" not in report.read_text(encoding="utf-8")
    spoken = run(*given, "--propose", "-l", "nl")
    assert "het schema zegt dat niet" in " ".join(spoken.err.split())
    # What is not declared is told by the design of a policy too.
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "p"\n', encoding="utf-8")
    designed = run("policy", "design", policy, store, "--confidential")
    assert "married == '1'" in designed.out
