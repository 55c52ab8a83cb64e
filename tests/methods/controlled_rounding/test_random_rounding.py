"""Controlled random rounding: additive and unbiased, from the secret, whatever the layout."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.controlled_rounding.drawn import DrawnRounding
from sdcensus.methods.controlled_rounding.margins import two_chains
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.published.table import Table
from sdcensus.model.secret import Purpose, Secret
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import SECRET, island, island_cube
from tests.methods.controlled_rounding.rounding_oracle import Int64, cube_of

#: Tables whose numbers all stay next to their counts.
KEPT = [
    ("area@parish+district", "sex"),
    ("area", "age@age+class"),
    ("age@class+half",),
    ("sex-total", "age@class-total"),
    ("sex", "married"),
    ("area@district",),
    (),
]
#: Others, in which some totals may go farther: alone, or several together.
WIDENED = [
    (("area@parish+district", "sex", "age@class"),),
    (("area@parish+district", "age@age+class"),),
    (("age@class+half", "sex"),),
    (("area", "sex"), ("sex", "married"), ("area@district", "married")),
]
DRAWS = 2_000


def rounded(cube: Cube, base: int = 3, secret: Secret = SECRET, **said: Any) -> Int64:
    table = ControlledRandomRounding(base, secret=secret, **said).protect(cube).table
    assert isinstance(table, Table)
    return table.published


def linked_tables(*tables: tuple[str, ...], people: int = 60) -> LinkedCubes:
    census = island(people)
    return count_linked(census, [census.spec(*by) for by in tables])


# ---------------------------------------------------------------- what is claimed


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KEPT), st.sampled_from([2, 3, 5, 10]), st.integers(0, 150))
def test_additive_bounded_zeros_kept_never_negative_blocked_counts_never_appear(
    by: tuple[str, ...], base: int, people: int
) -> None:
    census = island(people)
    linked = count_linked(census, [census.spec(*by)])
    method = ControlledRandomRounding(base, secret=SECRET)
    assert linked.tables.adds_up(method.publish_linked(linked).published)
    (protected,) = method.protect_together(linked)
    table = protected.table.held_for("a test").published
    counts = linked.cubes[0].count
    assert (table % base == 0).all()
    assert (np.abs(table - counts) < base).all()
    assert (table[counts % base == 0] == counts[counts % base == 0]).all()
    assert (table >= 0).all()


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(WIDENED), st.sampled_from([3, 5]), st.integers(0, 150))
def test_widened_tables_are_additive_with_zeros_kept(
    tables: tuple[tuple[str, ...], ...], base: int, people: int
) -> None:
    linked = linked_tables(*tables, people=people)
    method = ControlledRandomRounding(base, secret=SECRET, infeasible="widen")
    values = method.publish_linked(linked).published
    assert linked.tables.adds_up(values)
    assert (values % base == 0).all()
    assert (values >= 0).all()
    assert not values[linked.counts == 0].any()


# ---------------------------------------------------------------- the distribution


def key_of(draw: int) -> bytes:
    """A key as it follows from some secret."""
    secret = Secret(hashlib.blake2b(str(draw).encode(), digest_size=32).digest())
    return secret.sub_key(Purpose.ROUND, 1)


def deviations(linked: LinkedCubes, base: int, draws: int = DRAWS) -> npt.NDArray[np.float64]:
    """For each published cell its deviations with many secrets."""
    one, other, _ = two_chains(linked.tables)
    drawn = DrawnRounding(linked.atoms, (one, other), base)
    values = np.stack([drawn.values(key_of(at)) for at in range(draws)])
    groups, inverse = np.unique(values, axis=0, return_inverse=True)
    sums = np.stack([linked.atoms.sums(linked.tables, group) for group in groups])
    shown = linked.tables.published
    found: npt.NDArray[np.float64] = (sums[inverse.reshape(-1)] - linked.counts)[:, shown] / base
    return found


def largest_score(deviation: npt.NDArray[np.float64], shift: float = 0.0) -> float:
    """How many standard errors the mean of some cell lies from the truth, at most."""
    spread = deviation.std(axis=0)
    moving = spread > 0
    if not moving.any():
        return 0.0
    mean = deviation[:, moving].mean(axis=0) + shift
    scores: npt.NDArray[np.float64] = np.abs(mean) / spread[moving] * np.sqrt(len(deviation))
    return float(scores.max())


@pytest.mark.parametrize("base", [3, 5])
@pytest.mark.parametrize(
    "tables",
    [
        (("area@parish+district", "sex"),),
        (("age@class+half",),),
        (("sex-total", "age@class-total"),),
        *WIDENED,
    ],
    ids=lambda tables: "; ".join(",".join(by) for by in tables),
)
def test_unbiased_over_secrets(tables: tuple[tuple[str, ...], ...], base: int) -> None:
    linked = linked_tables(*tables, people=40)
    draws = DRAWS if len(tables) == 1 and len(tables[0]) < 3 else DRAWS // 4
    deviation = deviations(linked, base, draws)
    assert largest_score(deviation) < 4.5
    # A twentieth of the base would be found, and so would more.
    near = 0.05 * np.sqrt(DRAWS / draws)
    assert largest_score(deviation, shift=near) > 4.5
    # Counts that are multiples stay where all totals are kept.
    if not two_chains(linked.tables)[2]:
        whole = (linked.counts % base == 0)[linked.tables.published]
        assert not deviation[:, whole].any()


def test_every_cell_goes_up_as_often_as_its_remainder_says() -> None:
    linked = LinkedCubes.of_cube(cube_of([[1, 2, 3], [4, 0, 5]]))
    deviation = deviations(linked, 5, 4_000)
    rest = (linked.counts % 5 / 5)[linked.tables.published]
    up = (deviation > 0).mean(axis=0)
    error = np.sqrt(np.maximum(rest * (1 - rest), 1e-9) / 4_000)
    assert (np.abs(up - rest) <= 4.5 * error).all()


# ---------------------------------------------------------------- the secret and the layout


def test_the_secret_decides_and_the_same_secret_decides_alike() -> None:
    cube = cube_of(np.arange(24).reshape(4, 6))
    assert (rounded(cube, 5) == rounded(cube, 5)).all()
    others = {rounded(cube, 5, Secret(bytes([at] * 32))).tobytes() for at in range(6)}
    versions = {rounded(cube, 5, key_version=at).tobytes() for at in range(6)}
    assert len(others) == len(versions) == 6
    with pytest.raises(SecretError):
        ControlledRandomRounding(3)


@pytest.mark.parametrize("turned", [(1, 0, 2), (2, 1, 0)])
def test_the_order_of_axes_does_not_matter(turned: tuple[int, ...]) -> None:
    by = ("area@parish+district", "sex", "age@class")
    straight = rounded(island_cube(*by, people=150), 5, infeasible="widen")
    turned_by = (by[at] for at in turned)
    other = rounded(island_cube(*turned_by, people=150), 5, infeasible="widen")
    assert (other == straight.transpose(turned)).all()


def test_the_order_of_tables_does_not_matter() -> None:
    census = island(80)
    specs = [census.spec("area", "sex"), census.spec("sex", "age@class")]
    method = ControlledRandomRounding(5, secret=SECRET, infeasible="widen")
    straight = [each.table for each in method.protect_together(count_linked(census, specs))]
    turned = [each.table for each in method.protect_together(count_linked(census, specs[::-1]))]
    assert straight == turned[::-1]


def test_other_people_with_the_same_counts_have_other_numbers() -> None:
    """Revisions must not cancel: what is drawn depends on who is counted."""
    plain = cube_of([[1, 2, 3], [4, 6, 7], [8, 9, 11]])
    keys = [np.full(plain.shape, at, dtype=np.uint32) for at in range(6)]
    cubes = [Cube(plain.spec, plain.origin, replace(plain.values, key=key)) for key in keys]
    assert len({rounded(cube, 5).tobytes() for cube in cubes}) > 1


# ---------------------------------------------------------------- more axes


def test_tables_with_more_axes_are_refused_unless_totals_may_go_farther() -> None:
    cube = island_cube("area@parish+district", "sex", "age@class", people=150)
    with pytest.raises(SpecError, match="one or two axes") as caught:
        rounded(cube, 5)
    assert "infeasible = 'widen'" in str(caught.value)
    assert "controlled-rounding" in str(caught.value)
    assert "age (class)" in str(caught.value)
    protected = ControlledRandomRounding(5, secret=SECRET, infeasible="widen").protect(cube)
    table = protected.table.held_for("a test").published
    distance = np.abs(table - cube.count)
    inside = distance[:7, :2, :3]
    assert inside.max() < 5
    assert "Unbiased and additive" in protected.audit.remarks[0]
    assert f"the farthest {distance.max()}" in protected.audit.remarks[0]


def test_a_table_that_keeps_all_totals_says_nothing_more() -> None:
    protected = ControlledRandomRounding(5, secret=SECRET, infeasible="widen").protect(
        island_cube("area", "sex", people=50)
    )
    assert not protected.audit.remarks


@pytest.mark.parametrize("by", KEPT, ids=",".join)
def test_two_chains_keep_all_margins_of_simple_tables(by: tuple[str, ...]) -> None:
    linked = linked_tables(by)
    one, other, left = two_chains(linked.tables)
    assert not left
    for chain in (one, other):
        for coarse, fine in itertools.pairwise(chain):
            assert fine.breaks_down(coarse)


def test_margins_of_other_tables_that_are_kept_stay_next_to_their_counts() -> None:
    linked = linked_tables(("area@parish+district", "sex", "age@class"), people=150)
    one, other, left = two_chains(linked.tables)
    assert left
    drawn = DrawnRounding(linked.atoms, (one, other), 5)
    for draw in range(20):
        moved = drawn.values(key_of(draw)) - linked.atoms.counts
        for margin in (*one, *other):
            cells = margin.classes(linked.atoms)
            assert (np.abs(np.bincount(cells, weights=moved)) < 5).all()
