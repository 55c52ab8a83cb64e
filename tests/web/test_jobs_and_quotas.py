from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from sdcensus.model.policy.policy import Limits, RoleRules, UserRole
from sdcensus.model.progress import Progress
from sdcensus.web.caching import ByteCache, CacheBusy, Flights, key_of
from sdcensus.web.jobs import Jobs
from sdcensus.web.quotas import DAY, HOUR, Attempts, QuotaExceeded, Quotas
from tests.session.answer.services import service
from tests.web.servers import (
    PATIENCE,
    QUESTION,
    TABLES,
    PausingService,
    Place,
    check_error,
    opened,
    until,
)

ASYNC = {"prefer": "respond-async"}


def finished(client: httpx.Client, job: str) -> dict[str, object]:
    found: dict[str, object] = {}

    def ended() -> bool:
        found.update(client.get(job).json()["job"])
        return found["status"] in ("done", "failed")

    until(ended)
    return found


def test_a_job_is_made_found_and_forgotten_by_its_owner_only(place: Place) -> None:
    client = place.somebody()
    begun = client.post(TABLES, json={"by": ["age", "married"]}, headers=ASYNC)
    assert begun.status_code == 202
    cookie = begun.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    job = begun.json()["job"]
    where = begun.headers["location"]
    assert where == f"/api/v1/jobs/{job['id']}"
    assert len(job["id"]) >= 22
    done = finished(client, where)
    assert (done["status"], done["progress"]) == ("done", 1.0)
    result = client.get(str(done["result"]))
    assert result.json() == client.post(TABLES, json={"by": ["age", "married"]}).json()
    assert result.headers["cache-control"].startswith("private")
    # To everybody else it is as if it had never been.
    unknown = check_error(client.get("/api/v1/jobs/" + "A" * 22), 404, "not-found")
    for other in (place.somebody(), place.somebody(**place.token("jobthief", "staff"))):
        for answer in (other.get(where), other.get(f"{where}/result"), other.delete(where)):
            assert check_error(answer, 404, "not-found")["message"] == unknown["message"]
    assert client.delete(where).status_code == 204
    check_error(client.get(where), 404, "not-found")


def test_a_forged_cookie_owns_nothing(place: Place) -> None:
    client = place.somebody()
    begun = client.post(TABLES, json={"by": ["married"]}, headers=ASYNC)
    name, value = begun.headers["set-cookie"].split(";")[0].split("=", 1)
    forged = value[:-2] + ("AA" if value[-2:] != "AA" else "BB")
    other = place.somebody(cookie=f"{name}={forged}")
    check_error(other.get(begun.headers["location"]), 404, "not-found")


def test_large_tables_become_jobs_and_have_the_same_numbers(tmp_path: Path) -> None:
    with opened(tmp_path, online_cells=20) as small:
        begun = small.client.get(f"{TABLES}?by=area&by=sex")
        assert begun.status_code == 202
        done = finished(small.client, begun.headers["location"])
        result = small.client.get(str(done["result"])).json()
        assert result["size"] == [8, 3, 1]
        assert small.client.get(f"{TABLES}?by=sex").status_code == 200
        # What is at hand needs no job any more.
        assert small.client.get(f"{TABLES}?by=area&by=sex").status_code == 200
        written = [one for one in small.audit() if one.action == "job"]
        assert [one.outcome for one in written] == ["allowed"]


def test_jobs_are_limited_by_role_and_expire(tmp_path: Path) -> None:
    paused = PausingService(service(roles=(RoleRules(role=UserRole.PUBLIC, jobs=1),)))
    with opened(tmp_path, paused, job_seconds=1) as place:
        first = place.client.post(TABLES, json={"by": ["age"]}, headers=ASYNC)
        assert first.json()["job"]["status"] in ("waiting", "running")
        # Another browser at the same address does not help.
        for client in (place.client, place.somebody()):
            again = client.post(TABLES, json={"by": ["sex"]}, headers=ASYNC)
            check_error(again, 429, "quota")
            assert int(again.headers["retry-after"]) > 0
        paused.gate.set()
        finished(place.client, first.headers["location"])
        until(lambda: place.client.get(first.headers["location"]).status_code == 404)


