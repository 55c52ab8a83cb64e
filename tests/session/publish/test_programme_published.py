"""The European programme published from a small demo country: codes, marks, policy, mistakes."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.errors import DocumentError, Refused, SpecError
from sdcensus.session.census.census import load
from sdcensus.session.publish.approval import verify
from sdcensus.session.publish.workplace import MANIFEST
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.session.publish.plans import Office, contents

pytestmark = pytest.mark.slow
#: The programme breaks small groups down: somebody has to accept that.
ACCEPTED: dict[str, Any] = {
    "accept_risk": "Ana Ruiz",
    "reason": "the law asks for every cell",
}

PLAN = """
store = "census.store"
programme = "eu-2021"
tables = {tables}
mapping = "country/eu-mapping.toml"
[protect]
method = "cell-key"
strength = "medium"
{more}
[output]
folder = "published"
"""


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("eu")
    files = write_country(folder / "country", country=make_country(1_500), seed=4)
    load(files.schema, folder / "census.store", secret=SECRET)
    write_secret(SECRET, folder / "office.secret")
    return folder


@pytest.fixture
def office(country: Path, tmp_path: Path) -> Office:
    shutil.copytree(country, tmp_path / "own")
    return Office(tmp_path / "own")


def write(office: Office, *tables: str, more: str = "") -> None:
    text = PLAN.format(tables=json.dumps(tables), more=more)
    office.plan.write_text(text, encoding="utf-8", newline="")


def marks(office: Office) -> dict[str, list[str]]:
    manifest = json.loads((office.published / MANIFEST).read_text(encoding="utf-8"))
    return {one["name"]: one["marks"] for one in manifest["tables"]}


def rows(office: Office, name: str) -> list[dict[str, str]]:
    with (office.published / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_have_the_codes_of_the_programme(office: Office) -> None:
    write(office, "1.1", "grid")
    office.publish(**ACCEPTED)
    (folder,) = [one for one in office.office.iterdir() if (one / "published.json").exists()]
    assert verify(office.published, office=folder.parent).sound
    table = rows(office, "eu-2021-1.1")
    assert {"GEO.N", "SEX", "published"} <= set(table[0])
    assert len({tuple(row.values())[:-1] for row in table}) == len(table)
    # A populated square may have a published 0; one without people is never called populated.
    assert marks(office)["eu-2021-grid"] == ["POPULATED"]
    flagged = [row for row in rows(office, "eu-2021-grid") if row["flag"]]
    assert flagged
    assert {row["flag"] for row in flagged} == {"populated"}


def test_a_pattern_that_no_table_fits(office: Office) -> None:
    write(office, "1.1", "99.*")
    with pytest.raises(SpecError, match=r"99"):
        office.publish()
    assert not office.published.exists()


def test_rules_on_numbers_hold_for_a_programme(office: Office) -> None:
    rules = 'name = "Rules"\n[online]\nminimum_population = 750\n'
    (office.folder / "policy.toml").write_text(rules, encoding="utf-8", newline="")
    write(office, "9.2", more='[policy]\nfile = "policy.toml"\n')
    office.publish(**ACCEPTED)
    assert marks(office) == {"eu-2021-9.2": ["REFUSED"]}
    table = rows(office, "eu-2021-9.2")
    hidden = {row["GEO.M"] for row in table if row["flag"] == "."}
    shown = {row["GEO.M"] for row in table if row["flag"] != "."}
    assert hidden
    assert shown
    assert not hidden & shown
    assert all(row["published"] == "" for row in table if row["flag"] == ".")


def test_a_populated_square_cannot_be_held_back(office: Office) -> None:
    rules = 'name = "Rules"\n[online]\nminimum_population = 20\n'
    (office.folder / "policy.toml").write_text(rules, encoding="utf-8", newline="")
    write(office, "grid", more='[policy]\nfile = "policy.toml"\n')
    with pytest.raises((Refused, SpecError), match="eu-2021-grid"):
        office.publish(**ACCEPTED)
    assert not office.published.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [("", "'9'"), ('9 = "5"\n"5..9" = "4"\n', "mapped before"), ('9 = "5.7"\n', "'5.7'")],
    ids=["unmapped", "twice", "unknown"],
)
def test_a_mapping_that_does_not_cover_the_codes(office: Office, change: str, said: str) -> None:
    path = office.folder / "country" / "eu-mapping.toml"
    text = path.read_text(encoding="utf-8")
    before, section, after = text.partition("[breakdown.LMS.H.codes]\n")
    assert '\n9 = "5"\n' in after
    changed = after.replace('9 = "5"\n', change, 1)
    path.write_text(before + section + changed, encoding="utf-8", newline="")
    write(office, "*")
    left = contents(office.folder)
    with pytest.raises(DocumentError, match=r"eu-mapping\.toml has") as error:
        office.publish()
    assert said in str(error.value)
    assert "LMS.H" in str(error.value)
    assert contents(office.folder) == left
