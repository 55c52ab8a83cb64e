"""The look budget of a policy or of a plan, and the noise that keeps it within a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SpecError
from sdcensus.formats.perturbation.read import read_perturbation
from sdcensus.methods.perturbation.design import LARGEST_DEVIATION, design_perturbation
from sdcensus.methods.perturbation.schemes import SCHEMES, STRENGTHS, scheme
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.plan.plan import Plan
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import Policy, UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.looks.budget import (
    NOT_COVERED,
    LookBudget,
    Looks,
    look_budget_of_tables,
    look_budgets,
)
from sdcensus.risk.looks.chance import (
    ALPHA,
    Requirement,
    best_guess,
    edge_probability,
    large_variance,
    margin_exploit,
    recovery_with,
    required,
)
from sdcensus.risk.looks.data import CellLooks
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.looks.in_census import MOST_TABLES, looks_in_data

__all__ = [
    "LIMIT",
    "NOT_COVERED",
    "CellLooks",
    "LookBudget",
    "Looks",
    "NamedNoise",
    "SchemeLooks",
    "budget_in",
    "budget_of_plan",
    "budget_of_policy",
    "design_for",
    "limit_of",
    "looks_in_data",
    "looks_in_policy",
    "menu_lines",
    "menus_of",
    "named_noise",
    "needed",
    "opened_plan",
    "planned_specs",
    "schemes_against",
]

#: The chance with which adding up and subtracting everything that is published may find a count.
LIMIT = 0.5
#: Noise with a smaller largest deviation is unpicked by margins too easily to be designed.
SMALLEST_DEVIATION = 3


@dataclass(frozen=True, slots=True, repr=False)
class SchemeLooks(Confidential):
    """How a named scheme fares against a look budget.

    Attributes:
        scheme: Its name.
        strength: The strength that stands for it, if one does.
        variance: Of large counts.
        alone: The chance to guess a large count from one published value, exactly.
        together: The chance to recover a count from all tables together.
        given_away: The expected number of sums that give all their parts away.
    """

    scheme: str
    strength: str
    variance: float
    alone: float
    together: float
    given_away: float

    def __repr__(self) -> str:
        return f"<SchemeLooks {self.scheme}: confidential>"


def budget_of_policy(
    census: Census,
    policy: str | Path,
    *,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
    own: int = 1,
) -> LookBudget:
    """The look budget of everything that a policy opens to a role."""
    return budget_in(read_policy(policy, census.schema), of=of, role=role, own=own)


def budget_in(
    policy: Policy,
    *,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
    own: int = 1,
) -> LookBudget:
    """The look budget of what a policy opens, with what tables of other units say."""
    menu = menu_of(policy, policy.schema, of=of, role=role)
    menus = {**menus_of(policy, role=role), menu.of: menu}
    return look_budgets(policy.schema, menus, own=own, only=[menu.of])[menu.of]


def menus_of(policy: Policy, *, role: str | UserRole = UserRole.PUBLIC) -> dict[Entity, Menu]:
    """The menus of all kinds of units that a role may ask for."""
    menus = {}
    for entity in policy.schema.entities:
        try:
            menus[entity.entity] = menu_of(policy, policy.schema, of=entity.entity, role=role)
        except SpecError:  # nothing is offered of such units
            continue
    return menus


def menu_lines(
    policy: Policy,
    noise: NamedNoise,
    *,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
) -> Iterator[str]:
    """The look budget of what a policy opens, against some noise, with what it does not cover."""
    budget = budget_in(policy, of=of, role=role)
    limit = policy.online.recovery or LIMIT
    chance = recovery_with(budget.asked.looks, noise.perturbation)
    yield (
        f"{budget.sentence} With the noise {noise.name}, that is the true count in"
        f" {share_text(chance)} of"
        f" cases; the limit is {share_text(limit, digits=0)}."
    )
    if chance > limit:
        variance = needed(budget, limit).variance
        yield f"Within the limit stays noise with a variance of at least {variance:.3g}."
    yield NOT_COVERED


def limit_of(census: Census, policy: str | Path | None) -> float:
    """The chance of recovery that a policy allows; the usual one where it says nothing."""
    if policy is None:
        return LIMIT
    return read_policy(policy, census.schema).online.recovery or LIMIT


def opened_plan(path: str | Path) -> tuple[Plan, Census]:
    """A plan that was checked in full, and the census that it is about."""
    from sdcensus.documents.plan.document import read_plan

    opened: list[Census] = []

    def schema_of(store: Path) -> Schema:
        opened.append(open_store(store))
        return opened[-1].schema

    return read_plan(path, schema_of), opened[-1]


def budget_of_plan(
    path: str | Path, census: Census | None = None, *, own: int = 1
) -> tuple[LookBudget, ...]:
    """The look budgets of all tables of a plan, one for each kind of unit.

    Tables of its programme are among them, and those behind shares and indicators, whose counts
    can nearly be read off the published figures.

    Args:
        path: The plan.
        census: The census to check it against; else the one that the plan names.
        own: How many variables the cells have besides the area, at most.
    """
    if census is None:
        plan, named = opened_plan(path)
        schema = named.schema
    else:
        from sdcensus.documents.plan.document import read_plan

        schema = census.schema
        plan = read_plan(path, lambda _: schema)
    return look_budget_of_tables(planned_specs(plan, schema), own=own)


def planned_specs(plan: Plan, schema: Schema) -> tuple[TableSpec, ...]:
    """Every table that is counted for a plan, once: its own, its programme's, its indicators'."""
    # Here and not above: whoever asks about a policy needs nothing of what publishing needs.
    from sdcensus.session.publish.planned import planned_products

    products = planned_products(plan, schema)
    by_hash = {spec.hash(): spec for product in products for spec in product.specs}
    return tuple(by_hash.values())


def looks_in_policy(
    census: Census,
    policy: str | Path,
    axes: Sequence[str],
    *,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
    perturbation: Perturbation | None = None,
    unbroken: int = 0,
    most_tables: int = MOST_TABLES,
    progress: Progress = no_progress,
) -> CellLooks:
    """The looks that a policy gives at cells by these axes, from the census itself."""
    menu = menu_of(read_policy(policy, census.schema), census.schema, of=of, role=role)
    spec = census.spec(*axes, of=of)
    for axis in spec.axes:
        if len(axis.levels) > 1:
            raise SpecError(f"Cells have one level of each variable: {axis.name!r} has several.")
    chosen: dict[str, Level | str] = {axis.variable.name: axis.levels[0] for axis in spec.axes}
    return looks_in_data(
        census,
        menu,
        chosen,
        perturbation=perturbation,
        unbroken=unbroken,
        most_tables=most_tables,
        progress=progress,
    )


def named_noise(name: str | None) -> PerturbationDesign:
    """The perturbation of a scheme; of medium strength if none is named."""
    return scheme(name or STRENGTHS["medium"].scheme)


@dataclass(frozen=True, slots=True, repr=False)
class NamedNoise(Confidential):
    """Noise with the name under which the office knows it: a scheme, or a file."""

    name: str
    perturbation: Perturbation

    def __repr__(self) -> str:
        return f"<NamedNoise {self.name}: confidential>"

    @classmethod
    def of(cls, name: str | None, file: Path | None) -> NamedNoise:
        """The noise of a file, or else of a scheme.

        Raises:
            SpecError: Both are named.
        """
        if file is None:
            design = named_noise(name)
            return cls(design.name, design)
        if name is not None:
            raise SpecError("Name a scheme or a file of noise, not both.")
        return cls(f"of {file.name}", read_perturbation(file, allow_bias=True))


def schemes_against(
    budget: LookBudget, names: Sequence[str] = (), *, looks: float | None = None
) -> tuple[SchemeLooks, ...]:
    """How named schemes fare against a budget; all of them where none is named."""
    count = budget.asked.looks if looks is None else looks
    strengths = {strength.scheme: strength.name for strength in STRENGTHS.values()}
    scheme_looks = []
    for name in names or SCHEMES:
        design = scheme(name)
        scheme_looks.append(
            SchemeLooks(
                design.name,
                strengths.get(design.name, ""),
                large_variance(design),
                best_guess(design),
                recovery_with(count, design),
                given_away(budget, design),
            )
        )
    return tuple(scheme_looks)


def given_away(budget: LookBudget, perturbation: Perturbation) -> float:
    """The expected number of sums that give all their parts away, in all tables together."""
    edge = edge_probability(perturbation)
    return math.fsum(margin_exploit(edge, often, parts) for parts, often in budget.lines)


def needed(budget: LookBudget, limit: float = LIMIT, alpha: float = ALPHA) -> Requirement:
    """What a perturbation needs so that a budget gives counts away at most so often."""
    return required(budget.asked.looks, limit, dict(budget.lines), alpha)


def design_for(requirement: Requirement, *, blocked: int = 0) -> PerturbationDesign:
    """The perturbation with the smallest noise and deviation that meets a requirement.

    Args:
        requirement: What it needs.
        blocked: Counts from 1 to this one shall never appear.

    Raises:
        SpecError: No perturbation does: the tables are too many.
    """
    wanted = requirement.variance
    if blocked:  # a blocked count has to jump over its neighbours
        wanted = max(wanted, (blocked + 1) ** 2 // 4 + 0.1)
    # A normal error is a little wrong for few looks: more noise is tried where it was too good.
    for variance in dict.fromkeys(_two_digits(wanted * (1 + step / 10)) for step in range(6)):
        smallest = max(
            SMALLEST_DEVIATION, blocked + 1, math.ceil((math.sqrt(12 * variance + 1) - 1) / 2)
        )
        for deviation in range(smallest, LARGEST_DEVIATION + 1):
            if variance < deviation**2:
                design = design_perturbation(deviation, variance, blocked=blocked)
                if requirement.met_by(design):
                    return design
                if edge_probability(design) <= requirement.edge:
                    break  # wider noise of this variance gives no less away
    raise SpecError(
        f"No noise with deviations of at most {LARGEST_DEVIATION} withstands that many looks. Open"
        " fewer tables: fewer variables in one table, coarser areas, fewer variables offered."
    )


def _two_digits(variance: float) -> float:
    """Upwards to two digits, so that the office can write it down."""
    digits = 1 - math.floor(math.log10(variance))
    scale = 10.0**digits
    return math.ceil(round(variance * scale, 6)) / scale
