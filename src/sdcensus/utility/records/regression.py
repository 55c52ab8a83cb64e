"""Linear and logistic models, weighted, with standard errors that know of households."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import MissingExtra
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.variable import Code
from sdcensus.utility.records.formula import ModelError
from sdcensus.utility.records.sampling_error import Z95

Integers = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
#: How a model calls the value where all numbers are 0 and all variables have their first code.
INTERCEPT = "(intercept)"
#: What is left of a column after the others explain it, relative to its size, if it is a copy.
_COPY = 1e-9
#: Models with more coefficients are refused: nobody names so many, and memory has an end.
MOST_COEFFICIENTS = 500


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Regressor(Confidential):
    """A variable that explains: a number, or codes of which the first is the reference.

    Attributes:
        name: What it is called.
        positions: For each record the position of its code.
        codes: Its code list.
    """

    name: str
    positions: Integers
    codes: tuple[Code, ...]

    def __repr__(self) -> str:
        return f"<Regressor {self.name!r}: confidential>"

    @property
    def is_number(self) -> bool:
        """Whether every code that is a value stands for one number, or for it and all above."""
        valid = [code for code in self.codes if not code.is_missing]
        last = max((code.lower for code in valid if code.lower is not None), default=None)
        return bool(valid) and all(
            code.lower is not None
            and (code.upper == code.lower or (code.upper is None and code.lower == last))
            for code in valid
        )

    @property
    def stated(self) -> Mask:
        """Which records have a value."""
        missing = np.array([code.is_missing for code in self.codes], dtype=bool)
        return np.asarray(~missing[self.positions], dtype=bool)

    def first_code(self, kept: Mask) -> int:
        """The position of the first code that is a value and that some of the records have."""
        present = np.bincount(self.positions[kept], minlength=len(self.codes)) > 0
        missing = np.array([code.is_missing for code in self.codes], dtype=bool)
        return int(np.argmax(present & ~missing))

    def columns(self, kept: Mask, reference: int) -> list[tuple[str, Float64]]:
        """The columns of a model for some records, by the names of their coefficients.

        A code that none of them has gets no column: nothing could be said about it.

        Args:
            kept: Which records.
            reference: The position of the code that the others are compared with.
        """
        positions = self.positions[kept]
        if self.is_number:
            numbers = np.array([float(code.lower or 0) for code in self.codes])
            return [(self.name, numbers[positions])]
        valid = [at for at, code in enumerate(self.codes) if not code.is_missing]
        return [
            (f"{self.name}={self.codes[at].code}", column)
            for at in valid
            if at != reference and (column := (positions == at).astype(np.float64)).any()
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ModelRecords(Confidential):
    """The records that a model is fitted to.

    Attributes:
        outcome: What is explained; 0 and 1 for a logistic model.
        regressors: What explains it.
        kept: Which records count: in the population of the model, and with an outcome.
        weights: Their weights.
        groups: The household of each; records of one group are not independent.
    """

    outcome: Float64
    regressors: tuple[Regressor, ...]
    kept: Mask
    weights: Float64
    groups: Integers

    def __repr__(self) -> str:
        return "<ModelRecords: confidential>"

    @property
    def complete(self) -> Mask:
        """Which records count and have a value of everything that explains."""
        complete = self.kept & (self.weights > 0)
        for regressor in self.regressors:
            complete = complete & regressor.stated
        return complete

    @property
    def references(self) -> tuple[int, ...]:
        """For each regressor the code that the others are compared with: the first one."""
        complete = self.complete
        return tuple(regressor.first_code(complete) for regressor in self.regressors)


@dataclass(frozen=True, slots=True, repr=False)
class Coefficient(Confidential):
    """One coefficient of a fitted model with its standard error."""

    name: str
    value: float
    error: float

    def __repr__(self) -> str:
        return f"<Coefficient {self.name!r}: confidential>"

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of 95 per cent."""
        return self.value - Z95 * self.error, self.value + Z95 * self.error


def interval_overlap(first: Coefficient, second: Coefficient) -> float:
    """By how much two intervals cover each other: 1 for the same, 0 for none in common.

    The mean of the shares of each interval that the other covers.

    Examples:
        >>> round(interval_overlap(Coefficient("age", 0.0, 1.0), Coefficient("age", 0.0, 2.0)), 2)
        0.75
    """
    (low, high), (other_low, other_high) = first.interval, second.interval
    common = max(0.0, min(high, other_high) - max(low, other_low))
    widths = (high - low, other_high - other_low)
    if not all(widths):
        return float(first.value == second.value)
    return 0.5 * (common / widths[0] + common / widths[1])


