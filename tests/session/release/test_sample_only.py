"""A store that holds only a sample: weights come from it, errors are printed with estimates."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.microdata.method import Draws
from sdcensus.model.release.plan import Design, ReleasePlan, RiskRules
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.records.sample_only import weighted_risk
from sdcensus.session.release.assess.sample_only import (
    sample_risk,
    sample_risk_table,
    sample_weights,
    sampled_share,
)
from sdcensus.session.release.columns import key_columns
from sdcensus.store.census_store import CensusStore
from tests.hamlet import SCHEMA, rows, write_hamlet

DRAWS = Draws(bytes(16))


def loaded(folder: Path, weight: str, schema: str = SCHEMA) -> CensusStore:
    persons, households = rows(120)
    draw = Random(1)
    weights = [weight or f"{draw.randrange(400, 1600) / 100}" for _ in households]
    weighed = [{**each, "weight": own} for each, own in zip(households, weights, strict=True)]
    hamlet = write_hamlet(folder, persons=persons, households=weighed, schema=schema)
    hamlet.load()
    return CensusStore.open(hamlet.store)


def test_weights_of_the_store_say_how_many_records_stand_for(tmp_path: Path) -> None:
    store = loaded(tmp_path, "")
    plan = ReleasePlan(
        name="sample",
        store=store.path,
        office=tmp_path,
        designs=(Design(name="A", fraction=Fraction(1)),),
        risk=RiskRules(ladder=("age", "sex", "married")),
    )
    design = file_design(plan, plan.design(), store.schema)
    weights = sample_weights(store)
    assert weights.size == store.rows(Entity.PERSON)
    assert 4 <= weights.min() <= weights.max() <= 16
    share = sampled_share(store)
    assert share is not None
    assert share == pytest.approx(weights.size / weights.sum())
    assert sampled_share(store, Fraction(1)) is None
    columns, everybody = key_columns(store, design), np.ones(weights.size, dtype=bool)
    risk = sample_risk(store, columns, everybody, DRAWS, share=share)
    assert risk.expected == pytest.approx(weighted_risk(columns, weights).expected)
    assert risk.keys == tuple(column.name for column in key_columns(store, design))
    assert risk.estimate.population_uniques < risk.estimate.expected_matches
    assert risk.estimate.expected_matches < risk.estimate.sample_uniques
    error = risk.estimate.error
    assert error is not None
    assert error.draws == 50
    table = sample_risk_table(risk)
    assert table.rows[1][2] == round(error.population_uniques, 3)
    assert "50" in str(table.note)
    again = sample_risk(store, columns, everybody, DRAWS, share=share)
    assert again.estimate == risk.estimate


@pytest.mark.parametrize("weight", ["0", "-2", "x"])
def test_weights_that_stand_for_nobody_are_refused(tmp_path: Path, weight: str) -> None:
    """When the sample is loaded, or at the latest when its risk is measured."""
    with pytest.raises(SdcensusError, match="weight"):
        sample_weights(loaded(tmp_path, weight))


def test_without_weights_the_office_is_told_what_to_do(tmp_path: Path) -> None:
    schema = SCHEMA.replace(
        '[variable.weight]\nfile = "household"\nrole = "weight"\ndecimals = 2\n', ""
    )
    store = loaded(tmp_path, "1", schema)
    assert sampled_share(store) is None
    assert sampled_share(store, Fraction(1, 7)) == 1 / 7
    with pytest.raises(SpecError, match='role = "weight"'):
        sample_weights(store)
