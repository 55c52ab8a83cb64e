"""What a policy says about sums, means and medians: which amounts, which of them, by what.

What is said about one amount becomes a policy of its own: everything that judges tables of counts
then judges those of the amount, and nothing else has to know about it.
"""

from __future__ import annotations

from dataclasses import replace

from sdcensus.model.policy.policy import (
    AmountRule,
    Limits,
    Policy,
    RoleRules,
    VariableRule,
)
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.headings import figure_heading, joined
from sdcensus.model.spec.levels_told_apart import strictly_coarser
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.policy.code_rules import name_of
from sdcensus.session.policy.verdict import ReasonCode, Told, Verdict, VerdictReason


def amount_policy(policy: Policy, rule: AmountRule, *, counts: bool = False) -> Policy:
    """The policy for tables of one amount: never looser than that for counts.

    A sum is never shown by classes of its own amount: that of the rents from 200 to 299, divided by
    250, is the number of those who pay them, with much less noise than their count has.

    Args:
        policy: The policy.
        rule: What it says of the amount.
        counts: Whether it is for the counts of which means and medians are computed: these have
            the classes of the amount as one more variable.
    """
    by = None if rule.by is None else {at.variable: at for at in rule.by}
    rules = []
    for variable in policy.schema.variables:
        if not variable.is_axis:
            continue
        own = policy.rule_of(variable.name)
        if variable.name == rule.variable:
            own = own if counts else VariableRule(variable=variable.name, offered=False)
        elif by is not None and variable.name not in by:
            own = VariableRule(variable=variable.name, offered=False)
        elif by is not None:
            own = _limited(own, variable, by[variable.name].level)
        rules.append(_in_areas(own, policy, rule, variable))
    # What is computed of sums is judged by what it is computed of.
    amounts = (replace(rule, measures=(AmountFigure.SUM,)),)
    if rule.dimensions is None:
        return replace(policy, variables=tuple(rules), amounts=amounts)
    dimensions = rule.dimensions + counts
    limits = policy.limits
    fewer = min(limits.dimensions or dimensions, dimensions)
    return replace(
        policy,
        variables=tuple(rules),
        amounts=amounts,
        limits=Limits(dimensions=fewer, cells=limits.cells),
        roles=tuple(_fewer(role, dimensions) for role in policy.roles),
    )


def _limited(own: VariableRule, variable: Variable, level: str) -> VariableRule:
    """A rule with a level that is the finest, where it is coarser than that of the rule."""
    finest = level or variable.leaf_level
    if own.finest_level and not strictly_coarser(
        variable.level(finest).group_array, variable.level(own.finest_level).group_array
    ):
        return own
    return replace(own, finest_level=finest)


def _in_areas(
    own: VariableRule, policy: Policy, rule: AmountRule, variable: Variable
) -> VariableRule:
    """The rule of a geography, for amounts that are shown for large areas only."""
    finest = rule.finest_area
    if finest is None or variable.name not in {area.name for area in policy.areas}:
        return own
    if variable.name != finest.variable:
        # Squares of a grid are no unions of districts, whatever their size.
        return VariableRule(variable=variable.name, offered=False)
    return _limited(own, variable, finest.level)


def _fewer(role: RoleRules, dimensions: int) -> RoleRules:
    if role.dimensions is None:
        return role
    return replace(role, dimensions=min(role.dimensions, dimensions))


def refused_measure(policy: Policy, figure: FigureOf, of: Entity) -> VerdictReason | None:
    """Why a policy does not give a figure of an amount at all; ``None`` where it does."""
    rule = policy.amount_rule(figure.amount)
    if rule is not None and figure.figure in rule.measures:
        return None
    offered = tuple(
        str(FigureOf(each, rule.variable))
        for rule in policy.amounts
        if policy.schema.variable(rule.variable).entity is of
        for each in rule.measures
    )
    asked = figure_heading(figure, policy.schema)
    figures = [FigureOf.parse(text) for text in offered]
    known = joined([figure_heading(each, policy.schema) for each in figures if each is not None])
    values: tuple[tuple[str, Told], ...] = (("measure", str(figure)), ("units", of.value))
    return VerdictReason(
        ReasonCode.MEASURE_NOT_OFFERED,
        f"Not offered on tables of {of.plural}: {asked}. Offered are: {known}."
        if offered
        else f"Not offered: {asked}. Of {of.plural} there are counts only.",
        variables=(figure.amount,),
        words="measure-not-offered.others" if offered else "measure-not-offered.counts",
        values=(*values, ("known", offered)) if offered else values,
    )


def told_of_amount(policy: Policy, figure: FigureOf | None, verdict: Verdict) -> Verdict:
    """A verdict that says so where a variable is offered, but not together with an amount."""
    rule = None if figure is None else policy.amount_rule(figure.amount)
    if figure is None or rule is None:
        return verdict
    return replace(
        verdict, reasons=tuple(_told(policy, figure, rule, each) for each in verdict.reasons)
    )


def _told(
    policy: Policy, figure: FigureOf, rule: AmountRule, reason: VerdictReason
) -> VerdictReason:
    name = str(dict(reason.values).get("variable", ""))
    if reason.words != "variable-not-offered" or not policy.rule_of(name).offered:
        return reason
    values: tuple[tuple[str, Told], ...] = (*reason.values, ("measure", str(figure)))
    variable = name_of(policy.schema.variable(name))
    asked = figure_heading(figure, policy.schema)
    if name == rule.variable:
        return replace(
            reason,
            sentence=f"{variable} is not offered together with {asked}, neither as a variable nor"
            " in a condition: sums of its own classes would tell how many are in each.",
            words="amount-by-its-classes",
            values=values,
        )
    if rule.by is None:
        return reason
    offered = tuple(str(at) for at in rule.by)
    return replace(
        reason,
        sentence=f"{variable} is not offered together with {asked}, which can be shown by"
        f" {joined(offered)}.",
        words="variable-not-offered-with-amount",
        values=(*values, ("at", offered)),
    )
