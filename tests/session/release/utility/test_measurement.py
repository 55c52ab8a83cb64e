"""What a file costs its users, measured on a settlement whose census is known."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.release.plan import ModelQuestion, Survey
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_language
from sdcensus.session.release.utility import measurement
from sdcensus.session.release.utility.measurement import as_counted, measured_utility
from sdcensus.session.release.utility.results import Precision
from sdcensus.session.release.utility.stations import CensusStation, RecordsStation
from sdcensus.store.census_store import CensusStore
from sdcensus.utility.records.sampling_error import ratio_estimate
from tests.session.release.file_records import (
    file_records,
    release_plan,
    settlement_design,
    settlement_store,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return settlement_store(tmp_path_factory.mktemp("settlement") / "census.store")


def test_a_file_of_everybody_as_they_are_costs_nothing(store: CensusStore) -> None:
    design = settlement_design(store, Fraction(1))
    records = file_records(store, design)
    model = ModelQuestion(name="rooms", formula="income ~ sex + tenure", where="age >= 2")
    utility = measured_utility(store, records, release_plan(design, models=(model,)))
    assert {each.variable.name for each in utility.variables} == {
        "rooms",
        "tenure",
        "size",
        "kind",
        "sex",
        "age",
    }
    for each in utility.variables:
        assert each.detail == pytest.approx(1)
        assert each.together.total_variation == pytest.approx(0)
    assert len(utility.pairs) == 15
    assert all(pair.change == pytest.approx(0, abs=1e-9) for pair in utility.pairs)
    assert all(check.errors == 0 for check in utility.estimates)
    assert utility.covered == 1
    income = utility.amounts[0]
    assert income.census == income.file
    fitted = utility.models[0]
    assert not fitted.problem
    assert [overlap for _, _, overlap in fitted.side_by_side()] == pytest.approx([1, 1, 1, 1])


def test_losses_are_told_apart_by_sampling_recodes_and_changes(store: CensusStore) -> None:
    design = settlement_design(store, Fraction(1, 3), recoded=("age", "rooms"))
    before = file_records(store, design)
    sex = before.codes["sex"].copy()
    sex[: sex.size // 2] = 0  # a change that is easy to see
    after = before.told(codes={"sex": sex})
    utility = measured_utility(store, after, release_plan(design))
    by_name = {each.variable.name: each for each in utility.variables}
    age, changed = by_name["age"], by_name["sex"]
    assert age.detail is not None
    assert 0 < age.detail < 1
    assert age.changes.total_variation == 0
    assert 0 < age.sampling.total_variation < 0.1
    assert changed.detail == pytest.approx(1)
    assert by_name["tenure"].changes.total_variation == 0
    assert changed.changes.total_variation > 0.2
    assert changed is max(utility.variables, key=lambda each: each.together.total_variation)
    pairs = {pair.names: pair for pair in utility.pairs}
    assert pairs["rooms", "age"].by_recodes is not None
    assert pairs["sex", "age"].by_changes != 0
    assert pairs["tenure", "age"].by_changes == 0
    assert [abs(pair.change or 0) for pair in utility.pairs] == sorted(
        (abs(pair.change or 0) for pair in utility.pairs), reverse=True
    )
    worst = max(utility.estimates, key=lambda check: check.errors or 0)
    assert worst.variable == "sex"
    assert worst.errors is not None
    assert worst.errors > 5
    losses = next(table for table in utility.facts if table.name == "utility-losses")
    assert len(losses.rows) == 3
    assert "sex" in in_language(utility.verdict[1], "fr")


def test_tables_show_at_most_so_many_pairs_and_nothing_is_shown_by_accident(
    store: CensusStore,
) -> None:
    design = settlement_design(store, Fraction(7, 100))
    records = file_records(store, design)
    utility = measured_utility(store, records, release_plan(design), most_pairs=4)
    pairs = next(table for table in utility.facts if table.name == "utility-pairs")
    assert len(pairs.rows) == 4
    assert repr(utility) == "<ReleaseUtility: confidential>"
    assert all("confidential" in repr(each) for each in (*utility.variables, *utility.estimates))
    for language in ("es", "fr", "nl", "pt"):
        assert in_language(pairs.title, language) != str(pairs.title)


def test_of_large_censuses_only_named_pairs_are_compared_and_the_report_says_so(
    store: CensusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = settlement_design(store, Fraction(1, 3), recoded=("age",))
    records = file_records(store, design)
    model = ModelQuestion(name="rooms", formula="income ~ sex + tenure", where="age >= 2")
    plan = release_plan(design, models=(model,))
    every = measured_utility(store, records, plan)
    monkeypatch.setattr(measurement, "MOST_COMPARED", 0)
    few = measured_utility(store, records, plan)
    known = {"sex", "tenure", "age", *(key.source.name for key in design.ladder)}
    assert {name for pair in few.pairs for name in pair.names} <= known
    assert {pair.names for pair in few.pairs} >= {("sex", "age"), ("tenure", "sex")}
    assert few.left_out == len(every.pairs) - len(few.pairs) > 0
    values = {pair.names: (pair.census, pair.file) for pair in every.pairs}
    assert all((pair.census, pair.file) == values[pair.names] for pair in few.pairs)
    notes = [
        next(table for table in utility.facts if table.name == "utility-pairs").note
        for utility in (every, few)
    ]
    assert str(few.left_out) in str(notes[1])
    assert str(notes[0]) != str(notes[1])


def test_columns_of_the_census_serve_several_designs(store: CensusStore) -> None:
    """With shared columns each design is measured as it is alone."""
    designs = [
        settlement_design(store, Fraction(1, 3), recoded=recoded) for recoded in ((), ("age",))
    ]
    plan = release_plan(designs[0])
    census = CensusStation(store, plan)
    for design in designs:
        records = file_records(store, design)
        shared = measured_utility(store, records, plan, census=census)
        alone = measured_utility(store, records, plan)
        assert shared.pairs == alone.pairs
        assert [each.together for each in shared.variables] == [
            each.together for each in alone.variables
        ]


def test_surveys_are_compared_by_their_standard_errors(store: CensusStore) -> None:
    design = settlement_design(store, Fraction(1, 4))
    records = file_records(store, design)
    persons = records.sample.rows[Entity.PERSON].size
    surveys = (
        Survey(name="Half", persons=persons // 2),
        Survey(name="Same", persons=persons),
        Survey(name="Twice", persons=2 * persons),
        Survey(name="Clustered", persons=persons, design_effect=6.0),
        Survey(name="Homes", households=20),
        Survey(name="Unknown"),
        Survey(name="Everybody", persons=10**9),
    )
    utility = measured_utility(store, records, release_plan(design, surveys=surveys))
    verdicts = {verdict.survey.name: verdict for verdict in utility.surveys}
    assert verdicts["Half"].precision is Precision.MORE
    assert verdicts["Same"].precision is Precision.ALIKE
    assert verdicts["Twice"].precision is Precision.LESS
    assert verdicts["Clustered"].precision is Precision.MORE
    assert verdicts["Unknown"].precision is Precision.UNKNOWN
    assert verdicts["Everybody"].precision is Precision.LESS
    assert 20 < verdicts["Homes"].persons < 100
    said = "\n".join(utility.verdict)
    assert "as precise as the survey Same" in said
    assert f"({persons // 2} persons)" in said


MISTAKES = [
    ("sex == 1 ~ beard", "", UnknownName),
    ("sex = = 1 ~ age", "", SpecError),
    ("sex ~ age", "", SpecError),
    ("income ~ age", "beard == 1", SpecError),
    ("income ~ income", "", SpecError),
]


@pytest.mark.parametrize(("formula", "where", "kind"), MISTAKES)
def test_mistakes_of_models_name_the_model(
    store: CensusStore, formula: str, where: str, kind: type[SpecError]
) -> None:
    design = settlement_design(store, Fraction(1, 2))
    records = file_records(store, design)
    question = ModelQuestion(name="work", formula=formula, where=where)
    with pytest.raises(kind):
        measured_utility(store, records, release_plan(design, models=(question,)))


def test_models_that_a_file_cannot_answer_say_why_and_the_rest_is_measured(
    store: CensusStore,
) -> None:
    design = settlement_design(store, Fraction(1, 2), recoded=("age",), drop="kind")
    records = file_records(store, design)
    questions = (
        ("absent", "sex == 1 ~ kind", "", "'kind' is not in the file of design 'A'"),
        ("finer", "sex == 1 ~ tenure", "age >= 3", "its code 'g1' of 'age' holds both"),
        ("outcome", "age == 4 ~ sex", "", "its code 'g2' of 'age' holds both"),
        ("nobody", "sex == 1 ~ tenure", "age >= 2 and age < 2", "no record is left"),
        ("same", "sex == 1 ~ tenure", "sex == 1", "the same for everybody"),
    )
    models = tuple(
        ModelQuestion(name=name, formula=formula, where=where)
        for name, formula, where, _ in questions
    )
    utility = measured_utility(store, records, release_plan(design, models=models))
    for comparison, (name, _, _, problem) in zip(utility.models, questions, strict=True):
        assert problem in comparison.problem, name
        assert repr(name) in comparison.problem
    assert utility.pairs


def test_coefficients_of_a_sample_are_near_those_of_the_census(store: CensusStore) -> None:
    design = settlement_design(store, Fraction(1, 2))
    records = file_records(store, design)
    models = (
        ModelQuestion(name="pay", formula="income ~ age + sex + rooms", where="age in (2, 3, 4)"),
        ModelQuestion(name="old", formula="age >= 5 ~ tenure + sex"),
        ModelQuestion(name="home", formula="tenure == 2 ~ rooms"),
    )
    utility = measured_utility(store, records, release_plan(design, models=models))
    for comparison in utility.models:
        assert not comparison.problem
        for census, file, overlap in comparison.side_by_side():
            assert file is not None
            assert overlap is not None
            assert abs(census.value - file.value) < 4 * file.error
            assert file.error > census.error * 0.9
    assert np.mean([overlap for *_, overlap in utility.models[1].side_by_side()]) > 0.3


def test_a_file_of_few_households_is_measured_without_errors(tmp_path: Path) -> None:
    small = settlement_store(tmp_path / "census.store", dwellings=8)
    design = settlement_design(small, Fraction(1, small.rows(Entity.HOUSEHOLD)))
    records = file_records(small, design)
    assert records.sample.rows[Entity.HOUSEHOLD].size <= 1
    surveys = (Survey(name="S", persons=5),)
    utility = measured_utility(small, records, release_plan(design, surveys=surveys))
    households = [check for check in utility.estimates if check.entity is Entity.HOUSEHOLD]
    assert all(check.inside is None for check in households)


def test_errors_are_those_of_three_hundred_secrets(store: CensusStore) -> None:
    design = settlement_design(store, Fraction(1, 5))
    plan = release_plan(design)
    variable = next(each for each in design.variables if each.name == "tenure")
    codes = CensusStation(store, plan).codes(variable, Entity.PERSON)
    held = codes >= 0
    truth = float((codes[held] == 2).mean())
    values, variances, alone, inside = [], [], [], 0
    for key in range(300):
        station = RecordsStation(file_records(store, design, key))
        codes = station.codes(variable, Entity.PERSON)
        clusters = station.clusters(Entity.PERSON)
        estimate = ratio_estimate((codes == 2).astype(float), clusters, codes >= 0)
        assert estimate is not None
        assert estimate.interval is not None
        assert estimate.error is not None
        assert estimate.design_effect is not None
        values.append(estimate.value)
        variances.append(estimate.error**2)
        alone.append(estimate.error**2 / estimate.design_effect)
        inside += estimate.interval[0] <= truth <= estimate.interval[1]
    variance = float(np.var(values, ddof=1))
    assert 0.75 < float(np.mean(variances)) / variance < 1.3
    assert inside >= 0.91 * 300
    # Persons of a household share its tenure: drawn one by one they would be far more precise.
    assert float(np.mean(alone)) / variance < 0.6


def test_swapped_records_are_compared_with_the_same_persons_of_the_census(
    store: CensusStore,
) -> None:
    """A store whose records stand in another order: units are found by their identity."""
    design = settlement_design(store, Fraction(1, 2))
    other = settlement_store(store.path.parent / "other.store", shuffled=5)
    records = file_records(other, design)
    before = as_counted(store, records)
    for name in ("tenure", "sex", "age"):
        assert (before.codes[name] == records.codes[name]).all()
    assert not (before.sample.rows[Entity.PERSON] == records.sample.rows[Entity.PERSON]).all()
