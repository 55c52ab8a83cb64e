"""The tables of a ready-made programme, for one census: what is counted, how it is delivered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import numpy as np

from sdcensus.errors import SpecError, unknown
from sdcensus.model.plan.mapping import GRID_CELL, NATION, MappedUnit, Mapping, why_uncountable
from sdcensus.model.plan.programme import GEOGRAPHY, Hypercube, Programme
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import restrict
from sdcensus.model.text import Text
from sdcensus.programmes import PROGRAMMES, load_programme
from sdcensus.session.publish.products import (
    Publishable,
    PublishableTable,
    Statistic,
    StatisticsTable,
)

__all__ = ["GRID", "PROGRAMMES", "open_programme", "programme_names", "programme_tables"]

#: How plans call the figures on a grid.
GRID = "grid"
#: Behind the number of a group: all its breakdowns crossed.
ALL = "all"
#: In front of a pattern: leave these tables out.
EXCEPT = "!"
#: The breakdown by cells of the grid.
_GRID_BREAKDOWN = "GEO.G"
_RESIDENCE = Text.of("Place of usual residence")


def open_programme(name: str) -> Programme:
    """A ready-made programme by its name, one of ``PROGRAMMES``."""
    return load_programme(name)


def programme_names(programme: Programme, patterns: Sequence[str]) -> tuple[str, ...]:
    """The tables of a programme that patterns choose, in the order of the programme.

    Args:
        programme: The programme.
        patterns: Names such as ``9.2``, ``grid`` and ``13.all``, or patterns such as ``1.*``; one
            that starts with ``!`` leaves tables out. Without any, all tables are chosen.

    Raises:
        SpecError: A pattern chooses nothing; the nearest names are offered.
    """
    named = [hypercube.name for hypercube in programme.hypercubes] + [GRID] * bool(programme.grid)
    crossed = [group.name for group in programme.groups]
    chosen: set[str] = set()
    left_out: set[str] = set()
    wrong = []
    wanted = [pattern.strip() for pattern in patterns]
    for pattern in (
        wanted if any(not pattern.startswith(EXCEPT) for pattern in wanted) else ["*", *wanted]
    ):
        plain = pattern.removeprefix(EXCEPT).strip()
        among = crossed if plain.endswith(f".{ALL}") else [*named, *crossed * (plain != pattern)]
        matching = {name for name in among if fnmatchcase(name, plain)}
        if not matching:
            known = [f"{group.group}.*" for group in programme.groups] + named + crossed
            wrong.append(unknown(f"table of {programme.name}", plain, known))
        (left_out if plain != pattern else chosen).update(matching)
    if wrong:
        raise SpecError(
            f"{' '.join(dict.fromkeys(wrong))} Write a number such as '9.2', a group such as '1.*',"
            f" '13.{ALL}' for all variables of a group crossed, '{GRID}', or '*' for everything;"
            f" '{EXCEPT}7.*' leaves tables out."
        )
    kept = tuple(name for name in (*named, *crossed) if name in chosen - left_out)
    if not kept:
        raise SpecError(
            f"No table of {programme.name} is left: the patterns leave out all of them."
        )
    return kept


def programme_tables(
    name: str, patterns: Sequence[str], mapping: Mapping, schema: Schema
) -> tuple[Publishable, ...]:
    """The tables of a programme, as they are counted and delivered.

    Args:
        name: The programme, such as ``eu-2021``.
        patterns: Which of its tables; see ``programme_names``.
        mapping: How the census has what the programme asks for.
        schema: The schema of the census.

    Raises:
        SpecError: There are no such tables, or the mapping lacks what they need; all that is
            missing is listed.
    """
    programme = load_programme(name)
    if mapping.programme.name != programme.name:
        raise SpecError(
            f"{mapping.file or 'The mapping'} is for the programme {mapping.programme.name!r}, and"
            f" the tables are those of {programme.name!r}."
        )
    names = programme_names(programme, patterns)
    maker = _Maker(programme, mapping, schema)
    cubes = {hypercube.name: hypercube for hypercube in (*programme.hypercubes, *programme.groups)}
    publishables: list[Publishable] = []
    for table_name in names:
        publishables += maker.grid() if table_name == GRID else maker.hypercube(cubes[table_name])
    maker.raise_if_any()
    return tuple(publishables)


@dataclass(slots=True)
class _Maker:
    """Makes tables; what they lack is collected, and the tables that lack it."""

    programme: Programme
    mapping: Mapping
    schema: Schema
    lacking: dict[str, list[str]] = field(default_factory=dict)
    _variables: dict[str, Variable] = field(default_factory=dict)
    _axes: dict[str, tuple[Axis, DeliveredAxis]] = field(default_factory=dict)

    def raise_if_any(self) -> None:
        """Stop if tables were asked for that the census cannot give."""
        if not self.lacking:
            return
        where = self.mapping.file or "The mapping"
        lines = []
        for what, tables in self.lacking.items():
            shown = ", ".join(tables[:6])
            more = f" and {len(tables) - 6} more" if len(tables) > 6 else ""
            lines.append(f"  {what} Needed by {shown}{more}.")
        several = sorted({table for tables in self.lacking.values() for table in tables})
        example = f'"{EXCEPT}{several[0]}"'
        raise SpecError(
            "\n".join(
                [
                    f"{where} does not have all that the tables of {self.programme.name} need:",
                    *lines,
                    "  Add it, or leave these tables out by patterns that start with"
                    f" '{EXCEPT}', such as {example}.",
                ]
            )
        )

    def _lacks(self, table: str, what: str) -> None:
        self.lacking.setdefault(what, []).append(table)

    # ------------------------------------------------------------------------------ hypercubes

    def hypercube(self, cube: Hypercube) -> tuple[PublishableTable, ...]:
        """A hypercube; nothing, and a note of what is lacking, if it cannot be made."""
        unit = self._unit(cube.unit.name, cube.name)
        breakdowns = [self._choose(dimension, cube.name) for dimension in cube.dimensions]
        chosen = [breakdown for breakdown in breakdowns if breakdown]
        if unit is None or len(chosen) < len(breakdowns):
            return ()
        axes = [self._axis(name) for name in chosen]
        spec = self._spec(unit, cube.name, chosen, [axis for axis, _ in axes])
        if spec is None:
            return ()
        topics = [self._topic(name) for name in chosen]
        title = Text.of(
            f"{cube.unit.label} by {joined([topic[:1].lower() + topic[1:] for topic in topics])}"
        )
        return (
            PublishableTable(
                name=f"{self.programme.name}-{cube.name}",
                title=title,
                spec=spec,
                axes=tuple(shown for _, shown in axes),
                rows=None,
                group=cube.group,
            ),
        )

    def _unit(self, name: str, table: str) -> MappedUnit | None:
        unit = self.mapping.unit(name)
        of = self.programme.unit(name).of if unit is None else unit.of
        if of not in {entity.entity for entity in self.schema.entities}:
            has = joined([entity.entity.plural for entity in self.schema.entities])
            self._lacks(
                table,
                f"[units.{name}]: the census has no {of.plural}, only {has}. If some of these stand"
                f' for {of.plural}, count them: of = "…" and condition = "…".',
            )
            return None
        if unit is None:
            self._lacks(
                table,
                f"[units.{name}] is missing: say which {of.plural} are counted, such as"
                f' condition = "…", or of = "{of.plural}" for all of them.',
            )
        return unit

    def _choose(self, names: tuple[str, ...], table: str) -> str:
        """The one of several breakdowns that the census has; empty if it has none."""
        if names[0].startswith(f"{GEOGRAPHY}."):
            return names[0] if self._has_areas(names[0], table) else ""
        mapped = [name for name in names if self.mapping.breakdown(name) is not None]
        if not mapped:
            self._lacks(table, _missing_text(self.programme, self.mapping, names))
        return mapped[0] if mapped else ""

    def _has_areas(self, name: str, table: str) -> bool:
        if self.mapping.geography is not None:
            return True
        levels = ", ".join(self.programme.area_levels)
        self._lacks(table, f"[geography] is missing: the levels {levels} of the country's areas.")
        return False

    def _topic(self, name: str) -> str:
        if name.startswith(f"{GEOGRAPHY}."):
            return str(_RESIDENCE)
        return str(self.programme.breakdown(name).topic)

    def _spec(
        self, unit: MappedUnit, table: str, breakdowns: Sequence[str], axes: Sequence[Axis]
    ) -> TableSpec | None:
        """What is counted: the unit, inside the population of every breakdown."""
        shown: dict[str, str] = {}
        universe = unit.universe
        for name, axis in zip(breakdowns, axes, strict=True):
            variable = axis.variable
            if shown.setdefault(variable.name, name) != name:
                self._lacks(
                    table,
                    f"{shown[variable.name]} and {name} are both made from {variable.name!r}, and a"
                    " table needs a variable for each: put a copy of it into the census.",
                )
                return None
            problem = why_uncountable(unit.of, variable, self.schema)
            if problem:
                self._lacks(table, f"{name}: {problem}")
                return None
            by_area = name.startswith(f"{GEOGRAPHY}.")
            mapped_breakdown = None if by_area else self.mapping.breakdown(name)
            if mapped_breakdown is not None and not mapped_breakdown.inside.all():
                universe = restrict(
                    universe, self._variable(mapped_breakdown.variable), mapped_breakdown.inside
                )
        return TableSpec(
            of=unit.of,
            axes=tuple(axes),
            universe=universe,
            name=f"{self.programme.name}-{table}",
        )

    # ------------------------------------------------------------------------------ axes

    def _variable(self, variable: Variable) -> Variable:
        if variable.name not in self._variables:
            self._variables[variable.name] = self.mapping.variable(variable)
        return self._variables[variable.name]

    def _axis(self, name: str) -> tuple[Axis, DeliveredAxis]:
        if name not in self._axes:
            areas = self.programme.levels_of(name)
            self._axes[name] = self._breakdown(name) if areas is None else self._areas(name, areas)
        return self._axes[name]

    def _breakdown(self, name: str) -> tuple[Axis, DeliveredAxis]:
        """An axis by a breakdown: each of its codes is delivered once, the total first."""
        mapped = self.mapping.breakdown(name)
        assert mapped is not None  # tables that lack it are not made
        variable = self._variable(mapped.variable)
        tree = mapped.breakdown
        axis = make_axis(
            variable,
            [variable.level(mapped.level_name(depth)) for depth in range(1, tree.depth + 1)],
            total=True,
        )
        place = _places(axis)
        below = [
            (mapped.level_name(tree.depth_of(code.code)), code.code) for code in tree.codes[1:]
        ]
        shown = [(TOTAL, TOTAL), *below]
        return axis, DeliveredAxis(
            column=name,
            label=tree.topic,
            positions=np.array([place[code] for code in shown], dtype=np.int64),
            codes=tuple(code.code for code in tree.codes),
            labels=tuple(code.label for code in tree.codes),
            levels=tuple(level for level, _ in shown),
            parents=tuple(NO_PARENT if parent < 0 else parent for parent in tree.parents),
            total=0,
        )

    def _areas(self, name: str, names: tuple[str, ...]) -> tuple[Axis, DeliveredAxis]:
        """An axis by areas: the country, then its areas, each behind the one that holds it."""
        geography = self.mapping.geography
        assert geography is not None
        country = self.mapping.country
        variable = self._variable(geography.variable)
        nation = variable.level(NATION)
        stored = dict(geography.levels)
        areas = geography.areas(names, country)
        levels = [variable.level(stored[name]) for name in names if name in stored]
        if levels:
            axis, top = make_axis(variable, levels, total=True), (TOTAL, TOTAL)
        else:  # an axis needs a level
            axis, top = make_axis(variable, [nation], total=False), (NATION, country)
        place = _places(axis)
        at = {country: 0} | {
            breakdown_code.code: number for number, (breakdown_code, _) in enumerate(areas, start=1)
        }
        return axis, DeliveredAxis(
            column=name,
            label=_RESIDENCE,
            positions=np.array(
                [
                    place[top],
                    *(place[stored[level], breakdown_code.code] for breakdown_code, level in areas),
                ],
                dtype=np.int64,
            ),
            codes=(country, *(breakdown_code.code for breakdown_code, _ in areas)),
            labels=(nation.codes[0].label, *(breakdown_code.label for breakdown_code, _ in areas)),
            levels=(TOTAL, *(level.upper() for _, level in areas)),
            parents=(NO_PARENT, *(at[breakdown_code.parent] for breakdown_code, _ in areas)),
            total=0,
            geography=True,
        )

    # ------------------------------------------------------------------------------ grid

    def grid(self) -> tuple[StatisticsTable, ...]:
        """The figures on the grid, without optional ones that the census does not have."""
        grid = self.mapping.grid
        unit = self._unit(self.programme.units[0].name, GRID)
        if grid is None:
            self._lacks(GRID, "[grid] is missing: the variable with the cells of 1 km².")
        if grid is None or unit is None:
            return ()
        axis, areas = self._cells(grid)
        statistics = []
        for grid_statistic in self.programme.grid:
            tree = self.programme.breakdown(grid_statistic.breakdown)
            if grid_statistic.breakdown_code == tree.total.code:
                spec, position = self._spec(unit, GRID, [_GRID_BREAKDOWN], [axis]), 0
            elif self.mapping.breakdown(grid_statistic.breakdown) is None:
                if not grid_statistic.optional:
                    self._choose((grid_statistic.breakdown,), GRID)
                continue
            else:
                other, shown = self._axis(grid_statistic.breakdown)
                spec = self._spec(
                    unit, GRID, [_GRID_BREAKDOWN, grid_statistic.breakdown], [axis, other]
                )
                position = int(shown.positions[shown.codes.index(grid_statistic.breakdown_code)])
            if spec is not None:
                statistics.append(
                    Statistic(
                        code=grid_statistic.code,
                        label=grid_statistic.label,
                        spec=spec,
                        position=position,
                    )
                )
        if not statistics:
            return ()
        return (
            StatisticsTable(
                name=f"{self.programme.name}-{GRID}",
                title=Text.of("Population on a grid of 1 km²"),
                areas=areas,
                statistics=tuple(statistics),
                column="STAT.G",
                label=Text.of("Statistic"),
                populated=self.programme.grid[0].populated,
                group=GRID,
            ),
        )

    def _cells(self, grid: Variable) -> tuple[Axis, DeliveredAxis]:
        """The cells of the grid, and one that is none for those who are in no cell."""
        variable = self._variable(grid)
        level = variable.level(GRID_CELL)
        size = len(level.codes)
        return make_axis(variable, [level], total=False), DeliveredAxis(
            column=_GRID_BREAKDOWN,
            label=Text.of("Grid cell of 1 km²"),
            positions=np.arange(size, dtype=np.int64),
            codes=tuple(code.code for code in level.codes),
            labels=tuple(code.label for code in level.codes),
            levels=(GRID_CELL,) * size,
            parents=(NO_PARENT,) * size,
            geography=True,
        )


def _missing_text(programme: Programme, mapping: Mapping, names: tuple[str, ...]) -> str:
    """That a breakdown is not mapped, and what there is instead."""
    either = " or ".join(names)
    finer = [finer_name for name in names for finer_name in programme.finer(name)]
    text = f"[breakdown.{either}] is missing"
    if finer:
        text += f" (it would also follow from {' or '.join(finer)})"
    coarser = [
        breakdown.breakdown.name
        for breakdown in mapping.breakdowns
        if any(name in programme.finer(breakdown.breakdown.name) for name in names)
    ]
    if coarser:
        text += f"; the mapping has only {' and '.join(coarser)}, which is coarser"
    return f"{text}."


def _places(axis: Axis) -> dict[tuple[str, str], int]:
    return {(code.level, code.code): at for at, code in enumerate(axis.codes)}
