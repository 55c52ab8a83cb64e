from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.plan.document import plan_from_document, plan_text, read_plan
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import DocumentError, InputError, StoreError
from sdcensus.model.plan.plan import (
    Plan,
    PlannedIndicator,
    PlannedTable,
    PlanOffice,
    PlanOutput,
    PlanPolicy,
    Protection,
)
from sdcensus.model.plan.vocabulary import PROGRAMME_NAMES
from sdcensus.model.published.table_format import BUILT_IN
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.spec.table_spec import Measure
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import COUNT_MEASURES
from sdcensus.session.publish.programme import PROGRAMMES
from sdcensus.testing.island import island_schema

SCHEMA = island_schema()
GOOD = """\
store = "census.store"

[[table]]
name = "age-by-parish"
title = { en = "Age by parish" }
universe = "age >= 5"
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
    text = GOOD.replace('"age@class"', '"age@clas"').replace("age >= 5", "agee >= 5")
    text = text.replace("office_folder", "ofice_folder").replace('"persons"', '"persns"')
    said = mistakes(text)
    assert "line 6: table (number 1): There is no variable 'agee'. Did you mean 'age'" in said
    assert "line 7: table (number 1): Variable 'age': There is no level 'clas'" in said
    assert "line 9: table (number 1): There is no kind of unit 'persns'. Did you mean" in said
    assert "line 24: output: There is no setting 'ofice_folder'. Did you mean" in said


PROGRAMME = """\
store = "census.store"
programme = "eu-2021"
tables = ["1.*", "9.2", "grid"]
mapping = "eu-mapping.toml"
"""


def test_a_programme_needs_no_table_beside_it() -> None:
    plan = read(PROGRAMME)
    assert (plan.programme, plan.mapping) == ("eu-2021", "eu-mapping.toml")
    assert plan.programme_tables == ("1.*", "9.2", "grid")
    assert plan.tables == ()
    assert read(PROGRAMME.replace('tables = ["1.*", "9.2", "grid"]\n', "")).programme_tables == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            PROGRAMME.replace("eu-2021", "eu-2012"),
            "line 2: programme: There is no programme 'eu-2012'. Did you mean 'eu-2021'",
        ),
        (PROGRAMME.replace('mapping = "eu-mapping.toml"', ""), "line 2: programme: a programme"),
        (PROGRAMME.replace('programme = "eu-2021"', ""), "line 3: tables: 'tables' is about"),
        (PROGRAMME.replace('programme = "eu-2021"', ""), "line 4: mapping: 'mapping' is about"),
        (PROGRAMME.replace('["1.*", "9.2", "grid"]', "3"), "'tables'"),
        (PROGRAMME.replace('"eu-2021"', "3"), "double quotes"),
        (PROGRAMME.replace("programme", "program", 1), "Did you mean 'programme'"),
    ],
)
def test_mistakes_about_programmes(text: str, expected: str) -> None:
    assert expected in mistakes(text)


def test_shares_have_a_condition_of_their_own() -> None:
    share = '"share(married == 1 and (sex == 0 or age >= 5))"'
    table = read(GOOD.replace('"count"', share)).table("age-by-parish")
    assert (table.measure, table.share) == (
        None,
        "married == 1 and (sex == 0 or age >= 5)",
    )
    said = mistakes(GOOD.replace('"count"', '"share(maried == 1)"'))
    assert "line 10: table (number 1): There is no variable 'maried'. Did you mean" in said
    assert "no code '7'" in mistakes(GOOD.replace('"count"', '"share(married == 7)"'))
    assert "needs a condition" in mistakes(GOOD.replace('"count"', '"share( )"'))


def with_indicator(*lines: str) -> str:
    return GOOD.replace("\n[protect]", "\n".join(["\n[[indicator]]", *lines, "\n[protect]"]), 1)


@pytest.mark.parametrize(
    "lines",
    [
        ('kind = "share"', 'numerator = "married == 1"', 'denominator = "age >= 5"'),
        ('numerator = "married == 1"', "decimals = 0"),
        ('kind = "ratio"', 'numerator = "sex == 0"', 'denominator = "sex == 1"', "per = 1000"),
        ('kind = "distribution"', 'variable = "age@class"', 'universe = "sex == 0"'),
        ('kind = "median"', 'variable = "age"'),
        ('kind = "mean"', 'variable = "age"'),
        ('kind = "median-age"',),
        ('kind = "sex-ratio"', 'numerator = "sex == 0"', 'denominator = "sex == 1"'),
        ('kind = "dependency-ratio"', 'variable = "age"'),
    ],
)
def test_every_kind_of_indicator_is_read(lines: tuple[str, ...]) -> None:
    plan = read(with_indicator('name = "figures"', 'by = ["area"]', *lines))
    (made,) = plan.indicators
    assert (made.name, made.by) == ("figures", ("area",))
    for line in lines:
        name, value = line.split(" = ", 1)
        assert str(getattr(made, name)) == value.strip('"')
    assert read(plan_text(plan)) == plan


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (('kind = "share"',), "the setting 'numerator' is missing: a share needs it"),
        (('kind = "ratio"', 'numerator = "sex == 0"'), "the setting 'denominator' is missing"),
        (('kind = "median"',), "the setting 'variable' is missing"),
        (('kind = "medain"',), "There is no kind of indicator 'medain'. Did you mean 'median"),
        (('kind = "median"', 'variable = "agee"'), "There is no variable 'agee'"),
        (('kind = "median"', 'variable = "sex"'), "needs numbers"),
        (('kind = "median"', 'variable = "age@class"'), "needs numbers"),
        (('kind = "distribution"', 'variable = "age@class+half"'), "one level"),
        (('kind = "distribution"', 'variable = "area@district"'), "stands in 'by' already"),
        (('kind = "share"', 'numerator = "sexx == 0"'), "There is no variable 'sexx'"),
        (('kind = "share"', 'numerator = "sex == 0"', "per = 10"), "'per' is no setting of"),
        (('kind = "median-age"', "decimals = 9"), "should be at most 6"),
        (('kind = "median-age"', 'of = "persns"'), "no kind of unit 'persns'"),
        (('kind = "average-household-size"',), "household"),
        (('kind = "average-household-size"', 'of = "households"'), "'of' is not needed"),
        (('kind = "median-age"', 'axes = ["sex"]'), "There is no setting 'axes'"),
    ],
)
def test_mistakes_of_indicators(lines: tuple[str, ...], expected: str) -> None:
    assert expected in mistakes(with_indicator('name = "figures"', 'by = ["area"]', *lines))


def test_tables_and_indicators_share_their_names() -> None:
    said = mistakes(with_indicator('name = "Age-by-parish"', 'kind = "median-age"'))
    assert "'Age-by-parish' is the name of table 1 already" in said
    assert "the setting 'name' is missing" in mistakes(with_indicator('kind = "median-age"'))


OFFICE = """
[office]
name = { en = "Statistical office" }
legal_basis = "Statistics act, section 7"
contact = "census@example.org"
symbols = { withheld = "x", refused = "-" }
"""


def test_the_office_and_its_signs() -> None:
    office = read(GOOD + OFFICE).office
    assert office.name.show("en") == "Statistical office"
    assert office.legal_basis == Text.of("Statistics act, section 7")
    assert office.symbols == (("withheld", "x"), ("refused", "-"))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("withheld", "witheld", "There is no symbol 'witheld'. Did you mean 'withheld'"),
        ('"x"', '""', "should be a sign"),
        ('"x"', "1", "should be a sign"),
        ('"x"', '"0"', "for a number"),
        ('"x"', '"-"', "same sign"),
        ('"x"', '":"', "same sign"),
        ('"x"', '"confidential data"', "at most 12"),
        ('{ en = "Statistical office" }', '{ xx = "Statistical office" }', "no language 'xx'"),
    ],
)
def test_mistakes_about_the_office(before: str, after: str, expected: str) -> None:
    said = mistakes(GOOD + OFFICE.replace(before, after, 1))
    assert expected in said


PROTECT = GOOD[GOOD.index("[protect]") : GOOD.index("[policy]")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (('method = "cel-key"',), "There is no method 'cel-key'. Did you mean 'cell-key'"),
        (('method = "cell-key"', 'then = ["aditivity"]'), "no step after a method 'aditivity'"),
        (('method = "cell-key"', 'then = ["additivity", "additivity"]'), "stands twice"),
        (('method = "cell-key"', 'strength = "midium"'), "Did you mean 'medium'"),
        (('method = "cell-key"', 'scheme = "CP33"'), "There is no scheme 'CP33'. Did you mean"),
        (('method = "cell-key"', 'lookup = "hash"'), "There is no look-up 'hash'"),
        (('method = "cell-key"', "base = 3"), "'base' is no setting of cell-key. It is for: "),
        (('method = "cell-key"', 'mode = "fast"'), "It is for: additivity."),
        (('method = "cell-key"', 'scheme = "CP3"', 'strength = "light"'), "Choose one"),
        (('method = "cell-key"', "repeat = 3"), "needs 'perturbation'"),
        (('method = "cell-key"', 'zeros = "show"'), "no treatment of zeros 'show'"),
        (('method = "cell-key"', 'zeros = "perturb"'), "needs 'zero_share'"),
        (('method = "cell-key"', "zero_share = 0.1"), "needs zeros"),
        (('method = "cell-key"', 'zeros = "perturb"', "zero_share = 1.5"), "between 0 and 1"),
        (('method = "cell-key"', 'exempt = ["aera@district"]'), "There is no variable 'aera'"),
        (
            ('method = "suppression"', "group = 0", 'group_axes = ["maried"]'),
            "There is no variable 'maried'",
        ),
        (('method = "random-rounding"', "base = 1"), "from 2 to 100"),
        (('method = "semi-controlled-rounding"', 'to = "area"'), "Did you mean 'areas'"),
        (
            ('method = "semi-controlled-rounding"', 'to = "areas"', 'area = "aera"'),
            "no variable 'aera'",
        ),
    ],
)
def test_words_of_protection_are_checked(lines: tuple[str, ...], expected: str) -> None:
    said = mistakes(GOOD.replace(PROTECT, "\n".join(["[protect]", *lines, "\n"])))
    assert expected in said


def test_the_programmes_are_those_that_can_be_loaded() -> None:
    assert set(PROGRAMME_NAMES) == set(PROGRAMMES)


def test_the_office_folder_has_a_default_beside_the_published_one() -> None:
    output = read(GOOD.replace('office_folder = "published.office"\n', "")).output
    assert output is not None
    assert (output.office_folder, output.for_office) == ("", "published.office")
    assert PlanOutput(folder="out/2026/").for_office == "out/2026.office"


def test_files_that_a_plan_names_must_be_there(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    text = GOOD.replace("\n\n", '\nprogramme = "eu-2021"\nmapping = "eu-mapping.toml"\n\n', 1)
    file.write_text(text, encoding="utf-8", newline="\n")
    assert read_plan(file, schema_of).mapping == "eu-mapping.toml"
    with pytest.raises(DocumentError) as caught:
        read_plan(file, schema_of, files=True)
    said = str(caught.value)
    for line, name in [(3, "eu-mapping.toml"), (16, "ptable.csv"), (21, "policy.toml")]:
        assert f"line {line}: " in said
        assert f"there is no file {name!r}" in said
    for name in ("eu-mapping.toml", "ptable.csv", "policy.toml"):
        (tmp_path / name).write_text("", encoding="utf-8", newline="\n")
    assert read_plan(file, schema_of, files=True).file == "plan.toml"


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
        ('["csv", "xlsx", "sdmx-csv"]', '["csv", "xslx"]', "no format 'xslx'. Did you mean 'xlsx'"),
        ('["csv", "xlsx", "sdmx-csv"]', '["json"]', "There is no format 'json'"),
        ('["csv", "xlsx", "sdmx-csv"]', '["csv", "CSV"]', "'csv' stands twice"),
        ('["csv", "xlsx", "sdmx-csv"]', "[]", "empty list"),
        ("notes = true", 'labels = "no"', "true or false"),
        ('folder = "published"', 'folder = "."', "holds the plan itself"),
        ('folder = "published"', 'folder = "census.store/out"', "cannot lie in each other"),
        ('"ptable.csv"', '"published/ptable.csv"', "tells how numbers are made"),
        ('name = "age-by-parish"', 'name = "manifest"', "a file of every publication"),
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
        (
            'measure = "count"',
            'measure = "mode"',
            "should be 'count' or 'weighted' or 'sum(variable)' or 'weighted-sum(variable)' or"
            " 'share(condition)'",
        ),
        ('measure = "count"', 'measure = "sum"', "A sum names what is added up"),
        ('measure = "count"', 'measure = "count(age)"', "counts records and adds nothing up"),
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
    assert "ptable" not in repr(read(GOOD))
    plan = read(GOOD.replace('perturbation = "ptable.csv"', 'scheme = "CP4"'))
    assert "CP4" not in repr(plan)


NAMES = st.from_regex(r"[a-z][a-z0-9_.-]{0,12}", fullmatch=True)
WORDS = st.text(
    st.characters(blacklist_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=12
)
AXES = st.lists(st.sampled_from(["sex", "age@class", "area", "married-total"]), max_size=3).map(
    tuple
)
TEXTS = st.dictionaries(st.sampled_from(["en", "es"]), WORDS).map(Text.of)
SETTINGS = st.tuples(
    st.tuples(st.just("perturbation"), WORDS),
    st.tuples(st.just("allow_bias"), st.booleans()),
    st.tuples(st.just("exempt"), st.sampled_from([("area@district",), ("sex", "age, sex")])),
    st.tuples(st.just("key_version"), st.integers(1, 9)),
    st.tuples(st.just("mean_cell_size"), st.floats(0, 1)),
)
INDICATORS = st.builds(
    PlannedIndicator,
    name=NAMES.map("figures-{}".format),
    title=TEXTS,
    kind=st.just("ratio"),
    by=AXES,
    of=st.sampled_from(Entity),
    universe=st.sampled_from(["", "age >= 5"]),
    numerator=WORDS,
    denominator=WORDS,
    per=st.integers(1, 1000),
    decimals=st.integers(0, 6),
) | st.builds(
    PlannedIndicator, name=NAMES.map("middle-{}".format), kind=st.just("median"), variable=WORDS
)
OFFICES = st.builds(
    PlanOffice,
    name=TEXTS,
    legal_basis=TEXTS,
    contact=st.just("") | WORDS,
    symbols=st.sampled_from([(), (("withheld", "x"),), (("refused", "-"), ("not_available", "/"))]),
)


def only_used(output: PlanOutput) -> PlanOutput:
    """Without settings of files that are not written, which are refused."""
    tables = {"csv", "parquet"} & set(output.formats)
    return replace(
        output,
        original_store=output.original_store if output.evaluation else "",
        labels=output.labels if tables else None,
    )


PLANS_OF_ONE_METHOD = st.builds(
    Plan,
    store=WORDS.map("{}.store".format),
    indicators=st.lists(INDICATORS, max_size=2, unique_by=lambda one: one.name).map(tuple),
    office=OFFICES,
    tables=st.lists(
        st.builds(
            PlannedTable,
            name=NAMES,
            title=st.dictionaries(st.sampled_from(["en", "es"]), WORDS).map(Text.of),
            rows=AXES,
            columns=AXES,
            universe=st.sampled_from(["", "age >= 5"]),
            of=st.sampled_from(Entity),
            measure=st.sampled_from([*COUNT_MEASURES, MeasureOf(Measure.SUM, "income")]),
        )
        | st.builds(
            PlannedTable, name=NAMES, rows=AXES, share=st.sampled_from(["sex == 1", "age > 3"])
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda one: one.name,
    ).map(tuple),
    protect=st.none()
    | st.builds(
        Protection,
        method=st.just("cell-key"),
        then=st.just(("withhold-sparse-areas",)),
        settings=SETTINGS,
    ),
    policy=st.none()
    | st.builds(PlanPolicy, file=WORDS, role=st.sampled_from(["public", "staff", "production"])),
    output=st.none()
    | st.builds(
        PlanOutput,
        folder=st.just("published"),
        office_folder=st.sampled_from(["", "office"]),
        original_store=st.sampled_from(["", "before.store"]),
        date=st.sampled_from(["", "2026-03-01"]),
        formats=st.lists(st.sampled_from(list(BUILT_IN)), min_size=1, unique=True).map(tuple),
        languages=st.sampled_from([(), ("en",), ("en", "es")]),
        notes=st.booleans(),
        evaluation=st.booleans(),
        labels=st.sampled_from([None, True, False]),
    ).map(only_used),
)


PLANS = PLANS_OF_ONE_METHOD
PROTECTIONS = st.builds(
    Protection,
    method=st.just("cell-key"),
    then=st.sampled_from([(), ("withhold-sparse-areas",)]),
    settings=st.just((("strength", "light"),)),
    smallest_group=st.sampled_from([None, 23]),
)


@st.composite
def with_protections(draw: st.DrawFn) -> Plan:
    """Tables that are protected in ways of their own, by name or by themselves."""
    plan = draw(PLANS_OF_ONE_METHOD)
    names = draw(st.lists(st.sampled_from(["legal", "rest.2021", "ages"]), unique=True))
    tables = list(plan.tables)
    for name in names:
        at = draw(st.integers(0, len(tables) - 1))
        tables[at] = replace(tables[at], protect=name)
    used = {table.protect for table in tables}
    own = draw(st.lists(st.none() | PROTECTIONS, min_size=len(tables), max_size=len(tables)))
    tables = [
        table if table.protect else replace(table, protect=protect)
        for table, protect in zip(tables, own, strict=True)
    ]
    named = tuple((name, draw(PROTECTIONS)) for name in names if name in used)
    return replace(plan, tables=tuple(tables), protections=named)


PLANS |= with_protections()


def with_programme(plan: Plan, patterns: tuple[str, ...]) -> Plan:
    return replace(plan, programme="eu-2021", programme_tables=patterns, mapping="map.toml")


PLANS |= st.builds(with_programme, PLANS, st.sampled_from([(), ("1.*", "grid")]))


@given(PLANS)
def test_a_plan_that_is_written_reads_back_equal(plan: Plan) -> None:
    assert read(plan_text(plan, comments=("About it.",)), checked=False) == plan


def test_the_written_plan_is_the_one_that_was_read() -> None:
    plan = read(GOOD)
    assert read(plan_text(plan)) == plan


PER_TABLE = """\
store = "census.store"

