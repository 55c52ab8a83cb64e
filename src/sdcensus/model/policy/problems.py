"""What is wrong with a policy: numbers out of range, unknown names, rules against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sdcensus.errors import SpecError, UnknownName, unknown
from sdcensus.model.policy.rules import (
    AmountRule,
    AtLevel,
    Place,
    UserRole,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.levels_told_apart import coarser_levels, strictly_coarser
from sdcensus.model.vocabulary import AmountFigure, Measure

if TYPE_CHECKING:
    from sdcensus.model.policy.policy import Policy

Found = Iterator[tuple[Place, str]]


def problems_of(policy: Policy) -> tuple[tuple[Place, str], ...]:
    """Everything that keeps a policy from being used, with where it stands in a document."""
    return tuple(
        problem
        for part in (
            _measure,
            _limits,
            _online,
            _exempt,
            _variables,
            _amounts,
            _never_together,
            _roles,
            _design,
            _detail,
            _decided,
        )
        for problem in part(policy)
    )


def _measure(policy: Policy) -> Found:
    if policy.measure is Measure.WEIGHTED and not policy.schema.weighted:
        yield ("measure",), "Weighted counts need a weight, and the schema has none."


def _limits(policy: Policy) -> Found:
    for name in ("dimensions", "cells"):
        yield from _whole(("limits", name), getattr(policy.limits, name), 1)


def _online(policy: Policy) -> Found:
    rules = policy.online
    for name in ("mean_cell_size", "mean_cell_size_of_table"):
        size = getattr(rules, name)
        if size is not None and not (_is_number(size) and 0 <= size < math.inf):
            yield ("online", name), f"'{name}' should be a number, 0 or more."
    sizes = (rules.mean_cell_size, rules.mean_cell_size_of_table)
    if rules.exclude_structural_zeros and sizes == (None, None):
        yield (
            ("online", "exclude_structural_zeros"),
            "This is about mean cell sizes: set 'mean_cell_size' or 'mean_cell_size_of_table'.",
        )
    yield from _whole(("online", "minimum_population"), rules.minimum_population, 0)
    yield from _whole(("online", "brackets"), rules.brackets, 1)
    yield from _whole(("online", "below"), rules.below, 1)
    yield from _whole(("online", "smallest_group"), rules.smallest_group, 2)
    for name in ("ones", "ones_and_twos"):
        share = getattr(rules, name)
        if share is not None and not (_is_number(share) and 0 <= share <= 1):
            yield ("online", name), f"'{name}' is a share: from 0 to 1, such as 0.25."
    share = rules.broken_down
    if share is not None and not (_is_number(share) and 0 <= share < 1):
        yield (
            ("online", "broken_down"),
            "'broken_down' is a share from 0 to below 1, such as 0.02: at 1 the rule says nothing.",
        )
    chance = rules.recovery
    if chance is not None and not (_is_number(chance) and 0 < chance < 1):
        yield (
            ("online", "recovery"),
            "'recovery' is a chance above 0 and below 1, such as 0.10. At 0 no table with noise"
            " could be published; at 1 the rule says nothing.",
        )
    if rules.when_sparse is WhenSparse.C:
        where: Place = ("online", "when_sparse")
        if rules.mean_cell_size is None:
            yield where, "'c' is for sparse areas: say from when on, by mean_cell_size."
        if policy.exempt:
            yield (
                where,
                "'c' cannot go with totals that are published exactly ([exempt]): a withheld value"
                ' would be the exact total less the others. Use "withhold-area", or exempt no'
                " totals.",
            )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(where: Place, value: int | None, least: int) -> Found:
    if value is not None and not (type(value) is int and value >= least):
        yield where, f"{where[-1]!r} should be a whole number, {least} or more."


def _exempt(policy: Policy) -> Found:
    for at, record_set in enumerate(policy.exempt):
        try:
            record_set.spec(policy.schema)
        except SpecError as error:
            yield ("exempt", "record_sets", at), f"{record_set.text!r}: {error}"


def _variables(policy: Policy) -> Found:
    names = [variable.variable for variable in policy.variables]
    for rule in policy.variables:
        where: Place = ("variable", rule.variable)
        if names.count(rule.variable) > 1:
            yield where, f"There are two rules for {rule.variable!r}."
        variable, text = _variable(policy.schema, rule.variable)
        if variable is None:
            yield where, text
            continue
        if rule.finest_level:
            try:
                variable.level(rule.finest_level)
            except SpecError as error:
                yield (*where, "finest_level"), str(error)
        if rule.finest_area is not None:
            yield from _area(policy, rule.finest_area, (*where, "finest_area"))
        yield from _units(policy, rule, variable, (*where, "units"))


def _units(policy: Policy, rule: VariableRule, variable: Variable, where: Place) -> Found:
    if rule.units is None:
        return
    if not rule.offered:
        yield where, "'units' says on which tables it is offered, and offered = false says on none."
    elif not rule.units:
        yield where, 'Name units, such as ["households"]; to offer it nowhere: offered = false.'
    having = [
        spec.entity
        for spec in policy.schema.entities
        if variable.entity in policy.schema.lineage(spec.entity)
    ]
    for at, unit in enumerate(rule.units):
        if unit not in having:
            known = [entity.plural for entity in having]
            yield (*where, at), unknown(f"kind of unit with {rule.variable!r}", unit.plural, known)


def _amounts(policy: Policy) -> Found:
    names = [rule.variable for rule in policy.amounts]
    for rule in policy.amounts:
        where: Place = ("amount", rule.variable)
        if names.count(rule.variable) > 1:
            yield where, f"There are two rules for the amount {rule.variable!r}."
        known = [
            variable.name
            for variable in policy.schema.variables
            if variable.continuous and variable.role is not Role.WEIGHT
        ]
        if rule.variable not in known:
            text = unknown("amount", rule.variable, known)
            yield where, f"{text} Amounts have 'continuous = true' in the schema."
            continue
        yield from _measures(policy, rule, (*where, "measures"))
        if rule.finest_area is not None:
            yield from _area(policy, rule.finest_area, (*where, "finest_area"))
        named = [at.variable for at in rule.by or ()]
        for number, at in enumerate(rule.by or ()):
            yield from _at_level(policy, at, (*where, "by", number))
            if named.count(at.variable) > 1 or at.variable == rule.variable:
                yield (*where, "by", number), "'by' names other variables, each once."
        if rule.by == ():
            yield (*where, "by"), 'Name variables, such as ["sex"]; for all of them leave it out.'
        yield from _whole((*where, "dimensions"), rule.dimensions, 1)
        yield from _whole((*where, "at_least"), rule.at_least, 3)
        if not (_is_number(rule.noise_left) and 0 < rule.noise_left < 1):
            yield (
                (*where, "noise_left"),
                "'noise_left' is a share of the largest contribution, above 0 and below 1, such as"
                " 0.02. At 0 the rule says nothing.",
            )


def _measures(policy: Policy, rule: AmountRule, where: Place) -> Found:
    """Whether there are measures, and what they need."""
    if not rule.measures:
        yield where, 'Name measures, such as ["sum", "mean"]; without any, leave the amount out.'
    variable = policy.schema.variable(rule.variable)
    if rule.adds_up and not policy.counts(variable.entity):
        yield (
            where,
            f"Weighted figures are offered, and {variable.entity.plural} have no weight.",
        )
    offered = policy.rule_of(rule.variable).offered_for(variable.entity)
    if AmountFigure.MEAN in rule.measures and not offered and _has_missing(variable):
        yield (
            where,
            f"A mean is divided by the published count of those whose amount is known, and counts"
            f" by {rule.variable!r} are not offered. Offer them, or leave the mean out.",
        )
    if AmountFigure.MEDIAN not in rule.measures:
        return
    if not _has_classes(variable):
        yield (
            where,
            f"A median is taken from published counts of classes, and {rule.variable!r} has none."
            f" Give it levels in the schema ([variable.{rule.variable}.levels]), or leave the"
            " median out.",
        )
    elif not offered:
        yield (
            where,
            f"A median is taken from published counts of classes, and counts by {rule.variable!r}"
            " are not offered. Offer them, or leave the median out.",
        )


def _has_missing(variable: Variable) -> bool:
    return any(code.is_missing for code in variable.codes)


def _has_classes(variable: Variable) -> bool:
    """Whether a level of an amount has classes of numbers."""
    return variable.is_axis and any(
        sum(code.lower is not None and not code.is_missing for code in level.codes) > 1
        for level in variable.levels()
    )


def _variable(schema: Schema, name: str) -> tuple[Variable | None, str]:
    """The variable, or why tables cannot be made by it."""
    try:
        variable = schema.variable(name)
    except UnknownName:
        known = [variable.name for variable in schema.variables if variable.is_axis]
        return None, unknown("variable", name, known)
    if not variable.is_axis:
        return None, f"Tables cannot be made by {name!r}, so a rule about it says nothing."
    return variable, ""


def _area(policy: Policy, at: AtLevel, where: Place) -> Found:
    """Whether areas of that kind exist."""
    areas = policy.areas
    known = [f"{area.name}@{level.name}" for area in areas for level in area.levels()]
    if at.variable not in [area.name for area in areas]:
        yield where, unknown("geography", str(at), known)
        return
    try:
        policy.level(at)
    except SpecError as error:
        yield where, str(error)


def _never_together(policy: Policy) -> Found:
    for number, combination in enumerate(policy.never_together):
        where: Place = ("never_together", "combinations", number)
        names = [at_level.variable for at_level in combination]
        if len(set(names)) < 2:
            text = "A combination names two or more different variables."
            if names:
                text += f" To take {names[0]!r} away altogether, set offered = false for it."
            yield where, text
        elif len(set(names)) < len(names):
            yield where, "A combination names each variable once."
        for at, at_level in enumerate(combination):
            yield from _at_level(policy, at_level, (*where, at))


def _at_level(policy: Policy, at: AtLevel, where: Place) -> Found:
    variable, text = _variable(policy.schema, at.variable)
    if variable is None:
        yield where, text
        return
    try:
        policy.level(at)
    except SpecError as error:
        yield where, str(error)


def _roles(policy: Policy) -> Found:
    named: list[UserRole] = []
    for rules in policy.roles:
        where: Place = ("role", rules.role.value)
        if rules.role in named:
            yield where, f"There are two tables for the role {rules.role.value!r}."
        named.append(rules.role)
        for name in ("dimensions", "cells", "cells_per_hour", "tables_per_day", "jobs"):
            yield from _whole((*where, name), getattr(rules, name), 1)
        if not rules.online and rules.role in (UserRole.PUBLIC, UserRole.REGISTERED):
            yield (
                (*where, "online"),
                f"The rules on published numbers cannot be off for the role {rules.role.value!r}:"
                " they are made for those who ask online. Leave the rules out of [online] instead,"
                " if nobody needs them.",
            )


def _design(policy: Policy) -> Found:
    rules = policy.design
    for name in ("minimum_population", "minimum_category"):
        yield from _whole(("design", name), getattr(rules, name), 0)
    for at, population in rules.minimum_population_at:
        where: Place = ("design", "minimum_population_at", str(at))
        yield from _area(policy, at, where)
        yield from _whole(where, population, 0)
    if rules.one_household_cells is not None:
        kinds = {entity.entity for entity in policy.schema.entities}
        why = ""
        if not {Entity.PERSON, Entity.HOUSEHOLD} <= kinds:
            why = "This census has no households of persons"
        elif policy.schema.path(Entity.PERSON, Entity.HOUSEHOLD) is None:
            why = "The persons of this census do not lie in households"
        if why:
            yield ("design", "one_household_cells"), f"{why}, so no cell can be known to be one."


def _detail(policy: Policy) -> Found:
    entries = policy.design.detail
    lowest: dict[str, AtLevel] = {}
    for at, detail in enumerate(entries):
        where: Place = ("design", "detail", at)
        yield from _whole((*where, "population"), detail.population, 0)
        if [entry.population for entry in entries].count(detail.population) > 1:
            yield where, f"Two entries are for areas from {detail.population:,} people on."
        if not detail.levels:
            yield where, 'An entry names levels, such as levels = { age = "five_year" }.'
        for at_level in detail.levels:
            yield from _at_level(policy, at_level, (*where, "levels", at_level.variable))
    for detail in sorted(entries, key=lambda entry: -entry.population):
        where = ("design", "detail", entries.index(detail))
        for at_level in detail.levels:
            if any(_at_level(policy, at_level, ())):
                continue
            finer = lowest.get(at_level.variable)
            level = policy.level(at_level)
            if finer is not None and strictly_coarser(
                policy.level(finer).group_array, level.group_array
            ):
                yield (
                    (*where, "levels", at_level.variable),
                    f"{at_level} is finer than {finer}, which larger areas get. Smaller areas get"
                    " the"
                    " same level or a coarser one.",
                )
            lowest[at_level.variable] = at_level
    yield from _nothing_coarser(policy, lowest)


def _nothing_coarser(policy: Policy, lowest: dict[str, AtLevel]) -> Found:
    """Variables that would be as fine in the smallest areas as in the largest."""
    for name, at_level in lowest.items():
        entries = [
            (at, detail)
            for at, detail in enumerate(policy.design.detail)
            if at_level in detail.levels
        ]
        at, detail = min(entries, key=lambda entry: entry[1].population)
        if detail.population == 0:
            continue
        levels = list(policy.schema.variable(name).levels())
        if not coarser_levels(policy.level(at_level), levels):
            yield (
                ("design", "detail", at, "levels", name),
                f"{at_level} has no coarser level, so there is none for smaller areas. Name a finer"
                " level here, or say population = 0 if areas of every size get this one.",
            )


def _decided(policy: Policy) -> Found:
    for at, hidden in enumerate(policy.decided.not_offered):
        yield from _codes(policy, hidden.at, hidden.codes, ("decided", "not_offered", at))
    for at, detail in enumerate(policy.decided.detail):
        where: Place = ("decided", "detail", at)
        yield from _area(policy, detail.at, (*where, "areas"))
        yield from _codes(policy, detail.at, detail.codes, where)
        for at_level in detail.finest:
            yield from _at_level(policy, at_level, (*where, "levels", at_level.variable))


def _codes(policy: Policy, at: AtLevel, codes: tuple[str, ...], where: Place) -> Found:
    """Whether a level has these codes."""
    problems = list(_at_level(policy, at, where))
    yield from problems
    if problems:
        return
    known = [code.code for code in policy.level(at).codes]
    for code in codes:
        if code not in known:
            yield (*where, "codes"), f"{at}: {unknown('code', code, known)}"
