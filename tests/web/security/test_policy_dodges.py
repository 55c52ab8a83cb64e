"""No way of asking gets around the policy, and no answer has noise of its own.

What is refused or withheld stays so in every spelling of the question; every number is a published
value of the closed lattice or a sum of such; and no answer depends on what was asked before, by
whom, in which form, or of which server.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings, strategies as st

import sdcensus
from sdcensus.errors import QuestionError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.policy.policy import (
    Limits,
    OnlineRules,
    Policy,
    RoleRules,
    UserRole,
    WhenSparse,
)
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import Answer, TableService
from sdcensus.session.census.census import open_store
from sdcensus.session.commands import compile_program
from sdcensus.session.policy import Outcome
from sdcensus.testing.island import SECRET, island, island_store
from sdcensus.web.api.telling import AskedTable, make_entry
from tests.examples import at_least
from tests.formats.write.delivered_made import FOR_ANY_TABLE
from tests.session.answer.services import METHOD, asked, published, service, values

MEAN = 3
SIZES = {"sex": 2, "age": 10, "married": 2}
PARISHES = [f"P{at}" for at in range(7)]
DISTRICTS = {"D0": PARISHES[:3], "D1": PARISHES[3:6], "D2": PARISHES[6:]}
STRICT = service(400, online=OnlineRules(mean_cell_size=MEAN, when_sparse=WhenSparse.WITHHOLD_AREA))


@cache
def populations() -> dict[str, int]:
    table = published(STRICT, "area@parish+district")
    axis = table.spec.axes[0]
    return {code.code: int(table.published[at]) for at, code in enumerate(axis.codes)}


def sparse(area: str, variables: frozenset[str]) -> bool:
    """Whether an area is withheld in the table of all these variables at their finest levels."""
    cells = math.prod(SIZES[variable] for variable in variables)
    return populations()[area] < MEAN * cells


def marks_of(answer: Answer) -> Any:
    assert answer.table is not None
    shown = answer.table.marks
    return np.zeros(answer.table.values.shape) if shown is None else shown


CONDITIONS = st.lists(
    st.sampled_from(
        [
            ("age", "age == 4"),
            ("age", "age > 5"),
            ("age", "not age in (1, 2)"),
            ("sex", "sex == 1"),
            ("married", "married != 0"),
        ]
    ),
    max_size=3,
    unique_by=lambda one: one[0],
)


@settings(max_examples=at_least(50))
@given(
    st.sets(st.sampled_from(sorted(SIZES)), max_size=2),
    CONDITIONS,
    st.sampled_from(["and", "or"]),
    st.sampled_from(["whole", "codes", "groups", "condition", "no-total"]),
    st.sets(st.sampled_from(PARISHES), min_size=1, max_size=3),
    st.booleans(),
)
def test_an_area_that_is_withheld_stays_withheld_however_it_is_asked_for(
    axes: set[str],
    conditions: list[tuple[str, str]],
    word: str,
    way: str,
    areas: set[str],
    totals: bool,
) -> None:
    suffix = "" if totals else "-total"
    by = [f"area{'-total' if way == 'no-total' else ''}", *(f"{axis}{suffix}" for axis in axes)]
    where = f" {word} ".join(text for _, text in conditions)
    used = frozenset({*axes, *(name for name, _ in conditions)})
    question: dict[str, Any] = {"by": by, "where": where}
    shown = [[one] for one in PARISHES]
    if way == "codes":
        question["codes"] = {"area": sorted(areas)}
        shown = [[area] for area in sorted(areas)]
    elif way == "groups":
        question["groups"] = {"area": [{"label": "mine", "codes": sorted(areas)}]}
        shown = [sorted(areas)]
    elif way == "condition":
        only = " or ".join(f"area == '{area}'" for area in sorted(areas))
        question["where"] = f"({only}) and ({where})" if where else only
        shown = [[area] for area in sorted(areas)]
    answer = STRICT.answer(Question.from_json({"of": "persons", **question}))
    if answer.verdict.outcome is Outcome.REFUSED:
        return
    marks = marks_of(answer)
    whole = {tuple(parishes): name for name, parishes in DISTRICTS.items()}
    for row, members in enumerate(shown):
        names = [whole[tuple(members)]] if tuple(members) in whole else members
        if any(sparse(name, used) for name in names):
            # Outside the condition there is nothing to withhold: such cells have no parts.
            nothing = False if answer.parts is None else answer.parts[row] == 0
            assert ((marks[row] == Mark.REFUSED) | nothing).all(), (question, members)
            assert (values(answer)[row] == 0).all()


@pytest.mark.parametrize("area", PARISHES)
def test_an_area_in_a_condition_alone_is_refused_where_it_would_be_withheld(area: str) -> None:
    for axes in (("age",), ("age", "sex"), ("age", "sex", "married")):
        answer = STRICT.answer(asked(*axes, where=f"area == '{area}'"))
        expected = sparse(area, frozenset(axes))
        assert (answer.verdict.outcome is Outcome.REFUSED) == expected, (area, axes)


def test_programs_are_judged_like_questions() -> None:
    """The command window has no other way to the numbers."""
    for area in PARISHES:
        text = f"TABLE t AS CROSSTABS OF person.age BY person.sex FOR person.area = '{area}'"
        [table] = compile_program(text, STRICT.census.schema).tables
        answer = STRICT.answer(table.question)
        expected = sparse(area, frozenset({"age", "sex"}))
        assert (answer.verdict.outcome is Outcome.REFUSED) == expected


# ------------------------------------------------------------------------------- closed lattice

NOTED: list[TableSpec] = []


class NotingKeys(CellKey):
    """The method, which notes what it is asked to protect."""

    def protect(self, cube: AnyCube) -> Protected:
        NOTED.append(cube.spec)
        return super().protect(cube)


@given(
    st.lists(st.sampled_from(["area", "age@class", "sex"]), unique=True, max_size=2),
    CONDITIONS,
    st.sampled_from(["and", "or"]),
    st.sets(st.sampled_from([str(at) for at in range(10)]), min_size=1),
)
def test_nothing_is_ever_protected_that_is_no_table_of_declared_codes(
    by: list[str], conditions: list[tuple[str, str]], word: str, ages: set[str]
) -> None:
    """Also not for a decision: what a rule refuses would tell about a number of its own."""
    method = NotingKeys(design_perturbation(8, 12.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
    rules = OnlineRules(minimum_population=40, ones=0.5, ones_and_twos=0.9, mean_cell_size=0.5)
    made = service(400, method=method, online=rules)
    NOTED.clear()
    where = f" {word} ".join(text for _, text in conditions)
    made.answer(asked(*by, where=where))
    if "age@class" not in by:
        made.answer(asked(*by, "age", groups={"age": [{"label": "g", "codes": sorted(ages)}]}))
    assert NOTED
    for spec in NOTED:
        assert spec.universe.everything
        for axis in spec.axes:
            declared = {level.name: level for level in axis.variable.levels()}
            for level in axis.levels:
                group = np.array(level.group)
                whole = np.array(declared[level.name].group)
                for code in np.unique(group):
                    if level.codes[code].code == "\N{HORIZONTAL ELLIPSIS}":
                        continue  # all others together: counted, and never shown
                    assert np.unique(whole[group == code]).size == 1
                    members = whole == whole[group == code][0]
                    np.testing.assert_array_equal(group == code, members)


AGES = [str(at) for at in range(10)]
#: Declared sets of ages: single years, classes, halves, and all.
DECLARED = {
    **{one: {one} for one in AGES},
    **{"c0": set(AGES[:3]), "c1": set(AGES[3:7]), "c2": set(AGES[7:])},
    **{"h0": set(AGES[:5]), "h1": set(AGES[5:]), "_T": set(AGES)},
}
WIDE = service(2_000)


@cache
def declared_values() -> dict[str, tuple[int, ...]]:
    table = published(WIDE, "sex", "age+class+half")
    axis = table.spec.axes[1]
    return {code.code: tuple(table.published[:, at].tolist()) for at, code in enumerate(axis.codes)}


def ways(ages: frozenset[str]) -> set[tuple[int, ...]]:
    """Every sum of published values of declared codes that make up a set of ages."""
    if not ages:
        return {(0, 0, 0)}
    first = min(ages)
    found = set()
    for name, members in DECLARED.items():
        if first in members and members <= ages:
            mine = declared_values()[name]
            found |= {
                tuple(a + b for a, b in zip(mine, rest, strict=True))
                for rest in ways(ages - members)
            }
    return found


@settings(max_examples=at_least(30))
@given(st.sets(st.sampled_from(AGES), min_size=1), st.data())
def test_groups_that_differ_by_one_code_differ_by_published_values(
    ages: set[str], data: st.DataObject
) -> None:
    """Differencing gives what could have been asked for directly, and never fresh noise."""
    more = ages | {data.draw(st.sampled_from(AGES))}
    order = data.draw(st.permutations(sorted(more)))
    groups = [{"label": "a", "codes": sorted(ages)}, {"label": "b", "codes": list(order)}]
    both = values(WIDE.answer(asked("sex", "age", groups={"age": groups})))
    assert tuple(both[:, 0].tolist()) in ways(frozenset(ages))
    assert tuple(both[:, 1].tolist()) in ways(frozenset(more))
    # Alone, in another order, under another name, or as a condition: the same numbers.
    alone = asked("sex", "age-total", groups={"age": [{"label": "x", "codes": list(order)}]})
    np.testing.assert_array_equal(values(WIDE.answer(alone))[:, 0], both[:, 1])
    condition = asked("sex", where=" or ".join(f"age == {one}" for one in order))
    np.testing.assert_array_equal(values(WIDE.answer(condition)), both[:, 1])


# ----------------------------------------------------------------------- neither past nor person

SERIES: list[dict[str, Any]] = [
    {"by": ["area", "sex"]},
    {"by": ["area", "age@class"], "where": "sex == 1"},
    {"by": ["sex"], "where": "age in (0, 4, 5, 9)"},
    {"by": ["age"], "groups": {"age": [{"label": "=1+1", "codes": ["0", "9"]}]}},
    {"by": ["area@district+parish"], "codes": {"area": ["P6", "D1"]}},
    {"by": ["age", "sex", "married"], "where": "area == 'P6'"},
    {},
]


def bodies(made: TableService, role: UserRole = UserRole.PUBLIC, order: int = 0) -> dict[str, str]:
    """The digest of every answer of the series, in every form, asked in some order."""
    asked_for = [
        AskedTable(Question.from_json({"of": "persons", **one}), form, language)
        for one in SERIES
        for form, language in zip(
            FOR_ANY_TABLE, itertools.cycle(["en", "es", "fr", "nl"]), strict=False
        )
    ]
    random.Random(order).shuffle(asked_for)
    found = {}
    for one in asked_for:
        entry = make_entry(made, one, role)
        told = entry.body or orjson.dumps([entry.refusal and list(entry.refusal.reasons)])
        key = json.dumps([one.question.text, one.format, one.language])
        found[key] = hashlib.sha256(told).hexdigest()
    return found


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    rules = OnlineRules(mean_cell_size=MEAN, when_sparse=WhenSparse.WITHHOLD_AREA)
    first = bodies(service(400, online=rules), order=1)
    warm = service(400, online=rules)
    bodies(warm, order=2)
    assert bodies(warm, order=3) == first
    tight = TableService(
        warm.census, warm.policy, {Entity.PERSON: METHOD}, kept_bytes=64
    )  # nothing is ever at hand
    assert bodies(tight, order=4) == first


def test_roles_see_the_same_numbers() -> None:
    census = island(400)
    roles = (
        RoleRules(role=UserRole.PUBLIC, dimensions=3, cells=10_000),
        RoleRules(role=UserRole.REGISTERED, dimensions=4, cells=20_000),
    )
    rules = OnlineRules(mean_cell_size=MEAN, when_sparse=WhenSparse.WITHHOLD_AREA)
    policy = Policy(
        name="roles",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=30_000),
        online=rules,
        roles=roles,
    )
    made = TableService(census, policy, {Entity.PERSON: METHOD})
    for one in SERIES:
        answers = [
            made.answer(Question.from_json({"of": "persons", **one}), role) for role in UserRole
        ]
        tables = [answer.table for answer in answers if answer.table is not None]
        for table in tables[1:]:
            np.testing.assert_array_equal(table.values, tables[0].values)


def test_what_was_counted_for_one_condition_is_not_taken_for_its_opposite() -> None:
    """Conditions that tell the same apart count the same cells, and choose others of them."""
    made = service(400)
    conditions = [
        *(f"sex == {at}" for at in (0, 1)),
        *(f"married == {at}" for at in (1, 0)),
        *(f"age@half == 'h{at}'" for at in (1, 0)),
        *(f"age@class != 'c{at}'" for at in (2, 0, 1)),
        *(f"area@district == 'D{at}' or area == 'P3'" for at in (2, 0)),
    ]
    for by in ((), ("area",), ("sex", "age@class")):
        for where in conditions:
            fresh = values(service(400).answer(asked(*by, where=where)))
            np.testing.assert_array_equal(values(made.answer(asked(*by, where=where))), fresh)


SCRIPT = """
import json, sys
from pathlib import Path
from tests.web.security.test_policy_dodges import bodies, of_store
print(json.dumps(bodies(of_store(Path(sys.argv[1])), order=9)))
"""


def of_store(path: Path) -> TableService:
    census = open_store(path)
    policy = Policy(
        name="store",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=30_000),
        online=OnlineRules(mean_cell_size=MEAN, when_sparse=WhenSparse.WITHHOLD_AREA),
    )
    return TableService(census, policy, {Entity.PERSON: METHOD})


def test_two_processes_with_one_store_give_the_same_bytes(tmp_path: Path) -> None:
    store = tmp_path / "census.store"
    island_store(store, 400)
    mine = bodies(of_store(store), order=5)
    root = Path(__file__).resolve().parents[3]
    # The other process runs the package that this one runs, wherever that is.
    package = Path(sdcensus.__file__).resolve().parents[1]
    found_at = os.pathsep.join((str(package), str(root)))
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store)],
        env={**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": found_at, "TZ": "Asia/Tokyo"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == mine


def test_a_giant_table_behind_a_few_codes_is_not_counted() -> None:
    """The limit of shown cells is no way around the limit of work."""
    many = [f"{at}" for at in range(200)]
    with pytest.raises(QuestionError):
        WIDE.check(asked("age", groups={"age": [{"label": one, "codes": [one]} for one in many]}))
    mixed = " or ".join(f"(age == {at} and area == 'P{at % 7}')" for at in range(10))
    crowd = [
        {"label": f"g{at}", "codes": [f"P{one}" for one in range(7) if (at >> one) & 1]}
        for at in range(1, 128)
    ]
    answer = WIDE.check(asked("area", where=mixed, groups={"area": crowd}))
    assert answer.cells == 128
