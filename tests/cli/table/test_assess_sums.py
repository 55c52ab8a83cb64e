"""Assessing and comparing tables of sums on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet

PLAN = """
store = "census.store"

[protect]
method = "cell-key"
strength = "medium"

[[table]]
name = "people"
rows = ["ed@parish"]
columns = ["sex"]

[[table]]
name = "income"
rows = ["ed@parish"]
columns = ["sex"]
measure = "sum(income)"
protect = { method = "cell-key-sums" }
"""
SUMS = ("--measure", "sum(income)")


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    return hamlet


def asked(hamlet: Hamlet, *more: object) -> tuple[object, ...]:
    return (hamlet.store, "--by", "ed@parish,sex,age@broad", "--secret", hamlet.secret, *more)


def test_a_table_of_sums_is_assessed(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    said = run("assess", *asked(hamlet, *SUMS, "--out", tmp_path / "check"))
    assert said.code == 0, said.err
    words = " ".join(said.out.split())
    assert "the second largest contributor of a cell comes within 10 % of the largest" in words
    assert "Sensitive cells by the usual rules" in words
    # Nothing is wider than a console.
    assert all(len(line) <= 80 for line in said.out.splitlines() if "%" in line and "  " in line)
    assert "Composite risk: a measure of counts." in " ".join((said.out + said.err).split())
    names = sorted(path.name for path in (tmp_path / "check").iterdir())
    assert names == ["assessment.html", "assessment.public.html", "sums.xlsx"]
    page = (tmp_path / "check" / "assessment.html").read_text(encoding="utf-8")
    assert "--measure" in page
    assert "Other methods on the same table" in page


def test_settings_of_the_method_and_the_percentage(run: Run, hamlet: Hamlet) -> None:
    default = run("assess", *asked(hamlet, *SUMS, "--no-compare"))
    method = ("--method", "cell-key-sums", "--noise-share", "0.4")
    stronger = run("assess", *asked(hamlet, *SUMS, *method, "--no-compare"))
    narrow = run("assess", *asked(hamlet, *SUMS, "--within", "2.5", "--no-compare"))
    assert len({default.out, stronger.out, narrow.out}) == 3
    assert "within 2.5 % of" in " ".join(narrow.out.split())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--within", "10"), "--within is for tables of sums"),
        ((*SUMS, "--within", "0"), "above 0 percent"),
        ((*SUMS, "--method", "random-rounding"), "sums"),
        ((*SUMS, "--coalition", "9"), "1 to 5 can put together"),
        (("--measure", "sum(sex)"), "sex"),
        (("--method", "cell-key-sums"), "is for sums of amounts"),
    ],
)
def test_mistakes_are_explained(
    run: Run, hamlet: Hamlet, more: tuple[str, ...], message: str
) -> None:
    said = run("assess", *asked(hamlet, *more))
    assert said.code != 0
    assert message in " ".join(said.err.split())


def test_a_plan_with_counts_and_sums(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    plan = hamlet.write("plan.toml", PLAN)
    said = run("assess", plan, "--secret", hamlet.secret, "--out", tmp_path / "check")
    assert said.code == 0, said.err
    names = {path.name for path in (tmp_path / "check").iterdir()}
    assert {"evaluation.xlsx", "sums.xlsx", "income.assessment.html"} <= names
    only = run("assess", plan, "--table", "income", "--secret", hamlet.secret, "--within", "20")
    assert only.code == 0, only.err
    counts = run("assess", plan, "--table", "people", "--secret", hamlet.secret, "--within", "20")
    assert "--within is for tables of sums" in counts.err


def test_methods_for_sums_are_compared(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    said = run("compare", *asked(hamlet, *SUMS, "--ways", "3", "--out", tmp_path / "study"))
    assert said.code == 0, said.err
    assert "noise_share=0.05" in said.out
    assert "abs-top-contributors" in said.out
    assert "Least loss: cell-key-sums noise_share=0.05" in " ".join(said.out.split())
    assert (tmp_path / "study" / "methods.csv").is_file()
    every = run(
        "compare",
        *asked(hamlet, *SUMS, "--study", "methods", "--within", "20", "--out", tmp_path / "every"),
    )
    assert every.code == 0, every.err
    assert "experimental-layered" in every.out
    assert "within 20 %" in every.out
    grid = run(
        "compare",
        *asked(hamlet, *SUMS, "--ways", "2", "--out", tmp_path / "grid"),
        *("--method", "cell-key-sums", "--grid", "noise_share=0.1,0.3"),
    )
    assert grid.code == 0, grid.err
    assert len((tmp_path / "grid" / "methods.csv").read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--schemes", "CP1"), "--schemes: for tables of counts"),
        (("--lookups", "hashed", "--zeros-known"), "--lookups, --zeros-known: for tables of"),
        (("--smallest-group", "5"), "--smallest-group: for tables of counts"),
        (("--study", "ons"), "--study ons: for tables of counts"),
        (("--risk", "DR"), "--risk: for tables of counts"),
        (("--method", "cell-key"), "sums"),
        (("--within", "-3"), "above 0 percent"),
    ],
)
def test_what_is_for_counts_is_refused(
    run: Run, hamlet: Hamlet, tmp_path: Path, more: tuple[str, ...], message: str
) -> None:
    said = run("compare", *asked(hamlet, *SUMS, *more, "--out", tmp_path / "study"))
    assert said.code != 0
    assert message in " ".join(said.err.split())
    assert not (tmp_path / "study").exists()


def test_a_percentage_says_nothing_about_counts(run: Run, hamlet: Hamlet, tmp_path: Path) -> None:
    said = run("compare", *asked(hamlet, "--within", "5", "--out", tmp_path / "study"))
    assert "--within is for tables of sums" in " ".join(said.err.split())
