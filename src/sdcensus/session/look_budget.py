"""The look budget of a policy or of a plan, and the noise that keeps it within a limit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sdcensus.documents.policy import read_policy
from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.design import LARGEST_DEVIATION, design_perturbation
from sdcensus.methods.perturbation.schemes import SCHEMES, STRENGTHS, scheme
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.entity import Entity
from sdcensus.model.menu import Menu
from sdcensus.model.perturbation import Perturbation
from sdcensus.model.perturbation_design import PerturbationDesign
from sdcensus.model.plan import Plan
from sdcensus.model.policy import UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema import Schema
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.variable import Level
from sdcensus.risk.look_budget import (
    LookBudget,
    Looks,
    look_budget,
    look_budget_of_tables,
)
from sdcensus.risk.looks_chance import (
    ALPHA,
    Requirement,
    best_guess,
    edge_probability,
    large_variance,
    margin_exploit,
    recovery,
    required,
)
from sdcensus.risk.looks_data import CellLooks, Collector
from sdcensus.session.census import Census, open_store

__all__ = [
    "LIMIT",
    "CellLooks",
    "LookBudget",
    "Looks",
    "SchemeLooks",
    "budget_of_plan",
    "budget_of_policy",
    "design_for",
    "limit_of",
    "looks_in_data",
    "looks_in_policy",
    "named_variance",
    "needed",
    "opened_plan",
    "planned_specs",
    "schemes_against",
]

#: An intruder shall be wrong at least as often as right.
LIMIT = 0.5
#: Noise with a smaller largest deviation is unpicked by margins too easily to be designed.
SMALLEST_DEVIATION = 3
#: Larger tables are left out when looks are counted in the data: their parts are single records.
LARGEST_TABLE = 5_000_000
MOST_TABLES = 500

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, repr=False)
class SchemeLooks(Confidential):
    """How a named scheme fares against a look budget.

    Attributes:
        scheme: Its name.
        strength: The strength that stands for it, if one does.
        variance: Of large counts.
        alone: The chance to guess a large count from one published value, exactly.
        together: The chance to recover a count from all tables together.
        given_away: The expected number of sums that give all their parts away.
    """

    scheme: str
    strength: str
    variance: float
    alone: float
    together: float
    given_away: float

    def __repr__(self) -> str:
        return f"<SchemeLooks {self.scheme}: confidential>"


def budget_of_policy(
    census: Census,
    policy: str | Path,
    *,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
    own: int = 1,
) -> LookBudget:
    """The look budget of everything that a policy opens to a role."""
    menu = menu_of(read_policy(policy, census.schema), census.schema, of=of, role=role)
    return look_budget(menu, own=own)


def limit_of(census: Census, policy: str | Path | None) -> float:
    """The chance of recovery that a policy allows; the usual one where it says nothing."""
    if policy is None:
        return LIMIT
    return read_policy(policy, census.schema).online.recovery or LIMIT


def opened_plan(path: str | Path) -> tuple[Plan, Census]:
    """A plan that was checked in full, and the census that it is about."""
    from sdcensus.documents.plan import read_plan

    found: list[Census] = []

    def schema_of(store: Path) -> Schema:
        found.append(open_store(store))
        return found[-1].schema

    return read_plan(path, schema_of), found[-1]


def budget_of_plan(
    path: str | Path, census: Census | None = None, *, own: int = 1
) -> tuple[LookBudget, ...]:
    """The look budgets of all tables of a plan, one for each kind of unit.

    Tables of its programme are among them, and those behind shares and indicators, whose counts
    can nearly be read off the published figures.

    Args:
        path: The plan.
        census: The census to check it against; else the one that the plan names.
        own: How many variables the cells have besides the area, at most.
    """
    if census is None:
        plan, found = opened_plan(path)
        schema = found.schema
    else:
        from sdcensus.documents.plan import read_plan

        schema = census.schema
        plan = read_plan(path, lambda _: schema)
    return look_budget_of_tables(planned_specs(plan, schema), own=own)


def planned_specs(plan: Plan, schema: Schema) -> tuple[TableSpec, ...]:
    """Every table that is counted for a plan, once: its own, its programme's, its indicators'."""
    # Here and not above: whoever asks about a policy needs nothing of what publishing needs.
    from sdcensus.session.publishing.resolving import planned_products

    products = planned_products(plan, schema)
    found = {spec.hash(): spec for product in products for spec in product.specs}
    return tuple(found.values())


def looks_in_policy(
    census: Census,
    policy: str | Path,
    axes: Sequence[str],
    *,
    of: str | Entity = Entity.PERSON,
    role: str | UserRole = UserRole.PUBLIC,
    most_tables: int = MOST_TABLES,
    progress: Progress = no_progress,
) -> CellLooks:
    """The looks that a policy gives at cells by these axes, from the census itself."""
    menu = menu_of(read_policy(policy, census.schema), census.schema, of=of, role=role)
    spec = census.spec(*axes, of=of)
    for axis in spec.axes:
        if len(axis.levels) > 1:
            raise SpecError(f"Cells have one level of each variable: {axis.name!r} has several.")
    chosen: dict[str, Level | str] = {axis.variable.name: axis.levels[0] for axis in spec.axes}
    return looks_in_data(census, menu, chosen, most_tables=most_tables, progress=progress)


def named_variance(name: str | None) -> tuple[str, float]:
    """The name of a scheme and its variance for large counts; of medium strength if none."""
    design = scheme(name or STRENGTHS["medium"].scheme)
    return design.name, large_variance(design)


def schemes_against(
    budget: LookBudget, names: Sequence[str] = (), *, looks: float | None = None
) -> tuple[SchemeLooks, ...]:
    """How named schemes fare against a budget; all of them where none is named."""
    count = budget.worst_in_areas.looks if looks is None else looks
    strengths = {one.scheme: one.name for one in STRENGTHS.values()}
    found = []
    for name in names or SCHEMES:
        design = scheme(name)
        variance = large_variance(design)
        found.append(
            SchemeLooks(
                design.name,
                strengths.get(design.name, ""),
                variance,
                best_guess(design),
                recovery(count, variance),
                given_away(budget, design),
            )
        )
    return tuple(found)


def given_away(budget: LookBudget, perturbation: Perturbation) -> float:
    """The expected number of sums that give all their parts away, in all tables together."""
    edge = edge_probability(perturbation)
    return math.fsum(margin_exploit(edge, often, parts) for parts, often in budget.lines)


def needed(budget: LookBudget, limit: float = LIMIT, alpha: float = ALPHA) -> Requirement:
    """What a perturbation needs so that a budget gives counts away at most so often."""
    return required(budget.worst_in_areas.looks, limit, dict(budget.lines), alpha)


def design_for(requirement: Requirement, *, blocked: int = 0) -> PerturbationDesign:
    """The perturbation with the smallest noise and deviation that meets a requirement.

    Args:
        requirement: What it needs.
        blocked: Counts from 1 to this one shall never appear.

    Raises:
        SpecError: No perturbation does: the tables are too many.
    """
    # Upwards to two digits, so that the office can write it down.
    digits = 1 - math.floor(math.log10(requirement.variance))
    variance = math.ceil(round(requirement.variance * 10**digits, 6)) / 10**digits
    if blocked:  # a blocked count has to jump over its neighbours
        variance = max(variance, (blocked + 1) ** 2 // 4 + 0.1)
    smallest = max(
        SMALLEST_DEVIATION, blocked + 1, math.ceil((math.sqrt(12 * variance + 1) - 1) / 2)
    )
    for deviation in range(smallest, LARGEST_DEVIATION + 1):
        if variance < deviation**2:
            design = design_perturbation(deviation, variance, blocked=blocked)
            if requirement.met_by(design):
                return design
    raise SpecError(
        f"No noise with deviations of at most {LARGEST_DEVIATION} withstands that many looks. Open"
        " fewer tables: fewer variables in one table, coarser areas, fewer variables offered."
    )


def looks_in_data(
    census: Census,
    menu: Menu,
    chosen: Mapping[str, Level | str],
    *,
    most_tables: int = MOST_TABLES,
    progress: Progress = no_progress,
) -> CellLooks:
    """The looks at every cell with these variables at these levels, from the census itself.

    Tables are taken in the order of their number of parts, the fewest first, up to a number.

    Args:
        census: The census.
        menu: The tables that may be asked for.
        chosen: The levels of the cells by variable; names will do.
        most_tables: How many tables are counted at most.
        progress: Told how far it is.
    """
    levels = {
        name: menu.variable(name).variable.level(one) if isinstance(one, str) else one
        for name, one in chosen.items()
    }
    if not menu.allows(levels):
        raise SpecError(f"The menu has no table by {', '.join(levels)}, so nobody looks at it.")
    shape = [len(level.codes) for level in levels.values()]
    base = census.tabulate(_spec(census, menu, levels))
    cell, key, count = _parts(base, list(levels.values()), list(levels.values()))
    collector = Collector(math.prod(shape))
    collector.add(cell, key)
    tables, left_out = _tables(menu, levels, most_tables)
    for at, one in enumerate(tables):
        progress("counting tables", at / len(tables))
        cube = census.tabulate(_spec(census, menu, one))
        fine = [one[name] for name in levels]
        collector.add(*_parts(cube, fine, list(levels.values()))[:2])
    counts = np.zeros(math.prod(shape), dtype=np.int64)
    counts[cell] = count
    filled = counts > 0
    title = ", ".join(f"{name}@{level.name}" for name, level in levels.items())
    return CellLooks(title, counts[filled], collector.looks()[filled], 1 + len(tables), left_out)


def _spec(census: Census, menu: Menu, levels: Mapping[str, Level]) -> TableSpec:
    axes = [f"{name}@{level.name}-total" for name, level in levels.items()]
    return census.spec(*axes, of=menu.of)


def _parts(
    cube: Cube | SparseCube, fine: Sequence[Level], coarse: Sequence[Level]
) -> tuple[Int64, npt.NDArray[np.uint64], Int64]:
    """Of every part with records: the cell it lies in (by the first axes), its key, its count."""
    if isinstance(cube, SparseCube):
        block = next(cube.blocks())
        positions = list(block.positions.T)
        keys, counts = block.values.key, block.values.count
    else:
        places = np.flatnonzero(cube.count)
        positions = list(np.unravel_index(places, cube.shape)) if cube.shape else []
        keys, counts = cube.key.reshape(-1)[places], cube.count.reshape(-1)[places]
    cell = np.zeros(counts.size, dtype=np.int64)
    for at, (below, above) in enumerate(zip(fine, coarse, strict=True)):
        parent = np.zeros(len(below.codes), dtype=np.int64)
        parent[below.group_array] = above.group_array
        cell = cell * len(above.codes) + parent[positions[at]]
    return cell, keys.astype(np.uint64), counts


def _tables(
    menu: Menu, levels: Mapping[str, Level], most: int
) -> tuple[list[dict[str, Level]], int | None]:
    """Tables that add up to cells, those with the fewest parts first, and how many are left."""
    found: list[tuple[int, int, dict[str, Level]]] = []
    complete = True
    room = menu.dimensions - len(levels)
    for number in range(room + 1):
        for one in _with_others(menu, levels, number):
            size = math.prod(len(level.codes) for level in one.values())
            complete &= size <= LARGEST_TABLE and len(found) < 20 * most
            if len(found) >= 20 * most:
                break
            if size <= LARGEST_TABLE:
                found.append((size, len(found), one))
        if len(found) >= most:  # more variables make more parts
            complete &= number == room
            break
    found.sort(key=lambda one: one[:2])
    left = max(len(found) - most, 0) if complete else None
    return [one for _, _, one in found[:most]], left


def _with_others(
    menu: Menu, levels: Mapping[str, Level], number: int
) -> Iterator[dict[str, Level]]:
    """Allowed tables with so many more variables, at any level, and finer levels of the cells."""
    own = []
    for name, level in levels.items():
        finer = [one for one in menu.variable(name).levels if one.refines(level)]
        own.append([level, *(one for one in finer if one.name != level.name)])
    others = [one for one in menu.variables if one.variable.name not in levels]
    for refined in itertools.product(*own):
        start = dict(zip(levels, refined, strict=True))
        for variables in itertools.combinations(others, number):
            for chosen in itertools.product(*(one.levels for one in variables)):
                names = [one.variable.name for one in variables]
                table = start | dict(zip(names, chosen, strict=True))
                if (number or start != dict(levels)) and menu.allows(table):
                    yield table
