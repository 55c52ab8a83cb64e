"""Attacking a folder, and how right the intruder is."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.formats.write import write_table
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.attack.attack import (
    Assumptions,
    FolderAttack,
    attack_folder,
    claim_lines,
    write_report,
)
from sdcensus.session.attack.score import score, write_scores
from sdcensus.session.census.census import Census
from sdcensus.store.owner_only import is_owner_only
from sdcensus.testing.island import island
from tests.attack.made import cell_key, publish, questionnaire, truth

TABLES = (("area+district", "age", "sex"), ("area", "age@class", "married", "sex"))


def publication(folder: Path, census: Census, name: str, ending: str = ".csv") -> Path:
    folder.mkdir()
    for at, one in enumerate(publish(census, cell_key(name), *TABLES)):
        assert one.provenance is not None
        write_table(one.table, folder / f"t{at}{ending}", provenance=one.provenance)
    return folder


@pytest.fixture(scope="module")
def census() -> Census:
    return island(400)


@pytest.fixture(scope="module")
def cp1(census: Census, tmp_path_factory: pytest.TempPathFactory) -> FolderAttack:
    folder = publication(tmp_path_factory.mktemp("attack") / "cp1", census, "CP1")
    return attack_folder(folder, Assumptions(max_deviation=1))


def test_files_tell_what_tables_tell(census: Census, cp1: FolderAttack, tmp_path: Path) -> None:
    parquet = publication(tmp_path / "parquet", census, "CP1", ".parquet")
    other = attack_folder(parquet, Assumptions(max_deviation=1))
    for result, two in zip(cp1.report.results, other.report.results, strict=True):
        assert (result.exact, result.narrow) == (two.exact, two.narrow)
        for mine, theirs in zip(result.claims, two.claims, strict=True):
            assert np.array_equal(mine.cells, theirs.cells)
            assert np.array_equal(mine.lower, theirs.lower)


def test_scores_count_hits_misses_and_false_claims(census: Census, cp1: FolderAttack) -> None:
    scores = score(cp1.report, cp1.tables, census)
    found = scores.attack("intervals")
    claimed = next(result for result in cp1.report.results if result.attack == "intervals")
    assert found.claims == claimed.exact > 0
    # The bound is the right one: nothing that intervals claim is wrong.
    assert found.hits == found.claims
    assert found.false_claims == 0
    assert found.share_right == 1.0
    true = np.concatenate([truth(census, table).reshape(-1) for table in cp1.tables])
    assert [size.cells for size in found.sizes] == [
        int((true == 0).sum()),
        int((true == 1).sum()),
        int((true == 2).sum()),
        int(((true >= 3) & (true <= 5)).sum()),
        int(((true >= 6) & (true <= 10)).sum()),
        int((true > 10).sum()),
    ]
    for size in found.sizes:
        assert size.cells is not None
        assert size.misses == size.cells - size.hits


def test_a_wrong_belief_makes_false_claims(census: Census, tmp_path: Path) -> None:
    folder = publication(tmp_path / "cp4", census, "CP4")
    found = attack_folder(folder, Assumptions(limit=0.0), attacks=["averaging"])
    one = score(found.report, found.tables, census).attack("averaging")
    assert one.claims == one.cells
    assert one.hits + one.false_claims == one.claims
    assert 0 < one.hits < one.claims
    # A cell that is published as it is is right more often than by chance, and not always.
    assert one.share_right is not None
    assert 0.2 < one.share_right < 0.9


def test_scores_are_confidential(census: Census, cp1: FolderAttack, tmp_path: Path) -> None:
    scores = score(cp1.report, cp1.tables, census)
    shown = f"{scores!r} {scores} {scores.attacks[0]!r} {scores.attacks[0].sizes[0]!r}"
    assert "confidential" in shown
    assert not any(
        sign.isdigit()
        for sign in shown.replace(f"{len(scores.attacks)} attacks", "").replace("SizeScore 0", "")
    )
    with pytest.raises(Refused):
        write_scores(scores, tmp_path / "s.csv")
    path = write_scores(scores, tmp_path / "s.csv", confidential=True)
    assert is_owner_only(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * len(scores.attacks) + len(scores.groups)
    assert sum(int(row["hits"]) for row in rows if row["attack"] == "intervals") > 0


def test_the_truth_must_be_that_of_the_tables(cp1: FolderAttack) -> None:
    other = questionnaire(50, areas=3, answers=1)
    with pytest.raises(SpecError, match="codes of"):
        score(cp1.report, cp1.tables, other)


def test_tables_of_other_records_are_refused(census: Census, cp1: FolderAttack) -> None:
    first = cp1.tables[0]
    assert first.provenance is not None
    other = replace(first, provenance=replace(first.provenance, data_version="other"))
    with pytest.raises(SpecError, match="another version of the data"):
        score(cp1.report, [other, *cp1.tables[1:]], census)


def test_tables_of_other_tools_are_not_scored(census: Census, cp1: FolderAttack) -> None:
    bare = [PublishedTable(table.name, table.table) for table in cp1.tables]
    scores = score(cp1.report, bare, census)
    assert len(scores.left_out) == 2
    assert scores.attack("intervals").claims == 0
    assert scores.attack("intervals").share_right is None


def test_what_was_found_is_written(cp1: FolderAttack, tmp_path: Path) -> None:
    path = write_report(cp1, tmp_path / "found.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["assumptions"]["max_deviation"] == 1
    by_name = {one["attack"]: one for one in document["attacks"]}
    claims = by_name["intervals"]["claims"]
    assert (
        len(claims)
        == by_name["intervals"]["counts_claimed"] + by_name["intervals"]["claimed_as_0_or_1"]
    )
    assert claims[0]["probability"] is None
    path = write_report(cp1, tmp_path / "found.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    results = cp1.report.results
    counts = sum(claim.count for result in results for claim in result.claims)
    assert len(rows) == counts + sum(group.count for result in results for group in result.groups)
    with pytest.raises(OutputError, match="already exists"):
        write_report(cp1, path)
    with pytest.raises(OutputError, match=r"\.json"):
        write_report(cp1, tmp_path / "found.txt")


def test_claims_are_shown_in_words(cp1: FolderAttack) -> None:
    result = next(result for result in cp1.report.results if result.attack == "intervals")
    lines = claim_lines(result, most=4)
    assert len(lines) == 4
    table, cell, count, sure = lines[0]
    assert table in ("t0.csv", "t1.csv")
    assert "=" in cell
    assert count == "1"
    assert sure == "certain*"


def test_a_table_of_one_cell_is_attacked_with_the_others(tmp_path: Path) -> None:
    for name, lines in {
        "a": ["value", "101"],
        "sex": ["sex,value", "1,50", "2,50", "_T,100"],
        "age": ["age,value", "1,30", "2,71", "_T,99"],
    }.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8", newline="\n")
    found = attack_folder(tmp_path, Assumptions(limit=0.0), attacks=["averaging"])
    claimed = claim_lines(found.report.results[0], most=10)
    assert ("a.csv", "everybody", "100") in [line[:3] for line in claimed]
    write_report(found, tmp_path / "found.json")
