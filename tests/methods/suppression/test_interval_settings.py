"""Suppression with intervals as a method: its settings, linked tables, series, audits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.suppression import combinations, protected as protection
from sdcensus.methods.suppression.interval_settings import INTERVAL_PARAMETERS
from sdcensus.methods.suppression.intervals import requirements
from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.elsewhere import CellsElsewhere
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.solvers.audit.linked import audit_linked
from sdcensus.testing.island import island
from tests.methods.suppression.tables import EXAMPLE, cube_of
from tests.methods.suppression.test_method import closed_of, held
from tests.model.linked.test_linked import linked_specs

ISLAND = island(60)
LARGE = island(400)
CUBE = island(90, seed=0).tabulate("area", "age@age+class").held_for("a test")
ENGINES = ("optimal", "modular")


def flags_by(cube: Any = CUBE, **said: Any) -> npt.NDArray[np.uint8]:
    flags = held(Suppression(**said).protect(cube)).flags
    return np.zeros(cube.shape, dtype=np.uint8) if flags is None else flags


def test_the_example_of_the_literature_by_the_method() -> None:
    method = Suppression(9, secondary="optimal", lower_protection=5, upper_protection=5)
    cube = cube_of(EXAMPLE)
    protected = method.protect(cube)
    flags = held(protected).flags
    assert flags is not None
    assert sorted(cube.count[flags == Mark.WITHHELD].tolist()) == [8, 12, 17, 22]
    told = " ".join(protected.audit.remarks)
    assert "Cost of closed cells: 51, the best, proven." in told
    assert "1 primary and 3 secondary cells are closed." in told
    assert "audited" in told


#: Something said, and what it is compared with: the engine alone, if nothing stands there.
SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"upper_protection": 12}, {}),
    ({"percent_protection": 900}, {}),
    ({"width": 12}, {}),
    ({"zeros": "protect"}, {}),
    ({"minimum": 2}, {}),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("said", "beside"), SETTINGS, ids=lambda said: " ".join(said) or "-")
def test_every_setting_changes_what_is_closed(
    said: dict[str, Any], beside: dict[str, Any], engine: str
) -> None:
    with_it = flags_by(secondary=engine, work=3, **said)
    assert (with_it != flags_by(secondary=engine, work=3, **beside)).any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lower_protection_changes_what_is_closed(engine: str) -> None:
    cube = island(300, seed=0).tabulate("area@district", "age@age+class").held_for("a test")
    said = {"secondary": engine, "minimum": 20, "work": 3}
    assert (flags_by(cube, lower_protection=1, **said) != flags_by(cube, **said)).any()


@pytest.mark.parametrize("engine", ENGINES)
def test_those_who_are_alone_change_what_is_closed(engine: str) -> None:
    cube = island(90, seed=0).tabulate("area", "married", "age@class").held_for("a test")
    said = {"secondary": engine, "work": 3}
    assert (flags_by(cube, singles="none", **said) != flags_by(cube, **said)).any()


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_known_beforehand_changes_what_is_closed(engine: str) -> None:
    """Four small counts protect each other, until everybody knows that a 6 is not a 1."""
    cube = cube_of([[10, 6, 40], [6, 10, 40], [40, 40, 40]])
    said = {"secondary": engine, "minimum": 11, "lower_protection": 1, "upper_protection": 1}
    said["percent_protection"] = 50
    assert int(flags_by(cube, **said).astype(bool).sum()) == 4
    assert int(flags_by(cube, known_within=60, **said).astype(bool).sum()) > 4


def test_no_setting_is_without_a_test() -> None:
    tested = {name for said, _ in SETTINGS for name in said}
    tested |= {"lower_protection", "known_within", "work", "seconds", "gap"}
    assert {parameter.name for parameter in INTERVAL_PARAMETERS} <= tested


def test_limits_change_what_is_reached() -> None:
    """By work, by the clock and by a gap; each is told."""
    cube = LARGE.tabulate("area", "age@age+class").held_for("a test")
    told = {}
    for name, said in {
        "best": {"work": 20},
        "work": {"work": 1e-6},
        "seconds": {"seconds": 1e-6},
        "gap": {"gap": 0.9},
    }.items():
        audit = Suppression(6, secondary="optimal", singles="none", **said).protect(cube).audit  # type: ignore[arg-type]
        told[name] = audit.remarks[0]
        assert audit.repeatable is (name != "seconds")
    assert "proven" in told["best"]
    assert "within the limit" in told["work"]
    assert "clock" in told["seconds"]
    assert "as near as was asked for" in told["gap"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"lower_protection": 3}, "does not use lower_protection"),
        ({"upper_protection": 3}, "does not use upper_protection"),
        ({"percent_protection": 3}, "does not use percent_protection"),
        ({"known_within": 3}, "does not use known_within"),
        ({"work": 3}, "does not use work"),
        ({"seconds": 3}, "does not use seconds"),
        ({"gap": 0.1}, "does not use gap"),
        ({"gap": 0.1, "secondary": "modular"}, "does not use gap"),
        ({"order": "totals-first", "secondary": "optimal"}, "does not use order"),
        ({"order": "totals-first", "secondary": "modular"}, "does not use order"),
        ({"singles": "any-sum", "secondary": "optimal"}, "any-sum"),
        ({"lower_protection": 0, "secondary": "optimal"}, "1 or more"),
        ({"known_within": 5_000, "secondary": "optimal"}, "at most 1,000"),
        ({"work": 0, "secondary": "optimal"}, "above 0"),
        ({"gap": 1.0, "secondary": "optimal"}, "below 1"),
    ],
    ids=str,
)
def test_a_setting_that_an_engine_does_not_use_is_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(SpecError, match=why):
        Suppression(**said)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=4, deadline=None)
@given(axes=st.permutations(("area@district", "sex", "age@class")))
def test_the_order_of_axes_does_not_matter(engine: str, axes: list[str]) -> None:
    names = ("area@district", "sex", "age@class")
    island_of_few = island(90)
    first = flags_by(island_of_few.tabulate(*names).held_for("a test"), secondary=engine)
    other = flags_by(island_of_few.tabulate(*axes).held_for("a test"), secondary=engine)
    turn = [names.index(axis) for axis in axes]
    assert first.any()
    assert (first.transpose(turn) == other).all()


@settings(max_examples=10, deadline=None)
@given(linked_specs(), st.sampled_from(ENGINES))
def test_linked_tables_are_protected_against_what_they_tell_together(
    specs: list[TableSpec], engine: str
) -> None:
    """Intervals over all combinations of codes, which are narrower than those of sums."""
    linked = count_linked(ISLAND, specs)
    counts, tables = linked.counts, linked.tables
    method = Suppression(3, secondary=engine, work=2, singles="none")
    closed = closed_of(linked, method)
    problem, _ = method.problem(linked)
    asked = requirements(counts, problem.primary, least=problem.least)
    primary, least = problem.primary, problem.least
    audit = audit_linked(tables, np.where(closed, 0, counts), closed, least=least, atoms=True)
    # What is known of a cell with everything closed that holds somebody nothing can hide.
    filled = (counts > 0) & tables.published
    known = audit_linked(tables, np.where(filled, 0, counts), filled, least=least, atoms=True)
    assert closed[primary].all()
    assert not closed[(counts == 0) & tables.published].any()
    assert (audit.lower <= np.maximum(counts - asked.lower, known.lower))[primary].all()
    assert (audit.upper >= counts + asked.upper)[primary].all()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", [6, 9], ids=["somebody alone", "everybody"])
def test_what_is_known_with_everything_closed_is_no_reason_to_refuse(
    seed: int, engine: str
) -> None:
    """Zeros of three tables say together that a cell is not smaller than it is."""
    few = island(15, seed=seed)
    axes = (("area@district", "married"), ("area@district", "age@class"), ("married", "age@class"))
    linked = count_linked(few, [few.spec(*names) for names in axes])
    method = Suppression(3, secondary=engine, work=2)
    problem, _ = method.problem(linked)
    assert closed_of(linked, method)[problem.primary].all()


def test_too_many_combinations_are_said_to_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = (("area@district", "sex"), ("area@district", "married"), ("sex", "married"))
    linked = count_linked(ISLAND, [ISLAND.spec(*names) for names in axes])
    method = Suppression(6, secondary="modular")
    assert "combinations" not in " ".join(method.publish_linked(linked).remarks)
    monkeypatch.setattr(combinations, "MOST_TOGETHER", 10)
    assert "too many combinations" in " ".join(method.publish_linked(linked).remarks)


# -- series ----------------------------------------------------------------------------------------

SERIES = LARGE.tabulate("area@district", "married").held_for("a test")


def earlier_of(flags: npt.NDArray[np.uint8], cube: Cube = SERIES) -> CellsElsewhere:
    table = Table(cube.spec, np.where(flags, 0, cube.count), flags)
    return CellsElsewhere.of([ProductTable.of("before", table, closing=Closing.SUMS)])


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_closed_before_stay_closed_and_open_ones_open(engine: str) -> None:
    first = flags_by(SERIES, minimum=30, secondary=engine)
    assert first.any()
    before = earlier_of(first)
    again = flags_by(SERIES, minimum=1, secondary=engine, earlier=before)
    assert (again == first).all()
    with pytest.raises(SpecError, match="area = "):
        Suppression(1_000, secondary=engine, earlier=before).protect(SERIES)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cell_closed_before_cannot_be_computed_either(engine: str) -> None:
    """It may have been primary there: nothing but it was closed, and now others are with it."""
    flags = np.zeros(SERIES.shape, dtype=np.uint8)
    flags[0, 0] = Mark.WITHHELD
    before = earlier_of(flags)
    with pytest.raises(SpecError, match="follow from cells that must stay open"):
        Suppression(1, secondary=engine, earlier=before).protect(SERIES)
    method = Suppression(1, secondary=engine, earlier=before, contradictions="close")
    protected = method.protect(SERIES)
    again = held(protected).flags
    assert again is not None
    assert (again != 0).sum() == 4
    assert "Open before and closed now, to protect others" in " ".join(protected.audit.remarks)


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_cells_are_closed_for_others_where_that_is_asked_for(engine: str) -> None:
    """For a cell that was closed before; empty cells cost least."""
    cube = cube_of([[5, 0, 9], [0, 7, 9], [20, 20, 20]])
    flags = np.zeros(cube.shape, dtype=np.uint8)
    flags[0, 0] = Mark.WITHHELD
    said = {"secondary": engine, "minimum": 1, "contradictions": "close"}
    said["earlier"] = earlier_of(flags, cube)
    shown = flags_by(cube, **said)
    assert np.argwhere(shown).tolist() == [[0, 0], [0, 2], [2, 0], [2, 2]]
    candidates = flags_by(cube, zeros="candidates", **said)
    assert np.argwhere(candidates).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


# -- audits and odd tables -------------------------------------------------------------------------


def test_an_audit_that_says_otherwise_stops_everything(monkeypatch: pytest.MonkeyPatch) -> None:

    def narrower(*given: Any, **said: Any) -> Any:
        return audit_cells(*given, **{**said, "upper": np.minimum(said["upper"], said["solution"])})

    monkeypatch.setattr(protection, "audit_cells", narrower)
    with pytest.raises(SpecError, match="Nothing is published"):
        Suppression(3, secondary="modular").protect(CUBE)


def test_very_many_primary_cells_are_not_audited_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protection, "MOST_AUDITED", 2)
    told = Suppression(3, secondary="modular").protect(CUBE).audit.remarks
    assert "not audited again" in " ".join(told)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("axes", [(), ("sex",), ("sex-total",), ("area@district-total", "sex")])
def test_odd_tables(axes: tuple[str, ...], engine: str) -> None:
    cube = ISLAND.tabulate(*axes).held_for("a test")
    for minimum in (1, 3, 10_000):
        flags = flags_by(cube, minimum=minimum, secondary=engine)
        assert (flags[(cube.count > 0) & (cube.count < minimum)] != 0).all()
    empty = island(0).tabulate(*axes).held_for("a test")
    assert not flags_by(empty, secondary=engine).any()
    assert flags_by(empty, secondary=engine, zeros="protect").all()


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_parts_of_an_empty_cell_do_not_tell_of_it(engine: str) -> None:
    """Children are not married: the class of age is closed for its group, and ages with it."""
    cube = island(90, seed=0).tabulate("married", "age@age+class").held_for("a test")
    method = Suppression(1, secondary=engine, group=1, group_axes=("married",), singles="none")
    flags = held(method.protect(cube)).flags
    assert flags is not None
    assert (flags != 0)[cube.count == 0].any()
