"""A first policy: what may be asked, from the sizes of areas and categories."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sdcensus.errors import SpecError
from sdcensus.model.policy.menu import finest_first
from sdcensus.model.policy.policy import (
    AtLevel,
    DesignRules,
    Limits,
    OneHousehold,
    OnlineRules,
    Policy,
    RoleRules,
    UserRole,
    VariableRule,
    WhenSparse,
    area_variables,
    menu_of,
)
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import written_as
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.risk.looks.budget import LookBudget, look_budgets
from sdcensus.session.census.census import Census
from sdcensus.session.gate.tied_units import without_ties
from sdcensus.session.looks.budget import LIMIT, budget_in, menus_of
from sdcensus.session.policy.small_codes import with_drafted_decisions
from sdcensus.session.recommend.facts import AreaLevel, Facts, level_up_to, main_areas
from sdcensus.session.recommend.noise import (
    LARGEST_VARIANCE,
    Burden,
    Rejected,
    burden_of,
    needs,
)

#: The mean number of units in a cell, by area (the rule of New Zealand).
MEAN_CELL = 2.0
#: Areas with fewer people are not offered.
MINIMUM_POPULATION = 100
#: A category has at least so many units on average; else the variable is shown more coarsely.
MEAN_CATEGORY = 20
#: A sensitive variable stands with areas of at least so many people, the smallest included.
SENSITIVE_POPULATION = 1_000
#: Noise is at most this share of a mean cell of age by sex in the finest areas of a builder.
NOISE_SHARE = 0.10
#: Shares of ones, and of ones and twos, among filled cells: more are refused.
ONES, ONES_AND_TWOS = 0.25, 0.50
#: How many variables tables of a builder may have, the most open first.
DIMENSIONS = (5, 4, 3, 2)
#: From so many variables in a table down, some are left out before tables get fewer.
NARROW_FROM = 3
#: At most this share of the variables of the main units is left out for that.
LEFT_OUT = 0.34
#: A table that takes longer to read than to ask for; a builder answers no larger ones.
MOST_CELLS = 100_000
#: Variables of the tables that the office itself makes: area, sex, age and one more.
OWN_TABLES = 4


@dataclass(frozen=True, slots=True)
class BuilderMenu:
    """What an open builder may offer.

    Attributes:
        policy: The policy.
        budgets: Its look budgets, by kind of unit.
        rejected: More open ones, and why not.
    """

    policy: Policy
    budgets: tuple[LookBudget, ...]
    rejected: tuple[Rejected, ...]


def first_policy(
    census: Census, facts: Facts, name: str, *, progress: Progress = no_progress
) -> Policy:
    """A policy for tables that the office makes: limits of detail by size.

    Areas with too few people are in it as decided: what is called not offered is not shown.
    """
    schema = census.schema
    kinds = {entity.entity for entity in schema.entities}
    together = {Entity.PERSON, Entity.HOUSEHOLD} <= kinds
    households = together and schema.path(Entity.PERSON, Entity.HOUSEHOLD) is not None
    geography = schema.geography
    in_areas = geography is not None and any(geography in schema.usable(kind) for kind in kinds)
    policy = Policy(
        name=name,
        schema=schema,
        measure=facts.unsaid,
        online=OnlineRules(
            mean_cell_size=MEAN_CELL,
            when_sparse=WhenSparse.WITHHOLD_AREA,
            ones=ONES,
            ones_and_twos=ONES_AND_TWOS,
            recovery=LIMIT,
        ),
        design=DesignRules(
            minimum_population=MINIMUM_POPULATION if in_areas else None,
            one_household_cells=OneHousehold.REPORT if households else None,
        ),
        variables=(*_rules(facts, schema), *_grids(schema)),
    )
    return with_drafted_decisions(without_ties(policy), census, progress=progress)


def _grids(schema: Schema) -> Iterator[VariableRule]:
    """Squares of a grid cut across areas: differences of both would be people."""
    for grid in schema.grids:
        yield VariableRule(variable=grid.variable, offered=False)


def builder_menu(facts: Facts, base: Policy, *, alone: bool = True) -> BuilderMenu:
    """The most open menu whose noise is bearable: variables in a table first, then areas.

    Before tables get down to two variables, some variables are left out of tables of some units.
    Where no areas can be offered, tables of the country as a whole are; at last those of one
    variable.

    Args:
        facts: What was found out about the census.
        base: A policy with limits of detail by size.
        alone: Whether the builder is all that is published: tables of a report or a programme keep
            their areas, which a policy offers to all or to nobody.

    Raises:
        SpecError: Not even tables of one variable can be opened.
    """
    rejected: list[Rejected] = []
    # No table has more variables than there are.
    most = len(facts.variables) + bool(facts.areas)
    choices = sorted({min(dimensions, most) for dimensions in DIMENSIONS}, reverse=True)
    # One area alone is the whole country.
    several = [area for area in facts.areas if len(area.units) > 1 and _is_offered(area, base)]
    tries: list[tuple[int, list[AreaLevel | None]]] = [
        (dimensions, list(several) or [None]) for dimensions in choices
    ]
    if several and alone:
        tries += [(dimensions, [None]) for dimensions in choices if dimensions <= NARROW_FROM]
    tries += [(1, [*several, *([None] if alone or not several else [])])]
    for at, (dimensions, places) in enumerate(tries):
        nearest: tuple[float, Rejected] | None = None
        for narrow in (False, True) if dimensions <= NARROW_FROM else (False,):
            for area in places:
                trial = _trial(base, facts, area, dimensions, narrow=narrow)
                if trial is None:
                    continue
                if not trial.burden.why:
                    less = [fewer for fewer, _ in tries[at + 1 :] if fewer < dimensions]
                    fewer = _with_fewer(facts, trial.policy, area, less)
                    more = () if nearest is None else (nearest[1],)
                    return BuilderMenu(trial.policy, trial.budgets, (*rejected, *more, *fewer))
                if not narrow and (nearest is None or trial.burden.ratio < nearest[0]):
                    what = _menu_text(dimensions, area)
                    nearest = trial.burden.ratio, Rejected(what, trial.burden.why)
        if nearest is not None:
            rejected.append(nearest[1])
    raise SpecError(
        "No builder can be recommended for this census: every menu asks for more noise than its"
        " tables bear. Publish a report or a programme of tables instead."
    )


def _is_offered(area: AreaLevel, policy: Policy) -> bool:
    """Whether anything of a level is left by what was decided about its areas."""
    return area.level.name in {level.name for level in policy.allowed_levels(area.variable)}


def _trial(
    base: Policy, facts: Facts, area: AreaLevel | None, dimensions: int, *, narrow: bool
) -> _Trial | None:
    """A menu and what it asks for; ``None`` if nothing of the main units would be offered."""
    policy = opened(base, facts, area, dimensions)
    if facts.of not in menus_of(policy):
        return None
    most = bearable(facts, area, dimensions)
    trial = _tried(policy, facts, most)
    if trial.burden.why and narrow:
        trial = _narrowed(trial, facts, most)
    return trial


@dataclass(frozen=True, slots=True)
class _Trial:
    """A policy, its look budgets, and how heavy the noise is that they ask for."""

    policy: Policy
    budgets: tuple[LookBudget, ...]
    burden: Burden


def _tried(policy: Policy, facts: Facts, most: float) -> _Trial:
    # Tables of the main units ask for most, nearly always: the others are counted if these do.
    budgets: tuple[LookBudget, ...] = (budget_in(policy, of=facts.of),)
    burden = burden_of(budgets, most)
    if not burden.why:
        budgets = tuple(look_budgets(policy.schema, menus_of(policy)).values())
        burden = burden_of(budgets, most)
    return _Trial(policy, budgets, burden)


def _narrowed(trial: _Trial, facts: Facts, most: float) -> _Trial:
    """Leave variables out, one at a time, until the noise is bearable or little would be left.

    First those of larger units, on tables of the smaller ones that live in them: they have tables
    of their own. Then others, sensitive ones first, then those with few categories, whose sums
    tell most about a total. Age and sex stay.
    """
    schema = trial.policy.schema
    own = [variable for variable in facts.variables if variable.entity is facts.of]
    left = int(len(own) * LEFT_OUT)
    while trial.burden.why:
        of = max(trial.budgets, key=lambda budget: budget.asked.looks).of
        offered = [
            variable.variable
            for variable in menu_of(trial.policy, schema, of=of).variables
            if variable.variable not in main_areas(schema, of)
            and variable.variable not in (facts.age, facts.sex)
        ]
        larger = [variable for variable in offered if variable.entity is not of]
        if larger:
            policy = trial.policy
            for level in larger:
                policy = _without(policy, level, of)
        elif left > 0 and len(offered) > 1:
            policy = _without(trial.policy, min(offered, key=_worth), of)
            left -= 1
        else:
            break
        if facts.of not in menus_of(policy):  # nothing would be left of the main units
            break
        trial = _tried(policy, facts, most)
    return trial


def _worth(variable: Variable) -> tuple[bool, int]:
    """The smaller, the sooner it is left out."""
    return variable.role is not Role.SENSITIVE, min(
        len(level.codes) for level in variable.plain_levels
    )


def _without(policy: Policy, variable: Variable, of: Entity) -> Policy:
    """The policy without a variable on tables of some units."""
    schema = policy.schema
    rules = {variable.variable: variable for variable in policy.variables}
    rule = policy.rule_of(variable.name)
    units = tuple(
        entity.entity
        for entity in schema.entities
        if entity.entity is not of
        and variable.entity in schema.lineage(entity.entity)
        and rule.offered_for(entity.entity)
    )
    # A variable that smaller units alone would still show is of no use to anybody.
    kept = variable.entity in units
    rules[variable.name] = (
        replace(rule, units=units) if kept else VariableRule(variable=variable.name, offered=False)
    )
    return replace(policy, variables=tuple(rules.values()))


def _with_fewer(
    facts: Facts, policy: Policy, area: AreaLevel | None, dimensions: Sequence[int]
) -> Iterator[Rejected]:
    """A less open menu, and how much less noise it would need."""
    for number in dimensions[:1]:
        limits = replace(policy.limits, dimensions=number)
        wanted = needs((budget_in(replace(policy, limits=limits), of=facts.of),))
        yield Rejected(
            _menu_text(number, area),
            sentence(
                "recommend.rejected.would_do",
                variance=in_every_language(partial(written_as, f"{wanted.variance:.2g}")),
            ),
        )


def opened(base: Policy, facts: Facts, area: AreaLevel | None, dimensions: int) -> Policy:
    """The policy for everybody: up to so many variables, and no areas finer than these.

    Further geographies are opened no finer than the main one, where they have its level.
    """
    rules = {variable.variable: variable for variable in base.variables}
    for variable in area_variables(base.schema):
        old = rules.get(variable.name, VariableRule(variable=variable.name))
        limit = next(
            (level for level in variable.levels() if area and level.name == area.level.name), None
        )
        if limit is not None and variable.role is Role.GEOGRAPHY:
            own = variable.level(old.finest_level or None)
            finest = limit if own.refines(limit) else own
            rules[variable.name] = replace(old, finest_level=finest.name)
        elif variable not in facts.variables:
            rules[variable.name] = replace(old, offered=False)
    return replace(
        base,
        lock=True,
        limits=Limits(dimensions=dimensions, cells=MOST_CELLS),
        variables=tuple(rules.values()),
        roles=(RoleRules(role=UserRole.PRODUCTION, dimensions=max(dimensions, OWN_TABLES)),),
    )


def bearable(facts: Facts, area: AreaLevel | None, dimensions: int) -> float:
    """The largest variance: noise is a share of the mean cell of age by sex in such areas.

    Of smaller tables, of what such tables can show: age by area, or the larger of both.
    """
    places = 1 if area is None else max(len(area.filled), 1)
    # Single years of age are no measure: tables show classes where cells do not bear them.
    ages = 1 if facts.age is None else min(len(level_up_to(facts.age, 25).codes), 25)
    sexes = 1 if facts.sex is None else len(facts.sex.codes)
    sizes = sorted((places, ages, sexes), reverse=True)
    mean = facts.units / math.prod(sizes[:dimensions])
    return min(LARGEST_VARIANCE, (NOISE_SHARE * mean) ** 2)


def _menu_text(dimensions: int, area: AreaLevel | None) -> str:
    number = "recommend.one_variable" if dimensions == 1 else "recommend.variables"
    variables = sentence(number, n=dimensions)
    if area is None:
        return sentence("recommend.rejected.menu", variables=variables)
    return sentence("recommend.rejected.menu_areas", variables=variables, area=area.axis)


def _rules(facts: Facts, schema: Schema) -> Iterator[VariableRule]:
    """Variables that are too detailed for so few units, and sensitive ones."""
    coarse = _for_sensitive(facts)
    for variable in facts.variables:
        levels = finest_first(variable.plain_levels)
        # Homes by places of work are far sparser: areas of one level times those of another.
        power = 2 if variable in schema.geographies else 1
        fits = [
            level for level in levels if facts.units / len(level.codes) ** power >= MEAN_CATEGORY
        ]
        finest = fits[0] if fits else levels[-1]
        sensitive = variable.role is Role.SENSITIVE
        rule = VariableRule(
            variable=variable.name,
            as_filter=not sensitive,
            finest_level="" if finest is levels[0] else finest.name,
            finest_area=coarse if sensitive else None,
        )
        if rule != VariableRule(variable=variable.name):
            yield rule


def _for_sensitive(facts: Facts) -> AtLevel | None:
    """The finest areas that are all large enough for what must not be known of anybody."""
    if not facts.areas:
        return None
    for area in facts.areas:
        if area.filled and min(area.filled) >= SENSITIVE_POPULATION:
            return AtLevel(area.variable.name, area.level.name)
    last = facts.areas[-1]
    return AtLevel(last.variable.name, last.level.name)


def cells_limit(largest: int) -> int:
    """The number of cells of the largest table, upwards to one digit.

    Examples:
        >>> cells_limit(3_276), cells_limit(9)
        (4000, 9)
    """
    unit = int(10 ** (len(str(max(largest, 1))) - 1))
    return -(-largest // unit) * unit
