from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.method.registry import methods_for_counts
from sdcensus.store.registry import Registry
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island, island_store
from tests.cli.conftest import Run
from tests.report.reading import read_page

Store = tuple[Path, Path]
MISSING = re.compile(r"\b(nan|inf|None)\b")


@pytest.fixture(scope="module")
def island_files(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of an island, and the file of its secret."""
    folder = tmp_path_factory.mktemp("island")
    island_store(folder / "island.store")
    write_secret(SECRET, folder / "office.secret")
    return folder / "island.store", folder / "office.secret"


def plan(folder: Path, store: Path, more: str = "") -> Path:
    path = folder / "plan.toml"
    text = f"""\
store = "{store.as_posix()}"

[[table]]
name = "age-by-district"
title = {{ en = "Age by district" }}
rows = ["age@class"]
columns = ["area@district"]

[[table]]
name = "sex"
rows = ["sex", "area"]
universe = "age < 5"

[protect]
method = "cell-key"
strength = "medium"
{more}"""
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_a_table_is_assessed_and_written(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    out = tmp_path / "check"
    answer = run(
        *("assess", store, "--by", "area,age", "--secret", secret, "--scheme", "CP1"),
        *("--out", out, "--date", "1 March 2026", "--confidential"),
    )
    assert answer.code == 0
    assert answer.out.startswith("Persons by area and age\nTaken alone, this table gives ")
    assert "Without protection, an intruder could learn" in answer.out
    assert "What readers lose" in answer.out
    assert not MISSING.search(answer.out)
    names = ["assessment.html", "assessment.public.html", "evaluation.xlsx"]
    assert sorted(one.name for one in out.iterdir()) == names
    for name in names:
        kind = "may be published" if "public" in name else "confidential"
        assert re.search(rf"Wrote .*{re.escape(name)} \(.*; {kind}\)\.", answer.out)
    if os.name == "posix":
        assert stat.S_IMODE(out.stat().st_mode) == 0o700
        assert {stat.S_IMODE(one.stat().st_mode) for one in out.iterdir()} == {0o600}
    page = read_page((out / names[0]).read_text(encoding="utf-8")).text
    public = read_page((out / names[1]).read_text(encoding="utf-8")).text
    again = "sdcensus assess island.store --by area,age --scheme CP1"
    assert f"Reproduce with {again} ." in page
    assert "1 March 2026" in page
    assert "1 March 2026" in public
    assert "CP1" not in public


@pytest.mark.parametrize("name", methods_for_counts())
def test_every_method_is_assessed(run: Run, island_files: Store, name: str) -> None:
    store, secret = island_files
    answer = run(
        *("assess", store, "--by", "area,sex", "--method", name, "--secret", secret),
        *("--no-compare", "--confidential"),
    )
    assert answer.code == 0
    assert "Write the page to be signed with --out FOLDER." in answer.out
    assert not MISSING.search(answer.out)
    assert "not measured" not in answer.err


def test_single_cells_are_named_only_if_it_is_said_that_they_are_confidential(
    run: Run, island_files: Store
) -> None:
    store, secret = island_files
    arguments = ("assess", store, "--by", "area,age", "--secret", secret, "--no-compare")
    silent, told = run(*arguments), run(*arguments, "--confidential")
    assert silent.code == told.code == 0
    assert "for example:" not in silent.out
    assert "--confidential" in silent.out
    assert "for example:" in told.out


def test_a_folder_that_is_there_is_left_alone(
    run: Run, island_files: Store, tmp_path: Path
) -> None:
    store, secret = island_files
    arguments = ("assess", store, "--by", "sex", "--secret", secret, "--confidential")
    answer = run(*arguments, "--out", tmp_path)
    assert answer.code != 0
    assert "already exists" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_published_file_is_assessed(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    table = tmp_path / "table.csv"
    made = ("--by", "area@district,sex", "--method", "cell-key", "--secret", secret)
    assert run("protect", store, *made, "--out", table).code == 0
    alone = run("assess", store, "--published", table, "--confidential")
    assert alone.code == 0
    assert "names no largest change" in alone.out
    known = run(
        *("assess", store, "--published", table, "--strength", "medium", "--secret", secret),
        *("--confidential", "--out", tmp_path / "check"),
    )
    assert known.code == 0
    assert "names no largest change" not in known.out
    assert "and which counts can lead to" in " ".join(known.out.split())
    page = read_page((tmp_path / "check" / "assessment.html").read_text(encoding="utf-8")).text
    assert "fingerprint of the parameters" in page
    both = run("assess", store, "--published", table, "--by", "sex", "--confidential")
    assert both.code != 0
    assert "leave --by out" in both.err


def test_a_file_of_another_census_is_refused(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    table = tmp_path / "table.csv"
    made = ("--by", "area@district,sex", "--method", "cell-key", "--secret", secret)
    assert run("protect", store, *made, "--out", table).code == 0
    other = tmp_path / "other.store"
    island_store(other, 300, seed=8)
    answer = run("assess", other, "--published", table, "--confidential")
    assert answer.code != 0
    assert "made from other records than this store holds" in answer.err


def test_all_tables_of_a_plan_together(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    file = plan(tmp_path, store)
    out = tmp_path / "check"
    answer = run(
        *("assess", file, "--secret", secret, "--recovery-limit", "0.2", "--confidential"),
        *("--out", out),
    )
    assert answer.code == 0
    assert "age-by-district: Age by district" in answer.out
    assert "All 2 tables of the plan of persons" in answer.out
    assert "the limit of 0.2 that the office named" in answer.out
    assert sorted(one.name for one in out.iterdir()) == [
        "age-by-district.assessment.html",
        "age-by-district.assessment.public.html",
        "evaluation.xlsx",
        "sex.assessment.html",
        "sex.assessment.public.html",
    ]
    rows = CalamineWorkbook.from_path(out / "evaluation.xlsx").get_sheet_by_name("With margins")
    names = [str(row[1]) for row in rows.to_python(skip_empty_area=False)[4:]]
    assert ["age-by-district" in names[0], "sex" in names[1]] == [True, True]
    page = (out / "age-by-district.assessment.html").read_text(encoding="utf-8")
    assert "Persons by age (class) and area (district)" in read_page(page).text


def test_one_table_of_a_plan(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    file = plan(tmp_path, store)
    answer = run("assess", file, "--table", "sex", "--secret", secret, "--confidential")
    assert answer.code == 0
    assert "Age by district" not in answer.out
    wrong = run("assess", file, "--table", "six", "--secret", secret, "--confidential")
    assert wrong.code != 0
    assert "sex" in wrong.err


def test_weighted_tables_of_a_plan_are_named(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    more = '\n[[table]]\nname = "heavy"\nrows = ["sex"]\nmeasure = "weighted"\n'
    file = plan(tmp_path, store, more)
    answer = run("assess", file, "--secret", secret, "--confidential")
    assert answer.code == 0
    assert "not assessed: heavy: " in answer.err
    assert "weighted counts are not assessed" in answer.err
    named = run("assess", file, "--table", "heavy", "--secret", secret, "--confidential")
    assert named.code != 0
    assert "weighted counts are not assessed" in named.err


@pytest.mark.parametrize(
    "options",
    [("--by", "sex"), ("--published", "x.csv"), ("--scheme", "CP1"), ("--method", "light-touch")],
)
def test_a_plan_says_itself_what_and_how(
    run: Run, island_files: Store, tmp_path: Path, options: tuple[str, str]
) -> None:
    file = plan(tmp_path, island_files[0])
    answer = run("assess", file, *options, "--confidential")
    assert answer.code != 0
    assert "A plan says itself which tables there are" in answer.err


def test_tables_are_named_with_a_plan_only(run: Run, island_files: Store) -> None:
    answer = run("assess", island_files[0], "--table", "sex", "--confidential")
    assert answer.code != 0
    assert "--table names a table of a plan" in answer.err


def test_a_policy_gives_menu_and_limit(run: Run, island_files: Store, tmp_path: Path) -> None:
    store, secret = island_files
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'name = "open"\n[limits]\ndimensions = 3\n[online]\nrecovery = 0.25\n',
        encoding="utf-8",
        newline="\n",
    )
    answer = run(
        *("assess", store, "--by", "area,sex", "--policy", policy, "--secret", secret),
        "--confidential",
    )
    assert answer.code == 0
    assert "All tables of persons by up to 3 of 4 variables" in answer.out
    assert "the limit of 0.25 that the office named" in answer.out


def test_a_registry_gives_what_was_published_before(
    run: Run, island_files: Store, tmp_path: Path
) -> None:
    store, secret = island_files
    census = island()
    registry = Registry.create(tmp_path / "registry")
    assert registry.entries() == ()
    arguments = ("assess", store, "--by", "area,sex", "--secret", secret, "--confidential")
    empty = run(*arguments, "--registry", tmp_path / "registry")
    assert empty.code == 0
    assert "together with other tables was not measured" in empty.out
    protected = CellKey(scheme("CP3"), secret=SECRET).protect(
        census.tabulate("area", "sex", universe="age < 5")
    )
    registry.add(protected.table, provenance=protected.provenance)
    answer = run(*arguments, "--registry", tmp_path / "registry")
    assert answer.code == 0
    assert "This table and 1 other of persons" in answer.out
    missing = run(*arguments, "--registry", tmp_path / "nowhere")
    assert missing.code != 0
    assert "is not a registry" in missing.err


def test_options_are_checked(run: Run, island_files: Store) -> None:
    store, secret = island_files
    arguments = ("assess", store, "--by", "area,sex", "--secret", secret, "--confidential")
    for options, words in (
        (("--recovery-limit", "1.2"), "between 0 and 1"),
        (("--sensitive", "nothing"), "nothing"),
        (("--base", "5"), "--base is no option of cell-key"),
        (("--language", "xx"), "xx"),
    ):
        answer = run(*arguments, *options)
        assert answer.code not in (0, 70)
        assert words in answer.err


def test_tables_behind_indicators_are_taken_together(
    run: Run, island_files: Store, tmp_path: Path
) -> None:
    store, secret = island_files
    more = """
[[indicator]]
name = "elders"
kind = "share"
by = ["area@district"]
numerator = "age == 9"
"""
    file = plan(tmp_path, store, more)
    answer = run("assess", file, "--secret", secret, "--table", "sex")
    assert answer.code == 0
    assert "All 3 tables of the plan of persons" in answer.out
    looked = run("looks", store, "--plan", file)
    assert "3 tables of persons" in looked.out
    named = run("assess", file, "--secret", secret, "--table", "elders")
    assert named.code == 0
    wrong = run("assess", file, "--secret", secret, "--table", "eldest")
    assert "Did you mean 'elders'?" in wrong.err
