"""Means and medians of amounts in programs: the questions that the page asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcensus.errors import QuestionError
from sdcensus.session.census.census import Census
from sdcensus.session.commands import compile_program, finish
from tests.hamlet import write_hamlet
from tests.session.answer.test_amounts import INCOME, asked, service


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return write_hamlet(tmp_path_factory.mktemp("hamlet")).load()


@pytest.mark.parametrize(
    ("word", "measure"),
    [
        ("AVERAGE", "mean(income)"),
        ("MEAN", "mean(income)"),
        ("INDICATOR mean", "mean(income)"),
        ("MEDIAN", "median(income)"),
    ],
)
def test_a_program_asks_the_question_of_the_page(census: Census, word: str, measure: str) -> None:
    text = f"TABLE t AS {word} OF PERSON.INCOME BY PERSON.SEX FOR age >= 15 AREABREAK ed@parish"
    (table,) = compile_program(text, census.schema).tables
    assert table.question == asked(measure, "ed@parish", "sex", where="age >= 15")
    assert table.show.value == measure.partition("(")[0]
    answer = service(census, INCOME).answer(table.question).table
    assert answer is not None
    shown = finish(table, answer)
    assert np.array_equal(shown.values, answer.values)
    assert shown.decimals == answer.decimals
    assert [axis.column for axis in shown.axes] == ["ed", "sex"]


def test_units_are_those_that_have_the_amount(census: Census) -> None:
    (table,) = compile_program(
        "TABLE t AS AVERAGE OF HOUSEHOLD.RENT BY tenure", census.schema
    ).tables
    assert table.question.of == "households"
    assert table.question.measure == "mean(rent)"


def test_an_amount_without_classes_has_a_mean_and_no_median(census: Census) -> None:
    rent = replace(census.schema.variable("rent"), codes=())
    others = [each for each in census.schema.variables if each.name != "rent"]
    schema = replace(census.schema, variables=(*others, rent))
    (table,) = compile_program("TABLE t AS AVERAGE OF rent BY tenure", schema).tables
    assert table.question.measure == "mean(rent)"
    with pytest.raises(QuestionError, match="the census gives it no ranges"):
        compile_program("TABLE t AS MEDIAN OF rent BY tenure", schema)


def test_a_title_is_that_of_the_program(census: Census) -> None:
    program = 'TABLE t TITLE "Mine" AS AVERAGE OF income BY sex'
    (table,) = compile_program(program, census.schema).tables
    answer = service(census, INCOME).answer(table.question).table
    assert answer is not None
    assert "Mine" in finish(table, answer).title.show("en")


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("TABLE t AS AVERAGE OF income BY sex DECIMALS 3", "Leave DECIMALS out"),
        ("TABLE t AS AVERAGE OF income PER 100", "PER belongs to ratios"),
        ("TABLE t AS AVERAGE OF income@bracket", "its mean is a published sum"),
        ("TABLE t AS AVERAGE OF incme", "income"),
        ("TABLE t AS AVERAGE OF sex", "do not stand for numbers"),
        ("TABLE t AS AVERAGE OF person.rent BY sex", "column 30: .* Write household.rent"),
        ("TABLE t AS MEDIAN OF rent@rent", "without levels"),
        ("TABLE t AS AVERAGE OF income BY sex, income@bracket", "both a group and part"),
        ("TABLE t AS AVERAGE OF weight", "it is a weight"),
        ("TABLE t AS AVERAGE OF income UNIVERSE age > 9", "Write FOR and a condition"),
    ],
)
def test_mistakes(census: Census, program: str, message: str) -> None:
    with pytest.raises(QuestionError, match=message):
        compile_program(program, census.schema)


def test_an_amount_that_is_not_offered_is_refused_as_on_the_page(census: Census) -> None:
    (table,) = compile_program("TABLE t AS AVERAGE OF income BY sex", census.schema).tables
    refused = service(census).answer(table.question)
    assert refused.table is None
    assert [reason.code for reason in refused.verdict.reasons] == ["measure-not-offered"]
