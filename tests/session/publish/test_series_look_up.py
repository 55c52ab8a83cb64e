"""A series goes on as it was published: another default of look-ups changes no number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdcensus.model.published.lock import EventKind
from sdcensus.session.guard.guard import read_lock
from sdcensus.session.publish.estimate import check_plan
from tests.session.publish.plans import PROTECT, TABLES, Office, contents, new_office

MORE = """
[[table]]
name = "more"
rows = ["area@parish"]
columns = ["age@class"]
"""


def numbers(office: Office) -> dict[str, bytes]:
    """The published tables; what stands beside them tells more than numbers."""
    return {name: text for name, text in contents(office.published).items() if name.endswith("csv")}


@pytest.mark.parametrize("lookup", ["hashed", "ascending"])
def test_a_series_with_set_keys_keeps_its_numbers_and_says_so(tmp_path: Path, lookup: str) -> None:
    """The lock of a version whose default it was names the look-up as a plan does today."""
    office = new_office(tmp_path / "office", protect=f'{PROTECT}lookup = "{lookup}"\n')
    accepted: dict[str, Any] = {"accept_risk": "Ana Ruiz", "reason": "a series that goes on"}
    report = office.publish(**accepted)
    assert any("set keys" in caution for caution in report.cautions)
    assert any("ascending" in caution for caution in report.cautions) == (lookup == "ascending")
    assert not any("goes on" in caution for caution in report.cautions)  # the plan says it itself
    before = numbers(office)
    assert read_lock(office.office).lookup() == lookup

    office.write_plan(tables=TABLES + MORE)
    assert any("goes on" in caution for caution in check_plan(office.plan).cautions)
    report = office.publish(**accepted)
    assert report.changed == 0
    assert any(f"goes on with the look-up '{lookup}'" in caution for caution in report.cautions)
    after = numbers(office)
    assert before.items() <= after.items()
    whole = new_office(
        tmp_path / "whole", tables=TABLES + MORE, protect=f'{PROTECT}lookup = "{lookup}"\n'
    )
    whole.publish(**accepted)
    assert numbers(whole) == after  # further tables of the series are made alike

    report = office.publish(revision="by definition", rekey=True)
    assert report.changed > 0
    assert report.cautions == ()
    lock = read_lock(office.office)
    assert (lock.events[-1].kind, lock.lookup()) == (EventKind.REKEYING, "definition")
    again = numbers(office)
    assert again != after
    assert office.publish().unchanged
    assert check_plan(office.plan).cautions == ()


def test_a_new_publication_is_drawn_by_definition(tmp_path: Path) -> None:
    office = new_office(tmp_path / "office")
    assert check_plan(office.plan).cautions == ()
    assert office.publish().cautions == ()
    assert read_lock(office.office).lookup() == "definition"
    named = new_office(tmp_path / "named", protect=f'{PROTECT}lookup = "definition"\n')
    named.publish()
    assert numbers(named) == numbers(office)
