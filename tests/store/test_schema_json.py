"""A schema survives the way through JSON, and damage is noticed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import StoreError
from sdcensus.model.schema.code_lists import (
    interval_level,
    nested_hierarchies,
    range_codes,
    stated_code,
    tree_levels,
)
from sdcensus.model.schema.grids import GridSpec, grid_codes
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import (
    CensusFile,
    CensusInfo,
    Combine,
    DeclaredUniverse,
    HouseholdKey,
    Impossible,
    KeyColumn,
    KeyRules,
    KeyScope,
    KeySpace,
    Schema,
    UnitIdentity,
)
from sdcensus.model.schema.source import FileFormat, FileSource
from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
    VariableSource,
)
from sdcensus.model.spec.declared_universes import with_universe
from sdcensus.model.text import Text
from sdcensus.store.schema_json import (
    SCHEMA_VERSION,
    canonical_json,
    schema_digest,
    schema_from_json,
    schema_to_json,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.text("abcdefghij", min_size=1, max_size=6)
RELATIONS = st.builds(
    Relation,
    beside=WORDS,
    within=st.none() | st.sampled_from(Entity),
    gap=WORDS,
    less_than=st.none() | st.integers(-200, 200),
    more_than=st.none() | st.integers(-200, 200),
)
TEXTS = st.one_of(
    st.builds(lambda word: Text((("en", word),)), WORDS),
    st.dictionaries(st.sampled_from(["en", "es", "nl"]), WORDS.filter(bool)).map(Text.of),
)
BOUNDS = st.one_of(st.none(), st.integers(-(10**18), 10**18), st.just(0))
ENTITIES = st.sampled_from(list(Entity))


@st.composite
def code_lists(draw: st.DrawFn) -> tuple[tuple[Code, ...], tuple[Hierarchy, ...]]:
    """Numbers, lists, mixtures of both, and any levels over them."""
    names = draw(st.lists(WORDS, unique=True, max_size=5))
    listed = tuple(
        Code(name, draw(TEXTS), draw(st.sampled_from(list(CodeKind))), draw(BOUNDS), draw(BOUNDS))
        for name in names
    )
    low = draw(st.integers(-3, 3))
    numbers = range_codes(low, low + draw(st.integers(0, 6))) if draw(st.booleans()) else ()
    codes = (*numbers, *listed) if draw(st.booleans()) else (*listed, *numbers)
    hierarchies = []
    if codes:
        for name in draw(st.lists(NAMES, max_size=2)):
            size = draw(st.integers(1, len(codes)))
            group = tuple(draw(st.integers(0, size - 1)) for _ in codes)
            some = tuple(draw(st.permutations(codes)))[:size]
            level = Level(name, some, group, universe=draw(st.booleans()))
            hierarchies.append(Hierarchy(draw(NAMES), (level,)))
    return codes, tuple(hierarchies)


@st.composite
def variables(draw: st.DrawFn, name: str) -> Variable:
    codes, hierarchies = draw(code_lists())
    return Variable(
        name=name,
        entity=draw(ENTITIES),
        codes=codes,
        hierarchies=hierarchies,
        leaf_level=draw(st.one_of(st.just(""), NAMES)),
        role=draw(st.one_of(st.none(), st.sampled_from(list(Role)))),
        label=draw(TEXTS),
        level_labels=tuple(draw(st.dictionaries(NAMES, TEXTS, max_size=2)).items()),
        description=draw(TEXTS),
        topic=draw(TEXTS),
        unit=draw(WORDS),
        continuous=draw(st.booleans()),
        decimals=draw(st.integers(0, 9)),
        map=draw(WORDS),
        imputed=draw(st.booleans()),
        counts=draw(st.one_of(st.none(), ENTITIES)),
        counts_open=tuple(draw(st.lists(WORDS, max_size=2))),
    )


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    return Schema(
        census=CensusInfo(
            name=draw(WORDS),
            country=draw(WORDS),
            code=tuple(draw(st.lists(WORDS, max_size=2))),
            reference_date=draw(WORDS),
            languages=tuple(draw(st.lists(NAMES, max_size=2))),
        ),
        entities=tuple(
            EntitySpec(
                entity=entity,
                id=tuple(draw(st.lists(WORDS, max_size=3))),
                within=draw(st.one_of(st.none(), ENTITIES)),
                link=tuple(draw(st.lists(WORDS, max_size=2))),
                optional=draw(st.booleans()),
                from_content=draw(st.booleans()),
                derived_from=draw(st.one_of(st.none(), ENTITIES)),
            )
            for entity in draw(st.lists(ENTITIES, unique=True))
        ),
        variables=tuple(draw(variables(name)) for name in names),
        keys=KeyRules(
            scope=draw(st.sampled_from(list(KeyScope))),
            household=draw(st.sampled_from(list(HouseholdKey))),
            reference_person=draw(WORDS),
            space=KeySpace(
                modulus=draw(st.sampled_from([256, 2**32])),
                combine=draw(st.sampled_from(list(Combine))),
            ),
            columns=tuple(
                (entity, KeyColumn(draw(WORDS), draw(st.one_of(st.none(), st.integers(1, 9)))))
                for entity in draw(st.lists(ENTITIES, unique=True))
            ),
        ),
        impossible=tuple(
            Impossible(when, draw(TEXTS), draw(st.none() | RELATIONS))
            for when in draw(st.lists(WORDS, max_size=2))
        ),
        grids=tuple(
            GridSpec(name, draw(WORDS), draw(WORDS), 3035, draw(st.integers(1, 9)), (0, 0, 5, 5))
            for name in names
            if draw(st.booleans())
        ),
        identities=tuple(
            UnitIdentity(
                each=draw(ENTITIES), holds=draw(ENTITIES), when=when, times=draw(st.integers(1, 9))
            )
            for when in draw(st.lists(WORDS, max_size=2))
        ),
        universes=tuple(
            DeclaredUniverse(
                name=name, condition=draw(WORDS), label=draw(TEXTS), description=draw(TEXTS)
            )
            for name in draw(st.lists(NAMES, max_size=2))
        ),
    )


GRID = GridSpec("area_grid", "x", "y", 3035, 100, (0, 0, 900, 900))
TREE = tree_levels(
    [Node("P", Text.of("Parish")), Node("a", parent="P"), Node("b", parent="P")], ["parish"]
)
AGES = (*range_codes(0, 99), Code("999", Text.of("?"), CodeKind.NOT_STATED))
SCHEMA = Schema(
    census=CensusInfo(name="Census", code=("C", "1")),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(
        Variable(
            name="area",
            entity=Entity.PERSON,
            codes=TREE.leaves,
            hierarchies=(Hierarchy("area", TREE.levels),),
            role=Role.GEOGRAPHY,
            source=VariableSource(file="person", column="AREA"),
        ),
        Variable(name="area_grid", entity=Entity.PERSON, codes=grid_codes(3035, 100, GRID.extent)),
        Variable(
            name="age",
            entity=Entity.PERSON,
            codes=AGES,
            hierarchies=nested_hierarchies("age", [interval_level("wide", "0,50+", AGES)]),
        ),
        Variable(
            name="income",
            entity=Entity.PERSON,
            continuous=True,
            decimals=2,
            codes=(stated_code(), Code("x", kind=CodeKind.NOT_STATED)),
        ),
    ),
    grids=(GRID,),
    impossible=(Impossible("age < 3", Text.of({"es": "Niños"})),),
    files=(
        CensusFile(
            "person",
            Entity.PERSON,
            FileSource(paths=(Path("secret-folder", "people.csv"),), format=FileFormat.CSV),
        ),
    ),
)


def without_files(schema: Schema) -> Schema:
    return replace(
        schema,
        files=(),
        variables=tuple(replace(variable, source=None) for variable in schema.variables),
    )


@given(schemas())
def test_the_way_through_json_changes_nothing(schema: Schema) -> None:
    text = json.dumps(schema_to_json(schema))
    assert schema_from_json(json.loads(text)) == schema


def test_where_files_lie_is_not_written() -> None:
    text = canonical_json(SCHEMA)
    assert "secret-folder" not in text
    assert "AREA" not in text
    assert schema_from_json(json.loads(text)) == without_files(SCHEMA)


def test_ranges_and_grids_are_written_by_their_bounds() -> None:
    by_name = {one["name"]: one for one in schema_to_json(SCHEMA)["variables"]}
    assert by_name["area_grid"]["codes"] == [{"grid": 0}]
    assert by_name["age"]["codes"] == [{"range": [0, 99]}, ["999", "?", 1]]


@given(schemas(), schemas())
def test_digests_tell_schemas_apart(first: Schema, second: Schema) -> None:
    assert (schema_digest(first) == schema_digest(second)) is (first == second)
    assert len(schema_digest(first)) == 32
    assert schema_digest(replace(first, files=SCHEMA.files)) == schema_digest(first)


def test_the_digest_of_a_schema_never_changes() -> None:
    """A digest that changed would make every store on disk a stranger to its schema."""
    plain = Schema(
        census=CensusInfo(name="Census"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
        variables=(Variable(name="sex", entity=Entity.PERSON, codes=(Code("1"), Code("2"))),),
    )
    assert canonical_json(plain) == (
        '{"version":1,"census":{"name":"Census","country":"","code":[],"reference_date":"",'
        '"languages":["en"]},"entities":[{"entity":"person","id":["no"],"within":null,"link":[],'
        '"optional":false,"from_content":false,"derived_from":null}],"variables":[{"name":"sex","entity":"person",'
        '"codes":[["1"],["2"]]}],"keys":{"scope":"census","household":"own",'
        '"reference_person":"","space":{"modulus":4294967296,"combine":"sum"},"columns":[]},'
        '"impossible":[],"grids":[]}'
    )


def test_a_newer_version_is_refused_with_the_remedy() -> None:
    document = {**schema_to_json(SCHEMA), "version": SCHEMA_VERSION + 1}
    with pytest.raises(StoreError, match=r"newer version .* Update"):
        schema_from_json(document)


def places(value: Any) -> list[tuple[Any, ...]]:
    """The way to every value inside a document."""
    found: list[tuple[Any, ...]] = [()]
    keys: Iterable[Any] = ()
    if isinstance(value, dict):
        keys = value
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        found += [(key, *rest) for rest in places(value[key])]
    return found


DOCUMENT = schema_to_json(SCHEMA)
DAMAGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**70),
    st.floats(),
    st.text(max_size=3),
    st.just([]),
    st.just({}),
    st.just([[1]]),
)


@given(st.sampled_from(places(DOCUMENT)[1:]), DAMAGE, st.booleans())
def test_damage_is_a_store_error_or_another_sound_schema(
    place: tuple[Any, ...], damage: object, delete: bool
) -> None:
    document = copy.deepcopy(DOCUMENT)
    inner: Any = document
    for step in place[:-1]:
        inner = inner[step]
    if delete:
        del inner[place[-1]]
    else:
        inner[place[-1]] = damage
    try:
        schema = schema_from_json(document)
    except StoreError:
        return
    assert schema_from_json(schema_to_json(schema)) == schema


def test_a_schema_of_before_universes_has_the_text_and_digest_of_before() -> None:
    """Stores that were loaded by earlier versions open as they are."""
    text = canonical_json(SCHEMA)
    assert "universe" not in text
    declared = with_universe(SCHEMA, DeclaredUniverse(name="adults", condition="age >= 15"))
    assert schema_from_json(json.loads(canonical_json(declared))).universes == declared.universes
    assert schema_digest(declared) != schema_digest(SCHEMA)
    assert schema_from_json(json.loads(text)).universes == ()
