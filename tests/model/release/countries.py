"""Schemas of small countries with every role, for files that are designed on them."""

from __future__ import annotations

from sdcensus.model.schema.number_codes import interval_level, nested_hierarchies, range_codes
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
from sdcensus.model.text import Text

P, F, H, D = Entity.PERSON, Entity.FAMILY, Entity.HOUSEHOLD, Entity.DWELLING
NA = Code("na", Text.of("Not applicable"), CodeKind.NOT_APPLICABLE)
NS = Code("ns", Text.of("Not stated"), CodeKind.NOT_STATED)


def plain(*names: str) -> tuple[Code, ...]:
    return (*(Code(name, Text.of({"en": f"The {name}", "es": f"El {name}"})) for name in names), NA)


def tree(name: str, level: str, *, entity: Entity, role: Role | None = None) -> Variable:
    """Six leaves under three codes of a coarser level."""
    codes = plain(*(f"{name}{at}" for at in range(6)))
    above = Level(level, plain("x", "y", "z"), (0, 0, 1, 1, 2, 2, 3))
    hierarchies = (Hierarchy(level, (above,)),)
    return Variable(name=name, entity=entity, codes=codes, hierarchies=hierarchies, role=role)


def age() -> Variable:
    codes = (*range_codes(0, 99), NS)
    five = interval_level("five_year", "0,5,...,85+", codes)
    return Variable(
        name="age",
        entity=P,
        codes=codes,
        hierarchies=nested_hierarchies("age", [five]),
        role=Role.KEY,
    )


def country(*, households: bool = True) -> Schema:
    """Persons, families, households and dwellings; or persons in dwellings only."""
    of_households = Variable(name="tenure", entity=H, codes=plain("own", "rent"))
    variables = (
        Variable(name="name", entity=P, role=Role.DIRECT_IDENTIFIER),
        Variable(name="number", entity=P, role=Role.RECORD_ID),
        tree("ed", "parish", entity=D, role=Role.GEOGRAPHY),
        tree("work", "region", entity=P, role=Role.GEOGRAPHY),
        Variable(name="rooms", entity=D, codes=(*range_codes(1, 20), NA)),
        *((of_households, Variable(name="kind", entity=F, codes=plain("a", "b"))) * households),
        Variable(name="form", entity=P, codes=plain("long", "short"), role=Role.ADMINISTRATIVE),
        Variable(name="birthday", entity=P, codes=plain("odd", "even"), role=Role.POOR_QUALITY),
        age(),
        Variable(name="sex", entity=P, codes=plain("m", "f"), role=Role.KEY),
        tree("occupation", "minor", entity=P),
        Variable(name="income", entity=P, continuous=True, decimals=2),
        Variable(name="factor", entity=P, role=Role.WEIGHT, continuous=True, decimals=2),
    )
    up = (
        EntitySpec(entity=F, id=("f",), within=H, derived_from=P),
        EntitySpec(entity=H, id=("h",), within=D),
    )
    # Of two geographies one is where people are counted.
    return Schema(
        census=CensusInfo(name="Land", code=("L",), languages=("en", "es")),
        entities=(
            EntitySpec(entity=P, id=("p",), within=H if households else D, optional=True),
            *(up * households),
            EntitySpec(entity=D, id=("d",)),
        ),
        variables=tuple(
            variable if variable.name != "work" else _further(variable) for variable in variables
        ),
    )


def _further(variable: Variable) -> Variable:
    return Variable(
        name=variable.name,
        entity=variable.entity,
        codes=variable.codes,
        hierarchies=variable.hierarchies,
        role=variable.role,
        main=False,
    )
