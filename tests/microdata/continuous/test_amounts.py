"""Microaggregation and rank swapping of amounts: what they promise, by plain references."""

from __future__ import annotations

import itertools
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.records.amounts import (
    ALONE,
    group_values,
    near_partners,
    optimal_groups,
    similar_groups,
)
from sdcensus.microdata.continuous.microaggregation import Microaggregation, blocks, standardised
from sdcensus.microdata.continuous.rank_swap import RankSwap
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import Changes, Draws
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.code_lists import continuous_codes
from sdcensus.model.schema.encoding import NO_VALUE, CodeEncoder
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Role, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.stores import Units, write_store

Integers = npt.NDArray[Any]
P = Entity.PERSON
DRAWS = Draws(bytes(range(16)))
CLASSES = (
    *continuous_codes(["0,100,200,500,1000+"]),
    Code("NS", kind=CodeKind.NOT_STATED),
)


def amounts_store(
    path: Path,
    income: Integers,
    rent: Integers,
    sex: Integers,
    order: Integers | None = None,
) -> CensusStore:
    """Persons with an income in classes (two decimals), a rent without, and a sex."""
    variables = (
        Variable(name="sex", entity=P, codes=(Code("1"), Code("2"))),
        Variable(name="income", entity=P, continuous=True, decimals=2, codes=CLASSES),
        Variable(name="rent", entity=P, continuous=True),
        Variable(name="weight", entity=P, continuous=True, decimals=2, role=Role.WEIGHT),
    )
    encoder = CodeEncoder(variables[1])
    classes = np.array(
        [
            len(CLASSES) - 1 if value == NO_VALUE else encoder.position(f"{value / 100:.2f}")
            for value in income.tolist()
        ]
    )
    at = np.arange(income.size) if order is None else order
    schema = Schema(
        census=CensusInfo(name="Amounts"),
        entities=(EntitySpec(entity=P, id=("p",)),),
        variables=variables,
    )
    units = Units(
        keys=np.arange(income.size)[at],
        digests=(np.arange(income.size, dtype=np.uint64) * np.uint64(7919))[at],
        leaves={"sex": sex[at], "income": classes[at]},
        values={
            "income": income[at],
            "rent": rent[at],
            "weight": np.full(income.size, 100),
        },
    )
    return write_store(path, schema, {P: units})


def drawn(seed: int, size: int) -> tuple[Integers, Integers, Integers]:
    draw = np.random.default_rng(seed)
    income = (draw.lognormal(5, 1, size) * 100).astype(np.int64)
    income[draw.random(size) < 0.1] = 0
    rent = income // 400 + draw.integers(0, 50, size)
    income[draw.random(size) < 0.1] = NO_VALUE
    return income, rent, draw.integers(0, 2, size)


def values_after(store: CensusStore, changes: Changes, name: str) -> Integers:
    return DerivedRecords(store, changes).column(P, f"{name}.value")


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(st.integers(-1000, 1000), min_size=2, max_size=11),
    size=st.integers(2, 4),
)
def test_groups_of_one_amount_are_the_best_there_are(values: list[int], size: int) -> None:
    ascending = np.sort(np.array(values, dtype=np.int64))
    if ascending.size < size:
        return

    def cost(groups: Integers) -> Fraction:
        total = Fraction(0)
        for group in np.unique(groups):
            members = ascending[groups == group].tolist()
            mean = Fraction(sum(members), len(members))
            total += sum(((value - mean) ** 2 for value in members), Fraction(0))
        return total

    groups = optimal_groups(ascending, size)
    assert np.bincount(groups).min() >= size
    best = min(
        cost(np.repeat(np.arange(len(parts)), parts))
        for number in range(1, ascending.size // size + 1)
        for parts in itertools.product(range(size, ascending.size + 1), repeat=number)
        if sum(parts) == ascending.size
    )
    assert cost(groups) == best


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), records=st.integers(2, 80), size=st.integers(2, 7))
def test_groups_of_several_amounts_have_their_size(seed: int, records: int, size: int) -> None:
    draw = np.random.default_rng(seed)
    points = standardised(draw.integers(-(10**9), 10**9, (records, 3)))
    sizes = np.bincount(similar_groups(points, size))
    assert sizes.sum() == records
    if records < size:
        assert sizes.size == 1
        return
    assert sizes.min() >= size
    assert np.sort(sizes)[:-1].max(initial=size) == size
    assert sizes.max() <= 2 * size - 1
    parts = list(blocks(points, 2 * size))
    assert sorted(np.concatenate(parts).tolist()) == list(range(records))
    assert max(map(len, parts)) <= 2 * size
    assert records <= 2 * size or min(map(len, parts)) >= size


