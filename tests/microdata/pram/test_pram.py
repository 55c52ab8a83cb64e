"""PRAM changes what it says, as often as it says, for the records that identity draws."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import DocumentError, InputError, SpecError, UnknownName
from sdcensus.kernels.perturbation.transitions import WHOLE
from sdcensus.microdata.method import Changes, FactTable
from sdcensus.microdata.pram.method import Pram
from sdcensus.model.progress import no_progress
from sdcensus.session.census.census import open_store
from sdcensus.session.derive import derive, prepared
from sdcensus.store.census_store import CensusStore
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.testing.island import SECRET
from tests.microdata.pram.town import DRAWS, H, P, changes_of, town
from tests.microdata.settlement import by_identity, dense


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return town(tmp_path_factory.mktemp("town") / "store", 900)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return town(tmp_path_factory.mktemp("town") / "store", 60_000, seed=2, rules=())


def after(store: CensusStore, changes: Changes, name: str) -> Any:
    entity = store.schema.variable(name).entity
    codes = store.raw(entity, name).copy()
    if name in changes.codes:
        new = changes.codes[name]
        codes[new.rows] = new.values
    return codes


def table_of(changes: Changes, name: str) -> FactTable:
    return next(table for table in changes.facts if table.name == name)


def write_matrix(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


MARRIED = (",0,1,2", "0,0.7,0.2,0.1", "1,0.15,0.8,0.05", "2,0.3,0.3,0.4")


def test_transitions_have_the_probabilities_of_the_matrix_and_of_no_near_miss(
    large: CensusStore, tmp_path: Path
) -> None:
    file = write_matrix(tmp_path / "m.csv", *MARRIED)
    changes = changes_of(Pram(variables=("married",), matrix=(f"married={file}",)), large)
    before, now = large.raw(P, "married"), after(large, changes, "married")
    matrix = np.array([[float(x) for x in line.split(",")[1:]] for line in MARRIED[1:]])
    counts = np.zeros((4, 4))
    np.add.at(counts, (before, now), 1)
    assert counts[3].tolist() == [0, 0, 0, (before == 3).sum()]  # not stated stays so
    assert not counts[:3, 3].any()

    def distance(probabilities: Any) -> float:
        expected = probabilities * counts[:3, :3].sum(axis=1, keepdims=True)
        return float(((counts[:3, :3] - expected) ** 2 / expected).sum())

    # Chi-square with 6 degrees of freedom: above 30 once in 26,000 times; the truth is accepted,
    # and a matrix that is off by 0.02 rejected.
    assert distance(matrix) < 30
    near = matrix + np.array([[0.02, -0.02, 0], [0.02, -0.02, 0], [0.02, 0, -0.02]])
    assert distance(near) > 60


def test_expected_totals_are_those_of_the_transposed_matrix(large: CensusStore) -> None:
    method = Pram(variables=("age", "sex"), stay=("0.7",))
    changes = changes_of(method, large)
    for name in ("age", "sex"):
        for code, records, expected, spread, now, *_ in table_of(
            changes, f"pram-drawn-{name}"
        ).rows:
            place = [each.code for each in large.schema.variable(name).codes].index(str(code))
            assert records == (large.raw(P, name) == place).sum()
            assert now == (after(large, changes, name) == place).sum()
            assert isinstance(expected, float)
            assert isinstance(spread, float)
            assert abs(float(now or 0) - expected) <= 5 * spread + 0.1


def test_an_invariant_matrix_keeps_totals_in_expectation(large: CensusStore) -> None:
    rows = {}
    for invariant in (False, True):
        method = Pram(variables=("married",), stay=("0.6",), invariant=invariant)
        (table, *_) = method.foresee(large, DRAWS, no_progress)
        rows[invariant] = table.rows
    assert all(abs(float(row[1] or 0) - float(row[4] or 0)) <= 0.1 for row in rows[True])
    assert any(abs(float(row[1] or 0) - float(row[4] or 0)) > 100 for row in rows[False])
    # For an invariant matrix the expectation ratio is p / (1 - p), whatever the rarity.
    for _, _, stay, *_, ratio in rows[True][:3]:
        assert isinstance(stay, float)
        assert ratio == pytest.approx(stay / (1 - stay), abs=0.006)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), holder=st.sampled_from([P, H]))
def test_the_order_of_records_does_not_matter_and_other_variables_stay(
    seed: int, holder: Any
) -> None:
    method = Pram(
        variables=("age", "tenure"),
        together=("married,sex",),
        stay=("0.5",),
        similar=("age=equal",),
    )
    with TemporaryDirectory() as folder:
        results = []
        for name, shuffled in (("a", None), ("b", seed)):
            store = town(Path(folder) / name, 300, holder=holder, shuffled=shuffled)
            out = Path(folder) / f"{name}.out"
            parameters = {
                each.name: getattr(method, each.name)
                for each in method.takes
                if getattr(method, each.name)
            }
            parameters.pop("alpha")
            derive(store.path, out, "pram", parameters, secret=SECRET)
            results.append((by_identity(store), by_identity(CensusStore.open(out))))
    (before, first), (_, second) = results
    assert first == second
    assert set(first) == set(before)
    changed = {
        name
        for unit, record in first.items()
        for name in record
        if record[name] != before[unit][name]
    }
    assert changed == {"age", "tenure", "married", "sex"}


def test_persons_follow_their_household_on_every_engine(small: CensusStore, tmp_path: Path) -> None:
    derive(
        small.path,
        tmp_path / "b",
        "pram",
        {"variables": ["tenure"], "stay": ["0.5"]},
        secret=SECRET,
    )
    census, out = open_store(tmp_path / "b"), CensusStore.open(tmp_path / "b")
    link = out.raw(P, "_household")
    tenure = np.append(out.raw(H, "tenure"), 3)[np.minimum(link, out.rows(H))]
    counts = [
        dense(census.tabulate("tenure", of="persons", engine=engine)).count[:3].tolist()
        for engine in ("memory", "duckdb")
    ]
    assert counts[0] == counts[1] == np.bincount(tenure, minlength=4)[:3].tolist()


def test_draws_follow_the_name_of_a_variable_not_its_place(small: CensusStore) -> None:
    alone = changes_of(Pram(variables=("age",), stay=("0.7",), similar=("equal",)), small)
    both = changes_of(Pram(variables=("sex", "age"), stay=("0.7",), similar=("equal",)), small)
    assert (alone.codes["age"].rows == both.codes["age"].rows).all()
    assert (alone.codes["age"].values == both.codes["age"].values).all()


def test_who_changes_at_a_lower_rate_also_changes_at_a_higher_one(small: CensusStore) -> None:
    few, many = (
        set(changes_of(Pram(variables=("sex",), stay=(stay,)), small).codes["sex"].rows.tolist())
        for stay in ("0.9", "0.6")
    )
    assert few < many


@pytest.mark.parametrize("stay", ["0.3", "0"])
def test_values_that_would_break_a_rule_are_kept_and_counted(
    small: CensusStore, tmp_path: Path, stay: str
) -> None:
    parameters = {"variables": ["age", "married"], "stay": [stay]}
    report = derive(small.path, tmp_path / "b", "pram", parameters, secret=SECRET)
    out = CensusStore.open(tmp_path / "b")
    assert not any(rows.size for *_, rows in impossible_rows(out))
    step = prepared(small, "pram", {**parameters, "edit_rules": "refuse"}, secret=SECRET)
    drawn = {name: new.rows.size for name, new in step.run().changes.codes.items()}
    for name in ("age", "married"):
        kept = report.figures.get(f"{name} kept by edit rules", 0)
        assert drawn[name] == report.changed[name] + kept
        assert kept > 0
    assert any("effective-matrix" in note for note in report.notes)
    # No more is kept than rules need: of every record that kept a value, the draws break a rule.
    view = step.trial().store
    broken = np.concatenate([rows for *_, rows in impossible_rows(view)])
    for name in ("age", "married"):
        differs = np.flatnonzero(view.raw(P, name) != out.raw(P, name))
        assert np.isin(differs, broken).all()
    with pytest.raises(SpecError, match="age < 2 and married == 1"):
        derive(
            small.path,
            tmp_path / "c",
            "pram",
            {**parameters, "edit_rules": "refuse"},
            secret=SECRET,
        )
    assert not (tmp_path / "c").exists()


def test_rules_across_units_take_the_household_back(tmp_path: Path) -> None:
    store = town(
        tmp_path / "a", 600, rules=("age < 2 and married == 1", "age == 5 and tenure == 2")
    )
    parameters = {"variables": ["tenure", "age"], "stay": ["0.3"]}
    report = derive(store.path, tmp_path / "b", "pram", parameters, secret=SECRET)
    assert report.figures["tenure kept by edit rules"] > 0
    before = {
        rule.text: set(store.digests(rule.entity)[rows].tolist())
        for rule, rows in impossible_rows(store)
    }
    out = CensusStore.open(tmp_path / "b")
    for rule, rows in impossible_rows(out):
        entity = rule.entity
        assert set(out.digests(entity)[rows].tolist()) <= before[rule.text]


def test_variables_that_change_together_make_only_combinations_that_occur(
    tmp_path: Path,
) -> None:
    store = town(tmp_path / "a", 900, rules=())
    sex, married = store.raw(P, "sex").copy(), store.raw(P, "married")
    occurs = {*zip(sex.tolist(), married.tolist(), strict=True)}
    changes = changes_of(Pram(together=("sex,married",), stay=("0.2",)), store)
    now = after(store, changes, "sex"), after(store, changes, "married")
    assert {*zip(*(each.tolist() for each in now), strict=True)} <= occurs
    # Rows with a missing part stay; rows that list a variable really change it.
    missing = (sex == 2) | (married == 3)
    for name, codes in (("sex", now[0]), ("married", now[1])):
        assert (codes[missing] == store.raw(P, name)[missing]).all()
        new = changes.codes[name]
        assert (store.raw(P, name)[new.rows] != new.values).all()
        assert new.rows.size > 50
    swapped = changes_of(Pram(together=("married+sex",), stay=("0.2",)), store)
    assert (swapped.codes["sex"].values == changes.codes["sex"].values).all()


def test_similarity_decides_where_values_go(large: CensusStore) -> None:
    ages = large.raw(P, "age")

    def moved(similar: str) -> Any:
        changes = changes_of(Pram(variables=("age",), stay=("0.5",), similar=(similar,)), large)
        counts = np.zeros((9, 9), dtype=int)
        np.add.at(counts, (ages, after(large, changes, "age")), 1)
        return counts

    decade = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3])
    level = moved("age@decade")
    assert not level[decade[:, None] != decade[None, :]].any()
    assert level[0, 1] > 0
    near = moved("neighbours")
    assert near[3, 4] > 1.6 * near[3, 5] > 2.5 * near[3, 6] > 0
    assert abs(near[3, 2] - near[3, 4]) < 5 * np.sqrt(2 * near[3, 4])
    equal, frequency = moved("equal"), moved("frequency")
    assert abs(equal[0, 1] - equal[0, 2]) < 5 * np.sqrt(2 * equal[0, 1])
    assert frequency[0, 1] > 3 * frequency[0, 2]


BASE: dict[str, Any] = {"variables": ("age", "married"), "stay": ("0.6",)}


@pytest.mark.parametrize(
    "more",
    [
        {"variables": ("age",)},
        {"variables": ("sex",), "together": ("age,married",)},
        {"stay": ("0.5",)},
        {"stay": ("0.6", "age=0.7")},
        {"similar": ("equal",)},
        {"similar": ("age@decade",)},
        {"change_missing": True},
        {"invariant": True},
        {"invariant": True, "alpha": 0.5},
        {"edit_rules": "refuse"},
    ],
)
def test_every_setting_changes_the_result(small: CensusStore, more: dict[str, Any]) -> None:
    first, second = (
        [
            after(small, changes_of(Pram(**said), small), name).tolist()
            for name in ("age", "married")
        ]
        for said in (BASE, BASE | more)
    )
    assert first != second
    if "alpha" in more:
        whole = changes_of(Pram(**BASE, invariant=True), small)
        half = changes_of(Pram(**BASE, **more), small)
        assert half.codes["age"].rows.size < 0.7 * whole.codes["age"].rows.size


def test_the_limit_of_ratios_is_what_the_office_says(small: CensusStore) -> None:
    notes = [
        str(Pram(**BASE, ratio_limit=limit).foresee(small, DRAWS, no_progress)[0].note)
        for limit in (1.0, 1000.0)
    ]
    assert "1,000" in notes[1]
    assert notes[0] != notes[1]


def test_missing_values_take_part_only_if_the_office_says_so(small: CensusStore) -> None:
    sex = small.raw(P, "sex")
    for change_missing in (False, True):
        method = Pram(variables=("sex",), stay=("0.3",), change_missing=change_missing)
        now = after(small, changes_of(method, small), "sex")
        assert (((now == 2) != (sex == 2)).any()) == change_missing


def test_nothing_changes_with_certainty_to_stay_and_everything_without(
    large: CensusStore,
) -> None:
    assert not changes_of(Pram(variables=("sex",), stay=("1",)), large).codes["sex"].rows.size
    all_of_them = changes_of(Pram(variables=("sex",), stay=("0",)), large)
    assert all_of_them.codes["sex"].rows.size == (large.raw(P, "sex") < 2).sum()


def test_a_matrix_of_the_office_folder_gives_the_same_draws(
    small: CensusStore, tmp_path: Path
) -> None:
    said = {"variables": ["age"], "together": ["married,sex"], "stay": ["0.61803"]}
    derive(small.path, tmp_path / "b", "pram", said, secret=SECRET)
    office = tmp_path / "b.office"
    again = {
        "variables": ["age"],
        "together": ["sex,married"],
        "matrix": [
            f"age={office / 'pram-matrix-age.csv'}",
            f"sex+married={office / 'pram-matrix-married+sex.csv'}",
        ],
    }
    derive(small.path, tmp_path / "c", "pram", again, secret=SECRET)
    b, c = (by_identity(CensusStore.open(tmp_path / name)) for name in "bc")
    assert b == c


def test_another_matrix_in_the_same_file_is_another_lineage(
    small: CensusStore, tmp_path: Path
) -> None:
    file = tmp_path / "m.csv"
    lines = []
    for share in ("0.8", "0.7"):
        left = "0.2" if share == "0.8" else "0.3"
        write_matrix(file, ",0,1", f"0,{share},{left}", f"1,{left},{share}")
        step = prepared(
            small, "pram", {"variables": ["sex"], "matrix": [f"sex={file}"]}, secret=SECRET
        )
        lines.append(step.derivation.fingerprint)
    assert lines[0] != lines[1]
    elsewhere = tmp_path / "elsewhere.csv"
    file.rename(elsewhere)
    step = prepared(
        small, "pram", {"variables": ["sex"], "matrix": [f"sex = {elsewhere}"]}, secret=SECRET
    )
    assert step.derivation.fingerprint == lines[1]


def test_nobody_to_change_is_no_mistake(tmp_path: Path) -> None:
    store = town(tmp_path / "a", 3)
    file = write_matrix(tmp_path / "m.csv", *MARRIED)
    report = derive(
        store.path,
        tmp_path / "b",
        "pram",
        {"variables": ["married"], "matrix": [f"married={file}"], "invariant": True},
        secret=SECRET,
    )
    assert by_identity(CensusStore.open(tmp_path / "b")).keys() == by_identity(store).keys()
    assert report.rows[P] == store.rows(P)


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        ({}, SpecError, "--variables or --together"),
        ({"variables": ["sex"]}, SpecError, "--stay sex=0.9"),
        ({"variables": ["sexx"], "stay": ["0.5"]}, UnknownName, "Did you mean 'sex'"),
        ({"variables": ["sex", "sex"], "stay": ["0.5"]}, SpecError, "named twice"),
        ({"variables": ["ed"], "stay": ["0.5"]}, SpecError, "--how geographic"),
        ({"variables": ["income"], "stay": ["0.5"]}, SpecError, "is an amount"),
        ({"variables": ["size"], "stay": ["0.5"]}, SpecError, "how many persons a household"),
        ({"variables": ["sex"], "stay": ["1.5"]}, SpecError, "between 0 and 1"),
        ({"variables": ["sex"], "stay": ["often"]}, SpecError, "'often' is not a number"),
        ({"variables": ["sex"], "stay": ["age=0.5"]}, UnknownName, "variable that changes 'age'"),
        ({"variables": ["sex"], "stay": ["0.5", "0.6"]}, SpecError, "said twice"),
        ({"variables": ["sex"], "stay": ["sex="]}, SpecError, "says nothing"),
        ({"variables": ["sex"], "stay": ["0.5"], "similar": ["alike"]}, SpecError, "neighbours"),
        ({"variables": ["age"], "stay": ["0.5"], "similar": ["age@x"]}, UnknownName, "decade"),
        ({"variables": ["sex"], "matrix": ["m.csv"]}, SpecError, "--matrix sex=m.csv"),
        ({"variables": ["sex"], "matrix": ["sex=none.csv"]}, InputError, "does not exist"),
        ({"variables": ["sex"], "stay": ["0.5"], "alpha": 0.5}, SpecError, "needs --invariant"),
        ({"together": ["sex"], "stay": ["0.5"]}, SpecError, "one variable"),
        ({"together": ["sex,tenure"], "stay": ["0.5"]}, SpecError, r"tenure \(households\)"),
        (
            {"together": ["sex,age"], "stay": ["0.5"], "similar": ["neighbours"]},
            SpecError,
            "no neighbours",
        ),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(
    small: CensusStore, tmp_path: Path, said: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        derive(small.path, tmp_path / "b", "pram", said, secret=SECRET)
    assert not (tmp_path / "b").exists()


def test_a_matrix_for_other_codes_is_refused_with_its_line(
    small: CensusStore, tmp_path: Path
) -> None:
    file = write_matrix(tmp_path / "m.csv", ",0,3", "0,0.5,0.5", "3,0.5,0.5")
    said = {"variables": ["sex"], "matrix": [f"sex={file}"]}
    with pytest.raises(DocumentError, match=r"(?s)m.csv.*line 1.*'3'.*no row for the code.*'1'"):
        prepared(small, "pram", said, secret=SECRET).foresee()


def test_rows_of_the_drawn_matrix_sum_to_one_in_whole_numbers(small: CensusStore) -> None:
    method = Pram(variables=("age",), stay=("0.123456789",), invariant=True)
    ((_, matrix, _),) = method._matrices(small, no_progress)
    assert (matrix.weights.sum(axis=1) == WHOLE).all()
    assert "confidential" in f"{matrix}{matrix!r}{method!r}"
