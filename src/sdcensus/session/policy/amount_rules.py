"""What a policy says about sums, means and medians: which amounts, which of them, for which areas.

Rules on code lists, like those about variables: nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdcensus.model.policy.policy import AmountRule, Policy, UserRole
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.levels_told_apart import uses_of
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy.code_rules import all_coarser, code_reasons, name_of
from sdcensus.session.policy.remedies import remedies_for, with_remedies
from sdcensus.session.policy.verdict import ReasonCode, Verdict, VerdictReason


def with_amount(
    policy: Policy,
    figure: FigureOf | None,
    spec: TableSpec,
    role: str | UserRole,
    verdict: Verdict,
) -> Verdict:
    """A verdict about a table, with what the policy says about its amount.

    Args:
        policy: The policy.
        figure: What is asked of an amount; nothing for counts.
        spec: The table of counts.
        role: Who asks.
        verdict: What is said about the counts.
    """
    if figure is None:
        return verdict
    reasons = tuple(amount_reasons(policy, figure, spec))
    if not reasons:
        return verdict
    rule = policy.amount_rule(figure.amount)
    if rule is not None and figure.figure in rule.measures:

        def enough(version: TableSpec) -> bool:
            return not code_reasons(policy, version, role) and not any(
                amount_reasons(policy, figure, version)
            )

        reasons = with_remedies(reasons, remedies_for(policy, spec, role, enough=enough))
    return replace(verdict, reasons=(*reasons, *verdict.reasons))


def amount_reasons(policy: Policy, figure: FigureOf, spec: TableSpec) -> Iterator[VerdictReason]:
    """Why a policy does not give a figure of an amount, without remedies."""
    rule = policy.amount_rule(figure.amount)
    variable = policy.schema.variable(figure.amount)
    offered = _offered(policy, spec)
    if rule is None or figure.figure not in rule.measures:
        known = joined(offered) if offered else "counts only"
        yield VerdictReason(
            ReasonCode.MEASURE_NOT_OFFERED,
            f"{figure} is not offered. Offered of {spec.of.plural}: {known}.",
            variables=(variable.name,),
            words="measure-not-offered.others" if offered else "measure-not-offered.counts",
            values=(("measure", str(figure)), ("known", offered), ("units", spec.of.value)),
        )
        return
    yield from _areas(policy, rule, spec)


def _offered(policy: Policy, spec: TableSpec) -> tuple[str, ...]:
    """The figures of amounts of such units that are offered."""
    return tuple(
        str(FigureOf(figure, rule.variable))
        for rule in policy.amounts
        if policy.schema.variable(rule.variable).entity is spec.of
        for figure in rule.measures
    )


def _areas(policy: Policy, rule: AmountRule, spec: TableSpec) -> Iterator[VerdictReason]:
    if rule.finest_area is None:
        return
    limit = policy.level(rule.finest_area)
    names = {area.name for area in policy.areas}
    fine = [
        use.variable.name
        for use in uses_of(spec)
        if use.variable.name in names
        and (use.variable.name != rule.finest_area.variable or not all_coarser(use, limit))
    ]
    if fine:
        yield VerdictReason(
            ReasonCode.AREA_TOO_FINE,
            f"{name_of(policy.schema.variable(rule.variable))} is offered for areas of the level"
            f" {rule.finest_area} and for coarser ones.",
            variables=(rule.variable, *fine),
            words="area-too-fine",
            values=(("variable", rule.variable), ("at", (str(rule.finest_area),))),
        )
