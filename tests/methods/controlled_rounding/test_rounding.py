"""Controlled rounding: multiples next to the counts, additive, and no table is nearer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.rounding import round_to_nearest
from sdcensus.methods.controlled_rounding.bound import Bound
from sdcensus.methods.controlled_rounding.network import network_of
from sdcensus.methods.controlled_rounding.problem import RoundingProblem, RoundingRule
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding, support_of
from sdcensus.methods.controlled_rounding.sums import every_sum
from sdcensus.model.cube.constraints import adds_up, interior, with_totals
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.published.table import Table
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import island, island_cube
from tests.methods.controlled_rounding.rounding_oracle import Int64, cube_of, least_distance

#: The table of methods.md, section 3.5, without its totals.
TABLE = [[1, 0], [3, 3], [12, 20]]
AXES = st.sampled_from(
    [
        ("area@parish+district", "sex", "age@class"),
        ("sex", "married"),
        ("area", "age@age+class"),
        ("sex-total", "age@class-total"),
        ("age", "married", "sex"),
        ("area@district",),
        (),
    ]
)
#: Levels that do not nest, levels on both axes, tables that share cells.
LINKED = [
    (("age@class+half",),),
    (("age@class+half", "sex"),),
    (("area@parish+district", "age@age+class"),),
    (("area@parish+district", "sex"), ("sex", "age@class+half")),
    (("area", "sex"), ("sex", "married"), ("area@district", "married")),
]


def rounded(cube: Cube, base: int = 3, **said: Any) -> Int64:
    table = ControlledRounding(base, **said).protect(cube).table
    assert isinstance(table, Table)
    return table.published


def distance(cube: Cube, base: int = 3, **said: Any) -> int:
    return int(np.abs(rounded(cube, base, **said) - cube.count).sum())


@pytest.mark.parametrize(
    ("base", "total", "published"),
    [
        (5, 18, [[0, 0, 0], [5, 5, 10], [10, 20, 30], [15, 25, 40]]),
        (3, 6, [[0, 0, 0], [3, 3, 6], [12, 21, 33], [15, 24, 39]]),
    ],
)
def test_the_printed_table_is_rounded_to_the_nearest(
    base: int, total: int, published: list[list[int]]
) -> None:
    cube = cube_of(TABLE)
    assert rounded(cube, base).tolist() == published
    assert distance(cube, base) == total
    # What a handbook prints for it is additive too, but farther.
    printed = np.array([[0, 0, 0], [5, 5, 10], [10, 20, 30], [15, 25, 40]])
    assert np.abs(printed - cube.count).sum() >= distance(cube, 5)


# ---------------------------------------------------------------- what is claimed


@settings(max_examples=20, deadline=None)
@given(AXES, st.sampled_from([2, 3, 5, 10]), st.integers(0, 150))
def test_additive_bounded_zeros_kept_never_negative_blocked_counts_never_appear(
    by: tuple[str, ...], base: int, people: int
) -> None:
    cube = island_cube(*by, people=people)
    try:
        table = rounded(cube, base, effort="fast")
    except SpecError:
        # Tables with more than two axes need not have a rounding.
        assert least_distance(LinkedCubes.of_cube(cube), ControlledRounding(base)) is None
        return
    assert adds_up(cube.spec, table)
    assert (table % base == 0).all()
    assert (np.abs(table - cube.count) < base).all()
    assert (table[cube.count % base == 0] == cube.count[cube.count % base == 0]).all()
    assert (table >= 0).all()


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(LINKED), st.sampled_from([3, 5]), st.integers(5, 120), st.integers(0, 2))
def test_tables_together_are_additive_and_have_one_number_for_a_cell(
    tables: tuple[tuple[str, ...], ...], base: int, people: int, steps: int
) -> None:
    census = island(people)
    linked = count_linked(census, [census.spec(*by) for by in tables])
    method = ControlledRounding(
        base, extra_steps=steps, zeros="change", infeasible="widen", effort="fast"
    )
    outcome = method.publish_linked(linked)
    assert linked.tables.adds_up(outcome.published)
    shown = outcome.published[linked.tables.published]
    assert (shown % base == 0).all()
    assert (shown >= 0).all()


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([2, 3, 5]), st.integers(0, 3), st.integers(0, 1000))
def test_steps_bound_the_distance(base: int, steps: int, seed: int) -> None:
    cube = cube_of(np.random.default_rng(seed).negative_binomial(1, 0.2, (3, 4)))
    table = rounded(cube, base, extra_steps=steps, protect_below=base)
    below, rest = np.divmod(cube.count, base)
    assert (table >= base * np.maximum(below - steps, 0)).all()
    assert (table <= base * (below + steps + (rest > 0))).all()
    assert (table[cube.count == 0] == 0).all()


# ---------------------------------------------------------------- no table is nearer


def brute_force(true: Int64, base: int, steps: int) -> int | None:
    """The least distance of all tables of multiples of the same shape, by looking at each."""
    sizes = [size - 1 for size in true.shape]
    inner = true[tuple(slice(size) for size in sizes)].reshape(-1).tolist()
    least: int | None = None
    for choice in itertools.product(*(allowed(count, base, steps) for count in inner)):
        table = np.array(choice, dtype=np.int64).reshape(sizes)
        for axis in range(true.ndim):
            table = np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
        fits = all(
            value in allowed(count, base, steps)
            for value, count in zip(
                table.reshape(-1).tolist(), true.reshape(-1).tolist(), strict=True
            )
        )
        if fits:
            far = int(np.abs(table - true).sum())
            least = far if least is None else min(least, far)
    return least


def allowed(count: int, base: int, steps: int) -> list[int]:
    if count == 0:
        return [0]
    low = max(count // base - steps, 0)
    return [base * times for times in range(low, count // base + steps + (count % base > 0) + 1)]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([(2, 2), (4,), (2, 2, 2), (2, 3)]),
    st.sampled_from([2, 3, 5]),
    st.integers(0, 1),
    st.integers(0, 10_000),
)
def test_no_table_is_nearer_and_no_bound_is_above(
    shape: tuple[int, ...], base: int, steps: int, seed: int
) -> None:
    steps = 0 if len(shape) == 3 else steps
    cube = cube_of(np.random.default_rng(seed).negative_binomial(1, 0.25, shape))
    least = brute_force(cube.count, base, steps)
    linked = LinkedCubes.of_cube(cube)
    problem = RoundingProblem.of(linked, RoundingRule(base=base, steps=steps))
    bound = Bound(problem, every_sum(linked.tables), lambda: True).distance
    if least is None:
        with pytest.raises(SpecError):
            rounded(cube, base, extra_steps=steps)
        return
    assert bound <= least
    protected = ControlledRounding(base, extra_steps=steps).protect(cube)
    assert np.abs(protected.table.held_for("a test").published - cube.count).sum() == least
    assert "proven" in protected.audit.remarks[0]


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from([*LINKED, (("area@parish+district", "sex", "age@class"),)]),
    st.sampled_from([3, 5]),
    st.integers(0, 1),
    st.sampled_from([None, 4]),
    st.integers(0, 10_000),
)
def test_an_integer_program_finds_none_nearer(
    tables: tuple[tuple[str, ...], ...],
    base: int,
    steps: int,
    protect_below: int | None,
    seed: int,
) -> None:
    census = island(40, seed=seed)
    linked = count_linked(census, [census.spec(*by) for by in tables])
    method = ControlledRounding(
        base, extra_steps=steps, zeros="change", protect_below=protect_below, gap=0, work=1
    )
    least = least_distance(linked, method)
    if least is None:
        with pytest.raises(SpecError):
            method.publish_linked(linked)
        return
    outcome = method.publish_linked(linked)
    solution = outcome.solution
    assert solution is not None
    assert solution.bound <= least <= solution.objective
    assert solution.objective <= 1.1 * least + 2 * base


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([(4, 5), (3, 3, 3)]), st.sampled_from([3, 5]), st.integers(0, 10_000))
def test_heuristics_are_never_nearer(shape: tuple[int, ...], base: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    cube = cube_of(draw.negative_binomial(1, 0.2, shape))
    steps = 2
    reached = distance(cube, base, extra_steps=steps, zeros="change", gap=0, work=2)
    corner: Any = interior(cube.spec)
    below, rest = np.divmod(cube.count, base)
    inner = cube.count[corner]
    tried = [round_to_nearest(inner, base)]
    tried += [base * (inner // base + (draw.random(inner.shape) * base < inner % base))] * 5
    for values in tried:
        table = with_totals(cube.spec, values)
        steps_taken = table // base - below
        if (steps_taken >= -steps).all() and (steps_taken <= steps + (rest > 0)).all():
            assert reached <= np.abs(table - cube.count).sum()


# ---------------------------------------------------------------- the same table, the same numbers


@pytest.mark.parametrize("turned", [(1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_the_order_of_axes_and_rows_does_not_matter(turned: tuple[int, ...]) -> None:
    by = ("area@parish+district", "sex", "age@class")
    straight = rounded(island_cube(*by, people=150), 5)
    again = rounded(island_cube(*by, people=150), 5)
    other = rounded(island_cube(*(by[at] for at in turned), people=150), 5)
    assert (again == straight).all()
    assert (other == straight.transpose(turned)).all()


def test_a_linked_table_alone_and_twice_is_the_same() -> None:
    census = island(100)
    spec = census.spec("area@parish+district", "sex", "age@class")
    once = ControlledRounding(3).protect_together(count_linked(census, [spec]))
    twice = ControlledRounding(3).protect_together(count_linked(census, [spec, spec]))
    assert once[0].table == twice[0].table == twice[1].table


# ---------------------------------------------------------------- protection, and what cannot be


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(2, 9), st.integers(0, 1000))
def test_protection_forbids_values_near_the_truth(
    lower: int, upper: int, below: int, seed: int
) -> None:
    cube = cube_of(np.random.default_rng(seed).negative_binomial(1, 0.2, (3, 4)))
    table = rounded(
        cube,
        3,
        extra_steps=1,
        protect_below=below,
        lower_protection=lower,
        upper_protection=upper,
        infeasible="widen",
    )
    small = (cube.count > 0) & (cube.count < below)
    moved = (table - cube.count)[small]
    assert ((moved <= -lower) | (moved >= upper)).all()
    assert adds_up(cube.spec, table)


def test_true_multiples_are_forbidden_too() -> None:
    cube = cube_of([3, 7, 9])
    assert rounded(cube, 3)[0] == 3
    assert rounded(cube, 3, extra_steps=1, protect_below=4)[0] in (0, 6)


def test_cells_that_cannot_be_protected_are_named() -> None:
    with pytest.raises(SpecError, match=r"far enough from the truth for \(v0 = c0\)") as caught:
        rounded(cube_of([3, 7, 9]), 3, protect_below=4)
    assert "extra_steps = 1" in str(caught.value)


def test_a_table_without_a_rounding_is_refused_with_cells_and_remedy() -> None:
    # Each pair of opposite ones has one that goes up, along every axis: three pairs, no way.
    cube = cube_of([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    assert least_distance(LinkedCubes.of_cube(cube), ControlledRounding(2)) is None
    with pytest.raises(SpecError, match=r"no table of multiples of 2 .* adds up") as caught:
        rounded(cube, 2)
    assert "extra_steps = 1" in str(caught.value)
    assert "infeasible = 'widen'" in str(caught.value)
    assert "v0 = " in str(caught.value)
    assert adds_up(cube.spec, rounded(cube, 2, infeasible="widen"))
    assert distance(cube, 2, infeasible="widen") == distance(cube, 2, extra_steps=1)


def test_an_impossible_two_way_table_names_the_cells_in_the_way() -> None:
    # The 3 may not stay, the other cells of its row are empty: the row total has to follow.
    cube = cube_of([[3, 0], [0, 6]])
    message = "It fails around .*v0 = c0|far enough from the truth for"
    with pytest.raises(SpecError, match=message):
        rounded(cube, 3, protect_below=4)


def test_negative_counts_are_refused() -> None:
    linked = LinkedCubes.of_cube(cube_of([[1, 2], [3, 4]]))
    counts = linked.counts.copy()
    counts[0] = -1
    broken = LinkedCubes(linked.tables, linked.cubes, counts, lambda spec: linked.cubes[0])
    with pytest.raises(SpecError, match="below 0"):
        ControlledRounding(3).protect_together(broken)


def test_a_table_that_does_not_add_up_is_refused() -> None:
    linked = LinkedCubes.of_cube(cube_of([[1, 2], [3, 4]]))
    counts = linked.counts.copy()
    counts[3] += 1
    broken = LinkedCubes(linked.tables, linked.cubes, counts, lambda spec: linked.cubes[0])
    with pytest.raises(SpecError, match="does not add up"):
        ControlledRounding(3).publish_linked(broken)


def test_simple_tables_are_networks_and_others_are_not() -> None:
    census = island(20)

    def is_network(*tables: tuple[str, ...]) -> bool:
        linked = count_linked(census, [census.spec(*by) for by in tables])
        return network_of(linked.tables) is not None

    assert is_network(("area@parish+district", "sex"))
    assert is_network(("age@class+half",))
    assert is_network(("sex-total", "age@class-total"))
    assert not is_network(("area@parish+district", "age@age+class"))
    assert not is_network(("area", "sex", "married"))


def test_an_attacker_learns_an_interval() -> None:
    for base, steps in ((5, 0), (3, 2)):
        low, high = support_of(base, steps).bounds(np.array([0, base, 20 * base]))
        far = (steps + 1) * base - 1
        assert low.tolist() == [0, max(base - far, 0), 20 * base - far]
        assert high.tolist() == [far, base + far, 20 * base + far]
