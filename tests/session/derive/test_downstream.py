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
from sdcensus.session.answer import TableService
from sdcensus.session.answer.opening import open_service
from sdcensus.session.assess.assessment import assess_table
from sdcensus.session.assess.options import AssessOptions
from sdcensus.session.attack.attack import attack_folder
from sdcensus.session.census.census import open_store
from sdcensus.session.derive import DerivationReport, derive
from sdcensus.session.guard.guard import read_lock
from sdcensus.session.guard.served_lines import read_served
from sdcensus.session.protect.table import protect_table
from sdcensus.session.publish.approval import approve, verify
from sdcensus.testing.island import SECRET, island_store
from sdcensus.web.database import Database
from sdcensus.web.numbers import open_numbers
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


OTHER_TABLES = """
[[table]]
name = "young"
rows = ["age@class"]
columns = ["married"]
"""


def other_plan(office: Office, store: str, tables: str = OTHER_TABLES) -> Path:
    """A second plan with the same office folder."""
    other = office.write_plan(
        tables, name="other.toml", output='office_folder = "published.office"\n'
    )
    text = other.read_text(encoding="utf-8")
    text = text.replace('store = "census.store"', f'store = "{store}"')
    other.write_text(text.replace('folder = "published"', 'folder = "more"'), encoding="utf-8")
    return other


def test_tables_that_share_no_number_are_related_even_so(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    derived(office, MANY)
    other = other_plan(office, "derived.store")
    before = office.files()
    with pytest.raises(Refused, match="Who has related numbers from both learns"):
        office.publish(other)
    # A name alone does not decide that tables of both lines are out.
    with pytest.raises(Refused, match="does not take over all that is out") as caught:
        office.publish(other, revision="private households")
    assert "marital (plan), ages (plan)" in str(caught.value)
    assert "--two-lines" in str(caught.value)
    assert office.files() == before
    notes = office.publish(other, revision="private households", two_lines=True).warnings
    assert any("Readers have both" in note for note in notes)
    event = read_lock(office.office).events[-1]
    assert (event.name, event.beside) == ("private households", ("",))
    # Whoever signs is told, and the public file says nothing of it.
    approvals = approve(tmp_path / "more", name="Ana Ruiz", office=office.office)
    assert approvals.two_lines == ("private households",)
    assert verify(tmp_path / "more", office=office.office).approvals == approvals
    assert not any(b"private households" in text for _, text in texts(tmp_path / "more"))
    # What was decided stays decided for this line, not for the other one.
    more = f'{OTHER_TABLES}[[table]]\nname = "few"\nrows = ["married"]\n'
    assert any(
        "Readers have both" in note
        for note in office.publish(other_plan(office, "derived.store", more)).warnings
    )
    with pytest.raises(Refused, match="made from the original store"):
        office.publish(
            other_plan(
                office,
                "census.store",
                more
                + more.replace('"few"', '"x"').replace('"young"', '"y"').replace("married", "sex"),
            )
        )
    # The first plan follows under the same name: then there is one line again.
    notes = published_from(office, "derived.store", revision="private households")
    assert not any("Readers have both" in note for note in notes)
    published_from(office, "derived.store")


def test_a_revision_that_takes_everything_over_needs_no_more_than_its_name(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    first = derived(office, "age == 5 and age == 6")  # nothing changes, and it is another line
    with pytest.raises(Refused, match="made from a derived store"):
        published_from(office, "derived.store")
    published_from(office, "derived.store", revision="derived")
    lock = read_lock(office.office)
    assert {lock.making(table).lineage for table in lock.tables} == {first.lineage}
    assert lock.events[-1].name == "derived"
    assert not lock.events[-1].beside
    published_from(office, "derived.store")
    # Neither other parameters nor a further step are the same line.
    derived(office, "age == 5 and age == 7")
    with pytest.raises(Refused, match="made from a derived store"):
        published_from(office, "derived.store")
    report = derive(
        office.folder / "derived.store",
        office.folder / "twice.store",
        *("drop-records", {"where": "age == 1 and age == 2"}),
        secret=SECRET,
    )
    assert report.lineage.count("drop-records 1") == 2
    shutil.rmtree(office.folder / "derived.store")
    (office.folder / "twice.store").rename(office.folder / "derived.store")
    with pytest.raises(Refused) as caught:
        published_from(office, "derived.store")
    assert report.lineage in str(caught.value)


def test_a_folder_says_from_which_store_it_was_made_and_from_one_only(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    assert verify(office.published).lines == ("the original store",)
    manifest = office.published / "manifest.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["tables"][0]["provenance"][0]["lineage"] = "drop-records 1 0"
    manifest.write_text(json.dumps(content), encoding="utf-8")
    (problem,) = verify(office.published).problems
    assert "several lines of records: a derived store (drop-records 1 0); the original" in problem


def test_numbers_are_not_taken_over_from_another_line(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    published_from(office, "census.store")
    derived(office, MANY)
    tables = '[[table]]\nname = "again"\nrows = ["area@district"]\ncolumns = ["married"]\n'
    plan = other_plan(office, "derived.store", tables)
    text = plan.read_text(encoding="utf-8")
    plan.write_text(
        text.replace("[protect]", "[protect]\nimport_published = true"), encoding="utf-8"
    )
    notes = office.publish(plan, revision="both", two_lines=True).warnings
    assert not any("taken over" in note for note in notes)


def test_a_builder_and_a_publication_are_of_one_line(tmp_path: Path) -> None:
    office = new_office(tmp_path, tables=OTHER_TABLES)
    published_from(office, "census.store")
    derived(office, MANY)
    census = open_store(office.store)
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=1),
        online=OnlineRules(recovery=0.99),
    )

    def served(store: Path) -> TableService:
        return open_service(store, policy, plan=office.plan, secret=office.secret)

    with pytest.raises(Refused, match="published from other records"):
        served(office.folder / "derived.store")
    with Database.open(tmp_path / "state.db") as database:
        assert not open_numbers(served(office.store), database).notes
    assert read_served(office.office) == {_series(office): ""}
    # The builder stands beside what a revision would publish from the other store.
    with pytest.raises(Refused, match="from the original store: the table builder"):
        published_from(office, "derived.store", revision="private households")
    published_from(office, "derived.store", revision="private households", two_lines=True)
    assert read_lock(office.office).events[-1].beside == ("",)
    with pytest.raises(Refused, match="published from other records"):
        served(office.store)
    assert served(office.folder / "derived.store").office == office.office


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
