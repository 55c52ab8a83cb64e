"""Plans that share an office folder: one number for one group of people, in every publication."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.session.guard.guard import read_lock
from sdcensus.testing.island import island_units
from tests.session.publish.plans import Office, contents, new_office
from tests.session.publish.publications import corrected

FIRST = """
[[table]]
name = "marital"
rows = ["area@parish+district"]
columns = ["married", "sex"]
"""
SECOND = """
[[table]]
name = "wed"
rows = ["area@district"]
columns = ["married"]

[[table]]
name = "ages"
rows = ["age@class"]
columns = ["sex"]
"""
SHARED = 'office_folder = "office"\n'
MEDIUM = '\n[protect]\nmethod = "cell-key"\nstrength = "medium"\n'
TAKEN_OVER = f"{MEDIUM}import_published = true\n"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Two plans of one office; the first is published."""
    made = new_office(tmp_path / "both", tables=FIRST, output=SHARED)
    made.publish()
    return made


def second(office: Office, protect: str | None = None, tables: str = SECOND) -> Path:
    said = {} if protect is None else {"protect": protect}
    return office.write_plan(tables, output=SHARED, name="second.toml", **said)


def numbers(folder: Path, name: str, *by: str) -> dict[tuple[str, ...], str]:
    """The published numbers of a table by some of its columns; totals of the others."""
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {one for one in rows[0] if not one.endswith("_label")} - {"published"}
    others = known - set(by)
    return {
        tuple(row[one] for one in by): row["published"]
        for row in rows
        if all(row[other] == "_T" for other in others)
    }


def shared(office: Office) -> tuple[dict[tuple[str, ...], str], dict[tuple[str, ...], str]]:
    """What both publications say about the same people."""
    mine = numbers(office.folder / "second", "wed", "area", "married")
    theirs = numbers(office.published, "marital", "area", "married")
    assert len(mine) == 12
    return mine, {key: value for key, value in theirs.items() if key in mine}


def test_two_plans_have_the_same_number_for_the_same_people(office: Office) -> None:
    office.publish(second(office), out=office.folder / "second")
    mine, theirs = shared(office)
    assert mine == theirs


def test_another_strength_is_refused_or_takes_over_what_is_out(office: Office) -> None:
    before = contents(office.folder)
    with pytest.raises(Refused, match=r"settings of the method have changed.*rows") as refused:
        office.publish(second(office, MEDIUM), out=office.folder / "second")
    assert "import_published = true" in str(refused.value)
    assert "published in marital" in str(refused.value)
    now = contents(office.folder)
    strange = {one for one in now if not one.startswith(("second.toml", "office/"))}
    assert strange == {one for one in before if not one.startswith("office/")}
    report = office.publish(second(office, TAKEN_OVER), out=office.folder / "second")
    assert any("taken over from earlier publications" in warning for warning in report.warnings)
    mine, theirs = shared(office)
    assert mine == theirs
    assert office.publish(out=office.published).unchanged
    assert office.publish(second(office, TAKEN_OVER), out=office.folder / "second").unchanged
    # What was lost is made again, and is the same.
    files = contents(office.folder / "second")
    (office.folder / "second" / "wed.csv").unlink()
    office.publish(second(office, TAKEN_OVER), out=office.folder / "second")
    assert contents(office.folder / "second") == files


def test_a_plan_may_keep_its_own_numbers_when_its_settings_change(office: Office) -> None:
    before = numbers(office.published, "marital", "area", "married", "sex")
    office.write_plan(f"{FIRST}{SECOND}", protect=TAKEN_OVER, output=SHARED)
    assert office.publish().changed == 0
    assert numbers(office.published, "marital", "area", "married", "sex") == before


def test_numbers_that_were_taken_over_do_not_hide_corrections(office: Office) -> None:
    plan = second(office, TAKEN_OVER, tables=SECOND.split("\n\n", maxsplit=1)[1])
    office.publish(plan, out=office.folder / "second")
    units = island_units(2000, seed=7)
    office.replace_store(corrected(units, age=units.leaves["age"][::-1].copy()))
    with pytest.raises(Refused, match="the data have changed"):
        office.publish(plan, out=office.folder / "second")


def test_numbers_are_not_taken_over_where_totals_have_to_add_up(office: Office) -> None:
    plan = second(office, TAKEN_OVER.replace('strength = "medium"', 'then = ["additivity"]'))
    with pytest.raises(SpecError, match="makes totals add up"):
        office.publish(plan, out=office.folder / "second")


def test_both_plans_take_part_in_one_rekeying(office: Office) -> None:
    plan, folder = second(office), office.folder / "second"
    office.publish(plan, out=folder)
    report = office.publish(revision="new keys", rekey=True)
    assert any("wed of second" in warning for warning in report.warnings)
    # Until then the other plan stays as it is.
    assert office.publish(plan, out=folder).unchanged
    office.publish(plan, out=folder, revision="new keys", rekey=True)
    mine, theirs = shared(office)
    assert mine == theirs
    lock = read_lock(office.folder / "office")
    assert lock.looks == 2
    assert {lock.making(table).key_version for table in lock.tables} == {2}
    for again in (None, "new keys"):
        assert office.publish(revision=again, rekey=again is not None).unchanged
        assert office.publish(plan, out=folder, revision=again, rekey=again is not None).unchanged


def test_a_method_without_keys_beside_one_that_was_rekeyed(office: Office) -> None:
    office.publish(revision="new keys", rekey=True)
    rounded = '\n[protect]\nmethod = "conventional-rounding"\nbase = 3\nimport_published = true\n'
    report = office.publish(second(office, rounded), out=office.folder / "second")
    assert any(
        "Rounded true counts beside perturbed ones" in warning for warning in report.warnings
    )
    mine, theirs = shared(office)
    assert mine == theirs


def test_exempt_totals_beside_noise_are_warned_of(office: Office) -> None:
    exempt = f'{TAKEN_OVER}exempt = ["area@district"]\n'
    report = office.publish(second(office, exempt), out=office.folder / "second")
    assert any("Exempt totals would be published exactly" in warning for warning in report.warnings)


def test_a_revision_is_of_all_its_tables(office: Office) -> None:
    """Tables that stay as they are need no store from before the revision later on."""
    office.write_plan(f"{FIRST}{SECOND}", output=SHARED)
    office.publish()
    units = island_units(2000, seed=7)
    rows = np.flatnonzero(units.leaves["married"] == 0)
    married = units.leaves["married"].copy()
    married[rows] = 1
    office.replace_store(corrected(units, married=married))
    with pytest.raises(Refused, match="the data have changed"):
        office.publish()
    new_office(office.folder / "old")
    old = office.folder / "old" / "census.store"
    report = office.publish(revision="corrections", old_store=old, revision_minimum=2)
    assert report.changed
    lock = read_lock(office.folder / "office")
    assert len({lock.making(table).data_version for table in lock.tables}) == 1