def test_the_farthest_record_and_its_nearest_are_a_group() -> None:
    points = np.array([[0, 0], [1, 0], [0, 1], [100, 100], [99, 100], [100, 98], [2, 2]])
    groups = similar_groups(points.astype(np.int64), 3)
    assert groups[3] == groups[4] == groups[5]
    assert len({groups[at] for at in (0, 1, 2, 6)}) == 1


@given(
    values=st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=9), median=st.booleans()
)
def test_group_values_are_rounded_half_to_even(values: list[int], median: bool) -> None:
    groups = np.zeros(len(values), dtype=np.int64)
    (value,) = set(group_values(np.array(values), groups, median=median).tolist())
    ascending = sorted(values)
    middle = ascending[(len(values) - 1) // 2] + ascending[len(values) // 2]
    exact = Fraction(middle, 2) if median else Fraction(sum(values), len(values))
    assert value == round(exact)  # of a fraction, half to even


@settings(max_examples=50, deadline=None)
@given(records=st.integers(0, 200), reach=st.integers(0, 30), seed=st.integers(0, 1000))
def test_partners_are_near_and_have_each_other(records: int, reach: int, seed: int) -> None:
    words = np.random.default_rng(seed).integers(0, 1 << 63, records, dtype=np.uint64)
    partners = near_partners(words, reach)
    paired = np.flatnonzero(partners != ALONE)
    assert (partners[partners[paired]] == paired).all()
    assert (np.abs(partners[paired] - paired) <= reach).all()
    assert (partners[paired] != paired).all()
    # Nobody stays alone beside somebody who is alone.
    lonely = np.flatnonzero(partners == ALONE)
    assert reach == 0 or (np.diff(lonely) > reach).all()


def test_every_near_partner_is_equally_likely() -> None:
    draw = np.random.default_rng(5)
    chosen = [
        int(near_partners(draw.integers(0, 1 << 63, 9, dtype=np.uint64) * np.uint64(2), 4)[0])
        for _ in range(4000)
    ]
    assert set(chosen) == {1, 2, 3, 4}
    assert np.abs(np.bincount(chosen)[1:] - 1000).max() < 150


@pytest.mark.parametrize("grouping", ["together", "each"])
@pytest.mark.parametrize("value", ["mean", "median"])
def test_microaggregation_keeps_means_and_gives_everybody_companions(
    tmp_path: Path, grouping: str, value: str
) -> None:
    income, rent, sex = drawn(1, 400)
    store = amounts_store(tmp_path / "s", income, rent, sex)
    method = Microaggregation(
        variables=("income", "rent"), group=4, grouping=grouping, value=value, strata=("sex",)
    )
    changes = method.derive(store, None, no_progress)
    after = values_after(store, changes, "income")
    own = income != NO_VALUE
    assert (after[~own] == NO_VALUE).all()
    for code in (0, 1):
        part = own & (sex == code)
        assert np.unique(after[part], return_counts=True)[1].min() >= 4
        if value == "mean":  # each group loses at most half a unit by rounding
            lost = abs(int(after[part].sum()) - int(income[part].sum()))
            assert lost <= part.sum() / 2
    # Classes follow the amounts by the rule of loading.
    variable = store.schema.variable("income")
    codes = DerivedRecords(store, changes).column(P, "income")
    encoder = CodeEncoder(variable)
    for row in np.flatnonzero(own).tolist():
        assert codes[row] == encoder.position(f"{after[row] / 100:.2f}")
    assert (codes[~own] == store.raw(P, "income")[~own]).all()
    (facts,) = changes.facts
    measures: dict[tuple[str, str], Any] = {(str(row[0]), str(row[1])): row for row in facts.rows}
    _, _, before, now, change = measures["income", "mean"]
    assert before == pytest.approx(income[own].mean() / 100, rel=1e-5)
    assert now == pytest.approx(after[own].mean() / 100, rel=1e-5)
    assert change == pytest.approx(now / before - 1, abs=1e-4)
    assert ("rent", "correlation with income") in measures
    assert measures["income", "variance"][3] <= measures["income", "variance"][2]


def test_zeros_and_single_variables_are_left_alone_on_request(tmp_path: Path) -> None:
    income, rent, sex = drawn(2, 300)
    store = amounts_store(tmp_path / "s", income, rent, sex)
    for method in (
        Microaggregation(variables=("income",), group=5, leave_zeros=True),
        RankSwap(variables=("income",), ranks=0.1, leave_zeros=True),
    ):
        changes = method.derive(store, DRAWS, no_progress)
        after = values_after(store, changes, "income")
        assert ((after == 0) == (income == 0)).all()
        assert (after == NO_VALUE).sum() == (income == NO_VALUE).sum()
        assert set(changes.amounts) == {"income"}


def test_rank_swapping_keeps_the_distribution_and_near_ranks(tmp_path: Path) -> None:
    income, rent, sex = drawn(3, 500)
    store = amounts_store(tmp_path / "s", income, rent, sex)
    method = RankSwap(variables=("income", "rent"), ranks=0.05, strata=("sex",))
    changes = method.derive(store, DRAWS, no_progress)
    after = values_after(store, changes, "rent")
    codes = DerivedRecords(store, changes).column(P, "income")
    for code in (0, 1):
        part = sex == code
        assert sorted(after[part].tolist()) == sorted(rent[part].tolist())
        ascending = np.sort(rent[part])
        reach = int(part.sum() * 0.05)
        low = np.searchsorted(ascending, rent[part], "left")
        high = np.searchsorted(ascending, rent[part], "right") - 1
        # Ranks of equal amounts are a range: the partner lies within reach of one of them.
        assert (ascending[np.maximum(low - reach, 0)] <= after[part]).all()
        assert (after[part] <= ascending[np.minimum(high + reach, ascending.size - 1)]).all()
    encoder = CodeEncoder(store.schema.variable("income"))
    new_income = values_after(store, changes, "income")
    for row in np.flatnonzero(income != NO_VALUE).tolist():
        assert codes[row] == encoder.position(f"{new_income[row] / 100:.2f}")
    assert (after != rent).mean() > 0.5
    # One of the variables on its own is exchanged alike.
    alone = RankSwap(variables=("rent",), ranks=0.05, strata=("sex",))
    assert (values_after(store, alone.derive(store, DRAWS, no_progress), "rent") == after).all()
    other = Draws(bytes(16))
    assert (values_after(store, method.derive(store, other, no_progress), "rent") != after).any()


@pytest.mark.parametrize(
    "method",
    [
        Microaggregation(variables=("income", "rent"), block=20),
        Microaggregation(variables=("income",), grouping="each"),
        RankSwap(variables=("income", "rent"), ranks=0.1),
    ],
)
def test_the_order_of_rows_changes_nothing(
    tmp_path: Path, method: Microaggregation | RankSwap
) -> None:
    income, rent, sex = drawn(4, 200)
    order = np.random.default_rng(1).permutation(200)
    one = amounts_store(tmp_path / "1", income, rent, sex)
    two = amounts_store(tmp_path / "2", income, rent, sex, order)
    for name in method.variables:
        mine = values_after(one, method.derive(one, DRAWS, no_progress), name)
        theirs = values_after(two, method.derive(two, DRAWS, no_progress), name)
        assert (mine[order] == theirs).all()


def test_wrong_settings_are_told_with_the_remedy(tmp_path: Path) -> None:
    store = amounts_store(tmp_path / "s", *drawn(5, 20))

    def refused(method: Microaggregation | RankSwap) -> str:
        with pytest.raises(SpecError) as refusal:
            method.derive(store, DRAWS, no_progress)
        return str(refusal.value)

    for kind in (Microaggregation, RankSwap):
        assert "Amounts of this census: income, rent." in refused(kind(variables=("sex",)))
        assert "is no amount" in refused(kind(variables=("weight",)))
        assert "twice" in refused(kind(variables=("rent", "rent")))
        assert "no codes" in refused(kind(variables=("rent",), strata=("weight",)))
    assert "--block 5 should be at least" in refused(
        Microaggregation(variables=("rent",), group=3, block=5)
    )
    assert "--ranks 0 exchanges nothing" in refused(RankSwap(variables=("rent",), ranks=0))


def test_strata_that_are_too_small_are_told() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rent = np.arange(10)
        sex = np.array([0] * 8 + [1] * 2)
        store = amounts_store(Path(folder) / "s", rent * 100, rent, sex)
        method = Microaggregation(variables=("rent",), group=3, strata=("sex",))
        changes = method.derive(store, None, no_progress)
        assert values_after(store, changes, "rent")[8:].tolist() == [8, 9]
        assert any("2 records lie in strata" in note for note in changes.notes)
        empty = np.full(10, NO_VALUE)
        store = amounts_store(Path(folder) / "e", empty, rent, sex)
        for each in (Microaggregation(variables=("income",)), RankSwap(variables=("income",))):
            changes = each.derive(store, DRAWS, no_progress)
            assert not changes.amounts
            assert any("Nothing has changed" in note for note in changes.notes)
