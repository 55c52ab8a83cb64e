"""Intruders with a file from elsewhere, on a census with everything that is odd."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.records import FileRecords, records_of
from sdcensus.microdata.release.sample import drawn
from sdcensus.model.progress import no_progress
from sdcensus.model.release.plan import Design, IntruderRules, ReleasePlan, RiskRules
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.records.intruder import IntruderMatches
from sdcensus.session.release.assess.intruder import (
    _People,
    intruder_grid,
    intruder_row,
    simulate_intruder,
)
from sdcensus.session.release.columns import told_codes
from sdcensus.store.census_store import CensusStore
from tests.hamlet import write_hamlet

LADDER = ("age", "sex", "ed@parish", "tenure", "married")
DRAWS = Draws(bytes(range(16)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    return CensusStore.open(hamlet.store)


def made(store: CensusStore, fraction: str = "1/3", **design: Any) -> FileRecords:
    choice = Design(name="A", fraction=Fraction(fraction), keep=("ed@parish",), **design)
    plan = ReleasePlan(
        name="file", store=Path("s"), office=Path("o"), designs=(choice,),
        risk=RiskRules(ladder=LADDER),
    )  # fmt: skip
    resolved = file_design(plan, choice, store.schema)
    return records_of(store, resolved, drawn(store, resolved, plan, DRAWS, no_progress))


def matched(store: CensusStore, records: FileRecords, **rules: Any) -> IntruderMatches:
    return simulate_intruder(store, records, IntruderRules(**rules), DRAWS)


def test_with_everybody_and_no_errors_matches_are_the_population_uniques(
    store: CensusStore,
) -> None:
    """Then, and only then, uniques are the risk: every claim is right."""
    for fraction in ("1/3", "1"):
        matches = matched(store, made(store, fraction), disagreeing=0)
        assert matches.claims == matches.correct == matches.population_uniques > 0
        assert matches.overstated_in_population == 1
        assert matches.external == store.rows(Entity.PERSON)
        assert matches.in_both == matches.records
        assert matches.missed == matches.in_both - matches.correct


def test_coverage_errors_and_time_make_uniques_overstate_risk(store: CensusStore) -> None:
    records = made(store)
    best = matched(store, records)
    for worse in (
        {"coverage": 0.3},
        {"external_error": 0.1},
        {"file_error": 0.1},
        {"file_errors": {"age": 0.5}},
        {"years": 3, "moves": 0.1},
    ):
        matches = matched(store, records, **worse)
        assert matches.correct < best.correct
        assert matches.correct + matches.wrong == matches.claims
        assert matches.correct + matches.missed == matches.in_both
        assert matches.sample_uniques == best.sample_uniques
        assert (matches.overstated or 99) > (best.overstated or 99)


def test_coverage_is_a_share_of_the_population_and_grows(store: CensusStore) -> None:
    records = made(store)
    grid = intruder_grid(store, records, IntruderRules(), DRAWS, errors=(0.0,))
    people = store.rows(Entity.PERSON)
    for matches in grid:
        assert matches.external == pytest.approx(matches.coverage * people, abs=4 * people**0.5)
    assert [matches.in_both for matches in grid] == sorted(matches.in_both for matches in grid)


def test_the_same_question_has_the_same_answer(store: CensusStore) -> None:
    rules = {"coverage": 0.5, "external_error": 0.05, "years": 2, "moves": 0.05}
    first, second = (matched(store, made(store), **rules) for _ in range(2))
    assert intruder_row(first).correct == intruder_row(second).correct
    assert first == second


def test_ages_are_those_of_some_years_ago(store: CensusStore) -> None:
    """Single years go down by the years, not below 0; who does not say an age still does not."""
    age = store.schema.variable("age")
    now = store.column(Entity.PERSON, age)[slice(None)]
    then = _People(store, DRAWS, IntruderRules(years=7)).leaves_then(age)
    lower = np.array([-1 if code.lower is None else code.lower for code in age.codes])
    stated = lower[now] >= 0
    assert (lower[then][stated] == np.maximum(lower[now][stated] - 7, 0)).all()
    assert (then[~stated] == now[~stated]).all()
    assert (~stated).any()


def test_moves_happen_with_their_yearly_rate(store: CensusStore) -> None:
    ed = store.schema.variable("ed")
    now = store.column(Entity.PERSON, ed)[slice(None)]
    then = _People(store, DRAWS, IntruderRules(years=2, moves=0.3)).leaves_then(ed)
    assert (then != now).mean() == pytest.approx(1 - 0.7**2, abs=0.06)
    assert (_People(store, DRAWS, IntruderRules(moves=0.3)).leaves_then(ed) == now).all()


def test_what_was_blanked_in_the_file_does_not_agree(store: CensusStore) -> None:
    """A key with a code beyond its list is blank: nobody is linked on all keys."""
    records = made(store, "1")
    sex = records.codes["sex"]
    blanked = records.told(codes={"sex": np.full(sex.size, 7, dtype=sex.dtype)})
    matches = matched(store, blanked, disagreeing=0)
    assert (matches.claims, matches.missed) == (0, matches.in_both)
    assert matched(store, blanked, disagreeing=1).correct > 0


def test_keys_may_be_named_as_the_ladder_and_as_the_file_do(store: CensusStore) -> None:
    records = made(store)
    by_ladder = matched(store, records, keys=("age", "ed@parish"))
    by_file = matched(store, records, keys=("age", "parish"))
    assert by_ladder == by_file
    assert by_ladder.keys == ("age", "parish")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"keys": ("shoe_size",)}, "shoe_size"),
        ({"keys": ("age", "age")}, "twice"),
        ({"keys": ("age",), "external_errors": {"sex": 0.1}}, "sex"),
    ],
)
def test_keys_that_are_not_there_are_named(
    store: CensusStore, rules: dict[str, Any], words: str
) -> None:
    with pytest.raises(SpecError, match=words):
        matched(store, made(store), **rules)


@pytest.mark.parametrize(
    "rules", [{"coverage": 0}, {"coverage": 1.1}, {"external_errors": {"age": -0.1}},
              {"moves": 2}, {"disagreeing": -1}]
)  # fmt: skip
def test_shares_that_make_no_sense_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="intruder"):
        IntruderRules(**rules)


def test_household_keys_are_told_of_persons(store: CensusStore) -> None:
    records = made(store, "1/2")
    tenure = next(each for each in records.design.variables if each.name == "tenure")
    rows = records.sample.rows[Entity.PERSON]
    expected = told_codes(store, Entity.PERSON, tenure)[rows]
    matches = matched(store, records, keys=("tenure",), disagreeing=0)
    assert matches.sample_uniques == int((np.bincount(expected) == 1).sum())
    assert replace(matches, name="x") != matches
