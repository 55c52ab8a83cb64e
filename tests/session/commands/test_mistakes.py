"""Every mistake points at its character and says what was found, expected and meant."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import QuestionError
from sdcensus.model.schema.variable import Code, Entity, Variable
from sdcensus.session.commands import (
    LONGEST_PROGRAM,
    MOST_TABLES,
    compile_program,
    line_and_column,
    parse_program,
    pointer,
)
from sdcensus.testing.island import island_schema
from tests.session.commands.programs import mistake

COUNT = "TABLE t AS COUNT OF person"
#: A program with the place of its mistake, and words that the message has.
CASES = [
    # words
    ("¶", "has no table"),
    ("  // nothing¶\n", "has no table"),
    ("¶TABEL t AS COUNT OF person", "Did you mean TABLE?"),
    ("¶15", "Found the number '15'; expected RUNDEF"),
    ("TABLE¶ ", "Found the end of the program; expected a name for the table"),
    ("TABLE ¶'t' AS COUNT OF person", "Found the text 't'; expected a name"),
    ("TABLE ¶TITLE 'x' AS COUNT OF person", "a word of the language"),
    ("TABLE t ¶IS COUNT OF person", "expected TITLE or AS"),
    ("TABLE t TITLE ¶Ages AS COUNT OF person", "expected the title in quotes"),
    ('TABLE t TITLE ¶"Ages\nAS COUNT OF person', 'has no " at the end of its line'),
    ("TABLE t TITLE 'a¶\x07' AS COUNT OF person", "cannot be shown"),
    ("TABLE t TITLE ¶“Ages” AS COUNT OF person", "curled quotation mark"),
    ("TABLE t AS COUNT OF person¶;", "Statements need no sign"),
    ("TABLE t AS COUNT OF person ¶/* so", "has no */ at its end"),
    ("TABLE t AS COUNT OF person FOR sex ¶! 1", "Write != or <>"),
    ("TABLE t AS COUNT OF person ¶$", "'$' means nothing here"),
    ("TABLE t AS ¶FREQENCY OF age", "Did you mean FREQUENCY?"),
    ("TABLE t AS ¶sex-ration", "Did you mean SEX-RATIO"),
    ("TABLE t AS FREQUENCY ¶person.age", "Found the word 'person'; expected OF"),
    ("TABLE t AS FREQUENCY OF person.¶", "expected the name of a variable after the point"),
    ("TABLE t AS FREQUENCY OF age@¶", "expected the name of a level"),
    ("TABLE t AS FREQUENCY OF age-¶broad", "Only the total can be taken away"),
    ("TABLE t AS CROSSTABS OF age ¶FOR sex = 1", "expected BY and another variable"),
    ("TABLE t AS COUNT OF person¶.age", "write FREQUENCY OF"),
    ("TABLE t AS COUNT OF ¶persn", "Did you mean 'person'?"),
    ("TABLE t AS COUNT OF person ¶FRO age >= 15", "Did you mean FOR"),
    ("TABLE t AS COUNT OF person FOR sex = 1 ¶FOR sex = 2", "FOR stands twice"),
    ("TABLE t AS COUNT OF person PERCENT ¶ALL", "expected ROW, COLUMN or TOTAL"),
    ("TABLE t AS RATIO OF sex = 1 ¶BY ed", "expected TO"),
    ("TABLE t AS SHARE OF sex = 1 DECIMALS ¶two", "expected a whole number"),
    (f"{COUNT} ¶RUNDEF job", "before all other statements"),
    (f"RUNDEF job {COUNT} ¶RUNDEF job", "stands once"),
    ("RUNDEF job ¶WHERE sex = 1", "expected SELECTION, UNIVERSE"),
    # conditions
    (f"{COUNT} FOR¶ ", "expected a condition such as person.age >= 15"),
    (f"{COUNT} FOR age¶ ", "expected one of = <> < <= > >= IN"),
    (f"{COUNT} FOR age ¶=> 15", "Write '>=' to compare"),
    (f"{COUNT} FOR age >=¶", "expected a code or number"),
    (f"{COUNT} FOR age >= ¶15.5", "whole numbers only"),
    (f"{COUNT} FOR birthplace = ¶D01", "put 'D01' in quotes"),
    (f"{COUNT} FOR (age >= 15¶", "expected AND, OR or ')'"),
    (f"{COUNT} FOR age NOT ¶15", "expected IN after NOT"),
    (f"{COUNT} FOR sex IN ¶1", "expected '(' and a list of codes"),
    (f"{COUNT} FOR sex IN (1 ¶2)", "expected ',' and a further code, or ')'"),
    (f"{COUNT} FOR sex = ¶3", "There is no code of sex '3'. There are: 1, 2."),
    (f"{COUNT} FOR ed@parish IN ('P001', ¶'P01')", "There is no code of ed@parish 'P01'"),
    (f"{COUNT} FOR sex > ¶'x'", "can only be compared with a whole number"),
    (f"{COUNT} FOR birthplace > ¶1", "are not numbers"),
    (f"{COUNT} FOR age@five_year >= ¶17", "17 cuts through the code '15-19'."),
    (f"{COUNT} FOR ¶sex = 1 AND sex = 2", "No record can fulfil the condition"),
    (f"RUNDEF j UNIVERSE sex = 1 {COUNT} FOR ¶sex = 2", "No record can fulfil"),
    # names
    ("TABLE t AS FREQUENCY OF ¶aeg", "There is no variable 'aeg'. Did you mean 'age'"),
    ("TABLE t AS FREQUENCY OF ¶paris", "There is no variable 'paris'"),
    ("DEFINE person.x AS ¶SWITCH INCASE sex = 1", "RECODE of one variable"),
    ("DEFINE household.n AS ¶COUNT person", "RECODE of one variable"),
    ("RUNDEF r SELECTION ¶'areas.sel' TABLE t AS COUNT OF person", "SELECTION ed@parish IN"),
    ("RUNDEF r SELECTION ¶INLINE, parish 1", "SELECTION ed@parish IN"),
    ("TABLE t AS FREQUENCY OF sex ¶OUTPUTFILE XLS 'x'", "saved from the page"),
    ("TABLE t AS FREQUENCY OF sex ¶FILTER age > 3", "Write FOR and a condition"),
    ("TABLE t AS FREQUENCY OF sex ¶WEIGHT w", "Leave WEIGHT out"),
    ("TABLE t AS FREQUENCY OF sex ¶OPTIONS OMIT", "Leave OPTIONS out"),
    ("DEFINE person.x AS RECODE age (0-14 = 1) ¶TYPE INTEGER", "Leave TYPE out"),
    ("TABLE t AS FREQUENCY OF ¶people.age", "There is no kind of unit 'people'"),
    ("TABLE t AS FREQUENCY OF household.¶age", "Write person.age."),
    ("TABLE t AS FREQUENCY OF age@¶fiveyear", "Did you mean 'five_year'?"),
    ("TABLE t AS FREQUENCY OF ¶weight", "it is a weight"),
    ("TABLE t AS FREQUENCY OF person.¶name", "it has no list of codes"),
    ("TABLE t AS FREQUENCY OF ¶by", "a word of the language"),
    (f"{COUNT} {COUNT.replace(' t ', ' ¶T ')}", "There is a table 'T' already"),
    ("TABLE t AS CROSSTABS OF age BY ¶age@broad", "two axes of 'age'"),
    ("TABLE t AS FREQUENCY OF household.tenure FOR ¶age >= 15", "counts households"),
    ("RUNDEF j UNIVERSE ¶person.age >= 15 TABLE t AS COUNT OF household", "counts households"),
    ("TABLE t AS COUNT OF household BY ¶person.sex", "write person. before its variables"),
    (f"{COUNT} AREABREAK ¶sex", "is no variable of areas. There are: ed."),
    (f"TABLE t TITLE ¶'{'x' * 201}' AS COUNT OF person", "from 1 to 200 characters"),
    (f"TABLE ¶{'x' * 61} AS COUNT OF person", "at most 60 characters"),
    # categories
    (
        f"DEFINE ¶person.g AS RECODE age {COUNT}".replace("¶", "").replace("age T", "age ¶T"),
        "a cat",
    ),
    ("DEFINE g AS ¶age", "expected RECODE"),
    (f"DEFINE person.¶sex AS RECODE age (0 = 1) {COUNT}", "There is a variable 'sex' already"),
    ("DEFINE ¶household.g AS RECODE age (0 = 1) " + COUNT, "Write person.g."),
    ("DEFINE g AS RECODE age (0 ¶1)", "or '=' and the number of the category"),
    ("DEFINE g AS RECODE age (0 = ¶)", "expected a code or number"),
    ("DEFINE g AS RECODE age (0 = 1 ¶Old)", "the name of the category in quotes, or ')'"),
    (f"DEFINE g AS RECODE age (¶121 = 1) {COUNT}", "There is no code of age '121'"),
    (f"DEFINE g AS RECODE age (0-14 = 1) (¶14-20 = 2) {COUNT}", "'14' is in '1' already"),
    (f"DEFINE g AS RECODE age (0-14 = 1) (15 = ¶1) {COUNT}", "Two categories have the number '1'"),
    (f"DEFINE g AS RECODE age (0 = 1 'a') (1 = 2 ¶'a') {COUNT}", "have the name 'a'"),
    (f"DEFINE g AS RECODE age (0 = 1 ¶'{'x' * 81}') {COUNT}", "from 1 to 80 characters"),
    (f"DEFINE g AS RECODE age@five_year (0-¶17 = 1) {COUNT}", "17 cuts through the code '15-19'"),
    (f"DEFINE g AS RECODE age@broad (¶70-HIGHEST = 1) {COUNT}", "70 cuts through the code '65+'"),
    (f"DEFINE g AS RECODE age (¶9-3 = 1) {COUNT}", "from 9 to 3 is empty"),
    (f"DEFINE g AS RECODE age (¶500-600 = 1) {COUNT}", "No code of age lies in this range"),
    (f"DEFINE g AS RECODE birthplace (¶1-5 = 1) {COUNT}", "are not numbers"),
    (f"DEFINE g AS RECODE birthplace (¶'D01'-'D05' = 1) {COUNT}", "Ranges go from number"),
    (f"DEFINE g AS RECODE sex (1 = 1) (2 = 2) (¶ELSE = 3) {COUNT}", "No code is left for ELSE"),
    (f"DEFINE g AS RECODE sex (1, ¶MISSING = 1) {COUNT}", "No code for a missing value is left"),
    (f"DEFINE g AS RECODE age (ELSE = 1) (¶ELSE = 2) {COUNT}", "ELSE stands twice"),
    ("DEFINE g AS RECODE age (0 = 1) DEFINE h AS RECODE ¶g (1 = 1) " + COUNT, "made by RECODE"),
    ("DEFINE g AS RECODE age (0 = 1) TABLE t AS FREQUENCY OF g@¶broad", "has no levels"),
    ("DEFINE g AS RECODE age (0 = 1) TABLE t AS CROSSTABS OF g BY ¶age", "cannot both be"),
    (f"DEFINE g AS RECODE age (0 = 1) {COUNT} FOR g = ¶2", "There is no category of 'g' '2'"),
    (f"DEFINE g AS RECODE age (0 = 1) {COUNT} FOR g > ¶1", "No category of 'g' is > 1"),
    (f"DEFINE g AS RECODE age (0 = 'a') {COUNT} FOR g > ¶1", "only if all are numbers"),
    # figures
    (f"{COUNT} PER ¶100", "PER belongs to ratios"),
    (f"{COUNT} DECIMALS ¶1", "Counts have no decimals"),
    (f"{COUNT} ¶PERCENT TOTAL", "Add BY and a variable"),
    ("TABLE t AS FREQUENCY OF age ¶PERCENT ROW", "Write PERCENT TOTAL"),
    ("TABLE t AS FREQUENCY OF ¶age-TOTAL PERCENT TOTAL", "Take -TOTAL away"),
    ("TABLE t AS DISTRIBUTION OF ¶age-TOTAL", "Take -TOTAL away"),
    ("TABLE t AS SHARE OF sex = 1 DECIMALS ¶7", "from 0 to 6 digits"),
    ("TABLE t AS SEX-RATIO PER ¶0", "1 or more"),
    ("TABLE t AS SEX-RATIO PER ¶2000000", "do not fit"),
    ("TABLE t AS SHARE OF sex = 1 ¶PERCENT ROW", "not to indicators"),
    ("TABLE t AS SHARE OF sex = 1 PER ¶10", "not to share"),
    ("TABLE t AS ¶SHARE OF sex = 1 BY sex", "both a group and part of what is computed"),
    ("TABLE t AS SHARE OF ¶sex = 1 OR age < 15", "cannot be made of published counts"),
    ("TABLE t AS SHARE OF ¶sex = 1 OF sex = 2", "No record can fulfil the condition"),
    ("TABLE t AS MEAN OF ¶tenure", "do not stand for numbers"),
    ("TABLE t AS SEX-RATIO OF ¶age", "has not two codes"),
    ("TABLE t AS MEAN OF age@five_year FOR ¶age >= 17", "cuts through the code '15-19'"),
    ("TABLE t AS INDICATOR ¶average-household-size", "COUNT OF person and COUNT OF household"),
    ("TABLE t AS SHARE OF ¶age >= 15 OF household", "counts households"),
]


@pytest.mark.parametrize(("marked", "words"), CASES, ids=[one[0][:60] for one in CASES])
def test_a_mistake_points_at_its_character(marked: str, words: str) -> None:
    assert words in mistake(marked)


def test_an_indicator_needs_the_variable_that_it_is_about() -> None:
    schema = island_schema()
    assert "There is no variable" not in mistake("¶".join(["TABLE t AS MEAN OF ", "sex"]), schema)
    assert "is no code" not in mistake("TABLE t AS ¶DEPENDENCY-RATIO", schema)


def test_a_long_program_is_refused_where_it_is_too_long() -> None:
    text = "TABLE t AS COUNT OF person //" + "x" * LONGEST_PROGRAM
    with pytest.raises(QuestionError, match="longer than 20,000 characters") as caught:
        parse_program(text)
    assert caught.value.at == LONGEST_PROGRAM


def test_the_table_after_the_last_that_may_be_is_refused() -> None:
    tables = [f"TABLE t{at} AS COUNT OF person " for at in range(MOST_TABLES + 1)]
    assert len(compile_program("".join(tables[:-1]), island_schema()).tables) == MOST_TABLES
    marked = "".join(tables[:-1]) + "¶" + tables[-1]
    assert f"more than {MOST_TABLES} tables" in mistake(marked, island_schema())


@pytest.mark.parametrize("opening", ["(", "NOT "])
def test_conditions_are_a_hundred_deep_at_most(opening: str) -> None:
    closing = ")" if opening == "(" else ""
    start = "TABLE t AS COUNT OF person FOR "
    deep = start + opening * 99 + "sex = 1" + closing * 99
    assert compile_program(deep, island_schema()).tables
    marked = f"{start}{opening * 100}¶sex = 1{closing * 100}"
    assert "more than 100 deep" in mistake(marked, island_schema())
    with pytest.raises(QuestionError):
        parse_program(start + opening * 9_000)


def test_a_condition_that_is_too_long_for_a_question_is_refused() -> None:
    codes = ", ".join(["1"] * 2_000)
    assert "4,000 characters" in mistake(f"TABLE t AS COUNT OF person FOR ¶sex IN ({codes})")


def test_the_pointer_shows_the_line_and_a_caret() -> None:
    source = "TABLE t\n\tAS FREQUENCY OF aeg\nFOR x = 1"
    at = source.index("aeg")
    assert pointer(source, at) == " AS FREQUENCY OF aeg\n                 ^"
    assert pointer("", 0) == "\n^"
    assert pointer("ab", 99) == "ab\n  ^"
    long = "x" * 500 + "!" + "y" * 500
    line, caret = pointer(long, 500).split("\n")
    assert len(line) == 100
    assert line[caret.index("^")] == "!"


@given(st.text(alphabet="ab\n\t ¶é", max_size=300), st.integers(-5, 400))
def test_the_caret_stands_below_its_character(text: str, at: int) -> None:
    shown = pointer(text, at)
    line, caret = shown.split("\n")
    place = min(max(at, 0), len(text))
    assert caret == " " * (len(caret) - 1) + "^"
    if place < len(text) and text[place] not in "\n\t ":
        assert line[len(caret) - 1] == text[place]
    number, column = line_and_column(text, at)
    assert len("\n".join(text.split("\n")[: number - 1])) + (number > 1) + column - 1 == place


def test_no_program_compares_more_codes_than_a_server_has_time_for() -> None:
    areas = Variable(
        name="tract",
        entity=Entity.PERSON,
        codes=tuple(Code(f"{at:05}") for at in range(20_000)),
    )
    census = island_schema()
    schema = replace(census, variables=(*census.variables, areas))
    tables = [f"TABLE t{at} AS COUNT OF person FOR tract > {at} " for at in range(40)]
    with pytest.raises(QuestionError, match="compares too many codes of long lists"):
        compile_program("".join(tables), schema)
    assert compile_program(tables[0], schema).tables
