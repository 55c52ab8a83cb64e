"""A table builder does not show what published tables close, and is known to who closes later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import Refused, StoreError
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.policy.rules import VariableRule
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService, open_service
from sdcensus.session.census.census import open_store
from sdcensus.session.guard.closed import other_units
from sdcensus.session.guard.served_lines import note_served
from sdcensus.session.guard.served_menus import (
    MENUS_FILE,
    menu_products,
    menu_text,
    note_menus,
    read_menus,
    refuse_closed_cells,
    served_products,
)
from sdcensus.session.protect.table import ProtectedFiles, protect_table
from sdcensus.store.registry import RegistryEntry
from sdcensus.testing.close_small import CloseSmall
from sdcensus.testing.island import SECRET, island, island_schema, island_store
from tests.session.publish.closing import COUNTS, LEGAL, PROTECT, close_small
from tests.session.publish.plans import Office, new_office

__all__ = ["close_small"]
SCHEMA = island_schema()


Levels = Mapping[str, tuple[str, ...]]


def menu(levels: Levels, dimensions: int = 3, never: Any = ()) -> Menu:
    variables = tuple(
        MenuVariable(
            SCHEMA.variable(name), tuple(SCHEMA.variable(name).level(level) for level in names)
        )
        for name, names in levels.items()
    )
    return Menu(Entity.PERSON, variables, dimensions, never_together=never)


def legal() -> ProductTable:
    """Two classes of two districts are closed, and no total."""
    spec = island(10).spec("area@district", "age@class")
    flags = np.zeros(spec.shape, dtype=np.uint8)
    flags[:2, :2] = Mark.WITHHELD
    table = Table(spec, np.zeros(spec.shape, dtype=np.int64), flags)
    return ProductTable.of("legal", table, closing=Closing.SUMS)


CLOSED = legal()
ALL = {"area": ("parish", "district"), "age": ("age", "class"), "sex": ("sex",)}


def refused(offered: Menu) -> str:
    with pytest.raises(Refused) as caught:
        refuse_closed_cells("open", [offered], [CLOSED], SCHEMA)
    return str(caught.value)


def test_a_menu_with_the_cells_or_finer_ones_stays_closed() -> None:
    assert CLOSED.closes
    said = refused(menu(ALL))
    assert "so the table builder stays closed" in said
    assert "the table builder shows" in said
    assert "never_together" in said
    finer = refused(menu({"area": ("parish",), "age": ("age",)}))
    assert "can be computed that legal closes" in finer


def test_a_menu_that_shows_no_such_cell_opens() -> None:
    for harmless in (
        menu(ALL, dimensions=1),
        menu(ALL, never=((("area", ""), ("age", "")),)),
        menu({"age": ("age", "class"), "sex": ("sex",)}),
        menu({"area": ("parish",), "sex": ("sex",)}),
        menu({"area": ("district",), "age": ("half",)}),
    ):
        refuse_closed_cells("open", [harmless], [CLOSED], SCHEMA)
    refuse_closed_cells("open", [menu(ALL)], [], SCHEMA)


def test_what_answers_and_the_table_give_away_together_is_refused_too() -> None:
    """Halves of ages alone tell no class; with the classes that are shown some of them do."""
    census = island(120)
    protected = protect_table(census, census.spec("area@parish-total", "sex-total"), CloseSmall())
    product = ProductTable.of("legal", protected.table, closing=Closing.SUMS)
    assert product.closed is not None
    assert product.closed.sum() < product.closed.size
    with pytest.raises(Refused, match="can be computed that legal closes"):
        refuse_closed_cells("open", [menu({"area": ("parish",)}, dimensions=1)], [product], SCHEMA)


def test_tables_of_a_menu_are_the_finest_that_it_allows() -> None:
    offered = menu(ALL, dimensions=2)
    specs = {product.spec.title for product in menu_products(offered, {"area", "age", "sex"})}
    assert specs == {
        "persons by area@parish+district, age@age+class",
        "persons by area@parish+district, sex",
        "persons by age@age+class, sex",
    }
    forbidden = menu(ALL, dimensions=2, never=((("area", "parish"), ("age", "")),))
    specs = {product.spec.title for product in menu_products(forbidden, {"area", "age"})}
    assert specs == {"persons by area@parish+district", "persons by area@district, age@age+class"}
    assert [product.spec.axes for product in menu_products(offered, {"married"})] == [()]


# ------------------------------------------------------------------------- the whole builder


def served(office: Office, never: bool, **asked: Any) -> TableService:
    census = open_store(office.store)
    offered = {"sex", "married"} if never else {"sex", "area", "age"}
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=2),
        online=OnlineRules(recovery=0.99),
        variables=tuple(
            VariableRule(variable=variable.name, offered=variable.name in offered)
            for variable in census.schema.variables
            if variable.is_axis
        ),
    )
    return open_service(census, policy, secret=office.secret, **asked)


@pytest.mark.usefixtures("close_small")
def test_a_builder_under_a_plan_reads_what_its_office_closes(tmp_path: Path) -> None:
    office = new_office(tmp_path / "office", 120, tables=LEGAL + COUNTS, protect=PROTECT)
    office.publish()
    with pytest.raises(Refused, match="would show cells that published tables close"):
        served(office, never=False, plan=office.plan)
    service = served(office, never=True, plan=office.plan)
    # Whoever publishes later knows what it offers.
    census = service.census
    assert note_served(office.office, census, ["{}"]) == ()
    assert list(read_menus(office.office).values()) == [("{}",)]


def test_a_builder_without_a_plan_is_told_the_registry(tmp_path: Path) -> None:
    office = new_office(tmp_path / "office", 120)
    census = open_store(office.store)
    protected = protect_table(census, census.spec("area", "age@class"), CloseSmall())
    files = ProtectedFiles(out=tmp_path / "legal.csv", registry=tmp_path / "registry")
    files.write(protected)
    options = {"options": None, "registry": tmp_path / "registry"}
    with pytest.raises(Refused, match=r"legal\.csv closes"):
        served(office, never=False, **options)


@pytest.mark.usefixtures("close_small")
def test_who_closes_what_a_builder_shows_is_told(tmp_path: Path) -> None:
    office = new_office(
        tmp_path / "office", 120, tables=COUNTS, protect=PROTECT.split("[protect.")[0]
    )
    office.publish()
    census = open_store(office.store)
    note_served(office.office, census, [menu_text(menu(ALL))])
    office.write_plan(LEGAL + COUNTS, protect=PROTECT)
    with pytest.raises(Refused, match="It hides nothing") as caught:
        office.publish()
    assert "the table builder shows" in str(caught.value)
    report = office.publish(accept_risk="Ana Ruiz", reason="the law", restart=True)
    assert any("the table builder shows" in warning for warning in report.warnings)


def test_what_a_builder_offers_is_kept_for_good(tmp_path: Path) -> None:
    first, second = menu_text(menu(ALL)), menu_text(menu({"age": ("class",)}))
    note_menus(tmp_path, "code:A", [first])
    note_menus(tmp_path, "code:A", [second, first])
    note_menus(tmp_path, "code:B", [second])
    assert read_menus(tmp_path) == {"code:A": (first, second), "code:B": (second,)}
    products = served_products(tmp_path, "code:A", SCHEMA, [CLOSED])
    assert {product.name for product in products} == {"the table builder"}
    assert not served_products(tmp_path, "code:C", SCHEMA, [CLOSED])
    (tmp_path / MENUS_FILE).write_text(json.dumps([1]), encoding="utf-8")
    with pytest.raises(StoreError, match="is damaged"):
        read_menus(tmp_path)


def test_records_do_not_matter(tmp_path: Path) -> None:
    """Closed cells are known by their codes: a store with other people closes them as well."""
    other = island_store(tmp_path / "other.store", 120, seed=11)
    assert other.origin.secret_id == SECRET.id
    refused(menu(ALL))


def tied_schema() -> Schema:
    """Households that say how many persons they hold."""
    size = Variable(
        name="size",
        entity=Entity.HOUSEHOLD,
        codes=tuple(Code(str(number), lower=number, upper=number) for number in (1, 2, 3)),
        counts=Entity.PERSON,
    )
    return Schema(
        census=CensusInfo(name="Tied"),
        entities=(
            EntitySpec(entity=Entity.PERSON, id=("id",), within=Entity.HOUSEHOLD),
            EntitySpec(entity=Entity.HOUSEHOLD, id=("id",)),
        ),
        variables=(size,),
    )


def entry(spec: TableSpec, closes: Closing = Closing.NOTHING) -> RegistryEntry:
    return RegistryEntry("0", 0, spec.title, spec, None, sparse=False, closes=closes)


def test_tables_of_other_units_are_told_and_not_compared() -> None:
    schema = tied_schema()
    persons, households = (
        TableSpec.build(schema, ["size"], of=of) for of in (Entity.PERSON, Entity.HOUSEHOLD)
    )
    closing = entry(persons, Closing.SUMS)
    (said,) = other_units(schema, [closing, entry(households)])
    assert "Cells of persons are closed, and tables of households are published" in said
    assert not other_units(schema, [entry(persons), entry(households)])
    assert not other_units(schema, [closing])
    assert not other_units(SCHEMA, [closing, entry(households)])
