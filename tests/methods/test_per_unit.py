from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from sdcensus.errors import SdcensusError, SecretError, SpecError
from sdcensus.kernels.perturbation.lookup import HASHED, effective_keys
from sdcensus.kernels.perturbation.unit_deviations import unit_probabilities, unit_row
from sdcensus.methods.per_unit import PerUnitDeviations, Totals
from sdcensus.model.cube.constraints import adds_up, interior
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.rounding_tables import (
    FULL,
    OTHER_SECRET,
    SCHEMA,
    SECRET,
    assert_consistent,
    assert_takes_sparse,
    cells,
    census,
    cube,
    one_way,
    published,
    sparse,
)

HASH_KEY = SECRET.sub_key(Purpose.LOOKUP, 1)
SPEC = TableSpec.build(SCHEMA, ["age"])
CELLS = st.lists(
    st.tuples(st.integers(0, 12) | st.integers(0, 10**7), st.integers(0, 2**32 - 1)),
    min_size=8,
    max_size=8,
)


def own(units: int = 2) -> PerUnitDeviations:
    return PerUnitDeviations(units, secret=SECRET, totals="own")


def added(units: int = 2) -> PerUnitDeviations:
    return PerUnitDeviations(units, secret=SECRET)


METHODS = st.builds(
    PerUnitDeviations,
    st.integers(1, 8),
    secret=st.just(SECRET),
    totals=st.sampled_from(Totals),
)


def drawn_for(
    method: PerUnitDeviations, count: int, size: int, seed: int = 20050809
) -> npt.NDArray[np.int64]:
    """The published values of many cells with one count."""
    keys = np.random.default_rng(seed).integers(0, 2**32, size)
    counts = np.full(size, count)
    return method.publish(cells(counts, keys), SPEC, Origin(KeySpace())).published


@given(METHODS, CELLS)
def test_every_cell_has_the_deviation_of_its_hashed_key(
    method: PerUnitDeviations, drawn: list[tuple[int, int]]
) -> None:
    """Looked up by hand, in the exact row of each count."""
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    count, key = table.count[:8], table.key[:8]
    hashed = effective_keys(key, rule=HASHED, hash_key=HASH_KEY)
    assert (method.effective_keys(key) == hashed).all()
    expected = []
    for true, wanted in zip(count.tolist(), hashed.tolist(), strict=True):
        deviation = 0
        if true:
            row = unit_row(method.units, true)
            ends = np.cumsum(row.widths.astype(np.uint64))
            deviation = row.lowest + int(np.searchsorted(ends, wanted, side="right"))
        expected.append(true + deviation)
    assert published(method, table)[:8].tolist() == expected


# ---------------------------------------------------------------------------------------------
# Claims


@pytest.mark.parametrize("units", [1, 2, 4, 6])
def test_unbiased_exactly_from_the_rows(units: int) -> None:
    """Over all keys; up to x, deviations three apart leave at most 2 of 2**32 keys over."""
    for count in (*range(1, 40), 512, 513, 1000, 123_456):
        row = unit_row(units, count)
        values = range(row.lowest, row.lowest + row.widths.size)
        mean = sum(v * w for v, w in zip(values, row.widths.tolist(), strict=True))
        assert abs(mean) < 3 if count <= units else mean == 0


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
def test_unbiased_with_the_known_variance_over_many_cells(count: int) -> None:
    size, units = 200_000, 2
    deviation = drawn_for(own(units), count, size) - count
    variance = 2 * min(count, units)
    assert abs(deviation.mean()) < 4 * math.sqrt(variance / size)
    spread = deviation.astype(float) ** 2
    assert abs(spread.mean() - variance) < 4 * spread.std() / math.sqrt(size)


def test_unbiased_totals_are_sums_of_unbiased_cells() -> None:
    """The deviation of an added total has the mean 0 and the variances of its cells together."""
    counts, size = np.array([0, 1, 2, 3, 5, 8, 100, 1000]), 20_000
    keys = np.random.default_rng(20060808).integers(0, 2**32, (size, 8))
    inner = cells(np.tile(counts, (size, 1)), keys)
    totals = added().publish(inner, SPEC, Origin(KeySpace())).published.sum(axis=1)
    deviation = totals - counts.sum()
    variance = sum(2 * min(count, 2) for count in counts.tolist())
    assert variance == 26
    assert abs(deviation.mean()) < 4 * math.sqrt(variance / size)
    assert deviation.var() == pytest.approx(variance, rel=0.05)


