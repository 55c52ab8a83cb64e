"""Counts of households that tables of persons show k times as large."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sdcensus.attack import Assumptions, run_attacks
from sdcensus.attack.averaging import chance
from sdcensus.attack.claims import AttackResult
from sdcensus.attack.identities import posterior
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.attack.attack import known_noise
from sdcensus.session.census.census import Census
from sdcensus.testing.island import SECRET
from tests.attack.housed import housed, housed_schema, without_identities

DESIGN = design_perturbation(max_deviation=8, variance=7.0)
AREAS = 60


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    # The attack is told nothing: the schema that the tables come from declares nothing.
    schema = without_identities(housed_schema(AREAS, 6))
    return housed(
        tmp_path_factory.mktemp("housed") / "census.store", 4_000, AREAS, 6, schema=schema
    )


def published(census: Census, *tables: tuple[str, Sequence[str]]) -> list[PublishedTable]:
    method = CellKey(DESIGN, secret=SECRET, lookup="hashed")
    made = []
    for of, by in tables:
        protected = method.protect(census.tabulate(*by, of=of))
        made.append(
            PublishedTable(f"{of}-{'-'.join(by)}.csv", protected.table, protected.provenance)
        )
    return made


def attacked(tables: Sequence[PublishedTable], **known: object) -> AttackResult:
    assumptions = Assumptions(variance=7.0, **known)  # type: ignore[arg-type]
    return run_attacks(tables, assumptions, attacks=["identities"]).results[0]


def right(
    census: Census, result: AttackResult, least: float = 0.0, size: int = 0
) -> tuple[int, int]:
    """How many claims are right, and how many there are; of one size, or of all."""
    hits = claims = 0
    for claim in result.claims:
        assert claim.probability is not None
        sure = claim.probability >= least
        if size:
            at = np.unravel_index(claim.cells, claim.spec.shape)
            sure &= at[1] == size - 1
        truth = census.tabulate(claim.spec).values.count.reshape(-1)[claim.cells]
        hits += int((sure & (claim.lower == truth)).sum())
        claims += int(sure.sum())
    return hits, claims


def published_right(
    census: Census, tables: Sequence[PublishedTable], result: AttackResult
) -> float:
    shown = {table.name: table.table for table in tables}
    hits = cells = 0
    for claim in result.claims:
        truth = census.tabulate(claim.spec).values.count.reshape(-1)[claim.cells]
        value = shown[claim.table].published.reshape(-1)[claim.cells]
        hits += int((value == truth).sum())
        cells += claim.count
    return hits / cells


def test_two_questions_decode_counts_of_households(census: Census) -> None:
    tables = published(census, ("household", ("area", "size")), ("person", ("area", "size")))
    result = attacked(tables, limit=0.0)
    hits, claims = right(census, result)
    # 10.11 of the methods: right 63 % against 19 %, with sizes up to ten. Here they go to five, and
    # what follows from a look worth 1 and one worth k² is met for each.
    assert claims > 150
    assert hits / claims > published_right(census, tables, result) + 0.2
    for size in range(1, 6):
        expected = float(chance(np.array((1 + size**2) / 7.0)))
        got, of = right(census, result, size=size)
        assert abs(got / of - expected) < 3 * np.sqrt(expected * (1 - expected) / of) + 0.03
    sure_hits, sure = right(census, result, 0.65)
    assert sure >= 20
    assert sure_hits / sure > 0.55
    # The six-and-more mix sizes, and are not among the codes.
    assert result.figures["codes that tie units"] == 5
    assert all(claim.table.startswith("household") for claim in result.claims)


def test_how_sure_he_is_is_how_often_he_is_right(census: Census) -> None:
    tables = published(census, ("household", ("area", "size")), ("person", ("area", "size")))
    result = attacked(tables, limit=0.0)
    reckoned = np.concatenate(
        [claim.probability for claim in result.claims if claim.probability is not None]
    )
    hits, claims = right(census, result)
    # Three standard deviations.
    assert abs(hits / claims - reckoned.mean()) < 3 * np.sqrt(0.25 / claims)


def test_every_table_of_persons_is_one_more_look(census: Census) -> None:
    few = published(census, ("household", ("area", "size")), ("person", ("area", "size")))
    many = [
        few[0],
        *published(census, *(("person", ("area", "size", f"q{at}")) for at in range(6))),
    ]
    less, more = (right(census, attacked(tables, limit=0.9)) for tables in (few, many))
    assert more[0] > 1.3 * less[0]
    assert more[0] / more[1] > 0.88


def test_classes_that_mix_sizes_give_nothing(census: Census) -> None:
    tables = published(
        census, ("household", ("area", "size")), ("person", ("area", "size@grouped"))
    )
    result = attacked(tables, limit=0.0)
    assert result.claims == ()
    assert "No code was found" in result.sentences[-1] or "No two tables" in result.sentences[-1]


def test_other_variables_of_households_are_not_taken_for_identities(census: Census) -> None:
    tables = published(census, ("household", ("area", "tenure")), ("person", ("area", "tenure")))
    assert attacked(tables, limit=0.0).claims == ()


def test_reference_persons_are_found_by_their_numbers(tmp_path: Path) -> None:
    large = housed(
        tmp_path / "large.store", 6_000, 12, 0, schema=without_identities(housed_schema(12, 0))
    )
    tables = published(large, ("household", ("area",)), ("person", ("area", "place")))
    result = attacked(tables, limit=0.0)
    assert result.figures["codes that tie units"] == 1
    # Only those with place 0: one in each household. Two looks of the same weight.
    assert {claim.table for claim in result.claims} == {"household-area.csv"}


def test_known_deviations_change_what_is_claimed(census: Census) -> None:
    tables = published(census, ("household", ("area", "size")), ("person", ("area", "size")))
    without, with_noise = (
        attacked(tables, limit=0.0, noise=noise) for noise in (None, known_noise(DESIGN))
    )
    a, b = (
        np.concatenate(
            [claim.probability for claim in result.claims if claim.probability is not None]
        )
        for result in (without, with_noise)
    )
    assert a.shape == b.shape
    assert not np.allclose(a, b)


def test_the_posterior_is_that_of_brute_force() -> None:
    value, likely = posterior(11.0, 1 / 7, [(4, 33.0, 1 / 7)], least=1)
    counts = np.arange(1, 60)
    weights = np.exp(-((11 - counts) ** 2) / 14 - (33 - 4 * counts) ** 2 / 14)
    assert value == counts[np.argmax(weights)] == 8
    assert likely == pytest.approx(weights.max() / weights.sum(), rel=1e-6)
    # A near miss: with persons five to a household it is another count.
    assert posterior(11.0, 1 / 7, [(5, 33.0, 1 / 7)], least=1)[0] == 7


def test_known_deviations_rule_counts_out() -> None:
    value, likely = posterior(
        12.0, 1 / 7, [(1, 3.0, 1 / 7)], least=1, published=12, noise=known_noise(DESIGN)
    )
    assert 4 <= value <= 20  # 12 is at most 8 away
    assert 0 < likely <= 1
