from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdcensus.documents.plan import plan_from_document, plan_text, read_plan
from sdcensus.documents.toml_lines import parse_toml
from sdcensus.errors import DocumentError, InputError, StoreError
from sdcensus.model.entity import Entity
from sdcensus.model.plan import (
    Plan,
    PlannedTable,
    PlanOutput,
    PlanPolicy,
    Protection,
)
from sdcensus.model.schema import Schema
from sdcensus.model.table_spec import Measure
from sdcensus.model.text import Text
from sdcensus.testing.island import island_schema

SCHEMA = island_schema()
GOOD = """\
store = "census.store"

[[table]]
name = "age-by-parish"
title = { en = "Age by parish" }
universe = "age >= 3"
rows = ["age@class"]
columns = ["area@parish+district"]
of = "persons"
measure = "count"

[protect]
method = "cell-key"
perturbation = "ptable.csv"
then = ["withhold-sparse-areas"]
mean_cell_size = 2

[policy]
file = "policy.toml"
role = "staff"

[output]
folder = "published"
office_folder = "published.office"
date = 2026-03-01
formats = ["csv", "xlsx", "sdmx-csv"]
languages = ["en"]
notes = true
evaluation = true
"""


def schema_of(store: Path) -> Schema:
    return SCHEMA


def read(text: str, *, checked: bool = True) -> Plan:
    document = parse_toml(Path("plan.toml"), text, what="plan")
    return plan_from_document(document, schema_of if checked else None)


def mistakes(text: str, *, checked: bool = True) -> str:
    with pytest.raises(DocumentError) as caught:
        read(text, checked=checked)
    return str(caught.value)


def test_a_plan_says_what_from_what_how_and_where_to() -> None:
    plan = read(GOOD)
    table = plan.table("age-by-parish")
    assert plan.store == "census.store"
    assert (table.rows, table.columns) == (("age@class",), ("area@parish+district",))
    assert table.spec(SCHEMA).universe.variables[0].name == "age"
    assert table.title.show("en") == "Age by parish"
    assert plan.protect == Protection(
        method="cell-key",
        then=("withhold-sparse-areas",),
        settings=(("perturbation", "ptable.csv"), ("mean_cell_size", 2)),
    )
    assert plan.policy == PlanPolicy(file="policy.toml", role="staff")
    assert plan.output is not None
    assert plan.output.date == "2026-03-01"
    assert plan.output.formats == ("csv", "xlsx", "sdmx-csv")


def test_a_plan_reads_from_its_own_folder(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(GOOD, encoding="utf-8", newline="\n")
    seen: list[Path] = []

    def found(store: Path) -> Schema:
        seen.append(store)
        return SCHEMA

    plan = read_plan(file, found)
    assert seen == [tmp_path / "census.store"]
    assert plan.path("policy.toml") == tmp_path / "policy.toml"
    with pytest.raises(InputError, match="does not exist"):
        read_plan(tmp_path / "nothing.toml")


def test_every_mistake_has_its_line_and_the_nearest_name() -> None:
    text = GOOD.replace('"age@class"', '"age@clas"').replace("age >= 3", "agee >= 3")
    text = text.replace("office_folder", "ofice_folder").replace('"persons"', '"persns"')
    said = mistakes(text)
    assert "line 6: table (number 1): There is no variable 'agee'. Did you mean 'age'" in said
    assert "line 7: table (number 1): Variable 'age': There is no level 'clas'" in said
    assert "line 9: table (number 1): There is no kind of unit 'persns'. Did you mean" in said
    assert "line 24: output: There is no setting 'ofice_folder'. Did you mean" in said


@pytest.mark.parametrize(
    ("setting", "line"),
    [('programme = "eu-2021"', 2), ('tables = ["1.*"]', 2), ('mapping = "m.toml"', 2)],
)
def test_programmes_come_later_and_say_so(setting: str, line: int) -> None:
    said = mistakes(GOOD.replace("\n\n", f"\n{setting}\n\n", 1))
    assert f"line {line}: " in said
    assert "come in a later version of sdcensus" in said
    assert "[[table]]" in said


def test_settings_of_programmes_have_types() -> None:
    assert "'tables'" in mistakes(GOOD.replace("\n\n", "\ntables = 3\n\n", 1))
    assert "double quotes" in mistakes(GOOD.replace("\n\n", "\nprogramme = 3\n\n", 1))


def test_shares_come_later_and_say_what_to_do() -> None:
    said = mistakes(GOOD.replace('"count"', '"share(married == 1)"'))
    assert "line 10" in said
    assert "later version" in said
    assert 'measure = "count"' in said


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('store = "census.store"', "", "the setting 'store' is missing"),
        ('name = "age-by-parish"', "", "line 3: table (number 1): the setting 'name' is missing"),
        ('name = "age-by-parish"', 'name = "a/b"', "line 4: table (number 1): 'name': should be"),
        ('name = "age-by-parish"', 'name = "Con.2021"', "keep for a device"),
        ('role = "staff"', 'role = "stuff"', "There is no role 'stuff'. Did you mean 'staff'"),
        ('rows = ["age@class"]', 'rows = "age"', "should be a list of axes"),
        ('rows = ["age@class"]', 'rows = ["age", " "]', "should not be empty"),
        ('rows = ["age@class"]', 'rows = ["area"]', "two axes of 'area'"),
        ('["csv", "xlsx", "sdmx-csv"]', '"csv"', ""),
        ('["csv", "xlsx", "sdmx-csv"]', "[1]", "double quotes"),
        ('languages = ["en"]', 'languages = ["xx"]', "no language in this census 'xx'"),
        ('languages = ["en"]', 'languages = ["english language"]', "is no language"),
        ("notes = true", 'notes = "yes"', "true or false"),
        ('"published.office"', '"published/office"', "cannot lie inside the published one"),
        ('"published.office"', '"./published"', "cannot lie inside the published one"),
        ("2026-03-01", '"soon"', "should be a date"),
        ("mean_cell_size = 2", 'mean_cell_size = "2"', "should be a number"),
        ("mean_cell_size = 2", "mean_cell_size = nan", "should be a number"),
        ("mean_cell_size = 2", 'secret = "s3cret"', "a secret never stands in a document"),
        ("[policy]", "[polcy]", "Did you mean 'policy'"),
        ("[[table]]", "[table]", "two pairs of brackets"),
        ('measure = "count"', 'measure = "sum"', "should be 'count' or 'weighted'"),
    ],
)
def test_bad_settings_are_explained(before: str, after: str, expected: str) -> None:
    assert before in GOOD
    text = GOOD.replace(before, after, 1)
    if not expected:
        assert read(text).output is not None
        return
    said = mistakes(text)
    assert expected in said
    assert "s3cret" not in said


