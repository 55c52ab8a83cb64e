"""Risk of a store that holds only a sample: nobody can count in a population there.

Weights of the store say how many each record stands for. The error of the model is that of samples
of the same share from these records: the nearest that an office without a census can come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws, FactTable
from sdcensus.microdata.release.sample import release_counter
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.schema.schema import SAMPLE_WEIGHT
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.risk.records.sample_only import (
    SampleEstimate,
    WeightedRisk,
    check_weights,
    error_by_draws,
    estimated_uniques,
    weighted_risk,
)
from sdcensus.session.release.columns import key_columns
from sdcensus.store.census_store import CensusStore

Floats = npt.NDArray[np.float64]

#: What tells draws of such samples from others of the same purpose.
ERROR_DRAW = release_counter("error of a model")
#: With fewer records in a drawn sample, an error says nothing.
FEWEST_DRAWN = 10


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleRisk(Confidential):
    """What two models say about a store that holds only a sample.

    Attributes:
        keys: The keys.
        weighted: Individual risks from weights, and their sum.
        estimate: Population uniques and expected matches from a log-linear model, with its error.
    """

    keys: tuple[str, ...]
    weighted: WeightedRisk
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


def holds_sample(store: CensusStore) -> bool:
    """Whether persons of a store stand for so many that they are a sample."""
    if store.schema.weight(Entity.PERSON) is None or not store.rows(Entity.PERSON):
        return False
    return bool(sample_weights(store).mean() >= SAMPLE_WEIGHT)


def sample_risk(
    store: CensusStore, design: FileDesign, draws: Draws, *, progress: Progress = no_progress
) -> SampleRisk:
    """Measure the keys of a design in a store that holds a sample.

    Args:
        store: The sample, with weights.
        design: What a file tells of its keys.
        draws: Random numbers for samples: the error is measured with them.
        progress: Told how far it is.

    Raises:
        SpecError: There are no weights or no keys.
    """
    columns = key_columns(store, design)
    weights = sample_weights(store)
    weighted = weighted_risk(columns, weights)
    fraction = min(float(weights.size / weights.sum()), 1.0) if weights.size else 1.0
    estimate = estimated_uniques(columns, fraction)
    digests = store.digests(Entity.PERSON)
    if fraction < 1 and weights.size * fraction >= FEWEST_DRAWN:
        error = error_by_draws(
            columns,
            fraction,
            lambda draw: draws.words(digests, ERROR_DRAW, draw),
            terms=estimate.terms,
            progress=progress,
        )
        estimate = replace(estimate, error=error)
    return SampleRisk(
        keys=tuple(column.name for column in columns), weighted=weighted, estimate=estimate
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
            round(risk.weighted.expected, 1),
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
