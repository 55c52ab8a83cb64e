"""Attribute swapping: distributions by class stay, places stay, rules hold, nothing else moves."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SdcensusError
from sdcensus.microdata.derived_store import DerivedRecords, write_derived
from sdcensus.microdata.method import Changes
from sdcensus.microdata.swapping.attributes import AttributeSwap
from sdcensus.microdata.swapping.pairing import Failure, Rules, failure_reasons, find_pairs
from sdcensus.model.progress import no_progress
from sdcensus.store.census_store import CensusStore
from sdcensus.store.writer import writing
from tests.microdata.settlement import by_identity
from tests.microdata.swapping.plain_pairing import plain_pairs
from tests.microdata.swapping.test_pairing import profile
from tests.microdata.swapping.test_proportional import without_areas
from tests.microdata.swapping.test_random import DRAWS, STEP, pairs_of, view
from tests.microdata.swapping.township import P, township
from tests.microdata.swapping.villages import Village

CLASSES = ("age@broad,sex",)
RULES = (
    "age < 3 and marital != 0",
    "marital == 2 and religion == 5",
    "area == 110 and marital == 1",
)


def swapped(store: CensusStore, **parameters: Any) -> Changes:
    given = {"attributes": ("religion", "marital"), "classes": CLASSES} | parameters
    return AttributeSwap(**given).derive(store, DRAWS, no_progress)


def by_class(store: CensusStore, names: tuple[str, ...]) -> Counter[tuple[int, ...]]:
    """How often each tuple of attributes occurs in each class of sex and age group."""
    broad = store.schema.variable("age").level("broad").group_array
    columns = [broad[store.raw(P, "age")], store.raw(P, "sex")]
    columns += [store.raw(P, name if store.has(P, name) else f"{name}_value") for name in names]
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rules=st.sampled_from([(), RULES]),
    k=st.sampled_from([0, 2, 4]),
    within=st.sampled_from(["", "region"]),
)
def test_attributes_by_class_stay_and_nothing_else_changes(
    seed: int, rules: tuple[str, ...], k: int, within: str
) -> None:
    with TemporaryDirectory() as folder:
        store = township(Path(folder) / "a", seed, *rules)
        attributes = ("religion", "marital")
        changes = swapped(store, risk_variables=("religion", "age@broad"), k=k, within=within)
        after = view(store, changes)
        assert by_class(store, attributes) == by_class(after, attributes)
        before, now = by_identity(store), by_identity(after)
        pairs = pairs_of(changes)
        touched = [digest for pair in pairs for digest in pair]
        assert len(set(touched)) == len(touched) >= round(0.05 * store.rows(P)) - 1
        length = 1 if within else 0
        codes = store.schema.variable("area").codes
        for (kind, digest), said in before.items():
            own = now[kind, digest]
            same = {name: value for name, value in said.items() if name not in attributes}
            assert same == {name: own[name] for name in same}
            if kind is P and digest not in touched:
                assert own == said
        for one, other in pairs:
            first, second = before[P, one], before[P, other]
            areas = [codes[person["area"]].code for person in (first, second)]
            assert areas[0] != areas[1]
            assert areas[0][:length] == areas[1][:length]
            assert any(first[name] != second[name] for name in attributes)
            for name in attributes:
                assert now[P, one][name] == second[name]
                assert now[P, other][name] == first[name]


def test_no_new_violation_whatever_rules_there_are(tmp_path: Path) -> None:
    """Without the rules the same seeds do break them, so the test could fail."""
    broken = 0
    for seed in range(6):
        store = township(tmp_path / f"a{seed}", seed, *RULES, households=400)
        options: dict[str, Any] = {"rate": 0.4, "classes": ("sex",)}
        changes = swapped(store, **options)
        with writing(tmp_path / f"b{seed}") as writer:
            write_derived(DerivedRecords(store, changes), writer, STEP, no_progress)
        free = township(tmp_path / f"c{seed}", seed, households=400)
        careless = view(free, swapped(free, **options))
        young = careless.raw(P, "age") < 3
        broken += int((young & (careless.raw(P, "marital") != 0)).sum())
        breaking = (store.raw(P, "marital") == 2) & (store.raw(P, "religion") == 5)
        digests = set(store.digests(P)[breaking].tolist())
        assert not digests & {digest for pair in pairs_of(changes) for digest in pair}
        (table,) = [fact for fact in changes.facts if fact.name == "swap-units"]
        said = {str(row[0]): row[1] for row in table.rows}
        assert said["break an edit rule already: they take no part"] >= breaking.sum() > 0
    assert broken > 50


def test_amounts_are_exchanged_with_codes(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 3)
    changes = swapped(store, attributes=("income", "religion"))
    after = view(store, changes)
    column = next(name for name in store.manifest.columns[P] if name.startswith("income"))

    def incomes(records: CensusStore) -> Counter[tuple[int, ...]]:
        columns = (records.raw(P, column), records.raw(P, "religion"), records.raw(P, "sex"))
        return Counter(zip(*(each.tolist() for each in columns), strict=True))

    assert incomes(store) == incomes(after)
    moved = by_identity(after)
    changed = [
        digest
        for (kind, digest), said in by_identity(store).items()
        if kind is P and said[column] != moved[P, digest][column]
    ]
    assert len(changed) == 2 * len(pairs_of(changes)) > 20


def test_several_lists_of_classes_keep_what_they_have_in_common(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 8)
    classes = ("age,sex,activity,tenure", "sex")
    changes = swapped(store, classes=classes, rate=0.5)
    after = view(store, changes)

    def by_sex(records: CensusStore) -> Counter[tuple[int, ...]]:
        names = ("sex", "religion", "marital")
        return Counter(zip(*(records.raw(P, name).tolist() for name in names), strict=True))

    assert by_sex(store) == by_sex(after)
    (table,) = [fact for fact in changes.facts if fact.name == "swap-profiles"]
    assert all(row[1] for row in table.rows)


def test_who_is_rare_is_exchanged_beyond_the_rate(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 4)
    risky = ("religion", "sex")
    changes = swapped(store, risk_variables=risky, k=3, rate=0.0, levels=("district",))
    district = store.schema.variable("area").level("district").group_array
    keys = list(
        zip(
            district[store.raw(P, "area")].tolist(),
            store.raw(P, "religion").tolist(),
            store.raw(P, "sex").tolist(),
            strict=True,
        )
    )
    counts = Counter(keys)
    nowhere = district[-1]
    rare = {
        digest
        for digest, key in zip(store.digests(P).tolist(), keys, strict=True)
        if counts[key] < 3 and key[0] != nowhere
    }
    pairs = pairs_of(changes)
    assert pairs
    assert {one for one, _ in pairs} <= rare
    failures = [fact for fact in changes.facts if fact.name == "swap-failures"]
    failed = sum(int(str(row[-1])) for fact in failures for row in fact.rows)
    assert len(rare & {each for pair in pairs for each in pair}) + failed == len(rare)


@pytest.mark.parametrize("areas", ["none", "one"])
def test_without_areas_partners_live_in_other_households(tmp_path: Path, areas: str) -> None:
    if areas == "none":
        store = without_areas(tmp_path / "a")
        options: dict[str, Any] = {"risk_variables": ("religion", "age"), "k": 3}
    else:
        store = Village(5, levels=2, top=1, fan=1, lonely=0.05).write(tmp_path / "a")
        options = {"attributes": ("faith",), "classes": ("sex",), "rate": 0.2}
    changes = swapped(store, **options)
    household = dict(
        zip(store.digests(P).tolist(), store.raw(P, "_household").tolist(), strict=True)
    )
    pairs = pairs_of(changes)
    assert len(pairs) > 3
    assert all(household[one] != household[other] for one, other in pairs)
    assert AttributeSwap(**({"attributes": ("religion",), "classes": ("sex",)} | options)).foresee(
        store, DRAWS, no_progress
    )
    assert view(store, changes).rows(P) == store.rows(P)


def test_the_order_of_records_does_not_matter(tmp_path: Path) -> None:
    options: dict[str, Any] = {"risk_variables": ("religion", "age"), "k": 2, "rate": 0.2}
    views = [
        view(store, swapped(store, **options))
        for store in (
            township(tmp_path / "a", 6, *RULES),
            township(tmp_path / "b", 6, *RULES, shuffled=3),
        )
    ]
    assert by_identity(views[0]) == by_identity(views[1])


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"attributes": ("area",)}, "is the place of the census"),
        ({"attributes": ("tenure",)}, "describes households"),
        ({"attributes": ("religion", "religion")}, "named twice"),
        ({"attributes": ("relgion",)}, "religion"),
        ({"attributes": ("sex",)}, "changes nothing"),
        ({"classes": ("age~1,sex",)}, "Name a level instead"),
        ({"classes": ("income",)}, "amount"),
        ({"classes": ("age@brood",)}, "brood"),
        ({"rate": 1.0}, "cannot be reached"),
        ({"rate": 0.0}, "No persons would be exchanged"),
        ({"risk_variables": ("religion",), "k": 10**6}, "larger than any group"),
        ({"risk_variables": ("area",)}, "Leave it out"),
        ({"levels": ("ward", "region")}, "region,ward"),
        ({"reach": ("ward:ward",)}, "Name a larger region"),
        ({"within": "ward"}, "No level is finer"),
    ],
)
def test_what_cannot_be_done_is_refused(
    tmp_path: Path, parameters: dict[str, Any], problem: str
) -> None:
    store = township(tmp_path / "a", 1)
    with pytest.raises(SdcensusError, match=problem):
        swapped(store, **parameters)


def test_a_coarser_level_of_an_attribute_can_be_a_class(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 1)
    changes = swapped(store, attributes=("age",), classes=("age@broad,sex",))
    assert by_class(store, ("age",)) == by_class(view(store, changes), ("age",))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_partners_differ_in_what_they_exchange(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 50))
    classes = profile(draw, size, wide=False)
    area, values = draw.integers(0, 4, size), draw.integers(0, 3, size)
    rules = Rules(profiles=(classes,), area=area, values=values)
    order, donors = draw.permutation(size), draw.permutation(size)
    pairs = find_pairs(rules, order, donors, np.zeros(size, dtype=bool))
    expected, failed = plain_pairs(
        order.tolist(),
        donors.tolist(),
        1,
        lambda _, one, other: bool(classes.classes[one] == classes.classes[other]),
        lambda one, other: bool(area[one] != area[other] and values[one] != values[other]),
        set(),
    )
    initiators, partners = pairs.initiators.tolist(), pairs.partners.tolist()
    assert list(zip(initiators, partners, strict=True)) == [pair[:2] for pair in expected]
    assert pairs.failed.tolist() == failed
    for unit, reason in zip(failed, failure_reasons(rules, pairs.failed, donors), strict=True):
        like = (classes.classes == classes.classes[unit]) & (np.arange(size) != unit)
        if not like.any():
            assert reason is Failure.NOBODY_ALIKE
        elif not (like & (values != values[unit])).any():
            assert reason is Failure.SAME_VALUES


def test_every_parameter_is_declared_with_its_default() -> None:
    declared = {parameter.name: parameter for parameter in AttributeSwap.takes}
    assert {each.name for each in fields(AttributeSwap)} == set(declared)
    for each in fields(AttributeSwap):
        if declared[each.name].default is not None:
            assert declared[each.name].default == each.default
