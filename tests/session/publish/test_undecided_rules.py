"""Rules of design time that nobody has decided stop a publication, and what stops it helps."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from sdcensus.documents.policy.document import read_policy
from sdcensus.documents.policy.text import policy_text
from sdcensus.errors import Refused
from sdcensus.session.answer import open_service
from sdcensus.session.census.census import open_store
from sdcensus.session.policy.design import design, with_decisions
from sdcensus.session.policy.small_codes import design_decisions, with_drafted_decisions
from sdcensus.session.publish.estimate import check_plan
from tests.session.publish.plans import Office, new_office

USES = '[policy]\nfile = "policy.toml"\n'
RULE = 'name = "Rules"\n[online]\nsmallest_group = 23\n[design]\nminimum_population = 150\n'


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Parishes P5 and P6 have about a hundred people, the others two hundred and more."""
    office = new_office(tmp_path / "office", more=USES)
    obey(office, RULE)
    return office


def obey(office: Office, text: str) -> None:
    (office.folder / "policy.toml").write_text(text, encoding="utf-8", newline="")


def shown(office: Office, area: str) -> set[str]:
    with (office.published / "marital.csv").open(encoding="utf-8-sig", newline="") as file:
        return {row["published"] for row in csv.DictReader(file) if row["area"] == area}


def test_what_nobody_has_decided_is_not_published(office: Office) -> None:
    with pytest.raises(Refused, match="that nobody has decided") as error:
        office.publish()
    said = str(error.value)
    assert "area@parish, fewer than 150: P5 and P6." in said
    assert "policy design POLICY STORE --confidential --out NEW" in said
    assert '[[decided.not_offered]] with at = "area@parish" and codes = ["P5", "P6"]' in said
    assert not office.published.exists()
    # Whoever checks the plan is told, and a builder does not open either.
    assert check_plan(office.plan).undecided[0] == said.splitlines()[0]
    policy = office.folder / "policy.toml"
    obey(office, RULE.replace("[online]", "[online]\nrecovery = 0.9"))
    with pytest.raises(Refused, match="that nobody has decided"):
        open_service(office.store, policy, plan=office.plan, secret=office.secret)


def test_the_proposed_decision_helps(office: Office) -> None:
    census = open_store(office.store)
    policy = read_policy(office.folder / "policy.toml", census.schema)
    obey(office, policy_text(with_decisions(design(policy, census))))
    office.publish()
    assert shown(office, "P5") == {""}
    assert "" not in shown(office, "P0")


def test_a_line_of_the_policy_helps_and_a_person_may_keep_an_area(office: Office) -> None:
    decided = '[[decided.not_offered]]\nat = "area@{level}"\ncodes = {codes}\n'
    obey(
        office,
        RULE
        + decided.format(level="parish", codes='["P5"]')
        + decided.format(level="district", codes="[]"),
    )
    office.publish()
    assert shown(office, "P5") == {""}
    assert shown(office, "P6") != {""}


def test_a_smaller_minimum_for_a_level_helps(office: Office) -> None:
    at = 'minimum_population_at = { "area@parish" = 5, "area@district" = 5 }\n'
    obey(office, RULE + at)
    office.publish()
    assert shown(office, "P5") != {""}


def test_levels_that_no_table_shows_need_no_decision(office: Office) -> None:
    office.write_plan('[[table]]\nname = "ages"\nrows = ["age"]\ncolumns = ["sex"]\n', more=USES)
    assert office.publish().made == 1


def test_a_level_that_is_hidden_whole_stays_hidden(office: Office) -> None:
    census = open_store(office.store)
    policy = read_policy(office.folder / "policy.toml", census.schema)
    policy = replace(policy, design=replace(policy.design, minimum_population=10**6))
    decided = with_decisions(design(policy, census))
    again = with_decisions(design(decided, census))
    assert again.decided == decided.decided
    assert {str(hidden.at) for hidden in again.decided.not_offered} >= {"area@parish"}


def test_a_draft_withholds_a_neighbour_of_a_single_small_area(office: Office) -> None:
    """Else what is withheld is the district less the others."""
    census = open_store(office.store)
    policy = read_policy(office.folder / "policy.toml", census.schema)
    alone = {small.at.level: small for small in design_decisions(policy, census).areas}["parish"]
    assert alone.alone == ("P5",)
    assert len(alone.neighbours) == 1
    drafted = {
        str(hidden.at): hidden.codes
        for hidden in with_drafted_decisions(policy, census).decided.not_offered
    }
    assert set(drafted["area@parish"]) == {"P5", "P6", *alone.neighbours}