@given(METHODS, CELLS)
def test_zeros_kept_and_empty_totals_too(
    method: PerUnitDeviations, drawn: list[tuple[int, int]]
) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    assert not published(method, table)[table.count == 0].any()
    assert not published(method, one_way([0] * 8, [7] * 8)).any()


@given(METHODS, CELLS)
def test_never_negative(method: PerUnitDeviations, drawn: list[tuple[int, int]]) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    assert (published(method, table) >= 0).all()


@pytest.mark.parametrize(
    "space",
    [KeySpace(), KeySpace(combine=Combine.XOR), KeySpace(10**8), KeySpace(4294967291)],
    ids=str,
)
def test_consistent_however_the_cell_is_reached(space: KeySpace) -> None:
    assert own().claims().consistent
    assert_consistent(own(), space)


def test_consistency_is_not_claimed_where_totals_are_added() -> None:
    assert not added().claims().consistent
    fine = published(added(), cube("area", "sex", "age"))
    turned = published(added(), cube("age", "area", "sex"))
    assert (fine == turned.transpose(1, 2, 0)).all()
    coarse = published(added(), cube("area", "sex"))
    assert (fine[:, :, -1] != coarse).any()


def test_interior_cells_are_the_same_either_way() -> None:
    table = cube(*FULL)
    inside = interior(table.spec)
    assert (published(added(), table)[inside] == published(own(), table)[inside]).all()


@given(METHODS, CELLS)
def test_additive_totals_are_the_sums_of_what_is_shown(
    method: PerUnitDeviations, drawn: list[tuple[int, int]]
) -> None:
    table = one_way([one for one, _ in drawn], [one for _, one in drawn])
    if method.claims().additive:
        assert adds_up(table.spec, published(method, table))


def test_additive_through_every_hierarchy() -> None:
    assert added().claims().additive
    table = cube("area@area+district", "sex", "age@age+broad")
    result = published(added(), table)
    assert adds_up(table.spec, result)
    assert (result != table.count).any()
    assert not own().claims().additive
    assert not adds_up(table.spec, published(own(), table))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 60])
@pytest.mark.parametrize(("shift", "rejected"), [(0.0, False), (0.015, True), (-0.015, True)])
def test_distribution_is_the_exact_one_and_not_a_near_miss(
    count: int, shift: float, rejected: bool
) -> None:
    """A near miss moves a little probability between the two likeliest results."""
    size = 100_000
    found = drawn_for(own(), count, size) - count
    exact = {value: float(chance) for value, chance in unit_probabilities(2, count).items()}
    first, second = sorted(exact, key=lambda value: -exact[value])[:2]
    exact[first] += shift
    exact[second] -= shift
    common = [value for value, chance in exact.items() if chance * size >= 10]
    observed = np.array([(found == value).sum() for value in common])
    expected = np.array([exact[value] * size for value in common])
    if size - expected.sum() >= 5:
        observed = np.append(observed, size - observed.sum())
        expected = np.append(expected, size - expected.sum())
    else:
        expected *= observed.sum() / expected.sum()
    assert bool(chisquare(observed, expected).pvalue < 1e-6) is rejected


def test_distribution_of_another_number_of_units_is_rejected() -> None:
    size = 100_000
    found = drawn_for(own(3), 7, size) - 7
    exact = unit_probabilities(2, 7)
    common = [value for value, chance in exact.items() if chance * size >= 10]
    observed = np.array([(found == value).sum() for value in common])
    expected = np.array([float(exact[value]) for value in common])
    assert chisquare(observed, expected / expected.sum() * observed.sum()).pvalue < 1e-9


def test_takes_sparse_cubes_with_totals_of_their_own() -> None:
    assert own().claims().takes_sparse
    assert_takes_sparse(own(), cube(*FULL))


def test_for_publication_with_cautions() -> None:
    assert own().claims().for_publication
    assert any("differ from sums" in caution for caution in own().claims().cautions)
    assert any("differs between tables" in caution for caution in added().claims().cautions)


@pytest.mark.parametrize("method", [own(), added()], ids=["own", "added"])
def test_every_claim_has_a_test_of_its_name(method: PerUnitDeviations) -> None:
    for name in method.claims().names():
        assert any(one.startswith(f"test_{name}") for one in globals()), name


# ---------------------------------------------------------------------------------------------
# What else it does


def test_with_two_units_ones_and_twos_become_multiples_of_three() -> None:
    assert set(drawn_for(own(), 1, 1000).tolist()) == {0, 3}
    assert set(drawn_for(own(), 2, 1000).tolist()) == {0, 3, 6}
    # From three on, some units stay, and every result is possible.
    assert {1, 2}.issubset(drawn_for(own(), 3, 1000).tolist())


