from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from sdcensus.errors import SpecError
from sdcensus.methods.rounding import RandomRounding
from sdcensus.methods.small_cells import SmallCellAdjustment
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.cube.cube import Origin, finish
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Code, Entity, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.rounding_tables import FULL, census, cube, one_way, published, sparse

CELLS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2**32 - 1)), min_size=8, max_size=8)


@st.composite
def methods(draw: st.DrawFn) -> SmallCellAdjustment:
    base = draw(st.integers(2, 10))
    return SmallCellAdjustment(base, threshold=draw(st.none() | st.integers(base, 15)))


@given(methods(), CELLS)
def test_additive_totals_are_the_sums_of_what_is_shown(
    method: SmallCellAdjustment, drawn: list[tuple[int, int]]
) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    assert adds_up(table.spec, published(method, table))


def test_additive_through_every_hierarchy() -> None:
    table = cube("area@area+district", "sex", "age@age+broad")
    result = published(SmallCellAdjustment(), table)
    assert adds_up(table.spec, result)
    assert (result != table.count).any()


@given(methods(), CELLS)
def test_only_small_interior_cells_that_are_no_multiples_move(
    method: SmallCellAdjustment, drawn: list[tuple[int, int]]
) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    count, result = table.count[:8], published(method, table)[:8]
    assert method.threshold is not None
    moves = (count < method.threshold) & (count % method.base != 0)
    assert (result[~moves] == count[~moves]).all()
    rounded = published(RandomRounding(method.base), table)[:8]
    assert (result[moves] == rounded[moves]).all()


@pytest.mark.parametrize("modulus", [256, 900])
@pytest.mark.parametrize("method", [SmallCellAdjustment(3), SmallCellAdjustment(5, threshold=9)])
def test_unbiased_over_all_keys(method: SmallCellAdjustment, modulus: int) -> None:
    """Totals are sums of unbiased cells, so the mean over all keys is the true total."""
    counts = [0, 1, 2, 3, 4, 6, 8, 20]
    results = np.array(
        [published(method, one_way(counts, [key] * 8, KeySpace(modulus))) for key in range(modulus)]
    )
    true = np.array([*counts, sum(counts)])
    off = abs(results.sum(axis=0) - modulus * true)
    assert (2 * off[:8] <= method.base).all()
    assert 2 * off[8] <= 8 * method.base
    if modulus % method.base == 0:
        assert not off.any()


@given(methods(), CELLS)
def test_zeros_kept_and_empty_totals_too(
    method: SmallCellAdjustment, drawn: list[tuple[int, int]]
) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    assert not published(method, table)[table.count == 0].any()
    empty = one_way([0] * 8, [0] * 8)
    assert not published(method, empty).any()


@given(methods(), CELLS)
def test_never_negative(method: SmallCellAdjustment, drawn: list[tuple[int, int]]) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    assert (published(method, table) >= 0).all()


@given(methods(), CELLS)
def test_blocked_counts_never_appear_in_cells_or_totals(
    method: SmallCellAdjustment, drawn: list[tuple[int, int]]
) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    result = published(method, table)
    assert ((result == 0) | (result >= method.base)).all()


@pytest.mark.parametrize(
    ("shift", "rejected"), [(0.0, False), (0.02, True), (-0.02, True)], ids=str
)
def test_interior_cells_have_the_distribution_of_random_rounding(
    shift: float, rejected: bool
) -> None:
    size = 80_000
    place = Variable(
        name="place", entity=Entity.PERSON, codes=tuple(Code(str(at)) for at in range(size))
    )
    counts = np.arange(size) % 2 + 1
    keys = np.random.default_rng(20010807).integers(0, 2**32, size, dtype=np.uint64)
    spec = TableSpec(of=Entity.PERSON, axes=(make_axis(place, place.levels(), total=True),))
    table = finish(spec, Origin(KeySpace()), {"count": counts, "key": keys})
    result = published(SmallCellAdjustment(3), table)[:size]
    for count in (1, 2):
        became = result[counts == count]
        assert set(became.tolist()) == {0, 3}
        share = count / 3 + shift
        p = chisquare(
            [(became == 3).sum(), (became == 0).sum()],
            [share * became.size, (1 - share) * became.size],
        ).pvalue
        assert bool(p < 1e-6) is rejected


def test_interior_cells_agree_between_tables_and_totals_do_not() -> None:
    """The reason why consistency is not claimed."""
    assert not SmallCellAdjustment().claims().consistent
    fine = published(SmallCellAdjustment(), cube("area", "sex", "age"))
    turned = published(SmallCellAdjustment(), cube("age", "area", "sex"))
    assert (fine == turned.transpose(1, 2, 0)).all()
    coarse = published(SmallCellAdjustment(), cube("area", "sex"))
    assert (fine[:, :, -1] != coarse).any()


def test_for_publication_with_a_caution_about_differences() -> None:
    claims = SmallCellAdjustment().claims()
    assert claims.for_publication
    assert any("differ" in caution for caution in claims.cautions)


def test_every_claim_has_a_test_of_its_name() -> None:
    for name in SmallCellAdjustment().claims().names():
        assert any(one.startswith(f"test_{name}") for one in globals()), name


def test_tables_without_an_interior_are_refused() -> None:
    with pytest.raises(SpecError, match="do not nest"):
        SmallCellAdjustment().protect(cube("area@seat+district", "sex"))


def test_sparse_cubes_and_weighted_counts_are_refused() -> None:
    with pytest.raises(SpecError, match="too large to be held whole"):
        SmallCellAdjustment().protect(sparse(cube(*FULL)))
    with pytest.raises(SpecError, match="counts of records"):
        SmallCellAdjustment().protect(census().tabulate("sex", measure="weighted"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: SmallCellAdjustment(1), "from 2 to 100"),
        (lambda: SmallCellAdjustment(5, threshold=4), "at least the base"),
        (lambda: SmallCellAdjustment(3, threshold=3.5), "whole number"),  # type: ignore[arg-type]
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        make()


def test_it_is_frozen_and_says_what_it_does() -> None:
    method = SmallCellAdjustment()
    with pytest.raises(FrozenInstanceError):
        method.base = 5  # type: ignore[misc]
    assert repr(method) == "<SmallCellAdjustment of counts below 3 to multiples of 3>"
    assert method.parameters() == {"base": 3, "threshold": 3}
    assert method.protect(cube("sex")).provenance.method == "small-cell-adjustment"


def test_a_table_of_one_cell_is_published() -> None:
    assert published(SmallCellAdjustment(7, threshold=400), cube()).shape == ()
    assert int(published(SmallCellAdjustment(7, threshold=400), cube())) in {294, 301}
    assert int(published(SmallCellAdjustment(7), cube())) == 300