def test_a_slow_table_stops_nobody_and_becomes_a_job(tmp_path: Path) -> None:
    paused = PausingService(service())
    with opened(tmp_path, paused, time_limit=0.2) as place:
        begun = place.client.post(TABLES, json=QUESTION)
        assert begun.status_code == 202
        assert place.client.get("/health").status_code == 200
        assert place.client.get("/").status_code == 200
        assert place.client.post(f"{TABLES}/check", json=QUESTION).status_code == 200
        paused.gate.set()
        done = finished(place.client, begun.headers["location"])
        assert done["status"] == "done"
        assert place.client.post(TABLES, json=QUESTION).status_code == 200


def test_equal_questions_are_worked_on_once_and_too_many_are_told_to_come_back(
    tmp_path: Path,
) -> None:
    paused = PausingService(service())
    with opened(tmp_path, paused, workers=1, queue=1) as place, ThreadPoolExecutor(8) as pool:

        def ask(*by: str) -> httpx.Response:
            return httpx.get(f"{place.server.url}{TABLES}", params={"by": by}, timeout=PATIENCE)

        same = [pool.submit(ask, "area") for _ in range(4)]
        until(lambda: len(place.site.flights) == 1)
        other = pool.submit(ask, "sex")
        until(lambda: len(place.site.flights) == 2)
        refused = ask("age")
        check_error(refused, 503, "busy")
        assert int(refused.headers["retry-after"]) > 0
        paused.gate.set()
        assert {one.result().status_code for one in [*same, other]} == {200}
        assert paused.asked == 2


def test_quotas_hold_count_what_is_at_hand_and_survive_a_restart(tmp_path: Path) -> None:
    rules = (
        RoleRules(role=UserRole.PUBLIC, tables_per_day=3),
        RoleRules(role=UserRole.REGISTERED, cells_per_hour=30),
    )
    with opened(tmp_path, service(roles=rules)) as place:
        for left in (2, 1):
            answer = place.client.get(f"{TABLES}?by=sex")
            assert answer.headers["ratelimit-limit"] == "3"
            assert answer.headers["ratelimit-remaining"] == str(left)
            assert 0 < int(answer.headers["ratelimit-reset"]) <= DAY
        # Mistakes and refusals cost nothing.
        check_error(place.client.get(f"{TABLES}?by=nope"), 404, "unknown-name")
        known = place.somebody(**place.token())
        assert known.post(TABLES, json=QUESTION).status_code == 200
        over = known.post(TABLES, json={"by": ["area", "age"]})
        check_error(over, 429, "quota")
        assert known.get("/api/v1/account").json()["quota"]["cells"]["left"] == 6
    with opened(tmp_path, service(roles=rules)) as place:
        assert place.client.get(f"{TABLES}?by=sex").headers["ratelimit-remaining"] == "0"
        for link in (f"{TABLES}?by=sex", f"{TABLES}?by=age"):
            over = place.client.get(link)
            check_error(over, 429, "quota")
            assert 0 < int(over.headers["retry-after"]) <= DAY


def test_roles_have_limits_of_their_own_and_the_same_numbers(tmp_path: Path) -> None:
    made = service(
        limits=Limits(dimensions=5, cells=10),
        roles=(RoleRules(role=UserRole.STAFF, cells=1_000),),
    )
    with opened(tmp_path, made) as place:
        staff = place.somebody(**place.token("eva", "staff"))
        first = staff.get(f"{TABLES}?by=area&by=sex")
        assert first.status_code == 200
        error = check_error(place.client.get(f"{TABLES}?by=area&by=sex"), 403, "refused")
        assert error["reasons"][0]["code"] == "too-many-cells"
        assert error["reasons"][0]["text"]
        helps = error["remedies"][0]["question"]
        assert place.client.post(TABLES, json=helps).status_code == 200
        whole = place.client.get(f"{TABLES}?by=area").json()["value"]
        assert staff.get(f"{TABLES}?by=area").json()["value"] == whole
        written = [one for one in place.audit() if one.outcome == "refused"]
        assert [one.reason for one in written] == ["too-many-cells"]
        assert place.site.metrics.refused() == {"too-many-cells": 1}


