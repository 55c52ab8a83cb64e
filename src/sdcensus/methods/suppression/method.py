"""Cell suppression as a method: primary rules, an engine, and a sign in the closed cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.elimination.suppression import Singles
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import MethodKind, member
from sdcensus.methods.suppression.cells import least_known, named, opening_order, reasons_of
from sdcensus.methods.suppression.earlier import Contradictions, kept
from sdcensus.methods.suppression.elimination import eliminate
from sdcensus.methods.suppression.fewest import fewest_closed
from sdcensus.methods.suppression.interval_settings import DEFAULT_WORK, check_engine
from sdcensus.methods.suppression.intervals import Protection
from sdcensus.methods.suppression.modular import modular_pattern
from sdcensus.methods.suppression.optimal import cheapest_pattern
from sdcensus.methods.suppression.problem import (
    Pattern,
    SuppressionProblem,
)
from sdcensus.methods.suppression.protected import (
    IntervalEngine,
    IntervalTask,
    protected_pattern,
)
from sdcensus.methods.suppression.rules import (
    Rule,
    any_of,
    check_variables,
    fewer_than,
    group_disclosure,
    one_household,
    primary_cells,
    small_areas,
    with_empty_sums,
)
from sdcensus.methods.suppression.settings import (
    PARAMETERS,
    Engine,
    Order,
    SinglesRule,
    Zeros,
)
from sdcensus.methods.suppression.sum_settings import contribution_rules, described
from sdcensus.methods.suppression.sums import (
    Distances,
    as_changes,
    check_rules_fit,
    costs_of,
    few_contributors,
    named_contributions,
)
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.primary_rules import PrimaryRules
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.method.parameter import Asked, Parameter
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Audit
from sdcensus.model.published.table import Mark
from sdcensus.model.sentences import sentence
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.solve import Solver

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


_SINGLES = {
    SinglesRule.NONE: Singles.IGNORED,
    SinglesRule.ALONE: Singles.ALONE,
    SinglesRule.ANY_SUM: Singles.ANY_SUM,
}

#: An engine of suppression: the tables, what is asked, the method, progress.
EngineFunction = Callable[[LinkedCubes, SuppressionProblem, "Suppression", Progress], Pattern]


@dataclass(frozen=True, slots=True, repr=False)
class Suppression(LinkedMethod):
    """Cells that may not be shown are closed, and others so that nobody can compute them.

    Open cells have their true counts. Tables that are given together are protected together.

    Attributes:
        minimum: The smallest count that may be shown; of sums the smallest number of contributors.
        dominance, percent_rule, pq_rule: Rules about the largest contributions, for sums.
        zeros: What becomes of empty cells.
        group: Groups of which all but so many are in one cell are protected as well; not if
            ``None``.
        group_axes: The variables for which that holds; all if empty.
        households: Whether cells of persons who all live in one household are closed.
        population: Areas with fewer units show no cell that holds somebody; no such rule if
            ``None``.
        area: The variable of these areas; the first geography of a table by default.
        rules: Own rules, beside these.
        unless: Cells of which this rule holds are never primary.
        secondary: How the cells are chosen that are closed besides the primary ones.
        singles: What is done for those who are alone in a closed cell.
        order: Which cells are kept open first; by elimination.
        width: How far apart the possible values of a primary cell have to be; 0 for no audit by
            elimination.
        lower_protection, upper_protection: How far below and above its count a primary cell has to
            be possible; where nothing is said, a small count has to reach 0 and the minimum, any
            other as far as the minimum is. For the engines with intervals, as those that follow.
        percent_protection: The same both ways in percent of the count, where that is farther.
        known_within: Everybody knows closed cells to so many percent beforehand.
        work, seconds, gap: When the search for the cheapest pattern ends.
        solver: Which solver proves that a pattern is the cheapest.
        earlier: What an earlier release shows and closes.
        contradictions: What is done where that does not allow what is needed now.
    """

    minimum: int = 3
    _: KW_ONLY
    dominance: str | tuple[int, float | Fraction] | None = None
    percent_rule: float | Fraction | None = None
    pq_rule: str | tuple[float | Fraction, float | Fraction] | None = None
    zeros: Zeros | str = Zeros.SHOW
    group: int | None = None
    group_axes: tuple[str, ...] = ()
    households: bool = False
    population: int | None = None
    area: str | None = None
    rules: tuple[Rule, ...] = ()
    unless: Rule | None = None
    secondary: Engine | str = Engine.FEWEST
    singles: SinglesRule | str = SinglesRule.ALONE
    order: Order | str = Order.LARGE
    width: int = 1
    lower_protection: int | None = None
    upper_protection: int | None = None
    percent_protection: int | None = None
    known_within: int | None = None
    work: float | None = None
    seconds: float | None = None
    gap: float | None = None
    solver: Solver | str = Solver.CP_SAT
    earlier: CellsElsewhere = NOTHING_ELSEWHERE
    contradictions: Contradictions | str = Contradictions.REFUSE

    name: ClassVar[str] = "suppression"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS
    summary: ClassVar[str] = (
        "Small cells are not shown, nor others from which they could be computed."
    )
    takes: ClassVar[tuple[Parameter, ...]] = PARAMETERS
    shows_truth: ClassVar[bool] = True
    takes_sums: ClassVar[bool] = True

    @classmethod
    def build(cls, asked: Asked) -> Suppression:
        """The method with what somebody said about it."""
        said = dict(asked.values)
        earlier = said.pop("earlier_release", None)
        known = NOTHING_ELSEWHERE if earlier is None else asked.earlier(Path(earlier))
        return cls(**said, earlier=known)

    def __post_init__(self) -> None:
        self.contribution_rules()
        for name, least in (("minimum", 1), ("group", 0), ("population", 1), ("width", 0)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise SpecError(f"{name} is a whole number, {least} or more.")
        object.__setattr__(self, "group_axes", tuple(self.group_axes))
        for name, options, what in (
            ("zeros", Zeros, "treatment of zeros"),
            ("secondary", Engine, "engine of suppression"),
            ("singles", SinglesRule, "rule for singles"),
            ("order", Order, "order of cells"),
            ("contradictions", Contradictions, "way with contradictions"),
            ("solver", Solver, "solver"),
        ):
            object.__setattr__(self, name, member(options, what, getattr(self, name)))
        for name in ("lower_protection", "upper_protection", "percent_protection", "known_within"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise SpecError(f"{name} is a whole number, 1 or more.")
        defaults = {field.name: field.default for field in fields(self)}
        said = {name: getattr(self, name) for name in defaults}
        check_engine(
            str(self.secondary),
            {name: value for name, value in said.items() if value != defaults[name]},
        )
        if self.secondary in (Engine.OPTIMAL, Engine.MODULAR):
            self._protection()
            self._limits()

    def __repr__(self) -> str:
        return f"<Suppression of counts below {self.minimum}, {self.secondary}>"

    @property
    def needs_households(self) -> bool:
        """Whether cells of one household are asked for."""
        return self.households

    @property
    def needs_contributions(self) -> ContributionNeeds | None:
        """Of sums the largest contributions, without record keys."""
        return ContributionNeeds(keys=False)

    def contribution_rules(self) -> PrimaryRules | None:
        """The rules about the largest contributions, if there are any."""
        return contribution_rules(self.dominance, self.percent_rule, self.pq_rule)

    def check(self, cube: AnyCube) -> None:
        """Refuse a cube that it cannot protect, and rules that say nothing of it."""
        # Not super(): a dataclass with slots is made anew, and knows no class of itself.
        LinkedMethod.check(self, cube)
        check_rules_fit(
            cube.spec, contributions=self.contribution_rules() is not None, group=self.group
        )

    @property
    def largest_deviation(self) -> int | None:
        """Counts that are shown are true."""
        return 0

    @property
    def smallest_shown(self) -> int | None:
        """The minimum."""
        return self.minimum

    def parameters(self) -> Mapping[str, object]:
        """Everything that decides the published numbers."""
        return {
            "minimum": self.minimum,
            **described(self.contribution_rules()),
            "zeros": str(self.zeros),
            "group": self.group,
            "group_axes": list(self.group_axes),
            "households": self.households,
            "population": self.population,
            "area": self.area,
            "rules": [named(rule) for rule in self.rules],
            "unless": None if self.unless is None else named(self.unless),
            "secondary": str(self.secondary),
            "singles": str(self.singles),
            "order": str(self.order),
            "width": self.width,
            "lower_protection": self.lower_protection,
            "upper_protection": self.upper_protection,
            "percent_protection": self.percent_protection,
            "known_within": self.known_within,
            "work": self.work,
            "gap": self.gap,
            "solver": str(self.solver) if self.secondary is Engine.OPTIMAL else None,
            "earlier": self.earlier.digest(),
            "contradictions": str(self.contradictions),
        }

    def claims(self) -> Claims:
        """What the published numbers are promised to be."""
        keeps = self.zeros is Zeros.SHOW and self.group is None and not self.rules
        return Claims(
            bounded=True,
            zeros_kept=keeps and not self.earlier,
            zeros_are_true=True,
            never_negative=True,
            shown_cells_add_up=True,
            shown_are_true=True,
            cautions=(sentence("suppression.together"), sentence("suppression.outside")),
        )

    def named_rules(self, *, sums: bool = False) -> dict[str, Rule]:
        """The rules by which cells may not be shown, by what the office calls them.

        Args:
            sums: Whether they are of tables of sums.
        """
        zeros = self.zeros is Zeros.PROTECT
        rules = {"small counts": fewer_than(self.minimum, zeros=zeros)}
        if sums:
            few = few_contributors(self.minimum, zeros=zeros)
            rules = {"few contributors": few, **named_contributions(self.contribution_rules())}
        if self.group is not None:
            rules["whole groups"] = group_disclosure(self.group, self.group_axes)
        if self.households:
            rules["one household"] = one_household()
        if self.population is not None:
            rules["small areas"] = small_areas(self.population, self.area)
        for number, rule in enumerate(self.rules, start=1):
            rules[f"own rule {number}"] = rule
        return rules

    def rule(self, *, sums: bool = False) -> Rule:
        """Which cells may not be shown."""
        return any_of(*self.named_rules(sums=sums).values(), unless=self.unless)

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        """Close cells of all tables together."""
        problem, remarks = self.problem(linked)
        pattern = _ENGINES[Engine(self.secondary)](linked, problem, self, progress)
        closed = pattern.closed & problem.shown
        flags = np.where(closed, np.uint8(Mark.WITHHELD), np.uint8(Mark.NONE))
        told = (pattern.statement, *remarks) if pattern.statement else remarks
        by_rule = {
            name: primary_cells(linked, any_of(rule, unless=self.unless))
            for name, rule in self.named_rules(sums=linked.sums is not None).items()
        }
        if len(by_rule) > 1:
            counted = ", ".join(f"{name} {int(mask.sum()):,}" for name, mask in by_rule.items())
            told = (*told, f"Primary cells by rule: {counted}.")
        return LinkedOutcome(
            np.where(closed, 0, linked.values),
            flags.astype(np.uint8),
            solution=pattern.report,
            remarks=told,
            reasons=reasons_of(problem, closed, by_rule),
        )

    def problem(self, linked: LinkedCubes) -> tuple[SuppressionProblem, tuple[str, ...]]:
        """What is asked of an engine, and what the office should know of it."""
        tables, sums = linked.tables, linked.sums is not None
        check_variables(tables.specs, self.group_axes, self.population, self.area)
        primary = with_empty_sums(linked, primary_cells(linked, self.rule(sums=sums)))
        way = Contradictions(self.contradictions)
        asked = kept(tables, self.earlier, primary, way, linked.elsewhere)
        elsewhere = self.earlier.also(linked.elsewhere)
        order = opening_order(linked, Order(self.order), elsewhere)
        cost = np.maximum(costs_of(linked), 1)
        problem = SuppressionProblem(
            counts=linked.counts,
            values=linked.values,
            before=elsewhere.masks(tables)[0],
            shown=tables.published,
            primary=primary,
            forced=asked.forced,
            frozen=asked.frozen,
            cost=np.where(primary | asked.frozen | ~tables.published, 0, cost),
            least=least_known(linked, zeros_shown=self.zeros is Zeros.SHOW),
            order=order,
            equations=tables.equations,
        )
        if sums:
            rules, distances = self.contribution_rules(), self._distances()
            problem = as_changes(linked, problem, rules, distances)
        return problem, asked.remarks

    def _protection(self) -> Protection:
        """How well closed cells have to be protected."""
        return Protection(
            minimum=self.minimum,
            lower=self.lower_protection,
            upper=self.upper_protection,
            percent=self.percent_protection or 0,
            width=self.width,
            known_within=self.known_within,
            insiders=self.singles is not SinglesRule.NONE,
        )

    def _distances(self) -> Distances:
        """How far off closed sums have to be thought possible."""
        return Distances(
            lower=self.lower_protection,
            upper=self.upper_protection,
            percent=self.percent_protection,
            width=self.width,
            known_within=self.known_within,
        )

    def _limits(self) -> Limits:
        """When a search for the cheapest pattern ends."""
        work = DEFAULT_WORK if self.work is None else self.work
        return Limits(work=work, seconds=self.seconds, gap=self.gap or 0.0)

    def audit(self, cube: AnyCube) -> Audit:
        """True counts; no key was used."""
        return Audit(cube)


def _by_elimination(
    linked: LinkedCubes, problem: SuppressionProblem, method: Suppression, progress: Progress
) -> Pattern:
    return eliminate(
        linked,
        problem,
        singles=_SINGLES[SinglesRule(method.singles)],
        zeros_open=method.zeros is not Zeros.CANDIDATES,
        width=method.width,
        progress=progress,
    )


def _fewest(
    linked: LinkedCubes, problem: SuppressionProblem, method: Suppression, progress: Progress
) -> Pattern:
    """By elimination alone where something is asked that nothing else knows."""
    compared = (
        method.order is Order.LARGE
        and method.singles is not SinglesRule.ANY_SUM
        and method.zeros is not Zeros.CANDIDATES
        and method.width > 0
    )
    if not compared:
        return _by_elimination(linked, problem, method, progress)
    return fewest_closed(
        linked,
        problem,
        singles=_SINGLES[SinglesRule(method.singles)],
        width=method.width,
        progress=progress,
    )


def _by_intervals(engine: Callable[[Suppression], IntervalEngine]) -> EngineFunction:
    """An engine with protection intervals, made for the method that asks."""

    def pattern(
        linked: LinkedCubes, problem: SuppressionProblem, method: Suppression, progress: Progress
    ) -> Pattern:
        task = IntervalTask(
            protection=method._protection(),
            engine=engine(method),
            zeros_open=method.zeros is not Zeros.CANDIDATES,
        )
        return protected_pattern(linked, problem, task, progress)

    return pattern


def _optimal(method: Suppression) -> IntervalEngine:
    return partial(cheapest_pattern, limits=method._limits(), solver=Solver(method.solver))


def _modular(method: Suppression) -> IntervalEngine:
    return partial(modular_pattern, limits=method._limits())


_ENGINES: Mapping[Engine, EngineFunction] = {
    Engine.FEWEST: _fewest,
    Engine.ELIMINATION: _by_elimination,
    Engine.OPTIMAL: _by_intervals(_optimal),
    Engine.MODULAR: _by_intervals(_modular),
}
