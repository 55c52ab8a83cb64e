"""Controlled rounding: time and proven gap by the number of cells, and one flow against another.

``python -m benchmarks --only controlled-rounding`` makes tables straight from arrays, with many
small counts: two axes, which are networks; three; and a million cells, rounded down the hierarchy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import Line
from sdcensus.methods.controlled_rounding.network import (
    TableNetwork,
    nearest_by_flow,
    network_of,
)
from sdcensus.methods.controlled_rounding.problem import RoundingProblem, RoundingRule
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.methods.linked import LinkedMethod
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.quantities import duration_text
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import SECRET
from sdcensus.testing.printed_tables import printed_cube, printed_spec, printed_variable

TWO_WAY = ((30, 30), (100, 100), (300, 300), (1000, 300))
THREE_WAY = ((10, 10, 10), (20, 20, 20), (40, 40, 40))
#: Areas of the large table by region and province; two sexes, ages by year, twelve groups.
AREAS, REGIONS, PROVINCES = 400, 40, 8
LARGE = (2, 101, 12)


def table(shape: tuple[int, ...], *, mean: float = 9.0, seed: int = 1) -> Cube:
    """A table with many small counts."""
    draw = np.random.default_rng(seed)
    variables = [
        printed_variable(f"v{at}", [f"c{code}" for code in range(size)])
        for at, size in enumerate(shape)
    ]
    return printed_cube(printed_spec(*variables), draw.negative_binomial(1, 1 / (1 + mean), shape))


def areas() -> Variable:
    """Areas in regions, regions in provinces."""

    def codes(prefix: str, size: int) -> tuple[Code, ...]:
        return tuple(Code(f"{prefix}{at}") for at in range(size))

    def level(name: str, size: int) -> Level:
        return Level(name, codes(name[0], size), tuple(at * size // AREAS for at in range(AREAS)))

    return Variable(
        name="area",
        entity=Entity.PERSON,
        codes=codes("a", AREAS),
        leaf_level="area",
        hierarchies=(Hierarchy("areas", (level("region", REGIONS), level("province", PROVINCES))),),
    )


def large_table(*, seed: int = 1) -> Cube:
    """Areas at three levels by sex, age and group: nearly a million cells without any total."""
    variable = areas()
    levels = [variable.level(name) for name in ("area", "region", "province")]
    names = [f"v{at}" for at in range(len(LARGE))]
    others = [
        printed_variable(name, [f"c{code}" for code in range(size)])
        for name, size in zip(names, LARGE, strict=True)
    ]
    spec = TableSpec(
        of=Entity.PERSON,
        axes=(
            make_axis(variable, levels, total=True),
            *(make_axis(other, [other.level()], total=True) for other in others),
        ),
    )
    draw = np.random.default_rng(seed)
    return printed_cube(spec, draw.negative_binomial(1, 0.25, (AREAS, *LARGE)))


def timed(method: LinkedMethod, cube: Cube) -> tuple[float, str]:
    """How long a table takes, and what is proven about it."""
    begun = time.perf_counter()
    remarks = method.protect(cube).audit.remarks
    took = time.perf_counter() - begun
    if isinstance(method, ControlledRandomRounding):
        return took, "unbiased"
    return took, f"gap {remarks[0].partition('at most ')[2].partition(' could')[0] or '0 %'}"


def flows(cube: Cube) -> tuple[float, float]:
    """The seconds that the nearest table takes as a flow of ours, and as one of OR-Tools."""
    from ortools.graph.python import min_cost_flow  # type: ignore[import-untyped]

    linked = LinkedCubes.of_cube(cube)
    problem = RoundingProblem.of(linked, RoundingRule(base=3), hidden_limit=False)
    network = network_of(linked.tables)
    assert isinstance(network, TableNetwork)
    steps: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def ours() -> None:
        nearest = nearest_by_flow(problem, network)
        assert nearest is not None
        steps.append(nearest)

    def theirs() -> None:
        free = np.flatnonzero(problem.high > 0)
        costs = problem.costs(ties=False)
        solver = min_cost_flow.SimpleMinCostFlow()
        solver.add_arcs_with_capacity_and_unit_cost(
            network.tail[free], network.head[free], np.ones(free.size, int), costs.rise[free]
        )
        wanted = network.with_wanted(problem.below).wanted
        solver.set_nodes_supplies(np.arange(wanted.size), -wanted)
        assert solver.solve() == solver.OPTIMAL
        found = np.zeros(problem.size, dtype=np.int64)
        found[free] = solver.flows(np.arange(free.size))
        steps.append(found)

    seconds = tuple(_seconds(work) for work in (ours, theirs))
    assert problem.distance(steps[0]) == problem.distance(steps[1])
    return seconds[0], seconds[1]


def _seconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def measure(*, small: bool = False) -> list[Line]:
    """Time and gap of tables that grow."""
    return list(_lines(small=small))


def _lines(*, small: bool) -> Iterator[Line]:
    nearest, drawn = ControlledRounding(3), ControlledRandomRounding(3, secret=SECRET)
    widened = ControlledRandomRounding(3, secret=SECRET, infeasible="widen")
    for method in (nearest, widened):  # compiled before anything is measured
        for shape in ((3, 3), (3, 3, 3)):
            method.protect(table(shape))
    flows(table((3, 3)))
    for shape in TWO_WAY[:2] if small else TWO_WAY:
        cube = table(shape)
        name = f"{'×'.join(map(str, shape))}: {cube.spec.cells:,} cells"
        for method in (nearest, drawn):
            took, gap = timed(method, cube)
            yield Line(f"{method.name}, {name}", f"{duration_text(took)}, {gap}")
        ours, theirs = flows(cube)
        yield Line(
            f"the flow alone, {name}",
            f"{duration_text(ours)}; {duration_text(theirs)} by OR-Tools",
        )
    for shape in THREE_WAY[:2] if small else THREE_WAY:
        cube = table(shape)
        name = f"{'×'.join(map(str, shape))}: {cube.spec.cells:,} cells"
        for method in (nearest, widened):
            took, gap = timed(method, cube)
            yield Line(f"{method.name}, {name}", f"{duration_text(took)}, {gap}")
    if not small:
        cube = large_table()
        name = f"{AREAS} areas in three levels × 2 × 101 × 12: {cube.spec.cells:,} cells"
        for method in (ControlledRounding(3, infeasible="widen"), widened):
            took, gap = timed(method, cube)
            yield Line(f"{method.name}, {name}", f"{duration_text(took)}, {gap}")
