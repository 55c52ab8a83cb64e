"""A plan that obeys a policy: what is refused, what is withheld, and how files say so."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import DocumentError, Refused, SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import STRENGTHS, scheme
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.session.answer import TableService, open_service
from sdcensus.session.census.census import open_store
from sdcensus.session.policy.design import design
from sdcensus.session.protect.smallest_group import (
    largest_private_household,
    suggested_smallest_group,
)
from sdcensus.session.publish.run import PublishOptions, publish
from sdcensus.session.publish.workplace import MANIFEST
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet
from tests.session.publish.plans import TABLES, Office, contents, new_office

USES = '[policy]\nfile = "policy.toml"\n'
Rows = list[dict[str, str]]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return new_office(tmp_path / "office", more=USES)


def obey(office: Office, rules: str) -> None:
    text = f'name = "Rules"\n{rules}'
    (office.folder / "policy.toml").write_text(text, encoding="utf-8", newline="")


def rows(office: Office, name: str) -> Rows:
    with (office.published / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def signs(table: Rows, area: str, column: str = "area") -> set[str]:
    """What stands beside the numbers of an area, or in their place."""
    chosen = [one for one in table if one[column] == area]
    assert chosen
    return {one["flag"] for one in chosen}


def marks(office: Office) -> dict[str, list[str]]:
    manifest = json.loads((office.published / MANIFEST).read_text(encoding="utf-8"))
    return {one["name"]: one["marks"] for one in manifest["tables"]}


# ------------------------------------------------------------------------------- code lists


def test_every_table_that_code_lists_refuse_is_told_before_any_work(office: Office) -> None:
    obey(office, "[never_together]\ncombinations = [['married', 'sex'], ['age', 'sex']]\n")
    before = contents(office.folder)
    with pytest.raises(Refused, match="3 of 4 products") as error:
        office.publish()
    said = str(error.value)
    assert all(f"\n  {name}: " in said for name in ("marital", "ages", "wed"))
    assert "'Rules'" in said
    assert "'production'" in said
    assert contents(office.folder) == before


def test_what_cannot_be_asked_cannot_be_asked_by_an_indicator(office: Office) -> None:
    obey(office, "[variable.sex]\noffered = false\n")
    office.write_plan(
        '[[indicator]]\nname = "men"\nkind = "sex-ratio"\nby = ["area@district"]\n', more=USES
    )
    with pytest.raises(Refused, match="men: "):
        office.publish()


def test_a_policy_with_mistakes_is_told_with_its_lines(office: Office) -> None:
    obey(office, "[variable.sexx]\noffered = false\n")
    with pytest.raises(DocumentError, match=r"line 2: .*Did you mean 'sex'"):
        office.publish()
    (office.folder / "policy.toml").unlink()
    with pytest.raises(DocumentError, match=r"no file 'policy\.toml'"):
        office.publish()


# ------------------------------------------------------------------------------- numbers


def test_withheld_areas_are_marked_in_tables_and_in_figures(office: Office) -> None:
    """Parishes P5 and P6 have about a hundred people, the others two hundred and more."""
    obey(office, "[online]\nminimum_population = 150\n")
    office.publish()
    assert marks(office) == {
        "marital": ["REFUSED"],
        "ages": [],
        "wed": ["REFUSED"],
        "men": ["REFUSED"],
    }
    table = rows(office, "marital")
    for area in ("P5", "P6"):
        assert signs(table, area) == {"."}
        assert {one["published"] for one in table if one["area"] == area} == {""}
        assert signs(rows(office, "men"), area) == {"."}
    for area in ("P0", "P3", "D0", "D1"):
        assert signs(table, area) == {""}
    # A district of one parish would give the parish away.
    assert signs(table, "D2") == {"."}
    assert signs(rows(office, "wed"), "D2") == {"."}
    page = (office.published / "notes.html").read_text(encoding="utf-8")
    assert "not published for this area" in page


def test_small_values_of_sparse_areas_become_c(office: Office) -> None:
    limits = "mean_cell_size = 50\nwhen_sparse = 'c'\nbelow = 60\n"
    obey(office, f"[online]\n{limits}")
    office.publish()
    table = rows(office, "marital")
    sparse = [one for one in table if one["area"] == "P6"]
    assert {one["flag"] for one in sparse} == {"", "c"}
    for one in sparse:
        assert one["published"] == "" if one["flag"] else int(one["published"]) >= 60
    assert signs(table, "P0") == {""}
    # Figures of what is withheld are withheld.
    assert signs(rows(office, "men"), "P6") == {"c"}


def test_a_table_that_its_numbers_refuse_stops_the_run_and_leaves_nothing(office: Office) -> None:
    obey(office, "[online]\nmean_cell_size_of_table = 100000\n")
    with pytest.raises(Refused, match=r"does not let it pass for the role 'production'"):
        office.publish()
    assert not office.published.exists()
    assert not list(office.folder.rglob("*.part"))
    assert not list(office.office.rglob("*.parquet"))


def test_a_role_may_be_without_rules_on_numbers(office: Office) -> None:
    obey(office, "[online]\nminimum_population = 150\n[role.production]\nonline = 'off'\n")
    office.publish()
    assert marks(office)["marital"] == []
    office.write_plan(more=USES + 'role = "public"\n')
    with pytest.raises(Refused, match="rules on what is withheld have changed"):
        office.publish()


# ------------------------------------------------------------------------------- exempt totals


def test_totals_that_a_policy_exempts_are_exact(office: Office) -> None:
    obey(office, "[exempt]\nrecord_sets = ['persons by area@district']\n")
    office.publish()
    cube = open_store(office.store).tabulate("area@district", "sex")
    assert isinstance(cube, Cube)
    exact = {f"D{at}": int(count) for at, count in enumerate(cube.count[:3, 2])}
    shown = {
        row["area"]: int(row["published"])
        for row in rows(office, "marital")
        if row["area"] in exact and row["married"] == row["sex"] == "_T"
    }
    assert shown == exact
    others = np.array([int(row["published"]) for row in rows(office, "ages")])
    true = open_store(office.store).tabulate("age@age+class", "sex")
    assert isinstance(true, Cube)
    assert (others != true.count.reshape(-1)).any()


def test_a_method_that_changes_every_number_cannot_exempt(office: Office) -> None:
    obey(office, "[exempt]\nrecord_sets = ['persons by area@district']\n")
    office.write_plan(TABLES, more=USES, protect='[protect]\nmethod = "random-rounding"\n')
    with pytest.raises(SpecError, match="published exactly in every product"):
        office.publish()


# ------------------------------------------------------------------------------- households

HOUSEHOLD_PLAN = """
store = "census.store"

