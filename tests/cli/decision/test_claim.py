"""``sdcensus claim`` at the prompt, and ``attack`` on tables of swapped records."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.formats.write import write_table
from sdcensus.session.attack.score import write_scores
from sdcensus.session.census.census import open_store
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.cli.conftest import Run
from tests.exchange import village, write_exchange
from tests.session.attack.test_residents import scored, tables_of
from tests.session.claim.test_answer import written_plan


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("office")
    village(root / "census.store", households=1_200, kinds=30)
    write_exchange(root / "census.store", root / "some.store", rate=0.4)
    write_secret(SECRET, root / "office.secret")
    return root


def test_the_derived_store_is_found_beside_the_original(
    office: Path, tmp_path: Path, run: Run
) -> None:
    folder = tmp_path / "published"
    folder.mkdir()
    for at, table in enumerate(tables_of(open_store(office / "some.store"))):
        assert table.provenance is not None
        write_table(table.table, folder / f"t{at}.csv", provenance=table.provenance)
    out = tmp_path / "scores.csv"
    answer = run(
        *("attack", folder, "--attacks", "patterns,zero-patterns"),
        *("--score", office / "census.store", "--score-out", out, "--confidential"),
    )
    assert answer.code == 0, answer.err
    assert "right about the persons who live there" in " ".join(answer.out.split())
    assert "residents, group of 1" in out.read_text(encoding="utf-8")
    named = run(
        *("attack", folder, "--attacks", "patterns,zero-patterns", "--score"),
        *(office / "census.store", "--score-derived", office / "some.store", "--confidential"),
    )
    assert named.out in answer.out
    wrong = run("attack", folder, "--score-derived", office / "some.store", "--confidential")
    assert wrong.code != 0
    assert "--score STORE" in wrong.err
    scores = scored(office, "some.store")
    assert write_scores(scores, tmp_path / "again.parquet", confidential=True).exists()


def test_a_claim_is_answered_twice(office: Path, tmp_path: Path, run: Run) -> None:
    plan = written_plan(office, "some.store")
    secret = ("--secret", office / "office.secret")
    published = run("publish", plan, *secret, "--accept-risk", "A", "--reason", "b")
    assert published.code == 0, published.err
    cell = ("--table", "kinds", "--cell", "area=A3,kind=K29")
    answer = run("claim", plan, *cell, "--out", tmp_path / "answers", *secret, "-l", "nl")
    assert answer.code == 0, answer.err
    assert "Antwoord op een bewering" in answer.out
    assert len(list((tmp_path / "answers").iterdir())) == 2
    kept = office / "published-some.store.office" / "claims"
    assert len(list(kept.iterdir())) == 2
    wrong = run("claim", plan, "--table", "kinds", "--cell", "kind=Q", "--out", tmp_path / "b")
    assert wrong.code != 0
    assert "no code 'Q'" in wrong.err
    unknown = run("claim", plan, *cell, "--out", tmp_path / "c", "-l", "xx", *secret)
    assert "no language 'xx'" in unknown.err
