"""Estimates of a sample, rounded to a base and marked by the class of their sampling error.

As Germany publishes what its census asks of a tenth of its people: hundreds of thousands would be
told to the last person although nobody knows them so well, and a number that rests on a handful of
people tells more about these than about the country.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sdcensus.errors import Refused, SpecError
from sdcensus.kernels.cells.replicates import errors_above
from sdcensus.kernels.perturbation.rounding import nearest_multiples
from sdcensus.methods.listed_cells import ListedCells
from sdcensus.methods.method import CellMethod, Int64, Mask, MethodKind, MethodOutcome, member
from sdcensus.methods.threshold import ThresholdZeros
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Accumulators, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.exact_shares import in_billionths
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.schema import SAMPLE_WEIGHT
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

BASE, LARGEST_BASE = 10, 10**9
MINIMUM_CASES = 3
MODERATE, BRACKETS, WITHHELD = 0.05, 0.1, 0.15


@dataclass(frozen=True, slots=True, repr=False)
class SampleRounding(CellMethod):
    """Every estimate is the nearest multiple of the base, where enough is behind it.

    Attributes:
        base: What results are multiples of, in the unit of what the table shows. 10 for counts;
            for sums it has to be said.
        minimum_cases: Estimates that rest on fewer records have a sign in their place; of sums,
            on fewer that add something. 3: neither of two who were asked can subtract himself.
        zeros: Whether a cell that nobody in the sample belongs to is shown as 0, or has the sign.
        moderate_above, brackets_above, withheld_above: The relative standard errors from which on
            an estimate has the sign B, stands in brackets, or has a sign in its place.
    """

    base: int | None = None
    _: KW_ONLY
    minimum_cases: int = MINIMUM_CASES
    zeros: ThresholdZeros | str = ThresholdZeros.SHOW
    moderate_above: float | Fraction = MODERATE
    brackets_above: float | Fraction = BRACKETS
    withheld_above: float | Fraction = WITHHELD

    name: ClassVar[str] = "sample-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Estimates of a sample are rounded, and marked by sampling error."
    takes_sums: ClassVar[bool] = True
    for_samples: ClassVar[bool] = True
    shows_truth: ClassVar[bool] = True
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "base",
            ValueKind.WHOLE,
            f"Rounding: to multiples of this number. {BASE} for counts; for sums it must be said.",
            least=2,
            most=LARGEST_BASE,
        ),
        Parameter(
            "minimum_cases",
            ValueKind.WHOLE,
            "Estimates that rest on fewer records of the sample are not shown.",
            least=1,
            default=MINIMUM_CASES,
        ),
        Parameter(
            "zeros",
            ValueKind.WORD,
            "What is published for empty cells.",
            words=tuple(ThresholdZeros),
            called="treatment of zeros",
            default=ThresholdZeros.SHOW,
        ),
        Parameter(
            "moderate_above",
            ValueKind.SHARE,
            "Estimates with a larger relative standard error have the sign B.",
            default=MODERATE,
        ),
        Parameter(
            "brackets_above",
            ValueKind.SHARE,
            "Estimates with a larger relative standard error stand in brackets.",
            default=BRACKETS,
        ),
        Parameter(
            "withheld_above",
            ValueKind.SHARE,
            "Estimates with a larger relative standard error are not shown.",
            default=WITHHELD,
        ),
    )

    def __post_init__(self) -> None:
        known = self.base is None or (type(self.base) is int and 2 <= self.base <= LARGEST_BASE)
        if not known:
            raise SpecError(
                f"The base of rounding is a whole number from 2 to {LARGEST_BASE:,}, in the unit of"
                " what the table shows."
            )
        if type(self.minimum_cases) is not int or self.minimum_cases < 1:
            raise SpecError("The smallest number of cases is a whole number, 1 or more.")
        object.__setattr__(self, "zeros", member(ThresholdZeros, "treatment of zeros", self.zeros))
        if self._limits != tuple(sorted(self._limits)):
            raise SpecError(
                "The limits of relative standard errors ascend: moderate_above, brackets_above,"
                f" withheld_above, such as {MODERATE}, {BRACKETS} and {WITHHELD}."
            )

    def __repr__(self) -> str:
        return (
            f"<SampleRounding to multiples of {self.base or BASE}, from {self.minimum_cases} cases,"
            f" withheld above {float(self.withheld_above):g}>"
        )

    @property
    def _limits(self) -> tuple[int, int, int]:
        """The limits in billionths."""
        return (
            in_billionths("moderate_above", self.moderate_above),
            in_billionths("brackets_above", self.brackets_above),
            in_billionths("withheld_above", self.withheld_above),
        )

    @property
    def takes_weights(self) -> bool:
        """Weighted counts and weighted sums are all that it takes."""
        return True

    @property
    def needs_replicates(self) -> bool:
        """Sampling errors decide what is shown."""
        return True

    @property
    def needs_contributions(self) -> ContributionNeeds:
        """How many contribute to a sum; not who, nor how much."""
        return ContributionNeeds(largest=0, keys=False, waivers=False, spread=False, absolute=False)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        moderate, brackets, withheld = self._limits
        return {
            "base": self.base,
            "minimum_cases": self.minimum_cases,
            "zeros": str(self.zeros),
            "moderate_above": moderate,
            "brackets_above": brackets,
            "withheld_above": withheld,
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        return Claims(
            bounded=True,
            zeros_kept=self.zeros is ThresholdZeros.SHOW,
            consistent=True,
            cautions=(
                sentence("cautions.sample_rests"),
                sentence("cautions.sample_subtraction"),
                sentence("cautions.totals_rounded"),
            ),
        )

    def check(self, cube: AnyCube) -> None:
        """Refuse what is no sample, and a base that hides nothing."""
        CellMethod.check(self, cube)
        base, spec = self.base_of(cube.spec), cube.spec
        count, weight = cube.values.count.reshape(-1), cube.values.weight
        if weight is None or not count.any():
            return
        unit, weights = 10**spec.weight_decimals, weight.reshape(-1)
        most = int(count.argmax())
        if Fraction(int(weights[most]), unit) < SAMPLE_WEIGHT * int(count[most]):
            raise Refused(
                f"{spec.title}: the records stand for fewer than {float(SAMPLE_WEIGHT):g} each on"
                " average. They are no sample, or nearly everybody is in it, and rounding protects"
                " nobody then. Take the method 'cell-key'."
            )
        behind = np.flatnonzero(count)
        whole, rest = np.divmod(weights[behind], count[behind])
        alike = behind.size > 1 and not rest.any() and bool((whole == whole[0]).all())
        if alike and not spec.measure.is_sum and base * unit < 2 * int(whole[0]):
            raise Refused(
                f"{spec.title}: all records have the same weight, so that a number tells how many"
                f" records are behind it unless it is rounded to twice that weight. The base is"
                f" {base}: take a larger one ('base'), or the method 'cell-key'."
            )

    def base_of(self, spec: TableSpec) -> int:
        """The base for a table.

        Raises:
            SpecError: It is a table of sums, and nobody said a base in their unit.
        """
        if self.base is None and spec.amount is not None:
            unit = f" ({spec.unit})" if spec.unit else ""
            raise SpecError(
                f"{spec.title}: to which multiples sums are rounded has to be said, in the unit of"
                f" {spec.amount.name!r}{unit}: base = 1000, on the command line --base 1000."
            )
        return self.base or BASE

    def exact(self, cells: Accumulators, spec: TableSpec) -> Int64:
        """The estimates in fixed point."""
        if spec.amount is not None:
            return cells.sum_of(spec.amount.name)
        return self._weight(cells, spec)

    def publish(
        self,
        cells: Accumulators,
        spec: TableSpec,
        origin: Origin,
        listed: ListedCells | None = None,
    ) -> MethodOutcome:
        """Round every estimate on its own, and mark or withhold it by its sampling error."""
        if not cells.replicates:
            raise SpecError(_lacks(spec))
        value, base = self.exact(cells, spec), self.base_of(spec)
        weight_unit = 10**spec.weight_decimals
        unit = weight_unit if spec.amount is None else 10**spec.decimals
        # Counts have no decimals when they are published, sums have theirs.
        published = nearest_multiples(value, base * unit) * (base * 10**spec.decimals)
        moderate, brackets, withheld = errors_above(
            value,
            cells.replicates,
            cells.count,
            self._weight(cells, spec),
            weight_unit,
            self._limits,
        )
        hidden = (cells.count > 0) & (withheld | self._too_few(cells, spec))
        if self.zeros is not ThresholdZeros.SHOW:
            hidden |= cells.count == 0
        published[hidden] = 0
        beside = np.where(brackets, np.uint8(Mark.LOW_RELIABILITY), np.uint8(Mark.MODERATE_ERROR))
        return MethodOutcome(
            published,
            np.where(hidden, np.uint8(Mark.UNRELIABLE), np.uint8(Mark.NONE)),
            np.where(moderate & ~hidden, beside, np.uint8(Mark.NONE)),
            (self._note(base),),
        )

    def _too_few(self, cells: Accumulators, spec: TableSpec) -> Mask:
        """Where too few records are behind an estimate, or records that stand for themselves."""
        cases = cells.count
        if spec.amount is not None:
            if cells.contributions is None:
                raise SpecError(_lacks(spec))
            cases = cells.contributions.contributors
        weight = self._weight(cells, spec)
        least = SAMPLE_WEIGHT * 10**spec.weight_decimals
        short = weight * least.denominator < cells.count * least.numerator
        return np.asarray((cases < self.minimum_cases) | short, dtype=bool)

    def _weight(self, cells: Accumulators, spec: TableSpec) -> Int64:
        if cells.weight is None:
            raise SpecError(_lacks(spec))
        return cells.weight

    def _note(self, base: int) -> Text:
        """What readers are told about the signs."""
        moderate, brackets, withheld = (f"{limit / 10**7:g}" for limit in self._limits)
        return Text.named("notes.sample_rounding").filled(
            base=str(base), moderate=moderate, brackets=brackets, withheld=withheld
        )

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no key was used."""
        return Audit(cube)


def _lacks(spec: TableSpec) -> str:
    return (
        f"{spec.title}: the table was tabulated without the sampling errors that the method needs."
        " Ask for them: census.tabulate(..., replicates=method.needs_replicates)."
    )
