"""Plans with a table by suppression beside others by cell key."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import Refused
from sdcensus.session.census.census import open_store
from tests.session.publish.closing import COUNTS, LEGAL, PROTECT, signs
from tests.session.publish.plans import Office, new_office

BY_SUPPRESSION = PROTECT.replace("close-small", "suppression")
#: The closed cells of the legal table, with noise.
AGES = '\n[[table]]\nname = "ages"\nrows = ["area"]\ncolumns = ["age@class"]\n'


def office_of(folder: Path, tables: str = LEGAL + COUNTS, protect: str = BY_SUPPRESSION) -> Office:
    return new_office(folder, people=120, tables=tables, protect=protect)


def test_a_legal_table_by_suppression_beside_counts_by_cell_key(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    report = office.publish()
    shown = signs(office.published / "legal.csv")
    census = open_store(office.store)
    counted = census.tabulate(census.spec("area@parish+district", "age@class")).held_for("a test")
    truth = dict(zip(shown, counted.count.reshape(-1).tolist(), strict=True))
    opened = {cell: int(sign) for cell, sign in shown.items() if sign != "c"}
    assert opened == {cell: truth[cell] for cell in opened}
    assert {1, 2}.isdisjoint(opened.values())
    assert len(opened) < len(shown)
    assert "c" not in signs(office.published / "counts.csv").values()
    assert any("primary and" in remark for remark in report.remarks)


def test_only_the_office_reads_how_many_cells_are_primary(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", protect=BY_SUPPRESSION + "group = 0\n")
    office.publish()
    told = (office.own / "remarks.txt").read_text(encoding="utf-8")
    assert "Primary cells by rule: small counts" in told
    for name, data in office.files().items():
        for word in (b"rimary", b"econdary", b"small counts", b"whole groups"):
            assert word not in data, name


def test_what_suppression_closes_no_other_table_shows(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", tables=LEGAL + AGES)
    with pytest.raises(Refused, match="legal"):
        office.publish()


def test_publishing_again_changes_nothing(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    office.publish()
    before = office.files()
    report = office.publish(restart=True)
    assert report.changed == 0
    assert office.files() == before


@pytest.mark.parametrize("engine", ["elimination", "modular"])
def test_a_pattern_that_is_out_is_kept_whatever_engine_made_it(tmp_path: Path, engine: str) -> None:
    """What is closed stays closed and what is open stays open, without a word in the plan."""
    office = office_of(tmp_path / "office", protect=f'{BY_SUPPRESSION}secondary = "{engine}"\n')
    office.publish()
    before = office.files()
    plan = office.plan.read_text(encoding="utf-8").replace(f'secondary = "{engine}"\n', "")
    office.plan.write_text(plan, encoding="utf-8")
    assert office.publish(restart=True).changed == 0
    assert office.files() == before
