"""What is measured about the use of a file: the nouns that measures, tables and reports share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from sdcensus.errors import Sentence
from sdcensus.microdata.method import FactTable
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import Survey
from sdcensus.model.schema.variable import Code, Entity
from sdcensus.session.release.utility.models import ModelComparison
from sdcensus.utility.records.amounts import AmountSummary
from sdcensus.utility.records.distributions import DistributionChange
from sdcensus.utility.records.pairs import PairChange
from sdcensus.utility.records.sampling_error import Estimate

#: Standard errors that differ by less than this share are told as equal.
ALIKE = 0.1


class Precision(StrEnum):
    """What is said about a file beside a survey."""

    MORE = "more"
    ALIKE = "alike"
    LESS = "less"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class SurveyVerdict(Confidential):
    """The standard errors of national shares in a file, beside those of a survey.

    Attributes:
        survey: The survey.
        persons: Its persons; those of its households by the mean size of the census where only
            households are known; 0 if nothing is.
        design_effect: The one that is assumed for it.
        error: The median standard error of the survey over the shares of persons, as a share.
        file_error: That of the file.
        ratio: The median of file's error divided by survey's; ``None`` where nothing is compared.
    """

    survey: Survey
    persons: int
    design_effect: float
    error: float | None = None
    file_error: float | None = None
    ratio: float | None = None

    def __repr__(self) -> str:
        return f"<SurveyVerdict {self.survey.name!r}: confidential>"

    @property
    def precision(self) -> Precision:
        """Whether the file is more precise than the survey."""
        if self.ratio is None:
            return Precision.UNKNOWN
        if self.ratio < 1 - ALIKE:
            return Precision.MORE
        return Precision.ALIKE if self.ratio <= 1 + ALIKE else Precision.LESS


@dataclass(frozen=True, slots=True, repr=False)
class EstimateCheck(Confidential):
    """An estimate of the file beside what the census says.

    Attributes:
        variable: Of what.
        entity: Of which units.
        code: Whose share it is; ``None`` for the mean of an amount.
        truth: The value in the census.
        estimate: The value in the file, with its sampling error.
    """

    variable: str
    entity: Entity
    code: Code | None
    truth: float
    estimate: Estimate

    def __repr__(self) -> str:
        return f"<EstimateCheck of {self.variable!r}: confidential>"

    @property
    def errors(self) -> float | None:
        """How many standard errors the file is away from the census."""
        return self.estimate.errors_from(self.truth)

    @property
    def inside(self) -> bool | None:
        """Whether the interval of 95 per cent holds the truth; ``None`` where there is none."""
        interval = self.estimate.interval
        if interval is None:
            return None
        slack = 1e-9 * max(1.0, abs(self.truth))
        return interval[0] - slack <= self.truth <= interval[1] + slack


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class VariableUtility(Confidential):
    """What a file leaves of one variable.

    Attributes:
        variable: As the file tells it.
        detail: The share of the census' entropy that recodes leave; ``None`` for nothing to lose.
        sampling: The sample against the census, with the codes of the file.
        changes: The file against the sample: what changes of records did.
        together: The file against the census.
        estimates: The shares of its codes with their sampling errors.
    """

    variable: FileVariable
    detail: float | None
    sampling: DistributionChange
    changes: DistributionChange
    together: DistributionChange
    estimates: tuple[EstimateCheck, ...]

    def __repr__(self) -> str:
        return f"<VariableUtility {self.variable.name!r}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class AmountUtility(Confidential):
    """An amount in the census, in the sample and in the file."""

    variable: FileVariable
    census: AmountSummary
    sample: AmountSummary
    file: AmountSummary
    mean: EstimateCheck | None

    def __repr__(self) -> str:
        return f"<AmountUtility {self.variable.name!r}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class CorrelationChange(Confidential):
    """The correlation of two amounts in the census, in the sample and in the file."""

    names: tuple[str, str]
    census: float | None
    sample: float | None
    file: float | None

    def __repr__(self) -> str:
        return "<CorrelationChange: confidential>"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class ReleaseUtility(Confidential):
    """Everything that was measured about the use of a file.

    Attributes:
        variables: Of each variable with codes.
        pairs: Of each pair of them, the worst first; all that were measured.
        amounts, correlations: Of amounts.
        estimates: All estimates with their sampling errors.
        surveys: How the file compares with surveys of the country.
        models: The models that the office has named.
        left_out: How many pairs were not compared, for the size of the census.
        facts: The same as tables for the office.
        verdict: The same in plain words.
    """

    variables: tuple[VariableUtility, ...]
    pairs: tuple[PairChange, ...]
    amounts: tuple[AmountUtility, ...]
    correlations: tuple[CorrelationChange, ...]
    estimates: tuple[EstimateCheck, ...]
    surveys: tuple[SurveyVerdict, ...]
    models: tuple[ModelComparison, ...]
    left_out: int = 0
    facts: tuple[FactTable, ...] = ()
    verdict: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return "<ReleaseUtility: confidential>"

    @property
    def covered(self) -> float | None:
        """The share of estimates whose interval holds the truth."""
        judged = [check.inside for check in self.estimates if check.inside is not None]
        return sum(judged) / len(judged) if judged else None

    @property
    def design_effect(self) -> float | None:
        """The median design effect of shares of persons."""
        effects = [
            check.estimate.design_effect
            for check in self.estimates
            if check.entity is Entity.PERSON and check.estimate.design_effect is not None
        ]
        return median(effects) if effects else None
