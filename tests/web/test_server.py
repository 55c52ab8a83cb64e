from __future__ import annotations

import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from sdcensus.errors import InputError
from sdcensus.model.text import LANGUAGES
from sdcensus.session.watch import Watch, WatchLimits
from sdcensus.web.app import default_watch
from sdcensus.web.database import Database
from sdcensus.web.languages import preferred, texts
from sdcensus.web.server import RunningServer
from sdcensus.web.settings import Settings
from tests.session.answer.services import service
from tests.web.servers import (
    CHEAP,
    QUESTION,
    TABLES,
    PausingService,
    Place,
    check_error,
    check_headers,
    opened,
    until,
)


def test_a_server_that_stops_finishes_what_it_is_making_and_writes_the_audit(
    tmp_path: Path,
) -> None:
    paused = PausingService(service())
    with ThreadPoolExecutor(1) as pool, opened(tmp_path, paused) as place:
        url = f"{place.server.url}{TABLES}"
        answer = pool.submit(httpx.post, url, json=QUESTION, timeout=30)
        until(lambda: len(place.site.flights) == 1)
        place.server.stop()
        threading.Timer(0.3, paused.gate.set).start()
        assert answer.result().status_code == 200
    with Database.open(tmp_path / "web.db", hashing=CHEAP) as database:
        written = [one.action for one in database.audit.latest()]
        assert sorted(written) == ["start", "stop", "table"]
        assert database.audit.verify().sound


def test_metrics_are_on_their_own_port_and_nowhere_else(tmp_path: Path) -> None:
    with opened(tmp_path, metrics_port=0) as place:
        place.client.get(f"{TABLES}?by=sex")
        place.client.get(f"{TABLES}?by=sex")
        check_error(place.client.get("/metrics"), 404, "not-found")
        until(lambda: place.server.metrics_port)
        url = f"http://127.0.0.1:{place.server.metrics_port}/metrics"
        found = httpx.get(url).text
        for host in ("census.example", "127.0.0.1.census.example:80", "[::2]:9", "localhost.x"):
            foreign = httpx.get(url, headers={"Host": host})
            assert foreign.status_code == 421
            assert "sdcensus_" not in foreign.text
        for host in ("localhost", "LOCALHOST:9100", "[::1]:9100", "127.0.0.1:1"):
            assert httpx.get(url, headers={"Host": host}).text.startswith("# HELP")
    lines = dict(re.findall(r"^(sdcensus_\S+) (\S+)$", found, flags=re.MULTILINE))
    asked = 'sdcensus_requests_total{method="GET",route="/api/v1/tables",status="200"}'
    assert lines[asked] == "2.0"
    assert lines['sdcensus_cache_total{result="hit"}'] == "1.0"
    assert lines['sdcensus_requests_total{method="GET",route="other",status="404"}'] == "1.0"
    assert lines["sdcensus_audit_healthy"] == "1.0"
    assert "persons" not in found


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            Database.open(tmp_path / "web.db", hashing=CHEAP) as database,
            pytest.raises(InputError, match=str(port)),
        ):
            RunningServer(service(), Settings(port=port, state=tmp_path), database)


def test_health_and_readiness(place: Place) -> None:
    for path, word in (("/health", "ok"), ("/ready", "ready")):
        answer = place.client.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": word})
        assert answer.headers["cache-control"] == "no-store"
        check_headers(answer)


def test_the_watch_slows_down_and_alarms_and_never_refuses(tmp_path: Path) -> None:
    limits = WatchLimits(
        information=0.5, units=2_000.0, small=2_000.0, slow_from=0.1, longest_delay=30.0
    )
    with opened(tmp_path, watch=Watch(limits=limits), longest_delay=0.01) as place:
        for by in (
            "area,age",
            "area,age,sex",
            "area,age,married",
            "area,age@class,sex",
            "area,sex",
        ):
            assert place.client.get(f"{TABLES}?by={by}").status_code == 200
        staff = place.somebody(**place.token("ines", "staff"))
        alarms = staff.get("/api/v1/staff/summary").json()["alarms"]
        assert alarms
        assert alarms[0]["explanation"]["sentence"]
        where = f"/api/v1/staff/alarms/{alarms[0]['id']}/acknowledge"
        assert staff.post(where).json()["alarm"]["acknowledged_by"] == "ines"


def test_the_usual_watch_knows_the_size_of_the_census() -> None:
    watch = default_watch(service(2_000))
    assert abs(watch.limits.units - 2_000) < 50


def test_what_can_be_asked_is_told_in_the_language_of_the_reader(place: Place) -> None:
    client = place.client
    found = client.get("/api/v1/datasets?lang=es").json()
    assert found["datasets"][0]["id"] == "persons"
    assert found["datasets"][0]["limits"] == {"variables": 5, "cells": 100_000}
    assert client.post(TABLES, json=found["start"]).status_code == 200
    names = [
        one["name"] for one in client.get("/api/v1/datasets/persons/variables").json()["variables"]
    ]
    assert names == ["area", "sex", "age", "married"]
    area = client.get("/api/v1/datasets/persons/variables/area").json()
    parishes, districts = area["levels"]
    assert parishes["codes"][3]["parent"] == {"level": "district", "code": "D1"}
    assert [one["parent"] for one in districts["codes"]] == [None, None, None]
    check_error(client.get("/api/v1/datasets/ships/variables"), 404, "unknown-name")
    check_error(client.get("/api/v1/datasets/persons/variables/nope"), 404, "unknown-name")
    check_error(client.get("/api/v1/datasets/persons/map"), 404, "not-found")