# -------------------------------------------------------------------------------- the parts alone


class Still:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_windows_of_quotas_begin_with_the_hour_and_the_day() -> None:
    asked: list[tuple[str, datetime]] = []

    async def used(who: str, since: datetime) -> tuple[int, int]:
        asked.append((who, since))
        return 1, 10

    clock = Still(DAY * 20_000 + HOUR * 3 + 30)
    rules = RoleRules(role=UserRole.PUBLIC, tables_per_day=3, cells_per_hour=100)
    quotas = Quotas(used, clock)
    asyncio.run(quotas.know("~a", rules))
    asyncio.run(quotas.know("~a", rules))
    assert [since for _, since in asked] == [
        datetime.fromtimestamp(DAY * 20_000, UTC),
        datetime.fromtimestamp(DAY * 20_000 + HOUR * 3, UTC),
    ]
    quotas.take("~a", rules, 90)
    with pytest.raises(QuotaExceeded) as caught:
        quotas.take("~a", rules, 1)
    assert (caught.value.what, caught.value.wait) == ("cells", HOUR - 30)
    clock.now += HOUR
    quotas.take("~a", rules, 90)
    with pytest.raises(QuotaExceeded) as caught:
        quotas.take("~a", rules, 1)
    assert (caught.value.what, caught.value.limit) == ("tables", 3)
    quotas.give_back("~a", 90)
    assert [window.left for window in quotas.windows("~a", rules)] == [1, 100]
    clock.now += DAY
    assert [window.left for window in quotas.windows("~a", rules)] == [3, 100]


def test_attempts_wait_and_are_forgotten() -> None:
    clock = Still(0.0)
    attempts = Attempts(2, 60, clock)
    for _ in range(2):
        assert attempts.wait("a") == 0
        attempts.note("a")
    assert attempts.wait("a") == 60
    assert attempts.wait("b") == 0
    clock.now = 61.0
    assert attempts.wait("a") == 0


def test_the_cache_keeps_what_was_used_last_within_its_bytes() -> None:
    cache: ByteCache[str] = ByteCache(100_000)
    for name in "abcdefghijkl":
        cache.put(key_of(name), name, 10_000)
        cache.get(key_of("a"))
        assert cache.weight <= 100_000
    assert cache.get(key_of("a")) == "a"
    assert cache.get(key_of("b")) is None
    cache.put(key_of("huge"), "huge", 90_000)
    assert cache.get(key_of("huge")) is None
    cache.put_alias(key_of("other"), key_of("a"))
    assert cache.get_alias(key_of("other")) == "a"


def test_flights_hand_errors_to_everybody_who_waits() -> None:
    gate = threading.Event()

    def slowly(progress: Progress) -> int:
        assert gate.wait(PATIENCE)
        return 3

    async def fly() -> None:
        with ThreadPoolExecutor(1) as pool:
            flights: Flights[int] = Flights(pool, 2)
            broken = flights.start(b"a", lambda progress: 1 // 0)
            assert flights.start(b"a", lambda progress: 2) is broken
            slow = flights.start(b"b", slowly)
            with pytest.raises(CacheBusy):
                flights.start(b"c", lambda progress: 4)
            for _ in range(2):
                with pytest.raises(ZeroDivisionError):
                    await broken.wait(PATIENCE)
            with pytest.raises(TimeoutError):
                await slow.wait(0.01)
            # Whoever gave up did not stop the work.
            gate.set()
            assert await slow.wait(PATIENCE) == 3
            assert await flights.finish(PATIENCE)
            assert len(flights) == 0

    asyncio.run(fly())


def test_ids_of_jobs_are_not_repeated() -> None:
    jobs = Jobs(seconds=10, most_bytes=1_000, clock=Still(0.0))
    assert len({jobs.add("o", "w").id for _ in range(1_000)}) == 1_000
