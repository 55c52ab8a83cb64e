"""Edit rules over changed records, against a plain reading of them record by record."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.edit_rules import (
    VIOLATIONS_FILE,
    CandidateRules,
    NewViolations,
    new_violations,
    refusal_of,
    violations_file,
)
from sdcensus.microdata.method import Changes, NewValues
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import Impossible, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity
from sdcensus.store.census_store import CensusStore
from sdcensus.store.edit_rules import impossible_rows
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.microdata.settlement import D, F, H, P, settlement_schema, settlement_units
from tests.microdata.test_derived_store import STEP, new

NOWHERE = 0xFFFFFFFF
RULES = (
    Impossible("age < 2 and tenure == 2"),
    Impossible("area == 1 and tenure == 0"),
    Impossible("sex == 1 and area == 2"),
    Impossible("sex == 1", relation=Relation(beside="sex == 0 and age < 4")),
    Impossible("sex == 1", relation=Relation(beside="sex == 1", within=F)),
    Impossible("sex == 0", relation=Relation(beside="sex == 1", gap="age", less_than=2)),
    Impossible("sex == 0", relation=Relation(beside="age > 1", within=D, gap="age", more_than=3)),
    Impossible("tenure == 1", relation=Relation(beside="tenure == 1 and size == 0")),
    Impossible("sex == 1", relation=Relation(beside="rooms == 1", gap="age", less_than=1)),
)


def aged(number: int) -> tuple[Code, ...]:
    """Ages of which one is a range, the oldest has no end, and one is not stated."""
    bands = [Code("0"), Code("1"), Code("2-3", lower=2, upper=3), *(Code(str(n)) for n in (4, 5))]
    more = [Code("6"), Code("7"), Code("8+", lower=8)]
    none = Code("99", kind=CodeKind.NOT_STATED)
    assert len(bands) + len(more) == number - 1
    return (*bands, *more, none)


def schema_of(rules: tuple[Impossible, ...] = RULES) -> Schema:
    schema = settlement_schema()
    variables = tuple(
        replace(variable, codes=aged(9)) if variable.name == "age" else variable
        for variable in schema.variables
    )
    return replace(schema, impossible=rules, variables=variables)


def store_of(folder: Path, seed: int) -> CensusStore:
    return write_store(folder, schema_of(), settlement_units(seed, 12), secret_id=SECRET.id)


def above(store: CensusStore, entity: Entity, row: int, holder: Entity) -> int:
    for parent in store.schema.path(entity, holder) or ():
        if row == NOWHERE:
            return row
        row = int(store.raw(entity, f"_{parent.value}")[row])
        entity = parent
    return row


def said(store: CensusStore, entity: Entity, row: int, name: str) -> int | None:
    """What the store says of a record, as a position in the code list."""
    variable = store.schema.variable(name)
    at = above(store, entity, row, variable.entity)
    if name == "area":  # kept with every record, also with those that nothing holds
        return int(store.raw(entity, name)[row])
    return len(variable.codes) - 1 if at == NOWHERE else int(store.raw(variable.entity, name)[at])


def plainly(store: CensusStore) -> Iterator[set[tuple[int, int]]]:
    """For each rule the pairs of digests that break it; the second is 0 for one record."""
    lower = [0, 1, 2, 4, 5, 6, 7, 8, None]
    upper = [0, 1, 3, 4, 5, 6, 7, None, None]

    def code(entity: Entity, row: int, name: str) -> int | None:
        return said(store, entity, row, name)

    def pairs(entity: Entity, holder: Entity) -> Iterator[tuple[int, int]]:
        groups: dict[int, list[int]] = {}
        for row in range(store.rows(entity)):
            groups.setdefault(above(store, entity, row, holder), []).append(row)
        groups.pop(NOWHERE, None)
        for group in groups.values():
            yield from itertools.permutations(group, 2)

    def gap(first: int, second: int) -> tuple[float, float]:
        one, two = code(P, first, "age"), code(P, second, "age")
        assert one is not None
        assert two is not None
        least = lower[two], upper[one]
        most = upper[two], lower[one]
        return (
            -99 if least[0] is None or least[1] is None else least[0] - least[1],
            99 if most[0] is None or most[1] is None else most[0] - most[1],
        )

    def sex(row: int, value: int) -> bool:
        return code(P, row, "sex") == value

    persons, households = range(store.rows(P)), range(store.rows(H))
    person, household = store.digests(P).tolist(), store.digests(H).tolist()
    age = [code(P, row, "age") or 0 for row in persons]
    yield {(person[r], 0) for r in persons if age[r] < 2 and code(P, r, "tenure") == 2}
    yield {
        (household[r], 0)
        for r in households
        if code(H, r, "area") == 1 and code(H, r, "tenure") == 0
    }
    yield {(person[r], 0) for r in persons if sex(r, 1) and code(P, r, "area") == 2}
    together = list(pairs(P, H))
    yield {(person[a], person[b]) for a, b in together if sex(a, 1) and sex(b, 0) and age[b] < 3}
    yield {(person[a], person[b]) for a, b in pairs(P, F) if sex(a, 1) and sex(b, 1)}
    yield {
        (person[a], person[b]) for a, b in together if sex(a, 0) and sex(b, 1) and gap(a, b)[1] < 2
    }
    yield {
        (person[a], person[b])
        for a, b in pairs(P, D)
        if sex(a, 0) and 2 <= age[b] <= 7 and gap(a, b)[0] > 3
    }
    yield {
        (household[a], household[b])
        for a, b in pairs(H, D)
        if code(H, a, "tenure") == 1 == code(H, b, "tenure") and code(H, b, "size") == 0
    }
    yield {
        (person[a], person[b])
        for a, b in together
        if sex(a, 1) and code(P, b, "rooms") == 1 and gap(a, b)[1] < 1
    }


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_rules_find_the_records_that_a_plain_reading_finds(seed: int) -> None:
    with TemporaryDirectory() as folder:
        store = store_of(Path(folder) / "a", seed)
        for (rule, rows), pairs in zip(impossible_rows(store), plainly(store), strict=True):
            digests = store.digests(rule.entity)[rows].tolist()
            assert sorted(digests) == sorted({first for first, _ in pairs}), rule.text


def drawn_changes(store: CensusStore, seed: int) -> Changes:
    draw = np.random.default_rng(seed)
    codes = {}
    for name, share in (("area", 0.2), ("tenure", 0.1), ("sex", 0.1), ("age", 0.2), ("rooms", 0.1)):
        variable = store.schema.variable(name)
        rows = np.flatnonzero(draw.random(store.rows(variable.entity)) < share)
        if draw.random() < 0.7:
            most = len(variable.codes) - (name == "area")
            codes[name] = NewValues(rows, draw.integers(0, most, rows.size))
    dropped = {P: np.flatnonzero(draw.random(store.rows(P)) < 0.05)} if draw.random() < 0.5 else {}
    return Changes(codes=codes, dropped=dropped)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_new_violations_are_those_that_nobody_had_before(seed: int) -> None:
    with TemporaryDirectory() as folder:
        store = store_of(Path(folder) / "a", seed)
        derived = DerivedRecords(store, drawn_changes(store, seed))
        after = DerivedView(derived, STEP)
        violations = {id(new.rule.rule): new for new in new_violations(derived)}
        for rule, old, now in zip(schema_rules(store), plainly(store), plainly(after), strict=True):
            earlier = old if rule.relation is not None else {(a, 0) for a, _ in old}
            expected = now - earlier
            new = violations.get(id(rule))
            firsts = {first for first, _ in expected}
            if new is None:
                assert not firsts, rule
                continue
            digests = store.digests(new.rule.entity)
            assert sorted(digests[new.rows].tolist()) == sorted(firsts), rule
            if new.others is not None:
                named = zip(digests[new.rows].tolist(), digests[new.others].tolist(), strict=True)
                assert set(named) <= expected
        check_file(derived, after, tuple(violations.values()))


def schema_rules(store: CensusStore) -> tuple[Impossible, ...]:
    return store.schema.impossible


def check_file(
    derived: DerivedRecords, after: CensusStore, violations: tuple[NewViolations, ...]
) -> None:
    """The file has every violation, at the row at which the record stands in the derived store."""
    columns = violations_file(derived, violations, VIOLATIONS_FILE).columns
    lines = list(zip(*columns.values(), strict=True)) if columns else []
    assert len(lines) == sum(new.rows.size for new in violations)
    for _, unit, row, record, other_row, other in lines:
        digests = after.digests(Entity(unit))
        assert f"{int(digests[row - 1]):016x}" == record
        assert other == (f"{int(digests[other_row - 1]):016x}" if other else "")


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(["area", "tenure", "sex", "age"]))
def test_candidates_are_judged_as_the_check_afterwards_judges_them(seed: int, name: str) -> None:
    with TemporaryDirectory() as folder:
        units = settlement_units(seed)
        store = write_store(Path(folder) / "a", schema_of(RULES[:3]), units, secret_id=SECRET.id)
        draw = np.random.default_rng(seed)
        variable = store.schema.variable(name)
        rows = np.flatnonzero(draw.random(store.rows(variable.entity)) < 0.5)
        values = draw.integers(0, len(variable.codes) - 1, rows.size)
        broken = CandidateRules(store, [name]).broken(rows, {name: values})
        changes = Changes(codes={name: NewValues(rows, values)})
        blamed: set[int] = set()
        for violations in new_violations(DerivedRecords(store, changes)):
            entity = violations.rule.entity
            blamed |= {above(store, entity, int(r), variable.entity) for r in violations.rows}
        assert set(rows[broken].tolist()) == blamed
        # Those that break nothing make a store that breaks nothing.
        kept = Changes(codes={name: NewValues(rows[~broken], values[~broken])})
        assert not new_violations(DerivedRecords(store, kept))


def test_rules_that_no_change_concerns_are_not_looked_at(tmp_path: Path) -> None:
    store = store_of(tmp_path / "a", 5)
    derived = DerivedRecords(store, Changes(codes={"kind": new([0], [1])}))
    (tmp_path / "a" / "person" / "age.bin").unlink()
    assert new_violations(derived) == ()
    candidates = CandidateRules(store, ["kind"])
    assert not candidates.variables
    assert not candidates.broken(np.arange(3), {"kind": np.zeros(3, np.int64)}).any()


def test_candidates_change_one_kind_of_unit(tmp_path: Path) -> None:
    store = store_of(tmp_path / "a", 5)
    with pytest.raises(ValueError, match="one kind of unit"):
        CandidateRules(store, ["tenure", "age"])


def test_the_refusal_names_rules_numbers_and_the_file(tmp_path: Path) -> None:
    store = store_of(tmp_path / "a", 5)
    everybody = np.arange(store.rows(P))
    changes = Changes(codes={"sex": NewValues(everybody, np.zeros(everybody.size, np.int64))})
    violations = new_violations(DerivedRecords(store, changes))
    text = refusal_of(violations, tmp_path / "violations.csv")
    for new_ones in violations:
        assert f"  {new_ones.rule.text}: {new_ones.rows.size} new" in text
    assert str(tmp_path / "violations.csv") in text
    assert "--allow-violations" in text
    assert "confidential" in repr(violations)