def test_tables_have_names_of_their_own_whatever_their_case() -> None:
    more = '\n[[table]]\nname = "AGE-by-Parish"\nrows = ["sex"]\n'
    assert "is the name of table 1 already" in mistakes(
        GOOD.replace("\n[protect]", more + "\n[protect]")
    )


def test_a_plan_without_tables_says_how_to_add_one() -> None:
    assert "Add one: [[table]]" in mistakes('store = "census.store"\n')
    assert "is empty" in mistakes("\n")


def test_what_is_wrong_with_the_store_stands_at_its_line() -> None:
    def broken(store: Path) -> Schema:
        raise StoreError(f"{store} is no census store.")

    document = parse_toml(Path("plan.toml"), GOOD, what="plan")
    with pytest.raises(DocumentError, match=r"line 1: store: .*is no census store"):
        plan_from_document(document, broken)


def test_what_is_said_about_a_method_is_not_shown() -> None:
    plan = read(GOOD.replace("mean_cell_size = 2", 'scheme = "CP4"'))
    assert "CP4" not in repr(plan)
    assert "ptable" not in repr(plan)


NAMES = st.from_regex(r"[a-z][a-z0-9_.-]{0,12}", fullmatch=True)
WORDS = st.text(
    st.characters(blacklist_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=12
)
AXES = st.lists(st.sampled_from(["sex", "age@class", "area", "married-total"]), max_size=3).map(
    tuple
)
SETTINGS = st.tuples(
    st.tuples(st.just("perturbation"), WORDS),
    st.tuples(st.just("key_version"), st.integers(1, 9)),
    st.tuples(st.just("allow_bias"), st.booleans()),
    st.tuples(st.just("zero_share"), st.floats(0, 1)),
    st.tuples(st.just("exempt"), st.lists(WORDS, min_size=1, max_size=3).map(tuple)),
)
PLANS = st.builds(
    Plan,
    store=WORDS,
    tables=st.lists(
        st.builds(
            PlannedTable,
            name=NAMES,
            title=st.dictionaries(st.sampled_from(["en", "es"]), WORDS).map(Text.of),
            rows=AXES,
            columns=AXES,
            universe=st.sampled_from(["", "age >= 3"]),
            of=st.sampled_from(Entity),
            measure=st.sampled_from(Measure),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda one: one.name,
    ).map(tuple),
    protect=st.none()
    | st.builds(
        Protection,
        method=WORDS,
        then=st.lists(WORDS, max_size=2).map(tuple),
        settings=SETTINGS,
    ),
    policy=st.none()
    | st.builds(PlanPolicy, file=WORDS, role=st.sampled_from(["public", "staff", "production"])),
    output=st.none()
    | st.builds(
        PlanOutput,
        folder=st.just("published"),
        office_folder=st.sampled_from(["", "office"]),
        date=st.sampled_from(["", "2026-03-01"]),
        formats=st.lists(WORDS, min_size=1, max_size=2).map(tuple),
        languages=st.sampled_from([(), ("en",), ("en", "es")]),
        notes=st.booleans(),
        evaluation=st.booleans(),
    ),
)


@given(PLANS)
def test_a_plan_that_is_written_reads_back_equal(plan: Plan) -> None:
    assert read(plan_text(plan, comments=("About it.",)), checked=False) == plan


def test_the_written_plan_is_the_one_that_was_read() -> None:
    plan = read(GOOD)
    assert read(plan_text(plan)) == plan
