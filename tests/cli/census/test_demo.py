from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shlex
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import sdcensus as sc
from sdcensus.cli.census.demo import next_commands, program
from sdcensus.cli.shared.run import run as run_command
from sdcensus.errors import Refused
from sdcensus.session.census.census import open_store
from sdcensus.session.demo import country as demonstration
from sdcensus.session.demo.publication import AXES, SHOWN
from tests.cli.conftest import Answer, Run, without_progress
from tests.microdata.settlement import dense

SMALL = ("--persons", "1200", "--seed", "5")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A demo in ``my island`` below a folder, shared by tests that leave it as it is."""

    folder: Path
    answer: Answer

    @property
    def island(self) -> Path:
        return self.folder / "my island"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    folder = tmp_path_factory.mktemp("shown")
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as environment,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        environment.chdir(folder)
        environment.setenv("COLUMNS", "80")
        code = run_command(["demo", "--out", "my island", *SMALL])
    return Demonstration(folder, Answer(code, out.getvalue(), without_progress(err.getvalue())))


@pytest.fixture
def demonstrated(shown: Demonstration, monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """The shared demo, in whose folder a test works: what it adds has names of its own."""
    monkeypatch.chdir(shown.folder)
    return shown


def commands_of(answer: Answer) -> list[str]:
    """What the demo proposes to try, as it stands on the console."""
    proposed = answer.out.split("What to try next\n")[1]
    return [line.strip() for line in proposed.splitlines() if line.startswith("  ")]


def test_the_demo_makes_loads_and_tabulates_a_country(shown: Demonstration) -> None:
    check_country(shown.answer, shown.island, "csv")
    assert [path.name for path in shown.folder.iterdir()] == ["my island"]


def test_the_files_of_a_country_may_be_parquet(run: Run, here: Path) -> None:
    answer = run("demo", *SMALL, "--files", "parquet")
    check_country(answer, here / "demo", "parquet")
    assert [path.name for path in here.iterdir()] == ["demo"]


def check_country(answer: Answer, demo: Path, files: str) -> None:
    assert answer.code == 0
    assert (demo / "country" / f"persons.{files}").is_file()
    assert (demo / "demo.secret").is_file()
    assert "1,200 persons" in answer.out
    # The table shows everybody once.
    total = next(line for line in answer.out.splitlines() if line.startswith("Total"))
    assert total.split()[-1] == "1,200"
    lines = answer.out.split("What to try next")[0].splitlines()
    # The sentence for readers depends on the keys, and sentences are wrapped on a terminal only.
    told = next(at for at, line in enumerate(lines) if line.startswith("What readers of it"))
    others = (*lines[: told + 1], *lines[told + 2 :])
    assert max(len(line.replace(demo.name, "demo")) for line in others) <= 80


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
    check_swapping(shown, here / "demo", area[1])


def check_swapping(shown: str, demo: Path, area: str) -> None:
    """The same table before and after households exchanged places, as both stores count it."""
    before, after = (
        [count for cell in dense(open_store(demo / name).tabulate(*AXES)).count for count in cell]
        for name in ("census.store", "swapped.store")
    )
    written = read(demo / "office" / "marital-status-swapped.csv")
    assert [int(row["original"]) for row in written] == before
    assert [int(row["swapped"]) for row in written] == after != before
    assert [row["swapped_and_cell_key"] for row in written] != [row["swapped"] for row in written]
    told = shown.split("exchange places before counting")[1]
    total = next(line.split() for line in told.splitlines() if line.startswith("Total"))
    row = next(r for r in written if (r["ed_label"], r["marital_status"]) == (area, "_T"))
    columns = ("original", "swapped", "swapped_and_cell_key")
    assert total[1:] == [f"{int(row[name]):,}" for name in columns]
    # Partners have as many persons: nobody is gained or lost by an area.
    totals = [row for row in written if row["marital_status"] == "_T"]
    assert all(row["original"] == row["swapped"] for row in totals)


@pytest.mark.skipif(os.name == "nt", reason="modes of files")
def test_what_is_for_the_office_only_its_owner_can_read(shown: Demonstration) -> None:
    office = shown.island / "office"
    assert stat.S_IMODE(office.stat().st_mode) == 0o700
    inside = list(office.rglob("*"))
    assert {stat.S_IMODE(one.stat().st_mode) for one in inside if one.is_file()} == {0o600}
    assert {stat.S_IMODE(one.stat().st_mode) for one in inside if one.is_dir()} == {0o700}
    assert {"assessment.html", "evaluation.xlsx"} <= {one.name for one in inside}


@pytest.mark.soak
def test_without_the_library_for_workbooks_there_is_csv(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    answer = run("demo", *SMALL)
    assert answer.code == 0
    assert "marital-status-cell-key.csv\n" in answer.out
    assert not list((here / "demo" / "published").glob("*.xlsx"))


def test_what_to_try_next_works(run: Run, demonstrated: Demonstration) -> None:
    proposed = commands_of(demonstrated.answer)
    assert len(proposed) >= 6
    for command in proposed:
        words = shlex.split(command)
        start = max(at for at, word in enumerate(words) if Path(word).stem == "sdcensus") + 1
        if "serve" in words:  # which would run until it is stopped
            words += ["--check"]
        answer = run(*words[start:])
        assert answer.code == 0, command
        # Notes on what the answer is and what was passed over, and what the noise of sums depends
        # on, whatever the data are; no warning, and nothing that a check finds too risky.
        said = ("note: ", "This is ", "caution: The noise of a sum", "caution: Small contri")
        assert all(line.startswith(said) for line in answer.err.splitlines()), answer.err
        assert answer.out
        for risk in ("falls short", "would give people away", "publish refuses", "accept-risk "):
            assert words[-1] == "--help" or risk not in answer.out, command


def test_the_european_programme_needs_a_name_as_other_plans_do(
    run: Run, demonstrated: Demonstration
) -> None:
    island = demonstrated.island
    plan, secret = island / "eu-plan.toml", ("--secret", island / "demo.secret")
    whole = (*secret, "--revision", "eu-programme")
    before = files_below(island)
    refused = run("publish", plan, *whole)
    assert refused.code == Refused.exit_code
    # The figures stand in the sentence that refuses: how many persons, of how many, in what.
    told = next(line for line in refused.err.splitlines() if line.startswith("  persons: "))
    assert re.search(r"[\d,]+ persons \([\d.]+ % of all\) stand alone in such cells", told)
    assert run("publish", plan, *whole, "--restart").err == refused.err
    assert run("publish", plan, *whole, "--out", island / "elsewhere").err == refused.err
    assert files_below(island) == before
    checked = run("plan", "check", plan, *secret)
    assert checked.code == 0
    assert f"warning: {told.strip()}" in checked.err.splitlines()
    # What would be evaluated changes nothing of it.
    text = plan.read_text(encoding="utf-8")
    assert text.count("evaluation = false") == 1
    changed = text.replace("evaluation = false", "evaluation = true")
    plan.write_text(changed, encoding="utf-8", newline="\n")
    assert run("publish", plan, *whole).err == refused.err
    plan.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(Refused) as caught:
        sc.publish(plan, secret=island / "demo.secret", revision="eu-programme")
    assert f"error: {caught.value}\n" == refused.err
    # By name it goes out, and the name is kept for those who approve.
    reason = ("--accept-risk", "Ana Ruiz", "--reason", "the regulation asks for every cell")
    assert run("publish", plan, *whole, *reason).code == 0
    verified = run("verify", island / "published-eu", "--office", island / "office")
    assert "Ana Ruiz (broken-down): the regulation asks for every cell" in verified.out
    # Both plans name the same office folder: the same people have the same number in both.
    national = read(island / "national" / "population.csv")
    european = read(island / "published-eu" / "eu-2021-3.1.csv")
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


def files_below(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_commands_to_try_name_a_program_that_exists(shown: Demonstration) -> None:
    called = program()
    assert all(command.startswith(called) for command in commands_of(shown.answer))
    assert called == "sdcensus" or Path(shlex.split(called)[0]).exists()


def test_the_proposed_commands_quote_paths_with_blanks(shown: Demonstration) -> None:
    store = str(Path("my island") / "census.store")
    assert f'describe "{store}"' in shown.answer.out


def test_times_and_sizes_are_shown(shown: Demonstration) -> None:
    assert re.search(r"making the country [\d.]+ m?s, loading it [\d.]+ m?s", shown.answer.out)
    assert re.search(r"persons\.csv +\d+ kB", shown.answer.out)


def test_the_demo_publishes_its_national_plan(run: Run, demonstrated: Demonstration) -> None:
    assert "A whole plan, published by one command" in demonstrated.answer.out
    national = demonstrated.island / "national"
    assert run("verify", national).code == 0
    names = {path.name for path in national.iterdir()}
    assert {"population.csv", "median-age.csv", "notes.en.html", "households.es.xlsx"} <= names


def test_a_folder_of_its_own_is_made_anew_and_keeps_what_others_put_there(
    run: Run, shown: Demonstration, here: Path
) -> None:
    """The same number gives the same country, with another secret and so with other noise."""
    shutil.copytree(shown.island, here / "demo")
    (here / "demo" / "mine.txt").write_text("keep me", encoding="utf-8", newline="\n")
    answer = run("demo", *SMALL, "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    for name, same in (
        ("country/persons.csv", True),
        ("demo.secret", False),
        ("published/marital-status-cell-key.csv", False),
    ):
        before, after = (folder / name for folder in (shown.island, here / "demo"))
        assert (before.read_bytes() == after.read_bytes()) == same
    assert (here / "demo" / "mine.txt").read_text(encoding="utf-8") == "keep me"
    assert [path.name for path in here.iterdir()] == ["demo"]


def test_an_empty_folder_is_used_and_another_number_gives_another_country(
    run: Run, shown: Demonstration, here: Path
) -> None:
    (here / "demo").mkdir()
    assert run("demo", "--persons", "1500", "--seed", "6", "-q").code == 0
    assert json.loads((here / "demo" / "demo.json").read_text(encoding="utf-8"))["persons"] == 1500
    persons = Path("country") / "persons.csv"
    assert (here / "demo" / persons).read_bytes() != (shown.island / persons).read_bytes()


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
    run: Run, shown: Demonstration, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(shown.island, here / "demo")
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


def test_every_proposed_command_belongs_to_the_demo(here: Path) -> None:
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
