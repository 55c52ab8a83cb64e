"""Rules, menus and advice where people have a home, a place of work and a place of birth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.semi_controlled import ControlledTotal, SemiControlledRounding
from sdcensus.model.policy.policy import (
    AtLevel,
    Decided,
    DesignRules,
    NotOffered,
    OnlineRules,
    Policy,
    VariableRule,
    WhenSparse,
    menu_of,
)
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import table_heading
from sdcensus.model.spec.table_spec import TableSpec, area_axis
from sdcensus.session.census.census import Census
from sdcensus.session.policy import Outcome, ask, needed, show
from sdcensus.session.policy.design import design
from sdcensus.session.recommend.recommendation import recommend
from sdcensus.testing.island import SECRET
from tests.regions import regions, write_regions

METHOD = CellKey(design_perturbation(5, 2.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return regions(tmp_path_factory.mktemp("regions"))


def policy(census: Census, **rules: object) -> Policy:
    return Policy(name="test", schema=census.schema, **rules)  # type: ignore[arg-type]


def spec(census: Census, *by: str, where: str | None = None) -> TableSpec:
    return TableSpec.build(census.schema, by, universe=where)


def published(census: Census, wanted: TableSpec) -> Table:
    table = METHOD.protect(census.tabulate(wanted)).table
    assert isinstance(table, Table)
    return table


def test_every_geography_is_an_area_and_the_main_one_comes_first(census: Census) -> None:
    assert [area.name for area in policy(census).areas] == ["home", "born", "work"]
    assert area_axis(spec(census, "work@region", "sex", "home@region"), None) == 2
    assert area_axis(spec(census, "work@region", "sex"), None) == 0
    menu = menu_of(policy(census), census.schema)
    assert menu.geography is not None
    assert menu.geography.variable.name == "home"


def test_small_areas_of_every_geography_are_withheld(census: Census) -> None:
    """Homes and places of work, each by the published number of people."""
    rules = OnlineRules(minimum_population=150)
    wanted = spec(census, "home", "work")
    table = published(census, wanted)
    decision = show(policy(census, online=rules), table)
    assert decision.table is not None
    assert isinstance(decision.table, Table)
    flags = decision.table.flags
    assert flags is not None
    for at, axis in enumerate(wanted.axes):
        people = table.published.take(-1, axis=1 - at)
        small = (people < 150) & np.array([not code.is_total for code in axis.codes])
        assert small.any()
        hidden = np.moveaxis(flags == Mark.WITHHELD, at, 0).all(axis=1)
        assert (hidden == small).all()
    (reason,) = decision.verdict.reasons
    assert {withheld.variable for withheld in reason.withheld} == {"home", "work"}
    assert {each.variable.name for each in needed_axes(census, rules, wanted)} == {"home", "work"}


def needed_axes(census: Census, rules: OnlineRules, wanted: TableSpec) -> list[Axis]:
    tables = needed(policy(census, online=rules), wanted)
    assert all(len(table.axes) == 1 for table in tables)
    return [table.axes[0] for table in tables]


def test_mean_cells_are_judged_for_homes_and_for_places_of_work(census: Census) -> None:
    rules = OnlineRules(mean_cell_size=20, when_sparse=WhenSparse.WITHHOLD_AREA)
    table = published(census, spec(census, "home", "work"))
    decision = show(policy(census, online=rules), table)
    gone = {
        (withheld.variable, code)
        for reason in decision.verdict.reasons
        for withheld in reason.withheld
        for code in withheld.codes
    }
    for at, name in enumerate(("home", "work")):
        axis, other = table.spec.axes[at], table.spec.axes[1 - at]
        people = table.published.take(-1, axis=1 - at)
        sparse = people < 20 * other.base_size
        assert {code for variable, code in gone if variable == name} == {
            axis.codes[position].code
            for position in np.flatnonzero(sparse)
            if not axis.codes[position].is_total
        }
    assert any(variable == "work" for variable, _ in gone)
    assert all(
        remedy.spec != table.spec
        for reason in decision.verdict.reasons
        for remedy in reason.remedies
    )


def test_a_place_of_work_stands_beside_homes_down_to_a_level(census: Census) -> None:
    rule = VariableRule(variable="work", finest_area=AtLevel("home", "region"))
    limited = policy(census, variables=(rule,))
    assert ask(limited, spec(census, "work", "sex")).outcome is Outcome.ALLOWED
    assert ask(limited, spec(census, "work", "home@region")).outcome is Outcome.ALLOWED
    assert ask(limited, spec(census, "work", "home@province")).outcome is Outcome.REFUSED
    menu = menu_of(limited, census.schema)
    assert dict(menu.variable("work").finest_areas)["home"] == ("region",)


def test_codes_of_one_level_are_not_offered_and_their_likes_are(census: Census) -> None:
    """The rule names province 12: region 12 and commune 12 stay."""
    hidden = NotOffered(AtLevel("home", "province"), ("12",))
    limited = policy(census, decided=Decided(not_offered=(hidden,)))
    table = published(census, spec(census, "home@region+province+commune"))
    decision = show(limited, table)
    assert isinstance(decision.table, Table)
    flags = decision.table.flags
    assert flags is not None
    codes = table.spec.axes[0].codes
    assert [(codes[at].level, codes[at].code) for at in np.flatnonzero(flags)] == [
        ("province", "12")
    ]


def test_design_time_looks_at_every_geography(census: Census) -> None:
    report = design(policy(census, design=DesignRules(minimum_population=120)), census)
    assert {small.at.variable for small in report.areas} == {"home", "work", "born"}


def test_advice_offers_further_geographies_where_tables_of_two_bear_them(census: Census) -> None:
    report = recommend(census, "programme")
    assert {rule.variable for rule in report.policy.variables if not rule.offered} == set()
    crossed = [table.table.by for table in report.tables if "work" in " ".join(table.table.by)]
    assert crossed
    assert all(by[0].startswith("home") for by in crossed)


@pytest.mark.parametrize("product", ["programme", "builder"])
def test_advice_knows_in_which_areas_each_kind_of_unit_is_counted(
    tmp_path: Path, product: str
) -> None:
    """Dwellings that nobody is linked to have areas of their own, and people theirs."""
    census = regions(tmp_path, dwellings=900)
    assert [area.name for area in census.schema.geographies] == ["home", "born", "work", "site"]
    report = recommend(census, product)
    by = {table.table.name: table.table.by for table in report.tables}
    assert by["dwellings-walls"][0].startswith("site")
    assert by["age-by-sex"][0].startswith("home")


def test_rounding_by_area_takes_the_main_geography(census: Census) -> None:
    by = ("work@region", "home@region")
    named = SemiControlledRounding(3, to=ControlledTotal.AREAS, area="home", secret=SECRET)
    alone = SemiControlledRounding(3, to=ControlledTotal.AREAS, secret=SECRET)
    tables = [method.protect(census.tabulate(*by)).table for method in (named, alone)]
    assert tables[0] == tables[1]


def test_headings_tell_the_geographies_apart(census: Census) -> None:
    heading = table_heading(spec(census, "home@region", "work@region", "born@region"))
    assert (
        heading
        == "Persons by Residence (region), Place of work (region) and Place of birth (region)"
    )


def test_two_main_geographies_are_refused(tmp_path: Path) -> None:
    path = write_regions(tmp_path, people=10)
    text = path.read_text(encoding="utf-8")
    chosen = text.replace('label = "Place of work"', 'label = "Place of work"\nmain = true')
    path.write_text(chosen, encoding="utf-8")
    main = read_schema(path).geography
    assert main is not None
    assert main.name == "work"
    twice = chosen.replace('label = "Residence"', 'label = "Residence"\nmain = true')
    path.write_text(twice, encoding="utf-8")
    with pytest.raises(DocumentError, match="'work' is the main geography already"):
        read_schema(path)
