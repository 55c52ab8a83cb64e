"""Noise for everything that is published, and a policy that a server opens with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import Limits, Policy, RoleRules, UserRole, menu_of
from sdcensus.model.secret import LONGEST, Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.looks.budget import LookBudget, look_budgets
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.answer.checks import check_opening
from sdcensus.session.census.census import Census
from sdcensus.session.looks.budget import LIMIT, menus_of
from sdcensus.session.protect.smallest_group import suggested_smallest_group
from sdcensus.session.recommend.facts import Facts
from sdcensus.session.recommend.menus import BuilderMenu, builder_menu, cells_limit
from sdcensus.session.recommend.noise import Noise, noise_for
from sdcensus.session.recommend.words import builder_later, no_builder_later


def offered_menu(facts: Facts, base: Policy, *, given: bool, alone: bool) -> BuilderMenu:
    """What users may ask for, with its look budgets; of the office's own policy, all of it."""
    if not given:
        return builder_menu(facts, base, alone=alone)
    schema = base.schema
    menu_of(base, schema, of=facts.of)  # refuses where nothing is offered of these
    menus = {spec.entity: open_menu(base, spec.entity) for spec in schema.entities}
    offered = {of: menu for of, menu in menus.items() if menu is not None}
    return BuilderMenu(base, tuple(look_budgets(schema, offered).values()), ())


@dataclass(frozen=True, slots=True, repr=False)
class Choice(Confidential):
    """Noise, and the policy with everything that depends on it.

    Attributes:
        noise: The noise.
        policy: The policy.
        budgets: The look budgets that the noise withstands.
    """

    noise: Noise
    policy: Policy
    budgets: tuple[LookBudget, ...]

    def __repr__(self) -> str:
        return "<Choice: confidential>"


def chosen_noise(
    census: Census,
    policy: Policy,
    specs: list[TableSpec],
    budgets: tuple[LookBudget, ...],
    small: float | None,
    *,
    proposed: bool,
    menu: BuilderMenu | None,
) -> Choice:
    """The weakest noise for all tables, and a policy that a server opens with it."""
    limit = policy.online.recovery or LIMIT
    noise = noise_for(budgets, small, limit=limit)
    if not proposed:
        return Choice(noise, policy, budgets)
    if menu is not None:
        return Choice(noise, _finished(census, policy, noise), budgets)
    finished = _for_users(census, _finished(census, policy, noise), specs, noise)
    if finished is None:  # not even tables of one variable: a little more noise carries these
        one = _with_limits(policy, specs, 1)
        more = tuple(look_budgets(policy.schema, menus_of(one)).values())
        budgets = (*budgets, *more)
        noise = noise_for(budgets, small, limit=limit)
        stronger = _finished(census, policy, noise)
        finished = _for_users(census, stronger, specs, noise) or _with_limits(stronger, specs, 1)
    return Choice(noise, finished, budgets)


def _for_users(
    census: Census, policy: Policy, specs: list[TableSpec], noise: Noise
) -> Policy | None:
    """The policy that lets users ask for the largest tables that the noise withstands."""
    carried = None
    for dimensions in range(1, max(len(spec.axes) for spec in specs) + 1):
        candidate = _with_limits(policy, specs, dimensions)
        if not _opens(census, candidate, noise):
            break
        carried = candidate
    return carried


def _with_limits(policy: Policy, specs: list[TableSpec], dimensions: int) -> Policy:
    """Users ask for tables of so many variables; the office makes those of its plan."""
    most = max(len(spec.axes) for spec in specs)
    own = () if most <= dimensions else (RoleRules(role=UserRole.PRODUCTION, dimensions=most),)
    cells = cells_limit(max(spec.cells for spec in specs))
    return replace(policy, limits=Limits(dimensions=dimensions, cells=cells), roles=own)


def _opens(census: Census, policy: Policy, noise: Noise) -> bool:
    """Whether a server would open this, by its own checks."""
    # Nothing is drawn here, so any secret will do.
    method = CellKey(noise.design, secret=Secret(bytes(LONGEST)))
    methods = {spec.entity: method for spec in policy.schema.entities}
    try:
        check_opening(policy, census, methods)
    except Refused:
        return False
    return True


def later_builder(
    facts: Facts,
    base: Policy,
    choice: Choice,
    small: float | None,
    *,
    given: bool,
    products: str,
) -> tuple[str, ...]:
    """What a builder would ask for that is opened later: to be known before anything is out."""
    try:
        menu = offered_menu(facts, base, given=given, alone=False)
        limit = base.online.recovery or LIMIT
        both = noise_for((*menu.budgets, *choice.budgets), small, limit=limit)
    except SpecError:
        return no_builder_later()
    return builder_later(
        menu.policy,
        choice.noise,
        both,
        carried=choice.policy.limits.dimensions,
        products=products,
    )


def _finished(census: Census, policy: Policy, noise: Noise) -> Policy:
    """The policy with the numbers that depend on the noise."""
    smallest = suggested_smallest_group(census, noise.design.max_deviation)
    online = replace(policy.online, smallest_group=smallest)
    if noise.design.blocked >= 2:  # neither is ever published
        online = replace(online, ones=None, ones_and_twos=None)
    return replace(policy, online=online)
