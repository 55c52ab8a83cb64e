"""What HTTP asks of an answer about tables: conditions, forms, quotas and errors, word by word."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import sdcensus as sc
from sdcensus.client.failures import TableRefused
from sdcensus.model.policy.policy import OnlineRules, RoleRules, UserRole, WhenSparse
from sdcensus.model.text import Text
from sdcensus.session.answer import TableService
from sdcensus.web.database.notices import MOST_UNREAD
from tests.formats.write.delivered_made import FOR_ANY_TABLE
from tests.session.answer.services import service
from tests.web.servers import QUESTION, TABLES, PausingService, Place, check_error, opened, until

ASYNC = {"prefer": "respond-async"}
CSV = {"accept": "text/csv"}


def test_conditions_of_get_are_understood_and_post_is_always_answered(place: Place) -> None:
    link = f"{TABLES}?by=area&by=sex"
    first = place.client.get(link)
    tag = first.headers["etag"]
    many = ", ".join(f'"{number:032x}"' for number in range(200))
    for sent in (tag, f"W/{tag}", f'"x", {tag}', f"{many}, W/{tag}", "*"):
        known = place.client.get(link, headers={"if-none-match": sent})
        assert (known.status_code, known.content) == (304, b""), sent
        assert known.headers["etag"] == tag
        assert known.headers["vary"] == first.headers["vary"]
        # 304 is no answer to POST.
        posted = place.client.post(TABLES, json=QUESTION, headers={"if-none-match": sent})
        assert (posted.status_code, posted.content) == (200, first.content)
    for sent in ('"x"', tag.strip('"'), many):
        assert place.client.get(link, headers={"if-none-match": sent}).status_code == 200
    other = place.client.get(link, headers=CSV)
    assert other.headers["etag"] != tag
    assert place.client.get(link, headers={**CSV, "if-none-match": tag}).status_code == 200


@pytest.mark.parametrize("form", FOR_ANY_TABLE)
def test_the_link_gives_the_bytes_of_the_post(place: Place, form: str) -> None:
    question = {
        "by": ["area", "sex"],
        "where": "age >= 2",
        "groups": {"area": [{"label": "=1+1 'ñ\" & 100% + #?", "codes": ["P0", "P3"]}]},
    }
    words = {"format": form, "lang": "fr"}
    posted = place.client.post(TABLES, json=question, params=words)
    assert posted.status_code == 200
    told = place.client.post(TABLES, json=question).json()["extension"]["sdcensus"]
    linked = place.client.get(f"{told['link']}&format={form}&lang=fr")
    assert linked.content == posted.content
    assert linked.headers["etag"] == posted.headers["etag"]
    head = place.client.head(f"{told['link']}&format={form}&lang=fr")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == linked.headers["content-length"]
    assert head.headers["etag"] == linked.headers["etag"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json; charset=UTF-8"}, 200),
        ({"content-type": 'Application/JSON;charset="utf-8"'}, 200),
        ({"content-type": "application/json", "content-encoding": "identity"}, 200),
        ({"content-type": "application/json; charset=utf-16"}, 415),
        ({"content-type": "application/json; charset=iso-8859-1"}, 415),
        ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
        ({"content-type": "text/json"}, 415),
        ({}, 415),
    ],
)
def test_bodies_are_json_in_utf8_and_not_packed(
    place: Place, headers: dict[str, str], status: int
) -> None:
    answer = place.client.post(TABLES, content=json.dumps(QUESTION), headers=headers)
    if status == 200:
        assert answer.status_code == 200
    else:
        check_error(answer, status, "unsupported")


def test_what_is_strange_in_a_request_is_named_with_what_there_is(place: Place) -> None:
    error = check_error(place.client.get(f"{TABLES}?by=sex&filter=1&lang=nl"), 400, "bad-question")
    assert error["place"] == "filter"
    assert "of, measure, by, where, codes, groups, lang, format" in error["message"]
    twice = place.client.get("/api/v1/datasets/persons/areas?level=area&level=area")
    assert check_error(twice, 400, "bad-question")["place"] == "level"
    sent = place.client.post("/api/v1/feedback", json={"text": "Hello", "from": "me"})
    error = check_error(sent, 400, "bad-question")
    assert (error["place"], "text, contact, question" in error["message"]) == ("from", True)


def failures(place: Place) -> float:
    (found,) = place.site.metrics.failures.collect()
    return found.samples[0].value


def test_whoever_goes_away_in_the_middle_is_no_failure(place: Place) -> None:
    before = failures(place)
    host = urlsplit(place.server.url)
    with socket.create_connection((host.hostname or "", host.port or 0), 5) as link:
        head = f"POST {TABLES} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        link.sendall(f"{head}Content-Length: 90\r\n\r\n{{".encode())
    labels = (TABLES, "POST", "499")
    until(lambda: place.site.metrics.requests.labels(*labels)._value.get() == 1)
    assert failures(place) == before


def test_errors_say_what_is_left_in_the_language_of_the_link(tmp_path: Path) -> None:
    rules = (RoleRules(role=UserRole.PUBLIC, tables_per_day=2, cells_per_hour=20),)
    with opened(tmp_path, service(roles=rules)) as place:
        # More than an hour has: whoever waits for it waits for ever.
        never = place.client.get(f"{TABLES}?by=area&by=sex")
        error = check_error(never, 429, "quota")
        assert ("24" in error["message"], "20" in error["message"]) == (True, True)
        assert "retry-after" not in never.headers
        for language in ("en", "es"):
            assert place.client.get(f"{TABLES}?by=sex&lang={language}").status_code == 200
        # The first of these is not at hand, and the second is.
        for link in (f"{TABLES}?by=age", f"{TABLES}?by=sex&lang=es"):
            over = place.client.get(link)
            check_error(over, 429, "quota")
            assert '"tables";r=0;t=' in over.headers["ratelimit"]
            assert over.headers["ratelimit-policy"] == '"tables";q=2;w=86400, "cells";q=20;w=3600'
            assert over.headers["ratelimit-remaining"] == "0"
            assert over.headers["ratelimit-reset"] == over.headers["retry-after"]
        assert "tablas" in over.json()["error"]["message"]
        assert over.headers["content-language"] == "es"
        unread = place.client.get(f"{TABLES}?lang=fr&by=" + "a" * 20_000)
        assert check_error(unread, 414, "too-large")["message"].startswith("L’adresse")
        assert unread.headers["content-language"] == "fr"


def test_a_refusal_that_had_to_be_counted_costs_its_cells(tmp_path: Path) -> None:
    rules = (RoleRules(role=UserRole.PUBLIC, tables_per_day=100, cells_per_hour=10_000),)
    thin = OnlineRules(mean_cell_size=60, when_sparse=WhenSparse.REFUSE_TABLE)
    made = service(roles=rules, online=thin)
    sparse = {"by": ["area", "age", "sex"]}
    with opened(tmp_path, made) as place:

        def left() -> tuple[int, int]:
            quota = place.client.get("/api/v1/account").json()["quota"]
            return quota["tables"]["left"], quota["cells"]["left"]

        check_error(place.client.get(f"{TABLES}?by=nope"), 404, "unknown-name")
        assert left() == (100, 10_000)
        checked = place.client.post(f"{TABLES}/check", json=sparse).json()
        assert checked["outcome"] == "allowed"  # code lists do not say that it is too thin
        assert left() == (100, 10_000)
        refused = place.client.post(TABLES, json=sparse)
        assert check_error(refused, 403, "refused")["reasons"]
        rest = 10_000 - checked["cells"]
        assert left() == (100, rest)
        assert f'"cells";r={rest};' in refused.headers["ratelimit"]
        # Now it is known, and costs nothing more.
        check_error(place.client.post(TABLES, json=sparse), 403, "refused")
        assert left() == (100, rest)


def test_a_job_that_is_refused_is_a_refusal_to_clients(tmp_path: Path) -> None:
    thin = OnlineRules(mean_cell_size=60, when_sparse=WhenSparse.REFUSE_TABLE)
    with opened(tmp_path, service(online=thin), online_cells=5) as place:
        with pytest.raises(TableRefused) as caught:
            sc.connect(place.server.url).table("area", "age", "sex")
        assert caught.value.reasons
        assert [one.outcome for one in place.audit() if one.action == "job"] == ["refused"]


def test_jobs_that_are_forgotten_while_they_run_still_count(tmp_path: Path) -> None:
    paused = PausingService(service(roles=(RoleRules(role=UserRole.PUBLIC, jobs=1),)))
    with opened(tmp_path, paused) as place:
        first = place.client.post(TABLES, json={"by": ["age"]}, headers=ASYNC)
        where = first.headers["location"]
        going_on = place.client.get(where)
        assert going_on.headers["retry-after"] == "1"
        assert place.client.delete(where).status_code == 204
        check_error(place.client.get(where), 404, "not-found")
        check_error(place.client.delete(where), 404, "not-found")
        # The work goes on, so there is no room for another.
        again = place.client.post(TABLES, json={"by": ["sex"]}, headers=ASYNC)
        check_error(again, 429, "quota")
        assert place.client.get("/api/v1/account").json()["quota"]["jobs"]["left"] == 0
        paused.gate.set()
        until(lambda: place.site.jobs.going_on == 0)
        program = {"program": "TABLE t AS FREQUENCY OF person.sex"}
        asked = place.client.post("/api/v1/commands/table", json=program, headers=ASYNC)
        assert asked.status_code == 202
        until(lambda: place.client.get(asked.headers["location"]).json()["job"]["result"])
        assert "retry-after" not in place.client.get(asked.headers["location"]).headers


def test_a_result_that_is_over_is_called_expired_and_then_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path, job_seconds=1) as place:
        begun = place.client.post(TABLES, json={"by": ["sex"]}, headers=ASYNC)
        where = begun.headers["location"]
        until(lambda: place.client.get(where).json()["job"]["status"] == "expired")
        job = place.client.get(where).json()["job"]
        assert (job["result"], job["error"], job["stage"]) == (None, None, "expired")
        check_error(place.client.get(f"{where}/result"), 404, "not-found")
        until(lambda: place.client.get(where).status_code == 404)
        assert len(place.site.jobs) == 0


def test_an_office_that_reads_nothing_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as place:
        assert place.client.post("/api/v1/feedback", json={"text": "Hello"}).status_code == 201
        with place.database._link.writing() as connection:
            connection.exec_driver_sql(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                f" WHERE i < {MOST_UNREAD}) INSERT INTO feedback"
                " (id, time, text, contact, question)"
                " SELECT 'n' || i, time, text, '', '' FROM n, feedback"
            )
        full = place.client.post("/api/v1/feedback?lang=nl", json={"text": "Hello?"})
        assert "berichten" in check_error(full, 503, "busy")["message"]
        assert int(full.headers["retry-after"]) == 3_600


@pytest.mark.parametrize(
    ("said", "names"),
    [("", ("Office of Aru", "Oficina de Aru")), ("Bureau", ("Bureau", "Bureau"))],
)
def test_pages_name_the_office_of_the_plan_unless_another_name_is_said(
    said: str, names: tuple[str, str], tmp_path: Path
) -> None:
    base = service()
    source = Text.of({"en": "Office of Aru", "es": "Oficina de Aru"})
    made = TableService(base.census, base.policy, base.methods, source=source)
    with opened(tmp_path, made, office=said) as place:
        for language, name in zip(("en", "es"), names, strict=True):
            page = place.client.get("/about", params={"lang": language}).text
            assert f"<p>{name}" in page
            assert (source.show(language) in page) == (not said)
