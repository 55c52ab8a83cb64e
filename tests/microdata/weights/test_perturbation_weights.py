"""Weights of 0, 1, 2 and 3: their mean, their variance, and what they multiply."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.records.weights import drawn_weights
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import Draws
from sdcensus.microdata.weights.perturbation_weights import PerturbationWeights
from sdcensus.microdata.weights.strata import SizeClasses
from sdcensus.microdata.weights.systematic_sample import SystematicSample
from sdcensus.model.progress import no_progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.variable import Role, Variable
from sdcensus.session.census.census import Census
from sdcensus.session.derive import prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.microdata.settlement import (
    D,
    F,
    H,
    P,
    by_identity,
    dense,
    settlement,
    settlement_schema,
    settlement_units,
)

#: A settlement in which some persons live in no household.
SEED = 9
STEP = Derivation(parent="0", method="toy", method_version="1", fingerprint="f", secret_id="s")
Method = PerturbationWeights | SystematicSample


def draws(number: int) -> Draws:
    return Draws(number.to_bytes(16, "little"))


def view(store: CensusStore, method: Method, number: int = 1) -> CensusStore:
    changes = method.derive(store, draws(number), no_progress)
    return DerivedView(DerivedRecords(store, changes), STEP)


def weights(store: CensusStore, kind: Any) -> dict[int, int]:
    """The weight of each record by its digest, in units of its last decimal."""
    variable = store.schema.weight(kind)
    assert variable is not None
    values = store.values(kind, variable)[slice(0, store.rows(kind))]
    return dict(zip(store.digests(kind).tolist(), values.tolist(), strict=True))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return settlement(tmp_path_factory.mktemp("weights") / "a", SEED)


def totals(store: CensusStore, method: PerturbationWeights, secrets: int) -> Any:
    """For each of many secrets the weighted number of households by tenure."""
    tenure = store.raw(H, "tenure")
    strata = method.strata(store)
    return np.array(
        [
            np.bincount(tenure, method.drawn(store, strata, draws(number)), minlength=3)[:3]
            for number in range(secrets)
        ]
    )


@pytest.mark.parametrize(
    ("settings", "factor"),
    [
        ({"one_in": 1}, 1.6),
        ({"one_in": 2.5}, 1.6),
        ({"one_in": 3, "weights": "0,1,3"}, 2.0),
        ({"changed": 1}, 1.6),
    ],
)
def test_totals_are_kept_on_average_with_the_stated_variance(
    store: CensusStore, settings: dict[str, Any], factor: float
) -> None:
    """methods.md 8.6: E[w] = 1 and Var(cell) = 1.6 times the sum of p_k c_k over strata."""
    method = PerturbationWeights(small_strata="accept", **settings)
    strata = method.strata(store)
    tenure = store.raw(H, "tenure")
    true = np.bincount(tenure, minlength=3)[:3]
    chance = np.full(strata.sizes.size, 1 / settings.get("one_in", 1))
    if "changed" in settings:
        chance = np.minimum(1, settings["changed"] / np.maximum(strata.sizes, 1))
    expected = [factor * chance[strata.number[tenure == code]].sum() for code in range(3)]
    secrets = 1500
    drawn = totals(store, method, secrets)
    error = np.sqrt(np.array(expected) / secrets)
    assert (np.abs(drawn.mean(axis=0) - true) < 4.5 * error).all()
    # A near miss is seen: with weights whose mean is 1.05 the totals are far away.
    assert (np.abs(drawn.mean(axis=0) * 1.05 - true) > 4.5 * error).any()
    ratio = drawn.var(axis=0, ddof=1) / expected
    assert (np.abs(ratio - 1) < 4.5 * math.sqrt(2 / secrets) * 1.5).all()


def test_thresholds_are_whole_numbers_with_mean_one() -> None:
    """Whatever a is: as many words below 1 by three, as above by one and by two."""
    for parts in ((3, 1, 1), (2, 0, 1)):
        assert parts[0] == parts[1] + 2 * parts[2]
        unit = np.array([10], dtype=np.uint64)
        words = np.arange(60, dtype=np.uint64)
        drawn = drawn_weights(words, np.zeros(60, np.uint32), unit, np.array(parts))
        assert drawn.sum() == 60
        assert [int((drawn == weight).sum()) for weight in (0, 2, 3)] == [10 * n for n in parts]
    method = PerturbationWeights(one_in=1, level="total", small_strata="accept")
    for one_in in (1, 1.5, 3, 10**6):
        chance = replace(method, one_in=one_in)._chance(7)
        assert (chance.numerator << 64) // (chance.denominator * 5) * 5 < 1 << 64


def test_every_member_has_the_weight_of_its_household(store: CensusStore) -> None:
    method = PerturbationWeights(one_in=2, small_strata="accept")
    out = view(store, method)
    own, persons = weights(out, H), weights(out, P)
    assert set(own.values()) == {0, 1, 2, 3}
    records = by_identity(store)
    alone = 0
    for digest, weight in persons.items():
        household = records[P, digest]["_household"]
        alone += household == -1
        assert weight == (1 if household == -1 else own[household])
    assert weights(out, F) == {
        digest: own[record["_household"]] for (kind, digest), record in records.items() if kind is F
    }
    notes = method.derive(store, draws(1), no_progress).notes
    assert alone
    assert any(f"{alone} persons" in note for note in notes)
    assert out.schema.weight(D) is None
    only = view(store, replace(method, weights="0,1,3"))
    assert set(weights(only, H).values()) == {0, 1, 3}
    # Nothing else has changed.
    new_column = value_column("weight")
    after = by_identity(out)
    assert set(after) == set(records)
    for one, record in after.items():
        assert {name: record[name] for name in record if name != new_column} == records[one]


def test_tables_of_weights_are_additive_and_agree(store: CensusStore) -> None:
    method = PerturbationWeights(one_in=2, small_strata="accept")
    census = Census(view(store, method).schema, view(store, method))
    both = dense(census.tabulate("area", "tenure", of="households", measure="weighted"))
    areas = dense(census.tabulate("area", of="households", measure="weighted"))
    assert both.weight is not None
    assert areas.weight is not None
    assert (both.weight[:, -1] == areas.weight).all()
    assert (both.weight[:-1, :-1].sum(axis=1) == both.weight[:-1, -1]).all()
    assert areas.weight[:-1].sum() == areas.weight[-1] == sum(weights(census.store, H).values())


@pytest.mark.parametrize("held_by", [D, H, P])
def test_weights_that_there_are_are_multiplied_exactly(tmp_path: Path, held_by: Any) -> None:
    schema, units = settlement_schema(), settlement_units(8)
    variable = Variable(name="w", entity=held_by, role=Role.WEIGHT, continuous=True, decimals=3)
    values = np.random.default_rng(1).integers(1, 9_000, units[held_by].keys.size)
    units[held_by] = replace(units[held_by], values={**units[held_by].values, "w": values})
    schema = replace(schema, variables=(*schema.variables, variable))
    store = write_store(tmp_path / "a", schema, units, secret_id=SECRET.id)
    method = PerturbationWeights(one_in=2, small_strata="accept")
    out = view(store, method)
    strata = method.strata(store)
    factor = dict(
        zip(store.digests(H).tolist(), method.drawn(store, strata, draws(1)).tolist(), strict=True)
    )
    before, after = weights(store, P), weights(out, P)
    for (kind, digest), record in by_identity(store).items():
        if kind is P:
            assert after[digest] == before[digest] * factor.get(record["_household"], 1)
    if held_by is D:
        assert weights(out, H) == {d: w * factor[d] for d, w in weights(store, H).items()}
        assert out.raw(D, "w.value").tolist() == store.raw(D, "w.value").tolist()


def test_weights_that_become_too_large_are_refused(tmp_path: Path) -> None:
    schema, units = settlement_schema(), settlement_units(8)
    variable = Variable(name="w", entity=H, role=Role.WEIGHT, continuous=True, decimals=9)
    values = np.full(units[H].keys.size, 1 << 52)
    units[H] = replace(units[H], values={"w": values})
    schema = replace(schema, variables=(*schema.variables, variable))
    store = write_store(tmp_path / "a", schema, units, secret_id=SECRET.id)
    with pytest.raises(SpecError, match="fewer decimals"):
        PerturbationWeights(one_in=1, small_strata="accept").derive(store, draws(1), no_progress)


@pytest.mark.parametrize(
    "method", [PerturbationWeights(one_in=2, small_strata="accept"), SystematicSample(every=3)]
)
def test_the_order_of_records_does_not_matter(tmp_path: Path, method: Method) -> None:
    stores = [settlement(tmp_path / name, 5, shuffled=s) for name, s in (("a", None), ("b", 9))]
    first, second = (by_identity(view(store, method)) for store in stores)
    assert first == second
    assert by_identity(view(stores[0], method, 1)) != by_identity(view(stores[0], method, 2))


def test_every_setting_changes_the_result(store: CensusStore) -> None:
    base = PerturbationWeights(changed=2, small_strata="accept")
    plain = by_identity(view(store, base))
    for settings in (
        {"changed": 3},
        {"changed": None, "one_in": 3},
        {"of": "dwellings"},
        {"level": "total"},
        {"sizes": "1,2+"},
        {"weights": "0,1,3"},
    ):
        assert by_identity(view(store, replace(base, **settings))) != plain, settings
    with pytest.raises(SpecError, match="--small-strata accept"):
        view(store, replace(base, small_strata="refuse"))


def test_weights_on_weights_are_drawn_anew(store: CensusStore) -> None:
    """The same draws again would square the weights, and their mean would not be 1."""
    method = PerturbationWeights(one_in=1, level="total")
    step = prepared(store, method.name, {"one_in": 1, "level": "total"}, secret=SECRET)
    once = step.trial().store
    assert isinstance(once, CensusStore)
    again = prepared(once, method.name, {"one_in": 1, "level": "total"}, secret=SECRET)
    first, second = weights(once, H), weights(again.trial().store, H)
    assert any(second[d] not in (0, w * w) for d, w in first.items())


def test_facts_say_what_is_expected_and_what_was_drawn(store: CensusStore) -> None:
    method = PerturbationWeights(changed=2, small_strata="accept")
    changes = method.derive(store, draws(1), no_progress)
    strata, errors = changes.facts
    drawn = method.drawn(store, method.strata(store), draws(1))
    assert sum(row[2] for row in strata.rows) == store.rows(H)  # type: ignore[misc]
    assert sum(row[4] for row in strata.rows) == (drawn != 1).sum()  # type: ignore[misc]
    for number, weight in ((5, 0), (6, 2), (7, 3)):
        assert sum(row[number] for row in strata.rows) == (drawn == weight).sum()  # type: ignore[misc]
    foreseen = method.foresee(store, draws(1), no_progress)
    assert [row[:4] for row in foreseen[0].rows] == [row[:4] for row in strata.rows]
    assert foreseen[1].rows == errors.rows
    exact = PerturbationWeights(one_in=4, small_strata="accept").foresee(store, None, no_progress)[
        1
    ]
    assert exact.rows[1] == (100, round(math.sqrt(1.6 * 100 / 4), 2), round(math.sqrt(0.4) / 10, 4))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "--one-in N"),
        ({"one_in": 0.5}, "at least 1"),
        ({"changed": 0}, "above 0"),
        ({"one_in": 2, "changed": 2}, "cannot be said together"),
        ({"one_in": 500}, "--level total"),
        ({"changed": 1, "sizes": "1,2"}, "the last with"),
        ({"changed": 1, "sizes": "2,3+"}, "from 1"),
        ({"one_in": 2, "of": "buildings"}, "Say --of"),
        ({"one_in": 2, "of": "persons", "sizes": "1,2+"}, "Leave --sizes out"),
        ({"one_in": 2, "weights": "0,2"}, "0,1,3"),
    ],
)
def test_what_is_wrong_is_said(store: CensusStore, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        prepared(store, "perturbation-weights", settings, secret=SECRET).run()
    with pytest.raises(UnknownName, match="level"):
        prepared(store, "perturbation-weights", {"one_in": 2, "level": "no"}, secret=SECRET).run()


def test_classes_of_sizes() -> None:
    assert SizeClasses.parse("1,2,3,4,5+").of_size == (0, 1, 2, 3, 4, 5)
    for wrong in ("", "1,3+", "1,2", "1+,2", "1,2-1,3+", "a", "1,,3+", "1,2-4+"):
        with pytest.raises(SpecError):
            SizeClasses.parse(wrong)


def test_a_sample_takes_every_household_equally_often(store: CensusStore) -> None:
    method = SystematicSample(every=3)
    strata = method._strata(store)
    secrets = 900
    taken = np.array([method.taken(store, strata, draws(number)) for number in range(secrets)])
    size = store.rows(H)
    assert set(taken.sum(axis=1).tolist()) <= {size // 3, -(-size // 3)}
    deviation = (taken.sum(axis=0) - secrets / 3) / math.sqrt(secrets * 2 / 9)
    assert np.abs(deviation).max() < 4.5
    assert np.abs((taken.sum(axis=0) * 1.3 - secrets / 3) / math.sqrt(secrets * 2 / 9)).max() > 4.5
    # Spread over areas: no area is off by more than one household at each of its ends.
    for area in range(int(strata.area.max()) + 1 if strata.area is not None else 1):
        of_area = taken[:, strata.area == area]
        assert np.abs(of_area.sum(axis=1) - of_area.shape[1] / 3).max() <= 2


def test_a_sample_keeps_households_whole_with_its_weight(store: CensusStore) -> None:
    method = SystematicSample(every=3)
    out = view(store, method)
    assert set(weights(out, H).values()) == {3}
    records = by_identity(store)
    kept = set(out.digests(H).tolist())
    for (kind, digest), record in records.items():
        if kind is P:
            stays = record["_household"] == -1 or record["_household"] in kept
            assert (digest in set(out.digests(P).tolist())) == stays
    for settings in ({"every": 4}, {"level": "total"}, {"of": "dwellings"}):
        changed = view(store, replace(method, **settings))
        assert by_identity(changed) != by_identity(out)
    with pytest.raises(SpecError, match="from 2"):
        prepared(store, "systematic-sample", {"every": 1}, secret=SECRET)
    assert method.foresee(store, None, no_progress)[0].rows[0][1] == store.rows(H)
