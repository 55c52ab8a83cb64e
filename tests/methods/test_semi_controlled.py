from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from sdcensus.errors import SdcensusError, SecretError, SpecError
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.kernels.perturbation.rounding import round_to_nearest, round_to_totals
from sdcensus.methods.rounding import RandomRounding
from sdcensus.methods.semi_controlled import SemiControlledRounding
from sdcensus.model.cube.constraints import interior, is_interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.model.secret import Purpose
from tests.methods.rounding_tables import (
    FULL,
    OTHER_SECRET,
    SECRET,
    census,
    cube,
    one_way,
    published,
    sparse,
)

SPACES = (KeySpace(), KeySpace(256), KeySpace(10**8), KeySpace(4096, Combine.XOR), KeySpace(16))
EACH_SPACE = pytest.mark.parametrize(
    "space", SPACES, ids=lambda one: f"{one.combine}-{one.modulus}"
)
EACH_TOTAL = pytest.mark.parametrize("to", ["grand-total", "areas"])
BASES = pytest.mark.parametrize("base", [2, 3, 5, 10])


def semi(base: int = 3, **options: Any) -> SemiControlledRounding:
    return SemiControlledRounding(base, **{"secret": SECRET, **options})


def inner(table: Cube) -> Any:
    return interior(table.spec)


# --- The controlled totals --------------------------------------------------------------------


@EACH_SPACE
@BASES
def test_interior_cells_sum_to_the_grand_total(base: int, space: KeySpace) -> None:
    table = cube(*FULL, space=space)
    result = published(semi(base), table)
    total = int(round_to_nearest(np.array([300]), base)[0])
    assert int(result[inner(table)].sum()) == total
    assert int(result[-1, -1, -1]) == total


@EACH_SPACE
@BASES
def test_interior_cells_sum_to_the_totals_of_areas(base: int, space: KeySpace) -> None:
    table = cube(*FULL, space=space)
    result = published(semi(base, to="areas"), table)
    totals = round_to_nearest(table.count[:6, -1, -1], base)
    assert result[inner(table)].sum(axis=(1, 2)).tolist() == totals.tolist()
    assert result[:6, -1, -1].tolist() == totals.tolist()


@given(
    st.integers(2, 20),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 2**32 - 1)), min_size=8, max_size=8),
)
def test_any_interior_sums_to_the_nearest_multiple(base: int, drawn: list[tuple[int, int]]) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    result = published(semi(base), table)
    assert int(result[:8].sum()) == int(result[8])
    assert 2 * abs(int(result[8]) - int(table.count[8])) <= base


@EACH_TOTAL
def test_other_margins_are_rounded_on_their_own_by_their_keys(to: str) -> None:
    table = cube(*FULL)
    result, alone = published(semi(5, to=to), table), published(RandomRounding(5), table)
    controlled = is_interior(table.spec)
    if to == "areas":
        controlled[:6, -1, -1] = True
    else:
        controlled[-1, -1, -1] = True
    assert (result[~controlled] == alone[~controlled]).all()
    assert (result[controlled] != alone[controlled]).any()


# --- Claims -----------------------------------------------------------------------------------


@EACH_TOTAL
@BASES
def test_bounded_by_the_base(to: str, base: int) -> None:
    for people in (7, 60, 300):
        table = cube(*FULL, people=people)
        result = published(semi(base, to=to), table)
        below = table.count - table.count % base
        assert ((result == below) | (result == below + base)).all()
        multiples = table.count % base == 0
        assert (result[multiples] == table.count[multiples]).all()


@EACH_TOTAL
def test_zeros_kept_in_cells_and_totals(to: str) -> None:
    table = cube(*FULL, people=40)
    result = published(semi(to=to), table)
    assert (table.count == 0).any()
    assert not result[table.count == 0].any()
    assert not published(semi(to=to), cube(*FULL, people=0)).any()


@EACH_TOTAL
def test_never_negative(to: str) -> None:
    for people in range(12):
        assert (published(semi(10, to=to), cube(*FULL, people=people)) >= 0).all()


@EACH_TOTAL
@BASES
def test_blocked_counts_never_appear_only_multiples_do(to: str, base: int) -> None:
    assert not (published(semi(base, to=to), cube(*FULL)) % base).any()


def test_for_publication_with_cautions() -> None:
    claims = semi().claims()
    assert claims.for_publication
    assert not claims.unbiased
    assert not claims.consistent
    assert not claims.additive
    assert any("half a base" in caution for caution in claims.cautions)


def test_every_claim_has_a_test_of_its_name() -> None:
    for name in semi().claims().names():
        assert any(one.startswith(f"test_{name}") for one in globals()), name


# --- Where chance comes from ------------------------------------------------------------------


def test_where_the_total_is_a_multiple_every_cell_goes_up_in_proportion() -> None:
    """Over versions of the keys; the total of 9 is a multiple of 3, so no cell is biased."""
    counts = [1, 2, 1, 2, 0, 1, 2, 0]
    table = one_way(counts, range(1, 9))
    runs = 6000
    results = np.array([published(semi(key_version=version), table) for version in range(runs)])
    assert (results[:, :8].sum(axis=1) == 9).all()
    assert not results[:, [4, 7]].any()
    for at in (0, 1, 2, 3, 5, 6):
        ups = int((results[:, at] == 3).sum())
        for shift, rejected in ((0.0, False), (0.05, True), (-0.05, True)):
            share = counts[at] / 3 + shift
            p = chisquare([ups, runs - ups], [share * runs, (1 - share) * runs]).pvalue
            assert bool(p < 1e-6) is rejected


