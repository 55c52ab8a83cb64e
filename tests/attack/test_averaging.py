"""Averaging over all published tables: as right as the number of looks says, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from sdcensus.attack import Assumptions, run_attacks
from sdcensus.attack.averaging import Averages, averages, chance, rounded
from sdcensus.attack.claims import Int64, Mask
from sdcensus.attack.pieces import pieces_of
from sdcensus.attack.targets import Target, targets_of
from sdcensus.model.published.table import PublishedTable, Table
from sdcensus.model.spec.axis import make_axis
from sdcensus.session.census.census import Census
from sdcensus.testing.island import island
from tests.attack.made import cell_key, publish, questionnaire, truth
from tests.formats.made import table

AREAS, ANSWERS = 200, 12


def formula(looks: float, variance: float) -> float:
    """The chance that the average of so many whole looks rounds to the truth."""
    return float(2 * norm.cdf(0.5 * np.sqrt(looks / variance)) - 1)


def about(found: list[Averages], *variables: str) -> Averages:
    for one in found:
        if sorted(side.variable.split()[0] for side in one.piece.sides) == sorted(variables):
            return one
    raise AssertionError(f"no piece by {variables}")


def right(census: Census, tables: list[PublishedTable], one: Averages) -> Mask:
    table = next(table for table in tables if table.name == one.piece.target.name)
    return np.asarray(rounded(one) == truth(census, table).reshape(-1)[one.piece.cells])


@pytest.fixture(scope="module")
def asked() -> Census:
    return questionnaire(100_000, areas=AREAS, answers=ANSWERS)


@pytest.mark.parametrize(("name", "variance"), [("CP3(EU)", 1.0), ("CP3", 1.5), ("CP4", 2.0)])
def test_averages_are_as_right_as_the_number_of_looks_says(
    asked: Census, name: str, variance: float
) -> None:
    tables = publish(asked, cell_key(name), *(("area", "sex", f"q{at}") for at in range(ANSWERS)))
    targets, _ = targets_of(tables)
    found = averages(targets, {target.name: variance for target in targets})
    one = about(found, "area", "sex")
    hits = float(right(asked, tables, one).mean())
    # Its own cell, and twelve tables that each cut it into three parts.
    looks = 1 + ANSWERS / 3
    assert one.looks.min() >= ANSWERS - 3
    assert hits == pytest.approx(formula(looks, variance), abs=0.06)
    assert abs(hits - formula(looks, variance * 1.6)) > 0.06
    # Answers have nothing to do with each other: the intruder sees that no parts are shared.
    assert float(one.probability.mean()) == pytest.approx(formula(looks, variance), abs=0.02)
    alone = float((one.piece.values == _own(asked, tables, one)).mean())
    assert hits > alone + 0.15


def test_an_open_menu_gives_most_counts_away() -> None:
    # 28 further variables, of four codes each: eight whole looks at every count.
    census = questionnaire(40_000, areas=100, answers=28, codes=4)
    for name, variance, expected in (("CP3(EU)", 1.0, 0.84), ("CP4", 2.0, 0.68)):
        method = cell_key(name)
        tables = publish(census, method, *(("area", "sex", f"q{at}") for at in range(28)))
        targets, _ = targets_of(tables)
        one = about(averages(targets, {target.name: variance for target in targets}), "area", "sex")
        assert formula(8, variance) == pytest.approx(expected, abs=0.005)
        assert float(right(census, tables, one).mean()) == pytest.approx(expected, abs=0.08)


def _own(census: Census, tables: list[PublishedTable], one: Averages) -> Int64:
    table = next(table for table in tables if table.name == one.piece.target.name)
    return truth(census, table).reshape(-1)[one.piece.cells]


def test_claims_are_about_as_often_right_as_the_intruder_reckons(asked: Census) -> None:
    tables = publish(asked, cell_key("CP1"), *(("area", "sex", f"q{at}") for at in range(ANSWERS)))
    report = run_attacks(tables, Assumptions(limit=0.75), attacks=["averaging"])
    named = {table.name: truth(asked, table).reshape(-1) for table in tables}
    true = np.concatenate([named[claim.table][claim.cells] for claim in report.results[0].claims])
    said = np.concatenate([claim.lower for claim in report.results[0].claims])
    sure = np.concatenate([claim.probability for claim in report.results[0].claims])
    assert true.size > 200
    assert sure.min() >= 0.75
    assert float((true == said).mean()) == pytest.approx(float(sure.mean()), abs=0.08)


def test_parts_that_turn_up_again_bring_nothing_new() -> None:
    # Eight variables that cut people in the same way under other names.
    census = questionnaire(30_000, areas=60, answers=1)
    names = [f"again{at}" for at in range(8)]
    (first,) = publish(census, cell_key("CP3(EU)"), ("area", "sex", "q0"))
    (target,), _ = targets_of([first])
    others = [_renamed(target, name) for name in names]
    every = [target, *others]
    assert len(pieces_of(every)) > len(pieces_of([target]))
    one = about(averages([target], {"area-sex-q0.csv": 1.0}), "area", "sex")
    more = about(averages(every, {x.name: 1.0 for x in every}), "area", "sex")
    assert (one.precision == more.precision).all()
    assert (one.looks == more.looks).all()


def _renamed(target: Target, name: str) -> Target:
    """The same table by a variable that says the same under another name."""
    spec = target.table.spec
    axis = spec.axes[2]
    variable = replace(axis.variable, name=name, leaf_level=name)
    other = make_axis(variable, [variable.level()], total=True)
    table = Table(spec.with_axes((*spec.axes[:2], other)), target.table.published.copy())
    return replace(target, name=f"{name}.csv", table=table)


def test_one_more_table_with_the_same_cells_is_no_further_look() -> None:
    census = island(2000)
    method = cell_key("CP3")
    tables = publish(census, method, ("area", "sex"), ("sex", "area"), ("area+district", "sex"))
    targets, _ = targets_of(tables)
    one = about(averages(targets[:1], {x.name: 1.5 for x in targets}), "area", "sex")
    more = about(averages(targets, {x.name: 1.5 for x in targets}), "area", "sex")
    assert (one.precision == more.precision).all()
    assert (one.estimate == more.estimate).all()


def test_new_keys_are_a_further_look() -> None:
    census = island(20_000)
    first = publish(census, cell_key("CP3"), ("area", "sex"))
    other = [
        replace(one, name=f"again {one.name}")
        for one in publish(census, replace(cell_key("CP3"), key_version=2), ("area", "sex"))
    ]
    targets, _ = targets_of([*first, *other])
    found = about(averages(targets, {x.name: 1.5 for x in targets}), "area", "sex")
    assert (found.looks == 2).mean() > 0.5
    assert found.precision.max() == pytest.approx(2 / 1.5)


def test_ones_gain_nothing_from_further_tables() -> None:
    # The only person of a cell is the only one of a part of it, with the same noise.
    census = island(60)
    tables = publish(census, cell_key("CP3"), ("area", "sex", "age"), ("area", "sex", "married"))
    targets, _ = targets_of(tables)
    found = about(averages(targets, {x.name: 1.5 for x in targets}), "area", "sex")
    true = truth(census, publish(census, cell_key("CP3"), ("area", "sex"))[0])[:7, :2]
    assert (found.looks[(true == 1) & (found.piece.values > 0)] == 1).all()


def test_withheld_parts_give_no_look() -> None:
    one = table("area", "sex", values=range(100, 115), withheld=[0])
    (target,), _ = targets_of([PublishedTable("t.csv", one)])
    found = about(averages([target], {"t.csv": 1.0}), "area")
    assert found.looks.tolist() == [1, 2, 2, 2]


def test_all_zero_and_one_cell_tables() -> None:
    for by in ((), ("sex",), ("area+parish", "sex")):
        one = table(*by, values=[0] * table(*by).spec.cells)
        report = run_attacks(
            [PublishedTable("t.csv", one)], Assumptions(variance=1.0, max_deviation=2)
        )
        assert all(np.isfinite(x.lower).all() for r in report.results for x in r.claims)
        for result in report.results:
            assert all(v is None or v == v for v in result.figures.values())


def test_an_estimate_of_precision_one_is_right_in_two_of_five_cases() -> None:
    assert float(chance(np.array(1.0))) == pytest.approx(0.3829, abs=1e-4)
    assert float(chance(np.array(4 * 1.6448536**2))) == pytest.approx(0.9, abs=1e-6)


def test_where_there_is_no_time_for_all_the_coarsest_cells_are_averaged() -> None:
    tables = publish(island(2000), cell_key("CP3"), ("area", "sex"), ("area+district", "sex"))
    targets, _ = targets_of(tables)
    variances = {target.name: 1.5 for target in targets}
    every = averages(targets, variances)
    some = averages(targets, variances, most_added=400_000)
    assert 0 < len(some) < len(every)
    largest = max(one.estimate.size for one in some)
    left = {one.piece.key for one in every} - {one.piece.key for one in some}
    assert all(one.estimate.size >= largest for one in every if one.piece.key in left)
    for one in some:
        (same,) = (other for other in every if other.piece.key == one.piece.key)
        assert (one.estimate == same.estimate).all()
