"""Gaps, intervals and margins: never wrong where what is taken to be known is true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.attack import ATTACKS, Assumptions, AttackResult, run_attacks
from sdcensus.attack.keys.gaps import learn
from sdcensus.attack.targets import targets_of
from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.published.table import PublishedTable, Table
from sdcensus.model.spec.table_spec import Measure
from sdcensus.session.census.census import Census
from sdcensus.testing.island import island
from tests.attack.made import cell_key, publish, questionnaire, truth
from tests.formats.made import spec, table

TABLES = (("area+district", "age", "sex"), ("area", "age@class", "married"))


def attack(tables: list[PublishedTable], *names: str, **known: object) -> dict[str, AttackResult]:
    report = run_attacks(tables, Assumptions(**known), attacks=names)  # type: ignore[arg-type]
    return {result.attack: result for result in report.results}


def right(census: Census, tables: list[PublishedTable], result: AttackResult) -> bool:
    named = {table.name: truth(census, table).reshape(-1) for table in tables}
    return all(
        (
            (claim.lower <= named[claim.table][claim.cells])
            & (named[claim.table][claim.cells] <= claim.upper)
        ).all()
        for claim in result.claims
    )


@pytest.mark.parametrize("lookup", ["ascending", "hashed"])
def test_cp1_falls(lookup: str) -> None:
    census = island(400)
    tables = publish(census, cell_key("CP1", lookup), *TABLES)
    found = attack(tables, "intervals", "margins", max_deviation=1)
    assert found["intervals"].exact > 10
    for result in found.values():
        assert right(census, tables, result)
    # One step by hand finds no more than all steps.
    cells = {
        (claim.table, cell) for claim in found["intervals"].claims for cell in claim.cells.tolist()
    }
    for claim in found["margins"].claims:
        assert cells.issuperset((claim.table, cell) for cell in claim.cells.tolist())


def test_stronger_schemes_hold_against_intervals() -> None:
    census = island(400)
    for name in ("CP3(EU)", "CP4"):
        tables = publish(census, cell_key(name), *TABLES)
        deviation = 3 if name == "CP3(EU)" else 4
        found = attack(tables, "intervals", "margins", max_deviation=deviation)
        assert found["intervals"].exact == 0
        assert found["margins"].exact == 0


def test_the_bound_is_found_where_it_is_not_known() -> None:
    census = island(2000)
    tables = publish(census, cell_key("CP1"), *TABLES)
    given = attack(tables, "intervals", max_deviation=1)["intervals"]
    found = attack(tables, "intervals")["intervals"]
    assert found.exact == given.exact > 0
    assert "found from the tables" in found.sentences[0]


def test_too_small_a_bound_is_noticed() -> None:
    tables = publish(island(2000), cell_key("CP4"), *TABLES)
    found = attack(tables, "intervals", max_deviation=0)["intervals"]
    assert found.claims == ()
    assert "cannot be true" in found.sentences[0]


def test_tables_that_add_up_say_nothing_about_the_bound() -> None:
    inner = np.arange(8).reshape(4, 2) + 5
    one = Table(spec("area", "sex"), with_totals(spec("area", "sex"), inner))
    found = attack([PublishedTable("t.csv", one)], "gaps", "intervals", "averaging")
    assert found["intervals"].claims == ()
    assert "largest deviation" in found["intervals"].sentences[0]
    assert "add" in found["gaps"].sentences[0] or "sums" in found["gaps"].sentences[0]
    assert "Give a variance" in found["averaging"].sentences[0]


def test_linear_programs_find_at_least_as_much() -> None:
    census = island(400)
    tables = publish(census, cell_key("CP1"), ("area", "sex", "age@class", "married"))
    shuttled = attack(tables, "intervals", max_deviation=1, linear_cells=0)["intervals"]
    linear = attack(tables, "intervals", max_deviation=1, linear_cells=1000)["intervals"]
    assert 0 < shuttled.exact <= linear.exact
    assert right(census, tables, linear)


@given(
    inner=st.lists(st.integers(0, 6), min_size=8, max_size=8),
    noise=st.lists(st.integers(-2, 2), min_size=21, max_size=21),
    zeros_known=st.booleans(),
)
def test_no_claim_is_wrong_for_who_knows_the_truth_about_the_noise(
    inner: list[int], noise: list[int], zeros_known: bool
) -> None:
    shown = spec("area+parish", "sex")
    true = with_totals(shown, np.array(inner).reshape(4, 2))
    published = np.maximum(true + np.array(noise).reshape(shown.shape), 0)
    if zeros_known:  # empty cells stay 0, and a published 0 says nothing
        published = np.where(true == 0, 0, published)
    one = PublishedTable("t.csv", Table(shown, published))
    found = attack([one], "intervals", "margins", max_deviation=2, zeros_known=zeros_known)
    for result in found.values():
        for claims in result.claims:
            counts = true.reshape(-1)[claims.cells]
            assert ((claims.lower <= counts) & (counts <= claims.upper)).all()


# ---------------------------------------------------------------- gaps


@pytest.fixture(scope="module")
def asked() -> Census:
    return questionnaire(40_000, areas=60, answers=6)


ASKED = [("area", "sex", f"q{at}") for at in range(6)]


@pytest.mark.parametrize(
    ("name", "variance", "deviation"), [("CP1", 0.5, 1), ("CP3(EU)", 1.0, 3), ("CP4", 2.0, 4)]
)
@pytest.mark.parametrize("lookup", ["hashed", "ascending"])
def test_variance_and_look_up_are_no_secret(
    asked: Census, name: str, variance: float, deviation: int, lookup: str
) -> None:
    targets, _ = targets_of(publish(asked, cell_key(name, lookup), *ASKED))
    found = learn(targets)
    assert found.variance == pytest.approx(variance, rel=0.12)
    assert found.large_lines
    assert 1 <= found.deviation_at_least <= deviation
    assert found.coupled is (lookup == "ascending")
    assert found.rounding_base == 1


def test_rounding_and_blocked_counts_are_seen(asked: Census) -> None:
    targets, _ = targets_of(publish(asked, RandomRounding(3), *ASKED))
    assert learn(targets).rounding_base == 3
    targets, _ = targets_of(publish(island(400), cell_key("CP3(1,2)"), *TABLES))
    found = learn(targets)
    assert (found.rounding_base, found.blocked) == (1, 2)
    targets, _ = targets_of(publish(island(400), cell_key("CP3(EU)"), *TABLES))
    assert learn(targets).blocked == 0


@given(
    inner=st.lists(st.integers(0, 4), min_size=8, max_size=8),
    noise=st.lists(st.integers(-3, 3), min_size=15, max_size=15),
)
def test_the_lower_bound_of_the_deviation_is_one(inner: list[int], noise: list[int]) -> None:
    shown = spec("area", "sex")
    true = with_totals(shown, np.array(inner).reshape(4, 2))
    published = np.maximum(true + np.array(noise).reshape(shown.shape), 0)
    targets, _ = targets_of([PublishedTable("t.csv", Table(shown, published))])
    assert learn(targets).deviation_at_least <= int(np.abs(published - true).max())


def test_weighted_tables_are_left_out_and_that_is_said() -> None:
    counted = table("area", "sex")
    weighted = replace(counted, spec=replace(counted.spec, measure=Measure.WEIGHTED))
    report = run_attacks([PublishedTable("w.csv", weighted)])
    assert (report.tables, report.results, report.cells) == ((), (), 0)
    assert report.left_out == ("w.csv shows weighted counts and was not attacked.",)


# ---------------------------------------------------------------- bad input


def test_bad_input_is_refused() -> None:
    one = PublishedTable("t.csv", table("area", "sex"))
    with pytest.raises(UnknownName, match=r"'margin'.*'margins'"):
        run_attacks([one], attacks=["margin"])
    with pytest.raises(SpecError, match="at least one attack"):
        run_attacks([one], attacks=[])
    with pytest.raises(SpecError, match="no table that can be attacked"):
        run_attacks([])
    with pytest.raises(SpecError, match="published tables only"):
        run_attacks([island(50).tabulate("sex")])  # type: ignore[list-item]
    for wrong in (
        {"max_deviation": -1},
        {"max_deviation": 10**20},
        {"max_deviation": 1.5},
        {"variance": 0.0},
        {"variance": float("nan")},
        {"limit": 1.0},
        {"limit": -0.1},
    ):
        with pytest.raises(SpecError):
            Assumptions(**wrong)


def test_weighted_tables_are_left_out_with_a_reason() -> None:
    census = island(300)
    weighted = census.tabulate("area", measure="weighted")
    protected = cell_key("CP3").protect(weighted)
    tables = [
        *publish(census, cell_key("CP3"), ("area", "sex")),
        PublishedTable("w.csv", protected.table, protected.provenance),
    ]
    report = run_attacks(tables, attacks=["gaps"])
    assert report.tables == ("area-sex.csv",)
    assert "weighted" in report.left_out[0]


def test_every_attack_is_registered_under_its_own_name() -> None:
    one = PublishedTable("t.csv", table("area", "sex", values=range(3, 18)))
    report = run_attacks([one])
    assert [result.attack for result in report.results] == list(ATTACKS)
