"""Standard tables of a census, each with the finest areas that its cells bear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sdcensus.model.confidential import Confidential
from sdcensus.model.plan.plan import PlannedTable
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.headings import axis_heading, layer_heading, variable_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.census.census import Census
from sdcensus.session.gate.tied_units import without_ties
from sdcensus.session.policy.code_rules import passes
from sdcensus.session.recommend.facts import (
    AreaLevel,
    Facts,
    areas_of,
    axis_of,
    level_up_to,
    main_areas,
    nested,
)

#: A column of a printed page: variables with more codes are shown at a coarser level.
MOST_CODES = 25
#: A variable that stands beside another one is shown with at most so many codes.
FEW_CODES = 6
#: Areas of a table that is printed: the lines of two pages.
PRINTED_AREAS = 60
#: Of the areas of a table, at most this share may be too small for its cells.
SPARSE_AREAS = 0.05
#: A level of which a larger share of areas is not offered has no tables of its own.
MOST_WITHHELD = 0.25
#: Noise moves counts: a table keeps this many units above the least number for its cells.
MARGIN = 20
#: Of the shares of ones and twos that a policy allows, a table uses this part: noise makes more.
SMALL_PART = 0.8


@dataclass(frozen=True, slots=True, repr=False)
class TableDesign(Confidential):
    """A proposed table.

    Attributes:
        table: The table.
        area: The level of its areas; ``None`` for the country as a whole.
        mean: The mean number of units in a cell, totals aside.
        refused: Whether cells would bear some level of areas, and the policy refuses it.
    """

    table: PlannedTable
    area: AreaLevel | None
    mean: float
    refused: bool = False

    def __repr__(self) -> str:
        return f"<TableDesign {self.table.name}: confidential>"


@dataclass(frozen=True, slots=True)
class _Wish:
    """A table without its areas."""

    name: str
    of: Entity
    axes: tuple[tuple[Variable, str, int], ...]

    @property
    def shorter(self) -> _Wish | None:
        """The same with one variable less, for a census that does not bear it."""
        if len(self.axes) < 2:
            return None
        if self.name == _NAME_BETWEEN.join(variable.name for variable, _, _ in self.axes):
            kept = self.axes[1:]  # of age and sex, what has fewer codes
        else:
            kept = self.axes[:-1]
        return _Wish("-".join(variable.name for variable, _, _ in kept), self.of, kept)


#: Between the names of the variables of a first table.
_NAME_BETWEEN = "-by-"


def standard_tables(
    census: Census,
    facts: Facts,
    policy: Policy,
    *,
    mean: float,
    crossed: bool,
    most_areas: int | None = None,
    few_small: bool = False,
) -> tuple[TableDesign, ...]:
    """The tables that a census is asked for, by what its variables are.

    Age and sex come first, then every other variable by sex (``crossed``: and by broad age), then
    the variables of households, dwellings and other units by themselves. Each has the finest areas
    at which nearly all of them have cells of at least ``mean`` units on average.

    Args:
        census: The census.
        facts: What was found out about it.
        policy: Which variables and levels are offered, and how fine areas may be beside them.
        mean: The least mean number of units in a cell.
        crossed: Whether variables are also shown by broad age.
        most_areas: The most areas of a table.
        few_small: Whether a table with too many ones and twos for the policy gets coarser areas.
    """
    table_designs = []
    by_entity: dict[Entity, tuple[tuple[AreaLevel, ...], int]] = {}
    # What a policy of the office leaves open between units must not be in a plan that we draft.
    policy = without_ties(policy)
    for wish in _wishes(census.schema, facts, policy, crossed=crossed):
        if wish.of not in by_entity:
            areas = facts.areas if wish.of is facts.of else nested(areas_of(census, wish.of))
            if most_areas is not None:
                areas = tuple(area for area in areas if len(area.units) <= most_areas)
            total = census.tabulate(of=wish.of).held_for("a total")
            by_entity[wish.of] = areas, int(total.count.sum())
        areas, units = by_entity[wish.of]
        table_design = None
        shorter: _Wish | None = wish
        while table_design is None and shorter is not None and units:
            fits = partial(_has_few_small, census, policy) if few_small else None
            table_design = _borne_design(shorter, areas, units, policy, mean, fits)
            shorter = shorter.shorter
        if table_design is not None:
            table_designs.append(table_design)
    return tuple(table_designs)


def _borne_design(
    wish: _Wish,
    areas: Sequence[AreaLevel],
    units: int,
    policy: Policy,
    mean: float,
    fits: Callable[[TableDesign], bool] | None,
) -> TableDesign | None:
    """A table with the finest areas that its cells bear; ``None`` if they bear none at all."""
    cells = math.prod(size for _, _, size in wish.axes)
    borne = _borne(areas, cells, mean, policy)
    whole = [None] if wish.axes and (units - MARGIN) / cells >= mean else []
    for area in (*borne, *whole):
        if not _passes(wish, area, policy):
            continue
        table_design = _design(wish, area, units, cells, policy)
        if fits is None or fits(table_design):
            return replace(table_design, refused=area is None and bool(borne))
    return None


def _has_few_small(census: Census, policy: Policy, table_design: TableDesign) -> bool:
    """Whether a table keeps well within the shares of ones and twos that a policy allows."""
    ones, twos, filled = _small_cells(census, table_design)
    online = policy.online_for(UserRole.PRODUCTION)
    most = 1.0 if online.ones is None else online.ones
    both = 1.0 if online.ones_and_twos is None else online.ones_and_twos
    return ones <= SMALL_PART * most * filled and ones + twos <= SMALL_PART * both * filled


def has_many_small(census: Census, policy: Policy, tables: Sequence[TableDesign]) -> bool:
    """Whether the policy might refuse some table for its ones and twos."""
    return not all(_has_few_small(census, policy, table) for table in tables)


def _small_cells(census: Census, table_design: TableDesign) -> tuple[int, int, int]:
    """How many cells hold one, hold two, and hold anybody, totals aside."""
    axes = [f"{axis}-total" for axis in table_design.table.by]
    counts = census.tabulate(*axes, of=table_design.table.of).values.count
    return (
        int(np.count_nonzero(counts == 1)),
        int(np.count_nonzero(counts == 2)),
        int(np.count_nonzero(counts)),
    )


def small_share(census: Census, tables: Sequence[TableDesign]) -> float | None:
    """The share of ones and twos among the cells of tables that are not empty, totals aside.

    ``None`` if no cell holds anybody.
    """
    cells = [_small_cells(census, table) for table in tables]
    small = sum(ones + twos for ones, twos, _ in cells)
    filled = sum(each for _, _, each in cells)
    return small / filled if filled else None


def _wishes(schema: Schema, facts: Facts, policy: Policy, *, crossed: bool) -> Iterator[_Wish]:
    sex = _axis(facts.sex, FEW_CODES, policy, facts.of)
    age = _axis(facts.age, MOST_CODES, policy, facts.of)
    broad = _axis(facts.age, FEW_CODES, policy, facts.of)
    first = [axis for axis in (age, sex) if axis is not None]
    if first:
        yield _Wish(_NAME_BETWEEN.join(axis[0].name for axis in first), facts.of, tuple(first))
    elif facts.areas:
        yield _Wish(f"{facts.of.plural}-by-area", facts.of, ())
    basic = {variable.name for variable in (facts.sex, facts.age) if variable is not None}
    for variable in facts.variables:
        own = _axis(variable, MOST_CODES, policy, facts.of)
        if own is None or variable.entity is not facts.of or variable.name in basic:
            continue
        beside = [axis for axis in (sex, broad if crossed else None) if axis is not None]
        name = "-".join([variable.name, *(axis[0].name for axis in beside)])
        yield _Wish(name, facts.of, (own, *beside))
    for kind in (entity.entity for entity in schema.entities):
        if kind is facts.of:
            continue
        places = main_areas(schema, kind)
        for variable in schema.usable(kind):
            own = _axis(variable, MOST_CODES, policy, kind)
            if own is not None and variable.entity is kind and variable not in places:
                yield _Wish(f"{kind.plural}-{variable.name}", kind, (own,))


def _axis(
    variable: Variable | None, most: int, policy: Policy, of: Entity
) -> tuple[Variable, str, int] | None:
    """A variable at the finest level with at most so many codes that the policy offers."""
    if variable is None or not policy.counts(of):
        return None
    if not policy.rule_of(variable.name).offered_for(of):
        return None
    allowed = policy.allowed_levels(variable)
    if not allowed:
        return None
    wanted = level_up_to(variable, most)
    level = next((level for level in allowed if level.name == wanted.name), None)
    if level is None:
        level = next((level for level in allowed if len(level.codes) <= most), allowed[-1])
    return variable, axis_of(variable, level), len(level.codes)


def _borne(areas: Sequence[AreaLevel], cells: int, mean: float, policy: Policy) -> list[AreaLevel]:
    """The levels with several areas of which nearly all bear a table, finest first."""
    borne = []
    for area in areas:
        offered = _offered(area, policy)
        withheld = 1 - len(offered.filled) / max(len(area.filled), 1)
        bears = offered.share_with(cells, mean) >= 1 - SPARSE_AREAS
        largest = max(offered.filled, default=0) - MARGIN
        if (
            len(offered.units) > 1
            and bears
            and withheld <= MOST_WITHHELD
            and largest >= mean * cells
        ):
            borne.append(area)
    return borne


def _offered(area: AreaLevel, policy: Policy) -> AreaLevel:
    """A level with those of its areas that a policy offers."""
    hidden = {
        code
        for not_offered in policy.decided.not_offered
        if not_offered.at.variable == area.variable.name
        and policy.level(not_offered.at).name == area.level.name
        for code in not_offered.codes
    }
    sizes = zip(area.level.codes, area.units, strict=True)
    return replace(area, units=tuple(size for code, size in sizes if code.code not in hidden))


def _passes(wish: _Wish, area: AreaLevel | None, policy: Policy) -> bool:
    """Whether the policy lets the office make the table."""
    by = [axis for _, axis, _ in wish.axes]
    axes = by if area is None else [area.axis, *by]
    spec = TableSpec.build(policy.schema, axes, of=wish.of)
    return passes(policy, spec, UserRole.PRODUCTION)


def _design(
    wish: _Wish, area: AreaLevel | None, units: int, cells: int, policy: Policy
) -> TableDesign:
    by = tuple(axis for _, axis, _ in wish.axes)
    rows = (area.axis,) if area is not None else by[:1]
    columns = by if area is not None else by[1:]
    many = cells if area is None else cells * max(len(area.filled), 1)
    table = PlannedTable(
        name=wish.name,
        title=_title(wish, area, policy),
        rows=rows,
        columns=columns,
        of=wish.of,
    )
    return TableDesign(table, area, units / many)


def _title(wish: _Wish, area: AreaLevel | None, policy: Policy) -> Text:
    """What the table shows, in every language of the census."""
    areas = [] if area is None else [area.axis]
    spec = TableSpec.build(policy.schema, areas, of=wish.of, measure=policy.answers)
    texts = {}
    for language in policy.schema.census.languages:
        names = [variable_heading(variable, language) for variable, _, _ in wish.axes]
        names += [axis_heading(axis, language) for axis in spec.axes]
        texts[language] = layer_heading(spec, names, language)
    return Text.of(texts)
