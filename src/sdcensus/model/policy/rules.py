"""The rules of a policy, one by one: limits, rules on published numbers, rules at design time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import AmountFigure, UserRole as UserRole, option

#: The largest share of small visible groups that tables may break down, where a policy is silent.
BROKEN_DOWN = 0.02
#: Where a rule stands in a policy document: names of tables and keys, numbers of list members.
Place = tuple[str | int, ...]


class WhenSparse(StrEnum):
    """What happens to an area whose cells hold too few units on average."""

    C = "c"
    WITHHOLD_AREA = "withhold-area"
    REFUSE_TABLE = "refuse-table"


class OneHousehold(StrEnum):
    """What happens to person cells whose members all live in one household."""

    REPORT = "report"
    WITHHOLD = "withhold"


def user_role(role: str | UserRole) -> UserRole:
    """The role of that name."""
    return option(UserRole, "role", role)


@dataclass(frozen=True, slots=True)
class AtLevel:
    """A variable at one of its levels; without a level, at every one.

    Examples:
        >>> str(AtLevel("ed", "district")), str(AtLevel("age"))
        ('ed@district', 'age')
    """

    variable: str
    level: str = ""

    def __str__(self) -> str:
        return f"{self.variable}@{self.level}" if self.level else self.variable

    @classmethod
    def parse(cls, text: str) -> AtLevel:
        """Read ``variable`` or ``variable@level``."""
        variable, _, level = (part.strip() for part in text.partition("@"))
        return cls(variable, level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a table may be; ``None`` where there is no limit.

    Attributes:
        dimensions: The most variables: axes, filters and geography all count, each once.
        cells: The most cells, totals included.
    """

    dimensions: int | None = None
    cells: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineRules:
    """Rules on published numbers; ``None`` where there is none.

    Attributes:
        mean_cell_size: The least published population of an area, divided by the number of its
            interior cells, empty ones included.
        when_sparse: What happens to areas below it.
        below: Under ``c``, published values below this are withheld in sparse areas.
        mean_cell_size_of_table: The same for the table as a whole; below it, it is refused.
        exclude_structural_zeros: Whether cells that must be empty do not count as cells.
        ones: The largest share of published ones among the cells that are not published as 0.
        ones_and_twos: The same for ones and twos together.
        minimum_population: Areas with a smaller published population are withheld; a table whose
            condition chooses fewer, by the published number of them, is refused.
        recovery: The largest chance with which all tables of the menu together, added up and
            subtracted, may give a count away; the look budget is measured against it.
        brackets: Published values from 1 to below this stand in brackets: they are too small to
            rely on. The table builder shows them so; nothing is withheld.
        smallest_group: Groups that are published below this are not broken down further. In the
            table builder for every role, in plans for roles under which these rules are on.
        broken_down: The largest share of the visible groups of at most three that may be claimed
            with more than two attributes; ``None`` for the usual one. What is served and what is
            published are measured against it, whoever asks.
    """

    mean_cell_size: float | None = None
    when_sparse: WhenSparse = WhenSparse.WITHHOLD_AREA
    below: int = 6
    mean_cell_size_of_table: float | None = None
    exclude_structural_zeros: bool = False
    ones: float | None = None
    ones_and_twos: float | None = None
    minimum_population: int | None = None
    recovery: float | None = None
    brackets: int | None = None
    smallest_group: int | None = None
    broken_down: float | None = None

    def __post_init__(self) -> None:
        action = option(WhenSparse, "action for sparse areas", self.when_sparse)
        object.__setattr__(self, "when_sparse", action)

    @property
    def on_values(self) -> bool:
        """Whether any rule needs published numbers."""
        asked = (
            self.mean_cell_size,
            self.mean_cell_size_of_table,
            self.ones,
            self.ones_and_twos,
            self.minimum_population,
        )
        return any(limit is not None for limit in asked)