@EACH_SPACE
def test_every_number_can_be_replayed_from_counts_keys_and_secret(space: KeySpace) -> None:
    """The order comes from the cell keys, the start from the cell key of the total."""
    hash_key = SECRET.sub_key(Purpose.ROUND, 1)
    for people in range(40, 60):
        table = cube("age", people=people, space=space)
        start = siphash24(hash_key, np.array([[int(table.key[-1]), 0]], dtype=np.uint64))
        total = round_to_nearest(table.count[-1:], 5)
        replayed = round_to_totals(
            table.count[None, :8], table.key[None, :8], total, start, 5, hash_key
        )
        assert published(semi(5), table)[:8].tolist() == replayed[0].tolist()


@EACH_TOTAL
def test_numbers_are_the_same_every_time_and_change_with_secret_and_version(to: str) -> None:
    table = cube(*FULL)
    first = published(semi(to=to), table).tolist()
    assert first == published(semi(to=to), cube(*FULL)).tolist()
    assert first != published(semi(to=to, secret=OTHER_SECRET), table).tolist()
    assert first != published(semi(to=to, key_version=2), table).tolist()


@EACH_SPACE
@EACH_TOTAL
def test_the_order_of_axes_does_not_matter(to: str, space: KeySpace) -> None:
    """Not even where keys are so few that many cells of an area share one."""
    straight = published(semi(to=to), cube(*FULL, space=space))
    for order in ((1, 2, 0), (2, 1, 0), (0, 2, 1)):
        turned = published(semi(to=to), cube(*(FULL[at] for at in order), space=space))
        assert (turned == straight.transpose(order)).all()


@EACH_TOTAL
def test_margins_that_are_shown_do_not_change_the_interior(to: str) -> None:
    """Asking for the same cells with other margins must not draw anew."""
    shown = published(semi(to=to), cube(*FULL))[:6, :2, :8]
    for by in (
        ("area", "sex-total", "age"),
        ("area-total", "sex-total", "age-total"),
        ("area", "sex", "age@age+broad"),
    ):
        assert (published(semi(to=to), cube(*by))[:6, :2, :8] == shown).all()


def test_controlled_totals_agree_between_tables() -> None:
    wide = published(semi(to="areas"), cube("area", "sex", "age"))
    narrow = published(semi(to="areas"), cube("age", "area"))
    assert wide[:6, -1, -1].tolist() == narrow[-1, :6].tolist()


def test_areas_can_be_named_and_are_the_first_geography_by_default() -> None:
    table = cube("sex", "area", "age")
    named = published(semi(to="areas", area="area"), table)
    assert (named == published(semi(to="areas"), table)).all()
    by_sex = published(semi(to="areas", area="sex"), table)
    assert (by_sex[:2, :6, :8].sum(axis=(1, 2)) == by_sex[:2, -1, -1]).all()


def test_areas_of_a_coarser_level_are_those_that_the_table_shows() -> None:
    table = cube("area@district", "age")
    result = published(semi(5, to="areas"), table)
    assert (result[:3, :8].sum(axis=1) == result[:3, 8]).all()


def test_a_table_by_area_alone_shows_the_rounded_totals() -> None:
    table = cube("area")
    result = published(semi(5, to="areas"), table)
    assert result[:6].tolist() == round_to_nearest(table.count[:6], 5).tolist()


def test_a_table_of_one_cell_is_published() -> None:
    assert int(published(semi(7), cube())) == 301
    assert published(semi(7), cube()).shape == ()


def test_many_areas_are_rounded_at_once() -> None:
    """One area alone, as a table of its own, has the numbers that it has among others."""
    table = cube("area", "sex", "age")
    among = published(semi(to="areas"), table)
    for at in range(6):
        alone = published(semi(), table.select(area=f"E{at}"))
        assert alone[:2, :8].tolist() == among[at, :2, :8].tolist()
        assert int(alone[-1, -1]) == int(among[at, -1, -1])


# --- What is refused, and what shows ----------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: semi(1), SpecError, "from 2 to 100"),
        (lambda: semi(to="area"), SpecError, "Did you mean 'areas'"),
        (lambda: semi(area="area"), SpecError, "to='areas'"),
        (lambda: semi(secret=None), SecretError, "office secret"),
        (lambda: semi(secret=SECRET.sub_secret(Purpose.ROUND, 1)), SecretError, "office secret"),
        (lambda: semi(key_version="1"), SpecError, "0 or more"),
        (lambda: semi().protect(sparse(cube(*FULL))), SpecError, "too large to be held whole"),
        (lambda: semi(to="areas").protect(cube("sex")), SpecError, "is a geography"),
        (lambda: semi(to="areas", area="ed").protect(cube("sex")), SpecError, "no axis 'ed'"),
        (lambda: semi().protect(cube("area@seat+district")), SpecError, "do not nest"),
        (
            lambda: semi().protect(census().tabulate("sex", measure="weighted")),
            SpecError,
            "counts of records",
        ),
        (
            lambda: semi().protect(census(secret_id=OTHER_SECRET.id).tabulate("sex")),
            SecretError,
            "secret at hand",
        ),
    ],
)
def test_wrong_parameters_and_tables_are_refused(
    make: Callable[[], object], error: type[SdcensusError], says: str
) -> None:
    with pytest.raises(error, match=says):
        make()


def test_the_secret_must_be_given() -> None:
    with pytest.raises(SecretError, match="needs the office secret"):
        SemiControlledRounding()


def test_it_is_frozen_and_shows_no_secret() -> None:
    method = semi(to="areas")
    with pytest.raises(FrozenInstanceError):
        method.base = 5  # type: ignore[misc]
    assert repr(method) == "<SemiControlledRounding to multiples of 3, areas>"
    assert method.parameters() == {"base": 3, "to": "areas", "area": None}
    made = method.protect(cube("area")).provenance
    assert made.method == "semi-controlled-rounding"
    assert made.fingerprint
