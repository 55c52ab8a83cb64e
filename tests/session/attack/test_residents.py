"""Claims about tables of swapped records, beside the records and beside those who live there."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.attack import run_attacks
from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.attack.residents import area_levels
from sdcensus.session.attack.score import Scores, score
from sdcensus.session.attack.stores import check_derived, stores_to_score
from sdcensus.session.attack.swapped import SwappedAttacks, SwapTrial
from sdcensus.session.census.census import Census, open_store
from sdcensus.testing.island import SECRET
from tests.attack.made import publish
from tests.exchange import FURTHER, village, write_exchange

TABLES = (
    ("area@area+district", "kind"),
    *(("area@area+district", "kind", name) for name in ("colour", "craft", *FURTHER)),
    ("kind", "colour", "craft"),
    *(("kind", "colour", "craft", name) for name in FURTHER),
)
ATTACKS = ("patterns", "zero-patterns")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("residents")
    village(root / "census.store", households=1_200, kinds=30, size=1)
    write_exchange(root / "census.store", root / "some.store", rate=0.4)
    write_exchange(root / "census.store", root / "inside.store", rate=0.8, within=True)
    return root


def tables_of(census: Census) -> list[PublishedTable]:
    method = CellKey(scheme("CP1"), secret=SECRET, lookup="hashed")
    return publish(census, method, *TABLES)


def scored(office: Path, store: str) -> Scores:
    census, derived = open_store(office / "census.store"), open_store(office / store)
    tables = tables_of(derived)
    report = run_attacks(tables, attacks=ATTACKS)
    return score(report, tables, census, derived=derived)


def of_level(scores: Scores, level: str) -> tuple[int, int, int]:
    lines = [line for line in scores.residents if line.level == level]
    return (
        sum(line.claims for line in lines),
        sum(line.right_counted for line in lines),
        sum(line.right_residents for line in lines),
    )


def test_claims_right_about_records_are_wrong_about_residents_where_places_move(
    office: Path,
) -> None:
    scores = scored(office, "some.store")
    claims, counted, residents = of_level(scores, "area")
    assert claims > 50
    assert residents < 0.75 * counted  # four in ten have another place
    # By attack and size, the records are those that are scored without the original.
    for group in scores.groups:
        lines = [
            line
            for line in scores.residents
            if (line.attack, line.size) == (group.attack, group.size)
        ]
        assert sum(line.claims for line in lines) == group.claims
        assert sum(line.right_counted for line in lines) == group.right
    for line in scores.residents:
        assert line.right_residents <= line.right_counted <= line.claims
        assert line.codes_right <= line.codes


def test_swapping_of_places_changes_nothing_above_its_level(office: Path) -> None:
    scores = scored(office, "inside.store")
    for level in ("country", "district"):
        claims, counted, residents = of_level(scores, level)
        assert residents == counted
        assert claims or level == "district"
    _, counted, residents = of_level(scores, "area")
    assert residents < 0.5 * counted


def test_levels_go_from_the_country_to_the_finest(office: Path) -> None:
    assert area_levels(open_store(office / "census.store").schema) == (
        "country",
        "district",
        "area",
    )


def test_tables_of_another_line_are_refused(office: Path, tmp_path: Path) -> None:
    village(tmp_path / "other.store", households=1_200, kinds=30, seed=9)
    census, derived = open_store(tmp_path / "other.store"), open_store(office / "some.store")
    tables = tables_of(derived)
    report = run_attacks(tables, attacks=ATTACKS)
    with pytest.raises(SpecError, match="not derived from"):
        score(report, tables, census, derived=derived)
    with pytest.raises(SpecError, match="--score-derived"):
        score(report, tables, open_store(office / "census.store"))
    with pytest.raises(SpecError, match="--score-derived"):
        stores_to_score(tables, tmp_path / "other.store")
    with pytest.raises(SpecError, match="was not derived from any store"):
        stores_to_score(tables, office / "census.store", office / "census.store")


def trial(step: str, **shares: tuple[int, int]) -> SwapTrial:
    from sdcensus.session.attack.residents import ResidentScore

    return SwapTrial(
        step=step,
        residents=tuple(
            ResidentScore("patterns", level, 1, claims, right, right, 0, 0)
            for level, (claims, right) in shares.items()
        ),
        tables=1,
        mean_absolute_distance=0.0,
        hellinger=0.0,
        levels=("country", "district", "area"),
    )


def test_the_smallest_step_is_the_first_that_is_enough_below_the_country() -> None:
    none = trial("", country=(20, 19), district=(40, 30), area=(100, 80))
    half = trial("a", country=(20, 19), district=(40, 20), area=(100, 55))
    more = trial("b", country=(20, 19), district=(40, 10), area=(100, 30))
    lab = SwappedAttacks(0.5, (none, half, more))
    assert half.above(0.5) == ("country", "area")
    assert lab.smallest is more
    assert lab.out_of_reach == ("country",)
    assert SwappedAttacks(0.1, (none, half)).smallest is None
    few = trial("c", country=(9, 9), area=(9, 9))  # too few claims to be judged
    assert few.above(0.5) == ()


def test_a_derived_store_is_checked_before_any_work(office: Path) -> None:
    census, derived = office / "census.store", office / "some.store"
    assert check_derived(census, derived).store.manifest.lineage
    with pytest.raises(SpecError, match="was not derived from any store"):
        check_derived(derived, census)
    with pytest.raises(SpecError, match="was not derived from"):
        check_derived(office / "inside.store", derived)
