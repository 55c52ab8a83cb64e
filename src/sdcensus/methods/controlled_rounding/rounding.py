"""Controlled rounding as a method: the nearest table of multiples that adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum
from typing import ClassVar

from sdcensus.errors import SpecError
from sdcensus.methods.controlled_rounding.blocks import LARGE
from sdcensus.methods.controlled_rounding.budget import Budget, watched
from sdcensus.methods.controlled_rounding.explain import failure
from sdcensus.methods.controlled_rounding.network import TableNetwork, network_of
from sdcensus.methods.controlled_rounding.problem import (
    RoundingProblem,
    RoundingRule,
    Weights,
    Zeros,
)
from sdcensus.methods.controlled_rounding.solve import Effort, Rounder, Rounding, SearchSettings
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import Int64, MethodKind, member
from sdcensus.methods.rounding import base_parameter, check_base
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import DeviationSupport
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.method.parameter import SECONDS, WORK, Asked, Parameter, ValueKind
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.sentences import sentence
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import Status
from sdcensus.solvers.report import SolutionReport
from sdcensus.solvers.solve import Solver, reported

#: About so many seconds of a usual processor are spent on looking for a nearer table.
DEFAULT_WORK = 20
#: A table that is proven to be so near to the nearest is good enough.
DEFAULT_GAP = 0.01
#: More steps than this are not allowed.
MOST_STEPS = 100


class Infeasible(StrEnum):
    """What to do where no table keeps to what is asked: say why, or let cells go farther."""

    REFUSE = "refuse"
    WIDEN = "widen"


INFEASIBLE = Parameter(
    "infeasible",
    ValueKind.WORD,
    "What to do where no table keeps to what is asked.",
    words=tuple(Infeasible),
    called="way out",
    default=Infeasible.REFUSE,
)


def reach(base: int, steps: int) -> int:
    """How far a count lies at most from what is published for it."""
    return (steps + 1) * base - 1


def support_of(base: int, steps: int) -> DeviationSupport:
    """Which counts lead to which multiple.

    Examples:
        >>> import numpy as np
        >>> known = support_of(5, 0)
        >>> [bounds.tolist() for bounds in known.bounds(np.array([0, 5, 20]))]
        [[0, 1, 16], [4, 9, 24]]
    """
    values = range((steps + 2) * base)
    far = reach(base, steps)
    possible = [value % base == 0 for value in values]
    return DeviationSupport(
        tuple(max(value - far, 0) if possible[value] else 1 for value in values),
        tuple(value + far if possible[value] else 0 for value in values),
        base,
    )


@dataclass(frozen=True, slots=True, repr=False)
class ControlledRounding(LinkedMethod):
    """Every count becomes a multiple of the base next to it, so that all totals are sums.

    Of all such tables the one is taken that is nearest to the truth.

    Attributes:
        base: What results are multiples of, 2 to 100.
        extra_steps: How many multiples farther than next to it a count may go.
        zeros: Whether empty cells stay 0 where counts may go farther.
        weights: What a unit of distance costs.
        protect_below: Counts from 1 to below this must not be published near the truth.
        lower_protection, upper_protection: How far below or above the truth they are published at
            least; not as the truth itself if nothing is said.
        infeasible: What to do where there is no such table.
        effort: How hard the nearest table is looked for.
        work, seconds, gap: When the search ends.
        solver: Which solver proves that a table is the nearest, where one is needed.
    """

    base: int = 3
    _: KW_ONLY
    extra_steps: int = 0
    zeros: Zeros | str = Zeros.KEEP
    weights: Weights | str = Weights.EQUAL
    protect_below: int | None = None
    lower_protection: int | None = None
    upper_protection: int | None = None
    infeasible: Infeasible | str = Infeasible.REFUSE
    effort: Effort | str = Effort.AUTO
    work: float = DEFAULT_WORK
    seconds: float | None = None
    gap: float = DEFAULT_GAP
    solver: Solver | str = Solver.HIGHS

    name: ClassVar[str] = "controlled-rounding"
    kind: ClassVar[MethodKind] = MethodKind.ROUNDS
    summary: ClassVar[str] = "Multiples next to the counts whose totals add up, the nearest ones."
    takes: ClassVar[tuple[Parameter, ...]] = (
        base_parameter(3),
        Parameter(
            "extra_steps",
            ValueKind.WHOLE,
            "How many multiples farther than next to it a count may go.",
            least=0,
            most=MOST_STEPS,
            default=0,
        ),
        Parameter(
            "zeros",
            ValueKind.WORD,
            "Whether empty cells may change where counts may go farther.",
            words=tuple(Zeros),
            called="treatment of zeros",
            default=Zeros.KEEP,
        ),
        Parameter(
            "weights",
            ValueKind.WORD,
            "What one unit of change costs.",
            words=tuple(Weights),
            called="kind of weights",
            default=Weights.EQUAL,
        ),
        Parameter(
            "protect_below",
            ValueKind.WHOLE,
            "Counts from 1 to below this must not be published near the truth.",
            least=2,
        ),
        Parameter(
            "lower_protection",
            ValueKind.WHOLE,
            "How far a sensitive cell goes down at least; by 1 if not given.",
            least=1,
            needs=("protect_below",),
        ),
        Parameter(
            "upper_protection",
            ValueKind.WHOLE,
            "How far a sensitive cell goes up at least; by 1 if not given.",
            least=1,
            needs=("protect_below",),
        ),
        INFEASIBLE,
        Parameter(
            "effort",
            ValueKind.WORD,
            "How hard the least change is looked for.",
            words=tuple(Effort),
            called="effort",
            default=Effort.AUTO,
        ),
        replace(WORK, default=DEFAULT_WORK),
        SECONDS,
        Parameter(
            "gap",
            ValueKind.SHARE,
            "A change that is proven to be so near is good enough.",
            default=DEFAULT_GAP,
        ),
    )

    @classmethod
    def build(cls, asked: Asked) -> ControlledRounding:
        """The method with what somebody said about it."""
        return cls(**asked.values)

    def __post_init__(self) -> None:
        check_base(self.base)
        if type(self.extra_steps) is not int or not 0 <= self.extra_steps <= MOST_STEPS:
            raise SpecError(
                f"A count goes at most a whole number of steps farther, from 0 to {MOST_STEPS}."
            )
        for field, options, what in (
            ("zeros", Zeros, "treatment of zeros"),
            ("weights", Weights, "kind of weights"),
            ("infeasible", Infeasible, "way out"),
            ("effort", Effort, "effort"),
            ("solver", Solver, "solver"),
        ):
            object.__setattr__(self, field, member(options, what, getattr(self, field)))
        below = self.protect_below
        if below is not None and (type(below) is not int or below < 2):
            raise SpecError("Counts are protected below a whole number, 2 or more.")
        for distance in (self.lower_protection, self.upper_protection):
            if distance is not None and (type(distance) is not int or distance < 1):
                raise SpecError("A distance from the truth is a whole number, 1 or more.")
        self._limits()

    def __repr__(self) -> str:
        return f"<ControlledRounding to multiples of {self.base}, {self.extra_steps} steps farther>"

    @property
    def largest_deviation(self) -> int | None:
        """One less than the base, and the base more for each step that a count may go farther."""
        if self.infeasible is Infeasible.WIDEN:
            return None
        return reach(self.base, self.extra_steps)

    @property
    def support(self) -> DeviationSupport | None:
        """Which counts lead to which multiple."""
        if self.infeasible is Infeasible.WIDEN:
            return None
        return support_of(self.base, self.extra_steps)

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {
            "base": self.base,
            "extra_steps": self.extra_steps,
            "zeros": str(self.zeros),
            "weights": str(self.weights),
            "protect_below": self.protect_below,
            "lower_protection": self.lower_protection,
            "upper_protection": self.upper_protection,
            "infeasible": str(self.infeasible),
            "effort": str(self.effort),
            "work": self.work,
            "gap": self.gap,
            "solver": str(self.solver),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        bounded = self.infeasible is Infeasible.REFUSE
        zeros = self.zeros is Zeros.KEEP or (bounded and self.extra_steps == 0)
        return Claims(
            bounded=bounded,
            zeros_kept=zeros,
            never_negative=True,
            blocked_counts_never_appear=True,
            additive=True,
            grows_empty_cells=not zeros,
            cautions=(
                sentence("controlled.draws_nothing"),
                sentence("controlled.other_table"),
                *(() if bounded else (sentence("controlled.widened"),)),
            ),
        )

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no key was used."""
        return Audit(cube)

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """Look for the nearest table."""
        if not linked.tables.adds_up(linked.counts):
            raise SpecError(
                f"{linked.tables.specs[0].title}: the table does not add up, so that no rounding"
                " of it does. Count all its cells from the same records."
            )
        budget = Budget(self._limits())
        network = network_of(linked.tables)
        problem = self._problem(linked, network, self.extra_steps)
        result = self._searched(problem, linked, network, budget, progress, None)
        while result.best.steps is None:
            farther = problem.rule.steps + 1
            if self.infeasible is Infeasible.REFUSE or farther > MOST_STEPS:
                raise failure(problem, result, cut_short=not budget.repeatable)
            if result.last is not None and problem.size > LARGE:
                # A large table is not searched again for every step.
                farther = min(max(farther, problem.needed(result.last)), MOST_STEPS)
            budget.renew()
            problem = self._problem(linked, network, farther)
            result = self._searched(problem, linked, network, budget, progress, result.last)
        steps = result.best.steps
        if not problem.holds(steps):
            raise AssertionError("A rounding that was found does not hold in whole numbers.")
        return LinkedOutcome(
            problem.published(steps), solution=self._report(problem, result, budget)
        )

    def _searched(
        self,
        problem: RoundingProblem,
        linked: LinkedCubes,
        network: TableNetwork | None,
        budget: Budget,
        progress: Progress,
        before: Int64 | None,
    ) -> Rounding:
        settings = SearchSettings(
            effort=Effort(self.effort), solver=Solver(self.solver), limits=self._limits()
        )
        rounder = Rounder(problem, linked, settings, budget, network, before)
        search = reported(progress, "rounding")

        def tell() -> None:
            best = rounder.result.best
            distance = float("nan") if best.steps is None else float(best.distance)
            search(distance, float(rounder.result.bound))

        return watched(rounder.run, budget, tell)

    def _report(self, problem: RoundingProblem, result: Rounding, budget: Budget) -> SolutionReport:
        best = result.best
        status = Status.OPTIMAL
        if best.distance > result.bound:
            status = Status.STOPPED if budget.stopped else Status.LIMIT
        remarks = []
        if problem.rule.steps and best.steps is not None:
            cells, farthest = problem.farther(best.steps)
            remarks.append(
                f"{cells:,} cells are not published as a multiple next to their count; the"
                f" farthest is {farthest:,} away."
            )
        return SolutionReport(
            what="sum of distances",
            status=status,
            objective=best.distance,
            bound=result.bound,
            repeatable=budget.repeatable,
            remarks=tuple(remarks),
        )

    def _problem(
        self, linked: LinkedCubes, network: TableNetwork | None, steps: int
    ) -> RoundingProblem:
        return RoundingProblem.of(linked, self._rule(steps), hidden_limit=network is None)

    def _rule(self, steps: int) -> RoundingRule:
        return RoundingRule(
            base=self.base,
            steps=steps,
            zeros=Zeros(self.zeros),
            weights=Weights(self.weights),
            protect_below=self.protect_below or 0,
            lower=self.lower_protection or 1,
            upper=self.upper_protection or 1,
        )

    def _limits(self) -> Limits:
        return Limits(work=self.work, seconds=self.seconds, gap=self.gap)
