"""Every change of records takes part in a study, with what a published 1, 2 or 3 then says."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.constraints import interior
from sdcensus.model.method.registry import Part, Registered
from sdcensus.model.vocabulary import RiskAxis
from sdcensus.report.study.figures import COMBINED, combined_figures
from sdcensus.report.study.files import write_study
from sdcensus.report.study.frontier import frontier_of, on_frontier
from sdcensus.report.study.results import Study, StudyResult
from sdcensus.report.study.words import sentences
from sdcensus.risk.combined import (
    NO_MOVES,
    cell_moves,
    combined_risk,
    measured_moves,
    observed_risk,
    prior_of,
)
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.derive.derivation import derive
from sdcensus.session.derive.step import step_from_text
from sdcensus.session.study.candidates import method_candidates
from sdcensus.session.study.study import compare, compare_cubes
from sdcensus.session.study.tables import listed_tables
from sdcensus.testing.island import SECRET, island_store

NOISE = "cell-key scheme=CP3 lookup=hashed"
SWAP = "random-swap rate=0.2"
#: Each registered change of records, as somebody writes it for the demo country.
CHANGES = {
    "targeted-swap": "risk_variables=age,sex k=3 rate=0.05",
    "proportional-swap": "risk_variables=age,sex rate=0.05",
    "attribute-swap": "attributes=religion classes=age@broad,sex rate=0.2",
    "random-swap": "rate=0.2",
    "over-imputation": "blank=religion rate=0.2 match=sex",
    "geographic-pram": "move=ed/parish=0.1",
    "pram": "variables=sex stay=0.9",
    "perturbation-weights": "one_in=5 small_strata=accept",
    "systematic-sample": "every=3",
    "drop-records": "where='age >= 80'",
    "multilevel-grid": "variable=ed_grid at_least=20",
    "microaggregation": "variables=income",
    "rank-swap": "variables=income ranks=0.2",
    "safe": "variables=ed@parish,sex,religion@faith moves=2 exact=0",
    "small-count-rounding": "tables=ed,sex,religion@faith base=3",
}
#: What may follow: without noise of every cell by itself, and with it.
AFTER = ("small-cell-adjustment", "light-touch", "per-unit-deviations", NOISE)
TABLE = "ed,sex,religion@faith"


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    folder = tmp_path_factory.mktemp("combined")
    country = write_country(folder / "country", country=make_country(1500))
    load(country.schema, folder / "c.store", secret=SECRET)
    return open_store(folder / "c.store")


@pytest.fixture(scope="module")
def study(census: Census) -> Study:
    texts = [f"{name} {CHANGES[name]}" for name in CHANGES]
    texts += [f"{text} | {NOISE}" for text in texts]
    texts += [f"{SWAP} | {after}" for after in AFTER[:3]]
    texts += [*AFTER[:3], NOISE]
    specs = listed_tables(census, [TABLE])
    candidates = method_candidates(census, texts, of="persons", secret=SECRET)
    return compare(census, specs, candidates, secret=SECRET)


def result_of(study: Study, name: str) -> StudyResult:
    return next(each for each in study.tables[0].results if each.candidate.name == name)


def test_every_registered_change_takes_part(study: Study) -> None:
    # What was imputed elsewhere comes back for one export of blanks, and is no method to compare.
    assert set(Registered(Part.PRE_TABULAR)) == {*CHANGES, "returned-imputation"}
    assert not study.left_out
    for result in study.tables[0].results:
        figures = combined_figures(result)
        assert figures["claim_measured_pct"] is not None, result.candidate.name
        assert all(value is None or 0 <= value <= 100 for value in figures.values())


def test_figures_are_those_of_the_combined_measure(study: Study, census: Census) -> None:
    """By the functions of the measure, on the derived store itself."""
    spec = listed_tables(census, [TABLE])[0]
    trial = step_from_text(census.store, SWAP, secret=SECRET).trial().store
    noise = scheme("CP3")
    prior = prior_of(census.tabulate(spec))
    formula = combined_risk(noise, prior, measured_moves(census.store, trial, spec))
    counted = observed_risk(cell_moves(census.store, trial, spec), noise)
    figures = combined_figures(result_of(study, f"{SWAP} | {NOISE}"))
    assert [figures[name] for name in COMBINED] == pytest.approx(
        [
            100 * (share or 0)
            for share in (
                formula.share_true,
                counted.share_true,
                formula.worst_claim,
                counted.worst_claim,
            )
        ]
    )
    # Without a change of records: the posterior of the noise alone, by formula and measured.
    alone = combined_risk(noise, prior, NO_MOVES)
    figures = combined_figures(result_of(study, NOISE))
    wanted = [100 * (alone.share_true or 0)] * 2 + [100 * (alone.worst_claim or 0)] * 2
    assert [figures[name] for name in COMBINED] == pytest.approx(wanted)


def test_both_together_leave_less_than_each(study: Study) -> None:
    claims = [
        combined_figures(result_of(study, name))["claim_measured_pct"] or 0
        for name in (f"{SWAP} | {NOISE}", SWAP, NOISE)
    ]
    assert claims[0] < min(claims[1:])


def test_copies_of_records_are_nobody(study: Study) -> None:
    """Of every third household with weight 3, a published 3 is one who lives there, thrice."""
    result = result_of(study, "systematic-sample every=3")
    assert result.further is not None
    assert result.further.by_count is not None
    (three,) = result.further.by_count.values
    assert three.published == 3
    assert three.claim_right == pytest.approx(1 / 3)


def test_a_method_without_known_noise_is_measured_as_published(
    study: Study, census: Census
) -> None:
    name = "small-cell-adjustment"
    figures = combined_figures(result_of(study, name))
    assert figures["claim_formula_pct"] is None
    spec = listed_tables(census, [TABLE])[0]
    cube = census.tabulate(spec).held_for("a test")
    method = method_candidates(census, [name], of="persons", secret=SECRET)[0].method
    assert method is not None
    table = method.protect(cube).table.held_for("a test")
    true, shown = cube.count[interior(spec)], table.published[interior(spec)]
    few = (shown >= 1) & (shown <= 3)
    assert figures["small_true_measured_pct"] == pytest.approx(100 * (true == shown)[few].mean())


def test_the_frontier_is_that_of_the_chosen_figure(study: Study, tmp_path: Path) -> None:
    table = study.tables[0]
    for axis in RiskAxis:
        chosen = replace(study, risk_axis=axis)
        pairs = [(each.utility.mean_absolute_distance, each.height(axis)) for each in table.results]
        best = {
            each.candidate.title
            for each, kept in zip(table.results, on_frontier(pairs), strict=True)
            if kept
        }
        assert frontier_of(chosen, table) == best
    written = write_study(replace(study, risk_axis=RiskAxis.CLAIM, language="fr"), tmp_path / "s")
    page = written[0].read_text(encoding="utf-8")
    assert "affirmations justes" in page
    with (tmp_path / "s" / "further_measures.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    claims = {row["scheme"] for row in rows if row["on_the_frontier_claim"] == "1"}
    assert claims == frontier_of(study, table, RiskAxis.CLAIM)
    assert rows[0]["new_violations"] == "0"
    assert float(rows[0]["claim_measured_pct"]) > 0


def test_a_derived_store_is_named(tmp_path: Path) -> None:
    original = island_store(tmp_path / "i.store", 300)
    drop = {"where": "age >= 8"}
    derive(tmp_path / "i.store", tmp_path / "d.store", "drop-records", drop, secret=SECRET)
    derived = open_store(tmp_path / "d.store")
    specs = listed_tables(derived, ["area,sex"])
    candidates = method_candidates(derived, ["random-rounding"], of="persons", secret=SECRET)
    words = dict(sentences(compare(derived, specs, candidates)))
    assert "drop-records" in words["A derived store."]
    assert "A derived store." not in dict(sentences(compare(original, specs, candidates)))
    cubes = [each.tabulate(*by).held_for("a test") for each, by in _both(original, derived)]
    with pytest.raises(SpecError, match="different records"):
        compare_cubes(cubes, candidates)


def _both(original: Census, derived: Census) -> list[tuple[Census, tuple[str, ...]]]:
    return [(original, ("area", "sex")), (derived, ("area", "age"))]


def test_broken_edit_rules_are_told_and_not_refused(tmp_path: Path) -> None:
    """Children of 2 who are married by a draw stay in the study, and are counted."""
    census = island_store(tmp_path / "i.store", 400)
    step = "pram variables=married stay=0.5 edit_rules=refuse"
    specs = listed_tables(census, ["area,married"])
    candidates = method_candidates(census, [step, "random-rounding"], of="persons", secret=SECRET)
    study = compare(census, specs, candidates, secret=SECRET)
    ((name, number),) = study.violations
    assert name == step
    derived = step_from_text(census.store, step, secret=SECRET).trial().tabulate("age", "married")
    assert number == derived.held_for("a test").count[:3, 1].sum() > 0
    assert f"{step} {number}" in dict(sentences(study))["Edit rules."]
    with pytest.raises(SpecError, match="married"):
        derive(
            tmp_path / "i.store",
            tmp_path / "p.store",
            "pram",
            {"variables": ("married",), "stay": ("0.5",), "edit_rules": "refuse"},
            secret=SECRET,
        )
