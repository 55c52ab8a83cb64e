"""Everything that is asked before a table builder opens: by the server, and by advice.

Advice that the server would refuse is no advice, so both ask here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.looks.sums import SumBudget
from sdcensus.session.answer.budgets import (
    OpenedBudget,
    open_budgets,
    open_menu,
    refuse_online,
    refuse_weak,
)
from sdcensus.session.answer.sum_budgets import refuse_weak_sums, sum_budgets
from sdcensus.session.census.census import Census
from sdcensus.session.gate.amount_ties import amount_facts
from sdcensus.session.gate.gate import GateReport, refuse_serving, risks_of_menus
from sdcensus.session.gate.tied_units import refuse_ties_in_policy
from sdcensus.session.protect.smallest_group import in_force


@dataclass(frozen=True, slots=True, repr=False)
class Opening(Confidential):
    """What was found before a table builder opened.

    Attributes:
        budgets: The look budgets of what is open, against the noise.
        gate: What it would give away.
        sums: The look budgets of sums.
    """

    budgets: tuple[OpenedBudget, ...]
    gate: GateReport
    sums: tuple[SumBudget, ...] = ()

    def __repr__(self) -> str:
        return "<Opening: confidential>"


def check_opening(
    policy: Policy,
    census: Census,
    methods: Mapping[Entity, Method],
    *,
    sums: Mapping[Entity, Method] | None = None,
    smallest_group: int | None = None,
    planned: bool = False,
    progress: Progress = no_progress,
) -> Opening:
    """Refuse to open what would give people away.

    Args:
        policy: What may be asked.
        census: The census.
        methods: What protects each kind of unit.
        sums: What protects sums of amounts, by whose amounts they are.
        smallest_group: That of a plan, which may raise the policy's.
        planned: Whether a plan says how tables are protected, and not options of a command.
        progress: Told how far it is.

    Raises:
        Refused: The noise is too small for what the policy opens, or it would give people away;
            the message says what would do.
    """
    refuse_ties_in_policy(policy)
    refuse_online(policy, census, methods, smallest_group)
    progress("counting the looks", 0.3)
    budgets = open_budgets(policy, methods)
    refuse_weak(policy, budgets, methods, planned=planned)
    amounts = [rule.variable for rule in policy.amounts if rule.adds_up] if sums else []
    facts = amount_facts(census, amounts)
    budgets_of_sums = sum_budgets(policy, sums or {}, facts)
    refuse_weak_sums(policy, budgets_of_sums, planned=planned)
    progress("looking for groups that are broken down", 0.6)
    menus = [open_menu(policy, of) for of in methods]
    gate = risks_of_menus(
        census,
        [menu for menu in menus if menu is not None],
        methods,
        smallest_group=in_force(policy, UserRole.PUBLIC, smallest_group),
        limit=policy.broken_down,
        planned=planned,
        progress=progress,
    )
    refuse_serving(policy, gate)
    return Opening(budgets, gate, budgets_of_sums)
