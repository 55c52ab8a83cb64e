"""What can be asked for: populations, variables, levels. Public, from code lists and the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.policy.menu import MenuVariable
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.schema.schema import CensusInfo, DeclaredUniverse, Schema
from sdcensus.model.schema.variable import Entity, Level, Role, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.declared_universes import is_code
from sdcensus.model.spec.headings import entity_label
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.model.text import Text
from sdcensus.session.policy import Outcome, amount_policy, menu_of
from sdcensus.session.policy.verdict import Verdict

#: What a newcomer sees first has about so many rows and columns, if the code lists allow.
ROWS, COLUMNS = 40, 12


@dataclass(frozen=True, slots=True, eq=False)
class OfferedVariable:
    """A variable that can be asked for.

    Attributes:
        variable: The variable.
        levels: The levels at which it may be asked for, finest first.
        default: The level that is shown first.
        area: Whether its codes are areas.
        filter: Whether it may stand in a condition.
    """

    variable: Variable
    levels: tuple[Level, ...]
    default: Level
    area: bool
    filter: bool

    def level(self, name: str) -> Level:
        """The offered level of that name."""
        for level in self.levels:
            if level.name == name:
                return level
        where = f"Variable {self.variable.name!r}: "
        raise UnknownName("level", name, known=[level.name for level in self.levels], where=where)


@dataclass(frozen=True, slots=True, eq=False)
class OfferedAmount:
    """An amount of which sums, means or medians can be asked for.

    Attributes:
        variable: The amount.
        figures: What can be asked for.
        by: The variables by which they can be asked for, by name.
        dimensions: The most variables of a table; ``None`` for no limit.
    """

    variable: Variable
    figures: tuple[FigureOf, ...]
    by: tuple[str, ...]
    dimensions: int | None


@dataclass(frozen=True, slots=True, eq=False)
class OfferedPopulation:
    """What can be counted, by what.

    Attributes:
        of, label: What it is, and what it is called.
        variables: By what it can be counted.
        universes: The universes of the schema that conditions may name.
        amounts: The amounts of which more than counts can be asked for.
    """

    of: Entity
    label: Text
    variables: tuple[OfferedVariable, ...]
    universes: tuple[DeclaredUniverse, ...] = ()
    amounts: tuple[OfferedAmount, ...] = ()

    def variable(self, name: str) -> OfferedVariable:
        """The offered variable of that name."""
        for variable in self.variables:
            if variable.variable.name == name:
                return variable
        known = [variable.variable.name for variable in self.variables]
        raise UnknownName("variable", name, known=known)

    @property
    def areas(self) -> tuple[OfferedVariable, ...]:
        """The variables whose codes are areas, the main geography first."""
        return tuple(variable for variable in self.variables if variable.area)


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """Everything that can be asked for.

    Attributes:
        census: Which census it is.
        populations: What can be counted.
        start: A question to begin with.
    """

    census: CensusInfo
    populations: tuple[OfferedPopulation, ...]
    start: Question

    def population(self, of: str) -> OfferedPopulation:
        """What can be asked about units of that kind."""
        for population in self.populations:
            if of in (population.of.value, population.of.plural):
                return population
        known = [population.of.plural for population in self.populations]
        raise UnknownName("dataset", of, known=known)


def make_catalogue(policy: Policy, verdict: Callable[[TableSpec], Verdict]) -> Catalogue:
    """Everything that a policy offers; a variable that can never pass is not among it.

    Args:
        policy: The policy.
        verdict: What the policy says of a table, by code lists and published numbers.
    """
    schema = policy.schema
    populations = []
    for spec in schema.entities:
        try:
            menu = menu_of(policy, schema, of=spec.entity, role=UserRole.PUBLIC)
        except SpecError:
            continue  # nothing of these units is offered
        offered = []
        for menu_variable in _main_before_others(menu.variables):
            variable = _offered(policy, menu_variable.variable, menu_variable.levels)
            if _can_pass(spec.entity, variable, verdict):
                offered.append(variable)
        if offered:
            populations.append(
                OfferedPopulation(
                    spec.entity,
                    entity_label(spec.entity),
                    tuple(offered),
                    tuple(_universes(schema, offered)),
                    tuple(_amounts(policy, spec.entity, offered)),
                )
            )
    if not populations:
        raise SpecError(
            f"The policy {policy.name!r} offers no variable that could ever be shown. Offer one,"
            " or loosen the rules on published numbers."
        )
    # People first: they are what most visitors come for.
    populations.sort(key=lambda population: list(Entity).index(population.of))
    return Catalogue(schema.census, tuple(populations), _start(populations[0], verdict))


def _main_before_others(variables: Sequence[MenuVariable]) -> Sequence[MenuVariable]:
    """The main geography in front of the first other one: who looks for areas sees it first."""
    main = [each for each in variables if each.variable.main]
    others = [each for each in variables if not each.variable.main]
    areas = [at for at, each in enumerate(others) if each.variable.role is Role.GEOGRAPHY]
    if not main or not areas or variables.index(main[0]) < areas[0]:
        return variables
    return [*others[: areas[0]], *main, *others[areas[0] :]]


def _amounts(
    policy: Policy, of: Entity, offered: Sequence[OfferedVariable]
) -> Iterator[OfferedAmount]:
    """The amounts of some units that are offered, in the order of the policy."""
    for rule in policy.amounts:
        variable = policy.schema.variable(rule.variable)
        if variable.entity is not of:
            continue
        own = amount_policy(policy, rule)
        yield OfferedAmount(
            variable,
            tuple(FigureOf(figure, variable.name) for figure in rule.measures),
            tuple(
                each.variable.name
                for each in offered
                if own.rule_of(each.variable.name).offered_for(of)
                and own.allowed_levels(each.variable)
                and each.variable.name != variable.name
            ),
            own.role(UserRole.PUBLIC).dimensions,
        )


def _universes(schema: Schema, offered: Sequence[OfferedVariable]) -> Iterator[DeclaredUniverse]:
    """The universes that are made of codes on offer."""
    levels = {
        offered_variable.variable.name: offered_variable.levels
        for offered_variable in offered
        if offered_variable.filter
    }
    for declared in schema.universes:
        universe = universe_of(declared.condition, schema)
        if all(
            variable.name in levels
            and is_code(leaves_in(universe, variable), levels[variable.name])
            for variable in universe.variables
        ):
            yield declared


def _offered(policy: Policy, variable: Variable, levels: tuple[Level, ...]) -> OfferedVariable:
    levels = _told_once(variable, levels)
    area = any(area.name == variable.name for area in policy.areas)
    most = ROWS if area else COLUMNS
    fitting = [level for level in levels if len(level.codes) <= most]
    default = fitting[0] if fitting else levels[-1]
    return OfferedVariable(variable, levels, default, area, policy.rule_of(variable.name).as_filter)


def _told_once(variable: Variable, levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """Levels without the leaves of an amount, where one that has a name holds the same classes."""
    leaf = variable.leaf_level
    others = tuple(level for level in levels if level.name != leaf)
    same = any(len(level.codes) == len(variable.level(leaf).codes) for level in others)
    return others if variable.continuous and same else levels


def _can_pass(
    of: Entity, offered: OfferedVariable, verdict: Callable[[TableSpec], Verdict]
) -> bool:
    """Whether a table by a variable alone passes at any of its levels, the coarsest first."""
    return any(
        verdict(_alone(of, offered.variable, level)).outcome is not Outcome.REFUSED
        for level in reversed(offered.levels)
    )


def _alone(of: Entity, variable: Variable, level: Level) -> TableSpec:
    return TableSpec(of=of, axes=(make_axis(variable, [level], total=True),))


def _start(population: OfferedPopulation, verdict: Callable[[TableSpec], Verdict]) -> Question:
    """A first table: areas by something with few categories, if that passes."""
    of = population.of
    others = [variable for variable in population.variables if not variable.area]
    # What the units themselves say, in few categories: sex of persons, not walls of buildings.
    others.sort(key=lambda other: (other.variable.entity is not of, len(other.default.codes)))
    for other in others[:5]:
        shown = [*population.areas[:1], other]
        axes = tuple(make_axis(axis.variable, [axis.default], total=True) for axis in shown)
        if verdict(TableSpec(of=of, axes=axes)).outcome is not Outcome.REFUSED:
            return Question(of=of.plural, by=tuple(map(_axis, shown)))
    return Question(of=of.plural, by=(_axis(population.variables[0]),))


def _axis(offered: OfferedVariable) -> str:
    name = offered.variable.name
    leaf = offered.default.name == offered.variable.leaf_level
    return name if leaf else f"{name}@{offered.default.name}"
