from __future__ import annotations

import csv
import json
import os
import re
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

from sdcensus.model.method.registry import methods_for_counts
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


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", methods_for_counts())
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_method_writes_a_table(
    run: Run, island: Store, tmp_path: Path, name: str, engine: str
) -> None:
    store, secret = island
    out = tmp_path / "table.csv"
    arguments = ("--by", "area@district,sex", "--method", name, "--secret", secret)
    answer = run("protect", store, *arguments, "--engine", engine, "--out", out)
    assert answer.code == 0
    assert f"protected by {name}" in answer.out
    assert len(read(out)) == 4 * 3
    about = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    assert about["provenance"]["method"] == name
    assert f"Wrote {out} (" in answer.out


def test_what_is_shown_is_what_is_written(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    outs = [tmp_path / f"table{ending}" for ending in (".csv", ".parquet", ".xlsx")]
    arguments = ("--by", "area@district,sex", "--method", "cell-key", "--secret", secret)
    for out in outs:
        answer = run("protect", store, *arguments, "--out", out)
        assert answer.code == 0
    found = read(outs[0])
    assert [int(row["published"]) for row in found] == pq.read_table(outs[1])[
        "published"
    ].to_pylist()
    sheet = CalamineWorkbook.from_path(outs[2]).get_sheet_by_name("Table").to_python()
    total = [row["published"] for row in found if row["area"] == "_T"]
    assert ["Total", *total] in rows(answer.out)
    assert sheet[-1][1:] == ["Total", *map(float, total)]
    # and true counts are somewhere else
    counts = run("tabulate", store, "--by", "area@district,sex", "--show", "--confidential").out
    assert rows(counts)[4:] != rows(answer.out)[4:]


def test_the_same_command_publishes_the_same_bytes(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for ending in (".csv", ".parquet", ".xlsx"):
            out = tmp_path / name / f"table{ending}"
            run("protect", store, "--by", "sex", "--method", "cell-key", "--secret", secret,
                "--out", out, "-q")  # fmt: skip
    one, two = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert len(one) == 4
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_notes_and_an_example_are_shown(run: Run, island: Store) -> None:
    store, secret = island
    arguments = ("--by", "area,sex,age@class", "--method", "cell-key", "--secret", secret)
    answer = run("protect", store, *arguments)
    assert "Notes for readers" in answer.out
    assert re.search(r"add up to [\d,]+, while the published total is [\d,]+\.", answer.out)
    assert max(len(line) for line in answer.out.split("Notes for")[0].splitlines()) <= 80


def test_large_tables_are_shown_on_demand_only(run: Run, island: Store) -> None:
    store, _ = island
    arguments = ("--by", "area+district,sex,age", "--method", "random-rounding")
    short = run("protect", store, *arguments)
    assert "See the table with --show, or write it with --out FILE." in short.out
    assert "Persons by sex and age" not in short.out
    long = run("protect", store, *arguments, "--show")
    assert "area (parish, district): P 0. Persons by sex and age" in long.out


def test_what_a_method_promises_is_explained(run: Run, village: Village) -> None:
    arguments = ("--by", "sex", "--method", "random-rounding")
    answer = run("protect", village.store, *arguments, "--explain")
    assert "On average over keys, a published count is the true count." in answer.out
    assert "caution: Totals are rounded on their own" in answer.err
    assert "What the method promises" not in run("protect", village.store, *arguments).out


def test_signs_stand_where_there_is_no_number(run: Run, village: Village) -> None:
    answer = run(
        "protect", village.store, "--by", "ed@parish,sex", "--method", "threshold-and-rounding"
    )
    assert ["North", "..", "..", "..", ".."] in rows(answer.out)
    assert ".. = too small to be published." in answer.out


def test_notes_and_labels_are_in_the_language_asked_for(
    run: Run, village: Village, tmp_path: Path
) -> None:
    out = tmp_path / "tabla.xlsx"
    arguments = ("--by", "ed@parish,sex", "--method", "random-rounding", "--language", "es")
    answer = run("protect", village.store, *arguments, "--out", out)
    assert any("Hombre" in line for line in rows(answer.out))
    assert "Los valores de esta tabla están protegidos" in answer.out
    assert CalamineWorkbook.from_path(out).sheet_names == ["Tabla", "Notas"]
    assert run("protect", village.store, *arguments[:-1], "xx").code == 2


def test_another_unit_a_filter_and_weights(run: Run, village: Village) -> None:
    rounding = ("--method", "random-rounding")
    houses = run("protect", village.store, "--of", "households", "--by", "tenure", *rounding)
    assert "households by tenure: protected" in houses.out
    women = run("protect", village.store, "--where", "sex == 2", *rounding)
    assert "persons, where sex == 2: protected by random-rounding" in women.out
    adults = run("protect", village.store, "--where", "age >= 15", *rounding)
    assert adults.code == 4
    assert '[universe.age_from_15]\ncondition = "age >= 15"\n' in adults.err
    weighted = ("--by", "sex", "--measure", "weighted")
    refused = run("protect", village.store, *weighted, *rounding)
    assert refused.code == 2
    assert "'cell-key'" in refused.err
    keys = ("--method", "cell-key", "--lookup", "ascending")
    assert run("protect", village.store, *weighted, *keys).code == 0


def test_a_table_can_be_made_to_add_up(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    out, audit = tmp_path / "table.csv", tmp_path / "audit.csv"
    arguments = ("--by", "area@district,sex", "--method", "cell-key", "--secret", secret)
    answer = run(
        "protect", store, *arguments, "--then", "additivity", "--out", out, "--audit", audit,
        "--confidential",
    )  # fmt: skip
    assert answer.code == 0
    assert "In this table every total is the sum of its parts." in answer.out
    published = {(row["area"], row["sex"]): int(row["published"]) for row in read(out)}
    for area in ("D0", "D1", "D2", "_T"):
        assert published[area, "0"] + published[area, "1"] == published[area, "_T"]
    assert "after_cell_key" in read(audit)[0]


def test_steps_after_the_method(run: Run, island: Store) -> None:
    store, secret = island
    arguments = ("--by", "area,sex,age", "--method", "cell-key", "--secret", secret)
    steps = ("--then", "withhold-sparse-areas", "--below", "4", "--mean-cell-size", "2")
    answer = run("protect", store, *arguments, *steps)
    assert answer.code == 0
    assert "protected by cell-key → withhold-sparse-areas" in answer.out
    assert "c = confidential: withheld." in answer.out
    wrong = run("protect", store, *arguments, *steps[2:])
    assert wrong.code == 2
    assert "is no option of cell-key. It is for: coarsening, withhold-sparse-areas." in wrong.err


def test_exempt_tables_can_be_given_several_times(run: Run, island: Store) -> None:
    store, secret = island
    method = ("--method", "cell-key", "--secret", secret)
    exempt = ("--exempt", "area@district", "--exempt", "sex")
    answer = run("protect", store, "--by", "area@district,sex", *method, *exempt)
    truth = rows(
        run("tabulate", store, "--by", "area@district,sex", "--show", "--confidential").out
    )
    shown = rows(answer.out)
    exact = [line for line in truth if line[:1] == ["Total"]]
    assert exact[0] in shown
    assert "caution: Exempt cells are published exactly." in answer.err


# ---------------------------------------------------------------- audit


def test_an_audit_needs_confidential_and_is_private(
    run: Run, island: Store, tmp_path: Path
) -> None:
    store, secret = island
    audit, out = tmp_path / "audit.csv", tmp_path / "table.csv"
    arguments = ("--by", "sex", "--method", "cell-key", "--secret", secret)
    refused = run("protect", store, *arguments, "--audit", audit, "--out", out)
    assert refused.code == 4
    assert "An audit holds true counts" in refused.err
    assert list(tmp_path.iterdir()) == []
    answer = run("protect", store, *arguments, "--audit", audit, "--out", out, "--confidential")
    assert answer.code == 0
    assert "It is confidential: only you can read it." in answer.out
    if os.name != "nt":
        assert stat.S_IMODE(audit.stat().st_mode) == 0o600
    assert [row["published"] for row in read(audit)] == [row["published"] for row in read(out)]
    counts = {row["count"] for row in read(audit)} - {row["published"] for row in read(out)}
    said = answer.out.replace(str(tmp_path), "").replace(",", "")
    assert not counts & set(re.findall(r"\d+", said))


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "code", "hint"),
    [
        (["--by", "sex", "--method", "cell-key"], 7, "--secret FILE"),
        (["--by", "sexx", "--method", "random-rounding"], 2, "Did you mean 'sex'?"),
        (["--by", "sex", "--method", "rounding"], 2, "random-rounding"),
        (["--by", "sex"], 2, "--method"),
        (["--by", "sex", "--method", "random-rounding", "--strength", "light"], 2, "cell-key"),
        (["--by", "sex", "--method", "cell-key", "--strength", "mild"], 2, "no-ones-and-twos"),
        (
            ["--by", "sex", "--method", "random-rounding", "--then", "swapping"],
            2,
            "additivity",
        ),
        (["--method", "cell-key", "--perturbation", "none.csv"], 5, "none.csv"),
        (["--method", "random-rounding", "--out", "table.doc"], 8, ".xlsx"),
        (["--method", "random-rounding", "--out", "no/table.csv"], 8, "does not exist"),
    ],
)
def test_what_cannot_be_done_is_explained(
    run: Run,
    village: Village,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    hint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run("protect", village.store, *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith("error: ")
    assert hint in answer.err
    assert list(tmp_path.iterdir()) == []


def test_another_secret_than_that_of_the_store_is_refused(
    run: Run, village: Village, island: Store
) -> None:
    arguments = ("--by", "sex", "--method", "cell-key", "--secret", island[1])
    answer = run("protect", village.store, *arguments)
    assert answer.code == 7
    assert "load it again" in answer.err


def test_a_file_is_never_overwritten(run: Run, village: Village, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    out.write_text("precious", encoding="utf-8", newline="\n")
    answer = run("protect", village.store, "--method", "random-rounding", "--out", out)
    assert answer.code == 8
    assert out.read_text(encoding="utf-8") == "precious"
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_quiet_prints_nothing(run: Run, village: Village, tmp_path: Path) -> None:
    arguments = ("--by", "sex", "--method", "random-rounding", "--explain", "--show")
    answer = run("protect", village.store, *arguments, "-q", "--out", tmp_path / "a.csv")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert (tmp_path / "a.csv").is_file()


# ------------------------------------------------------------------ groups of one's own


def groups_file(folder: Path, *lines: str) -> Path:
    path = folder / "groups.csv"
    path.write_text("\n".join(["variable,group,code", *lines, ""]), encoding="utf-8", newline="")
    return path


def test_groups_are_sums_of_published_values(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    groups = groups_file(tmp_path, "area,coast,P0", "area,coast,P3", "area,whole,P6")
    arguments = ("--by", "area,sex", "--method", "cell-key", "--secret", secret)
    table, sums = tmp_path / "table.csv", tmp_path / "sums.csv"
    answer = run("protect", store, *arguments, "--groups", groups, "--out", table,
                 "--groups-out", sums)  # fmt: skip
    assert answer.code == 0
    assert f"Wrote {sums} (" in answer.out
    published = {(row["area"], row["sex"]): int(row["published"]) for row in read(table)}
    for row in read(sums):
        parts = {"coast": ["P0", "P3"], "whole": ["P6"], "_T": ["_T"]}[row["area"]]
        assert int(row["published"]) == sum(published[part, row["sex"]] for part in parts)
    about = json.loads((tmp_path / "sums.about.json").read_text(encoding="utf-8"))
    assert "about 1.4 times that of a published value" in about["notes"][-1]["en"]
    assert about["provenance"]["method"] == "cell-key"
    shown = run("protect", store, *arguments, "--groups", groups).out
    assert "Sums for your groups" in shown
    assert ["coast", "Total", f"{published['P0', '_T'] + published['P3', '_T']:,}", "2", "×",
            "1.41"] in rows(shown)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        (["area,coast,P9"], [], "no code 'P9'"),
        (["age,old,9"], [], "no axis 'age'"),
        (["area,coast,"], [], "line 2: The field code is empty"),
        (["area,coast,P6"], ["--minimum-population", "999"], "fewer than 999 published persons"),
        (["area,coast,P6"], ["--groups-out", "sums.doc"], "sums.doc: write a table to a file"),
    ],
)
def test_groups_that_cannot_be_made_are_refused_and_nothing_is_written(
    run: Run, island: Store, tmp_path: Path, lines: list[str], more: list[str], message: str
) -> None:
    store, secret = island
    groups = groups_file(tmp_path, *lines)
    answer = run("protect", store, "--by", "area,sex", "--method", "cell-key", "--secret", secret,
                 "--groups", groups, "--out", tmp_path / "table.csv", *more)  # fmt: skip
    assert answer.code not in (0, 70)
    assert message in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["groups.csv"]


def test_options_of_groups_need_groups(run: Run, island: Store) -> None:
    store, secret = island
    answer = run("protect", store, "--method", "cell-key", "--secret", secret,
                 "--minimum-population", "9")  # fmt: skip
    assert answer.code == 2
    assert "--groups FILE" in answer.err


def test_a_registry_refuses_other_numbers_for_the_same_people(
    run: Run, island: Store, tmp_path: Path
) -> None:
    store, secret = island
    registry = tmp_path / "registry"
    kept = ("--secret", secret, "--registry", registry)
    common = ("--method", "cell-key", *kept)
    first = run("protect", store, "--by", "area,sex", *common, "--out", tmp_path / "one.csv")
    assert first.code == 0
    assert f"Recorded in {registry}." in first.out
    same = run("protect", store, "--by", "sex", *common, "--out", tmp_path / "two.csv")
    assert same.code == 0
    other = ("--by", "area", "--method", "random-rounding", *kept, "--out", tmp_path / "three.csv")
    answer = run("protect", store, *other)
    assert answer.code == 4
    assert "published before with another value" in answer.err
    assert not list(tmp_path.glob("three*"))
    assert run("protect", store, "--by", "sex", *common).code == 2


def test_a_sparse_table_is_told_to_the_office_only(run: Run, island: Store, tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    words = ["--method", "cell-key", "--secret", island[1], "--out", out]
    answer = run("protect", island[0], "--by", "area,age,sex,married", *words)
    assert answer.code == 0, answer.err
    (line,) = [one for one in answer.err.splitlines() if "the table is sparse" in one]
    assert re.search(r"[\d.]+ persons in a cell on average; of 280 cells \d+ % are empty", line)
    for path in tmp_path.iterdir():
        assert "sparse" not in path.read_text(encoding="utf-8")
    full = run("protect", island[0], "--by", "sex", "--method", "cell-key", *words[2:4])
    assert "sparse" not in full.err


def test_very_many_cells_are_written_only_with_yes(
    run: Run, island: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdcensus.session.protect.detail.MOST_CELLS", 20)
    out = tmp_path / "t.csv"
    words = ["protect", island[0], "--by", "area,sex", "--method", "cell-key"]
    words += ["--secret", island[1], "--out", out]
    answer = run(*words)
    assert answer.code == 4
    assert re.search(r"has 24 cells, about \d+ bytes as csv", answer.err)
    assert "--yes" in answer.err
    assert not out.exists()
    asked: list[str] = []

    def refuse(question: str, **settings: object) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("sdcensus.cli.shared.questions.can_answer", lambda: True)
    monkeypatch.setattr("typer.confirm", refuse)
    assert run(*words).code == 4
    assert asked == ["Go on?"]
    assert not out.exists()
    assert run(*words, "--yes").code == 0
    assert out.exists()
