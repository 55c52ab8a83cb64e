"""Mistakes in questions, conditions and programs are told in the language of the reader."""

from __future__ import annotations

import ast
import functools
import re
import string
from pathlib import Path
from typing import Any

import pytest

import sdcensus
from sdcensus.client.failures import failure
from sdcensus.errors import QuestionError, Sentence, UnknownName, told, unknown
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import LONGEST_AXIS, MOST_CODES, Question
from sdcensus.model.text import LANGUAGES
from sdcensus.session.answer.recipe import compile_question
from sdcensus.session.commands import compile_program
from sdcensus.testing.island import island_schema
from sdcensus.web.api.errors import as_api_error
from sdcensus.web.languages import mistake_text, texts
from tests.session.commands.programs import HERE, demo_schema
from tests.session.commands.test_mistakes import CASES

PART = "mistakes."
POLICY = Policy(name="everything", schema=demo_schema())
#: Words of English that none of the other languages has, and what is written as it is.
ENGLISH = re.compile(r"\b(the|are|and|or|not|this|with|there|expected|found|write|you|has)\b")
EXAMPLE = re.compile(r"\{\w+|'(and|or|not)'|sex == 1|age >= 15 and")
#: Questions that are no questions, with a word of what is said about them.
QUESTIONS: list[tuple[object, str]] = [
    ([], "object with the members"),
    ({"from": "persons"}, "no such part"),
    ({"of": 3}, "text is needed"),
    ({"of": "ships"}, "no kind of unit 'ships'"),
    ({"by": "sex"}, "list is needed"),
    ({"by": ["sex"] * 21}, "more than 20"),
    ({"by": ["s" * (LONGEST_AXIS + 1)]}, "longer than 200"),
    ({"by": ["s\n"]}, "cannot be shown"),
    ({"by": ["aeg"]}, "Did you mean 'age'"),
    ({"by": ["age@fives"]}, "Variable 'age': There is no level 'fives'"),
    ({"by": ["sex age"]}, "Separate axes by commas."),
    ({"by": ["age-broad"]}, "only the total"),
    ({"by": ["weight"]}, "it is a weight; ask"),
    ({"by": ["age", "age@broad"]}, "two axes of 'age'"),
    ({"of": "households", "by": ["age"]}, "one household may have several"),
    ({"where": "age >"}, "at its end: expected a code or number."),
    ({"where": "age > 1.5"}, "codes and whole numbers only"),
    ({"where": "birthplace == D01"}, "put 'D01' in quotes"),
    ({"where": "sex => 1"}, "at character 5: write '>=' to compare"),
    ({"where": "sex == 1 sex"}, "'and', 'or' or the end"),
    ({"where": "sex not 1"}, "'in' after 'not'"),
    ({"where": "sex ~ 1"}, "'~' means nothing here"),
    ({"where": "sex == '1"}, "has no ' at its end"),
    ({"where": "sex == 3"}, "In the condition 'sex == 3': 'sex': There is no code '3'. There are"),
    ({"where": "birthplace > 1"}, "are not numbers; use == or in"),
    ({"where": "age@five_year >= 17"}, "17 cuts through the code '15-19'."),
    ({"where": "sex == 1 and sex == 2"}, "No record can fulfil"),
    ({"where": "(" * 101 + "sex == 1"}, "more than 100 deep"),
    ({"by": ["sex"], "codes": {"age": ["1"]}}, "There is no axis 'age'"),
    ({"by": ["sex"], "codes": {"sex": ["9"]}}, "There is no code of sex '9'"),
    ({"by": ["sex"], "codes": {"sex": []}}, "Name a code"),
    ({"by": ["sex"], "codes": {"sex": ["1"] * (MOST_CODES + 1)}}, "more than 20,000"),
    ({"by": ["sex"], "codes": []}, "name of a variable for each member"),
    ({"by": ["sex"], "groups": {"sex": []}}, "Name a group"),
    ({"by": ["sex"], "groups": {"sex": [{"label": "a"}]}}, "label and codes"),
    ({"by": ["sex"], "groups": {"sex": [{"label": " ", "codes": ["1"]}]}}, "needs a name"),
    ({"by": ["sex"], "groups": {"sex": [{"label": "a", "codes": ["1"]}] * 2}}, "same name"),
    ({"by": ["sex"], "groups": {"sex": [{"label": "a", "codes": ["1", "sex:1"]}]}}, "'sex:1' is"),
    (
        {
            "by": ["sex"],
            "codes": {"sex": ["1"]},
            "groups": {"sex": [{"label": "a", "codes": ["1"]}]},
        },
        "not both",
    ),
]


@functools.cache
def templates() -> dict[str, str]:
    """What the library says in English, by its words: every sentence that stands in the code."""
    found: dict[str, str] = {}
    for path in Path(sdcensus.__file__).parent.rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        if not re.search(r"\btold\(\s*\"", code):
            continue
        for node in ast.walk(ast.parse(code)):
            match node:
                case ast.Call(
                    func=ast.Name("told"),
                    args=[ast.Constant(str() as words), ast.Constant(str() as english)],
                ):
                    assert found.setdefault(words, english) == english
    return found


