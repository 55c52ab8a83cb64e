"""The patterns of the API's document: what they accept is understood by the server."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.model.spec.predicate import parse_condition
from sdcensus.session.commands import compile_program
from sdcensus.web.api.asking import CONDITION, program_pattern
from tests.examples import at_least
from tests.session.answer.services import service

SCHEMA = service(50).policy.schema
PROGRAM = program_pattern("person", ["sex", "age", "married"])


@pytest.mark.parametrize(
    "text",
    [
        *("", "sex == 1", "age >= 15 and sex == 2", "age>=15", "15 <= age", "a != -3"),
        *("ed@parish in ('N', 'S') and not relationship == 1", "a not in (1,2,3)"),
        *("age@broad == '0-14' or activity in (1, 2)", "not (a == 1 or b < 2) and c > 3"),
        *("NOT a IN (\"O'Neill\", 'ñandú, 3%')", "(a == 1) or (b == 2 and c == 3)"),
        " and ".join(["a == 1"] * 60),
    ],
)
def test_conditions_that_people_write_fit_the_pattern(text: str) -> None:
    assert re.search(CONDITION, text)
    if text:
        parse_condition(text)


@pytest.mark.parametrize(
    "text", ["sex = 1", "a <> 1", "a ==", "a == b", "a == 1 and", "a in ()", "(a == 1", "a == 1.5"]
)
def test_what_is_no_condition_does_not_fit(text: str) -> None:
    assert not re.search(CONDITION, text)


@settings(max_examples=at_least(25))
@given(st.from_regex(CONDITION, fullmatch=True))
def test_whatever_fits_can_be_read(text: str) -> None:
    # Words of the language are no names of variables.
    if text.strip() and not re.search(r"\b(and|or|not|in) *(@|==|!=|<|>)", text.lower()):
        parse_condition(text)


@pytest.mark.parametrize(
    "text",
    [
        "TABLE t_1 AS FREQUENCY OF person.sex PERCENT TOTAL DECIMALS 2",
        "TABLE a_b TITLE 'Ages, by sex' AS CROSSTABS OF person.sex BY person.age PERCENT ROW",
        *("TABLE c_n AS COUNT OF person", "TABLE d_d AS DISTRIBUTION OF person.sex BY person.age"),
    ],
)
def test_programs_that_people_write_fit_the_pattern(text: str) -> None:
    assert re.search(PROGRAM, text)
    compile_program(text, SCHEMA)


@settings(max_examples=at_least(30))
@given(st.from_regex(PROGRAM, fullmatch=True))
def test_programs_that_fit_can_be_compiled(text: str) -> None:
    (table,) = compile_program(text, SCHEMA).tables
    assert table.name == text.split()[1]
