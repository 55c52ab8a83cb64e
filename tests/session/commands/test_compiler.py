"""A program asks exactly what the same questions ask when they are written by hand."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import QuestionError
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.question import OwnGroup, Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.model.text import LANGUAGES, catalogue
from sdcensus.session.commands import CommandTable, Show, compile_program
from sdcensus.session.figures.computation import Choice, Percentages, Quotient
from tests.session.commands.programs import demo_schema


def only(text: str) -> CommandTable:
    (table,) = compile_program(text, demo_schema()).tables
    return table


def question(*by: str, of: str = "persons", **parts: object) -> Question:
    return Question.from_json({"of": of, "by": list(by), **parts})


@pytest.mark.parametrize(
    ("text", "by_hand"),
    [
        ("FREQUENCY OF person.age@five_year", question("age@five_year")),
        ("FREQUENCY OF PERSON.AGE@FIVE_YEAR", question("age@five_year")),
        ("FREQUENCY OF age", question("age")),
        ("FREQUENCY OF age@broad+five_year-TOTAL", question("age@five_year+broad-total")),
        ("FREQUENCY OF age+broad", question("age@age+broad")),
        ("FREQUENCY OF household.tenure", question("tenure", of="households")),
        ("FREQUENCY OF person.tenure", question("tenure")),
        ("FREQUENCY OF families.family_type", question("family_type", of="families")),
        ("CROSSTABS OF tenure BY sex", question("tenure", "sex")),
        ("CROSSTABS OF tenure BY rooms", question("tenure", "rooms", of="households")),
        ("COUNT OF person", question()),
        ("COUNT OF dwellings BY ed@district", question("ed@district", of="dwellings")),
        (
            "CROSSTABS OF person.age BY person.sex FOR person.age >= 15 AREABREAK ed@parish",
            question("ed@parish", "age", "sex", where="age >= 15"),
        ),
        (
            "COUNT OF person FOR NOT (sex = 1 OR age@broad <> '65+') AND ed@parish IN ('P001')",
            question(where="not (sex == 1 or age@broad != '65+') and ed@parish in ('P001')"),
        ),
        ("COUNT OF person FOR 15 <= age", question(where="age >= 15")),
        ("FREQUENCY OF PERSONA.SEX", question("sex")),
        ("FREQUENCY OF hogares.tenure", question("tenure", of="households")),
        ("COUNT OF Ménage BY PARISH", question("ed@parish", of="households")),
        ("FREQUENCY OF sex AREABREAK district", question("ed@district", "sex")),
        ("AREALIST OF ed@parish", question("ed@parish")),
        ("AREALIST OF parish, VIVIENDAS", question("ed@parish", of="dwellings")),
        ("AREALIST OF parish, tenure", question("ed@parish", "tenure", of="households")),
        (
            "COUNT OF person FOR sex = 1 & (age >= 15 | age < 3)",
            question(where="sex == 1 and (age >= 15 or age < 3)"),
        ),
    ],
)
def test_counts_are_the_questions_that_somebody_writes_by_hand(
    text: str, by_hand: Question
) -> None:
    made = only(f"TABLE t AS {text}")
    assert (made.show, made.computed) == (Show.COUNT, None)
    schema = demo_schema()
    mine, theirs = (
        TableSpec.build(schema, one.by, of=one.of, universe=one.where or None)
        for one in (made.question, by_hand)
    )
    assert mine == theirs
    assert made.question.by == by_hand.by
    assert made.question.of == by_hand.of
    if "NOT" not in text:
        assert made.question == by_hand


def test_the_universe_of_the_run_holds_for_every_table() -> None:
    program = compile_program(
        """
        RUNDEF job SELECTION ed@parish = 'P001' OR ed@parish = 'P002' UNIVERSE person.age >= 15
        TABLE a AS FREQUENCY OF sex
        TABLE b AS FREQUENCY OF sex FOR married = 1 OR sex = 2
        TABLE c AS FREQUENCY OF sex FOR age >= 15
        """.replace("married", "marital_status"),
        demo_schema(),
    )
    areas = "ed@parish in ('P001', 'P002') and age >= 15"
    expected = (areas, f"{areas} and (marital_status == 1 or sex == 2)", areas)
    for table, text in zip(program.tables, expected, strict=True):
        mine, theirs = (universe_of(one, demo_schema()) for one in (table.question.where, text))
        assert mine.canonical() == theirs.canonical()
    assert program.tables[0].question == program.tables[2].question  # said twice, asked once


def test_categories_are_groups_of_the_fewest_declared_codes() -> None:
    made = only(
        """
        DEFINE person.agegroup AS RECODE person.age
          (0-14 = 1 "Children") (15-64 = 2 "Working age") (65-HIGHEST = 3 "Older")
        TABLE t AS CROSSTABS OF person.agegroup BY sex
        """
    )
    assert made.question == question(
        "age@broad",
        "sex",
        groups={
            "age": [
                {"label": "Children", "codes": ["0-14"]},
                {"label": "Working age", "codes": ["15-24", "25-44", "45-64"]},
                {"label": "Older", "codes": ["65+"]},
            ]
        },
    )
    assert (made.rows, made.columns, made.layers) == (("age",), ("sex",), ())


@given(st.data())
def test_groups_hold_exactly_the_codes_that_were_named(data: st.DataObject) -> None:
    """Whatever codes stand for them in the question, the leaves are those of the program."""
    limits = sorted(data.draw(st.sets(st.integers(1, 120), min_size=1, max_size=6)))
    ends = [0, *limits, 121]
    spans = [(low, high - 1) for low, high in itertools.pairwise(ends)]
    words = " ".join(f"({a}-{b} = {at})" for at, (a, b) in enumerate(spans))
    made = only(f"DEFINE g AS RECODE age {words} TABLE t AS FREQUENCY OF g-TOTAL")
    age = demo_schema().variable("age")
    (axis,) = made.question.by
    levels = axis.removeprefix("age").removeprefix("@").removesuffix("-total").split("+")
    ((_, groups),) = made.question.groups
    for (low, high), group in zip(spans, groups, strict=True):
        held = np.sum([_leaves(age, levels, code) for code in group.codes], axis=0)
        assert held.tolist() == [int(low <= at <= high) for at in range(121)]


def _leaves(variable: Variable, levels: list[str], code: str) -> npt.NDArray[np.int64]:
    """The leaves of a code, looked up at the levels of the axis only; it stands at one of them."""
    named, _, plain = code.rpartition(":")
    found = []
    for level in (variable.level(level or None) for level in ([named] if named else levels)):
        places = [at for at, code in enumerate(level.codes) if code.code == plain]
        found += [level.group_array == at for at in places]
    assert len(found) == 1
    return np.asarray(found[0], dtype=np.int64)


def test_else_takes_what_is_left_and_missing_what_has_no_value() -> None:
    made = only(
        "DEFINE g AS RECODE tenure (1, 2 = 1 'Own') (ELSE = 2 'Other') (MISSING = 9 'Unknown')"
        " TABLE t AS FREQUENCY OF g"
    )
    tenure = demo_schema().variable("tenure")
    others = [code.code for code in tenure.codes if not code.is_missing][2:]
    missing = [code.code for code in tenure.codes if code.is_missing]
    assert made.question.groups == (
        (
            "tenure",
            (
                OwnGroup("Own", ("1", "2")),
                OwnGroup("Other", tuple(others)),
                OwnGroup("Unknown", tuple(missing)),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("g = 2", "age >= 15 and age < 65"),
        ("g IN (1, 3)", "age < 15 or age >= 65 and age < 90"),
        ("g <> 1", "age >= 15"),
        ("g NOT IN (1, 2)", "age >= 65"),
        ("g >= 2", "age >= 15 and age < 90"),
        ("person.G < 2", "age < 15"),
        ("NOT g = 3", "age < 65 or age >= 90"),
        ("g = 2 AND age < 17 OR sex = 1", "age in (15, 16) or sex == 1"),
    ],
)
def test_conditions_on_categories_are_conditions_on_their_codes(text: str, plain: str) -> None:
    made = only(
        "DEFINE g AS RECODE age (0-14 = 1) (15-64 = 2) (65-89 = 3)"
        f" TABLE t AS FREQUENCY OF marital_status FOR {text}"
    )
    mine, theirs = (universe_of(one, demo_schema()) for one in (made.question.where, plain))
    assert mine.canonical() == theirs.canonical()


def test_a_share_asks_for_groups_of_the_condition_and_for_the_total() -> None:
    made = only("TABLE t AS SHARE OF person.sex = 2 OF person BY ed@parish")
    assert made.question == question(
        "ed@parish", "sex", groups={"sex": [{"label": "Sex: Female", "codes": ["2"]}]}
    )
    assert isinstance(made.computed, Quotient)
    assert made.computed.numerator == (Choice("sex", (0,)),)
    assert made.computed.denominator == (Choice("sex", (1,)),)
    assert (made.show, made.computed.per, made.computed.decimals) == (Show.SHARE, 100, 1)


def test_both_sides_of_a_share_are_groups_where_the_whole_is_a_part() -> None:
    made = only("TABLE t AS SHARE OF sex = 2 AND age >= 65 OF age >= 15 BY ed@region DECIMALS 2")
    assert made.question.by == ("ed@region", "age@broad+adults-total", "sex")
    assert isinstance(made.computed, Quotient)
    assert made.computed.numerator == (Choice("age", (0,)), Choice("sex", (0,)))
    assert made.computed.denominator == (Choice("age", (1,)), Choice("sex", (1,)))
    assert made.computed.decimals == 2
    (_, ages), _ = made.question.groups
    assert [age.codes for age in ages] == [("65+",), ("adults",)]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("SEX-RATIO BY ed@region", "RATIO OF sex = 1 TO sex = 2 BY ed@region"),
        (
            "DEPENDENCY-RATIO PER 1000",
            "RATIO OF age < 15 OR age >= 65 TO age >= 15 AND age < 65 PER 1000",
        ),
        ("INDICATOR median-age BY sex", "MEDIAN OF person.age BY sex"),
        ("AVERAGE OF age", "INDICATOR mean OF age"),
    ],
)
def test_indicators_by_name_are_those_written_out(short: str, long: str) -> None:
    first, second = (only(f"TABLE t AS {text}") for text in (short, long))
    assert first.question == second.question
    assert first.show is second.show


def test_percentages_divide_by_totals_of_rows_columns_or_both() -> None:
    text = "TABLE t AS CROSSTABS OF age@broad BY sex BY marital_status AREABREAK ed@region PERCENT "
    cases = {
        "ROW": (Show.SHARE_ROW, ("sex", "marital_status"), "row"),
        "COLUMN": (Show.SHARE_COLUMN, ("age",), "column"),
        "TOTAL": (Show.SHARE_TOTAL, ("age", "sex", "marital_status"), "total"),
    }
    for word, (show, over, share) in cases.items():
        made = only(text + word)
        assert (made.show, made.computed, made.share) == (show, Percentages(over), share)
        assert made.layers == ("ed",)
        assert made.question.by == ("ed@region", "age@broad", "sex", "marital_status")


def test_a_table_as_plain_values() -> None:
    made = only('TABLE t1 TITLE " Ages " AS FREQUENCY OF age@broad PERCENT TOTAL')
    assert made.to_json() == {
        "name": "t1",
        "title": "Ages",
        "question": {"of": "persons", "by": ["age@broad"]},
        "show": "share-total",
        "share": "total",
        "rows": ["age"],
        "columns": [],
        "layers": [],
        "at": 0,
    }
    program = compile_program("TABLE t1 AS COUNT OF person", demo_schema())
    assert program.table("T1") is program.tables[0]
    assert program.table("t2") is None


@pytest.mark.parametrize(
    ("named", "spelt"),
    [
        ("TABLE t AS FREQUENCY OF sex FOR adults", "TABLE t AS FREQUENCY OF sex FOR age >= 15"),
        (
            "RUNDEF r UNIVERSE NOT Seniors TABLE t AS COUNT OF person FOR (adults) AND sex = 2",
            "RUNDEF r UNIVERSE NOT age >= 65 TABLE t AS COUNT OF person FOR age >= 15 AND sex = 2",
        ),
        (
            "TABLE t AS SHARE OF sex = 2 OF adults BY ed@region",
            "TABLE t AS SHARE OF sex = 2 OF age >= 15 BY ed@region",
        ),
        (
            "TABLE t AS COUNT OF household FOR private_households",
            "TABLE t AS COUNT OF household FOR household.household_kind = '1'",
        ),
    ],
)
def test_a_universe_can_be_named(named: str, spelt: str) -> None:
    tables = [compile_program(text, demo_schema()).tables for text in (named, spelt)]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("TABLE t AS COUNT OF person FOR adlts", 36, "one of"),
        ("TABLE t AS COUNT OF building FOR adults", 33, "describes persons"),
        ("TABLE t AS COUNT OF person FOR adults = 3", 31, "no variable 'adults'"),
    ],
)
def test_what_is_wrong_with_a_universe_is_said_where_it_is_named(
    text: str, at: int, words: str
) -> None:
    with pytest.raises(QuestionError) as caught:
        compile_program(text, demo_schema())
    assert caught.value.at == at
    assert words in str(caught.value)


def test_a_list_of_variables_is_one_table_for_each() -> None:
    listed = compile_program(
        'TABLE t TITLE "Basics" AS FREQUENCY OF sex, person.age@broad FOR age >= 15', demo_schema()
    )
    alone = compile_program(
        'TABLE t_1 TITLE "Basics (1)" AS FREQUENCY OF sex FOR age >= 15'
        ' TABLE t_2 TITLE "Basics (2)" AS FREQUENCY OF person.age@broad FOR age >= 15',
        demo_schema(),
    )
    assert listed.tables == alone.tables
    names = [
        table.name
        for table in compile_program(
            "TABLE a AS AREALIST OF parish, person, household, person.sex", demo_schema()
        ).tables
    ]
    assert names == ["a_1", "a_2", "a_3"]


def test_many_variables_are_many_tables() -> None:
    with pytest.raises(QuestionError, match="more than 50 tables"):
        compile_program(f"TABLE t AS FREQUENCY OF {', '.join(['sex'] * 51)}", demo_schema())


def test_units_have_their_words_in_every_language() -> None:
    for language in LANGUAGES:
        words = catalogue("web/mistakes", language)
        for entity in Entity:
            assert Entity.parse(words[f"single.{entity}"].upper()) is entity
            assert Entity.parse(words[f"many.{entity}"]) is entity
