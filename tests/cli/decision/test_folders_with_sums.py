"""Commands about counts over folders and plans in which tables of sums stand too."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.formats.read.tables import read_published
from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet

PLAN = """
store = "census.store"

[protect]
method = "cell-key"
strength = "medium"
"""
COUNTS = """
[[table]]
name = "people"
rows = ["ed@parish"]
columns = ["sex"]
"""
SUMS = """
[[table]]
name = "income"
rows = ["ed@parish"]
columns = ["sex"]
measure = "sum(income)"
protect = { method = "cell-key-sums" }
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    return hamlet


@pytest.fixture
def published(run: Run, hamlet: Hamlet, tmp_path: Path) -> Path:
    """A folder with a table of counts and one of sums."""
    folder = tmp_path / "published"
    folder.mkdir()
    by = (hamlet.store, "--by", "ed@parish,sex", "--secret", hamlet.secret)
    counts = run("protect", *by, "--method", "cell-key", "--out", folder / "people.csv")
    sums = run(
        *("protect", *by, "--measure", "sum(income)", "--method", "cell-key-sums"),
        *("--out", folder / "income.csv"),
    )
    assert (counts.code, sums.code) == (0, 0), counts.err + sums.err
    return folder


def test_attacks_on_counts_pass_over_sums_by_name(
    run: Run, hamlet: Hamlet, published: Path
) -> None:
    said = run("attack", published)
    assert said.code == 0, said.err
    assert "income.csv: sums of amounts are not counts" in " ".join((said.out + said.err).split())
    # What is found in the counts is what is found without the sums.
    scored = run("attack", published, "--score", hamlet.store, "--confidential")
    assert scored.code == 0, scored.err
    for path in published.glob("income.*"):
        path.unlink()
    alone = run("attack", published, "--score", hamlet.store, "--confidential")
    assert alone.out == scored.out.replace(
        next((line for line in scored.out.splitlines(keepends=True) if "income.csv" in line), ""),
        "",
    )


def test_a_folder_of_sums_alone_is_explained(run: Run, published: Path) -> None:
    for path in published.glob("people.*"):
        path.unlink()
    said = run("attack", published)
    assert said.code != 0
    assert "holds tables of sums only" in said.err
    assert "sdcensus assess STORE" in said.err


def test_published_sums_are_assessed_against_their_store(
    run: Run, hamlet: Hamlet, published: Path
) -> None:
    said = run("assess", hamlet.store, "--published", published / "income.csv")
    assert said.code == 0, said.err
    assert "the second largest contributor of a cell comes within 10 %" in " ".join(
        said.out.split()
    )
    assert "not known for this method" in " ".join((said.out + said.err).split())


def test_published_sums_fill_a_workbook(run: Run, published: Path, tmp_path: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(tmp_path / "template.xlsx")
    book.add_worksheet().write(0, 0, "{income}")
    book.close()
    said = run(
        *("fill", tmp_path / "template.xlsx", "--published", published),
        *("--out", tmp_path / "filled.xlsx"),
    )
    assert said.code == 0, said.err
    filled = CalamineWorkbook.from_path(str(tmp_path / "filled.xlsx")).get_sheet_by_index(0)
    table = read_published(published / "income.csv").table.whole()
    assert filled.to_python()[0][0] == pytest.approx(int(table.published[-1, -1]) / 100)


def test_sums_are_no_looks_at_counts(run: Run, hamlet: Hamlet) -> None:
    with_sums = hamlet.write("with.toml", PLAN + COUNTS + SUMS)
    without = hamlet.write("without.toml", PLAN + COUNTS)
    only = hamlet.write("only.toml", PLAN + SUMS)
    looks = [run("looks", hamlet.store, "--plan", plan) for plan in (with_sums, without)]
    assert looks[0].code == 0
    assert looks[0].out == looks[1].out
    none = run("looks", hamlet.store, "--plan", only)
    assert none.code != 0
    assert "no table of counts" in none.err


def test_a_publication_with_sums_is_verified_and_attacked(
    run: Run, hamlet: Hamlet, tmp_path: Path
) -> None:
    plan = hamlet.write("plan.toml", PLAN + COUNTS + SUMS)
    folder = tmp_path / "out"
    said = run("publish", plan, "--secret", hamlet.secret, "--out", folder)
    assert said.code == 0, said.err
    assert run("verify", folder).code == 0
    assert run("attack", folder).code == 0