def test_numbers_of_a_known_secret_never_change() -> None:
    """For the secret of bytes 0 to 31 and key version 1."""
    counts = np.array([0, 1, 2, 3, 5, 9, 100, 5000, 1_000_000, 37])
    keys = np.array([0, 1888058353, 4294967295, 1, 2, 3, 4, 5, 6, 7])
    result = own().publish(cells(counts, keys), SPEC, Origin(KeySpace())).published
    assert result.tolist() == [0, 3, 3, 4, 6, 13, 98, 5002, 999999, 36]


def test_counts_beyond_a_million_and_tables_of_any_size_are_published() -> None:
    draws = np.random.default_rng(1)
    counts = np.concatenate([draws.integers(0, 50, 300_000), draws.integers(2**20 - 5, 2**33, 40)])
    keys = draws.integers(0, 2**32, counts.size)
    whole = own().publish(cells(counts, keys), SPEC, Origin(KeySpace())).published
    some = np.r_[0:5, 131_070:131_074, 299_990:300_040]
    part = own().publish(cells(counts[some], keys[some]), SPEC, Origin(KeySpace())).published
    assert (whole[some] == part).all()
    assert np.abs(whole - counts).max() < 50


def test_another_version_or_secret_is_another_series() -> None:
    table = cube(*FULL)
    first = published(own(), table)
    assert (first == published(own(), table)).all()
    for other in (
        PerUnitDeviations(2, secret=SECRET, key_version=2, totals="own"),
        PerUnitDeviations(2, secret=OTHER_SECRET, totals="own"),
    ):
        assert (first != published(other, table)).any()


def test_the_part_of_the_secret_for_look_ups_is_enough() -> None:
    part = SECRET.sub_secret(Purpose.LOOKUP, 1)
    method = PerUnitDeviations(2, secret=part)
    table = cube(*FULL)
    assert (published(method, table) == published(added(), table)).all()


def test_a_secret_that_changed_since_the_store_was_loaded_is_refused() -> None:
    table = census(secret_id=OTHER_SECRET.id).tabulate("sex")
    with pytest.raises(SecretError, match="made with the secret"):
        own().protect(table)


def test_the_audit_replays_the_look_up() -> None:
    table = cube("sex")
    audit = own().protect(table).audit
    assert audit.effective_keys is not None
    expected = effective_keys(table.key, rule=HASHED, hash_key=HASH_KEY)
    numbers = np.arange(3, dtype=np.uint64)
    assert (audit.effective_keys(table.key, numbers) == expected).all()


def test_tables_without_an_interior_need_totals_of_their_own() -> None:
    table = cube("area@seat+district", "sex")
    with pytest.raises(SpecError, match="do not nest"):
        added().protect(table)
    assert published(own(), table).shape == table.shape


def test_sparse_cubes_with_added_totals_and_weighted_counts_are_refused() -> None:
    with pytest.raises(SpecError, match="too large to be held whole"):
        added().protect(sparse(cube(*FULL)))
    for method in (own(), added()):
        with pytest.raises(SpecError, match="counts of records"):
            method.protect(census().tabulate("sex", measure="weighted"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: PerUnitDeviations(0, secret=SECRET), "from 1 to 20"),
        (lambda: PerUnitDeviations(2.5, secret=SECRET), "from 1 to 20"),  # type: ignore[arg-type]
        (lambda: PerUnitDeviations(2), "need the office secret"),
        (lambda: PerUnitDeviations(2, secret="office.secret"), "not its file"),  # type: ignore[arg-type]
        (lambda: PerUnitDeviations(2, secret=SECRET, key_version=-1), "0 or more"),
        (lambda: PerUnitDeviations(2, secret=SECRET, totals="add"), "Did you mean 'added'"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(SdcensusError, match=says):
        make()


def test_it_is_frozen_and_shows_no_parameter() -> None:
    method = own(6)
    with pytest.raises(FrozenInstanceError):
        method.units = 5  # type: ignore[misc]
    assert repr(method) == "<PerUnitDeviations: confidential parameters>"
    assert method.parameters() == {"units": 6, "totals": "own"}
    made = method.protect(cube("sex"))
    assert made.provenance.method == "per-unit-deviations"
    assert made.provenance.fingerprint != own(2).protect(cube("sex")).provenance.fingerprint


@pytest.mark.parametrize("method", [own(), added()], ids=["own", "added"])
def test_a_table_of_one_cell_is_published(method: PerUnitDeviations) -> None:
    result = published(method, cube())
    assert result.shape == ()
    assert abs(int(result) - 300) < 30
