"""The measures of a ladder where nobody can count in the population: a model says how many share.

A combination of keys that f records of a sample have is shared by F of the population: those f and
others that nobody has seen. The Poisson log-linear model of Skinner and Shlomo (2008) says how many
others there are on average (mu), so that F is f and a Poisson number. Every measure is its mean
under that model. Keys that are not stated are a category of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.risk.records.cells import key_cells
from sdcensus.risk.records.household import household_risk
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import StepRisk
from sdcensus.risk.records.sample_only import fitted_models

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Integers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: Up to these numbers the mean of 1/F is integrated; beyond, it is that of its first two moments.
_MOST_OTHERS, _MOST_RECORDS = 50.0, 100
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(80)


def modelled_risk(
    columns: Sequence[KeyColumn],
    sampled: Mask,
    share: float,
    *,
    k: int = 3,
    households: Integers | None = None,
) -> StepRisk:
    """What is at risk with all of some keys, by a model of the population.

    Args:
        columns: The keys of all records that the office holds, as the file tells them: the model is
            fitted to all of them.
        sampled: Which of them the file holds.
        share: The share of the population that the office holds.
        k: How many should share their keys in the population.
        households: The row of each record's household; below 0 or ``NO_ROW`` for none.

    Raises:
        SpecError: There are no keys, or the share is none.
    """
    if not columns:
        raise SpecError("Risk from a sample needs at least one key. Name keys in the ladder.")
    if not 0 < share <= 1:
        raise SpecError(
            f"The sample is {share} of the population. Say a share above 0 and at most 1."
        )
    cells = key_cells([column.values for column in columns], sampled.size)
    others = np.zeros(cells.number)
    if sampled.size and share < 1:
        models = fitted_models([column.values[cells.examples] for column in columns], cells.sizes)
        others = models[0].expected * (1 - share) / share
    inverse, held = mean_inverse(cells.sizes, others), cells.sizes
    in_file = np.bincount(cells.of_records[sampled], minlength=cells.number)
    below = held < k
    few = in_file[below] * _at_most(k - 1 - held[below], others[below])
    of_records = inverse[cells.of_records[sampled]]
    risk = None
    if households is not None:
        risk = household_risk(1 / of_records, np.asarray(households)[sampled])
    return StepRisk(
        keys=tuple(column.name for column in columns),
        records=int(np.count_nonzero(sampled)),
        population=round(sampled.size / share),
        k=k,
        sample_uniques=int(np.count_nonzero(in_file == 1)),
        sample_uniques_confounded=0,
        expected_matches=math.fsum(inverse[in_file == 1]),
        population_uniques=round(math.fsum(np.exp(-others[(held == 1) & (in_file == 1)]))),
        population_uniques_confounded=0,
        not_anonymous=round(math.fsum(few)),
        global_risk=math.fsum(of_records),
        prosecutor_risk=float((1.0 / in_file[in_file > 0]).max(initial=0.0)),
        journalist_risk=float(of_records.max(initial=0.0)),
        households=risk,
    )


def mean_inverse(counts: Int64, others: Floats) -> Floats:
    """The mean of 1/(f + X), X a Poisson number: the integral of t^(f-1) exp(-mu (1-t)) over 0..1.

    Examples:
        >>> mean_inverse(np.array([1, 1, 4]), np.array([0.0, 1.0, 0.0])).round(4)
        array([1.    , 0.6321, 0.25  ])
    """
    f, mean = counts.astype(np.float64), np.asarray(others, dtype=np.float64)
    total = f + mean
    # 1/F around its mean: 1/m + variance / m^3.
    inverse: Floats = 1 / total + mean / total**3
    near = np.flatnonzero((f <= _MOST_RECORDS) & (mean <= _MOST_OTHERS))
    places, weights = (_NODES + 1) / 2, _NODE_WEIGHTS / 2
    integral = np.zeros(near.size)
    for place, weight in zip(places, weights, strict=True):
        integral += weight * np.exp((f[near] - 1) * math.log(place) - mean[near] * (1 - place))
    inverse[near] = integral
    single = counts == 1
    safe = np.where(mean > 0, mean, 1.0)
    exact = np.where(mean > 0, -np.expm1(-safe) / safe, 1.0)
    return np.where(single, exact, np.minimum(inverse, 1 / f))


def _at_most(most: Int64, others: Floats) -> Floats:
    """The chance that a Poisson number is at most so large; ``most`` is 0 or more."""
    chance = np.zeros(others.size)
    term = np.exp(-others)
    for number in range(int(most.max(initial=-1)) + 1):
        chance += np.where(number <= most, term, 0.0)
        term = term * others / (number + 1)
    return np.minimum(chance, 1.0)