def test_areas_are_found_by_name_code_parent_and_page(place: Place) -> None:
    def areas(**asked: str | int) -> tuple[int, list[str]]:
        found = place.client.get("/api/v1/datasets/persons/areas", params=asked).json()
        return found["total"], [one["code"] for one in found["areas"]]

    assert areas(level="parish")[0] == 7
    assert areas(level="parish", parent="district:D1") == (3, ["P3", "P4", "P5"])
    assert areas(level="parish", search="p 6") == (1, ["P6"])
    assert areas(level="parish", limit=2, offset=5) == (7, ["P5", "P6"])
    assert areas(level="district", offset=9) == (3, [])
    for wrong in ("level=nope", "variable=sex", "parent=district:X", "parent=nope:D0"):
        link = f"/api/v1/datasets/persons/areas?{wrong}"
        check_error(place.client.get(link), 404, "unknown-name")
    for wrong in ("limit=0", "limit=x", "offset=-1", "limit=99999999", "limit=1&limit=2"):
        link = f"/api/v1/datasets/persons/areas?{wrong}"
        check_error(place.client.get(link), 400, "bad-question")


def test_programs_become_questions_and_mistakes_point_at_the_character(place: Place) -> None:
    text = "TABLE t AS CROSSTABS OF person.age BY person.sex"
    (table,) = place.client.post("/api/v1/commands", json={"program": text}).json()["tables"]
    assert table["question"] == {"of": "persons", "by": ["age", "sex"]}
    linked = place.client.get(table["link"]).json()
    assert place.client.get(table["result"]).json()["value"] == linked["value"]
    wrong = place.client.post("/api/v1/commands", json={"program": "TABLE t AS\n FREQENCY OF x"})
    error = check_error(wrong, 400, "bad-question")
    assert (error["place"], error["at"]) == ("line 2, column 2", 12)
    for body in ({}, {"program": 1}, {"program": text, "more": 1}, [text], {"program": None}):
        check_error(place.client.post("/api/v1/commands", json=body), 400, "bad-question")


def test_figures_of_programs_are_computed_from_published_numbers(place: Place) -> None:
    text = "TABLE t AS CROSSTABS OF person.sex BY person.married PERCENT ROW"
    made = place.client.post("/api/v1/commands/table", json={"program": text})
    if made.status_code == 400:
        pytest.skip("the language writes percentages otherwise")
    values = made.json()["value"]
    counts = place.client.get(f"{TABLES}?by=sex&by=married").json()["value"]
    assert values[0] == pytest.approx(100 * counts[0] / counts[2], abs=0.06)


def test_the_language_that_somebody_chose_is_kept(place: Place) -> None:
    client = place.somebody(**{"accept-language": "fr"})
    assert '<html lang="fr"' in client.get("/about").text
    assert '<html lang="nl"' in client.get("/about?lang=nl").text
    assert '<html lang="nl"' in client.get("/about").text
    assert client.get(f"{TABLES}?by=sex").headers["content-language"] == "nl"
    assert '<html lang="nl"' in client.get("/about?lang=xx").text


def test_static_files_have_tags(place: Place) -> None:
    first = place.client.get("/static/site.css")
    assert first.headers["content-type"].startswith("text/css")
    known = {"if-none-match": first.headers["etag"]}
    assert place.client.get("/static/site.css", headers=known).status_code == 304
    assert first.headers["cross-origin-resource-policy"] == "cross-origin"


def test_every_language_has_the_same_texts_with_the_same_places() -> None:
    def shape(language: str) -> dict[str, set[str]]:
        return {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in texts(language).items()}

    first = shape("en")
    assert "errors.not_found" in first
    for language in LANGUAGES[1:]:
        assert shape(language) == first


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("de", "en"),
        ("es-AR,es;q=0.9", "es"),
        ("en;q=0.1, nl;q=0.2", "nl"),
        ("fr;q=0, es;q=0.1", "es"),
        ("*;q=0.5, fr;q=x", "en"),
        ("," * 5_000, "en"),
    ],
)
def test_the_language_that_a_browser_prefers(header: str, language: str) -> None:
    assert preferred(header, LANGUAGES) == language


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_mistakes_are_told_in_the_language_of_the_reader(place: Place, language: str) -> None:
    here = texts(language)
    for asked, status, words in (
        ("by=nope", 404, "unknown.variable"),
        ("by=sex&where=sex ==", 400, "expected.value"),
        ("by=sex&of=ships", 400, "unknown.kind-of-unit"),
        ("by=sex&codes={}x", 400, "question.part-unreadable"),
        ('by=sex&groups={"sex":[]}', 400, "question.no-groups"),
    ):
        english = place.client.get(f"{TABLES}?{asked}&lang=en").json()["error"]
        error = place.client.get(f"{TABLES}?{asked}&lang={language}").json()["error"]
        assert (error["status"], error["place"]) == (english["status"], english["place"])
        assert error["status"] == status
        assert error["message"].startswith(f"{english['place']}: ")
        assert here[f"mistakes.{words}"].partition("{")[0] in error["message"]
    program = {"program": "TABLE t AS\n FREQENCY OF x"}
    wrong = place.client.post("/api/v1/commands", json=program, params={"lang": language})
    error = wrong.json()["error"]
    assert (error["place"], error["at"]) == ("line 2, column 2", 12)
    assert here["mistakes.program.near"].format(near="FREQUENCY") in error["message"]
    other = place.client.get("/api/v1/nowhere", params={"lang": language}).json()["error"]
    assert other["message"] == here["errors.not_found"]
