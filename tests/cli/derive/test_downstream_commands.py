"""A plan that names a swapped store goes through every command as any other plan does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xlsxwriter

from sdcensus.cli.shared.method_options import really_said
from sdcensus.session.census.census import open_store
from tests.cli.conftest import Run
from tests.hamlet import Hamlet, rows, write_hamlet

PLAN = """
store = "{store}"

[[table]]
name = "sexes"
rows = ["ed@parish"]
columns = ["sex"]

[protect]
method = "cell-key"
strength = "strong"

[output]
folder = "{folder}"
formats = ["csv"]
date = "2026-03-01"
"""
POLICY = """
name = "public"

[limits]
dimensions = 1

[online]
recovery = 0.99
"""
CELL_KEY = ("--method", "cell-key")
SWAP = ("--rate", "0.1", "--risk-variables", "sex", "--profiles", "persons")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    persons, households = rows(900)
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"), persons=persons, households=households)
    hamlet.load()
    return hamlet


@pytest.fixture
def hamlet(loaded: Hamlet, monkeypatch: pytest.MonkeyPatch, run: Run) -> Hamlet:
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(loaded.secret))
    return loaded


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_plan_of_a_swapped_store_goes_all_the_way(run: Run, hamlet: Hamlet) -> None:
    store = hamlet.folder / "swapped.store"
    assert run("swap", hamlet.store, "--out", store, *SWAP, "-q").code == 0
    lineage = open_store(store).origin.lineage
    plan = hamlet.write("plan.toml", PLAN.format(store="swapped.store", folder="published"))
    published = hamlet.folder / "published"
    accepted = ("--accept-risk", "Ana Ruiz", "--reason", "a test")
    assert run("plan", "check", plan).code == 0
    answer = run("publish", plan, *accepted)
    assert answer.code == 0, answer.err
    verified = run("verify", published)
    assert verified.code == 0
    assert lineage in words(verified.out)
    for person in ("Ana Ruiz", "Bo Chen"):
        assert run("approve", published, "--name", person).code == 0
    attacked = run("attack", published, "--score", hamlet.store, "--confidential")
    assert attacked.code == 0, attacked.err
    policy = hamlet.write("policy.toml", POLICY)
    served = run("serve", store, "--policy", policy, "--plan", plan, "--check")
    assert served.code == 0, served.err
    refused = run("serve", hamlet.store, "--policy", policy, "--plan", plan, "--check")
    assert refused.code != 0
    assert "other records" in words(refused.err)
    assessed = run("assess", plan, "--out", hamlet.folder / "assessed", "--confidential")
    assert assessed.code == 0, assessed.err


def test_tables_of_two_lines_are_not_recorded_together_and_not_filled_silently(
    run: Run, hamlet: Hamlet, tmp_path: Path
) -> None:
    store, registry = tmp_path / "swapped.store", tmp_path / "registry"
    assert run("swap", hamlet.store, "--out", store, *SWAP, "-q").code == 0

    def protected(source: Path, by: str, *more: object) -> tuple[int, str]:
        out = tmp_path / "tables" / f"{source.stem}.csv"
        out.parent.mkdir(exist_ok=True)
        answer = run(
            "protect", source, "--by", by, *CELL_KEY, "--strength", "strong", "--out", out, *more
        )
        return answer.code, words(answer.err)

    assert protected(hamlet.store, "sex", "--registry", registry)[0] == 0
    # The two tables share no number but their total, and not even that is looked at.
    code, said = protected(store, "ed@parish", "--registry", registry)
    assert code != 0
    assert "was published from the original store" in said
    assert not (tmp_path / "tables" / "swapped.csv").exists()
    assert protected(store, "ed@parish")[0] == 0
    about = json.loads((tmp_path / "tables" / "swapped.about.json").read_text(encoding="utf-8"))
    assert "exchanged their places" in json.dumps(about["notes"])
    for names, several in ((("census",), False), (("census", "swapped"), True)):
        template = tmp_path / f"template-{len(names)}.xlsx"
        with xlsxwriter.Workbook(template) as book:
            sheet = book.add_worksheet()
            for row, name in enumerate(names):
                sheet.write(row, 0, f"{{{name}}}")
        out = tmp_path / f"filled-{len(names)}.xlsx"
        answer = run("fill", template, "--published", tmp_path / "tables", "--out", out)
        assert answer.code == 0, answer.err
        assert ("several lines of records" in words(answer.err)) is several


def test_a_zero_is_something_that_was_said(run: Run, hamlet: Hamlet) -> None:
    said: dict[str, object] = {
        "repeat": 0,
        "share": 0.0,
        "yes": False,
        "none": None,
        "several": [],
        "text": "",
    }
    assert really_said(said) == {"repeat": 0, "share": 0.0, "text": ""}
    # A number that a method does not take is told, also where it is 0.
    answer = run("protect", hamlet.store, "--by", "sex", "--method", "cell-key", "--threshold", "0")
    assert answer.code != 0
    assert "--threshold" in answer.err


def test_a_refused_swap_leaves_nothing_beside_the_stores(
    run: Run, hamlet: Hamlet, tmp_path: Path
) -> None:
    out = tmp_path / "b.store"
    for more in (("--table", "no,such"), ("--rate", "7"), ("--within", "nowhere")):
        assert run("swap", hamlet.store, "--out", out, *SWAP, *more).code != 0
        assert not list(tmp_path.iterdir())