#: The smallest group of a preset, which knows neither census nor noise: with deviations of up to 7
#: it covers private households of up to 15 persons, with deviations of up to 19 groups of three.
PRESET_GROUP = 23
#: Rules of offices that published theirs. New Zealand looks at each geographic unit and writes
#: ``c``; the United Kingdom and special tabulations of the United States look at the table. The
#: smallest group is ours: without it the table builder would not open.
PRESETS: Mapping[str, OnlineRules] = {
    "NZ": OnlineRules(
        mean_cell_size=2, when_sparse=WhenSparse.C, below=6, smallest_group=PRESET_GROUP
    ),
    "UK": OnlineRules(mean_cell_size_of_table=1, smallest_group=PRESET_GROUP),
    "US": OnlineRules(mean_cell_size_of_table=3, smallest_group=PRESET_GROUP),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableRule:
    """What holds for one variable.

    Attributes:
        offered: Whether it may be asked for at all.
        as_filter: Whether it may stand in a condition.
        finest_level: Its finest level; levels that are neither this nor coarser are refused.
        finest_area: The finest area with which it may stand in a table.
        units: The units on whose tables it may stand; ``None`` for all that have it.
    """

    variable: str
    offered: bool = True
    as_filter: bool = True
    finest_level: str = ""
    finest_area: AtLevel | None = None
    units: tuple[Entity, ...] | None = None

    def offered_for(self, of: Entity) -> bool:
        """Whether it may stand on tables of some units."""
        return self.offered and (self.units is None or of in self.units)


#: Sums are shown for at least so many published contributors, where neither the policy nor a
#: smallest group says how many.
LEAST_CONTRIBUTORS = 10
#: How much noise is left of a sum after all looks at it, in shares of its largest contribution.
NOISE_LEFT = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountRule:
    """What is offered of one amount: what has no rule is not offered.

    Attributes:
        variable: The continuous variable.
        measures: What may be asked for.
        by: The variables by which it is shown, each at a level or coarser; ``None`` for all.
        dimensions: The most variables of a table; without it as for counts.
        finest_area: The finest area for which it is shown.
        at_least: Figures are shown where so many contributors or more are published; without it
            the smallest group in force, else ``LEAST_CONTRIBUTORS``.
        noise_left: The least standard deviation of the best estimate of a sum from everything that
            may be asked, as a share of the largest contribution to it.
    """

    variable: str
    measures: tuple[AmountFigure, ...] = (AmountFigure.SUM, AmountFigure.MEAN)
    by: tuple[AtLevel, ...] | None = None
    dimensions: int | None = None
    finest_area: AtLevel | None = None
    at_least: int | None = None
    noise_left: float = NOISE_LEFT

    def __post_init__(self) -> None:
        figures = tuple(option(AmountFigure, "measure", figure) for figure in self.measures)
        object.__setattr__(self, "measures", tuple(dict.fromkeys(figures)))

    @property
    def adds_up(self) -> bool:
        """Whether sums are published for it: sums themselves, or those behind means."""
        return any(figure is not AmountFigure.MEDIAN for figure in self.measures)

    def contributors(self, smallest_group: int | None) -> int:
        """How many contributors must be published behind a figure."""
        return self.at_least or smallest_group or LEAST_CONTRIBUTORS


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRules:
    """What one role may do that others may not, or less; ``None`` as the policy says for all.

    Attributes:
        dimensions, cells: Limits of a table.
        cells_per_hour, tables_per_day, jobs: Quotas; jobs are those at the same time.
        online: Whether the rules on published numbers apply.
    """

    role: UserRole
    dimensions: int | None = None
    cells: int | None = None
    cells_per_hour: int | None = None
    tables_per_day: int | None = None
    jobs: int | None = None
    online: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", user_role(self.role))


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How fine variables may be for areas with at least so many people.

    Attributes:
        population: The size of an area from which this holds.
        levels: The finest level of each variable.
    """

    population: int
    levels: tuple[AtLevel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignRules:
    """Rules that read true counts, for a person who decides once.

    Attributes:
        minimum_population: Areas with fewer people are not offered at their level.
        minimum_population_at: The same for single levels, which take the place of the general one.
        minimum_category: Categories with fewer people are not offered at their level.
        one_household_cells: What happens to person cells that are one household.
        detail: How fine variables may be, by size of area.
    """

    minimum_population: int | None = None
    minimum_population_at: tuple[tuple[AtLevel, int], ...] = ()
    minimum_category: int | None = None
    one_household_cells: OneHousehold | None = None
    detail: tuple[Detail, ...] = ()

    def __post_init__(self) -> None:
        if self.one_household_cells is not None:
            what = "action for cells of one household"
            action = option(OneHousehold, what, self.one_household_cells)
            object.__setattr__(self, "one_household_cells", action)


@dataclass(frozen=True, slots=True)
class RecordSet:
    """Totals that are published exactly in every product: a table without its numbers.

    Attributes:
        text: How the policy says it, such as ``"usual residents by district"``.
        of, by, where: What is counted, by which axes, under which condition.
    """

    text: str
    of: Entity
    by: tuple[str, ...]
    where: str = ""

    def spec(self, schema: Schema) -> TableSpec:
        """The table whose cells are exempt."""
        return TableSpec.build(
            schema, self.by, of=self.of, universe=self.where or None, name=self.text
        )


@dataclass(frozen=True, slots=True)
class NotOffered:
    """Codes of a level that no table shows."""

    at: AtLevel
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DetailOf:
    """How fine variables may be in a table of these areas."""

    at: AtLevel
    codes: tuple[str, ...]
    finest: tuple[AtLevel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What was decided at design time. Decisions, not counts: it may be published."""

    not_offered: tuple[NotOffered, ...] = ()
    detail: tuple[DetailOf, ...] = ()


class PolicyProblems(SpecError):
    """Rules of a policy that contradict each other or the schema.

    Attributes:
        problems: Where each of them stands in a policy document, and what is wrong.
    """

    def __init__(self, problems: Iterable[tuple[Place, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(["The policy cannot be used.", *(t for _, t in self.problems)]))