def fitted_model(
    records: ModelRecords,
    *,
    logistic: bool,
    model: str,
    where: str,
    references: Sequence[int] | None = None,
) -> tuple[Coefficient, ...]:
    """Fit a model.

    Args:
        records: To what.
        logistic: Whether the outcome is 0 and 1.
        model: Its name, for messages.
        where: ``census`` or ``file``, for messages.
        references: The codes that others are compared with, if those of other records count.

    Raises:
        ModelError: The outcome is constant, columns say the same, or nothing can be fitted.
        MissingExtra: The optional part is not installed.
    """
    kept = records.complete
    outcome = records.outcome[kept]
    if not outcome.size or float(outcome.min()) == float(outcome.max()):
        what = "no record is left" if not outcome.size else "the outcome is the same for everybody"
        raise ModelError(
            f"Model {model!r} cannot be fitted to the {where}: {what}, once values that are not"
            " stated are left out. Choose another outcome, or a wider population."
        )
    columns = [(INTERCEPT, np.ones(outcome.size))]
    chosen = records.references if references is None else references
    for regressor, reference in zip(records.regressors, chosen, strict=True):
        if not regressor.is_number and not (regressor.positions[kept] == reference).any():
            raise ModelError(
                f"Model {model!r} cannot be fitted to the {where}: no record has the code"
                f" {regressor.codes[reference].code!r} of {regressor.name!r}, with which the others"
                " are compared. Take the variable out of the formula, or name a wider population."
            )
        columns += regressor.columns(kept, reference)
    if len(columns) > MOST_COEFFICIENTS:
        raise ModelError(
            f"Model {model!r} would have {len(columns)} coefficients. Name variables with fewer"
            " codes."
        )
    matrix = np.column_stack([column for _, column in columns])
    names = [name for name, _ in columns]
    weights = records.weights[kept] / records.weights[kept].mean()
    _check_rank(matrix, weights, names, model, where)
    _, groups = np.unique(records.groups[kept], return_inverse=True)
    if int(groups.max()) < len(names):
        raise ModelError(
            f"Model {model!r} has {len(names)} coefficients, and its records of the {where} come"
            f" from {int(groups.max()) + 1} households. Name fewer variables, or a wider"
            " population."
        )
    return _fit(matrix, outcome, weights, groups.reshape(-1), names, logistic, model, where)


def _check_rank(
    matrix: Float64, weights: Float64, names: Sequence[str], model: str, where: str
) -> None:
    """Refuse a column that the columns before it explain, by its name."""
    scaled = matrix * np.sqrt(weights)[:, None]
    sizes = np.sqrt((scaled * scaled).sum(axis=0))
    sizes[sizes == 0] = 1.0  # a column of zeros explains nothing, and is told as such
    products = (scaled.T @ scaled) / np.outer(sizes, sizes)
    for at in range(1, len(names)):
        before, own = products[:at, :at], products[:at, at]
        left = float(products[at, at]) - float(own @ np.linalg.solve(before, own))
        if left < _COPY:
            raise ModelError(
                f"Model {model!r} cannot be fitted to the {where}: {names[at]} says nothing that"
                f" the terms before it ({', '.join(names[1:at]) or 'none but the intercept'}) do"
                " not say. Take one of them out of the formula."
            )


def _fit(
    matrix: Float64,
    outcome: Float64,
    weights: Float64,
    groups: Integers,
    names: Sequence[str],
    logistic: bool,
    model: str,
    where: str,
) -> tuple[Coefficient, ...]:
    try:
        import statsmodels.api as statsmodels
    except ImportError:
        raise MissingExtra("models", needed_for="Comparing the coefficients of models") from None
    options = {"cov_type": "cluster", "cov_kwds": {"groups": groups}}
    with warnings.catch_warnings(record=True, action="always") as cautions:
        try:
            if logistic:
                family = statsmodels.families.Binomial()
                fit = statsmodels.GLM(outcome, matrix, family=family, var_weights=weights).fit(
                    **options
                )
            else:
                fit = statsmodels.WLS(outcome, matrix, weights=weights).fit(**options)
            values, errors = np.asarray(fit.params), np.asarray(fit.bse)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            values = errors = np.array([np.nan])
    separated = any("eparation" in str(caution.message) for caution in cautions)
    if logistic and not separated and np.isfinite(values).all():
        separated = not fit.converged
    if separated or not (np.isfinite(values).all() and np.isfinite(errors).all()):
        raise ModelError(
            f"Model {model!r} has no solution for the {where}: a term tells the outcome of its"
            " records without error, or the records are too few. Take terms out of the formula, or"
            " name a wider population."
        )
    return tuple(
        Coefficient(name, float(value), float(error))
        for name, value, error in zip(names, values, errors, strict=True)
    )
