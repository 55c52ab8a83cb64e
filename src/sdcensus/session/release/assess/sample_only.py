"""Risk of a store that holds only a sample: nobody can count in a population there.

Weights of the store say how many each record stands for. The error of the model is that of samples
of the same share from these records: the nearest that an office without a census can come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws, FactTable
from sdcensus.microdata.release.sample import release_counter
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.schema import SAMPLE_WEIGHT
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.modelled import modelled_risk
from sdcensus.risk.records.sample_only import (
    SampleEstimate,
    check_weights,
    error_by_draws,
    estimated_uniques,
    weighted_risk,
)
from sdcensus.store.census_store import CensusStore

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: What tells draws of such samples from others of the same purpose.
ERROR_DRAW = release_counter("error of a model")
#: With fewer records in a drawn sample, an error says nothing.
FEWEST_DRAWN = 10


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleRisk(Confidential):
    """What two models say about a store that holds only a sample.

    Attributes:
        keys: The keys.
        expected: Expected re-identifications of all records of the file, by weights.
        estimate: Population uniques and expected matches from a log-linear model, with its error.
    """

    keys: tuple[str, ...]
    expected: float
    estimate: SampleEstimate

    def __repr__(self) -> str:
        return "<SampleRisk: confidential>"


def sample_weights(store: CensusStore, entity: Entity = Entity.PERSON) -> Floats:
    """How many each record of a store stands for, by its own weight or an inherited one.

    Raises:
        SpecError: There are no weights, or some are 0 or negative.
    """
    weight = store.schema.weight(entity)
    if weight is None:
        raise SpecError(
            f"The {entity.plural} of the store have no weight, so nobody knows how many they stand"
            ' for. Give the schema a variable with role = "weight", and load the sample again.'
        )
    values = store.values(entity, weight)[slice(None)]
    weights: Floats = np.asarray(values, dtype=np.float64) / float(10**weight.decimals)
    check_weights(weights)
    return weights


def sampled_share(store: CensusStore, said: Fraction | None = None) -> float | None:
    """The share of the population that a store holds; ``None`` for a census.

    Args:
        store: The store.
        said: What the document says; else weights decide.

    Raises:
        SpecError: Weights say that it is a sample, and some are missing, 0 or negative.
    """
    if said is not None:
        return None if said == 1 else float(said)
    weight = store.schema.weight(Entity.PERSON)
    if weight is None or not store.rows(Entity.PERSON):
        return None
    values = np.asarray(store.values(Entity.PERSON, weight)[slice(None)], dtype=np.float64)
    above = values[values > 0] / 10**weight.decimals
    if not above.size or above.mean() < SAMPLE_WEIGHT:
        return None
    weights = sample_weights(store)
    return float(weights.size / weights.sum())


def sample_risk(
    store: CensusStore,
    columns: Sequence[KeyColumn],
    sampled: Mask,
    draws: Draws,
    *,
    share: float,
    progress: Progress = no_progress,
) -> SampleRisk:
    """Measure keys of a file from a store that holds a sample.

    Args:
        store: The sample.
        columns: The keys of all its persons, as the file tells them.
        sampled: Which of them the file holds.
        draws: Random numbers for samples: the error is measured with them.
        share: The share of the population that the store holds.
        progress: Told how far it is.

    Raises:
        SpecError: There are no keys, or weights are missing, 0 or negative.
    """
    weights = np.full(sampled.size, 1 / share)
    if store.schema.weight(Entity.PERSON) is not None:
        own = sample_weights(store)
        # Whatever the weights add up to, all of them together stand for the population.
        weights = own / own.mean() / share if own.size else own
    risks = weighted_risk(columns, weights)
    alone = modelled_risk(columns, sampled, share)
    estimate = replace(
        estimated_uniques(columns, share),
        records=alone.records,
        sample_uniques=alone.sample_uniques,
        population_uniques=float(alone.population_uniques),
        expected_matches=alone.expected_matches,
    )
    digests = store.digests(Entity.PERSON)
    if share < 1 and sampled.size * share >= FEWEST_DRAWN:
        error = error_by_draws(
            columns,
            share,
            lambda draw: draws.words(digests, ERROR_DRAW, draw),
            terms=estimate.terms,
            progress=progress,
        )
        estimate = replace(estimate, error=error)
    return SampleRisk(
        keys=tuple(column.name for column in columns),
        expected=math.fsum(risks.risks[sampled]),
        estimate=estimate,
    )


def sample_risk_table(risk: SampleRisk) -> FactTable:
    """Both models as a table for the office: each estimate with its error where it is known."""
    estimate, error = risk.estimate, risk.estimate.error
    rows = (
        (
            str(sentence("release_special.sample.sample_uniques")),
            estimate.sample_uniques,
            None,
            None,
        ),
        (
            str(sentence("release_special.sample.population_uniques")),
            round(estimate.population_uniques, 1),
            None if error is None else round(error.population_uniques, 3),
            None if error is None else round(error.bias_uniques, 3),
        ),
        (
            str(sentence("release_special.sample.expected_matches")),
            round(estimate.expected_matches, 1),
            None if error is None else round(error.expected_matches, 3),
            None if error is None else round(error.bias_matches, 3),
        ),
        (
            str(sentence("release_special.sample.expected")),
            round(risk.expected, 1),
            None,
            None,
        ),
    )
    note = (
        sentence("release_special.sample.no_error")
        if error is None
        else sentence("release_special.sample.note", n=error.draws, model=str(estimate.terms))
    )
    return FactTable(
        name="sample-risk",
        title=sentence("release_special.sample.title", keys=", ".join(risk.keys)),
        headings=tuple(
            sentence(f"release_special.sample.{head}")
            for head in ("measure", "estimate", "error", "bias")
        ),
        rows=rows,
        note=note,
    )
