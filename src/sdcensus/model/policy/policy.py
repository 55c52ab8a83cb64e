"""What may be asked of a census, by whom, and what happens where it may not.

Two kinds of rules, kept apart. Rules that anybody can try out online read code lists and published
numbers only. Rules that read true counts run at design time, where a person decides once; what
they leave in the policy is the decision (``Decided``), never a count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sdcensus.errors import SpecError
from sdcensus.model.policy.menu import Menu, MenuVariable, finest_first
from sdcensus.model.policy.problems import problems_of
from sdcensus.model.policy.rules import (
    BROKEN_DOWN,
    PRESETS,
    AmountRule,
    AtLevel,
    Decided,
    DesignRules,
    Detail,
    DetailOf,
    Limits,
    NotOffered,
    OneHousehold,
    OnlineRules,
    PolicyProblems,
    RecordSet,
    RoleRules,
    UserRole,
    VariableRule,
    WhenSparse,
    user_role,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.levels_told_apart import area_variables, coarser_or_equal
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure

__all__ = [
    "BROKEN_DOWN",
    "PRESETS",
    "AmountRule",
    "AtLevel",
    "Decided",
    "DesignRules",
    "Detail",
    "DetailOf",
    "Limits",
    "NotOffered",
    "OneHousehold",
    "OnlineRules",
    "Policy",
    "PolicyProblems",
    "RecordSet",
    "RoleRules",
    "UserRole",
    "VariableRule",
    "WhenSparse",
    "area_variables",
    "menu_of",
    "user_role",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may be asked, and what happens when it may not. One for batch and web.

    Attributes:
        name: What it is called.
        schema: The census that it is about.
        lock: Whether nothing in a plan or a request can loosen it.
        measure: What answers of a table builder say; without it, what the census says of itself.
        limits, online, design, exempt, variables, roles: The rules.
        amounts: The amounts of which a table builder gives sums, means or medians.
        never_together: Combinations of which no table may hold all; a variable at a level stands
            for itself and for every level that is not coarser.
        decided: What was decided at design time.
        areas: The variables whose codes are places on a map.
    """

    name: str
    schema: Schema = field(repr=False, compare=False)
    lock: bool = False
    measure: Measure | None = None
    limits: Limits = field(default_factory=Limits)
    online: OnlineRules = field(default_factory=OnlineRules)
    design: DesignRules = field(default_factory=DesignRules)
    exempt: tuple[RecordSet, ...] = ()
    variables: tuple[VariableRule, ...] = ()
    amounts: tuple[AmountRule, ...] = ()
    never_together: tuple[tuple[AtLevel, ...], ...] = ()
    roles: tuple[RoleRules, ...] = ()
    decided: Decided = field(default_factory=Decided)
    areas: tuple[Variable, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "areas", area_variables(self.schema))
        problems = problems_of(self)
        if problems:
            raise PolicyProblems(problems)

    def __repr__(self) -> str:
        return f"<Policy {self.name!r}{', locked' if self.lock else ''}>"

    @property
    def answers(self) -> Measure:
        """What answers of a table builder say: how many records, or how many they stand for."""
        return self.measure or self.schema.census.measure or Measure.COUNT

    def counts(self, of: Entity) -> bool:
        """Whether such units can be offered at all: weighted counts need a weight."""
        return self.answers is Measure.COUNT or self.schema.weight(of) is not None

    def rule_of(self, variable: str) -> VariableRule:
        """What holds for a variable; nothing special where the policy does not name it."""
        for rule in self.variables:
            if rule.variable == variable:
                return rule
        return VariableRule(variable=variable)

    def amount_rule(self, variable: str) -> AmountRule | None:
        """What is offered of an amount; ``None`` for nothing."""
        return next((rule for rule in self.amounts if rule.variable == variable), None)

    def role(self, role: str | UserRole) -> RoleRules:
        """What holds for a role, with the limits of the policy filled in."""
        named = user_role(role)
        own = next((role for role in self.roles if role.role is named), RoleRules(role=named))
        limits = self.limits
        return RoleRules(
            role=named,
            dimensions=limits.dimensions if own.dimensions is None else own.dimensions,
            cells=limits.cells if own.cells is None else own.cells,
            cells_per_hour=own.cells_per_hour,
            tables_per_day=own.tables_per_day,
            jobs=own.jobs,
            online=own.online,
        )

    def online_for(self, role: str | UserRole) -> OnlineRules:
        """The rules on published numbers for a role; none where they are off."""
        return self.online if self.role(role).online else OnlineRules()

    @property
    def broken_down(self) -> float:
        """The largest share of small visible groups that tables may break down."""
        said = self.online.broken_down
        return BROKEN_DOWN if said is None else said

    def level(self, at: AtLevel) -> Level:
        """The level that a rule names; the leaves where it names none."""
        return self.schema.variable(at.variable).level(at.level or None)

    def exempt_specs(self) -> tuple[TableSpec, ...]:
        """The tables whose cells are published exactly."""
        return tuple(record_set.spec(self.schema) for record_set in self.exempt)

    def allowed_levels(self, variable: Variable) -> tuple[Level, ...]:
        """The levels at which a variable may be asked for, finest first."""
        levels = list(variable.levels())
        finest = self.rule_of(variable.name).finest_level
        if finest:
            limit = variable.level(finest).group_array
            levels = [level for level in levels if coarser_or_equal(level.group_array, limit)]
        hidden = {
            not_offered.at.level: set(not_offered.codes)
            for not_offered in self.decided.not_offered
            if not_offered.at.variable == variable.name
        }
        kept = [
            level
            for level in levels
            if not hidden.get(level.name, set()).issuperset(code.code for code in level.codes)
        ]
        return finest_first(kept)


