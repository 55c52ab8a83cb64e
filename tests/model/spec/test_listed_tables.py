"""Which tables can have no small counts because those of a list have none.

That what is covered has none is shown with records, in tests/session/derive/test_listed_tables.py.
"""

from __future__ import annotations

import pytest

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.listed_tables import ListedTables, TableList, unlisted
from sdcensus.testing.island import island

ISLAND = island(20)


def listed(*tables: str, where: str = "") -> ListedTables:
    return ListedTables(TableList(Entity.PERSON, tables, where), ISLAND.schema)


@pytest.mark.parametrize(
    ("by", "where", "covered"),
    [
        (("area",), "", True),
        (("area@district", "sex"), "", True),
        (("age@half",), "", True),
        (("age@class",), "sex == 1", False),
        (("area",), "sex == 1", True),
        (("area@district",), "sex == 1 or area == 'P1'", True),
        (("age@class+half",), "", True),
        (("age",), "", False),
        (("sex",), "age == 1", False),
        (("married",), "", False),
    ],
)
def test_cells_of_the_list_and_their_sums_are_covered(
    by: tuple[str, ...], where: str, covered: bool
) -> None:
    """Classes and halves are listed, what they have in common is not."""
    spec = ISLAND.spec(*by, universe=where or None)
    assert listed("area,sex", "age@class+half").covers(spec) is covered


def test_a_list_with_a_condition_covers_its_own_records() -> None:
    known = listed("area,sex", where="age >= 5")
    assert known.covers(ISLAND.spec("area@district", universe="not age < 5"))
    assert known.covers(ISLAND.spec("area", universe="age >= 5 and sex == 1"))
    assert not known.covers(ISLAND.spec("area@district"))
    assert not known.covers(ISLAND.spec("area", universe="sex == 1"))


def test_tables_of_other_units_and_measures_are_not_covered() -> None:
    known = listed("sex")
    assert known.covers(ISLAND.spec("sex"))
    assert not known.covers(ISLAND.spec("sex", measure="weighted"))
    other = ListedTables(TableList(Entity.HOUSEHOLD, ("sex",)), ISLAND.schema)
    assert not other.covers(ISLAND.spec("sex"))


def test_no_list_covers_nothing() -> None:
    spec = ISLAND.spec("sex")
    assert unlisted(None, [spec]) == (spec,)
    assert unlisted(listed("sex"), [spec]) == ()


def test_a_list_is_written_and_read() -> None:
    known = TableList(Entity.PERSON, ("sex,area", "age"), "sex == 1")
    assert TableList.from_json(known.to_json()) == known


def test_the_same_table_twice_is_refused() -> None:
    with pytest.raises(SpecError, match="listed twice"):
        TableList(Entity.PERSON, ("sex,area", "area,sex")).specs(ISLAND.schema)
