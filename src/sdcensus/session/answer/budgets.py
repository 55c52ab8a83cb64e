"""The look budget of what a policy opens, against the noise that protects it.

And cells of one household, where the smallest group takes the place of withholding. Both are read
once, when a builder opens: answers read published numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.looks.budget import NOT_COVERED, LookBudget, look_budgets
from sdcensus.risk.looks.chance import Requirement, large_variance, recovery_with
from sdcensus.session.census.census import Census
from sdcensus.session.looks.budget import LIMIT, design_for, needed
from sdcensus.session.policy import menu_of
from sdcensus.session.policy.verdict import withholds_households
from sdcensus.session.protect.smallest_group import (
    group_claim,
    in_force,
    largest_private_household,
    suggested_smallest_group,
)

#: The roles that ask over the web. Plans of the office have rules of their own.
WEB_ROLES = (UserRole.PUBLIC, UserRole.REGISTERED, UserRole.STAFF)


@dataclass(frozen=True, slots=True, repr=False)
class OpenedBudget(Confidential):
    """The look budget of what is open for one kind of unit, against the noise.

    Attributes:
        of: What is counted.
        budget: The looks at the worst cells.
        variance: Of the noise of large counts.
        chance: With which all tables together give such a count away.
        limit: The largest chance that the policy allows.
        requirement: What noise needs to keep it.
        met: Whether it does.
    """

    of: Entity
    budget: LookBudget
    variance: float
    chance: float
    limit: float
    requirement: Requirement
    met: bool

    def __repr__(self) -> str:
        return f"<OpenedBudget of {self.of.plural}: confidential>"


def open_budgets(policy: Policy, methods: Mapping[Entity, Method]) -> tuple[OpenedBudget, ...]:
    """The look budget of all that any role may ask for over the web, for each kind of unit."""
    limit = policy.online.recovery or LIMIT
    opened_budgets = []
    menus = open_menus(policy, methods)
    for of, budget in open_look_budgets(policy, menus, methods).items():
        noise = _noise(methods[of])
        assert noise is not None
        requirement = needed(budget, limit)
        opened_budgets.append(
            OpenedBudget(
                of,
                budget,
                large_variance(noise),
                recovery_with(budget.asked.looks, noise),
                limit,
                requirement,
                requirement.met_by(noise),
            )
        )
    return tuple(opened_budgets)


def open_look_budgets(
    policy: Policy, menus: Mapping[Entity, Menu], methods: Mapping[Entity, Method]
) -> dict[Entity, LookBudget]:
    """The budgets of open menus, each with what the others say about its units."""
    variances = {
        of: large_variance(noise) for of in menus if (noise := _noise(methods[of])) is not None
    }
    # Noise that moves no large count is no noise; the budget itself is about equal ones then.
    alike = variances if all(variance > 0 for variance in variances.values()) else {}
    return look_budgets(policy.schema, menus, variances=alike)


def _noise(method: Method) -> Perturbation | None:
    return method.noise if method.has_own_noise else None


def open_menus(policy: Policy, methods: Mapping[Entity, Method]) -> dict[Entity, Menu]:
    """The open menus of all units whose counts have noise by cell keys."""
    menus = {of: open_menu(policy, of) for of, method in methods.items() if _noise(method)}
    return {of: menu for of, menu in menus.items() if menu is not None}


def open_menu(policy: Policy, of: Entity) -> Menu | None:
    """Every table of some units that any role may ask for over the web; ``None`` without any.

    The largest number of cells does not count: a table above it can be asked for area by area.
    """
    menus = []
    for role in WEB_ROLES:
        try:
            menus.append(menu_of(policy, policy.schema, of=of, role=role))
        except SpecError:
            continue
    if not menus:
        return None
    widest = max(menus, key=lambda menu: menu.dimensions)
    return replace(widest, cells=None)


def refuse_weak(
    policy: Policy,
    budgets: tuple[OpenedBudget, ...],
    methods: Mapping[Entity, Method],
    *,
    planned: bool = False,
) -> None:
    """Refuse to open what the noise does not withstand, and say what would do.

    Args:
        policy: What is opened.
        budgets: Its look budgets.
        methods: What protects each kind of unit.
        planned: Whether a plan says how, and not options.

    Raises:
        Refused: The noise is too small.
    """
    weak = [budget for budget in budgets if not budget.met]
    if not weak:
        return
    lines = [
        f"The noise is too small for what the policy {policy.name!r} opens, so the table builder"
        " stays closed."
    ]
    for opened_budget in weak:
        worst = opened_budget.budget.asked
        if opened_budget.chance > opened_budget.limit:
            lines.append(
                f"  {opened_budget.of.plural}: all tables together are worth {worst.looks:,.1f}"
                " looks at a"
                f" cell of {worst.title}; the best linear estimate finds its count with a chance of"
                f" {share_text(opened_budget.chance, digits=0)}, and the policy allows"
                f" {share_text(opened_budget.limit, digits=0)}."
            )
        else:
            lines.append(
                f"  {opened_budget.of.plural}: averaging stays within the"
                f" {share_text(opened_budget.limit, digits=0)}"
                " that the policy"
                " allows, but the largest deviation is too likely: in some of so many published"
                " sums all parts would be as far from the truth as they can be, which gives them"
                " away."
            )
    lines.append(f"  {NOT_COVERED}")
    lines.append("What would do, one of these:")
    lines += [f"  - {remedy}" for remedy in _remedies(policy, budgets, methods, planned)]
    raise Refused("\n".join(lines))


def _remedies(
    policy: Policy,
    budgets: tuple[OpenedBudget, ...],
    methods: Mapping[Entity, Method],
    planned: bool,
) -> list[str]:
    remedies = [_stronger(budgets, planned)]
    dimensions = _enough_dimensions(policy, budgets, methods)
    if dimensions is not None:
        remedies.append(
            f"fewer variables in a table: [limits] dimensions = {dimensions}, and no role with more"
        )
    remedies.append(
        "fewer variables or coarser levels on offer: [variable.NAME] offered = false, or"
        ' finest_level = "LEVEL". How much noise the rest needs: sdcensus looks STORE --policy FILE'
    )
    return remedies


def _stronger(budgets: tuple[OpenedBudget, ...], planned: bool) -> str:
    """The noise that would do: for all units, since those that have enough get it as well."""
    try:
        design = design_for(reduce(Requirement.also, [budget.requirement for budget in budgets]))
    except SpecError as error:
        return f"stronger noise does not: {error}"
    settings: dict[str, Any] = dict(design.parameters)
    command = (
        f"stronger noise: sdcensus ptable design --max-deviation {settings['max_deviation']}"
        f" --variance {settings['variance']:g} --format plain --out noise.csv"
    )
    written = 'perturbation = "noise.csv" in [protect] of'
    if planned:
        return (
            f"{command} beside the plan, then {written} this plan and of all others of the office"
        )
    return f"{command}, then here --perturbation noise.csv and {written} the plans of the office"


def _enough_dimensions(
    policy: Policy, budgets: tuple[OpenedBudget, ...], methods: Mapping[Entity, Method]
) -> int | None:
    """The most variables in a table with which this noise is enough for every kind of unit."""
    menus = open_menus(policy, methods)
    most = max(menu.dimensions for menu in menus.values())
    for dimensions in range(most - 1, 1, -1):
        fewer = {
            of: replace(menu, dimensions=min(menu.dimensions, dimensions))
            for of, menu in menus.items()
        }
        fewer_budgets = open_look_budgets(policy, fewer, methods)
        if all(
            needed(fewer_budgets[budget.of], budget.limit).met_by(noise)
            for budget in budgets
            if (noise := _noise(methods[budget.of])) is not None
        ):
            return dimensions
    return None


def refuse_online(
    policy: Policy,
    census: Census,
    methods: Mapping[Entity, Method],
    smallest_group: int | None = None,
) -> None:
    """Refuse to answer the public where only what the office knows would protect households.

    Cells of one household are withheld by true records, which an answer may not read. The smallest
    group takes that place where it guarantees that no cell of one private household is broken down.

    Args:
        policy: What may be asked.
        census: The census.
        methods: What protects each kind of unit.
        smallest_group: That of a plan, which may raise the policy's.

    Raises:
        Refused: The policy withholds cells of one household, and no smallest group is large enough.
    """
    if not withholds_households(policy):
        return
    method = methods.get(Entity.PERSON)
    smallest = in_force(policy, UserRole.PUBLIC, smallest_group)
    advised = "a smallest_group"
    if method is not None:
        try:
            advised = f"smallest_group = {suggested_smallest_group(census, method)}"
            claim = None if smallest is None else group_claim(method, smallest)
        except SpecError:  # its numbers have no limit, so no size would do
            claim = None
        kept = 0 if claim is None or claim.adds_up else claim.units
        if kept >= largest_private_household(census):
            return
    raise Refused(
        f"The policy {policy.name!r} withholds cells of one household: one_household_cells ="
        ' "withhold". A table builder answers from published numbers only, and to withhold'
        " these cells would tell whoever asks which of them are one household. The smallest group"
        f" can take its place: with {advised} in [online] or a larger one, no private household is"
        ' broken down. Or take "report" in the policy of the builder.'
    )