def menu_of(
    policy: Policy,
    schema: Schema,
    *,
    of: Entity | str = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
) -> Menu:
    """The tables that a policy opens to a role, for one kind of unit.

    The menu knows code lists only: what rules on published numbers withhold is not taken away.

    Raises:
        SpecError: The policy offers no variable of such units.
    """
    entity = of if isinstance(of, Entity) else Entity.parse(of)
    schema.entity(entity)
    if not policy.counts(entity):
        raise SpecError(
            f"The policy {policy.name!r} offers weighted counts, and {entity.plural} have no"
            " weight."
        )
    limits = policy.role(role)
    areas = area_variables(schema)
    offered = []
    for variable in schema.usable(entity):
        levels = policy.allowed_levels(variable)
        if policy.rule_of(variable.name).offered_for(entity) and levels:
            finest = _finest_areas(policy, variable, areas)
            offered.append(MenuVariable(variable, levels, finest))
    if not offered:
        raise SpecError(
            f"The policy {policy.name!r} offers no variable of {entity.plural}. Offer one, or ask"
            " for the menu of other units."
        )
    names = {menu_variable.variable.name for menu_variable in offered}
    together = [
        tuple((at_level.variable, at_level.level) for at_level in combination)
        for combination in policy.never_together
        if names.issuperset(at_level.variable for at_level in combination)
    ]
    return Menu(
        of=entity,
        variables=tuple(offered),
        dimensions=limits.dimensions or len(offered),
        cells=limits.cells,
        never_together=tuple(together),
    )


def _finest_areas(
    policy: Policy, variable: Variable, areas: tuple[Variable, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each variable of areas, its levels that may stand beside a variable."""
    finest = policy.rule_of(variable.name).finest_area
    if finest is None:
        return ()
    limit = policy.level(finest).group_array
    allowed = []
    for area in areas:
        if area.name == variable.name:
            continue
        # Squares of a grid are no unions of districts, whatever their size.
        levels = area.levels() if area.name == finest.variable else ()
        names = [level.name for level in levels if coarser_or_equal(level.group_array, limit)]
        allowed.append((area.name, tuple(names)))
    return tuple(allowed)
