from __future__ import annotations

import csv
import json
import os
import re
import shlex
import stat
import sys
from pathlib import Path

import pytest

from sdcensus.cli.census.demo import next_commands, program
from sdcensus.session.demo import country as demonstration
from sdcensus.session.demo.publication import SHOWN
from tests.cli.conftest import Answer, Run

SMALL = ("--persons", "1200", "--seed", "5")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands_of(answer: Answer) -> list[str]:
    """What the demo proposes to try, as it stands on the console."""
    proposed = answer.out.split("What to try next\n")[1]
    return [line.strip() for line in proposed.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("files", ["csv", "parquet"])
def test_the_demo_makes_loads_and_tabulates_a_country(run: Run, here: Path, files: str) -> None:
    answer = run("demo", *SMALL, "--files", files)
    assert answer.code == 0
    assert (here / "demo" / "country" / f"persons.{files}").is_file()
    assert (here / "demo" / "demo.secret").is_file()
    assert "1,200 persons" in answer.out
    # The table shows everybody once.
    total = next(line for line in answer.out.splitlines() if line.startswith("Total"))
    assert total.split()[-1] == "1,200"
    lines = answer.out.split("What to try next")[0].splitlines()
    # The sentence for readers depends on the keys, and sentences are wrapped on a terminal only.
    told = next(at for at, line in enumerate(lines) if line.startswith("What readers of it"))
    assert max(len(line) for line in (*lines[: told + 1], *lines[told + 2 :])) <= 80
    assert sorted(one.name for one in here.iterdir()) == ["demo"]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_demo_ends_with_protected_tables(run: Run, here: Path) -> None:
    # With enough areas that some total is not the sum of its parts, whatever the secret is.
    answer = run("demo", "--persons", "8000")
    shown = answer.out.split("One table, as the office knows it")[1].split("What to try next")[0]
    public, office = here / "demo" / "published", here / "demo" / "office"
    methods = [name for _, name, _ in SHOWN]
    assert len(methods) == 4
    for name in methods:
        stem = f"marital-status-{name}"
        assert {path.name for path in public.glob(f"{stem}.*")} == {
            *(f"{stem}.csv", f"{stem}.about.json", f"{stem}.xlsx")
        }
    compared = read(office / "marital-status-compared.csv")
    for name in methods:
        published = [row["published"] for row in read(public / f"marital-status-{name}.csv")]
        assert published == [row[name.replace("-", "_")] for row in compared]
        assert published != [row["count"] for row in compared]
    # What stands on the console is one area of these files.
    area = re.search(r"Enumeration district: (.+?)\. Persons", shown)
    assert area is not None
    total = next(line.split() for line in shown.splitlines() if line.startswith("Total"))
    columns = ["count", *(name.replace("-", "_") for name in methods)]
    written = next(
        row for row in compared if (row["ed_label"], row["marital_status"]) == (area[1], "_T")
    )
    assert total[1:] == [f"{int(written[name]):,}" for name in columns]
    # The note that is shown is the one in the file, about the same area.
    about = json.loads((public / "marital-status-cell-key.about.json").read_text(encoding="utf-8"))
    note = next(one["en"] for one in about["notes"] if "Example" in one["en"])
    assert note in shown
    assert f"(Enumeration district: {area[1]})" in note
    assert f"is {total[2]}. Each value" in note


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
def test_what_is_for_the_office_only_its_owner_can_read(run: Run, here: Path) -> None:
    run("demo", *SMALL, "-q")
    office = here / "demo" / "office"
    assert stat.S_IMODE(office.stat().st_mode) == 0o700
    inside = list(office.rglob("*"))
    assert {stat.S_IMODE(one.stat().st_mode) for one in inside if one.is_file()} == {0o600}
    assert {stat.S_IMODE(one.stat().st_mode) for one in inside if one.is_dir()} == {0o700}
    assert {"assessment.html", "evaluation.xlsx"} <= {one.name for one in inside}


@pytest.mark.soak
def test_published_files_of_an_earlier_demo_are_made_anew(run: Run, here: Path) -> None:
    run("demo", *SMALL, "-q")
    table = here / "demo" / "published" / "marital-status-cell-key.csv"
    first = table.read_bytes()
    assert run("demo", *SMALL, "-q").code == 0
    assert table.read_bytes() != first  # with another secret


@pytest.mark.soak
def test_without_the_library_for_workbooks_there_is_csv(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    answer = run("demo", *SMALL)
    assert answer.code == 0
    assert "marital-status-cell-key.csv\n" in answer.out
    assert not list((here / "demo" / "published").glob("*.xlsx"))


def test_what_to_try_next_works(run: Run, here: Path) -> None:
    proposed = commands_of(run("demo", "--out", "my island", *SMALL))
    assert len(proposed) >= 6
    for command in proposed:
        words = shlex.split(command)
        start = max(at for at, word in enumerate(words) if Path(word).stem == "sdcensus") + 1
        if "serve" in words:  # which would run until it is stopped
            words += ["--check"]
        answer = run(*words[start:])
        assert answer.code == 0, command
        # Notes on what the answer is, what was passed over, what is nearly the same, and what the
        # tables that the EU requires show twice; nothing else.
        said = ("note: ", "warning: ", "caution: persons by ", "This is ")
        assert all(line.startswith(said) for line in answer.err.splitlines()), answer.err
        assert answer.out


def test_the_commands_to_try_name_a_program_that_exists(run: Run, here: Path) -> None:
    called = program()
    proposed = commands_of(run("demo", *SMALL))
    assert all(command.startswith(called) for command in proposed)
    assert called == "sdcensus" or Path(shlex.split(called)[0]).exists()


@pytest.mark.soak
def test_the_proposed_commands_quote_paths_with_blanks(run: Run, here: Path) -> None:
    answer = run("demo", "--out", "my island", *SMALL)
    store = str(Path("my island") / "census.store")
    assert f'describe "{store}"' in answer.out


@pytest.mark.soak
def test_the_same_number_gives_the_same_country(run: Run, here: Path) -> None:
    for name in ("one", "two"):
        assert run("demo", "--out", name, *SMALL, "--quiet").code == 0
    first, second = (here / name / "country" / "persons.csv" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()
    assert run("demo", "--out", "three", "--persons", "1200", "--seed", "6", "-q").code == 0
    assert (here / "three" / "country" / "persons.csv").read_bytes() != first.read_bytes()


@pytest.mark.soak
def test_a_folder_of_its_own_is_made_anew_and_keeps_what_others_put_there(
    run: Run, here: Path
) -> None:
    assert run("demo", *SMALL).code == 0
    secret = (here / "demo" / "demo.secret").read_bytes()
    (here / "demo" / "mine.txt").write_text("keep me", encoding="utf-8", newline="\n")
    answer = run("demo", "--persons", "1500")
    assert answer.code == 0
    assert "1,500 persons" in answer.out
    assert (here / "demo" / "demo.secret").read_bytes() != secret
    assert (here / "demo" / "mine.txt").read_text(encoding="utf-8") == "keep me"
    assert json.loads((here / "demo" / "demo.json").read_text(encoding="utf-8"))["persons"] == 1500
    assert [one.name for one in here.iterdir()] == ["demo"]


def test_a_folder_of_somebody_else_is_left_alone(run: Run, here: Path) -> None:
    thesis = here / "demo" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("x", encoding="utf-8", newline="\n")
    answer = run("demo", *SMALL)
    assert answer.code == 8
    assert "was not made by sdcensus demo" in answer.err
    assert [one.name for one in thesis.parent.iterdir()] == ["thesis.txt"]
    assert run("demo", "--out", thesis, *SMALL).code == 8
    assert run("demo", "--out", here, *SMALL).code == 8
    assert [one.name for one in here.iterdir()] == ["demo"]


@pytest.mark.soak
def test_an_empty_folder_is_used(run: Run, here: Path) -> None:
    (here / "demo").mkdir()
    assert run("demo", *SMALL, "-q").code == 0
    assert (here / "demo" / "census.store").is_dir()


def test_a_demo_that_fails_leaves_the_earlier_one(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("demo", *SMALL)
    before = {path: path.stat().st_size for path in here.rglob("*") if path.is_file()}

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(demonstration, "load", full)
    answer = run("demo", *SMALL)
    assert answer.code == 8
    assert "No space left" in answer.err
    assert {path: path.stat().st_size for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["--preset", "small-island", "--persons", "1000"],
        ["--persons", "3"],
        ["--preset", "atlantis"],
        ["--seed", "-1"],
        ["--files", "xml"],
    ],
)
def test_a_country_that_cannot_be_made_is_explained(
    run: Run, here: Path, arguments: list[str]
) -> None:
    answer = run("demo", *arguments)
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert list(here.iterdir()) == []


def test_quiet_prints_nothing(run: Run, here: Path) -> None:
    answer = run("demo", *SMALL, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


@pytest.mark.soak
def test_times_and_sizes_are_shown(run: Run, here: Path) -> None:
    answer = run("demo", *SMALL)
    assert re.search(r"making the country [\d.]+ m?s, loading it [\d.]+ m?s", answer.out)
    assert re.search(r"persons\.csv +\d+ kB", answer.out)


def test_every_proposed_command_belongs_to_the_demo(run: Run, here: Path) -> None:
    made = demonstration.make_demonstration(
        Path("demo"),
        country=demonstration.choose_country(None, 1200),
        seed=5,
        file_format="csv",
        progress=lambda stage, done: None,
    )
    assert all(command.startswith("sdcensus ") for command in next_commands(made))
    assert made.store.is_dir()
    assert all(path.is_file() for path, _ in made.files)


def test_the_demo_publishes_its_national_plan(run: Run, here: Path) -> None:
    answer = run("demo", *SMALL)
    assert "A whole plan, published by one command" in answer.out
    folder = here / "demo"
    checked = run("verify", folder / "national")
    assert checked.code == 0
    names = {path.name for path in (folder / "national").iterdir()}
    assert {"population.csv", "median-age.csv", "notes.en.html", "households.es.xlsx"} <= names
    # Both plans name the same office folder: the same people have the same number in both.
    eu = run("publish", folder / "eu-plan.toml", "--secret", folder / "demo.secret", "-q")
    assert eu.code == 0
    national = read(folder / "national" / "population.csv")
    european = read(folder / "published-eu" / "eu-2021-3.1.csv")
    ours = {
        (row["ed"], row["sex"].replace("_T", "0")): row["published"]
        for row in national
        if row["age"] == "_T" and row["ed"] != "_T"
    }
    theirs = {
        (row["GEO.H"], row["SEX"]): row["published"] for row in european if row["AGE.M"] == "0"
    }
    assert ours
    assert ours == {place: theirs[place] for place in ours}
