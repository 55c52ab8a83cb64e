"""Rules of a policy that have no effect, or stand in each other's way: worth a look."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.model.policy.policy import AtLevel, Policy, UserRole
from sdcensus.model.spec.levels_told_apart import coarser_or_equal
from sdcensus.model.spec.record_sets import leaves_of


def conflicts(policy: Policy, *, nothing_small: bool = False) -> tuple[str, ...]:
    """What somebody who answers for a policy should look at again, a sentence each.

    Args:
        policy: The policy.
        nothing_small: Whether the census was counted, and no code is below a rule of design time.
    """
    return (
        *_together(policy),
        *_online(policy),
        *_roles(policy),
        *_exempt(policy),
        *_not_offered(policy),
        *_design(policy, nothing_small=nothing_small),
    )


def _together(policy: Policy) -> Iterator[str]:
    most = [policy.role(role).dimensions for role in UserRole]
    largest = None if any(limit is None for limit in most) else max(limit or 0 for limit in most)
    for combination in policy.never_together:
        names = ", ".join(map(str, combination))
        if largest is not None and len(combination) > largest:
            yield f"never_together: no table can have so many variables: {names}."
        for at_level in combination:
            rule = policy.rule_of(at_level.variable)
            if not rule.offered:
                yield f"never_together: {at_level.variable!r} is not offered anyway: {names}."
            elif at_level.level and rule.finest_level:
                finest = policy.level(AtLevel(at_level.variable, rule.finest_level)).group_array
                if not coarser_or_equal(policy.level(at_level).group_array, finest):
                    yield (
                        f"never_together: {at_level} is finer than {rule.finest_level}, the finest"
                        " level"
                        f" of {at_level.variable!r}: {names}."
                    )


def _online(policy: Policy) -> Iterator[str]:
    rules = policy.online
    if None not in (rules.ones, rules.ones_and_twos) and rules.ones_and_twos <= rules.ones:  # type: ignore[operator]
        yield "online: 'ones' has no effect beside a smaller 'ones_and_twos'."
    for name in ("mean_cell_size", "mean_cell_size_of_table", "minimum_population"):
        if getattr(rules, name) == 0:
            yield f"online: '{name}' has no effect at 0."
    if rules.recovery is None:
        yield (
            "online: there is no 'recovery', so the look budget of what is open is measured against"
            " nothing."
        )
    if policy.limits.dimensions is None:
        yield "limits: there is no limit of dimensions."


def _roles(policy: Policy) -> Iterator[str]:
    public = policy.role(UserRole.PUBLIC)
    for rules in policy.roles:
        for name in ("dimensions", "cells"):
            own, common = getattr(rules, name), getattr(public, name)
            if own is not None and common is not None and own < common:
                yield f"role.{rules.role}: {name} is less than what the public has."


def _exempt(policy: Policy) -> Iterator[str]:
    """Exact totals of what is not offered."""
    for record_set, spec in zip(policy.exempt, policy.exempt_specs(), strict=True):
        for axis in spec.axes:
            for hidden in policy.decided.not_offered:
                if hidden.at.variable != axis.variable.name:
                    continue
                level = policy.level(hidden.at)
                shown = {
                    tuple(leaves_of(axis, at).tolist())
                    for at, code in enumerate(axis.codes)
                    if not code.is_total
                }
                groups = level.group_array
                gone = [at for at, code in enumerate(level.codes) if code.code in hidden.codes]
                if any(tuple((groups == at).tolist()) in shown for at in gone):
                    yield (
                        f"exempt: {record_set.text!r} shows codes of {hidden.at} exactly that are"
                        " not"
                        " offered."
                    )


def _not_offered(policy: Policy) -> Iterator[str]:
    for rule in policy.variables:
        said = {
            "as_filter": not rule.as_filter,
            "finest_level": rule.finest_level,
            "finest_area": rule.finest_area,
        }
        unused = [name for name, given in said.items() if given]
        if not rule.offered and unused:
            names = ", ".join(unused)
            yield f"variable.{rule.variable}: it is not offered anyway, so {names} say nothing."


def _design(policy: Policy, *, nothing_small: bool) -> Iterator[str]:
    rules = policy.design
    sizes = rules.minimum_population or rules.minimum_population_at or rules.minimum_category
    asks = sizes and not nothing_small
    if (asks or rules.detail) and policy.decided == type(policy.decided)():
        yield (
            "design: nothing is decided yet. Run sdcensus policy design, look at what it proposes,"
            " and keep its decisions."
        )
    named = {level.variable for detail in rules.detail for level in detail.levels}
    for name in sorted(named):
        if not policy.rule_of(name).offered:
            yield f"design.detail: {name!r} is not offered anyway."
