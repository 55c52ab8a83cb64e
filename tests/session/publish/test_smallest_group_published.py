"""The smallest group in publications: what files show, what the lock keeps, batch and builder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import DocumentError, Refused, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.lock import EventKind, PublicationLock
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.guard.guard import read_lock
from sdcensus.session.protect.plan_method import planned_method
from sdcensus.session.protect.smallest_group import GroupRule, Tabulate
from sdcensus.session.publish.resolution import resolve
from tests.session.publish.plans import PROTECT, Office, new_office

GROUP = 40
RULE = f"{PROTECT}smallest_group = {GROUP}\n"
POLICY = """
name = "rules"
lock = true
[online]
smallest_group = 40
"""
OBEYS = '\n[policy]\nfile = "policy.toml"\nrole = "public"\n'


def table(office: Office, name: str) -> Table:
    found = read_published(office.published / f"{name}.csv").table
    assert isinstance(found, Table)
    return found


def hidden(found: Table) -> npt.NDArray[np.bool_]:
    if found.flags is None:
        return np.zeros(found.shape, dtype=bool)
    return np.asarray(found.flags == Mark.NOT_BROKEN_DOWN)


def lock(office: Office) -> PublicationLock:
    return read_lock(office.office)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    made = new_office(tmp_path_factory.mktemp("groups"), 900, protect=RULE)
    made.publish()
    return made


def test_files_hide_what_the_rule_hides_and_say_so(office: Office) -> None:
    resolved = resolve(office.plan, secret=office.secret)
    assert resolved.smallest_group == GROUP
    some = 0
    for name in ("marital", "ages"):
        found = table(office, name)
        method = resolved.methods.main(Entity.PERSON)
        census = resolved.census
        made = GroupRule(GROUP).protect(found.spec, method, census.tabulate).table
        assert found == made
        some += int(hidden(found).sum())
        plain = method.protect(census.tabulate(found.spec)).table
        assert isinstance(plain, Table)
        shown = ~hidden(found)
        np.testing.assert_array_equal(found.published[shown], plain.published[shown])
    assert some
    about = json.loads((office.published / "marital.about.json").read_text(encoding="utf-8"))
    assert about["provenance"]["smallest_group"] == GROUP
    assert any(f"fewer than {GROUP}" in note["en"] for note in about["notes"])
    page = (office.published / "notes.html").read_text(encoding="utf-8")
    assert f"fewer than {GROUP}" in page
    # What is guaranteed stands in the office's page and in no public file.
    guaranteed = "or fewer units is broken down"
    assert guaranteed in (office.own / "evaluation.html").read_text(encoding="utf-8")
    assert not any(guaranteed.encode() in file for file in office.files().values())


def test_figures_with_a_hidden_part_are_hidden(office: Office) -> None:
    """Shares and ratios are never computed from what is left."""
    text = (office.published / "wed.csv").read_text(encoding="utf-8")
    ratios = (office.published / "men.csv").read_text(encoding="utf-8")
    resolved = resolve(office.plan, secret=office.secret)
    seen = []
    for product, content in (("wed", text), ("men", ratios)):
        chosen = next(one for one in resolved.products if one.name == product)
        some = False
        for spec in chosen.specs:
            made = GroupRule(GROUP).protect(
                spec, resolved.methods.main(Entity.PERSON), resolved.census.tabulate
            )
            assert isinstance(made.table, Table)
            some |= bool(hidden(made.table).any())
        assert some == (Mark.NOT_BROKEN_DOWN.sign in content.replace(",", "\n").split("\n"))
        seen.append(some)
    assert any(seen)


def service(office: Office, census: Census, smallest_group: int | None = None) -> TableService:
    resolved = resolve(office.plan, secret=office.secret)
    policy = Policy(
        name="builder",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=100_000),
        online=OnlineRules(smallest_group=smallest_group),
    )
    method = planned_method(resolved.plan, census, Entity.PERSON, secret=office.secret)
    return TableService(census, policy, {Entity.PERSON: method})


def counting(census: Census, engine: str) -> Tabulate:
    return lambda spec: census.tabulate(spec, engine=engine)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_batch_and_builder_hide_the_same_on_every_engine(office: Office, engine: str) -> None:
    census = open_store(office.store)
    builder = service(office, census, smallest_group=GROUP)
    method = planned_method(
        resolve(office.plan, secret=office.secret).plan, census, Entity.PERSON, secret=office.secret
    )
    # A condition is an axis that is not shown: every engine counts it and its ancestors.
    spec = census.spec("area", "age@age+class", universe="age < 7 and sex == '1'")
    ruled = [
        GroupRule(GROUP).protect(spec, method, counting(census, name))
        for name in ("memory", engine)
    ]
    assert ruled[0].table == ruled[1].table
    assert isinstance(ruled[0].table, Table)
    assert hidden(ruled[0].table).any()
    for by in (("area@parish+district", "age"), ("sex", "age@class", "married"), ("area", "sex")):
        spec = census.spec(*by)
        batch = GroupRule(GROUP).protect(spec, method, counting(census, engine)).table
        assert isinstance(batch, Table)
        answer = builder.answer(Question.from_json({"of": "persons", "by": list(by)}))
        assert answer.table is not None
        marks = (
            np.zeros(batch.shape, np.uint8) if answer.table.marks is None else answer.table.marks
        )
        np.testing.assert_array_equal(marks == Mark.NOT_BROKEN_DOWN, hidden(batch))
        np.testing.assert_array_equal(answer.table.values, batch.published)


def test_sums_with_a_hidden_part_are_hidden_never_partial(office: Office) -> None:
    """Own groups, ranges and conditions; the cover takes the coarsest codes."""
    census = open_store(office.store)
    with_rule = service(office, census, smallest_group=GROUP)
    without = service(office, census)
    questions: list[dict[str, Any]] = [
        {"by": ["area", "age"], "groups": {"age": [{"label": "g", "codes": ["0", "1", "5"]}]}},
        {"by": ["area", "married"], "where": "age in ('2', '3', '8')"},
        {"by": ["area@district", "sex"], "where": "age < 5"},
        {"by": ["area", "sex"], "codes": {"area": ["P5", "P6"]}},
        {"by": ["sex"], "where": "area == 'P6' or age == '1'"},
    ]
    seen = 0
    for one in questions:
        question = Question.from_json({"of": "persons", **one})
        answer, whole = with_rule.answer(question), without.answer(question)
        assert answer.table is not None
        assert whole.table is not None
        shape = answer.table.shape
        marks = np.zeros(shape, np.uint8) if answer.table.marks is None else answer.table.marks
        gone = marks == Mark.NOT_BROKEN_DOWN
        seen += int(gone.sum())
        # Shown sums are the sums without the rule, whole; hidden ones hold no number.
        np.testing.assert_array_equal(answer.table.values[~gone], whole.table.values[~gone])
        assert not answer.table.values[gone].any()
        told = any(f"fewer than {GROUP}" in note.show("en") for note in answer.table.notes)
        assert told == bool(gone.any())
    assert seen
    # A range that is a class of its own is read as that class, not as ages.
    coarse = with_rule.answer(
        Question.from_json({"of": "persons", "by": ["married"], "where": "age < 3"})
    )
    assert coarse.parts is None or int(coarse.parts.max()) == 1


def test_raising_is_allowed_and_said_lowering_needs_a_name(tmp_path: Path) -> None:
    office = new_office(tmp_path / "o", 900)
    office.publish()
    before = {name: table(office, name) for name in ("marital", "ages")}
    assert lock(office).smallest_group(lock(office).tables[0].series) == 0
    office.write_plan(protect=RULE)
    report = office.publish()
    assert report.changed == 0
    gone = sum(int(hidden(table(office, name)).sum()) for name in before)
    assert gone
    assert any("no longer shown" in warning for warning in report.warnings)
    for name, earlier in before.items():
        now = table(office, name)
        kept = ~hidden(now)
        np.testing.assert_array_equal(now.published[kept], earlier.published[kept])
    series = lock(office).tables[0].series
    assert lock(office).smallest_group(series) == GROUP
    assert lock(office).events[-1].kind is EventKind.SMALLEST_GROUP
    assert office.publish().unchanged

    office.write_plan(protect=f"{PROTECT}smallest_group = 30\n")
    with pytest.raises(Refused, match=r"30 instead of 40.*--revision NAME"):
        office.publish()
    assert lock(office).smallest_group(series) == GROUP
    with pytest.raises(Refused, match="There was an event"):
        office.publish(revision="first publication")
    lowered = office.publish(revision="less is hidden")
    assert lowered.changed == 0
    assert any("30 instead of 40" in warning for warning in lowered.warnings)
    assert lock(office).smallest_group(series) == 30
    assert lock(office).events[-1].name == "less is hidden"
    assert office.publish().unchanged
    # Old locks have no rule, and are read as such.
    text = (office.office / "publication.lock").read_text(encoding="utf-8")
    old = json.loads(text)
    for one in old["makings"]:
        del one["smallest_group"]
    assert PublicationLock.from_json(json.dumps(old)).smallest_group(series) == 0


def test_a_changed_record_is_not_passed_off_as_a_raise(tmp_path: Path) -> None:
    """With other data every difference counts, hidden cells too."""
    from sdcensus.testing.island import island_units
    from tests.session.publish.publications import without

    office = new_office(tmp_path / "o", 900)
    office.publish()
    office.replace_store(without(island_units(900), [5]))
    office.write_plan(protect=RULE)
    with pytest.raises(Refused, match="data have changed"):
        office.publish()


def test_a_plan_may_raise_that_of_its_policy_and_not_lower_it(tmp_path: Path) -> None:
    office = new_office(tmp_path / "o", 900, more=OBEYS)
    (office.folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    assert resolve(office.plan, secret=office.secret).smallest_group == 40
    office.write_plan(protect=f"{PROTECT}smallest_group = 50\n", more=OBEYS)
    assert resolve(office.plan, secret=office.secret).smallest_group == 50
    office.write_plan(protect=f"{PROTECT}smallest_group = 39\n", more=OBEYS)
    with pytest.raises(Refused, match="can be raised, never lowered"):
        resolve(office.plan, secret=office.secret)
    # Roles without rules on published numbers have their own, or none.
    free = POLICY + '[role.production]\nonline = "off"\n'
    (office.folder / "policy.toml").write_text(free, encoding="utf-8")
    office.write_plan(more='\n[policy]\nfile = "policy.toml"\n')
    assert resolve(office.plan, secret=office.secret).smallest_group is None


def test_what_cannot_obey_is_refused_before_any_work(tmp_path: Path) -> None:
    office = new_office(tmp_path / "o", 300)
    office.write_plan(protect='[protect]\nmethod = "light-touch"\nsmallest_group = 9\n')
    with pytest.raises(SpecError, match="far from the truth"):
        resolve(office.plan, secret=office.secret)
    office.write_plan(protect=f"{RULE}import_published = true\n")
    with pytest.raises(SpecError, match="would not follow from what is shown"):
        resolve(office.plan, secret=office.secret)
    office.write_plan(protect=f"{PROTECT}smallest_group = 1\n")
    with pytest.raises(DocumentError, match="smallest_group"):
        resolve(office.plan, secret=office.secret)
