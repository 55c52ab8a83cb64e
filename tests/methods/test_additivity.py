"""Additivity: the smallest change after which a published table adds up."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.exchanges import by_exchange, distance, weights
from sdcensus.methods.nearest_additive import by_program
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.pipeline import Pipeline
from sdcensus.model.cube.constraints import adds_up, interior, is_interior, with_totals
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Table
from sdcensus.solvers.solve import Solver
from sdcensus.testing.island import SECRET, island_cube
from tests.methods.nearly_additive import perturbed, spec_of, tables, variable

Int64 = npt.NDArray[np.int64]
AREA = variable("area", 12, (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3))
AGE = variable("age", 6, (0, 0, 0, 1, 1, 1), (0, 1, 0, 1, 0, 1))
WORK, SEX = variable("work", 5), variable("sex", 2)
EVERYTHING = (AREA, AGE, WORK, SEX)

MODES = pytest.mark.parametrize("mode", ["auto", "fast"])


def blocked_in(values: Int64, blocked: int) -> bool:
    return bool(((values > 0) & (values <= blocked)).any())


@MODES
@given(table=tables())
def test_additive_with_every_hierarchy(mode: str, table: Table) -> None:
    done = Additivity(mode=mode).apply(table)
    assert adds_up(done.spec, done.published)
    assert done.spec is table.spec


@MODES
@given(table=tables())
def test_zeros_kept_inside_and_never_negative(mode: str, table: Table) -> None:
    done = Additivity(mode=mode).apply(table)
    inside = interior(table.spec)
    assert not done.published[inside][table.published[inside] == 0].any()
    assert done.published.min() >= 0


@MODES
@given(table=tables(), blocked=st.integers(1, 4))
def test_blocked_counts_never_appear_in_cells_or_totals(
    mode: str, table: Table, blocked: int
) -> None:
    done = Additivity(blocked, mode=mode).apply(table)
    assert not blocked_in(done.published, blocked)
    assert adds_up(done.spec, done.published)


@given(tables(most_axes=2, most_codes=2, largest=4, noise=1), st.integers(0, 2))
def test_exact_is_the_nearest_of_all_tables(table: Table, blocked: int) -> None:
    """Compared with trying all changes of up to three units in each cell."""
    done = Additivity(blocked, mode="exact").apply(table)
    best = nearest_by_trying(table, blocked)
    assert distance(table.spec, done.published, table.published) == best


def nearest_by_trying(table: Table, blocked: int) -> int:
    spec = table.spec
    inner = np.asarray(table.published[interior(spec)])
    cells = [range(max(0, one - 3), one + 4) if one else [0] for one in inner.ravel().tolist()]
    best = None
    for values in itertools.product(*cells):
        tried = np.array(values, dtype=np.int64).reshape(spec.base_shape)
        if not blocked_in(tried, blocked):
            far = distance(spec, with_totals(spec, tried), table.published)
            best = far if best is None else min(best, far)
    assert best is not None
    return best


@given(tables(), st.sampled_from([0, 0, 2]))
def test_fast_is_never_nearer_than_exact(table: Table, blocked: int) -> None:
    exact = Additivity(blocked, mode="exact").apply(table)
    fast = Additivity(blocked, mode="fast").apply(table)
    spec, published = table.spec, table.published
    assert distance(spec, exact.published, published) <= distance(spec, fast.published, published)


SMALL = [
    ("area", "work"),
    ("area@area+area_0", "work"),
    ("area@area+area_0", "age@age+age_0+age_1"),
    ("work", "sex", "age"),
    ("area@area+area_0", "work", "sex"),
]


def ratios(by: tuple[str, ...], *, blocked: int) -> list[float]:
    spec = spec_of(EVERYTHING, by)
    found = []
    for seed in range(6):
        table = perturbed(spec, seed=seed, blocked=blocked).published
        exact = by_program(spec, table, blocked=blocked, solver=Solver.HIGHS, steps=2_000)
        assert exact is not None
        fast = by_exchange(spec, table, blocked=blocked)
        found.append(distance(spec, fast, table) / distance(spec, exact, table))
    return found


@pytest.mark.parametrize("by", SMALL, ids=str)
def test_fast_is_close_to_exact(by: tuple[str, ...]) -> None:
    """What the documentation says: at most 3 % farther, and nothing for a simple two-way table."""
    found = ratios(by, blocked=0)
    assert max(found) <= 1.03
    if by == ("area", "work"):
        assert max(found) == 1


@pytest.mark.parametrize("by", SMALL[:2], ids=str)
def test_fast_is_close_to_exact_with_blocked_counts(by: tuple[str, ...]) -> None:
    found = ratios(by, blocked=2)
    assert max(found) <= 1.11


def test_a_table_that_adds_up_is_left_alone() -> None:
    spec = spec_of(EVERYTHING, ["area@area+area_0", "sex"])
    whole = Table(spec, with_totals(spec, np.arange(24).reshape(12, 2)))
    for mode in ("auto", "fast", "exact"):
        assert Additivity(mode=mode).apply(whole) is whole
    assert not blocked_in(Additivity(2).apply(whole).published, 2)


@pytest.mark.parametrize(("mode", "blocked"), [("exact", 0), ("fast", 0), ("fast", 2)])
def test_the_order_of_axes_and_codes_changes_nothing(mode: str, blocked: int) -> None:
    table = perturbed(spec_of(EVERYTHING, ["area@area+area_0", "sex", "age"]), seed=3)
    turned = spec_of(EVERYTHING, ["age", "area@area+area_0", "sex"])
    other = Table(turned, table.published.transpose(2, 0, 1).copy())
    done = Additivity(blocked, mode=mode).apply(table).published
    again = Additivity(blocked, mode=mode).apply(other).published
    assert (done.transpose(2, 0, 1) == again).all()

    # The same table with districts and ages listed, and the level called, in another way.
    district = (1, 1, 1, 1, 0, 0, 0, 0, 3, 3, 3, 2)
    listed = spec_of([variable("area", 12, district), AGE, SEX], ["area@area+area_0", "sex", "age"])
    order = [*range(12), 13, 12, 15, 14, 16]
    third = Additivity(blocked, mode=mode).apply(Table(listed, table.published[order]))
    assert (third.published == done[order]).all()


@given(tables(), st.sampled_from([0, 0, 1, 2]))
def test_every_solver_finds_the_same_table(table: Table, blocked: int) -> None:
    pytest.importorskip("ortools")
    one = Additivity(blocked, mode="exact", solver="highs").apply(table)
    other = Additivity(blocked, mode="exact", solver="cp-sat").apply(table)
    assert (one.published == other.published).all()


@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_changes_are_spread_over_cells(mode: str) -> None:
    spec = spec_of([variable("area", 12)], ["area"])
    values = with_totals(spec, np.full(12, 40)).copy()
    values[-1] += 9
    done = Additivity(mode=mode).apply(Table(spec, values)).published
    assert done[-1] == values[-1]
    assert sorted((done - values)[:-1].tolist()) == [0] * 3 + [1] * 9


def test_totals_weigh_more_the_more_axes_they_sum() -> None:
    spec = spec_of(EVERYTHING, ["area@area+area_0", "sex"])
    found = weights(spec)
    assert (found[is_interior(spec)] == 1).all()
    assert found[-1, -1] == found[12, -1] == 4
    assert found[12, 0] == found[0, -1] == 2


def test_a_worked_example() -> None:
    """The one of the documentation."""
    spec = spec_of([variable("parish", 3), SEX], ["parish", "sex"])
    published = np.array([[5, 7, 11], [0, 3, 4], [8, 9, 17], [14, 18, 33]])
    done = Additivity().apply(Table(spec, published)).published
    assert done.tolist() == EXAMPLE
    assert distance(spec, done, published) == 7


EXAMPLE = [[5, 6, 11], [0, 4, 4], [9, 9, 18], [14, 19, 33]]


def test_a_large_table_takes_the_fast_way_and_stays_near() -> None:
    area = variable("area", 150, [at // 10 for at in range(150)])
    spec = spec_of([area, AGE, WORK], ["area@area+area_0", "age", "work"])
    table = perturbed(spec, seed=1)
    done = Additivity().apply(table)
    assert adds_up(spec, done.published)
    gaps = np.abs(done.published - table.published)
    assert gaps[interior(spec)].max() <= 8
    assert gaps[-1, -1, -1] <= 3
    start = with_totals(spec, table.published[interior(spec)])
    assert (
        distance(spec, done.published, table.published) < distance(spec, start, table.published) / 4
    )
    assert (done.published == Additivity(mode="fast").apply(table).published).all()


def test_work_that_is_too_much_is_given_up() -> None:
    spec = spec_of(EVERYTHING, ["area@area+area_0", "age", "sex"])
    table = perturbed(spec, seed=2, mean=1)
    found = by_program(spec, table.published, blocked=2, solver=Solver.HIGHS, steps=1)
    assert found is None
    large = spec_of([variable("area", 200), AGE], ["area", "age"])
    with pytest.raises(SpecError, match="up to 1,000 interior cells"):
        Additivity(mode="exact").apply(perturbed(large, seed=0, mean=40))


def test_in_a_pipeline_what_the_method_blocks_stays_blocked() -> None:
    cube = island_cube("area@parish+district", "sex", "age@class", people=90)
    method = CellKey(scheme("CP3(1,2)"), SECRET)
    made = Pipeline(method, Additivity())
    assert made.claims().blocked_counts_never_appear
    table = made.protect(cube).table
    assert isinstance(table, Table)
    assert not blocked_in(table.published, 2)
    assert adds_up(table.spec, table.published)
    assert not table.published[cube.count == 0].any()
    # What was said stands, and then nothing is promised.
    said = Pipeline(method, Additivity(0))
    assert not said.claims().blocked_counts_never_appear


def test_claims_after_a_method_are_those_that_survive() -> None:
    step = Additivity()
    assert set(step.claims().names()) == {
        "zeros_kept",
        "never_negative",
        "additive",
        "for_publication",
    }
    before = CellKey(scheme("CP3"), SECRET).claims()
    after = step.claims_after(before)
    assert (after.additive, after.zeros_kept) == (True, True)
    assert set(before.names()) - set(after.names()) == {
        "consistent",
        "by_definition",
        "unbiased",
        "bounded",
        "distribution",
        "takes_sparse",
    }
    assert not step.claims_after(Claims()).zeros_kept
    assert not step.claims_after(Claims(for_publication=False)).for_publication


def test_consistency_between_tables_is_indeed_lost() -> None:
    method = Pipeline(CellKey(scheme("CP3"), SECRET), Additivity())
    alone = method.protect(island_cube("area")).table
    by_sex = method.protect(island_cube("area", "sex", "married")).table
    assert isinstance(alone, Table)
    assert isinstance(by_sex, Table)
    areas = [f"P{at}" for at in range(7)]
    assert [alone.value(area=area) for area in areas] != [by_sex.value(area=area) for area in areas]


@given(tables(most_axes=1))
def test_one_axis_and_none(table: Table) -> None:
    done = Additivity(mode="fast").apply(table)
    exact = Additivity(mode="exact").apply(table)
    spec, values = table.spec, table.published
    assert distance(spec, done.published, values) == distance(spec, exact.published, values)


def test_a_table_of_one_cell_only_avoids_blocked_counts() -> None:
    spec = spec_of([SEX], [])
    assert Additivity().apply(Table(spec, np.array(5))).published == 5
    for mode in ("exact", "fast"):
        assert Additivity(3, mode=mode).apply(Table(spec, np.array(3))).published == 4
        assert Additivity(3, mode=mode).apply(Table(spec, np.array(1))).published == 0


def with_flags() -> Table:
    spec = spec_of([SEX], ["sex"])
    return Table(spec, np.array([0, 4, 9]), np.array([1, 0, 0], dtype=np.uint8))


def of_sex(*values: int) -> Table:
    return Table(spec_of([SEX], ["sex"]), np.array(values))


def not_nested() -> Table:
    spec = spec_of([AGE], ["age@age_0+age_1"])
    return Table(spec, np.zeros(spec.shape, dtype=np.int64))


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (with_flags(), "before cells are withheld"),
        (of_sex(-1, 4, 3), "below 0"),
        (of_sex(4, 4, 5_000), "too far from the sum"),
        (not_nested(), "do not nest"),
    ],
    ids=["flags", "negative", "far", "levels"],
)
def test_tables_that_cannot_be_made_to_add_up_are_refused(table: Table, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        Additivity().apply(table)


@pytest.mark.parametrize("blocked", [-1, 1.5, "2", True])
def test_parameters_are_checked(blocked: object) -> None:
    with pytest.raises(SpecError, match="whole number"):
        Additivity(blocked)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="Did you mean 'fast'"):
        Additivity(mode="fats")
    with pytest.raises(SpecError, match="Did you mean 'highs'"):
        Additivity(solver="high")


def test_repr_shows_no_parameter() -> None:
    assert "2" not in repr(Additivity(2))
