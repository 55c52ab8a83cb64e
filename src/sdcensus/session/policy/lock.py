"""A locked policy: what a plan or a request says can make it stricter, never looser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from sdcensus.documents.policy.document import policy_data, policy_from_document
from sdcensus.documents.toml.lines import TomlDocument
from sdcensus.errors import DocumentError, Refused, SpecError
from sdcensus.model.policy.policy import (
    AtLevel,
    OneHousehold,
    Policy,
    UserRole,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.spec.levels_told_apart import coarser_or_equal

_STRICTNESS = (WhenSparse.C, WhenSparse.WITHHOLD_AREA, WhenSparse.REFUSE_TABLE)
_SMALLER_IS_STRICTER = ("ones", "ones_and_twos", "recovery")
_LARGER_IS_STRICTER = (
    "mean_cell_size",
    "mean_cell_size_of_table",
    "minimum_population",
    "smallest_group",
)
_QUOTAS = ("dimensions", "cells", "cells_per_hour", "tables_per_day", "jobs")


def tightened(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """A policy with some settings changed, as a plan or a request says.

    A limit on tables holds for every role: roles that may do more get the new limit as well.

    Args:
        policy: The policy.
        overrides: Settings in the shape of the document, such as ``{"limits": {"cells": 1000}}``.
            Tables are merged; lists take the place of those that are there.

    Raises:
        Refused: The policy is locked, and something would be looser than it says.
        SpecError: The settings are not those of a policy.
    """
    if "lock" in overrides and policy.lock and not overrides["lock"]:
        raise Refused(f"The policy {policy.name!r} is locked and cannot be unlocked from outside.")
    data = _merged(policy_data(policy), deepcopy(dict(overrides)))
    limits = overrides.get("limits")
    for name, limit in limits.items() if isinstance(limits, Mapping) else ():
        for role in data.get("role", {}).values():
            own = role.get(name) if isinstance(role, dict) else None
            if type(own) is int and type(limit) is int:
                role[name] = min(own, limit)
    try:
        changed = policy_from_document(TomlDocument(Path("policy"), data, {}), policy.schema)
    except DocumentError as error:
        lines = "\n".join(f"  {mistake}" for mistake in error.mistakes)
        raise SpecError(f"These settings cannot be given to a policy:\n{lines}") from None
    if policy.lock:
        looser = tuple(loosened(policy, changed))
        if looser:
            lines = "\n".join(f"  {sentence}" for sentence in looser)
            raise Refused(
                f"The policy {policy.name!r} is locked: a plan or a request can make it stricter,"
                f" never looser. These would loosen it:\n{lines}\nChange the policy itself, or"
                " leave them out."
            )
    return changed


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        own = merged.get(name)
        both = isinstance(own, Mapping) and isinstance(value, Mapping)
        merged[name] = _merged(own, value) if both else value  # type: ignore[arg-type]
    return merged


def loosened(before: Policy, after: Policy) -> Iterator[str]:
    """Every setting by which a policy would allow more than another one, in words."""
    yield from _roles(before, after)
    yield from _online(before, after)
    yield from _design(before, after)
    yield from _variables(before, after)
    yield from _amounts(before, after)
    old, new = set(before.exempt), set(after.exempt)
    yield from (
        f"exempt: {record_set.text!r} would be published exactly" for record_set in new - old
    )
    together = {frozenset(at_levels) for at_levels in after.never_together}
    for combination in before.never_together:
        if frozenset(combination) not in together:
            names = ", ".join(map(str, combination))
            yield f"never_together: {names} would be allowed together"
    yield from _decided(before, after)


def _roles(before: Policy, after: Policy) -> Iterator[str]:
    for role in UserRole:
        old, new = before.role(role), after.role(role)
        for name in _QUOTAS:
            limit, wanted = getattr(old, name), getattr(new, name)
            if limit is not None and (wanted is None or wanted > limit):
                asked = "no limit" if wanted is None else f"{wanted:,}"
                yield f"{name} for the role {role.value}: {asked} instead of {limit:,}"
        if old.online and not new.online:
            yield f"online for the role {role.value}: off instead of on"


def _online(before: Policy, after: Policy) -> Iterator[str]:
    old, new = before.online, after.online
    for name in (*_SMALLER_IS_STRICTER, *_LARGER_IS_STRICTER):
        limit, wanted = getattr(old, name), getattr(new, name)
        sign = 1 if name in _SMALLER_IS_STRICTER else -1
        if limit is not None and (wanted is None or sign * wanted > sign * limit):
            asked = "none" if wanted is None else wanted
            yield f"online.{name}: {asked} instead of {limit}"
    if after.broken_down > before.broken_down:
        yield f"online.broken_down: {after.broken_down:g} instead of {before.broken_down:g}"
    if old.mean_cell_size is not None:
        if _STRICTNESS.index(new.when_sparse) < _STRICTNESS.index(old.when_sparse):
            yield f'online.when_sparse: "{new.when_sparse}" instead of "{old.when_sparse}"'
        elif new.when_sparse is WhenSparse.C and new.below < old.below:
            yield f"online.below: {new.below} instead of {old.below}"
    if new.exclude_structural_zeros and not old.exclude_structural_zeros:
        yield "online.exclude_structural_zeros: true instead of false"


def _design(before: Policy, after: Policy) -> Iterator[str]:
    old, new = before.design, after.design
    for name in ("minimum_population", "minimum_category"):
        limit, wanted = getattr(old, name), getattr(new, name)
        if limit is not None and (wanted is None or wanted < limit):
            yield f"design.{name}: {'none' if wanted is None else wanted} instead of {limit}"
    sizes = dict(new.minimum_population_at)
    for at, size in old.minimum_population_at:
        if sizes.get(at, -1) < size:
            yield f"design.minimum_population_at: {at} below {size:,}"
    strictness = (None, OneHousehold.REPORT, OneHousehold.WITHHOLD)
    if strictness.index(new.one_household_cells) < strictness.index(old.one_household_cells):
        yield "design.one_household_cells: less than before"
    if old.detail and old.detail != new.detail:
        yield "design.detail: other than before; whether it is stricter cannot be told"


def _variables(before: Policy, after: Policy) -> Iterator[str]:
    for old in before.variables:
        new = after.rule_of(old.variable)
        name = f"variable.{old.variable}"
        if new.offered and not old.offered:
            yield f"{name}: offered"
        if old.units is not None and new.offered:
            more = [
                spec.entity.plural
                for spec in after.schema.entities
                if new.offered_for(spec.entity) and not old.offered_for(spec.entity)
            ]
            if more:
                yield f"{name}.units: on tables of {', '.join(more)}"
        if new.as_filter and not old.as_filter:
            yield f"{name}: usable in conditions"
        if old.finest_level and not _level_as_coarse(before, old, new):
            yield f"{name}.finest_level: {new.finest_level or 'none'} instead of {old.finest_level}"
        yield from _finest_area(after, name, old.finest_area, new.finest_area)


def _amounts(before: Policy, after: Policy) -> Iterator[str]:
    for new in after.amounts:
        old, name = before.amount_rule(new.variable), f"amount.{new.variable}"
        if old is None:
            yield f"{name}: offered"
            continue
        more = [figure.value for figure in new.measures if figure not in old.measures]
        if more:
            yield f"{name}.measures: {', '.join(more)}"
        if old.by is not None and not set(new.by or ()) <= set(old.by):
            yield f"{name}.by: other variables or levels than before"
        elif old.by is not None and new.by is None:
            yield f"{name}.by: all variables"
        if old.dimensions is not None and (new.dimensions or old.dimensions + 1) > old.dimensions:
            yield f"{name}.dimensions: {new.dimensions or 'none'} instead of {old.dimensions}"
        yield from _finest_area(after, name, old.finest_area, new.finest_area)
        if old.at_least is not None and (new.at_least or 0) < old.at_least:
            yield f"{name}.at_least: {new.at_least or 'none'} instead of {old.at_least}"
        if new.noise_left < old.noise_left:
            yield f"{name}.noise_left: {new.noise_left:g} instead of {old.noise_left:g}"


def _finest_area(
    policy: Policy, name: str, old: AtLevel | None, wanted: AtLevel | None
) -> Iterator[str]:
    if old is None:
        return
    if (
        wanted is None
        or wanted.variable != old.variable
        or not coarser_or_equal(policy.level(wanted).group_array, policy.level(old).group_array)
    ):
        yield f"{name}.finest_area: {wanted or 'none'} instead of {old}"


def _level_as_coarse(policy: Policy, old: VariableRule, new: VariableRule) -> bool:
    if not new.finest_level:
        return False
    variable = policy.schema.variable(old.variable)
    return coarser_or_equal(
        variable.level(new.finest_level).group_array, variable.level(old.finest_level).group_array
    )


def _decided(before: Policy, after: Policy) -> Iterator[str]:
    hidden = {
        (not_offered.at, code)
        for not_offered in after.decided.not_offered
        for code in not_offered.codes
    }
    for not_offered in before.decided.not_offered:
        if any((not_offered.at, code) not in hidden for code in not_offered.codes):
            yield f"decided.not_offered: codes of {not_offered.at} would be offered again"
    kept = {
        (detail_of.at, code, detail_of.finest)
        for detail_of in after.decided.detail
        for code in detail_of.codes
    }
    for detail in before.decided.detail:
        if any((detail.at, code, detail.finest) not in kept for code in detail.codes):
            yield f"decided.detail: areas of {detail.at} would get another detail"
