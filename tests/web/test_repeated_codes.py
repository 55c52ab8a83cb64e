"""The API on a census whose levels share their codes and that has three geographies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sdcensus.client import connect
from sdcensus.errors import QuestionError
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer import TableService
from sdcensus.session.attack.crawl import MenuWalk, questions_of
from sdcensus.session.commands import compile_program
from tests.regions import COMMUNES, regions
from tests.session.answer.services import METHOD
from tests.web.servers import TABLES, Place, opened

PERSONS = "/api/v1/datasets/persons"


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("country")
    census = regions(folder / "census")
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=100_000),
        online=OnlineRules(),
    )
    service = TableService(census, policy, {Entity.PERSON: METHOD})
    with opened(folder, service) as place:
        yield place


def asked(place: Place, *by: str, **parts: Any) -> Any:
    answer = place.client.post(TABLES, json={"of": "persons", "by": list(by), **parts})
    return answer.json() | {"status": answer.status_code}


def values(place: Place, *by: str, **parts: Any) -> dict[str, int]:
    told = asked(place, *by, **parts)
    assert told["status"] == 200, told
    (axis, *_) = told["id"]
    return dict(zip(told["dimension"][axis]["category"]["index"], told["value"], strict=True))


def test_answers_tell_the_levels_apart(country: Place) -> None:
    both = values(country, "home@region+province")
    region, province = values(country, "home@region"), values(country, "home@province")
    assert (both["11@region"], both["11@province"]) == (region["11"], province["11"])
    assert region["11"] != province["11"]
    for way in ("region:11", "11@region"):
        assert values(country, "home@region+province", codes={"home": [way]}) == {
            "11": region["11"],
            "_T": region["_T"],
        }
    assert values(country, "home@region", where="home@province == '11'")["1"] == province["11"]


def test_own_groups_and_conditions_need_the_level(country: Place) -> None:
    groups = {"home": [{"label": "mine", "codes": ["province:11", "region:2"]}]}
    both = values(country, "home@region+province")
    answer = values(country, "home@region+province", groups=groups)
    assert answer["own_1"] == both["11@province"] + both["2"]
    groups["home"][0]["codes"] = ["11"]
    told = asked(country, "home@region+province", groups=groups)
    assert told["status"] == 400
    assert "Write 'province:11'" in str(told)
    told = asked(country, "sex", where="home == '11'")
    assert told["status"] in (400, 404)
    assert "home@province" in str(told)


def test_areas_are_found_in_every_geography(country: Place) -> None:
    offered = country.client.get(f"{PERSONS}/variables").json()["variables"]
    areas = [one["name"] for one in offered if one["kind"] == "geography"]
    assert areas == ["home", "born", "work"]
    for name in areas:
        one = next(one for one in offered if one["name"] == name)
        assert all(level["map"] for level in one["levels"])
        asked = {"variable": name, "level": "commune", "parent": "province:11"}
        told = country.client.get(f"{PERSONS}/areas", params=asked).json()
        assert [area["code"] for area in told["areas"]] == ["1101", "1107"]
        asked["parent"] = "region:11"
        told = country.client.get(f"{PERSONS}/areas", params=asked).json()
        assert [area["code"] for area in told["areas"]] == ["11101", "11102", "11201"]
        drawn = country.client.get(f"{PERSONS}/map", params={"variable": name, "level": "region"})
        assert len(drawn.json()["features"]) == len({row[0] for row in COMMUNES})
    told = country.client.get(f"{PERSONS}/areas", params={"level": "region"}).json()
    assert told["variable"] == "home"


def test_homes_by_places_of_work_are_called_so(country: Place) -> None:
    told = asked(country, "home@region", "work@region")
    assert told["role"]["geo"] == ["home", "work"]
    assert [told["dimension"][name]["label"] for name in ("home", "work")] == [
        "Region",
        "Place of work",
    ]
    assert told["label"] == "Persons by Region and Place of work (region)"


def test_the_client_names_cells_as_the_answer_does(country: Place) -> None:
    answer = connect(country.server.url).table("home@region+province")
    both = values(country, "home@region+province")
    assert answer.value(home="11@region") == both["11@region"]
    assert answer.value(home="11@province") == both["11@province"]


def test_programs_name_levels(country: Place) -> None:
    schema = country.site.service.census.schema
    text = "TABLE t AS COUNT OF person FOR home@province = 11 AREABREAK work@region"
    (table,) = compile_program(text, schema).tables
    answer = country.site.service.answer(table.question)
    assert answer.table is not None
    same = asked(country, "work@region", where="home@province == 11")
    assert answer.table.values.reshape(-1).tolist() == same["value"]
    # A level alone is one of the main geography.
    (table,) = compile_program("TABLE t AS COUNT OF person AREABREAK region", schema).tables
    assert table.question.by == ("home@region",)
    with pytest.raises(
        QuestionError, match=r"'11' is a code of home@province, home@region\. Write"
    ):
        compile_program("TABLE t AS COUNT OF person FOR home = 11", schema)


def test_an_intruder_walks_through_every_geography(country: Place) -> None:
    walk = MenuWalk(dimensions=3)
    questions = questions_of(country.site.service.policy, walk)
    names = {axis.partition("@")[0] for question in questions for axis in question.by}
    assert {"home", "work", "born"} <= names
    assert any(
        {"home", "work"} <= {axis.partition("@")[0] for axis in question.by}
        for question in questions
    )
