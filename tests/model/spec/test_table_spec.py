"""Table specifications: one table has one hash, however it is spelled."""

from __future__ import annotations

import hashlib

import pytest

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.spec.table_spec import Measure, TableSpec

P, H = Entity.PERSON, Entity.HOUSEHOLD


def _level(name: str, groups: tuple[int, ...]) -> Level:
    return Level(name, tuple(Code(f"{name}{at}") for at in range(max(groups) + 1)), groups)


AGE = Variable(
    name="age",
    entity=P,
    codes=tuple(Code(str(at), lower=at, upper=at) for at in range(4)),
    hierarchies=(Hierarchy("ages", (_level("two_year", (0, 0, 1, 1)),)),),
)
SEX = Variable(name="sex", entity=P, codes=(Code("m"), Code("f")))
TENURE = Variable(
    name="tenure",
    entity=H,
    codes=(Code("own"), Code("rent"), Code("none", kind=CodeKind.NOT_APPLICABLE)),
)
WEIGHT = Variable(name="w", entity=P, role=Role.WEIGHT, continuous=True, decimals=6)
SCHEMA = Schema(
    census=CensusInfo(name="census"),
    entities=(
        EntitySpec(entity=P, id=("no",), within=H, link=("hh",), optional=True),
        EntitySpec(entity=H, id=("hh",)),
    ),
    variables=(AGE, SEX, TENURE, WEIGHT),
)


def spec(*by: str, of: Entity | str = P, universe: str | None = None, **more: str) -> TableSpec:
    return TableSpec.build(SCHEMA, by, of=of, universe=universe, **more)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (spec("age", "sex"), spec("sex", "age")),
        (spec("age"), spec("age@age+total")),
        (spec("age@two_year+age"), spec("age@age+two_year")),
        (spec("sex", of="persons"), spec("sex", of=P)),
        (spec("sex", name="Table 1"), spec("sex", name="Table 2")),
        (spec("sex", universe="age >= 2"), spec("sex", universe="not age < 2")),
        (spec("sex", universe="age >= 2"), spec("sex", universe="age in (2, 3)")),
        (spec("sex", universe="age >= 2"), spec("sex", universe="age@two_year == 'two_year1'")),
        (
            spec("sex", universe="age > 1 and sex == 'm'"),
            spec("sex", universe="not (sex == 'f' or 1 >= age)"),
        ),
        (spec("sex", universe="age >= 0"), spec("sex")),
        (spec("sex", universe="age > 7"), spec("sex", universe="sex == 'm' and sex == 'f'")),
    ],
)
def test_two_spellings_of_a_table_are_the_same_table(one: TableSpec, other: TableSpec) -> None:
    assert one.hash() == other.hash()
    assert one == other
    assert len({one, other}) == 1


def test_different_tables_have_different_hashes() -> None:
    tables = [
        spec(),
        spec(of=H),
        spec("age"),
        spec("age-total"),
        spec("age@two_year"),
        spec("age@two_year+age"),
        spec("sex"),
        spec("sex", "age"),
        spec("sex", universe="age > 1"),
        spec("sex", universe="age > 2"),
        spec("sex", universe="age > 7"),
        spec("sex", measure="weighted"),
        spec("tenure"),
        spec("tenure", of=H),
    ]
    assert len({table.hash() for table in tables}) == len(tables)


def test_the_hash_of_a_table_never_changes() -> None:
    """Registries keep it: a change here makes every published table another one."""
    table = spec("age@two_year", "sex-total", universe="tenure != 'rent'", measure="weighted")
    canonical = (
        '{"axes":[["age",[[["0","1"],["2","3"]]],true],["sex",[[["f"],["m"]]],false]],'
        '"measure":"weighted","of":"person",'
        '"universe":[[["tenure",[["none","own"],["rent"]]]],[1,0]]}'
    )
    digest = hashlib.blake2b(canonical.encode(), digest_size=16, person=b"table-spec")
    assert table.hash() == digest.hexdigest() == "aa293a0dce135e23ca2f45456c1fe4e5"


def test_the_shape_of_a_table_comes_from_code_lists_alone() -> None:
    table = spec("age@two_year+age", "sex-total")
    assert table.shape == (7, 2)
    assert table.cells == 14
    assert table.base_shape == (4, 2)
    assert table.base_cells == 8
    assert table.position("sex") == 1
    assert table.axis("sex").variable is SEX
    assert repr(table) == "<TableSpec persons by age@age+two_year, sex-total: 7×2>"
    assert repr(spec()) == "<TableSpec persons: one cell>"


def test_tables_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SpecError, match="two axes of 'age'"):
        spec("age", "age@two_year")
    with pytest.raises(UnknownName, match="Did you mean 'sex'"):
        spec("sexx")
    with pytest.raises(SpecError, match="describes persons, and one household may have several"):
        spec("sex", of=H)
    with pytest.raises(SpecError, match="cannot be used to count households"):
        spec("tenure", of=H, universe="sex == 'm'")
    with pytest.raises(SpecError, match="no kind of unit"):
        spec("sex", of="dogs")
    with pytest.raises(UnknownName, match="There is no kind of unit 'dwellings'"):
        spec("sex", of=Entity.DWELLING)
    with pytest.raises(SpecError, match="no measure 'mean'"):
        spec("sex", measure="mean")
    with pytest.raises(SpecError, match="no weight for households"):
        spec("tenure", of=H, measure="weighted")
    with pytest.raises(SpecError, match=r"no axis 'tenure'\. Its axes are: sex"):
        spec("sex").position("tenure")


def test_units_without_a_parent_need_a_code_to_be_counted_by_what_it_says() -> None:
    bare = Variable(name="rooms", entity=H, codes=(Code("1"), Code("2")))
    schema = Schema(census=SCHEMA.census, entities=SCHEMA.entities, variables=(bare,))
    with pytest.raises(SpecError, match="needs a 'not_applicable' code"):
        TableSpec.build(schema, ["rooms"])
    assert TableSpec.build(schema, ["rooms"], of=H).shape == (3,)


def test_a_weighted_table_says_so() -> None:
    assert spec("sex", measure=Measure.WEIGHTED).measure is Measure.WEIGHTED