[[table]]
name = "ages"
rows = ["ed+parish"]
columns = ["age@ten_year", "sex"]

[[table]]
name = "owners"
of = "households"
rows = ["ed"]
columns = ["tenure"]

[[indicator]]
name = "women"
kind = "share"
numerator = "sex == 2"
by = ["ed", "age@ten_year"]

[protect]
method = "cell-key"
strength = "strong"

[policy]
file = "policy.toml"

[output]
folder = "published"
"""


def of_one_household(hamlet: Hamlet, **codes: set[str]) -> bool:
    """Whether the persons of a cell are members of one household: by going through the file."""
    homes = {
        (person["ed"], person["house"])
        for person in hamlet.persons
        if all(person[name] in wanted for name, wanted in codes.items())
    }
    return len(homes) == 1


@pytest.mark.parametrize("engine", [None, "duckdb"])
@pytest.mark.parametrize("action", [None, "report", "withhold"])
def test_cells_of_one_household_are_withheld_where_the_policy_says_so(
    tmp_path: Path, action: str | None, engine: str | None
) -> None:
    hamlet = write_hamlet(tmp_path)
    hamlet.load()
    rule = "" if action is None else f'[design]\none_household_cells = "{action}"\n'
    hamlet.write("policy.toml", f'name = "Rules"\n{rule}')
    options = PublishOptions(secret=hamlet.secret, engine=engine)
    publish(hamlet.write("plan.toml", HOUSEHOLD_PLAN), options)
    made = Office(hamlet.folder)
    ages = {"_T": {str(one) for one in range(100)} | {"999"}, "90+": set(map(str, range(90, 100)))}
    ages |= {f"{low}-{low + 9}": set(map(str, range(low, low + 10))) for low in range(0, 90, 10)}
    ages["999"] = {"999"}
    sexes = {"1": {"1"}, "2": {"2"}, "9": {"9"}, "_T": {"1", "2", "9"}}
    parishes = {"P1": {"E1", "E2"}, "P2": {"E3", "E4"}, "P3": {"E5"}}
    areas = {f"E{at}": {f"E{at}"} for at in range(1, 6)} | parishes
    areas["_T"] = {f"E{at}" for at in range(1, 6)}
    withheld = 0
    for row in rows(made, "ages"):
        alone = of_one_household(
            hamlet, ed=areas[row["ed"]], age=ages[row["age"]], sex=sexes[row["sex"]]
        )
        expected = action == "withhold" and alone
        assert (row.get("flag", "") == "c") == expected, row
        assert (row["published"] == "") == expected
        withheld += expected
    assert withheld > 20 or action != "withhold"
    # A figure of which a part is withheld is withheld, and counts of households are not.
    assert "WITHHELD" not in marks(made)["owners"]
    assert ("WITHHELD" in marks(made)["women"]) == (action == "withhold")


def test_a_table_builder_does_not_open_where_cells_of_one_household_are_withheld(
    tmp_path: Path,
) -> None:
    """Which cells are one household is confidential: whoever asks must not be told by a sign."""
    hamlet = write_hamlet(tmp_path)
    census = hamlet.load()
    for action in ("withhold", "report"):
        policy = hamlet.write(
            "policy.toml", f'name = "Rules"\n[design]\none_household_cells = "{action}"\n'
        )
        if action == "withhold":
            with pytest.raises(Refused, match="published numbers only"):
                open_service(census, policy, secret=hamlet.secret)
            with pytest.raises(Refused, match="published numbers only"):
                TableService(census, read_policy(policy, census.schema), {})
        else:
            TableService(census, read_policy(policy, census.schema), {})


@pytest.mark.parametrize("strength", ["medium", "strong"])
def test_the_smallest_group_takes_the_place_of_withholding_in_a_table_builder(
    tmp_path: Path, strength: str
) -> None:
    """It opens from the size on that guarantees that no household is broken down, and not below."""
    hamlet = write_hamlet(tmp_path)
    census = hamlet.load()
    secret = SECRET.sub_secret(Purpose.LOOKUP, 1)
    method = CellKey(scheme(STRENGTHS[strength].scheme), secret, schema=census.schema)
    smallest = suggested_smallest_group(census, method)
    largest = largest_private_household(census)
    assert census.records is not None
    every = slice(0, census.records.rows(Entity.PERSON))
    rows = census.records.household_rows(Entity.PERSON)[every]
    households = Counter(rows[rows != NO_ROW].tolist())
    assert largest == max(households.values())
    rule = (
        'name = "Rules"\n[online]\nsmallest_group = {}\n'
        '[design]\none_household_cells = "withhold"\n'
    )
    for size in (largest + 1, smallest - 1, smallest, smallest + 5):
        policy = read_policy(hamlet.write("policy.toml", rule.format(size)), census.schema)
        if size < smallest:
            with pytest.raises(Refused, match=rf"smallest_group = {smallest} in \[online\]"):
                TableService(census, policy, {Entity.PERSON: method})
            # A plan may raise it.
            TableService(census, policy, {Entity.PERSON: method}, smallest_group=smallest)
        else:
            TableService(census, policy, {Entity.PERSON: method})


def test_a_rule_about_households_says_how_many_cells_are_one(tmp_path: Path) -> None:
    hamlet = write_hamlet(tmp_path)
    census = hamlet.load()
    told = {}
    for rule in ("", '[design]\none_household_cells = "report"\n'):
        policy = read_policy(hamlet.write("policy.toml", f'name = "Rules"\n{rule}'), census.schema)
        told[rule] = [line for line in design(policy, census).lines() if "one household" in line]
    without, reported = told.values()
    assert not without
    assert len(reported) == 8  # by every variable of persons and of their households
    assert any(", 0 %" not in line for line in reported)
