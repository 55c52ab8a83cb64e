"""Risk from a sample alone, for offices that hold no census.

Nobody knows there who is unique in the population. Two models say how many are: that of Benedetti
and Franconi (1998) from weights, record by record, and the Poisson log-linear model of Skinner and
Shlomo (2008) from the keys. Both are models: their error is measured where the truth is known.
Keys that are not stated are a category of their own here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.risk.records.cells import KeyCells, key_cells
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.log_linear import FittedModel, ModelTerms, main_effects, two_way

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: Samples that are drawn to see how far estimates are off: fewer where fitting takes more work than
#: this in all (counted, not timed: the same records give the same number), but never below these.
DRAWS, FEWEST_DRAWS = 50, 5
DRAWS_WORK = 300_000_000
#: The series ends where a term adds less than this share.
SMALLEST_TERM = 1e-15
#: Terms that are added at most; what is left out beyond is far below any count.
MOST_TERMS = 2_000_000


def individual_risks(counts: Floats, fractions: Floats) -> Floats:
    """The chance that a record is found, given how many share its keys and what they weigh.

    Args:
        counts: f: how many records of the sample have the keys; not whole where some of them are
            only partly there.
        fractions: The share of the population with these keys that is in the sample: f by the sum
            of weights. Above 1 it is taken as 1.

    Returns:
        For f of 1 and 2 the exact mean of 1/F, for larger whole numbers the approximation of the
        R package sdcMicro, and the series where f is not whole.
    """
    f, share = np.asarray(counts, dtype=np.float64), np.minimum(fractions, 1.0)
    risks = np.empty(f.size)
    everybody = share >= 1
    risks[everybody] = 1 / f[everybody]
    odds = np.divide(share, 1 - share, out=np.zeros_like(share), where=~everybody)
    logarithm = -np.log(share)
    one, two = ~everybody & (f == 1), ~everybody & (f == 2)
    risks[one] = odds[one] * logarithm[one]
    risks[two] = odds[two] - odds[two] ** 2 * logarithm[two]
    # Near 1 both terms are large and cancel: the series is exact there.
    near = two & (share > 0.99)
    whole = ~everybody & (f >= 3) & (f == np.floor(f))
    risks[whole] = share[whole] / (f[whole] - (1 - share[whole]))
    for at in np.flatnonzero(near | ~(everybody | one | two | whole)):
        risks[at] = _series(float(f[at]), float(share[at]))
    return risks


def _series(count: float, share: float) -> float:
    """share^f / f · ₂F₁(f, f; f+1; 1 - share), as share / f · ₂F₁(1, 1; f+1; 1 - share)."""
    term = total = 1.0
    for number in range(1, MOST_TERMS):
        term *= number / (count + number) * (1 - share)
        total += term
        if term < SMALLEST_TERM * total:
            break
    return share / count * total


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class WeightedRisk(Confidential):
    """What weights say about the risk of a sample.

    Attributes:
        risks: For each record the chance that it is found.
        expected: Their sum: expected re-identifications.
        uniques: How many records are alone in the sample with their keys.
        expected_of_uniques: The part of the sum that is theirs.
    """

    risks: Floats
    expected: float
    uniques: int
    expected_of_uniques: float

    def __repr__(self) -> str:
        return "<WeightedRisk: confidential>"


def check_weights(weights: Floats) -> None:
    """Refuse weights that stand for nobody.

    Raises:
        SpecError: Some are missing, 0 or negative. The message names how many, and the first row.
    """
    broken = ~(np.isfinite(weights) & (weights > 0))
    if broken.any():
        row = int(np.flatnonzero(broken)[0]) + 1
        value = weights[row - 1]
        what = "missing" if not math.isfinite(value) else f"{value:g}"
        raise SpecError(
            f"{int(broken.sum())} of {weights.size} records have no weight above 0; the first is"
            f" record {row}, whose weight is {what}. Every record of a sample stands for somebody:"
            " correct the weights and load the sample again, or drop these records."
        )


def weighted_risk(columns: Sequence[KeyColumn], weights: Floats) -> WeightedRisk:
    """Individual risks of a sample (Benedetti and Franconi), and their sum.

    Args:
        columns: The keys of its records.
        weights: How many each of them stands for.

    Raises:
        SpecError: A weight is missing, 0 or negative, or there are no keys.
    """
    cells = _cells(columns, weights.size)
    check_weights(weights)
    sums = np.bincount(cells.of_records, weights=weights, minlength=cells.number)
    risks = individual_risks(cells.sizes.astype(np.float64), cells.sizes / sums)
    of_records = risks[cells.of_records]
    alone = cells.sizes[cells.of_records] == 1
    return WeightedRisk(
        risks=of_records,
        expected=math.fsum(of_records),
        uniques=int(np.count_nonzero(alone)),
        expected_of_uniques=math.fsum(of_records[alone]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateError:
    """How far estimates are off in samples from records whose truth is known.

    Attributes:
        draws: How many samples were drawn.
        population_uniques: The mean of |estimate - truth| / truth, for population uniques.
        expected_matches: The same for expected correct matches on uniques.
        bias_uniques, bias_matches: The mean of (estimate - truth) / truth: below 0, risk is
            told too low.
    """

    draws: int
    population_uniques: float
    expected_matches: float
    bias_uniques: float
    bias_matches: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SampleEstimate(Confidential):
    """Population uniques among the records of a sample, estimated by a model.

    Attributes:
        records: How many records the sample has.
        fraction: The share of the population that it is.
        sample_uniques: Records that are alone in the sample with their keys.
        terms: The model that was chosen: the one whose test of dispersion is nearer to 0.
        population_uniques: Estimated records that are alone in the population (tau 1).
        expected_matches: Estimated expected correct matches on sample uniques (tau 2).
        dispersion: The test of each model that could be fitted.
        error: How far such estimates are off; ``None`` if it was not measured.
        work: What fitting the models took, in cells, pairs of keys and rounds.
    """

    records: int
    fraction: float
    sample_uniques: int
    terms: ModelTerms
    population_uniques: float
    expected_matches: float
    dispersion: tuple[tuple[ModelTerms, float], ...]
    error: EstimateError | None = None
    work: int = 0

    def __repr__(self) -> str:
        return "<SampleEstimate: confidential>"


def fitted_models(
    codes: Sequence[npt.NDArray[Any]], sizes: Int64, terms: ModelTerms | None = None
) -> tuple[FittedModel, ...]:
    """The models of a table of keys, the one first whose counts are dispersed as it says.

    Args:
        codes: For each key the codes of the combinations that occur.
        sizes: How many records have each.
        terms: The only model that is wanted.
    """
    fits: list[FittedModel] = []
    if terms is not ModelTerms.TWO_WAY:
        fits.append(main_effects(codes, sizes))
    if terms is not ModelTerms.MAIN:
        richer = two_way(codes, sizes)
        fits += [] if richer is None else [richer]
    if not fits:
        fits.append(main_effects(codes, sizes))
    return tuple(sorted(fits, key=lambda fit: abs(fit.dispersion)))


def estimated_uniques(
    columns: Sequence[KeyColumn], fraction: float, *, terms: ModelTerms | None = None
) -> SampleEstimate:
    """Estimate population uniques and expected matches from the keys of a sample.

    Args:
        columns: The keys of its records.
        fraction: The share of the population that it is.
        terms: The model; by default the one whose counts are dispersed as it says. Two-way terms
            fall back to main effects where the table of keys is too large, or has two keys only.

    Raises:
        SpecError: There are no keys, or the fraction is no share.
    """
    size = columns[0].values.size if columns else 0
    cells = _cells(columns, size)
    _check_fraction(fraction)
    codes = [column.values[cells.examples] for column in columns]
    fits = fitted_models(codes, cells.sizes, terms)
    chosen = fits[0]
    alone = cells.sizes == 1
    others = chosen.expected[alone] * (1 - fraction) / fraction
    return SampleEstimate(
        records=size,
        fraction=fraction,
        sample_uniques=int(np.count_nonzero(alone)),
        terms=chosen.terms,
        population_uniques=math.fsum(np.exp(-others)),
        expected_matches=math.fsum(_mean_of_inverse(others)),
        dispersion=tuple((fit.terms, fit.dispersion) for fit in fits),
        work=sum(fit.work for fit in fits),
    )


def error_by_draws(
    columns: Sequence[KeyColumn],
    fraction: float,
    words: Callable[[int], npt.NDArray[np.uint64]],
    *,
    number: int = DRAWS,
    terms: ModelTerms | None = None,
    taken_for: float | None = None,
    progress: Progress = no_progress,
) -> EstimateError:
    """Draw samples from records that are taken for a population, and compare with its truth.

    An office that holds only a sample takes its own records for a population: what is measured
    is how well the model fits keys like these at this fraction, not how well it fits the country.

    Args:
        columns: The keys of all records of the population.
        fraction: The share that samples hold.
        words: For the number of a sample a random word of each record; the smallest are drawn.
        number: How many samples; fewer where models are dear to fit, as ``draws`` tells.
        terms: The model; chosen anew for each sample by default.
        taken_for: The fraction that estimates believe in, where it differs.
        progress: Told how far it is.

    Raises:
        SpecError: The fraction or the number makes no sense, or samples would hold nobody.
    """
    _check_fraction(fraction)
    size = columns[0].values.size if columns else 0
    wanted = round(size * fraction)
    if number < 1 or wanted < 1:
        raise SpecError(
            f"{number} samples of {wanted} records cannot show an error. Take more records, a"
            " larger fraction, or 1 sample at least."
        )
    of_population = _cells(columns, size)
    in_population = of_population.sizes[of_population.of_records]
    errors: list[tuple[float, float]] = []
    work = 0
    for draw in range(number):
        if draw >= FEWEST_DRAWS and work > DRAWS_WORK:
            break
        progress("measuring the error of the model", draw / number)
        rows = np.sort(np.argsort(words(draw), kind="stable")[:wanted])
        sample = [
            KeyColumn(name=column.name, values=column.values[rows], kinds=column.kinds)
            for column in columns
        ]
        estimate = estimated_uniques(sample, taken_for or fraction, terms=terms)
        work += estimate.work
        cells = key_cells([column.values for column in sample], wanted)
        alone = rows[cells.examples[cells.sizes == 1]]
        uniques = float(np.count_nonzero(in_population[alone] == 1))
        matches = math.fsum(1 / in_population[alone])
        errors.append(
            (
                _relative(estimate.population_uniques, uniques),
                _relative(estimate.expected_matches, matches),
            )
        )
    table = np.array(errors)
    absolute, signed = np.abs(table).mean(axis=0), table.mean(axis=0)
    return EstimateError(
        draws=len(errors),
        population_uniques=float(absolute[0]),
        expected_matches=float(absolute[1]),
        bias_uniques=float(signed[0]),
        bias_matches=float(signed[1]),
    )


def _relative(estimate: float, truth: float) -> float:
    """The relative error; where there is nothing, that of one more than nothing."""
    return (estimate - truth) / max(truth, 1.0)


def _mean_of_inverse(others: Floats) -> Floats:
    """(1 - exp(-mu)) / mu, which is 1 at 0."""
    safe = np.where(others > 0, others, 1.0)
    return np.where(others > 0, -np.expm1(-safe) / safe, 1.0)


def _cells(columns: Sequence[KeyColumn], size: int) -> KeyCells:
    if not columns:
        raise SpecError("Risk from a sample needs at least one key. Name keys in the ladder.")
    return key_cells([column.values for column in columns], size)


def _check_fraction(fraction: float) -> None:
    if not 0 < fraction <= 1:
        raise SpecError(
            f"The sample is {fraction} of the population. Say a share above 0 and at most 1."
        )
