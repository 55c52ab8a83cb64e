"""The last pass: no closed cell can be opened by itself; the default closes the fewest."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import CellsElsewhere
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.testing.island import island
from tests.methods.suppression.attack import Reader, World, demands, exposed, needless
from tests.model.linked.test_linked import AXES, CONDITIONS

Mask = npt.NDArray[np.bool_]
BY = ("area", "sex", "age@class")


def random_tables(seed: int) -> LinkedCubes:
    """One to three tables of a small island, of all people or of some."""
    draw = random.Random(seed)
    census = island(draw.choice((20, 30, 40, 60)), seed=seed)
    specs: list[TableSpec] = []
    for _ in range(draw.randint(1, 3)):
        names = draw.sample(sorted(AXES), draw.randint(1, 3))
        universe = draw.choice((None, *CONDITIONS))
        specs.append(census.spec(*(draw.choice(AXES[name]) for name in names), universe=universe))
    return count_linked(census, specs)


def closed_by(linked: LinkedCubes, method: Suppression) -> Mask:
    flags = method.publish_linked(linked).flags
    assert flags is not None
    return np.asarray(flags > 0)


def primary_of(linked: LinkedCubes) -> Mask:
    return np.asarray((linked.counts > 0) & (linked.counts < 3) & linked.tables.published)


def told(linked: LinkedCubes, closed: Mask) -> int:
    """How many closed cells follow from open ones, by linear programs."""
    values = np.where(closed, 0, linked.counts)
    return int(audit_cells(linked.tables.equations, values, closed).disclosed.sum())


@pytest.mark.parametrize("seed", [0, 41, 59])
@pytest.mark.parametrize("engine", ["fewest", "elimination"])
def test_nothing_is_exposed_and_nothing_is_closed_for_nothing(engine: str, seed: int) -> None:
    linked = random_tables(seed)
    closed, primary = closed_by(linked, Suppression(3, secondary=engine)), primary_of(linked)
    assert exposed(linked, closed, primary) == []
    assert needless(linked, closed, primary) == []


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1_000, 1_300))
def test_hundreds_of_islands(seed: int) -> None:
    test_nothing_is_exposed_and_nothing_is_closed_for_nothing("fewest", seed)


@pytest.mark.parametrize(("by", "people", "seed"), [(BY, 200, 0), (BY, 400, 8)])
def test_a_fresh_table_has_no_closed_cell_that_can_be_computed(
    by: tuple[str, ...], people: int, seed: int
) -> None:
    census = island(people, seed=seed)
    linked = count_linked(census, [census.spec(*by)])
    assert told(linked, closed_by(linked, Suppression(3))) == 0


def test_the_default_closes_no_more_than_the_engines_that_can_be_named() -> None:
    census = island(200, seed=0)
    linked = count_linked(census, [census.spec(*BY)])
    number = {
        engine: int(closed_by(linked, Suppression(3, secondary=engine)).sum())
        for engine in ("fewest", "elimination", "modular")
    }
    assert number["fewest"] <= min(number.values())
    (remark,) = Suppression(3).publish_linked(linked).remarks
    assert "closed by elimination." in remark or "closed by the modular engine." in remark


@pytest.mark.parametrize("engine", ["modular", "optimal"])
def test_no_cell_that_engines_with_intervals_close_can_be_opened_by_itself(engine: str) -> None:
    """Small counts have to reach one and three, for those as well who are alone in a cell."""
    linked = count_linked(island(40, seed=3), [island(40, seed=3).spec("area", "age@class")])
    method = Suppression(3, secondary=engine, solver="highs", work=5)
    closed, primary, world = closed_by(linked, method), primary_of(linked), World(linked)

    def holds(closed: Mask) -> bool:
        reader = Reader(world, closed)
        return all(
            reader.can_be(cell, 3, np.inf, inside) and reader.can_be(cell, -np.inf, 1, inside)
            for cell, inside in demands(world, closed, primary)
        )

    assert holds(closed)
    for cell in np.flatnonzero(closed & ~primary).tolist():
        fewer = closed.copy()
        fewer[cell] = False
        assert not holds(fewer)


def test_cells_that_were_closed_before_are_not_told_by_a_finer_table() -> None:
    """They are not primary any more, and parts of them that are shown would add up to them."""
    census = island(100)
    first = Suppression(3).protect(census.tabulate("area", "age@class"))
    table = first.table.held_for("a test")
    assert table.flags is not None
    before = CellsElsewhere.of([ProductTable.of("before", table, closing=Closing.SUMS)])
    linked = count_linked(census, [census.spec("area", "age@class", "sex")])
    for engine in ("fewest", "elimination"):
        closed = closed_by(linked, Suppression(1, secondary=engine, earlier=before))
        assert told(linked, closed) == 0
