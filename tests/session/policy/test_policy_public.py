"""Online rules read public information only: equal published numbers, equal answers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_type_hints

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

import sdcensus.session.policy
from sdcensus.methods.rounding import ConventionalRounding
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.policy.policy import (
    AtLevel,
    Limits,
    OnlineRules,
    Policy,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.policy import ask, publishable_versions, show
from sdcensus.store.in_memory import InMemoryRecords
from tests.session.policy.policy_tables import SCHEMA, policy, spec

FOLDER = Path(sdcensus.session.policy.__file__).parent
#: Modules of design time and of publishing, which count.
CONFIDENTIAL = {"design.py", "households.py", "published_tables.py", "small_codes.py"}
SECRET_TYPES = {
    "AnyCube",
    "Cube",
    "SparseCube",
    "Census",
    "CensusStore",
    "Accumulators",
    "Secret",
    "Protected",
}


def census(counts: npt.NDArray[np.int64]) -> Census:
    """A census with these numbers of people by area and sex."""
    area, sex = (one.repeat(counts.reshape(-1)) for one in np.indices(counts.shape).reshape(2, -1))
    people = area.size
    draw = np.random.default_rng(4)
    records = InMemoryRecords(
        SCHEMA,
        Entity.PERSON,
        codes={
            "area": area.astype(np.uint8),
            "sex": sex.astype(np.uint8),
            "age": np.full(people, 5, np.uint8),
            "married": np.zeros(people, np.uint8),
        },
        keys=draw.integers(0, 1 << 32, people, dtype=np.uint64).astype(np.uint32),
        values={"weight": np.ones(people, np.int64)},
        origin=Origin(KeySpace(), "", "x"),
    )
    return Census(SCHEMA, records)


HUNDREDS = st.lists(st.integers(0, 2), min_size=14, max_size=14)
#: Below half of the base even in the total, so that rounding takes them away.
RESTS = st.lists(st.integers(0, 3), min_size=14, max_size=14)
POLICIES = st.builds(
    lambda size, action, whole, ones, people, dimensions: policy(
        limits=Limits(dimensions=dimensions),
        online=OnlineRules(
            mean_cell_size=size,
            when_sparse=action,
            mean_cell_size_of_table=whole,
            ones=ones,
            minimum_population=people,
        ),
        variables=(VariableRule(variable="married", finest_area=AtLevel("area", "district")),),
    ),
    st.sampled_from([0, 60, 100, 150.5]),
    st.sampled_from(WhenSparse),
    st.sampled_from([None, 90]),
    st.sampled_from([None, 0]),
    st.sampled_from([None, 150]),
    st.integers(1, 3),
)
ASKED = st.sampled_from(
    [
        spec("area", "sex"),
        spec("area@parish+district", "sex"),
        spec("area", where="sex == 1"),
        spec("sex", where="area == 'P3'"),
        spec("area-total", "sex"),
        spec("area", "sex", where="married == 1"),
        spec(),
    ]
)


@given(HUNDREDS, RESTS, RESTS, POLICIES, ASKED)
def test_two_censuses_that_publish_the_same_get_the_same_answers(
    hundreds: list[int],
    first_rests: list[int],
    second_rests: list[int],
    made: Policy,
    asked: TableSpec,
) -> None:
    both = []
    for rests in (first_rests, second_rests):
        counts = (100 * np.array(hundreds) + np.array(rests)).reshape(7, 2)
        one = census(counts)

        def published(wanted: TableSpec, one: Census = one) -> Table:
            protected = ConventionalRounding(100).protect(one.tabulate(wanted))
            assert isinstance(protected.table, Table)
            return protected.table

        decision = show(made, published(asked), published=published)
        versions = publishable_versions(made, asked, show=published, most_published=8)
        both.append((published(asked), decision, versions))
    (table, decision, versions), (other_table, other, other_versions) = both
    assert table == other_table
    assert decision.verdict == other.verdict
    assert decision.verdict.lines() == other.verdict.lines()
    assert decision.verdict.remedies == other.verdict.remedies
    assert decision.table == other.table
    assert versions == other_versions


def test_the_censuses_of_this_test_really_differ() -> None:
    """The same published table hides other counts."""
    counts = np.full((7, 2), 100)
    one, other = (census(counts + rest).tabulate("area", "sex") for rest in (0, 3))
    assert isinstance(one, Cube)
    assert isinstance(other, Cube)
    assert (one.count != other.count).all()
    tables = [ConventionalRounding(100).protect(cube).table for cube in (one, other)]
    assert tables[0] == tables[1]


def online_modules() -> list[Path]:
    return sorted(path for path in FOLDER.glob("*.py") if path.name not in CONFIDENTIAL)


@pytest.mark.parametrize("path", online_modules(), ids=lambda path: path.name)
def test_online_modules_name_no_type_that_holds_true_counts(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not (named | used) & SECRET_TYPES
    assert not [
        module
        for module in modules
        if module.endswith((".design", ".published_tables", ".census", ".small_codes"))
    ]
    assert not [
        module for module in modules if module.startswith(("sdcensus.engine", "sdcensus.store"))
    ]


def test_the_check_of_imports_finds_what_it_looks_for() -> None:
    for name in CONFIDENTIAL:
        text = (FOLDER / name).read_text(encoding="utf-8")
        tree = ast.parse(text)
        named = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert named & SECRET_TYPES


def test_answers_are_made_of_published_tables_by_their_types() -> None:
    for function in (ask, show, publishable_versions):
        hints = " ".join(map(str, get_type_hints(function).values()))
        assert "Cube" not in hints
        assert "Census" not in hints
