"""Models that are fitted with weights and households, and what cannot be fitted."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Code, CodeKind
from sdcensus.utility.records.formula import ModelError, parse_formula
from sdcensus.utility.records.regression import (
    INTERCEPT,
    ModelRecords,
    Regressor,
    fitted_model,
    interval_overlap,
)

AGE = (*(Code(str(age), lower=age, upper=age) for age in range(15, 75)), Code("75", lower=75))
SEX = (Code("1"), Code("2"), Code("9", kind=CodeKind.NOT_STATED))


def records(households: int = 3000, seed: int = 1, *, codes: int = 1) -> ModelRecords:
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(households), random.integers(1, 5, households))
    size = groups.size
    age, sex = random.integers(0, 61, size), random.choice(3, size, p=[0.45, 0.45, 0.1])
    shared = random.normal(0, 2, households)[groups]
    outcome = 3.0 + 0.5 * (age + 15) + 4.0 * (sex == 1) + shared + random.normal(0, 1, size)
    return ModelRecords(
        outcome=outcome,
        regressors=(Regressor("age", age, AGE), Regressor("sex", sex, SEX))[: codes + 1],
        kept=np.ones(size, dtype=bool),
        weights=random.uniform(1, 3, size),
        groups=groups,
    )


def test_a_linear_model_finds_what_was_put_in_and_its_errors_know_of_households() -> None:
    data = records()
    fitted = {each.name: each for each in fitted_model(data, logistic=False, model="m", where="c")}
    assert list(fitted) == [INTERCEPT, "age", "sex=2"]
    for name, truth in ((INTERCEPT, 3.0), ("age", 0.5), ("sex=2", 4.0)):
        low, high = fitted[name].interval
        assert low - 0.05 <= truth <= high + 0.05
    alone = ModelRecords(
        outcome=data.outcome,
        regressors=data.regressors,
        kept=data.kept,
        weights=data.weights,
        groups=np.arange(data.groups.size),
    )
    single = {each.name: each for each in fitted_model(alone, logistic=False, model="m", where="c")}
    assert single["age"].value == pytest.approx(fitted["age"].value)
    assert single[INTERCEPT].error < fitted[INTERCEPT].error
    assert interval_overlap(single["age"], single["age"]) == 1.0


def test_a_weighted_logistic_model_equals_the_shares_by_hand() -> None:
    data = records()
    sex = data.regressors[1]
    yes = (data.outcome > 25).astype(float)
    fitted = fitted_model(
        ModelRecords(
            outcome=yes,
            regressors=(sex,),
            kept=data.kept,
            weights=data.weights,
            groups=data.groups,
        ),
        logistic=True,
        model="m",
        where="file",
    )
    odds = []
    for code in (0, 1):
        mine = sex.positions == code
        share = float((data.weights * yes)[mine].sum() / data.weights[mine].sum())
        odds.append(np.log(share / (1 - share)))
    assert fitted[0].value == pytest.approx(odds[0], abs=1e-6)
    assert fitted[1].value == pytest.approx(next(b - a for a, b in pairwise(odds)), abs=1e-6)


def test_what_cannot_be_fitted_is_told_with_the_name_of_the_term() -> None:
    data = records()
    copy = Regressor("age_again", data.regressors[0].positions, AGE)

    def fit(**changes: object) -> object:
        parts = {
            "outcome": data.outcome,
            "regressors": data.regressors,
            "kept": data.kept,
            "weights": data.weights,
            "groups": data.groups,
        }
        logistic = bool(changes.pop("logistic", False))
        whole = ModelRecords(**{**parts, **changes})  # type: ignore[arg-type]
        return fitted_model(whole, logistic=logistic, model="pay", where="file")

    with pytest.raises(ModelError, match="age_again says nothing that the terms before it"):
        fit(regressors=(*data.regressors, copy))
    with pytest.raises(ModelError, match="same for everybody"):
        fit(outcome=np.ones(data.outcome.size))
    with pytest.raises(ModelError, match="no record is left"):
        fit(kept=np.zeros(data.outcome.size, dtype=bool))
    with pytest.raises(ModelError, match="without error"):
        fit(outcome=(data.regressors[0].positions > 30).astype(float), logistic=True)
    with pytest.raises(ModelError, match="households"):
        fit(groups=np.zeros(data.outcome.size, dtype=int))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("income", "one ~"),
        ("income ~ age ~ sex", "one ~"),
        ("income ~ ", "is no name"),
        ("~ age", "nothing stands before"),
        ("income ~ age + age", "stands twice"),
        ("income ~ age * sex", "is no name"),
        ("income ~ log(age)", "is no name"),
    ],
)
def test_mistakes_of_formulas(text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        parse_formula(text, "pay")


def test_a_condition_may_hold_the_sign_of_a_formula_in_quotes() -> None:
    formula = parse_formula("activity == '~' ~ age", "work")
    assert (formula.outcome, formula.amount) == ("activity == '~'", False)