def in_english() -> dict[str, str]:
    return {key.removeprefix(PART): text for key, text in texts("en").items() if PART in key}


def places(text: str) -> set[tuple[str, str | None]]:
    return {(name, sign) for _, name, _, sign in string.Formatter().parse(text) if name}


def test_the_english_catalogue_says_what_the_library_says() -> None:
    made = {key for key in in_english() if key.split(".")[0] in ("unknown", "single", "many")}
    said = {
        key: template.replace(":,}", "}")
        for key, template in templates().items()
        if not key.startswith("note.")  # of the policy
    }
    assert {key: one for key, one in in_english().items() if key not in made} == said
    units = {*(f"single.{one}" for one in Entity), *(f"many.{one}" for one in Entity)}
    assert units == {key for key in made if not key.startswith("unknown.")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_have_the_same_keys_and_places(language: str) -> None:
    here = {key: text for key, text in texts(language).items() if PART in key}
    assert here.keys() == {f"{PART}{key}" for key in in_english()}
    for key, one in in_english().items():
        text = here[f"{PART}{key}"]
        assert places(text) == places(one), key
        assert language == "en" or not ENGLISH.search(EXAMPLE.sub("", text)), text


def check(said: Sentence) -> None:
    assert mistake_text(said, "en") == said
    others = [mistake_text(said, language) for language in LANGUAGES[1:]]
    assert None not in others
    assert len({said, *others}) == len(LANGUAGES)


@pytest.mark.parametrize("marked", [one for one, _ in CASES], ids=range(len(CASES)))
def test_every_mistake_of_a_program_has_words_in_every_language(marked: str) -> None:
    with pytest.raises(QuestionError) as caught:
        compile_program(marked.replace(HERE, "", 1), demo_schema())
    check(caught.value.said)


@pytest.mark.parametrize(("asked", "words"), QUESTIONS, ids=range(len(QUESTIONS)))
def test_every_mistake_of_a_question_has_words_in_every_language(asked: Any, words: str) -> None:
    with pytest.raises(QuestionError, match=re.escape(words)) as caught:
        compile_question(Question.from_json(asked), POLICY)
    check(caught.value.said)
    made = as_api_error(caught.value)
    assert made is not None
    english, dutch = (made.told(one, "1") for one in ("en", "nl"))
    assert english["message"] == str(caught.value)
    for one in ("place", "at", "code", "status"):
        assert dutch[one] == english[one]
    assert dutch["message"].startswith(f"{dutch['place']}: " if dutch["place"] else "")
    assert "\n" not in dutch["message"]


@pytest.mark.parametrize("asked", [{"by": ["age"]}, {"where": "age >= 15"}])
def test_a_variable_of_other_units_is_an_unknown_name(asked: dict[str, Any]) -> None:
    with pytest.raises(QuestionError, match="may have several") as caught:
        compile_question(Question.from_json({"of": "households", **asked}), POLICY)
    made = as_api_error(caught.value)
    assert made is not None
    assert (made.status, made.code) == (404, "unknown-name")


def test_near_names_and_short_lists_are_offered() -> None:
    def dutch(said: Sentence) -> str | None:
        return mistake_text(said, "nl")

    kinds = [key.split(".")[1] for key in in_english() if key.startswith("unknown.")]
    for kind in kinds:
        of = "sex" if kind.endswith("-of") else ""
        check(unknown(kind.removesuffix("-of").replace("-", " "), "x", [], of=of))
    assert dutch(unknown("level", "x", ["a", "b"])) == "Er is geen niveau 'x'. Er zijn: a, b."
    many = unknown("code", "x", [str(one) for one in range(1_200)])
    assert dutch(many) == "Er is geen code 'x'. Er zijn er 1.200, van '0' tot en met '1199'."
    with pytest.raises(UnknownName, match="In this census: There is no kind") as caught:
        island_schema().entity(Entity.HOUSEHOLD)
    check(caught.value.said)
    near = UnknownName("variable", "aeg", known=["age", "aga", "agg", "sex"])
    assert mistake_text(near.said, "es") == (
        "No hay ninguna variable 'aeg'. ¿Quiso decir 'agg', 'age' o 'aga'?"
    )


def test_what_has_no_words_keeps_its_lead_and_the_english() -> None:
    for error in (
        QuestionError("Something rare.", place="by[1]"),
        QuestionError(unknown("thing", "x", []), place="by[1]"),
        QuestionError(told("both", "{first} {second}", first=Sentence("Something"), second="rare")),
    ):
        made = as_api_error(error)
        assert made is not None
        message = made.told("fr", "1")["message"]
        assert message.count("\n") == 1
        assert message.endswith(error.said)


def test_errors_that_came_over_the_network_say_what_they_said_there() -> None:
    body = {"error": {"code": "unknown-name", "message": "by[0]: Geen as.", "place": "by[0]"}}
    error = failure(404, body)
    assert str(error) == error.said == "by[0]: Geen as."


def test_what_somebody_wrote_is_shown_as_it_was_written() -> None:
    with pytest.raises(QuestionError) as caught:
        compile_question(Question.from_json({"by": ["{sex!r}{0}"]}), POLICY)
    check(caught.value.said)
    assert "'{sex!r}{0}'" in str(mistake_text(caught.value.said, "fr"))