[[table]]
name = "legal"
rows = ["area@district"]
protect = "legal"

[[table]]
name = "own"
rows = ["sex"]
protect = { method = "threshold-and-rounding", threshold = 12 }

[[table]]
name = "rest"
rows = ["age"]

[protect]
method = "cell-key"

[protect.legal]
method = "conventional-rounding"
base = 5
"""


def placed(said: str) -> str:
    """Mistakes with their lines, without the parts of the plan."""
    return re.sub(r"(line \d+): (table \(number \d\)|protect): ", r"\1: ", said)


def test_a_table_can_have_a_method_of_its_own() -> None:
    plan = read(PER_TABLE)
    assert plan.protect == Protection(method="cell-key")
    legal = Protection(method="conventional-rounding", settings=(("base", 5),))
    assert plan.protections == (("legal", legal),)
    own = Protection(method="threshold-and-rounding", settings=(("threshold", 12),))
    assert [plan.own_protection(table) for table in plan.tables] == [legal, own, None]
    assert read(plan_text(plan)) == plan


def test_without_a_method_for_all_the_others_have_the_usual_one() -> None:
    plan = read(PER_TABLE.replace('[protect]\nmethod = "cell-key"\n\n', ""))
    assert plan.protect is None
    assert len(plan.protections) == 1


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"legal"\n\n', '"legla"\n\n', "line 6: There is no section [protect.NAME] of the plan"),
        (
            '"legal"\n\n',
            "3\n\n",
            "line 6: 'protect': should be the name of a section [protect.NAME]",
        ),
        ('"legal"\n\n', '""\n\n', "line 6: 'protect': should be the name"),
        ("threshold = 12", "treshold = 12", "line 11: There is no setting 'treshold'"),
        ("threshold = 12", "base = 5", ""),
        ("threshold = 12", 'area = "nowhere"', "line 11: 'area' is no setting of"),
        ("{ method =", "{ methode =", "line 11: the setting 'method' is missing ('methode' is no"),
        ("base = 5", "base = 500", "line 22: 'base' should be a number from 2 to 100."),
        ("base = 5", "import_published = true", "line 22: 'import_published' is for all tables"),
        ("base = 5", 'secret = "s"', "line 22: a secret never stands in a document"),
        ("[protect.legal]", "[protect.leg]", 'line 20: no table says protect = "leg".'),
        ("[protect.legal]", "[protect.'le gal']", "the name should be letters, digits"),
        ("[protect.legal]", "[protect.legal]\nx = 1", "line 21: There is no setting 'x'"),
        ("[protect.legal]\nmethod", "[protect.legal]\nthen", "the setting 'method' is missing"),
        ('legal"\n\n', 'legal"\n\n', ""),
    ],
)
def test_every_mistake_about_a_table_of_its_own_has_its_line(
    before: str, after: str, said: str
) -> None:
    assert before in PER_TABLE
    text = PER_TABLE.replace(before, after)
    if said:
        assert said in placed(mistakes(text))
    else:
        read(text)


def test_a_section_that_is_not_there_is_explained() -> None:
    text = PER_TABLE.replace('[protect.legal]\nmethod = "conventional-rounding"\nbase = 5\n', "")
    assert "line 6: there is no section [protect.legal]. Add it with a method" in placed(
        mistakes(text)
    )


def test_files_of_every_method_must_be_there_and_stay_secret(tmp_path: Path) -> None:
    text = PER_TABLE.replace(
        '{ method = "threshold-and-rounding", threshold = 12 }',
        '{ method = "cell-key", perturbation = "published/noise.csv" }',
    )
    text += '\n[output]\nfolder = "published"\n'
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(DocumentError) as caught:
        read_plan(tmp_path / "plan.toml", schema_of, files=True)
    said = placed(str(caught.value))
    assert "line 11: the file of 'perturbation' tells how numbers are made" in said
    assert "line 11: 'perturbation': there is no file 'published/noise.csv' beside" in said
