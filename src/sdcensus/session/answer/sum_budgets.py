"""The look budget of the sums that a policy opens, against the noise that protects them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sdcensus.errors import Refused
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.method import Method
from sdcensus.model.policy.policy import AmountRule, Policy
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.looks.sums import SumBudget, tables_of
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.gate.amount_ties import AmountFacts
from sdcensus.session.policy import amount_policy

#: Shares of noise from here on are no noise that sums could be read with.
MOST_SHARE = 0.5


def sum_budgets(
    policy: Policy, sums: Mapping[Entity, Method], facts: AmountFacts | None = None
) -> tuple[SumBudget, ...]:
    """The looks at the sums of every amount that any role may ask for over the web.

    Args:
        policy: What may be asked.
        sums: How sums are protected, by whose amounts they are.
        facts: What the records say about the amounts: tables of one that tells another are looks
            at that one, too.

    Raises:
        Refused: The noise of sums is not measured by the largest contributions.
    """
    tables: dict[str, int] = {}
    budgets = []
    for rule in policy.amounts:
        of = policy.schema.variable(rule.variable).entity
        method = sums.get(of)
        if not rule.adds_up or method is None:
            continue
        deviation = method.least_deviation if isinstance(method, CellKeySums) else None
        if deviation is None:
            raise Refused(
                f"The noise of sums of {rule.variable!r} is not in proportion to the largest"
                " contribution, so that nobody can say how much of it is left after all looks."
                ' Take measured_by = "top" (or "sum") in the method for sums.'
            )
        looks = menu_of_amount(policy, rule)
        if looks is not None:
            tables[rule.variable] = looks.tables
            budgets.append(replace(looks, deviation=deviation))
    return tuple(_with_tied(budget, tables, facts or AmountFacts()) for budget in budgets)


def _with_tied(budget: SumBudget, tables: Mapping[str, int], facts: AmountFacts) -> SumBudget:
    group = [name for name in facts.group(budget.amount) if name in tables]
    others = tuple(name for name in group if name != budget.amount)
    return replace(
        budget,
        tables=sum(tables[name] for name in group),
        others=others,
        both_signs=budget.amount in facts.both_signs,
    )


def menu_of_amount(policy: Policy, rule: AmountRule) -> SumBudget | None:
    """The looks at sums of an amount that any role may ask for, before there is noise.

    Its ``needed`` is how large that must be. ``None`` where no sums are published.
    """
    if not rule.adds_up:
        return None
    menu = open_menu(amount_policy(policy, rule), policy.schema.variable(rule.variable).entity)
    tables = 1 if menu is None else tables_of(menu)
    return SumBudget(amount=rule.variable, tables=tables, deviation=1, limit=rule.noise_left)


def refuse_weak_sums(policy: Policy, budgets: Sequence[SumBudget], *, planned: bool) -> None:
    """Refuse to open sums whose noise could be averaged away, and say what would do.

    Args:
        policy: What is opened.
        budgets: The looks at its sums.
        planned: Whether a plan says how, and not options.

    Raises:
        Refused: Too little noise would be left.
    """
    weak = [budget for budget in budgets if not budget.met]
    if not weak:
        return
    lines = [
        f"The noise of sums is too small for what the policy {policy.name!r} opens, so the table"
        " builder stays closed."
    ]
    for budget in weak:
        lines.append(
            f"  {budget.told}: the same contribution is in a cell of each of {budget.tables:,}"
            f" tables; all together leave a standard deviation of {share_text(budget.left)} of it,"
            f" and the policy asks for {share_text(budget.limit)}."
        )
    lines.append("What would do, one of these:")
    for budget in weak:
        lines += [f"  - {remedy}" for remedy in _remedies(budget, planned)]
    raise Refused("\n".join(lines))


def _remedies(budget: SumBudget, planned: bool) -> list[str]:
    place = f"[amount.{budget.amount}]"
    remedies = []
    if budget.most_tables > 1:
        remedies.append(
            f"fewer tables of {budget.amount}, at most {budget.most_tables:,}: in {place} name the"
            ' variables and their finest levels (by = ["sex", "ed@parish"]), and how many of them'
            " a table has (dimensions = 2)"
        )
    if budget.needed <= MOST_SHARE:
        how = "noise_share in the method of the plan's sums" if planned else "--sum-noise"
        remedies.append(
            f"stronger noise of sums: a standard deviation of {share_text(budget.needed)} of the"
            f" largest contribution ({how})"
        )
    # Rounded down: what is left must not be below what is asked for.
    left = math.floor(budget.left * 10_000) / 10_000
    if left > 0:
        remedies.append(f"less noise left, if that is decided: noise_left = {left:g} in {place}")
    return remedies
