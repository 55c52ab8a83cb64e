"""Sums, means and medians over HTTP: offered, asked for by link and body, refused, downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdcensus as sc
from sdcensus.client import TableRefused
from sdcensus.model.policy.policy import AmountRule, AtLevel
from sdcensus.session.answer import TableService
from tests.hamlet import write_hamlet
from tests.session.answer.test_amounts import ALL, service
from tests.web.servers import Place, opened

TABLES = "/api/v1/tables"
RULE = AmountRule(variable="income", measures=ALL[:2], by=(AtLevel("ed"), AtLevel("sex")))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> TableService:
    census = write_hamlet(tmp_path_factory.mktemp("hamlet")).load()
    return service(census, RULE)


@pytest.fixture(scope="module")
def place(served: TableService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp("web"), served) as made:
        yield made


def link(measure: str, *by: str, **parts: str) -> str:
    more = "".join(f"&{name}={value}" for name, value in parts.items())
    return f"{TABLES}?of=persons&measure={measure}&by={','.join(by)}{more}"


def test_amounts_are_offered_with_their_variables(place: Place) -> None:
    datasets = place.client.get("/api/v1/datasets?lang=es").json()["datasets"]
    persons, households = datasets
    (income,) = persons["amounts"]
    assert income["name"] == "income"
    assert [each["id"] for each in income["measures"]] == ["sum(income)", "mean(income)"]
    assert [each["label"] for each in income["measures"]] == ["Suma de income", "Media de income"]
    assert income["variables"] == ["sex", "ed"]
    assert households["amounts"] == []


@pytest.mark.parametrize("measure", ["sum(income)", "mean(income)"])
def test_a_link_and_a_body_give_the_same_numbers_with_decimals_and_unit(
    place: Place, served: TableService, measure: str
) -> None:
    by_link = place.client.get(link(measure, "ed@parish", "sex")).json()
    question = {"of": "persons", "measure": measure, "by": ["ed@parish", "sex"]}
    posted = place.client.post(TABLES, json=question).json()
    assert by_link["value"] == posted["value"]
    from sdcensus.model.spec.question import Question

    table = served.answer(Question.from_json(question)).table
    assert table is not None
    shown = table.numbered.ravel()
    wanted = [value / 100 for value in table.values.ravel()]
    assert all(
        value == pytest.approx(number)
        for value, number, seen in zip(by_link["value"], wanted, shown, strict=True)
        if seen
    )
    (metric,) = by_link["role"]["metric"]
    (unit,) = by_link["dimension"][metric]["category"]["unit"].values()
    assert unit["decimals"] == 2
    told = by_link["extension"]["sdcensus"]
    assert told["question"]["measure"] == measure
    assert f"measure={measure.partition('(')[0]}" in told["link"]
    assert place.client.get(told["link"]).json()["value"] == by_link["value"]


def test_downloads_have_the_decimals(place: Place) -> None:
    text = place.client.get(link("mean(income)", "ed@parish", format="csv")).text
    values = [line.rsplit(",", 1) for line in text.splitlines()]
    assert any("." in value[-1] or "." in value[0] for value in values[1:])
    book = place.client.get(link("sum(income)", "ed@parish", format="xlsx"))
    assert book.content[:2] == b"PK"
    assert "sum-income" in book.headers["content-disposition"]


def test_what_is_not_offered_is_refused_in_the_language_of_the_reader(place: Place) -> None:
    for language, words in (("en", "is not offered"), ("fr", "non proposé"), ("pt", "não é")):
        answer = place.client.get(link("median(income)", "sex", lang=language))
        assert answer.status_code == 403
        (reason,) = answer.json()["error"]["reasons"]
        assert reason["code"] == "measure-not-offered"
        assert words in reason["text"]
    answer = place.client.get(link("sum(income)", "married"))
    (reason,) = answer.json()["error"]["reasons"]
    assert reason["text"] == (
        "Married is not offered together with sum of income, which can be shown by Area and Sex."
    )


@pytest.mark.parametrize(
    "measure", ["total(income)", "sum(sex)", "sum(rent)", "sum(income", "mean()"]
)
def test_a_measure_that_is_none_is_a_mistake_with_its_place(place: Place, measure: str) -> None:
    answer = place.client.get(link(measure, "sex"))
    assert answer.status_code == 400
    assert answer.json()["error"]["place"] == "measure"


def test_an_amount_that_does_not_exist_is_an_unknown_name(place: Place) -> None:
    answer = place.client.get(link("sum(incme)", "sex"))
    assert answer.status_code == 404
    assert "income" in answer.json()["error"]["message"]


def test_a_check_says_how_large_it_is(place: Place) -> None:
    question: dict[str, Any] = {"of": "persons", "measure": "mean(income)", "by": ["sex"]}
    checked = place.client.post(f"{TABLES}/check", json=question).json()
    assert checked["outcome"] == "allowed"
    assert checked["cells"] == 4
    refused = place.client.post(f"{TABLES}/check", json={**question, "by": ["married"]}).json()
    assert refused["outcome"] == "refused"


def test_the_audit_has_the_question(place: Place) -> None:
    place.client.get(link("sum(income)", "sex"))
    questions = [entry.question for entry in place.audit()]
    assert any('"measure":"sum(income)"' in (text or "") for text in questions)


def test_the_client_asks_for_them(place: Place, tmp_path: Path) -> None:
    connection = sc.connect(place.server.url)
    persons = connection.datasets()[0]
    assert persons.measures == ("sum(income)", "mean(income)")
    table = connection.table("ed@parish", "sex", measure="mean(income)")
    mean = table.value(ed="P1", sex="1")
    assert mean is not None
    assert 500 < mean < 3_500
    assert connection.check("sex", measure="mean(income)").outcome == "allowed"
    target = connection.download("sex", measure="sum(income)", to=tmp_path / "sums.csv")
    assert target.exists()
    with pytest.raises(TableRefused):
        connection.table("sex", measure="median(income)")
