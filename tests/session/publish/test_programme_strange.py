"""Countries that the programme did not think of: few levels, no households, other rooms."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.mapping.document import mapping_from_document
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredAxis
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
from sdcensus.session.publish.products import PublishableTable
from sdcensus.session.publish.programme import open_programme, programme_tables

EU = open_programme("eu-2021")


def codes(text: str) -> tuple[Code, ...]:
    return tuple(map(Code, text.split()))


def of_persons(name: str, text: str) -> Variable:
    return Variable(name=name, entity=Entity.PERSON, codes=codes(text))


SCHEMA = Schema(
    census=CensusInfo(name="Census", country="Kýpros"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("person",)),),
    variables=(
        Variable(
            name="place",
            entity=Entity.PERSON,
            role=Role.GEOGRAPHY,
            leaf_level="town",
            codes=(*codes("T1 T2 T3"), Code("99", kind=CodeKind.NOT_STATED)),
            hierarchies=(
                Hierarchy(
                    "areas",
                    (
                        Level(
                            "county",
                            (*codes("C1 C2"), Code("99", kind=CodeKind.NOT_STATED)),
                            (0, 0, 1, 2),
                        ),
                        Level("second", codes("CY00"), (0,) * 4),
                        Level("first", codes("CY0"), (0,) * 4),
                    ),
                ),
            ),
        ),
        of_persons("sex", "1 2"),
        of_persons("citizen", "N E X"),
        of_persons("head", "yes no"),
        of_persons("size", "1 2 3 4"),
        of_persons("floor", "a b"),
        of_persons("building", "1 2"),
        of_persons("inhabitants", "1 2"),
    ),
)
BREAKDOWNS = """
[breakdown.SEX]
variable = "sex"
[breakdown.COC.L]
variable = "citizen"
codes = { N = "1", E = "2.1", X = "2.2" }
[breakdown.SPH]
variable = "size"
codes = { 1 = "1", 2 = "2", 3 = "3.1", 4 = "5" }
"""
HEADS = '[units.private_households]\nof = "persons"\ncondition = "head == \'yes\'"\n'


def tables(text: str, *patterns: str) -> tuple[PublishableTable, ...]:
    head = 'programme = "eu-2021"\ncountry = "CY"\n'
    document = parse_toml(Path("eu-mapping.toml"), head + text + BREAKDOWNS)
    mapping = mapping_from_document(document, EU, SCHEMA)
    made = programme_tables("eu-2021", patterns, mapping, SCHEMA)
    assert all(isinstance(one, PublishableTable) for one in made)
    return tuple(one for one in made if isinstance(one, PublishableTable))


def areas(geography: str) -> DeliveredAxis:
    (table,) = tables(f"[geography]\n{geography}\n", "8.1")
    return table.axes[0]


def test_a_country_that_is_its_own_region_shows_it_at_every_level() -> None:
    axis = areas('nuts1 = "first"\nnuts2 = "second"\nnuts3 = "county"\nlau = "town"')
    assert axis.codes == ("CY", "CY0", "CY00", "C1", "T1", "T2", "C2", "T3")
    assert axis.parents == (-1, 0, 1, 2, 3, 3, 2, 6)
    assert axis.levels == ("_T", "NUTS1", "NUTS2", "NUTS3", "LAU", "LAU", "NUTS3", "LAU")


@pytest.mark.parametrize(
    ("geography", "shown"),
    [
        ('nuts3 = "county"\nlau = "town"', ("CY", "C1", "T1", "T2", "C2", "T3")),
        ('lau = "town"', ("CY", "T1", "T2", "T3")),
        ('nuts2 = "county"', ("CY", "C1", "C2")),
        ("", ("CY",)),
    ],
)
def test_levels_that_a_country_does_not_have_are_left_out(
    geography: str, shown: tuple[str, ...]
) -> None:
    axis = areas(geography)
    assert axis.codes == shown
    assert axis.total == 0


def test_households_of_a_census_of_persons_are_refused_or_counted_by_their_heads() -> None:
    places = '[geography]\nlau = "town"\n'
    with pytest.raises(SpecError) as caught:
        tables(places, "35.2", "8.1", "40.1")
    said = str(caught.value)
    assert "[units.private_households]: the census has no households, only persons" in said
    assert "the census has no dwellings" in said
    assert 'such as "!35.2"' in said
    (table,) = tables(places + HEADS, "35.2")
    assert table.spec.of is Entity.PERSON
    assert [variable.name for variable in table.spec.universe.variables] == ["head"]
    assert [axis.column for axis in table.axes] == ["GEO.H", "SPH"]


def test_floor_space_may_be_shown_instead_of_rooms() -> None:
    homes = (
        '[geography]\nlau = "town"\n[units.occupied_conventional_dwellings]\nof = "persons"\n'
        "condition = \"head == 'yes'\"\n"
    )
    ours = (
        '[breakdown.UFS]\nvariable = "floor"\ncodes = { a = "1", b = "2" }\n'
        '[breakdown.TOB]\nvariable = "building"\ncodes = { 1 = "1.1", 2 = "3" }\n'
        '[breakdown.NOC]\nvariable = "inhabitants"\n'
    )
    (table,) = tables(homes + ours, "39.2")
    assert [axis.column for axis in table.axes] == ["GEO.M", "TOB", "UFS", "NOC"]
    tree = EU.breakdown("UFS")
    assert table.axes[2].codes == tuple(code.code for code in tree.codes)
