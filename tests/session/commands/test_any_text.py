"""Whatever is written: a program, or a mistake with its place. Never anything else."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import QuestionError
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.commands import (
    RESERVED,
    Program,
    compile_program,
    line_and_column,
    parse_program,
    pointer,
    program_text,
)
from tests.session.commands.ebnf import DOCUMENTED
from tests.session.commands.programs import demo_schema

PROGRAM = """\
RUNDEF job SELECTION ed@parish IN ('P001', 'P002') UNIVERSE person.age >= 15
DEFINE person.g AS RECODE person.age (0-14 = 1 "Children") (15-64 = 2) (ELSE = 3 "Older") // so
TABLE t1 TITLE "Age by sex" AS FREQUENCY OF person.age@five_year-TOTAL
TABLE t2 AS CROSSTABS OF person.g BY person.sex, tenure FOR age >= 15 AND NOT (sex = 1) PERCENT ROW
TABLE t3 AS COUNT OF households BY ed@district FOR tenure <> 1
TABLE t4 AS SHARE OF person.sex = 2 OF person.g = 2 BY ed@region DECIMALS 2
TABLE t5 AS INDICATOR dependency-ratio AREABREAK ed@parish PER 1000
TABLE t6 AS MEDIAN OF age BY sex
"""
PIECES = (
    *sorted(RESERVED),
    *("person", "household", "age", "sex", "tenure", "ed", "g", "t", "parish", "five_year"),
    *("0", "1", "15", "64", "999999999999999999999", "'1'", '"x"', "'P001'", "'65+'"),
    *("==", "=", "<>", "<", ">=", "(", ")", ",", ".", "@", "+", "-", "/*", "//", "'", '"', "\n"),
)
TERMINALS = {
    "word": ("age", "sex", "ed", "tenure", "parish", "broad", "five_year", "g", "t1", "t2"),
    "number": ("0", "1", "2", "15", "64", "100"),
    "quoted": ("'1'", "'65+'", "'P001'", '"A"', '"B"'),
}


def outcome(text: str) -> tuple[Program | None, QuestionError | None]:
    try:
        return compile_program(text, demo_schema()), None
    except QuestionError as error:
        return None, error


def check(text: str) -> None:
    """A program that is taken can be asked; one that is not has a place inside it."""
    program, error = outcome(text)
    if error is not None:
        assert error.at is not None
        assert 0 <= error.at <= len(text)
        line, column = line_and_column(text, error.at)
        assert error.place == f"line {line}, column {column}"
        assert pointer(text, error.at).count("\n") == 1
        assert str(error).endswith((".", "?"))
        return
    assert program is not None
    assert parse_program(program_text(program.script)) == program.script
    for table in program.tables:
        asked = table.question
        spec = TableSpec.build(demo_schema(), asked.by, of=asked.of, universe=asked.where or None)
        assert tuple(axis.variable.name for axis in spec.axes) == table.variables
        assert Question.from_json(asked.to_json()) == asked


def test_the_program_that_is_changed_below_is_a_program() -> None:
    program = compile_program(PROGRAM.replace("TABLE t3", "// TABLE t3"), demo_schema())
    assert len(program.tables) == 5
    with pytest.raises(QuestionError, match="counts households"):
        compile_program(PROGRAM, demo_schema())


@given(st.text(max_size=300))
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_words_of_the_language_in_any_order(text: str) -> None:
    check(text)


@given(st.integers(0, 2**32))
def test_sentences_of_the_grammar_about_the_demo_country(seed: int) -> None:
    draw = random.Random(seed)
    words = DOCUMENTED.sentence(draw, TERMINALS, "table", draw.randint(4, 9))
    check(" ".join(words))


@given(st.data())
def test_a_program_with_some_characters_changed(data: st.DataObject) -> None:
    text = PROGRAM
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 12))
        more = data.draw(st.one_of(st.just(""), st.sampled_from(PIECES), st.text(max_size=5)))
        text = text[:at] + more + text[at + gone :]
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 19_000,
        "NOT " * 4_900,
        "TABLE t AS COUNT OF person FOR " + "(" * 19_000,
        "TABLE t AS COUNT OF person FOR " + "NOT " * 4_900,
        "TABLE t AS COUNT OF person FOR " + "sex = 1 AND " * 1_500 + "sex = 1",
        "TABLE t AS COUNT OF person FOR " + "sex = 1 OR age = 3 AND " * 150 + "sex = 1",
        "TABLE t AS COUNT OF person FOR age IN (" + "1," * 9_000 + "1)",
        "TABLE t AS FREQUENCY OF age" + "+broad" * 3_000,
        "TABLE t AS CROSSTABS OF age" + " BY sex" * 2_500,
        "TABLE t AS COUNT OF person BY " + ",".join(["age"] * 4_000),
        "DEFINE g AS RECODE age " + "(1 = 1)" * 2_500,
        "DEFINE g AS RECODE age (" + "1," * 9_000 + "1 = 1) TABLE t AS FREQUENCY OF g",
        "'" * 19_999,
        '"' * 20_000,
        "/*" * 10_000,
        "//" * 10_000,
        "\n" * 20_000,
        "a" * 20_000,
        "1" * 20_000,
        "TABLE t AS COUNT OF person FOR age > " + "9" * 19_000,
        "TABLE t AS COUNT OF person FOR age = " + "9" * 19_000,
        "TABLE t AS SEX-RATIO PER " + "9" * 19_000,
        "TABLE t AS SEX" + "-RATIO" * 3_000,
        "TABLE t AS COUNT OF " + "person." * 2_500,
        "TABLE t AS COUNT OF person " * 700,
    ],
    ids=lambda text: text[:40].strip() or "blank",
)
def test_huge_programs(text: str) -> None:
    check(text)
