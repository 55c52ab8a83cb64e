"""Everything that reads a store reads a derived one, and what is published names its line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from sdcensus.errors import Refused
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer.opening import open_service
from sdcensus.session.assess.assessment import assess_table
from sdcensus.session.assess.options import AssessOptions
from sdcensus.session.attack.attack import attack_folder
from sdcensus.session.census.census import open_store
from sdcensus.session.derive import DerivationReport, derive
from sdcensus.session.guard.guard import read_lock
from sdcensus.session.protect.table import protect_table
from sdcensus.testing.island import SECRET, island_store
from tests.microdata.settlement import dense
from tests.session.answer.services import asked, values
from tests.session.guard.test_served_guard import opened
from tests.session.publish.plans import Office, new_office

#: Everybody of a district, of which other tables say nothing else: many records, everywhere.
MANY = "married == 1"
FEW = "area == 'P6' and age == 9 and sex == 1"


def derived(office: Office, where: str, name: str = "derived.store") -> DerivationReport:
    parameters = {"where": where}
    out = office.folder / name
    return derive(office.store, out, "drop-records", parameters, secret=SECRET, replace=True)


def published_from(office: Office, store: str, **asked: Any) -> tuple[str, ...]:
    plan = office.plan.read_text(encoding="utf-8")
    for known in ("census.store", "derived.store"):
        plan = plan.replace(f'store = "{known}"', f'store = "{store}"')
    office.plan.write_text(plan, encoding="utf-8")
    return office.publish(**asked).warnings


def texts(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of a folder; workbooks unpacked."""
    for path in folder.rglob("*.*"):
        if path.suffix == ".xlsx":
            with ZipFile(path) as book:
                yield path.name, b"".join(book.read(name) for name in book.namelist())
        else:
            yield path.name, path.read_bytes()


def test_tables_protection_and_assessment_of_a_derived_store(tmp_path: Path) -> None:
    island_store(tmp_path / "a", 600)
    report = derive(
        tmp_path / "a", tmp_path / "b", "drop-records", {"where": "age == 9"}, secret=SECRET
    )
    census = open_store(tmp_path / "b")
    spec = census.spec("area@district", "sex", "age")
    cube = dense(census.tabulate(spec))
    original = open_store(tmp_path / "a")
    expected = dense(original.tabulate("area@district", "sex", "age", universe="age != 9"))
    assert (cube.count == expected.count).all()
    assert (cube.key == expected.key).all()
    assert (dense(census.tabulate(spec, engine="duckdb")).key == cube.key).all()
    method = CellKey(scheme("CP4"), SECRET)
    protected = protect_table(census, spec, method)
    assert protected.provenance.lineage == report.lineage
    assert protected.provenance.to_json()["lineage"] == report.lineage
    assert (
        assess_table(cube, protected, AssessOptions(method=method)).provenance
        == protected.provenance
    )


def test_a_publication_names_the_line_of_its_store_and_can_be_attacked(tmp_path: Path) -> None:
    office = new_office(tmp_path, formats=["csv", "xlsx", "px", "json-stat", "sdmx-csv"])
    report = derived(office, "area == 'P1' and age == 1")
    published_from(office, "derived.store")
    manifest = json.loads((office.published / "manifest.json").read_text(encoding="utf-8"))
    made = [made for table in manifest["tables"] for made in table["provenance"]]
    assert len(made) >= 4
    assert {each["lineage"] for each in made} == {report.lineage}
    # Whatever file names the data names their line.
    naming = [
        name for name, text in texts(office.published) if report.data_version.encode() in text
    ]
    assert len(naming) > 6
    for name, text in texts(office.published):
        assert (report.lineage.encode() in text) == (name in naming), name
        assert b"age == 1" not in text
    assert attack_folder(office.published).report is not None


def test_a_table_reads_back_with_its_line(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    report = derived(office, "area == 'P1' and age == 1")
    published_from(office, "derived.store")
    shown = read_published(office.published / "marital.csv")
    assert shown.provenance is not None
    assert shown.provenance.lineage == report.lineage


# ----------------------------------------------------------------------------------- two lines


def test_another_line_is_published_by_name_only(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    report = derived(office, MANY)
    before = office.files()
    with pytest.raises(Refused, match="made from a derived store") as caught:
        published_from(office, "derived.store")
    assert "--revision NAME" in str(caught.value)
    assert MANY not in str(caught.value)
    assert office.files() == before
    notes = published_from(office, "derived.store", revision="private households")
    assert any("no longer from the original store" in note for note in notes)
    assert read_lock(office.office).lineage(_series(office)) == report.lineage
    # The same again is no new decision; going back is one.
    published_from(office, "derived.store")
    with pytest.raises(Refused, match="made from the original store"):
        published_from(office, "census.store")
    with pytest.raises(Refused, match="There was an event 'private households'"):
        published_from(office, "census.store", revision="private households")
    published_from(office, "census.store", revision="back again")
    assert read_lock(office.office).lineage(_series(office)) == ""


def _series(office: Office) -> str:
    return read_lock(office.office).tables[0].series


def test_a_name_does_not_show_the_few_who_were_dropped(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    assert 0 < derived(office, FEW).dropped[Entity.PERSON][0] < 10
    with pytest.raises(Refused, match="would show who was corrected"):
        published_from(office, "derived.store", revision="few")


def test_tables_that_share_no_number_are_related_even_so(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    derived(office, MANY)
    other = office.write_plan(
        '[[table]]\nname = "young"\nrows = ["age@class"]\ncolumns = ["married"]\n',
        name="other.toml",
        output='office_folder = "published.office"\n',
    )
    text = other.read_text(encoding="utf-8")
    text = text.replace('store = "census.store"', 'store = "derived.store"')
    other.write_text(text.replace('folder = "published"', 'folder = "more"'), encoding="utf-8")
    with pytest.raises(Refused, match="Who has related numbers from both learns"):
        office.publish(other)
    notes = office.publish(other, revision="private households").warnings
    assert any("readers have both" in note for note in notes)


def test_a_builder_goes_over_to_another_line_by_name_only(tmp_path: Path) -> None:
    census = island_store(tmp_path / "a", 4000)
    report = derive(tmp_path / "a", tmp_path / "b", "drop-records", {"where": MANY}, secret=SECRET)
    rules = {"limits": Limits(dimensions=1)}
    first = opened(census, rules=rules)
    with pytest.raises(Refused, match="a derived store") as caught:
        opened(open_store(tmp_path / "b"), first, rules=rules)
    assert report.lineage in str(caught.value)
    again = opened(open_store(tmp_path / "b"), first, rules=rules, revision="private households")
    assert again.event is not None
    assert again.event.name == "private households"
    with pytest.raises(Refused, match="the data have changed"):
        opened(census, first, again, rules=rules)
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(Refused, match="cannot be checked"):
        opened(open_store(tmp_path / "b"), first, rules=rules, revision="elsewhere")


def test_a_derived_store_is_opened_to_questions(tmp_path: Path) -> None:
    island_store(tmp_path / "a", 4000)
    report = derive(tmp_path / "a", tmp_path / "b", "drop-records", {"where": MANY}, secret=SECRET)
    census = open_store(tmp_path / "b")
    rules, limits = OnlineRules(smallest_group=30), Limits(dimensions=1)
    service = open_service(
        tmp_path / "b",
        Policy(name="test", schema=census.schema, online=rules, limits=limits),
        options=MethodOptions(strength="strong"),
        secret=SECRET,
    )
    assert service.versions.data == report.data_version
    answer = service.answer(asked("sex"))
    assert abs(int(values(answer).max()) - report.rows[Entity.PERSON]) < 20
