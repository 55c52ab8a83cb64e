"""After SAFE no combination occurs once or twice, and everything else is as near as it can be."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.microdata.method import Changes, Draws
from sdcensus.microdata.safe.method import Safe
from sdcensus.microdata.safe.variables import listed_variables
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import CensusInfo, Impossible, Schema
from sdcensus.model.schema.variable import EntitySpec
from sdcensus.model.secret import Purpose, Secret
from sdcensus.session.derive import derive, prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.store.manifest import value_column
from sdcensus.testing.island import SECRET
from tests.hamlet import write_hamlet
from tests.microdata.pram.town import town
from tests.microdata.safe.small_place import (
    DRAWS,
    H,
    P,
    best_by_brute_force,
    codes_after,
    counted,
    fact,
    made_safe,
    place,
    variable,
)

LISTED = ("ed@parish", "sex", "married", "age@decade")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return town(tmp_path_factory.mktemp("town") / "store", 500, rules=())


def drawn_columns(seed: int, persons: int, sizes: tuple[int, ...]) -> dict[str, list[int]]:
    draw = np.random.default_rng(seed)
    shares = [draw.dirichlet(np.full(size, 0.7)) for size in sizes]
    return {
        "abcdef"[at]: draw.choice(size, persons, p=share).tolist()
        for at, (size, share) in enumerate(zip(sizes, shares, strict=True))
    }


# ------------------------------------------------------------------------------ what is promised


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    persons=st.integers(8, 90),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    minimum=st.integers(2, 5),
    coarse=st.booleans(),
    held=st.booleans(),
)
def test_no_combination_occurs_less_often_than_the_minimum_and_nobody_is_lost(
    seed: int, persons: int, sizes: list[int], minimum: int, coarse: bool, held: bool
) -> None:
    columns = drawn_columns(seed, persons, tuple(sizes))
    names = [f"{name}@{name}_pairs" if coarse else name for name in columns]
    households = [at % 2 for at in range(persons)] if held else None
    with TemporaryDirectory() as folder:
        store = place(
            Path(folder) / "store",
            columns,
            areas=[0, 1] if held else None,
            households=households,
        )
        listed = [*names, "area"] if held else names
        if held and persons // 2 < minimum:
            return
        changes = made_safe(store, variables=tuple(listed), minimum=minimum)
        after = counted(store, changes, listed)
        assert sum(after.values()) == persons
        assert min(after.values()) >= minimum
        before = counted(store, made_nothing(), listed)
        assert set(after) <= set(before)  # nothing appears that nobody had
        if held:  # areas are inherited: nobody moves
            totals = [sum(n for key, n in each.items() if key[-1] == 0) for each in (before, after)]
            assert totals[0] == totals[1]


def made_nothing() -> Changes:
    return Changes()


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    persons=st.integers(3, 11),
    sizes=st.sampled_from([(2, 2), (3, 2), (4, 1), (2, 2, 2), (5, 2)]),
    tables=st.sampled_from(
        [{"a": 1, "b": 1}, {"a": 3, "b": 2}, {"a,b": 1}, {"a,b": 2, "a": 1}, {"a": 2}]
    ),
)
def test_the_largest_deviation_is_that_of_brute_force_where_integer_programs_help(
    seed: int, persons: int, sizes: tuple[int, ...], tables: dict[str, int]
) -> None:
    columns = drawn_columns(seed, persons, sizes)
    names = list(columns)
    layers: dict[tuple[str, ...], int] = {}
    for text, weight in tables.items():
        axes = text.split(",")
        for layer in (tuple(axes), *((axis,) for axis in axes)):  # totals are part of a table
            layers[layer] = min(weight, layers.get(layer, weight))
    with TemporaryDirectory() as folder:
        store = place(Path(folder) / "store", columns)
        before = counted(store, made_nothing(), names)
        cells = [
            [tuple(key[names.index(axis)] for axis in layer) for layer in layers] for key in before
        ]
        best = best_by_brute_force(list(before.values()), cells, 3, list(layers.values()))
        control = tuple(f"{text}={weight}" for text, weight in tables.items())
        for exact in (100, 0):
            changes = made_safe(store, variables=tuple(names), control_table=control, exact=exact)
            assert min(counted(store, changes, names).values()) >= 3
            reached = 0.0
            for layer, weight in layers.items():
                first, second = (counted(store, each, layer) for each in (made_nothing(), changes))
                worst = max(abs(second.get(key, 0) - number) for key, number in first.items())
                reached = max(reached, worst / weight)
            assert reached >= best - 1e-9
            assert fact(changes, "safe-reached", "safe.rows.worst") == pytest.approx(reached)
            bound = fact(changes, "safe-reached", "safe.rows.bound")
            assert bound <= best + 1e-9
            if exact:
                assert reached == pytest.approx(best)
                assert bound == pytest.approx(best)


def test_nothing_changes_where_every_combination_occurs_often_enough(tmp_path: Path) -> None:
    store = place(tmp_path / "store", {"a": [0, 0, 0, 1, 1, 1], "b": [0] * 6})
    changes = made_safe(store, variables=("a", "b"))
    assert not changes.codes
    assert fact(changes, "safe-reached", "safe.rows.worst") == 0
    assert any("No record has changed" in note for note in changes.notes)


def test_a_census_without_records_is_left_alone(tmp_path: Path) -> None:
    store = place(tmp_path / "store", {"a": [], "b": []}, sizes={"a": 2, "b": 2})
    assert not made_safe(store, variables=("a", "b")).codes
    assert Safe(variables=("a",)).foresee(store, None, no_progress)


def test_fewest_records_change_for_the_counts_that_were_reached(small: CensusStore) -> None:
    changes = made_safe(small, variables=LISTED)
    before, after = (counted(small, each, LISTED) for each in (made_nothing(), changes))
    fewest = sum(max(0, number - after.get(key, 0)) for key, number in before.items())
    assert changes.figures["units with another combination"] == fewest


def test_new_leaves_are_those_that_records_of_the_group_had(small: CensusStore) -> None:
    changes = made_safe(small, variables=LISTED)
    new = changes.codes["age"]
    decade = small.schema.variable("age").level("decade").group_array
    assert (decade[new.values] != decade[small.raw(P, "age")[new.rows]]).all()
    assert set(new.values.tolist()) <= set(small.raw(P, "age").tolist())


# ------------------------------------------------------------------------------ draws and order


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_neither_the_order_of_records_nor_that_of_settings_matters(seed: int) -> None:
    columns = drawn_columns(7, 120, (4, 4, 3))
    mixed = np.random.default_rng(seed).permutation(120).tolist()
    results = []
    with TemporaryDirectory() as folder:
        for number, order in enumerate((None, mixed)):
            store = place(Path(folder) / str(number), columns, order=order)
            names = ("a", "b", "c") if order is None else ("c", "a", "b")
            control = ("a,b", "c=2") if order is None else ("c=2", "b,a")
            changes = made_safe(store, variables=names, control_table=control, moves=4)
            digests = store.digests(P)
            results.append(
                {
                    name: dict(
                        zip(
                            digests[new.rows].tolist(),
                            new.values.tolist(),
                            strict=True,
                        )
                    )
                    for name, new in changes.codes.items()
                }
            )
    assert results[0] == results[1]
    assert results[0]


def test_the_secret_decides_and_nothing_else(small: CensusStore) -> None:
    first, again = (made_safe(small, variables=LISTED, exact=0) for _ in range(2))
    other = Draws(Secret(bytes(range(1, 33))).sub_key(Purpose.SAFE, 1))
    another = made_safe(small, other, variables=LISTED, exact=0)
    for name, new in first.codes.items():
        assert new.rows.tolist() == again.codes[name].rows.tolist()
        assert new.values.tolist() == again.codes[name].values.tolist()
    assert any(
        new.rows.tolist() != another.codes[name].rows.tolist() for name, new in first.codes.items()
    )


# ------------------------------------------------------------------------------ rules


def test_rules_about_one_record_are_kept_also_with_variables_that_are_not_listed(
    tmp_path: Path,
) -> None:
    columns = drawn_columns(3, 200, (5, 4, 3, 2))
    # Who has b at 2 or more has d at 0, and d is not listed; a at 0 goes with c at 0.
    columns["d"] = [0 if b >= 2 else d for b, d in zip(columns["b"], columns["d"], strict=True)]
    columns["c"] = [0 if a == 0 else c for a, c in zip(columns["a"], columns["c"], strict=True)]
    rules = ("b >= 2 and d == 1", "a == 0 and c != 0")
    store = place(tmp_path / "store", columns, rules=rules)
    changes = made_safe(store, variables=("a", "b@b_pairs", "c"), moves=10)
    assert min(counted(store, changes, ("a", "b@b_pairs", "c")).values()) >= 3
    a, b, c = (codes_after(store, changes, name) for name in "abc")
    d = codes_after(store, changes, "d")
    assert not ((b >= 2) & (d == 1)).any()
    assert not ((a == 0) & (c != 0)).any()
    assert "b" in changes.codes


def test_records_that_break_a_rule_already_may_go_on_so(tmp_path: Path) -> None:
    store = place(tmp_path / "store", {"a": [0, 1, 1, 1], "b": [1, 1, 1, 1]}, rules=("b == 1",))
    changes = made_safe(store, variables=("a",))
    assert min(counted(store, changes, ("a",)).values()) >= 3


def test_rules_about_two_records_are_kept(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    households = np.repeat(np.arange(60), 3).tolist()
    role = [0, 1, 2] * 60
    age = [int(draw.integers(4, 8)) if r < 2 else int(draw.integers(0, 4)) for r in role]
    other = draw.integers(0, 4, 180).tolist()
    columns = {"role": role, "age": age, "other": other}
    rule = Impossible(
        "role == 2", relation=Relation(beside="role == 0", within=H, gap="age", less_than=1)
    )
    store = place(
        tmp_path / "store",
        columns,
        sizes={"age": 8},
        areas=[0] * 60,
        households=households,
        rules=(rule,),
    )
    changes = made_safe(store, variables=("age", "other", "role"), moves=10)
    assert min(counted(store, changes, ("age", "other", "role")).values()) >= 3
    assert changes.codes
    step = prepared(
        store, "safe", {"variables": "age,other,role", "moves": 10}, secret=Secret(bytes(range(32)))
    )
    derived = step.trial()
    assert not any(rows.size for _, rows in impossible_rows(derived.store))


def test_rules_that_leave_no_way_are_told(tmp_path: Path) -> None:
    columns = {"a": [0, 1, 2, 2], "b": [0, 1, 2, 2]}
    rules = ("a == 0 and b != 0", "a == 1 and b != 1", "a == 2 and b != 2")
    store = place(tmp_path / "store", columns, rules=rules)
    with pytest.raises(SpecError, match=r"Edit rules .* leave no way .* at least 3 persons"):
        made_safe(store, variables=("a",))


# ------------------------------------------------------------------------------ what stays


def test_inherited_combinations_below_the_minimum_are_named_with_a_remedy(tmp_path: Path) -> None:
    store = place(
        tmp_path / "store",
        {"a": [0, 1, 0, 1, 0, 1, 1]},
        areas=[0, 1, 2],
        households=[0, 0, 0, 1, 1, 1, 2],
    )
    with pytest.raises(SpecError) as refused:
        made_safe(store, variables=("area", "a"))
    text = str(refused.value)
    assert "area 2" in text
    assert "area 1" not in text
    assert "area@parish" in text
    assert "leave one of these out" in text
    facts = Safe(variables=("area", "a")).foresee(store, None, no_progress)
    assert [row for table in facts if table.name == "safe-too-small" for row in table.rows] == [
        ("area 2",)
    ]


def test_areas_of_persons_move_unless_they_are_kept(tmp_path: Path) -> None:
    columns = drawn_columns(11, 60, (4, 3))
    areas = [at % 4 for at in range(60)]
    store = place(tmp_path / "store", columns, areas=areas)
    listed = ("area", "a", "b")
    free, kept = (
        made_safe(store, variables=listed, moves=5, exact=0),
        made_safe(store, variables=listed, unchanged=("area",), moves=5, exact=0),
    )
    assert "area" in free.codes
    assert "area" not in kept.codes
    for changes in (free, kept):
        assert min(counted(store, changes, listed).values()) >= 3
    assert counted(store, kept, ("area",)) == counted(store, made_nothing(), ("area",))


def test_amounts_go_with_their_classes(tmp_path: Path) -> None:
    hamlet = write_hamlet(tmp_path)
    store = hamlet.load().store
    said = {"variables": ["income@bracket", "age@ten_year", "married"], "moves": 5, "exact": 0}
    changes = prepared(store, "safe", said, secret=hamlet.secret).run().changes
    new, amounts = changes.codes["income"], changes.amounts["income"]
    assert amounts.rows.tolist() == new.rows.tolist()
    codes, values = store.raw(P, "income"), store.raw(P, value_column("income"))
    known = set(zip(codes.tolist(), values.tolist(), strict=True))
    assert set(zip(new.values.tolist(), amounts.values.tolist(), strict=True)) <= known


# ------------------------------------------------------------------------------ control tables


def test_weights_say_where_deviations_may_be_larger(tmp_path: Path) -> None:
    columns = drawn_columns(21, 900, (9, 9, 5, 4))
    store = place(tmp_path / "store", columns)

    def total(changes: Changes, names: list[str]) -> int:
        before, after = counted(store, made_nothing(), names), counted(store, changes, names)
        return sum(abs(after.get(key, 0) - number) for key, number in before.items())

    light, heavy = {}, {}
    for first, second in (("a,b", "c,d"), ("c,d", "a,b")):
        control = (f"{first}=20", second)
        changes = made_safe(
            store, variables=tuple("abcd"), control_table=control, minimum=5, moves=20
        )
        light[first] = total(changes, first.split(","))
        heavy[second] = total(changes, second.split(","))
    assert light["a,b"] > heavy["a,b"]
    assert light["c,d"] > heavy["c,d"]


def test_deviations_are_reported_as_they_are(small: CensusStore) -> None:
    changes = made_safe(
        small, variables=LISTED, control_table=("ed@parish+region,sex", "age@decade=2")
    )
    rows = {
        str(row[0]): row
        for table in changes.facts
        if table.name == "safe-deviations"
        for row in table.rows
    }
    assert set(rows) == {
        "ed@parish,sex",
        "ed@region,sex",
        "sex",
        "age@decade",
    }  # areas alone stay as they are
    for name, row in rows.items():
        axes = name.split(",")
        before, after = (counted(small, each, axes) for each in (made_nothing(), changes))
        gaps = [abs(after.get(key, 0) - number) for key, number in before.items()]
        assert row[1] == (2 if name == "age@decade" else 1)
        assert row[2] == len(before)
        assert row[3] == pytest.approx(gaps.count(0) / len(gaps))
        assert row[-1] == max(gaps)
        assert row[-2] == pytest.approx(sum(gaps) / len(gaps))
        assert sum(map(int, row[4:-2])) == len(gaps) - gaps.count(0)  # type: ignore[arg-type]
    (file,) = changes.files
    assert set(file.columns["table"].tolist()) <= set(rows)
    assert (file.columns["before"] != file.columns["after"]).all()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"variables": ("sex", "sex")}, "lists 'sex' twice"),
        ({"variables": ("sexx",)}, "Did you mean 'sex'"),
        ({"variables": ("income",)}, "'income' is continuous"),
        (
            {"variables": ("ed@parish",), "unchanged": ("ed",)},
            "at least one more variable of households",
        ),
        ({"variables": ("sex",), "unchanged": ("age",)}, "no listed variable 'age'"),
        ({"variables": ("sex",), "control_table": ("sex,age",)}, "'age' is not listed"),
        ({"variables": ("sex", "age@decade"), "control_table": ("age",)}, "is no sum"),
        ({"variables": ("sex",), "control_table": ("sex=0",)}, "whole number from 1 to 100"),
        ({"variables": ("sex",), "control_table": ("sex=1.5",)}, "whole number from 1 to 100"),
        ({"variables": ("sex",), "control_table": ("=3",)}, "names no table"),
        (
            {
                "variables": ("sex", "age", "married"),
                "control_table": tuple(
                    f"{name}={weight}"
                    for name, weight in (
                        ("sex", 97),
                        ("age", 89),
                        ("married", 83),
                        ("sex,age", 100),
                    )
                ),
            },
            "multiples of each other",
        ),
    ],
)
def test_wrong_settings_say_what_to_do(small: CensusStore, said: dict[str, Any], told: str) -> None:
    with pytest.raises((SpecError, UnknownName), match=told):
        made_safe(small, **said)


def test_what_counts_other_records_stays_and_households_can_be_made_safe(tmp_path: Path) -> None:
    store = town(tmp_path / "store", 3_000, rules=())
    with pytest.raises(SpecError, match=r"fewer than 3 households.* and size 7;.*: ed, size\."):
        made_safe(store, variables=("tenure", "size", "ed@region"))
    changes = made_safe(store, variables=("tenure", "ed"), minimum=20)
    assert set(changes.codes) == {"tenure"}  # households lie in dwellings, and stay there
    tenure = store.raw(H, "tenure").copy()
    tenure[changes.codes["tenure"].rows] = changes.codes["tenure"].values
    numbers = np.unique(store.raw(H, "ed").astype(np.int64) * 10 + tenure, return_counts=True)[1]
    assert numbers.min() >= 20


def test_variables_of_units_that_do_not_hold_each_other_are_refused(tmp_path: Path) -> None:
    person = EntitySpec(entity=P, id=("p",))
    household = EntitySpec(entity=H, id=("h",))
    schema = Schema(
        census=CensusInfo(name="Apart", code=("A",)),
        entities=(person, household),
        variables=(variable("a", 2), variable("b", 2, H)),
    )
    with pytest.raises(SpecError, match=r"none lies in all the others: a \(persons\), b"):
        listed_variables(schema, ("a", "b"))


# ------------------------------------------------------------------------------ the road


def test_a_derived_store_has_no_small_combination_and_the_same_areas(
    small: CensusStore, tmp_path: Path
) -> None:
    report = derive(
        small.path,
        tmp_path / "safe.store",
        "safe",
        {"variables": list(LISTED), "moves": 2},
        secret=SECRET,
    )
    derived = CensusStore.open(tmp_path / "safe.store")
    assert min(counted(derived, made_nothing(), LISTED).values()) >= 3
    assert report.lineage.startswith("safe 1 ")
    for axes in (("ed",), ("ed@region",)):
        assert counted(derived, made_nothing(), axes) == counted(small, made_nothing(), axes)


def test_confidential_objects_do_not_show_what_they_hold(small: CensusStore) -> None:
    method = Safe(variables=LISTED)
    assert repr(method) == "<Safe: confidential>"
    assert DRAWS is not None
